/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a training step, forward, backward and optimizer, in program order. The formulas of
 * their sizes and flops are at the top of generate_transformer.c. */
#include <stdlib.h>

#include "graph/generate_step.h"

#define STATS_BYTES 8 /* mean and reciprocal deviation of a row, 32 bits each */

/* Flops a number (or a row's number): counts of the arithmetic. */
enum {
    FLOPS_NORM = 8,
    FLOPS_NORM_BACKWARD = 14,
    FLOPS_ACTIVATION = 8,
    FLOPS_ACTIVATION_BACKWARD = 13,
    FLOPS_LOSS = 3,
    FLOPS_ADAM = 12,
    FLOPS_SGD = 2,
    FLOPS_CLIP = 2
};

/* One matrix product of the step, as forward sees it: rows by k with k by n. */
struct linear {
    const char *name;
    int64_t k, n;
    weir_object input, weight, gradient; /* gradient of the weight */
    weir_object output;
};

static int64_t element(const struct step *step)
{
    return step->size.element_bytes;
}

static int64_t product_flops(struct step *step, int64_t k, int64_t n)
{
    return step_times(step, step_times(step, 2 * step->size.rows, k), n);
}

static void linear_forward(struct step *step, const char *at, const struct linear *linear)
{
    step_node(step, at, linear->name,
              &(struct work){.class_ = step->matmul,
                             .flops = product_flops(step, linear->k, linear->n),
                             .workspace_bytes = step->options->matmul_workspace_bytes,
                             READS(linear->input, linear->weight),
                             WRITES(linear->output)});
}

/* Two products: the gradient of the input, then that of the weight. */
static void linear_backward(struct step *step, const char *at, const struct linear *linear,
                            weir_object output_gradient, weir_object input_gradient)
{
    struct work work = {.class_ = step->matmul,
                        .flops = product_flops(step, linear->k, linear->n),
                        .workspace_bytes = step->options->matmul_workspace_bytes,
                        READS(output_gradient, linear->weight),
                        WRITES(input_gradient)};
    char name[64];

    (void)snprintf(name, sizeof name, "%s.backward_input", linear->name);
    step_node(step, at, name, &work);
    work.reads = (weir_object[]){output_gradient, linear->input};
    work.writes = &linear->gradient;
    (void)snprintf(name, sizeof name, "%s.backward_weight", linear->name);
    step_node(step, at, name, &work);
}

static void norm_forward(struct step *step, const char *at, const char *name, weir_object input,
                         weir_object weight, weir_object output, weir_object stats)
{
    step_node(step, at, name,
              &(struct work){.class_ = step->norm,
                             .flops = step_times(step, FLOPS_NORM, step->size.hidden),
                             READS(input, weight),
                             WRITES(output, stats)});
}

/* The sum over the branch: b is added to a. */
static void add_forward(struct step *step, const char *at, const char *name, weir_object a,
                        weir_object b, weir_object sum)
{
    step_node(
        step, at, name,
        &(struct work){
            .class_ = step->elementwise, .flops = step->size.hidden, READS(a, b), WRITES(sum)});
}

static void attention_forward(struct step *step, struct layer *layer)
{
    bool is_full = step->options->attention == ATTENTION_FULL;
    int64_t scores_bytes = step_times(step, step->size.scores, element(step));
    const char *at = layer->parameters.name;

    layer->attention =
        step_object(step, STEP_KEPT, at, "attention.out", step->size.hidden, element(step), "BSH");
    layer->scores = is_full ? step_object(step, STEP_KEPT, at, "attention.scores",
                                          step->size.scores, element(step), "ABSS")
                            : step_object(step, STEP_KEPT, at, "attention.rows",
                                          step->size.head_rows, 4, "ABS");
    /* Unfused: the scores before the softmax are written and read, those after it read. */
    step_node(step, at, "attention",
              &(struct work){.class_ = step->attention,
                             .flops = step->size.attention_flops,
                             .more_bytes = is_full ? step_times(step, 3, scores_bytes) : 0,
                             .workspace_bytes = is_full ? scores_bytes : 0,
                             READS(layer->qkv),
                             WRITES(layer->attention, layer->scores)});
}

