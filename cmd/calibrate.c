/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir calibrate: measures a device and writes a machine file. */
#include "replay/calibrate.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"

extern const struct cmd_verb cmd_verb_calibrate;

static const char usage[] =
    "usage: weir calibrate [--device D] [--repeats N] [--no-contention] -o MACHINE [--json]\n\n"
    "Measures a device and writes what it measured as a machine file, for --machine of other\n"
    "verbs: the rate of arithmetic, of streaming reads, latency and bandwidth of copies in each\n"
    "direction, and how much each of these slows the others down. Every figure carries its\n"
    "evidence and a confidence. Do nothing else on the machine meanwhile: figures that are too\n"
    "noisy to trust are named, and say so in the file.\n\n"
    "  -o MACHINE       the file to write; - for standard output\n"
    "  --device D       host (the default); `weir devices` lists them\n"
    "  --repeats N      of each measurement (9)\n"
    "  --no-contention  do not measure pairs\n\n"
    "example:\n"
    "  weir calibrate -o host.weir && weir simulate graph.weir --machine host.weir\n";

/* Adds ", sm beside h2d (spread 13.5 %)" for a figure that cannot be trusted. */
static void list_noisy(char *text, size_t text_bytes, const char *what, const char *beside,
                       double spread_ratio, double preempted_ratio)
{
    size_t used = strlen(text);

    if (!calibrate_is_noisy(spread_ratio, preempted_ratio) || used + 80 > text_bytes)
        return;
    (void)snprintf(text + used, text_bytes - used, "%s%s%s%s (spread %.1f %%, %.0f %% pre-empted)",
                   used == 0 ? "" : ", ", what, beside == NULL ? "" : " beside ",
                   beside == NULL ? "" : beside, 100 * spread_ratio, 100 * preempted_ratio);
}

/* What cannot be trusted, on standard error: rates by name, then as many pairs as a few lines hold. */
static void print_warnings(const struct calibration *c)
{
    char text[600] = "";

    if (c->n_noisy == 0)
        return;
    for (int i = 0; i < CALIBRATE_CLASSES; i++)
        list_noisy(text, sizeof text, calibrate_class_name((enum calibrate_class)i), NULL,
                   c->rates[i].spread_ratio, c->rates[i].preempted_ratio);
    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES && c->has_kappa; p++) {
        const struct measure_kappa *kappa =
            &c->kappas[p / CALIBRATE_CLASSES][p % CALIBRATE_CLASSES];

        list_noisy(text, sizeof text,
                   calibrate_class_name((enum calibrate_class)(p / CALIBRATE_CLASSES)),
                   calibrate_class_name((enum calibrate_class)(p % CALIBRATE_CLASSES)),
                   kappa->spread_ratio, kappa->preempted_ratio);
    }
    fprintf(
        stderr,
        "weir: calibrate: %" PRIu32 " figures are too noisy to trust (spread above %.0f %%, or "
        "more than %.0f %% of the measurements pre-empted), among them %s; calibrate again when "
        "the machine is idle\n",
        c->n_noisy, 100 * CALIBRATE_NOISY_SPREAD, 100 * CALIBRATE_NOISY_PREEMPTED, text);
}

static void json_rate(struct json *json, const struct calibration *c, enum calibrate_class class_)
{
    const struct measure_rate *rate = &c->rates[class_];

    json_open_object(json, calibrate_class_name(class_));
    if (class_ == CALIBRATE_COMPUTE)
        json_ratio(json, "flops_per_s", (double)c->ops->compute_flops / rate->unit_ns * 1e9);
    else
        json_ratio(json, "bytes_per_s", 1e9 / rate->unit_ns);
    json_ratio(json, "latency_ns", rate->fixed_ns);
    json_ratio(json, "spread_ratio", rate->spread_ratio);
    json_ratio(json, "preempted_ratio", rate->preempted_ratio);
    json_integer(json, "measurements", rate->n_samples);
    json_close_object(json);
}

static void json_kappas(struct json *json, const struct calibration *c)
{
    json_open_array(json, "kappa");
    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES && c->has_kappa; p++) {
        int i = p / CALIBRATE_CLASSES;
        int j = p % CALIBRATE_CLASSES;

        json_open_object(json, NULL);
        json_text(json, "slowed", calibrate_class_name((enum calibrate_class)i));
        json_text(json, "beside", calibrate_class_name((enum calibrate_class)j));
        json_ratio(json, "factor", c->kappas[i][j].factor);
        json_ratio(json, "spread_ratio", c->kappas[i][j].spread_ratio);
        json_ratio(json, "preempted_ratio", c->kappas[i][j].preempted_ratio);
        json_close_object(json);
    }
    json_close_array(json);
}

