/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in policies, each in the file of its name; rules of priority are in rules.c. */
#ifndef WEIR_POLICIES_BUILTIN_H
#define WEIR_POLICIES_BUILTIN_H

#include "policies/policy.h"

extern const struct weir_policy policy_fifo;
extern const struct weir_policy policy_grpw;
extern const struct weir_policy policy_grpw_all;
extern const struct weir_policy policy_lft;
extern const struct weir_policy policy_lst;
extern const struct weir_policy policy_mslk;
extern const struct weir_policy policy_mts;
extern const struct weir_policy policy_recorded;
extern const struct weir_policy policy_retain;
extern const struct weir_policy policy_spt;
extern const struct weir_policy policy_wcs;

#endif
