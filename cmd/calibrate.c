/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir calibrate: measures a device and writes a machine file. */
#include "replay/calibrate.h"

#include <inttypes.h>

#include "base/output.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/progress.h"
#include "cmd/supervise.h"

extern const struct cmd_verb cmd_verb_calibrate;

static const char usage[] =
    "usage: weir calibrate [--device D] [--deadline TIME] [--repeats N] [--no-contention]\n"
    "                      -o MACHINE [--json]\n\n"
    "Measures a device and writes what it measured as a machine file, for --machine of other\n"
    "verbs: the rate of arithmetic, of streaming reads, of reads in a cache and of a mix of "
    "reads,\n"
    "arithmetic and writes, latency and bandwidth of copies in each direction, and how much each\n"
    "of these slows the others down, one beside another and, where there are three processors or\n"
    "more, several at once; models of contention are fitted to these and judged by sets that the\n"
    "fit did not see, for `weir simulate --contention measured`.\n"
    "Every figure carries its evidence, a 95 % interval and a confidence. Do nothing else on the\n"
    "machine meanwhile: figures that are too noisy to trust are named, and say so in the file.\n\n"
    "  -o MACHINE       the file to write; - for standard output\n"
    "  --device D       host (the default); `weir devices` lists them\n"
    "  --deadline TIME  a GPU that shows no sign of life for so long is given up (300s)\n"
    "  --repeats N      of each measurement (15)\n"
    "  --no-contention  do not measure pairs, nor more at once\n\n"
    "example:\n"
    "  weir calibrate -o host.weir && weir simulate graph.weir --machine host.weir\n";

/* Adds ", sm beside h2d (spread 13.5 %, ...)" for a figure that cannot be trusted. */
static void list_noisy(char *text, size_t text_bytes, const char *what, const char *beside,
                       const struct measure_noise *noise)
{
    size_t used = strlen(text);

    if (!calibrate_is_noisy(noise) || used + 110 > text_bytes)
        return;
    (void)snprintf(text + used, text_bytes - used,
                   "%s%s%s%s (spread %.1f %%, 95 %% +-%.1f %%, %.0f %% pre-empted)",
                   used == 0 ? "" : ", ", what, beside == NULL ? "" : " beside ",
                   beside == NULL ? "" : beside, 100 * noise->spread_ratio,
                   100 * noise->width_ratio, 100 * noise->preempted_ratio);
}

/* What the device remarks of the times, a line each, on standard error. */
static void print_remarks(const char *remark)
{
    while (*remark != '\0') {
        int length = (int)strcspn(remark, "\n");

        fprintf(stderr, "weir: calibrate: %.*s\n", length, remark);
        remark += length + (remark[length] == '\n');
    }
}

/* What cannot be trusted, on standard error: rates by name, then as many pairs as a few lines hold. */
static void print_warnings(const struct calibration *c)
{
    char text[600] = "";

    print_remarks(c->after.remark);
    if (c->n_noisy == 0)
        return;
    for (int i = 0; i < CALIBRATE_CLASSES; i++)
        list_noisy(text, sizeof text, calibrate_class_name((enum calibrate_class)i), NULL,
                   &c->rates[i].noise);
    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES && c->has_kappa; p++)
        list_noisy(text, sizeof text,
                   calibrate_class_name((enum calibrate_class)(p / CALIBRATE_CLASSES)),
                   calibrate_class_name((enum calibrate_class)(p % CALIBRATE_CLASSES)),
                   &c->kappas[p / CALIBRATE_CLASSES][p % CALIBRATE_CLASSES].noise);
    fprintf(stderr,
            "weir: calibrate: %" PRIu32 " figures are too noisy to trust (spread above %.0f %%, a "
            "95 %% interval of more than +-%.0f %%, or more than %.0f %% of the measurements "
            "pre-empted), among them %s; calibrate again when the machine is idle\n",
            c->n_noisy, 100 * CALIBRATE_NOISY_SPREAD, 100 * CALIBRATE_NOISY_WIDTH,
            100 * CALIBRATE_NOISY_PREEMPTED, text);
}

