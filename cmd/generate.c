/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir generate: graphs made from a few numbers. */
#include "graph/generate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/number.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"

#define DEFAULT_MACHINE "h100-sxm"
#define FINDINGS_KEPT 50

extern const struct cmd_verb cmd_verb_generate;

enum { KIND_CHAIN = 1, KIND_RANDOM = 2, KIND_TRANSFORMER = 4 };

static const char usage[] =
    "usage: weir generate chain       [--nodes N] [--seed S] -o GRAPH\n"
    "       weir generate random      [--nodes N] [--seed S] [--width W] [--engines E] -o GRAPH\n"
    "       weir generate transformer [--layers N] [--hidden H] [--heads A] [--sequence S]\n"
    "                                 [--batch B] [--vocabulary V] [--dtype T] [--optimizer O]\n"
    "                                 [--attention K] [--workspace SIZE] [--machine M] -o GRAPH\n\n"
    "Writes a graph that is legal: the chain and the random graph fit their machine in any order\n"
    "of dispatch; a training step that does not fit the machine ends in a deadlock or a shortage\n"
    "when it is simulated, which is what policies are for. The same options give the same file.\n\n"
    "  -o GRAPH          the file to write; - for standard output\n"
    "chain and random:\n"
    "  --nodes N         how many nodes (chain 100, random 1000)\n"
    "  --seed S          random: of its draws (1); chain: draw the durations, all equal without\n"
    "  --width W         compute nodes in a layer (8)\n"
    "  --engines E       engines that compute (2), beside one for each direction of copies\n"
    "transformer, one training step of a decoder model (GPT-2 small when nothing is said):\n"
    "  --layers N        (12)            --hidden H        (768)\n"
    "  --heads A         (12)            --sequence S      tokens in each (1024)\n"
    "  --batch B         sequences (8)   --vocabulary V    (50257)\n"
    "  --dtype T         bf16, fp16 or fp32, of weights, gradients and activations (bf16)\n"
    "  --optimizer O     adam or sgd (adam)\n"
    "  --attention K     flash or full: are the scores kept? (flash)\n"
    "  --workspace SIZE  of each matrix product (32MiB)\n"
    "  --machine M       a machine file or the name of an installed one (" DEFAULT_MACHINE ")\n\n"
    "example:\n"
    "  weir generate transformer --layers 24 --hidden 1024 --heads 16 --machine h200 -o "
    "step.weir\n";

/* Options as typed; NULL where nothing was. */
struct request {
    const char *nodes, *seed, *width, *engines;
    const char *layers, *hidden, *heads, *sequence, *batch, *vocabulary;
    const char *dtype, *optimizer, *attention, *workspace, *machine;
    const char *output;
    struct generate_progress progress;
};

/* What the answer tells beside the counts. */
struct made {
    struct graph *graph;
    bool has_totals;
    struct generate_transformer_totals totals;
};

/* An option of another kind of graph is a slip, not to be passed over. */
static enum weir_status refuse_others(const struct request *r, const char *kind, int kind_bit,
                                      struct weir_error *err)
{
    const struct {
        const char *option, *value;
        int kinds;
    } options[] = {
        {"--nodes", r->nodes, KIND_CHAIN | KIND_RANDOM},
        {"--seed", r->seed, KIND_CHAIN | KIND_RANDOM},
        {"--width", r->width, KIND_RANDOM},
        {"--engines", r->engines, KIND_RANDOM},
        {"--layers", r->layers, KIND_TRANSFORMER},
        {"--hidden", r->hidden, KIND_TRANSFORMER},
        {"--heads", r->heads, KIND_TRANSFORMER},
        {"--sequence", r->sequence, KIND_TRANSFORMER},
        {"--batch", r->batch, KIND_TRANSFORMER},
        {"--vocabulary", r->vocabulary, KIND_TRANSFORMER},
        {"--dtype", r->dtype, KIND_TRANSFORMER},
        {"--optimizer", r->optimizer, KIND_TRANSFORMER},
        {"--attention", r->attention, KIND_TRANSFORMER},
        {"--workspace", r->workspace, KIND_TRANSFORMER},
        {"--machine", r->machine, KIND_TRANSFORMER},
    };

    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].value != NULL && (options[i].kinds & kind_bit) == 0) {
            return weir_error_set(err, WEIR_USAGE,
                                  "%s is no option of `weir generate %s`; weir generate --help "
                                  "lists those of each kind",
                                  options[i].option, kind);
        }
    }
    return WEIR_OK;
}

