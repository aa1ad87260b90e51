/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay did with its plan, as the verbs that show it answer. The run is a replay whose lists
 * are there; a run of another kind has none, and nothing is printed of it. */
#ifndef WEIR_CMD_REPLAYED_H
#define WEIR_CMD_REPLAYED_H

#include "cmd/json.h"
#include "store/store.h"

#define REPLAYED_WORST 10 /* deviations of nodes that are shown */

/** Does the run know how far it ended from its plan, and why? */
bool replayed_is_known(const struct run *run);

#define REPLAYED_DEVICE_BYTES 192
/** On which device: " on cuda (NVIDIA H200)", in @p out, REPLAYED_DEVICE_BYTES; "" of no replay. */
const char *replayed_device(const struct run *run, char *out);
/** The same as "device" and "device_name"; null of no replay. */
void replayed_json_device(struct json *json, const struct run *run);
/** "repeats", "warm_up", why they ended, the interval of the median, "kinds" and "timing" as the
 *  replay told them; null where it did not. */
void replayed_json_repeats(struct json *json, const struct run *run);
/** What is said of the run as a whole, as a list "remarks". */
void replayed_json_remarks(struct json *json, const struct run *run);
/** Where its median makespan lies with 95 %. @return false when that is not known */
bool replayed_interval(const struct run *run, int64_t *low_ns, int64_t *high_ns);
/** An object "deviation" of the makespan: its parts, and how many links the critical chain has. null
 *  when unknown. */
void replayed_json_makespan(struct json *json, const struct run *run);
/** The links, as "chain". */
void replayed_json_chain(struct json *json, const struct run *run);
/** A list "deviations", costliest first. @param n_nodes at most so many of nodes, and then none of
 *  the run as a whole; SIZE_MAX: all */
void replayed_json_deviations(struct json *json, const struct run *run, size_t n_nodes);
/** "mechanisms" with how many actions each has, "inserted", "queues" and "order_inversions".
 *  WEIR_MEMORY */
MUST_CHECK enum weir_status replayed_json_done(struct json *json, const struct run *run,
                                               struct weir_error *err);
/** "actions", each with its mechanism, place and deviation. */
void replayed_json_actions(struct json *json, const struct run *run);

/* The same for people. */
void replayed_print_repeats(const struct run *run);
void replayed_print_makespan(const char *label, const struct run *run);
/** The costliest nodes as a table, then what is said of the run as a whole. */
void replayed_print_deviations(const struct run *run);
MUST_CHECK enum weir_status replayed_print_done(const struct run *run, struct weir_error *err);
void replayed_print_actions(const struct run *run);

#endif
