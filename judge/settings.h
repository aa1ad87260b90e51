/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One number out of the settings of a run, which are a JSON object. */
#ifndef WEIR_JUDGE_SETTINGS_H
#define WEIR_JUDGE_SETTINGS_H

#include <stdbool.h>

/** The number under that key of the outermost object (the first, when it stands there twice).
 *  @return false when there is none, or what stands there is no finite number */
bool settings_ratio(const char *settings, const char *key, double *out);

#endif
