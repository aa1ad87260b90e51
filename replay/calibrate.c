/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration is a set of small plans that run on the device like any other. */
#include "replay/calibrate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "replay/calibrate_internal.h"

/* Sizes of copies, each four times the one before. */
static const int64_t copy_sizes[] = {4 << 10, 16 << 10, 64 << 10, 256 << 10,
                                     1 << 20, 4 << 20,  16 << 20, 64 << 20};
#define COPY_SIZES ((uint32_t)(sizeof copy_sizes / sizeof *copy_sizes))
#define LONGEST_NS 1000000    /* of the actions that give a rate */
#define TRIES 3               /* at each of them */
#define PAIR_BYTES (16 << 20) /* that the copies of a pair move through */

/* Domains of the machine, in the order in which they are declared. */
static const struct place hbm = {{0}, false};
static const struct place host = {{1}, true};

const char *calibrate_class_name(enum calibrate_class class_)
{
    static const char *const names[] = {"sm", "stream", "cache", "mix", "h2d", "d2h", "d2d"};

    return names[class_];
}

bool calibrate_is_noisy(const struct measure_noise *noise)
{
    return noise->spread_ratio > CALIBRATE_NOISY_SPREAD ||
           noise->width_ratio > CALIBRATE_NOISY_WIDTH ||
           noise->preempted_ratio > CALIBRATE_NOISY_PREEMPTED;
}

double calibrate_confidence(const struct measure_noise *noise)
{
    double wider = fmax(noise->spread_ratio, noise->width_ratio);

    if (noise->preempted_ratio > 2 * CALIBRATE_NOISY_PREEMPTED || wider > 0.25)
        return 0.2;
    if (calibrate_is_noisy(noise))
        return 0.5;
    return wider > 0.03 ? 0.8 : 0.95;
}

struct calibrate_rate calibrate_rate_of(const struct calibration *calibration,
                                        enum calibrate_class class_)
{
    const struct measure_rate *rate = &calibration->rates[class_];
    double per_unit = class_ == CALIBRATE_COMPUTE ? (double)calibration->info.compute_flops : 1;

    return (struct calibrate_rate){.per_s = per_unit / rate->unit_ns * 1e9,
                                   .range_per_s = {per_unit / rate->unit_range_ns.high * 1e9,
                                                   per_unit / rate->unit_range_ns.low * 1e9}};
}

struct calibrate_options calibrate_default(void)
{
    return (struct calibrate_options){.n_repeats = 15, .has_contention = true};
}

/* ---- measuring ---- */

struct measure_action calibrate_action(enum calibrate_class class_)
{
    switch (class_) {
    case CALIBRATE_COMPUTE:
        return (struct measure_action){.action = STEP_COMPUTE};
    case CALIBRATE_STREAM:
        return (struct measure_action){.action = STEP_STREAM};
    case CALIBRATE_CACHE:
        return (struct measure_action){.action = STEP_CACHE};
    case CALIBRATE_MIX:
        return (struct measure_action){.action = STEP_MIX};
    case CALIBRATE_H2D:
        return (struct measure_action){STEP_COPY, PAIR_BYTES, host, hbm};
    case CALIBRATE_D2H:
        return (struct measure_action){STEP_COPY, PAIR_BYTES, hbm, host};
    case CALIBRATE_D2D:
        break;
    }
    return (struct measure_action){STEP_COPY, PAIR_BYTES, hbm, hbm};
}

static bool is_copy(enum calibrate_class class_)
{
    return class_ >= CALIBRATE_H2D;
}

void calibrate_tell(const struct calibrate_options *options, const struct calibration *c,
                    uint32_t done)
{
    uint32_t of = CALIBRATE_CLASSES + calibrate_count_sets(c);

    if (c->has_kappa)
        of += CALIBRATE_CLASSES * CALIBRATE_CLASSES;
    if (options->progress != NULL)
        options->progress(options->progress_arg, (double)done / of);
}

static enum weir_status measure_class(const struct calibrate_options *options,
                                      const struct device_ops *ops, enum calibrate_class class_,
                                      struct measure_rate *out, struct weir_error *err)
{
    const struct measure_action action = calibrate_action(class_);

    return is_copy(class_) ? measure_copies(ops, action.from, action.to, copy_sizes, COPY_SIZES,
                                            options->n_repeats, out, err)
                           : measure_rate(ops, &action, LONGEST_NS, options->n_repeats,
                                          MEASURE_INTERVALS, out, err);
}

