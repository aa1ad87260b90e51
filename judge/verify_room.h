/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For how long a domain was too full: the first instant from one on in which it holds no more than so
 * much. A tree over the levels of each domain that is asked for. */
#ifndef WEIR_JUDGE_VERIFY_ROOM_H
#define WEIR_JUDGE_VERIFY_ROOM_H

#include "judge/verify_internal.h"

struct room {
    const struct verify *verify;
    int64_t **least_bytes; /* by domain: of each part of its levels; NULL until it is asked for */
};

MUST_CHECK enum weir_status room_begin(const struct verify *verify, struct room *out);
void room_free(struct room *room);
/** @return t_ns when the bytes fit then; else until when they do not; NEVER_NS: to the end.
 *  @param until_ns written on WEIR_OK */
MUST_CHECK enum weir_status room_short_until(struct room *room, uint32_t domain, int64_t bytes,
                                             int64_t t_ns, int64_t *until_ns);

#endif