static void json_noise(struct json *json, const struct measure_noise *noise)
{
    json_ratio(json, "spread_ratio", noise->spread_ratio);
    json_ratio(json, "width_ratio", noise->width_ratio);
    json_ratio(json, "preempted_ratio", noise->preempted_ratio);
    json_integer(json, "measurements", noise->n_samples);
    json_ratio(json, "confidence", calibrate_confidence(noise));
}

static void json_rate(struct json *json, const struct calibration *c, enum calibrate_class class_)
{
    const struct measure_rate *rate = &c->rates[class_];
    const struct calibrate_rate per_s = calibrate_rate_of(c, class_);
    bool is_work = class_ == CALIBRATE_COMPUTE;

    json_open_object(json, calibrate_class_name(class_));
    json_ratio(json, is_work ? "flops_per_s" : "bytes_per_s", per_s.per_s);
    json_ratio(json, is_work ? "low_flops_per_s" : "low_bytes_per_s", per_s.range_per_s.low);
    json_ratio(json, is_work ? "high_flops_per_s" : "high_bytes_per_s", per_s.range_per_s.high);
    json_ratio(json, "latency_ns", rate->fixed_ns);
    json_ratio(json, "low_latency_ns", rate->fixed_range_ns.low);
    json_ratio(json, "high_latency_ns", rate->fixed_range_ns.high);
    json_noise(json, &rate->noise);
    json_close_object(json);
}

