# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += policies/libpolicies.a

policies_libpolicies_a_SOURCES = \
	policies/draft.h \
	policies/policy.h \
	policies/registry.h

# Installed: what a policy from outside includes.
nobase_weirinclude_HEADERS += policies/policy.h
