/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose length is least certain: where to look first when a tail is long. */
#ifndef WEIR_JUDGE_WIDEST_H
#define WEIR_JUDGE_WIDEST_H

#include "graph/timeline.h"

/** The nodes that ran whose length is drawn and reaches farthest beyond its mean: by the greatest of
 *  uniform and empirical, by three deviations of the others. The widest first, ties in program order.
 *  @param nodes room for @p most of them, below 16  @return how many */
uint32_t widest_find(const struct graph *graph, const struct timeline *timeline, weir_node *nodes,
                     uint32_t most);

#endif