static enum weir_status measure_alone(const struct calibrate_options *options,
                                      struct calibration *c, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (int i = 0; i < CALIBRATE_CLASSES && status == WEIR_OK; i++) {
        struct measure_rate *rate = &c->rates[i];

        for (int t = 0; t < TRIES && status == WEIR_OK && !measure_has_line(rate); t++)
            status = measure_class(options, c->ops, (enum calibrate_class)i, rate, err);
        if (status == WEIR_OK && !measure_has_line(rate))
            status = measure_no_line(c->ops, err);
        c->n_noisy += status == WEIR_OK && calibrate_is_noisy(&rate->noise);
        calibrate_tell(options, c, (uint32_t)i + 1);
    }
    return status;
}

static enum weir_status measure_pairs(const struct calibrate_options *options,
                                      struct calibration *c, struct weir_error *err)
{
    enum weir_status status = WEIR_OK;

    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES && status == WEIR_OK; p++) {
        int i = p / CALIBRATE_CLASSES;
        int j = p % CALIBRATE_CLASSES;
        const struct measure_runner slowed = {calibrate_action((enum calibrate_class)i),
                                              &c->rates[i]};
        const struct measure_runner beside = {calibrate_action((enum calibrate_class)j),
                                              &c->rates[j]};
        struct measure_kappa *kappa = &c->kappas[i][j];

        status = measure_kappa(c->ops, &slowed, &beside, 1, CALIBRATE_PAIR_NS, options->n_repeats,
                               kappa, err);
        c->n_noisy += status == WEIR_OK && calibrate_is_noisy(&kappa->noise);
        calibrate_tell(options, c, CALIBRATE_CLASSES + (uint32_t)p + 1);
    }
    return status;
}

enum weir_status calibrate_measure(const char *device, const struct calibrate_options *options,
                                   struct calibration *out, struct weir_error *err)
{
    struct calibration c;
    enum weir_status status;

    memset(&c, 0, sizeof c);
    status = device_find_ready(device, &c.ops, &c.info, err);
    if (status != WEIR_OK)
        return status;
    c.has_kappa = options->has_contention && c.info.n_processors > 1;
    status = measure_condition(c.ops, &c.before, err);
    if (status == WEIR_OK)
        status = measure_alone(options, &c, err);
    if (status == WEIR_OK && c.has_kappa)
        status = measure_pairs(options, &c, err);
    if (status == WEIR_OK && c.has_kappa)
        status = calibrate_measure_sets(options, &c, err);
    if (status == WEIR_OK && c.has_kappa)
        status = calibrate_fit_sets(&c, err);
    if (status == WEIR_OK)
        status = measure_condition(c.ops, &c.after, err);
    if (status == WEIR_OK)
        *out = c;
    return status;
}

/* ---- the machine ---- */

enum weir_status calibrate_evidence(struct graph *graph, const struct calibration *c,
                                    const char *what, const struct measure_noise *noise,
                                    const char *range, struct graph_evidence *out,
                                    struct weir_error *err)
{
    char text[1200];

    (void)snprintf(text, sizeof text,
                   "%sweir calibrate on %s: %s, %" PRIu32
                   " measurements, spread %.1f %%, %.0f %% pre-empted; 95 %% %s",
                   calibrate_is_noisy(noise)
                       ? "too noisy to trust, measure again when the machine is idle; "
                       : "",
                   c->info.name, what, noise->n_samples, 100 * noise->spread_ratio,
                   100 * noise->preempted_ratio, range);
    out->kind = EVIDENCE_MEASURED;
    out->confidence = calibrate_confidence(noise);
    return graph_intern_text(graph, text, &out->detail, err);
}

#define RANGE_BYTES 80

/* "flops 7.86..7.87 GFLOP/s" */
static const char *rate_range(const struct calibration *c, enum calibrate_class class_,
                              char out[RANGE_BYTES])
{
    const struct fit_interval range = calibrate_rate_of(c, class_).range_per_s;

    (void)snprintf(out, RANGE_BYTES, "%s %.4g..%.4g %s",
                   class_ == CALIBRATE_COMPUTE ? "flops" : "bandwidth", range.low / 1e9,
                   range.high / 1e9, class_ == CALIBRATE_COMPUTE ? "GFLOP/s" : "GB/s");
    return out;
}

/* What a replay may use of it. Where a device has memory of its own, the host's is another; else one
 * memory is halved. */
static enum weir_status add_domain(struct graph *graph, const struct calibration *c,
                                   const struct place *place, const char *name,
                                   struct weir_error *err)
{
    bool is_shared = c->info.host_memory_bytes == 0;
    int64_t bytes = place->is_host_memory && !is_shared ? c->info.host_memory_bytes / 2
                    : is_shared                         ? c->info.memory_bytes / 2
                                                        : c->info.memory_bytes / 10 * 9;
    struct graph_domain domain = {.capacity_bytes = bytes / (1 << 20) << 20,
                                  .evidence = {.kind = EVIDENCE_MEASURED, .confidence = 0.8}};
    weir_domain added;
    char text[256];
    enum weir_status status = graph_intern_text(graph, name, &domain.name, err);