static void json_kappas(struct json *json, const struct calibration *c)
{
    json_open_array(json, "kappa");
    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES && c->has_kappa; p++) {
        int i = p / CALIBRATE_CLASSES;
        int j = p % CALIBRATE_CLASSES;
        const struct measure_kappa *kappa = &c->kappas[i][j];

        json_open_object(json, NULL);
        json_text(json, "slowed", calibrate_class_name((enum calibrate_class)i));
        json_text(json, "beside", calibrate_class_name((enum calibrate_class)j));
        json_ratio(json, "factor", kappa->factor);
        json_ratio(json, "low_factor", kappa->range.low);
        json_ratio(json, "high_factor", kappa->range.high);
        json_noise(json, &kappa->noise);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_range(struct json *json, const char *name, const char *low, const char *high,
                       double value, const struct fit_interval *range)
{
    json_ratio(json, name, value);
    json_ratio(json, low, range->low);
    json_ratio(json, high, range->high);
}

static void json_sets(struct json *json, const struct calibration *c)
{
    json_open_array(json, "sets");
    for (uint32_t i = 0; i < c->n_sets; i++) {
        const struct calibrate_set *set = &c->sets[i];

        json_open_object(json, NULL);
        json_text(json, "slowed", calibrate_class_name(set->slowed));
        json_open_array(json, "beside");
        for (int j = 0; j < CALIBRATE_CLASSES; j++) {
            for (uint32_t k = 0; k < set->n_beside[j]; k++)
                json_text(json, NULL, calibrate_class_name((enum calibrate_class)j));
        }
        json_close_array(json);
        json_boolean(json, "fitted", !set->is_unseen);
        json_range(json, "factor", "low_factor", "high_factor", set->kappa.factor,
                   &set->kappa.range);
        json_ratio(json, "ran_beside", set->kappa.n_beside);
        json_noise(json, &set->kappa.noise);
        json_close_object(json);
    }
    json_close_array(json);
}

static void json_model(struct json *json, const struct calibration *c)
{
    static const char *const basis[] = {[FAMILIES_POWER_FITTED] = "fitted",
                                        [FAMILIES_POWER_WIDE] = "fixed, since its interval is wide",
                                        [FAMILIES_POWER_ILL] =
                                            "fixed, since the fit is ill-conditioned"};

    json_range(json, "power", "low_power", "high_power", c->model.power, &c->model.power_range);
    json_text(json, "power_basis", basis[c->model.power_basis]);
    json_ratio(json, "condition_number", c->model.condition);
    json_ratio(json, "share_condition_number", c->model.share_condition);
    json_open_array(json, "resources");
    for (int r = 0; r < CALIBRATE_RESOURCES; r++) {
        json_open_object(json, NULL);
        json_text(json, "resource", calibrate_resource_name((enum calibrate_resource)r));
        json_range(json, "eta", "low_eta", "high_eta", c->model.eta[r], &c->model.eta_range[r]);
        json_range(json, "share_eta", "low_share_eta", "high_share_eta", c->model.share_eta[r],
                   &c->model.share_range[r]);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "weights");
    for (int i = CALIBRATE_H2D; i < CALIBRATE_CLASSES; i++) {
        json_open_object(json, NULL);
        json_text(json, "class", calibrate_class_name((enum calibrate_class)i));
        json_range(json, "weight", "low_weight", "high_weight", c->model.weight[i],
                   &c->model.weight_range[i]);
        json_range(json, "share_weight", "low_share_weight", "high_share_weight",
                   c->model.share_weight[i], &c->model.share_weight_range[i]);
        json_close_object(json);
    }
    json_close_array(json);
}

/* Which family a simulation takes, and why. */
static void json_contention(struct json *json, const struct calibration *c)
{
    if (!c->has_kappa)
        return;
    json_open_object(json, "contention");
    json_text(json, "family", families_name(calibrate_family(c)));
    json_text(json, "judged_by", c->n_unseen > 0 ? "unseen sets of three" : "nothing");
    json_integer(json, "unseen_sets", c->n_unseen);
    json_open_array(json, "families");
    for (int f = 0; f < (c->is_fitted ? FAMILIES : 1) && c->n_unseen > 0; f++) {
        json_open_object(json, NULL);
        json_text(json, "family", families_name((enum family)f));
        json_ratio(json, "mean_error_ratio", c->errors[f].mean);
        json_ratio(json, "median_error_ratio", c->errors[f].median);
        json_ratio(json, "p95_error_ratio", c->errors[f].p95);
        json_ratio(json, "aicc", c->errors[f].aicc);
        json_integer(json, "parameters", c->errors[f].n_parameters);
        if (c->is_fitted) {
            json_integer(json, "rank", c->choice.rank[f]);
            json_text(json, "behind_by", families_basis_name(c->choice.basis[f]));
        }
        json_close_object(json);
    }
    json_close_array(json);
    if (c->is_fitted)
        json_model(json, c);
    json_sets(json, c);
    json_close_object(json);
}

static void answer_json(const struct calibration *c, const char *path)
{
    struct json json = {.file = stdout};

    json_open_object(&json, NULL);
    json_text(&json, "machine", path);
    json_text(&json, "device", c->ops->name);
    json_text(&json, "name", c->info.name);
    json_integer(&json, "processors", c->info.n_processors);
    json_text(&json, "remark", c->after.remark);
    json_integer(&json, "noisy_figures", c->n_noisy);
    json_open_object(&json, "rates");
    for (int i = 0; i < CALIBRATE_CLASSES; i++)
        json_rate(&json, c, (enum calibrate_class)i);
    json_close_object(&json);
    json_kappas(&json, c);
    json_contention(&json, c);
    json_close_object(&json);
}

static void print_rate(const struct calibration *c, enum calibrate_class class_)
{
    const struct measure_rate *rate = &c->rates[class_];
    const struct calibrate_rate per_s = calibrate_rate_of(c, class_);
    char range[40];
    char latency[40];

    (void)snprintf(range, sizeof range, "%.2f..%.2f", per_s.range_per_s.low / 1e9,
                   per_s.range_per_s.high / 1e9);
    (void)snprintf(latency, sizeof latency, "%.2f..%.2f", rate->fixed_range_ns.low / 1e3,
                   rate->fixed_range_ns.high / 1e3);
    printf("  %-7s %7.2f %-14s %-8s %6.2f %-12s us %6.1f %% %9.0f %%\n",
           calibrate_class_name(class_), per_s.per_s / 1e9, range,
           class_ == CALIBRATE_COMPUTE ? "GFLOP/s" : "GB/s", rate->fixed_ns / 1e3, latency,
           100 * rate->noise.spread_ratio, 100 * rate->noise.preempted_ratio);
}

/* Each factor, and half of its interval beneath it. */
static void print_kappas(const struct calibration *c)
{
    printf("\n  how many times longer beside, and half of the 95 %% interval:\n  %-7s", "");
    for (int j = 0; j < CALIBRATE_CLASSES; j++)
        printf(" %-9s", calibrate_class_name((enum calibrate_class)j));
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        printf("\n  %-7s", calibrate_class_name((enum calibrate_class)i));
        for (int j = 0; j < CALIBRATE_CLASSES; j++)
            printf(" %-9.3f", c->kappas[i][j].factor);
        printf("\n  %-7s", "");
        for (int j = 0; j < CALIBRATE_CLASSES; j++) {
            char width[40];

            (void)snprintf(width, sizeof width, "+-%.1f %%",
                           100 * c->kappas[i][j].noise.width_ratio);
            printf(" %-9s", width);
        }
    }
    printf("\n");
}