/* Leaves *out alone when nothing was typed. */
static enum weir_status read_count(const char *option, const char *text, int64_t most, int64_t *out,
                                   struct weir_error *err)
{
    return text == NULL ? WEIR_OK : cmd_option_integer(option, text, 1, most, out, err);
}

static enum weir_status read_count32(const char *option, const char *text, int64_t most,
                                     uint32_t *out, struct weir_error *err)
{
    int64_t value = *out;
    enum weir_status status = read_count(option, text, most, &value, err);

    *out = (uint32_t)value;
    return status;
}

static enum weir_status read_seed(const char *text, uint64_t *seed, struct weir_error *err)
{
    int64_t value = (int64_t)*seed;
    enum weir_status status = WEIR_OK;

    if (text != NULL)
        status = cmd_option_integer("--seed", text, 0, INT64_MAX, &value, err);
    *seed = (uint64_t)value;
    return status;
}

static enum weir_status make_chain(const struct request *r, struct made *made,
                                   struct weir_error *err)
{
    struct generate_chain_options options = generate_chain_default();
    enum weir_status status =
        read_count32("--nodes", r->nodes, GENERATE_NODES_MOST, &options.n_nodes, err);

    options.is_seeded = r->seed != NULL;
    options.progress = r->progress;
    if (status == WEIR_OK)
        status = read_seed(r->seed, &options.seed, err);
    return status == WEIR_OK ? generate_chain(&options, &made->graph, err) : status;
}

static enum weir_status make_random(const struct request *r, struct made *made,
                                    struct weir_error *err)
{
    struct generate_random_options options = generate_random_default();
    enum weir_status status =
        read_count32("--nodes", r->nodes, GENERATE_NODES_MOST, &options.n_nodes, err);

    options.progress = r->progress;
    if (status == WEIR_OK)
        status = read_seed(r->seed, &options.seed, err);
    if (status == WEIR_OK)
        status = read_count32("--width", r->width, GENERATE_WIDTH_MOST, &options.width, err);
    if (status == WEIR_OK) {
        status =
            read_count32("--engines", r->engines, GENERATE_ENGINES_MOST, &options.n_engines, err);
    }
    return status == WEIR_OK ? generate_random(&options, &made->graph, err) : status;
}

static enum weir_status unknown_word(const char *option, const char *word, const char *words,
                                     struct weir_error *err)
{
    return weir_error_set(err, WEIR_USAGE, "%s %.80s: %s was expected", option, word, words);
}

static enum weir_status read_words(const struct request *r,
                                   struct generate_transformer_options *options,
                                   struct weir_error *err)
{
    if (r->dtype != NULL && !generate_dtype_from(r->dtype, &options->dtype))
        return unknown_word("--dtype", r->dtype, "bf16, fp16 or fp32", err);
    if (r->optimizer != NULL && !generate_optimizer_from(r->optimizer, &options->optimizer))
        return unknown_word("--optimizer", r->optimizer, "adam or sgd", err);
    if (r->attention != NULL && !generate_attention_from(r->attention, &options->attention))
        return unknown_word("--attention", r->attention, "flash or full", err);
    if (r->workspace != NULL) {
        enum number_fault fault =
            number_size(r->workspace, strlen(r->workspace), &options->matmul_workspace_bytes);

        if (fault != NUMBER_OK) {
            return weir_error_set(err, WEIR_USAGE,
                                  "--workspace %.80s: %s; a size such as 32MiB was expected",
                                  r->workspace, number_fault_text(fault));
        }
    }
    return WEIR_OK;
}