    (void)snprintf(text, sizeof text, "%s on %s when it was calibrated%s",
                   !is_shared && !place->is_host_memory ? "nine tenths of the device's memory"
                   : is_shared                          ? "half of the memory available"
                                                        : "half of the host's memory available",
                   c->info.name, is_shared ? "; both domains are the same memory" : "");
    if (status == WEIR_OK)
        status = graph_intern_text(graph, text, &domain.evidence.detail, err);
    return status == WEIR_OK ? graph_add_domain(graph, &domain, &added, err) : status;
}

/* No more digits than the measurement has. */
int64_t calibrate_rounded(double rate)
{
    double digit = pow(10, floor(log10(rate)) - 3);

    return rate < 1 ? 1 : rate > 9e18 ? INT64_MAX : (int64_t)llround(round(rate / digit) * digit);
}

static int64_t per_second(const struct calibration *c, enum calibrate_class class_)
{
    return calibrate_rounded(calibrate_rate_of(c, class_).per_s);
}

#define STATE_BYTES 1280

/* How the device was before and after all measurements, where it tells, and what it remarks of its
 * times; else nothing. */
static const char *state_text(const struct calibration *c, char out[STATE_BYTES])
{
    char before[300], after[300];

    out[0] = '\0';
    (void)device_state_text(&c->before.state, before, sizeof before);
    (void)device_state_text(&c->after.state, after, sizeof after);
    if (before[0] != '\0')
        (void)snprintf(out, STATE_BYTES, "; before: %s; after: %s", before, after);
    if (c->after.remark[0] != '\0') {
        size_t used = strlen(out);

        (void)snprintf(out + used, STATE_BYTES - used, "; %s", c->after.remark);
    }
    for (char *line = strchr(out, '\n'); line != NULL; line = strchr(line, '\n'))
        *line = ';';
    return out;
}

/* Two figures have one evidence, and the confidence of the worse. */
static enum weir_status compute_evidence(struct graph *graph, const struct calibration *c,
                                         struct graph_evidence *out, struct weir_error *err)
{
    const struct measure_noise *stream = &c->rates[CALIBRATE_STREAM].noise;
    char flops[RANGE_BYTES];
    char bandwidth[RANGE_BYTES];
    char state[STATE_BYTES];
    char ranges[2 * RANGE_BYTES + 2 + STATE_BYTES];
    char what[160];
    enum weir_status status;

    (void)snprintf(what, sizeof what,
                   "multiply-add loop of one queue (its streaming reads: spread %.1f %%, %.0f %% "
                   "pre-empted)",
                   100 * stream->spread_ratio, 100 * stream->preempted_ratio);
    (void)snprintf(ranges, sizeof ranges, "%s, %s%s", rate_range(c, CALIBRATE_COMPUTE, flops),
                   rate_range(c, CALIBRATE_STREAM, bandwidth), state_text(c, state));
    status =
        calibrate_evidence(graph, c, what, &c->rates[CALIBRATE_COMPUTE].noise, ranges, out, err);
    out->confidence = fmin(out->confidence, calibrate_confidence(stream));
    return status;
}

static enum weir_status add_compute(struct graph *graph, const struct calibration *c,
                                    struct weir_error *err)
{
    struct graph_engine engine = graph_engine_default;
    weir_engine added;
    enum weir_status status =
        graph_intern_text(graph, calibrate_class_name(CALIBRATE_COMPUTE), &engine.name, err);

    engine.domain = hbm.domain;
    engine.flops_per_s = per_second(c, CALIBRATE_COMPUTE);
    engine.bandwidth_bytes_per_s = per_second(c, CALIBRATE_STREAM);
    if (status == WEIR_OK)
        status = compute_evidence(graph, c, &engine.evidence, err);
    return status == WEIR_OK ? graph_add_engine(graph, &engine, &added, err) : status;
}

static enum weir_status add_rate(struct graph *graph, const struct calibration *c,
                                 enum calibrate_class class_, const char *name, const char *what,
                                 struct weir_error *err)
{
    struct graph_param param = graph_param_default;
    char range[RANGE_BYTES];
    enum weir_status status = graph_intern_text(graph, "roofline", &param.family, err);

    param.value = (double)per_second(c, class_);
    if (status == WEIR_OK)
        status = graph_intern_text(graph, name, &param.name, err);
    if (status == WEIR_OK)
        status = calibrate_evidence(graph, c, what, &c->rates[class_].noise,
                                    rate_range(c, class_, range), &param.evidence, err);
    return status == WEIR_OK ? graph_add_param(graph, &param, err) : status;
}

/* Rates of one queue that an engine has no field for. The host computes with 64 bits: what 32 bits would
 * take is no more. */
