/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One training step of a decoder model: pre-norm layers as in GPT-2, with biases, learned positions
 * and the output weights tied to the token table. No dropout, so every forward node is pure.
 *
 * With B batch, S sequence, H hidden, A heads, V vocabulary, e bytes of the data type:
 *
 *   weights       per layer 12 HH + 13 H numbers: norms 2H each, qkv 3HH + 3H, projection HH + H, up
 *                 4HH + 4H, down 4HH + H; tables VH and SH, last norm 2H. e bytes each, and as many
 *                 for their gradients.
 *   optimizer     Adam 8 bytes a number, for two moments of 32 bits; with a 16-bit data type 4 more
 *                 for the master weights, with SGD too, which keeps no momentum.
 *   kept for      per layer, in BSH numbers: its input, the outputs of both norms, qkv (3), the
 *   backward      attention, the sum after it, up (4), the activation (4): 16 e BSH bytes; 8 BS for
 *                 each norm (mean and deviation in 32 bits); attention 4 ABS when fused (one 32-bit
 *                 number a row of the scores), else e ABSS (the scores after the softmax). Then the
 *                 last norm's input, output and statistics, the logits e BSV, 4 BS of the loss.
 *   in between    outputs of projection and down, and the gradient of each activation: e bytes a
 *                 number, from the node that writes it to the last that reads it.
 *   workspace     matrix products: as asked for. Fused attention backward 4 BSH + 4 ABS (32-bit sums
 *                 of the query's gradient, and one number a row); unfused attention e ABSS each way.
 *
 * Durations are the roofline bound: the larger of flops / rate and bytes / bandwidth, where each
 * object read or written counts once. A matrix product of m by k with k by n does 2 mkn flops; fused
 * causal attention 2 BH S(S+1) forward, as what the mask hides is never computed, and 5/2 of that
 * backward, where the scores are computed again; unfused 4 BHSS, and 8 BHSS backward. The flops of
 * the other nodes count their arithmetic; bytes bound them on any machine.
 *
 * The gradient norm over all parameters, by which training clips, stands between backward and the
 * optimizer: no weight changes before every gradient is there. */
#include <inttypes.h>
#include <stdlib.h>

#include "graph/generate_step.h"

#define DIMENSION_MOST 1000000000
#define LAYERS_MOST 1000000
#define TOKEN_BYTES 8 /* a token is a 64-bit integer */

static const char *const dtype_names[] = {"bf16", "fp16", "fp32"};
static const char *const optimizer_names[] = {"adam", "sgd"};
static const char *const attention_names[] = {"flash", "full"};

/* The place of the name in the list; n when it is not there. */
static size_t place_of(const char *name, const char *const *names, size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(name, names[i]) != 0)
        i++;
    return i;
}

bool generate_dtype_from(const char *name, enum generate_dtype *out)
{
    size_t place = place_of(name, dtype_names, sizeof dtype_names / sizeof *dtype_names);

    if (place < sizeof dtype_names / sizeof *dtype_names)
        *out = (enum generate_dtype)place;
    return place < sizeof dtype_names / sizeof *dtype_names;
}

bool generate_optimizer_from(const char *name, enum generate_optimizer *out)
{
    size_t n = sizeof optimizer_names / sizeof *optimizer_names;
    size_t place = place_of(name, optimizer_names, n);

    if (place < n)
        *out = (enum generate_optimizer)place;
    return place < n;
}

bool generate_attention_from(const char *name, enum generate_attention *out)
{
    size_t n = sizeof attention_names / sizeof *attention_names;
    size_t place = place_of(name, attention_names, n);

    if (place < n)
        *out = (enum generate_attention)place;
    return place < n;
}

struct generate_transformer_options generate_transformer_default(void)
{
    return (struct generate_transformer_options){
        .n_layers = 12,
        .hidden = 768,
        .n_heads = 12,
        .sequence = 1024,
        .batch = 8,
        .vocabulary = 50257,
        .dtype = DTYPE_BF16,
        .optimizer = OPTIMIZER_ADAM,
        .attention = ATTENTION_FLASH,
        .matmul_workspace_bytes = INT64_C(32) << 20,
    };
}

