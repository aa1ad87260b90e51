/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short names for what a declaration promises. */
#ifndef WEIR_BASE_ATTRIBUTES_H
#define WEIR_BASE_ATTRIBUTES_H

#include "base/error.h"

/* The result says whether it worked: ignoring it is a bug. */
#define MUST_CHECK WEIR_MUST_CHECK
/* Arguments follow a printf format. */
#define PRINTF_LIKE(text, first) WEIR_PRINTF(text, first)

#endif