static void attention_backward(struct step *step, struct layer *layer, weir_object gradient,
                               weir_object qkv_gradient)
{
    bool is_full = step->options->attention == ATTENTION_FULL;
    int64_t scores_bytes = step_times(step, step->size.scores, element(step));
    int64_t workspace =
        is_full ? scores_bytes
                : step_times(step, 4, step_plus(step, step->size.hidden, step->size.head_rows));

    /* Unfused: the scores' gradient is written and read, written through the softmax, read twice;
     * the scores are read once more. */
    step_node(step, layer->parameters.name, "attention.backward",
              &(struct work){.class_ = step->attention,
                             .flops = step->size.attention_backward_flops,
                             .more_bytes = is_full ? step_times(step, 6, scores_bytes) : 0,
                             .workspace_bytes = workspace,
                             READS(layer->qkv, layer->attention, layer->scores, gradient),
                             WRITES(qkv_gradient)});
}

static void activation_forward(struct step *step, struct layer *layer)
{
    step_node(
        step, layer->parameters.name, "activation",
        &(struct work){.class_ = step->elementwise,
                       .flops = step_times(step, INT64_C(4) * FLOPS_ACTIVATION, step->size.hidden),
                       READS(layer->up),
                       WRITES(layer->active)});
}

/* The four products of a layer. */
static struct linear layer_linear(const struct step *step, const struct layer *layer, int which)
{
    int64_t h = step->options->hidden;
    struct linear linear = {.weight = layer->parameters.weight[which],
                            .gradient = layer->parameters.gradient[which]};

    switch (which) {
    case WEIGHT_QKV:
        linear.name = "qkv";
        linear.k = h;
        linear.n = 3 * h;
        linear.input = layer->norm1;
        break;
    case WEIGHT_PROJECTION:
        linear.name = "projection";
        linear.k = linear.n = h;
        linear.input = layer->attention;
        break;
    case WEIGHT_UP:
        linear.name = "mlp_up";
        linear.k = h;
        linear.n = 4 * h;
        linear.input = layer->norm2;
        break;
    default:
        linear.name = "mlp_down";
        linear.k = 4 * h;
        linear.n = h;
        linear.input = layer->active;
        break;
    }
    return linear;
}

static void forward_product(struct step *step, struct layer *layer, int which, weir_object output)
{
    struct linear linear = layer_linear(step, layer, which);

    linear.output = output;
    linear_forward(step, layer->parameters.name, &linear);
}

static weir_object kept(struct step *step, const char *at, const char *name, int64_t times,
                        const char *formula)
{
    return step_object(step, STEP_KEPT, at, name, step_times(step, times, step->size.hidden),
                       element(step), formula);
}

static weir_object passing(struct step *step, const char *at, const char *name, int64_t times,
                           const char *formula)
{
    return step_object(step, STEP_PASSING, at, name, step_times(step, times, step->size.hidden),
                       element(step), formula);
}

static weir_object stats(struct step *step, const char *at, const char *name)
{
    return step_object(step, STEP_KEPT, at, name, step->size.rows, STATS_BYTES, "BS");
}

