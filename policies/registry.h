/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The built-in policies, and policies loaded from outside. */
#ifndef WEIR_POLICIES_REGISTRY_H
#define WEIR_POLICIES_REGISTRY_H

#include "base/attributes.h"
#include "policies/policy.h"

/** @return the built-in policies by name, NULL after the last */
const struct weir_policy *const *policy_registry(void);
/** Finds a built-in policy by name, or loads the plug-in when @p name holds a slash (it stays
 *  loaded until the program ends). WEIR_USAGE lists the names; WEIR_INPUT says what is wrong with
 *  a plug-in. */
MUST_CHECK enum weir_status policy_find(const char *name, const struct weir_policy **out,
                                        struct weir_error *err);

#endif