static enum weir_status check_options(const struct generate_transformer_options *o,
                                      struct weir_error *err)
{
    const struct {
        const char *name;
        int64_t value, most;
    } dimensions[] = {
        {"layers", o->n_layers, LAYERS_MOST},  {"hidden", o->hidden, DIMENSION_MOST},
        {"heads", o->n_heads, DIMENSION_MOST}, {"sequence", o->sequence, DIMENSION_MOST},
        {"batch", o->batch, DIMENSION_MOST},   {"vocabulary", o->vocabulary, DIMENSION_MOST},
    };

    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++) {
        if (dimensions[i].value < 1 || dimensions[i].value > dimensions[i].most) {
            return weir_error_set(err, WEIR_USAGE,
                                  "%s %" PRId64 ": a number from 1 to %" PRId64 " was expected",
                                  dimensions[i].name, dimensions[i].value, dimensions[i].most);
        }
    }
    if (o->hidden % o->n_heads != 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "hidden %" PRId64 " is not divided by %" PRId64
                              " heads; give a hidden size that is a multiple of heads",
                              o->hidden, o->n_heads);
    }
    if (o->matmul_workspace_bytes < 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "a workspace of %" PRId64 " bytes: 0 or more was expected",
                              o->matmul_workspace_bytes);
    }
    return WEIR_OK;
}

static void find_sizes(struct step *step)
{
    const struct generate_transformer_options *o = step->options;
    struct sizes *size = &step->size;

    size->element_bytes = o->dtype == DTYPE_FP32 ? 4 : 2;
    size->rows = step_times(step, o->batch, o->sequence);
    size->hidden = step_times(step, size->rows, o->hidden);
    size->logits = step_times(step, size->rows, o->vocabulary);
    size->head_rows = step_times(step, size->rows, o->n_heads);
    size->scores = step_times(step, size->head_rows, o->sequence);
    if (o->attention == ATTENTION_FLASH) {
        int64_t unit = step_times(step, size->hidden, o->sequence + 1);

        size->attention_flops = step_times(step, 2, unit);
        size->attention_backward_flops = step_times(step, 5, unit);
    } else {
        int64_t unit = step_times(step, size->hidden, o->sequence);

        size->attention_flops = step_times(step, 4, unit);
        size->attention_backward_flops = step_times(step, 8, unit);
    }
}

static void add_weight(struct step *step, struct parameters *p, uint32_t which, const char *name,
                       int64_t count, const char *formula)
{
    int64_t bytes = step_times(step, count, step->size.element_bytes);
    char full[64];

    (void)snprintf(full, sizeof full, "%s.weight", name);
    p->weight[which] =
        step_object(step, STEP_STATE, p->name, full, count, step->size.element_bytes, formula);
    (void)snprintf(full, sizeof full, "%s.weight.gradient", name);
    p->gradient[which] =
        step_object(step, STEP_PASSING, p->name, full, count, step->size.element_bytes, formula);
    p->n_weights = which + 1;
    p->n_numbers = step_plus(step, p->n_numbers, count);
    step->totals.weight_bytes = step_plus(step, step->totals.weight_bytes, bytes);
    step->totals.gradient_bytes = step_plus(step, step->totals.gradient_bytes, bytes);
}

/* A 32-bit number for each parameter of the group. */
static weir_object add_state(struct step *step, struct parameters *p, const char *name,
                             const char *formula)
{
    step->totals.optimizer_bytes =
        step_plus(step, step->totals.optimizer_bytes, step_times(step, 4, p->n_numbers));
    return step_object(step, STEP_STATE, p->name, name, p->n_numbers, 4, formula);
}

static void add_states(struct step *step, struct parameters *p, const char *formula)
{
    p->master = p->moment1 = p->moment2 = (weir_object){WEIR_NONE};
    if (step->options->dtype != DTYPE_FP32)
        p->master = add_state(step, p, "master", formula);
    if (step->options->optimizer == OPTIMIZER_ADAM) {
        p->moment1 = add_state(step, p, "moment1", formula);
        p->moment2 = add_state(step, p, "moment2", formula);
    }
    step->totals.n_parameters = step_plus(step, step->totals.n_parameters, p->n_numbers);
}

static void add_parameters(struct step *step)
{
    const struct generate_transformer_options *o = step->options;
    int64_t h = o->hidden, hh = step_times(step, h, h), hh4 = step_times(step, 4, hh);
    struct parameters *p = &step->tables;

    (void)snprintf(p->name, sizeof p->name, "embedding");
    add_weight(step, p, WEIGHT_TOKENS, "tokens", step_times(step, o->vocabulary, h), "VH");
    add_weight(step, p, WEIGHT_POSITIONS, "positions", step_times(step, o->sequence, h), "SH");
    add_weight(step, p, WEIGHT_LAST_NORM, "norm", 2 * h, "2H");
    add_states(step, p, "VH+SH+2H");
    for (int64_t i = 0; i < o->n_layers; i++) {
        p = &step->layers[i].parameters;
        (void)snprintf(p->name, sizeof p->name, "layer%" PRId64, i);
        add_weight(step, p, WEIGHT_NORM1, "norm1", 2 * h, "2H");
        add_weight(step, p, WEIGHT_QKV, "qkv", step_plus(step, step_times(step, 3, hh), 3 * h),
                   "3HH+3H");
        add_weight(step, p, WEIGHT_PROJECTION, "projection", step_plus(step, hh, h), "HH+H");
        add_weight(step, p, WEIGHT_NORM2, "norm2", 2 * h, "2H");
        add_weight(step, p, WEIGHT_UP, "mlp_up", step_plus(step, hh4, 4 * h), "4HH+4H");
        add_weight(step, p, WEIGHT_DOWN, "mlp_down", step_plus(step, hh4, h), "4HH+H");
        add_states(step, p, "12HH+13H");
    }
}

