# SPDX-License-Identifier: GPL-3.0-or-later

noinst_LIBRARIES += policies/libpolicies.a

policies_libpolicies_a_SOURCES =