weir_object step_forward(struct step *step, struct layer *layer)
{
    const char *at = layer->parameters.name;
    const weir_object *weight = layer->parameters.weight;
    weir_object branch, output;

    layer->norm1 = kept(step, at, "norm1.out", 1, "BSH");
    layer->stats1 = stats(step, at, "norm1.stats");
    norm_forward(step, at, "norm1", layer->input, weight[WEIGHT_NORM1], layer->norm1,
                 layer->stats1);
    layer->qkv = kept(step, at, "qkv.out", 3, "3BSH");
    forward_product(step, layer, WEIGHT_QKV, layer->qkv);
    attention_forward(step, layer);
    branch = passing(step, at, "projection.out", 1, "BSH");
    forward_product(step, layer, WEIGHT_PROJECTION, branch);
    layer->middle = kept(step, at, "add1.out", 1, "BSH");
    add_forward(step, at, "add1", layer->input, branch, layer->middle);
    layer->norm2 = kept(step, at, "norm2.out", 1, "BSH");
    layer->stats2 = stats(step, at, "norm2.stats");
    norm_forward(step, at, "norm2", layer->middle, weight[WEIGHT_NORM2], layer->norm2,
                 layer->stats2);
    layer->up = kept(step, at, "mlp_up.out", 4, "4BSH");
    forward_product(step, layer, WEIGHT_UP, layer->up);
    layer->active = kept(step, at, "activation.out", 4, "4BSH");
    activation_forward(step, layer);
    branch = passing(step, at, "mlp_down.out", 1, "BSH");
    forward_product(step, layer, WEIGHT_DOWN, branch);
    output = kept(step, at, "add2.out", 1, "BSH");
    add_forward(step, at, "add2", layer->middle, branch, output);
    return output;
}

/* The gradient that comes past the branch is added in the same node. */
struct norm_back {
    const char *name;
    weir_object input, stats, weight, weight_gradient;
    weir_object output_gradient, past, input_gradient; /* past: none at the last norm */
};

static void norm_backward(struct step *step, const char *at, const struct norm_back *norm)
{
    struct work work = {
        .class_ = step->norm,
        .flops = step_times(step, FLOPS_NORM_BACKWARD, step->size.hidden),
        READS(norm->output_gradient, norm->input, norm->stats, norm->weight, norm->past),
        WRITES(norm->input_gradient, norm->weight_gradient)};
    char name[64];

    if (!weir_is(norm->past))
        work.n_reads--;
    (void)snprintf(name, sizeof name, "%s.backward", norm->name);
    step_node(step, at, name, &work);
}

static void backward_product(struct step *step, struct layer *layer, int which,
                             weir_object output_gradient, weir_object input_gradient)
{
    struct linear linear = layer_linear(step, layer, which);

    linear_backward(step, layer->parameters.name, &linear, output_gradient, input_gradient);
}

/* From the gradient of the layer's output to that of the sum after attention. */
static weir_object backward_mlp(struct step *step, struct layer *layer, weir_object output_gradient)
{
    const struct parameters *p = &layer->parameters;
    weir_object active = passing(step, p->name, "activation.out.gradient", 4, "4BSH");
    weir_object up, norm, middle;

    backward_product(step, layer, WEIGHT_DOWN, output_gradient, active);
    up = passing(step, p->name, "mlp_up.out.gradient", 4, "4BSH");
    step_node(step, p->name, "activation.backward",
              &(struct work){.class_ = step->elementwise,
                             .flops = step_times(step, INT64_C(4) * FLOPS_ACTIVATION_BACKWARD,
                                                 step->size.hidden),
                             READS(layer->up, active),
                             WRITES(up)});
    norm = passing(step, p->name, "norm2.out.gradient", 1, "BSH");
    backward_product(step, layer, WEIGHT_UP, up, norm);
    middle = passing(step, p->name, "add1.out.gradient", 1, "BSH");
    norm_backward(step, p->name,
                  &(struct norm_back){.name = "norm2",
                                      .input = layer->middle,
                                      .stats = layer->stats2,
                                      .weight = p->weight[WEIGHT_NORM2],
                                      .weight_gradient = p->gradient[WEIGHT_NORM2],
                                      .output_gradient = norm,
                                      .past = output_gradient,
                                      .input_gradient = middle});
    return middle;
}