static void answer_json(const struct calibration *c, const char *path)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_text(&json, "machine", path);
    json_text(&json, "device", c->ops->name);
    json_text(&json, "name", c->info.name);
    json_integer(&json, "processors", c->info.n_processors);
    json_integer(&json, "noisy_figures", c->n_noisy);
    json_open_object(&json, "rates");
    for (int i = 0; i < CALIBRATE_CLASSES; i++)
        json_rate(&json, c, (enum calibrate_class)i);
    json_close_object(&json);
    json_kappas(&json, c);
    json_close_object(&json);
}

static void answer_text(const struct calibration *c, const char *path)
{
    printf("%s: %s\n\n", path, c->info.name);
    printf("  %-8s %18s %12s %8s %12s\n", "", "rate", "latency", "spread", "pre-empted");
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        const struct measure_rate *rate = &c->rates[i];
        double units = i == CALIBRATE_COMPUTE ? (double)c->ops->compute_flops : 1;
        char latency[NUMBER_TEXT_BYTES];

        number_time_text((int64_t)rate->fixed_ns, latency);
        printf("  %-8s %10.2f %-7s %12s %6.1f %% %10.0f %%\n",
               calibrate_class_name((enum calibrate_class)i), units / rate->unit_ns,
               i == CALIBRATE_COMPUTE ? "GFLOP/s" : "GB/s", latency, 100 * rate->spread_ratio,
               100 * rate->preempted_ratio);
    }
    if (!c->has_kappa)
        return;
    printf("\n  how many times longer beside:\n  %-8s", "");
    for (int j = 0; j < CALIBRATE_CLASSES; j++)
        printf(" %8s", calibrate_class_name((enum calibrate_class)j));
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        printf("\n  %-8s", calibrate_class_name((enum calibrate_class)i));
        for (int j = 0; j < CALIBRATE_CLASSES; j++)
            printf(" %8.3f", c->kappas[i][j].factor);
    }
    printf("\n");
}

static enum weir_status write_machine(const struct calibration *c, const char *path,
                                      const struct cmd_common *common, struct weir_error *err)
{
    struct graph *machine;
    enum weir_status status = calibrate_machine(c, &machine, err);

    if (status != WEIR_OK)
        return status;
    status = graph_write_file(machine, path, err);
    graph_free(machine);
    if (status != WEIR_OK)
        return status;
    if (common->is_json)
        answer_json(c, path);
    else if (!common->is_quiet && strcmp(path, "-") != 0)
        answer_text(c, path);
    return WEIR_OK;
}

static enum weir_status measure(const struct cmd_context *context, const char *device,
                                const char *repeats, bool has_contention, bool is_quiet,
                                struct calibration *out, struct weir_error *err)
{
    struct calibrate_options options = calibrate_default();
    struct progress progress;
    int64_t n_repeats = options.n_repeats;
    enum weir_status status = WEIR_OK;

    if (repeats != NULL)
        status = cmd_option_integer("--repeats", repeats, 3, 1000, &n_repeats, err);
    if (status != WEIR_OK)
        return status;
    options.n_repeats = (uint32_t)n_repeats;
    options.has_contention = has_contention;
    progress_begin_told(&progress, context, "calibrating", is_quiet);
    options.progress = progress_show;
    options.progress_arg = &progress;
    status = calibrate_measure(device, &options, out, err);
    progress_end(&progress);
    return status;
}

static enum weir_status run(const struct cmd_context *context, int argc, char **argv,
                            struct weir_error *err)
{
    const char *device = "host";
    const char *output = NULL;
    const char *repeats = NULL;
    bool is_without_contention = false;
    const struct cmd_option options[] = {
        {.name = "--device", .takes_value = true, .value = &device},
        {.name = "--repeats", .takes_value = true, .value = &repeats},
        {.name = "--no-contention", .flag = &is_without_contention},
        {.name = "-o", .takes_value = true, .value = &output},
        {.name = NULL},
    };
    struct calibration calibration;
    struct cmd_common common;
    uint32_t n_operands;
    bool is_done;
    enum weir_status status = cmd_parse(&cmd_verb_calibrate, argc, argv, options, &common, NULL, 0,
                                        0, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    if (output == NULL)
        return weir_error_set(err, WEIR_USAGE,
                              "nothing says where to write: give -o MACHINE, or -o - for standard "
                              "output");
    if (common.is_json && strcmp(output, "-") == 0)
        return weir_error_set(err, WEIR_USAGE,
                              "--json and -o - both want standard output; give -o a file");
    status = output_try(output, err); /* before the minutes of measuring */
    if (status != WEIR_OK)
        return status;
    status = measure(context, device, repeats, !is_without_contention, common.is_quiet,
                     &calibration, err);
    if (status != WEIR_OK)
        return status;
    print_warnings(&calibration);
    return write_machine(&calibration, output, &common, err);
}

const struct cmd_verb cmd_verb_calibrate = {
    .name = "calibrate",
    .summary = "measure a device and write a machine file",
    .usage = usage,
    .run = run,
};
