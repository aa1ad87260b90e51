/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in policies, each in the file of its name. */
#ifndef WEIR_POLICIES_BUILTIN_H
#define WEIR_POLICIES_BUILTIN_H

#include "policies/policy.h"

extern const struct weir_policy policy_recorded;
extern const struct weir_policy policy_retain;

#endif
