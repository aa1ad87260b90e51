/* SPDX-License-Identifier: MIT */
/* Ids of what a graph holds: one type each, so that a node cannot pass for an object. Installed
 * with the plug-in interface. */
#ifndef WEIR_GRAPH_ID_H
#define WEIR_GRAPH_ID_H

#include <stdbool.h>
#include <stdint.h>

/* Ids are dense, from 0, in the order of the statements: a node's id is its program order. */
typedef struct {
    uint32_t index;
} weir_node;
typedef struct {
    uint32_t index;
} weir_edge;
typedef struct {
    uint32_t index;
} weir_object;
typedef struct {
    uint32_t index;
} weir_domain;
typedef struct {
    uint32_t index;
} weir_engine;
typedef struct {
    uint32_t index;
} weir_class;
typedef struct {
    uint32_t index;
} weir_resource;
typedef struct {
    uint32_t index;
} weir_guard;
/* A string of the graph's table; 0 is none. */
typedef struct {
    uint32_t index;
} weir_text;

#define WEIR_NONE UINT32_MAX

/* weir_is(node): is there one? */
#define weir_is(id) ((id).index != WEIR_NONE)
#define weir_same(a, b) ((a).index == (b).index)

#endif