/* The tokens of the batch with the one that follows each sequence; the loss; the gradient norm. */
static void add_ends(struct step *step)
{
    const struct generate_transformer_options *o = step->options;
    struct build *build = &step->build;
    int64_t tokens = step_times(step, o->batch, o->sequence + 1);
    struct graph_object object =
        generate_object(step_times(step, tokens, TOKEN_BYTES), step->input_domain);

    object.name = build_text(build, "tokens");
    object.is_initial = true;
    object.evidence = generate_evidence(
        EVIDENCE_DECLARED, build_text(build, "B(S+1) numbers of %d bytes", TOKEN_BYTES));
    step->tokens = build_object(build, &object);

    object = generate_object(4, step->domain);
    object.name = build_text(build, "loss");
    object.is_retained = true;
    object.evidence =
        generate_evidence(EVIDENCE_DECLARED, build_text(build, "1 number of 4 bytes"));
    step->loss = build_object(build, &object);
    object.name = build_text(build, "gradient_norm");
    object.is_retained = false;
    step->gradient_norm = build_object(build, &object);
}

static void load_tokens(struct step *step)
{
    struct graph_node node = generate_node(NODE_TRANSFER);

    if (!weir_is(step->input_engine))
        return;
    node.name = build_text(&step->build, "load_tokens");
    node.engine = step->input_engine;
    node.object = step->tokens;
    node.evidence =
        generate_evidence(EVIDENCE_BOUND, build_text(&step->build, "latency and bandwidth of its "
                                                                   "engine"));
    (void)build_node(&step->build, &node);
}

static void add_classes(struct step *step)
{
    struct {
        const char *name;
        weir_class *class_;
    } classes[] = {
        {"matmul", &step->matmul},           {"attention", &step->attention}, {"norm", &step->norm},
        {"elementwise", &step->elementwise}, {"optimizer", &step->optimizer},
    };

    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        weir_text text = build_text(&step->build, "%s", classes[i].name);

        if (step->build.status == WEIR_OK) {
            step->build.status =
                graph_class_of(step->build.graph, text, classes[i].class_, step->build.err);
        }
    }
}

static void add_step(struct step *step)
{
    int64_t n_layers = step->options->n_layers;
    weir_object flow;

    add_classes(step);
    add_ends(step);
    add_parameters(step);
    load_tokens(step);
    flow = step_embedding(step);
    for (int64_t i = 0; i < n_layers && step->build.status == WEIR_OK; i++) {
        step->layers[i].input = flow;
        flow = step_forward(step, &step->layers[i]);
    }
    flow = step_head(step, flow);
    for (int64_t i = n_layers; i-- > 0 && step->build.status == WEIR_OK;)
        flow = step_backward(step, &step->layers[i], flow);
    step_embedding_backward(step, flow);
    step_optimizer(step);
}

enum weir_status generate_transformer(struct graph *machine,
                                      const struct generate_transformer_options *options,
                                      struct generate_transformer_totals *totals,
                                      struct weir_error *err)
{
    struct step step = {.build = {.graph = machine, .status = WEIR_OK, .err = err},
                        .options = options};
    enum weir_status status = check_options(options, err);

    if (status != WEIR_OK)
        return status;
    step.layers = calloc((size_t)options->n_layers, sizeof *step.layers);
    if (step.layers == NULL)
        return weir_error_memory(err);
    step_find_machine(&step);
    find_sizes(&step);
    graph_set_head(machine, build_text(&step.build, "transformer"), SCOPE_NONE, true,
                   generate_evidence(EVIDENCE_NONE, (weir_text){0}));
    if (step.build.status == WEIR_OK)
        add_step(&step);
    free(step.layers);
    if (step.build.status == WEIR_OK && totals != NULL)
        *totals = step.totals;
    return step.build.status;
}