static enum weir_status read_dimensions(const struct request *r,
                                        struct generate_transformer_options *options,
                                        struct weir_error *err)
{
    struct {
        const char *option, *text;
        int64_t *value;
    } dimensions[] = {
        {"--layers", r->layers, &options->n_layers},
        {"--hidden", r->hidden, &options->hidden},
        {"--heads", r->heads, &options->n_heads},
        {"--sequence", r->sequence, &options->sequence},
        {"--batch", r->batch, &options->batch},
        {"--vocabulary", r->vocabulary, &options->vocabulary},
    };
    enum weir_status status = WEIR_OK;

    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions && status == WEIR_OK; i++) {
        status = read_count(dimensions[i].option, dimensions[i].text, INT64_MAX,
                            dimensions[i].value, err);
    }
    return status;
}

/* The machine, as a graph that holds nothing else yet. */
static enum weir_status read_machine(const struct cmd_context *context, const char *name,
                                     struct graph **out, struct weir_error *err)
{
    struct report *report;
    char *path = NULL;
    enum weir_status status = cmd_find_machine(context, name, &path, err);

    if (status != WEIR_OK)
        return status;
    report = report_new(FINDINGS_KEPT);
    status = report == NULL ? weir_error_memory(err) : graph_read(path, report, out, err);
    if (report != NULL)
        cmd_print_report(report);
    report_free(report);
    free(path);
    return status;
}

static enum weir_status make_transformer(const struct cmd_context *context, const struct request *r,
                                         struct made *made, struct weir_error *err)
{
    struct generate_transformer_options options = generate_transformer_default();
    const char *machine = r->machine == NULL ? DEFAULT_MACHINE : r->machine;
    struct graph *graph;
    enum weir_status status = read_dimensions(r, &options, err);

    if (status == WEIR_OK)
        status = read_words(r, &options, err);
    if (status == WEIR_OK)
        status = read_machine(context, machine, &graph, err);
    if (status != WEIR_OK)
        return status;
    status = generate_transformer(graph, &options, &made->totals, err);
    if (status != WEIR_OK) {
        graph_free(graph);
        return status == WEIR_INPUT ? weir_error_within(err, "machine %.80s", machine) : status;
    }
    made->graph = graph;
    made->has_totals = true;
    return WEIR_OK;
}

static void answer_json(const struct made *made, const char *path)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_text(&json, "graph", path);
    json_integer(&json, "nodes", graph_n_nodes(made->graph));
    json_integer(&json, "edges", graph_n_edges(made->graph));
    json_integer(&json, "objects", graph_n_objects(made->graph));
    if (made->has_totals) {
        json_integer(&json, "parameters", made->totals.n_parameters);
        json_integer(&json, "weight_bytes", made->totals.weight_bytes);
        json_integer(&json, "gradient_bytes", made->totals.gradient_bytes);
        json_integer(&json, "optimizer_bytes", made->totals.optimizer_bytes);
        json_integer(&json, "activation_bytes", made->totals.activation_bytes);
        json_integer(&json, "flops", made->totals.flops);
    }
    json_close_object(&json);
}

static void answer_text(const struct made *made, const char *path)
{
    const struct {
        const char *what;
        int64_t bytes;
    } sizes[] = {
        {"weights", made->totals.weight_bytes},
        {"gradients", made->totals.gradient_bytes},
        {"optimizer", made->totals.optimizer_bytes},
        {"activations", made->totals.activation_bytes},
    };
    char text[NUMBER_TEXT_BYTES];

    printf("%s: %" PRIu32 " nodes, %" PRIu32 " edges, %" PRIu32 " objects\n", path,
           graph_n_nodes(made->graph), graph_n_edges(made->graph), graph_n_objects(made->graph));
    if (!made->has_totals)
        return;
    printf("  parameters   %" PRId64 "\n", made->totals.n_parameters);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        number_size_text(sizes[i].bytes, text);
        printf("  %-12s %s\n", sizes[i].what, text);
    }
    printf("  flops        %.4g\n", (double)made->totals.flops);
}

