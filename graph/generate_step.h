/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A training step in the making: the machine's figures, sizes that many formulas share, and how an
 * object and a node with its roofline duration are added. */
#ifndef WEIR_GRAPH_GENERATE_STEP_H
#define WEIR_GRAPH_GENERATE_STEP_H

#include "graph/generate.h"
#include "graph/generate_internal.h"

/* Weights of a layer, and of the last group: the tables and the last norm. */
enum {
    WEIGHT_NORM1,
    WEIGHT_QKV,
    WEIGHT_PROJECTION,
    WEIGHT_NORM2,
    WEIGHT_UP,
    WEIGHT_DOWN,
    WEIGHTS,
    WEIGHT_TOKENS = 0,
    WEIGHT_POSITIONS,
    WEIGHT_LAST_NORM,
    TABLE_WEIGHTS
};

/* What one node of the optimizer updates. */
struct parameters {
    char name[32]; /* of the layer: the first word of all its names */
    uint32_t n_weights;
    int64_t n_numbers;
    weir_object weight[WEIGHTS], gradient[WEIGHTS];
    weir_object master, moment1, moment2; /* none when the optimizer keeps none */
};

/* What a layer keeps from forward for backward. */
struct layer {
    struct parameters parameters;
    weir_object input, norm1, stats1, qkv, attention, scores, middle, norm2, stats2, up, active;
};

/* B batch, S sequence, H hidden, A heads, V vocabulary; numbers of elements. */
struct sizes {
    int64_t element_bytes;
    int64_t rows;      /* BS */
    int64_t hidden;    /* BSH */
    int64_t logits;    /* BSV */
    int64_t scores;    /* ABSS */
    int64_t head_rows; /* ABS */
    int64_t attention_flops, attention_backward_flops;
};

struct step {
    struct build build;
    const struct generate_transformer_options *options;
    struct generate_transformer_totals totals;
    struct sizes size;
    int64_t charged_bytes; /* all objects and workspaces: a legal graph has them in 64 bits */
    weir_engine engine, input_engine; /* the second none: the input is where the work is done */
    weir_domain domain, input_domain;
    int64_t flops_per_s, bandwidth_bytes_per_s;
    weir_class matmul, attention, norm, elementwise, optimizer;
    struct layer *layers;     /* n_layers */
    struct parameters tables; /* WEIGHT_TOKENS and on */
    weir_object tokens, loss, gradient_norm;
    weir_object last_input, last_norm, last_stats, logits, loss_rows; /* kept by the head */
};

/** Finds the engines and their figures; a fault is kept in step->build. */
void step_find_machine(struct step *step);

/** Checked arithmetic: past 64 bits the step fails with WEIR_USAGE, and the result is 0. */
int64_t step_times(struct step *step, int64_t a, int64_t b);
int64_t step_plus(struct step *step, int64_t a, int64_t b);

enum step_life {
    STEP_PASSING, /* from the node that writes it to the last that reads it */
    STEP_KEPT,    /* written by the next node added, which can write it again: may be moved away */
    STEP_STATE    /* there before the step and after it */
};

/** Adds an object "AT.NAME" of `count` numbers of `number_bytes`.
 *  @param formula the count, for its evidence */
weir_object step_object(struct step *step, enum step_life life, const char *at, const char *name,
                        int64_t count, int64_t number_bytes, const char *formula);

/* A node in the making. */
struct work {
    weir_class class_;
    int64_t flops;
    int64_t more_bytes; /* moved beyond each object once for a read and once for a write; perhaps
                           negative */
    int64_t workspace_bytes;
    const weir_object *reads, *writes;
    uint32_t n_reads, n_writes;
    bool is_impure;
};

/* READS(a, b), WRITES(c): the lists of a struct work. */
#define STEP_COUNT(...) (uint32_t)(sizeof((weir_object[]){__VA_ARGS__}) / sizeof(weir_object))
#define READS(...) .reads = (weir_object[]){__VA_ARGS__}, .n_reads = STEP_COUNT(__VA_ARGS__)
#define WRITES(...) .writes = (weir_object[]){__VA_ARGS__}, .n_writes = STEP_COUNT(__VA_ARGS__)

/** Adds a compute node "AT.NAME", or "AT" when name is "", that takes as long as the roofline says. */
void step_node(struct step *step, const char *at, const char *name, const struct work *work);

/* The passes: generate_layers.c. */

/** Adds the forward nodes of a layer, whose input is set. @return its output */
weir_object step_forward(struct step *step, struct layer *layer);
/** Adds the backward nodes of a layer. @return the gradient of its input */
weir_object step_backward(struct step *step, struct layer *layer, weir_object output_gradient);
/** Last norm, output weights and loss; then the same backward.
 *  @return the gradient of what the last layer gave */
weir_object step_head(struct step *step, weir_object output);
/** Tables: from tokens to the input of the first layer, and back. */
weir_object step_embedding(struct step *step);
void step_embedding_backward(struct step *step, weir_object gradient);
/** The gradient norm, then one optimizer node for each group of parameters. */
void step_optimizer(struct step *step);

#endif