static enum weir_status add_rates(struct graph *graph, const struct calibration *c,
                                  struct weir_error *err)
{
    enum weir_status status = add_rate(graph, c, CALIBRATE_COMPUTE, "fp32_flops_per_s",
                                       "multiply-add loop of one queue", err);

    if (status == WEIR_OK)
        status = add_rate(graph, c, CALIBRATE_CACHE, "cache_bytes_per_s",
                          "reads of one queue of what stays in a cache", err);
    return status == WEIR_OK
               ? add_rate(graph, c, CALIBRATE_MIX, "mix_bytes_per_s",
                          "bytes of one queue that are read, reckoned with and written", err)
               : status;
}

static enum weir_status add_copies(struct graph *graph, const struct calibration *c,
                                   enum calibrate_class class_, struct weir_error *err)
{
    const struct measure_rate *rate = &c->rates[class_];
    struct graph_engine engine = graph_engine_default;
    struct measure_action action = calibrate_action(class_);
    char bandwidth[RANGE_BYTES];
    char ranges[2 * RANGE_BYTES];
    weir_engine added;
    enum weir_status status =
        graph_intern_text(graph, calibrate_class_name(class_), &engine.name, err);

    engine.from = action.from.domain;
    engine.to = action.to.domain;
    engine.bandwidth_bytes_per_s = per_second(c, class_);
    engine.latency_ns = (int64_t)llround(rate->fixed_ns);
    (void)snprintf(ranges, sizeof ranges, "%s, latency %.3g..%.3g us",
                   rate_range(c, class_, bandwidth), rate->fixed_range_ns.low / 1e3,
                   rate->fixed_range_ns.high / 1e3);
    if (status == WEIR_OK)
        status = calibrate_evidence(
            graph, c, "copies of 4 KiB to 64 MiB, fitted as latency + bytes / bandwidth",
            &rate->noise, ranges, &engine.evidence, err);
    return status == WEIR_OK ? graph_add_engine(graph, &engine, &added, err) : status;
}

/* 1.037 and not 1.0372614. */
static double rounded_factor(double factor)
{
    return factor < 1 ? 1 : round(factor * 1000) / 1000;
}

static enum weir_status add_kappa(struct graph *graph, const struct calibration *c, int i, int j,
                                  struct weir_error *err)
{
    const struct measure_kappa *measured = &c->kappas[i][j];
    struct graph_kappa kappa = {.factor = rounded_factor(measured->factor)};
    char range[RANGE_BYTES];
    weir_text slowed;
    weir_text beside;
    enum weir_status status =
        graph_intern_text(graph, calibrate_class_name((enum calibrate_class)i), &slowed, err);

    (void)snprintf(range, sizeof range, "%.3f..%.3f", measured->range.low, measured->range.high);
    if (status == WEIR_OK)
        status =
            graph_intern_text(graph, calibrate_class_name((enum calibrate_class)j), &beside, err);
    if (status == WEIR_OK)
        status = graph_class_of(graph, slowed, &kappa.slowed, err);
    if (status == WEIR_OK)
        status = graph_class_of(graph, beside, &kappa.beside, err);
    if (status == WEIR_OK)
        status = calibrate_evidence(graph, c, "actions of 1 ms alone and beside the other",
                                    &measured->noise, range, &kappa.evidence, err);
    return status == WEIR_OK ? graph_add_kappa(graph, &kappa, err) : status;
}

static enum weir_status fill_machine(struct graph *graph, const struct calibration *c,
                                     struct weir_error *err)
{
    enum weir_status status = add_domain(graph, c, &hbm, "hbm", err);

    if (status == WEIR_OK)
        status = add_domain(graph, c, &host, "host", err);
    if (status == WEIR_OK)
        status = add_compute(graph, c, err);
    if (status == WEIR_OK)
        status = add_rates(graph, c, err);
    for (int i = CALIBRATE_H2D; i < CALIBRATE_CLASSES && status == WEIR_OK; i++)
        status = add_copies(graph, c, (enum calibrate_class)i, err);
    if (!c->has_kappa)
        return status;
    for (int p = 0; p < CALIBRATE_CLASSES * CALIBRATE_CLASSES && status == WEIR_OK; p++)
        status = add_kappa(graph, c, p / CALIBRATE_CLASSES, p % CALIBRATE_CLASSES, err);
    return status == WEIR_OK ? calibrate_add_fitted(graph, c, err) : status;
}

enum weir_status calibrate_machine(const struct calibration *calibration, struct graph **out,
                                   struct weir_error *err)
{
    struct graph *graph = graph_new();
    enum weir_status status;

    if (graph == NULL)
        return weir_error_memory(err);
    status = fill_machine(graph, calibration, err);
    if (status != WEIR_OK) {
        graph_free(graph);
        return status;
    }
    *out = graph;
    return WEIR_OK;
}
