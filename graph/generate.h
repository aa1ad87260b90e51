/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs made from a few numbers: a chain, a random graph, a training step of a decoder model. The
 * same options give the same graph, to the byte of its canonical form. Every graph is legal: it
 * passes all checks, and the chain and the random graph fit their machine in any order of
 * dispatch. */
#ifndef WEIR_GRAPH_GENERATE_H
#define WEIR_GRAPH_GENERATE_H

#include "graph/graph.h"

/* The most that may be asked for. */
#define GENERATE_NODES_MOST 1000000000
#define GENERATE_WIDTH_MOST 100000
#define GENERATE_ENGINES_MOST 10000

/* Called now and then while a graph of many nodes is made; part is 0 to 1. NULL: not. */
struct generate_progress {
    void (*show)(void *arg, double part);
    void *arg;
};

/* A chain: each node reads what the one before it wrote. Without a seed every node takes
 * duration_ns, the makespan is n_nodes * duration_ns and the peak two objects. */
struct generate_chain_options {
    uint32_t n_nodes;
    bool is_seeded; /* durations are drawn from 1 ns to twice duration_ns, less 1 ns */
    uint64_t seed;
    int64_t duration_ns;
    int64_t size_bytes; /* of each object */
    struct generate_progress progress;
};

struct generate_chain_options generate_chain_default(void);
/** WEIR_USAGE when an option is out of range; WEIR_MEMORY. The caller owns *out. */
MUST_CHECK enum weir_status generate_chain(const struct generate_chain_options *options,
                                           struct graph **out, struct weir_error *err);

/* A layered graph: compute nodes in lanes, each reading the objects of a few nodes before it,
 * updates in place, views, workspace, copies to the host and back, and a barrier after every so
 * many layers, which bounds what can be alive in any order of dispatch. */
struct generate_random_options {
    uint32_t n_nodes;   /* of all kinds, exactly */
    uint32_t width;     /* compute nodes in a layer */
    uint32_t n_engines; /* that compute, beside one for each direction of copies */
    uint64_t seed;
    struct generate_progress progress;
};

struct generate_random_options generate_random_default(void);
/** As generate_chain. */
MUST_CHECK enum weir_status generate_random(const struct generate_random_options *options,
                                            struct graph **out, struct weir_error *err);

enum generate_dtype { DTYPE_BF16, DTYPE_FP16, DTYPE_FP32 };
enum generate_optimizer { OPTIMIZER_ADAM, OPTIMIZER_SGD };
enum generate_attention {
    ATTENTION_FLASH, /* fused: keeps one number a row of the scores, skips what the mask hides */
    ATTENTION_FULL   /* keeps the scores after the softmax, computes all of them */
};

struct generate_transformer_options {
    int64_t n_layers, hidden, n_heads, sequence, batch, vocabulary;
    enum generate_dtype dtype; /* of weights, gradients and activations */
    enum generate_optimizer optimizer;
    enum generate_attention attention;
    int64_t matmul_workspace_bytes; /* of each matrix product */
};

/* What the step holds and does, by the formulas of generate_transformer.c. */
struct generate_transformer_totals {
    int64_t n_parameters;
    int64_t weight_bytes, gradient_bytes, optimizer_bytes;
    int64_t activation_bytes; /* kept by forward for backward, with the logits */
    int64_t flops;
};

/** GPT-2 small at batch 8, which fits on every machine that ships with Weir. */
struct generate_transformer_options generate_transformer_default(void);
/** Adds one training step to a graph that holds a machine and nothing else, and names it. The work
 *  is done on the first engine that has flops= and bandwidth=, in its domain; the input comes from
 *  another domain when an engine copies from one into it.
 *  WEIR_USAGE when an option is out of range, WEIR_INPUT when the machine lacks a figure,
 *  WEIR_MEMORY; the graph must not be used then. @param totals may be NULL */
MUST_CHECK enum weir_status generate_transformer(struct graph *machine,
                                                 const struct generate_transformer_options *options,
                                                 struct generate_transformer_totals *totals,
                                                 struct weir_error *err);

/** From the name as typed; false when it is none of them. */
bool generate_dtype_from(const char *name, enum generate_dtype *out);
bool generate_optimizer_from(const char *name, enum generate_optimizer *out);
bool generate_attention_from(const char *name, enum generate_attention *out);

#endif
