# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += policies/libpolicies.a

policies_libpolicies_a_SOURCES = \
	policies/builtin.h \
	policies/draft.c \
	policies/draft.h \
	policies/draft_internal.h \
	policies/edit.c \
	policies/policy.h \
	policies/recorded.c \
	policies/registry.c \
	policies/registry.h \
	policies/retain.c \
	policies/setup.c

# Installed: what a policy from outside includes.
nobase_weirinclude_HEADERS += policies/policy.h
