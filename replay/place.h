/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which memory a domain stands for on a device that has memory of its own. */
#ifndef WEIR_REPLAY_PLACE_H
#define WEIR_REPLAY_PLACE_H

#include "graph/graph.h"

struct place {
    weir_domain domain;  /* none: of copies that name none */
    bool is_host_memory; /* else the device's */
};

/** The first declared domain is the device's memory, and so is each in which an engine works that is
 *  no link between two. The others are the host's. */
struct place place_of(const struct graph *graph, weir_domain domain);

#endif
