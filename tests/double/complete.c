/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All that Weir may call is there: with a function that none of the double's files has, this cannot be
 * linked. */
#include "tests/double/calls.h"

#define DECLARE_CUPTI(field, symbol, parameters) EXPORT cupti_result symbol parameters;
CUPTI_REQUIRED_FUNCTIONS(DECLARE_CUPTI)
CUPTI_OPTIONAL_FUNCTIONS(DECLARE_CUPTI)

#define ADDRESS(field, symbol, parameters) (void (*)(void))(symbol),

__attribute__((used)) static void (*const functions[])(void) = {
    CUDA_REQUIRED_FUNCTIONS(ADDRESS)
#ifndef DOUBLE_IS_OLD
        CUDA_OPTIONAL_FUNCTIONS(ADDRESS)
#endif
            CUPTI_REQUIRED_FUNCTIONS(ADDRESS) CUPTI_OPTIONAL_FUNCTIONS(ADDRESS)};
