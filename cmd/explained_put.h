/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of which paragraphs about a run are made: names, times and sizes, printed. */
#ifndef WEIR_CMD_EXPLAINED_PUT_H
#define WEIR_CMD_EXPLAINED_PUT_H

#include "cmd/explained.h"

void explained_put_node(const struct explained *explained, weir_node node);
void explained_put_engine(const struct explained *explained, weir_engine engine);
void explained_put_time(int64_t ns);
void explained_put_size(int64_t bytes);
/** A row begins with a time and its part of the makespan. */
void explained_begin_row(const struct explained *explained, int64_t ns);
/** The causes of an engine's stalls, longest first. */
void explained_put_causes(const int64_t by_cause_ns[STALL_CAUSES]);

#endif