static enum weir_status write_graph(const struct made *made, const struct request *r,
                                    const struct cmd_common *common, struct weir_error *err)
{
    enum weir_status status = graph_write_file(made->graph, r->output, err);

    if (status != WEIR_OK || strcmp(r->output, "-") == 0)
        return status;
    if (common->is_json)
        answer_json(made, r->output);
    else if (!common->is_quiet)
        answer_text(made, r->output);
    return WEIR_OK;
}

static enum weir_status make(const struct cmd_context *context, const char *kind,
                             const struct request *r, struct made *made, struct weir_error *err)
{
    int bit = strcmp(kind, "chain") == 0         ? KIND_CHAIN
              : strcmp(kind, "random") == 0      ? KIND_RANDOM
              : strcmp(kind, "transformer") == 0 ? KIND_TRANSFORMER
                                                 : 0;
    enum weir_status status;

    if (bit == 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "'%.80s' cannot be generated; chain, random or transformer was "
                              "expected",
                              kind);
    }
    status = refuse_others(r, kind, bit, err);
    if (status != WEIR_OK)
        return status;
    if (bit == KIND_CHAIN)
        return make_chain(r, made, err);
    return bit == KIND_RANDOM ? make_random(r, made, err) : make_transformer(context, r, made, err);
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    struct request r = {.output = NULL};
    const struct cmd_option options[] = {
        {.name = "--nodes", .takes_value = true, .value = &r.nodes},
        {.name = "--seed", .takes_value = true, .value = &r.seed},
        {.name = "--width", .takes_value = true, .value = &r.width},
        {.name = "--engines", .takes_value = true, .value = &r.engines},
        {.name = "--layers", .takes_value = true, .value = &r.layers},
        {.name = "--hidden", .takes_value = true, .value = &r.hidden},
        {.name = "--heads", .takes_value = true, .value = &r.heads},
        {.name = "--sequence", .takes_value = true, .value = &r.sequence},
        {.name = "--batch", .takes_value = true, .value = &r.batch},
        {.name = "--vocabulary", .takes_value = true, .value = &r.vocabulary},
        {.name = "--dtype", .takes_value = true, .value = &r.dtype},
        {.name = "--optimizer", .takes_value = true, .value = &r.optimizer},
        {.name = "--attention", .takes_value = true, .value = &r.attention},
        {.name = "--workspace", .takes_value = true, .value = &r.workspace},
        {.name = "--machine", .takes_value = true, .value = &r.machine},
        {.name = "-o", .takes_value = true, .value = &r.output},
        {.name = NULL},
    };
    struct made made = {.graph = NULL};
    struct cmd_common common;
    struct progress progress;
    const char *kind;
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_generate, argc, argv, options, &common, &kind, 1,
                                        1, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    if (r.output == NULL) {
        return weir_error_set(err, WEIR_USAGE,
                              "nothing says where to write: give -o GRAPH, or -o - for standard "
                              "output");
    }
    if (common.is_json && strcmp(r.output, "-") == 0) {
        return weir_error_set(err, WEIR_USAGE,
                              "--json and -o - both want standard output; give -o a file");
    }
    progress_begin(&progress, context, "generating", common.is_quiet);
    r.progress = (struct generate_progress){progress_show, &progress};
    status = make(context, kind, &r, &made, err);
    progress_end(&progress);
    if (status == WEIR_OK)
        status = write_graph(&made, &r, &common, err);
    graph_free(made.graph);
    return status;
}

const struct cmd_verb cmd_verb_generate = {
    .name = "generate",
    .summary = "makes a graph: a chain, a random graph, a training step of a transformer",
    .usage = usage,
    .run = run,
};