static void print_family(const struct calibration *c, enum family family)
{
    const struct families_error *error = &c->errors[family];

    printf("  %-9s %6.1f %% %6.1f %% %6.1f %% %9.1f", families_name(family), 100 * error->mean,
           100 * error->median, 100 * error->p95, error->aicc);
    if (family == calibrate_family(c))
        printf("  --contention measured\n");
    else
        printf("  behind by %s\n", families_basis_name(c->choice.basis[family]));
}

static void print_families(const struct calibration *c)
{
    if (c->n_unseen == 0) {
        printf("\n  --contention measured: the factors of pairs (three at once need three "
               "processors; no model could be judged)\n");
        return;
    }
    printf("\n  error on %" PRIu32 " sets of three that no fit saw, and AICc of those that were "
           "fitted\n  %-9s %8s %8s %8s %9s\n",
           c->n_unseen, "", "mean", "median", "p95", "AICc");
    for (int f = 0; f < (c->is_fitted ? FAMILIES : 1); f++)
        print_family(c, (enum family)f);
    if (!c->is_fitted)
        printf("  no other model fits what was measured\n");
    else if (c->model.power_basis != FAMILIES_POWER_FITTED)
        printf("  the roofline's power is fixed to %g: the sets do not tell it\n", c->model.power);
}

static void answer_text(const struct calibration *c, const char *path)
{
    printf("%s: %s\n\n", path, c->info.name);
    printf("  %-7s %7s %-14s %-8s %6s %-12s    %7s %11s\n", "", "rate", "95 %", "", "latency",
           "95 %", "spread", "pre-empted");
    for (int i = 0; i < CALIBRATE_CLASSES; i++)
        print_rate(c, (enum calibrate_class)i);
    if (c->has_kappa) {
        print_kappas(c);
        print_families(c);
    }
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
    const char *deadline = NULL;
    bool is_without_contention = false;
    const struct cmd_option options[] = {
        {.name = "--device", .takes_value = true, .value = &device},
        {.name = "--repeats", .takes_value = true, .value = &repeats},
        {.name = "--deadline", .takes_value = true, .value = &deadline},
        {.name = "--no-contention", .flag = &is_without_contention},
        {.name = "-o", .takes_value = true, .value = &output},
        {.name = NULL},
    };
    struct calibration calibration;
    struct cmd_common common;
    uint32_t n_operands;
    bool is_done, is_due;
    enum weir_status status = cmd_parse(&cmd_verb_calibrate, argc, argv, options, &common, NULL, 0,
                                        0, &n_operands, &is_done, err);

    if (status != WEIR_OK || is_done)
        return status;
    status = supervise_is_due(context, device, &is_due, err);
    if (status != WEIR_OK)
        return status;
    if (is_due)
        return supervise("calibrate", argc, argv, deadline, err);
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