weir_object step_backward(struct step *step, struct layer *layer, weir_object output_gradient)
{
    const struct parameters *p = &layer->parameters;
    weir_object middle = backward_mlp(step, layer, output_gradient);
    weir_object attention = passing(step, p->name, "attention.out.gradient", 1, "BSH");
    weir_object qkv, norm, input;

    backward_product(step, layer, WEIGHT_PROJECTION, middle, attention);
    qkv = passing(step, p->name, "qkv.out.gradient", 3, "3BSH");
    attention_backward(step, layer, attention, qkv);
    norm = passing(step, p->name, "norm1.out.gradient", 1, "BSH");
    backward_product(step, layer, WEIGHT_QKV, qkv, norm);
    input = passing(step, p->name, "input.gradient", 1, "BSH");
    norm_backward(step, p->name,
                  &(struct norm_back){.name = "norm1",
                                      .input = layer->input,
                                      .stats = layer->stats1,
                                      .weight = p->weight[WEIGHT_NORM1],
                                      .weight_gradient = p->gradient[WEIGHT_NORM1],
                                      .output_gradient = norm,
                                      .past = middle,
                                      .input_gradient = input});
    return input;
}

/* The output weights are the token table; its gradient is begun here. */
static struct linear head_linear(const struct step *step)
{
    return (struct linear){.name = "head",
                           .k = step->options->hidden,
                           .n = step->options->vocabulary,
                           .input = step->last_norm,
                           .weight = step->tables.weight[WEIGHT_TOKENS],
                           .gradient = step->tables.gradient[WEIGHT_TOKENS],
                           .output = step->logits};
}

static void loss_node(struct step *step, const char *name, const struct work *lists)
{
    struct work work = *lists;

    work.class_ = step->elementwise;
    work.flops = step_times(step, FLOPS_LOSS, step->size.logits);
    step_node(step, "output", name, &work);
}

weir_object step_head(struct step *step, weir_object output)
{
    const struct parameters *tables = &step->tables;
    weir_object logits_gradient, norm, gradient;
    struct linear head;

    step->last_input = output;
    step->last_norm = kept(step, "output", "norm.out", 1, "BSH");
    step->last_stats = stats(step, "output", "norm.stats");
    norm_forward(step, "output", "norm", output, tables->weight[WEIGHT_LAST_NORM], step->last_norm,
                 step->last_stats);
    step->logits =
        step_object(step, STEP_KEPT, "output", "logits", step->size.logits, element(step), "BSV");
    head = head_linear(step);
    linear_forward(step, "output", &head);
    step->loss_rows = step_object(step, STEP_KEPT, "output", "loss.rows", step->size.rows, 4, "BS");
    loss_node(
        step, "loss",
        &(struct work){READS(step->logits, step->tokens), WRITES(step->loss, step->loss_rows)});

    logits_gradient = step_object(step, STEP_PASSING, "output", "logits.gradient",
                                  step->size.logits, element(step), "BSV");
    loss_node(step, "loss.backward",
              &(struct work){READS(step->logits, step->loss_rows, step->tokens),
                             WRITES(logits_gradient)});
    norm = passing(step, "output", "norm.out.gradient", 1, "BSH");
    linear_backward(step, "output", &head, logits_gradient, norm);
    gradient = passing(step, "output", "input.gradient", 1, "BSH");
    norm_backward(step, "output",
                  &(struct norm_back){.name = "norm",
                                      .input = step->last_input,
                                      .stats = step->last_stats,
                                      .weight = tables->weight[WEIGHT_LAST_NORM],
                                      .weight_gradient = tables->gradient[WEIGHT_LAST_NORM],
                                      .output_gradient = norm,
                                      .past = {WEIR_NONE},
                                      .input_gradient = gradient});
    return gradient;
}

/* Bytes of the rows of the token table that the input can touch, less those of the whole table. */
static int64_t rows_touched(struct step *step)
{
    int64_t vocabulary = step->options->vocabulary;
    int64_t rows = step->size.rows < vocabulary ? step->size.rows : vocabulary;

    return step_times(step, step_times(step, rows - vocabulary, step->options->hidden),
                      element(step));
}

weir_object step_embedding(struct step *step)
{
    weir_object out = kept(step, "embedding", "out", 1, "BSH");

    step_node(step, "embedding", "",
              &(struct work){.class_ = step->elementwise,
                             .flops = step->size.hidden,
                             .more_bytes = rows_touched(step),
                             READS(step->tokens, step->tables.weight[WEIGHT_TOKENS],
                                   step->tables.weight[WEIGHT_POSITIONS]),
                             WRITES(out)});
    return out;
}

/* Adds into the gradient of the token table that the head began, so it must not run twice. */
void step_embedding_backward(struct step *step, weir_object gradient)
{
    const weir_object *gradients = step->tables.gradient;

    step_node(step, "embedding", "backward",
              &(struct work){.class_ = step->elementwise,
                             .flops = step_times(step, 2, step->size.hidden),
                             .more_bytes = step_times(step, 2, rows_touched(step)),
                             READS(gradient, step->tokens, gradients[WEIGHT_TOKENS]),
                             WRITES(gradients[WEIGHT_TOKENS], gradients[WEIGHT_POSITIONS]),
                             .is_impure = true});
}

static void clip(struct step *step)
{
    uint32_t n_layers = (uint32_t)step->options->n_layers;
    weir_object *gradients = calloc((size_t)n_layers * WEIGHTS + TABLE_WEIGHTS, sizeof *gradients);
    uint32_t n = 0;

    if (gradients == NULL) {
        if (step->build.status == WEIR_OK)
            step->build.status = weir_error_memory(step->build.err);
        return;
    }
    for (uint32_t i = 0; i < n_layers; i++) {
        for (uint32_t k = 0; k < WEIGHTS; k++)
            gradients[n++] = step->layers[i].parameters.gradient[k];
    }
    for (uint32_t k = 0; k < TABLE_WEIGHTS; k++)
        gradients[n++] = step->tables.gradient[k];
    step_node(step, "clip", "",
              &(struct work){.class_ = step->optimizer,
                             .flops = step_times(step, FLOPS_CLIP, step->totals.n_parameters),
                             .reads = gradients,
                             .n_reads = n,
                             WRITES(step->gradient_norm)});
    free(gradients);
}

/* Reads what it updates, the gradients and their norm; with master weights it only writes the
 * weights. */
static void update(struct step *step, const struct parameters *p)
{
    bool is_adam = step->options->optimizer == OPTIMIZER_ADAM;
    const weir_object state[] = {p->master, p->moment1, p->moment2};
    weir_object reads[2 * WEIGHTS + 4], writes[WEIGHTS + 3];
    uint32_t n_reads = 0, n_writes = 0;

    for (uint32_t i = 0; i < p->n_weights; i++) {
        reads[n_reads++] = p->gradient[i];
        writes[n_writes++] = p->weight[i];
        if (!weir_is(p->master))
            reads[n_reads++] = p->weight[i];
    }
    for (uint32_t i = 0; i < sizeof state / sizeof *state; i++) {
        if (weir_is(state[i]))
            reads[n_reads++] = writes[n_writes++] = state[i];
    }
    reads[n_reads++] = step->gradient_norm;
    step_node(
        step, p->name, is_adam ? "adam" : "sgd",
        &(struct work){.class_ = step->optimizer,
                       .flops = step_times(step, is_adam ? FLOPS_ADAM : FLOPS_SGD, p->n_numbers),
                       .reads = reads,
                       .n_reads = n_reads,
                       .writes = writes,
                       .n_writes = n_writes,
                       .is_impure = true});
}

void step_optimizer(struct step *step)
{
    clip(step);
    update(step, &step->tables);
    for (int64_t i = 0; i < step->options->n_layers; i++)
        update(step, &step->layers[i].parameters);
}
