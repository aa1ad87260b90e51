/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is measured is above nothing and becomes a machine that reads back; figures made up by hand
 * become the statements that they should. */
#include "replay/calibrate.h"

#include <gsl/gsl_errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text.h"
#include "replay/rates.h"
#include "tests/suite.h"

/* Where other programs take the processors a measurement may give nothing: then it is made again. */
#define ASKS 10
#define ASK(measurement, is_found)                                   \
    do {                                                             \
        int ask = 0;                                                 \
                                                                     \
        do                                                           \
            ck_assert_msg((measurement) == WEIR_OK, "%s", err.text); \
        while (!(is_found) && ++ask < ASKS);                         \
        ck_assert(is_found);                                         \
    } while (0)

/* A calibration by hand: 32 operations in 4 ns, 10 GB/s after 2 us, one figure too noisy. */
static struct calibration by_hand(void)
{
    struct calibration c = {.info = {.name = "abacus, 2 processors",
                                     .compute_flops = 32,
                                     .n_processors = 2,
                                     .memory_bytes = (int64_t)4 << 30},
                            .has_kappa = true};
    struct weir_error err;

    ck_assert_int_eq(device_find("host", &c.ops, &err), WEIR_OK);
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        c.rates[i] = (struct measure_rate){.fixed_ns = 2000,
                                           .unit_ns = 0.1,
                                           .fixed_range_ns = {1900, 2150},
                                           .unit_range_ns = {0.098, 0.102},
                                           .noise = {.spread_ratio = 0.01, .n_samples = 50}};
        for (int j = 0; j < CALIBRATE_CLASSES; j++)
            c.kappas[i][j] = (struct measure_kappa){
                .factor = 1.23456,
                .range = {1.2, 1.3},
                .noise = {.spread_ratio = 0.01, .width_ratio = 0.04, .n_samples = 9}};
    }
    c.rates[CALIBRATE_COMPUTE].unit_ns = 4;
    c.rates[CALIBRATE_COMPUTE].unit_range_ns = (struct fit_interval){3.95, 4.05};
    c.rates[CALIBRATE_D2H].noise.spread_ratio = 0.2;
    c.rates[CALIBRATE_D2D].noise.width_ratio = 0.11;
    c.kappas[CALIBRATE_COMPUTE][CALIBRATE_H2D].factor = 0.98;
    return c;
}

static char *machine_text(const struct calibration *c)
{
    struct graph *machine = NULL;
    struct graph *again = NULL;
    struct report *report = report_new(0);
    struct weir_error err = {WEIR_OK, ""};
    char *text = NULL;
    size_t length = 0;

    ck_assert_msg(calibrate_machine(c, &machine, &err) == WEIR_OK, "%s", err.text);
    ck_assert_int_eq(graph_write_text(machine, &text, &length, &err), WEIR_OK);
    ck_assert_msg(graph_read_text(text, length, "machine", report, &again, &err) == WEIR_OK, "%s",
                  err.text);
    graph_free(machine);
    graph_free(again);
    report_free(report);
    return text;
}

/* The line of the text that begins so. */
static const char *line_of(const char *text, const char *begin, char out[1024])
{
    const char *at = strstr(text, begin);

    ck_assert_msg(at != NULL, "no line begins with %s", begin);
    (void)snprintf(out, 1024, "%.*s", (int)strcspn(at, "\n"), at);
    return out;
}

static void check_has(const char *line, const char *part)
{
    ck_assert_msg(strstr(line, part) != NULL, "'%s' is not in: %s", part, line);
}

START_TEST(figures_become_statements)
{
    struct calibration c = by_hand();
    char *text = machine_text(&c);
    char line[1024];

    check_has(line_of(text, "domain hbm ", line), "capacity=2147483648");
    check_has(line_of(text, "domain host ", line), "capacity=2147483648");
    (void)line_of(text, "engine sm ", line);
    check_has(line, "flops=8000000000");
    check_has(line, "bandwidth=10000000000");
    check_has(line, "domain=hbm");
    /* 32 operations in 3.95 to 4.05 ns; a byte in 0.098 to 0.102 ns. */
    check_has(line, "95 % flops 7.901..8.101 GFLOP/s, bandwidth 9.804..10.2 GB/s");
    check_has(line_of(text, "param roofline fp32_flops_per_s ", line), "8e+09");
    check_has(line_of(text, "param roofline cache_bytes_per_s ", line), "1e+10");
    check_has(line, "95 % bandwidth 9.804..10.2 GB/s");
    check_has(line_of(text, "param roofline mix_bytes_per_s ", line), "1e+10");
    (void)line_of(text, "engine h2d ", line);
    check_has(line, "from=host");
    check_has(line, "to=hbm");
    check_has(line, "latency=2000");
    check_has(line, "bandwidth=10000000000");
    check_has(line, "evidence=\"measured:weir calibrate on abacus, 2 processors");
    check_has(line, "50 measurements");
    check_has(line, "95 % bandwidth 9.804..10.2 GB/s, latency 1.9..2.15 us");
    check_has(line, "confidence=0.95");
    (void)line_of(text, "engine d2h ", line);
    check_has(line, "too noisy to trust");
    check_has(line, "confidence=0.5");
    (void)line_of(text, "engine d2d ", line);
    check_has(line, "too noisy to trust");
    check_has(line, "confidence=0.5");
    (void)line_of(text, "kappa cache mix ", line);
    check_has(line_of(text, "kappa d2h d2d ", line), "kappa d2h d2d 1.235 ");
    check_has(line, "9 measurements, spread 1.0 %, 0 % pre-empted; 95 % 1.200..1.300\"");
    check_has(line, "confidence=0.8");
    /* Nothing runs faster because something else runs: that is the noise of the measurement. */
    check_has(line_of(text, "kappa sm h2d ", line), "kappa sm h2d 1 ");
    free(text);
}
END_TEST

/* Sets of three, a fit and its judgement, by hand: a roofline, whose median error is least. */
static struct calibration fitted_by_hand(void)
{
    struct calibration c = by_hand();

    c.n_unseen = 13;
    c.is_fitted = true;
    c.demands = (struct families_demands){.n_classes = CALIBRATE_CLASSES,
                                          .n_resources = CALIBRATE_RESOURCES};
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        c.demands.weighted[i] = i >= CALIBRATE_H2D ? CALIBRATE_MEMORY : UINT32_MAX;
        c.model.weight[i] = c.model.share_weight[i] = 1;
        c.model.weight_range[i] = c.model.share_weight_range[i] = (struct fit_interval){0.99, 1.01};
    }
    c.demands.parts[CALIBRATE_H2D][CALIBRATE_MEMORY] = 0.25;
    c.demands.parts[CALIBRATE_H2D][CALIBRATE_H2D_LINK] = 1;
    c.model.weight[CALIBRATE_H2D] = 1.5;
    c.model.weight_range[CALIBRATE_H2D] = (struct fit_interval){1.4, 1.6};
    for (int r = 0; r < CALIBRATE_RESOURCES; r++) {
        c.model.eta[r] = 0.93333;
        c.model.share_eta[r] = 1.1;
        c.model.eta_range[r] = (struct fit_interval){0.9, 0.96};
        c.model.share_range[r] = (struct fit_interval){1, 1.3};
    }
    c.model.power = 2.75;
    c.model.power_range = (struct fit_interval){2.4, 3.1};
    c.model.n_sets = 75;
    c.model.condition = 4.25;
    c.errors[FAMILY_PAIRWISE] = (struct families_error){0.07, 0.06, 0.2, 49, -12.5};
    c.errors[FAMILY_SHARE] = (struct families_error){0.04, 0.03, 0.3, 8, -20};
    c.errors[FAMILY_ROOFLINE] = (struct families_error){0.0123, 0.011, 0.031, 9, -30.25};
    c.choice =
        (struct families_choice){.best = FAMILY_ROOFLINE,
                                 .rank = {3, 2, 1},
                                 .basis = {FAMILIES_BY_MEDIAN, FAMILIES_BY_AICC, FAMILIES_BEST}};
    return c;
}

START_TEST(models_become_statements)
{
    struct calibration c = fitted_by_hand();
    char *text = machine_text(&c);
    char line[1024];

    ck_assert_int_eq(calibrate_family(&c), FAMILY_ROOFLINE);
    check_has(line_of(text, "param measured roofline ", line), "roofline 0.0123 ");
    check_has(line, "13 sets of three actions that it was not fitted to; median 1.1 %");
    check_has(line, "95th percentile 3.1 %");
    check_has(line, "confidence=0.8");
    check_has(line_of(text, "param measured share ", line), "confidence=0.2");
    check_has(line_of(text, "param measured pairwise ", line), "confidence=0.5");
    check_has(line_of(text, "param roofline p ", line), "p 2.75 ");
    check_has(line, "evidence=\"fitted:");
    check_has(line, "95 % 2.400..3.100");
    check_has(line, "condition number of the fit 4.2");
    check_has(line_of(text, "param measured.rank roofline ", line), "roofline 1 ");
    check_has(line, "the best; corrected Akaike criterion -30.2, of 9 parameters");
    check_has(line_of(text, "param measured.rank share ", line), "share 2 ");
    check_has(line, "behind roofline by Akaike's criterion");
    check_has(line, "confidence=0.5");
    check_has(line_of(text, "param measured.rank pairwise ", line), "pairwise 3 ");
    check_has(line, "behind roofline by the median error");
    /* Four operations to each of the 10 GB/s of class mix are more than the 8 GFLOP/s of sm. Twice the
     * 10 GB/s that mix reads and writes. A copy to it: 0.25, one and a half times. */
    check_has(line_of(text, "resource issue ", line), "capacity=40000000000");
    check_has(line_of(text, "resource cache ", line), "capacity=20000000000");
    check_has(line_of(text, "resource memory ", line), "capacity=20000000000");
    check_has(line, "alone, which is mix");
    check_has(line_of(text, "param roofline.demand.memory h2d ", line), "h2d 7.5e+09 ");
    check_has(line, "95 % 1.400..1.600");
    check_has(line_of(text, "param share.demand.memory h2d ", line), "h2d 5e+09 ");
    check_has(line_of(text, "param roofline.eta memory ", line), "memory 0.9333 ");
    check_has(line_of(text, "param roofline.eta cache ", line), "cache 0.9333 ");
    check_has(line_of(text, "param share.eta memory ", line), "memory 1.1 ");
    check_has(line_of(text, "param share.demand.h2d-link h2d ", line), "h2d 1e+10 ");
    free(text);
    c.is_fitted = false;
    text = machine_text(&c);
    ck_assert_int_eq(calibrate_family(&c), FAMILY_PAIRWISE);
    ck_assert_ptr_null(strstr(text, "param measured roofline"));
    ck_assert_ptr_null(strstr(text, "param measured.rank"));
    ck_assert_ptr_nonnull(strstr(text, "param measured pairwise 0.07 "));
    free(text);
}
END_TEST

/* A power that the sets do not tell is an assumption, and says why. */
START_TEST(a_fixed_power_says_so)
{
    struct calibration c = fitted_by_hand();
    char line[1024];
    char *text;

    c.model.power = FAMILIES_POWER;
    c.model.power_basis = FAMILIES_POWER_WIDE;
    c.model.power_range = (struct fit_interval){1.5, 4.5};
    text = machine_text(&c);
    check_has(line_of(text, "param roofline p ", line), "p 3 evidence=\"assumed:");
    check_has(line, "75 sets of actions at once do not tell it");
    check_has(line, "its 95 % interval 1.5..4.5 spans more than 2 times");
    check_has(line, "confidence=0.2");
    free(text);
    c.model.power_basis = FAMILIES_POWER_ILL;
    c.model.condition = 123;
    text = machine_text(&c);
    check_has(line_of(text, "param roofline p ", line), "ill-conditioned, by 123, more than 30");
    free(text);
}
END_TEST

/* Two processors run no three queues: nothing was judged, and the machine says so. */
START_TEST(pairs_alone_judge_nothing)
{
    struct calibration c = by_hand();
    char *text = machine_text(&c);
    char line[1024];

    check_has(line_of(text, "param measured pairwise ", line), "pairwise 0.04 ");
    check_has(line, "evidence=\"assumed:");
    check_has(line, "nothing is known of larger sets");
    check_has(line, "confidence=0.2");
    ck_assert_ptr_null(strstr(text, "\nresource "));
    free(text);
}
END_TEST

START_TEST(noise_is_known)
{
    const struct measure_noise quiet = {0.05, 0.05, 0.1, 9};
    const struct measure_noise spread = {0.11, 0, 0, 9};
    const struct measure_noise wide = {0.01, 0.11, 0, 9};
    const struct measure_noise preempted = {0.01, 0.01, 0.3, 9};
    const struct measure_noise exact = {0.03, 0.03, 0.25, 9};
    const struct measure_noise hopeless = {0.01, 0.26, 0, 9};

    ck_assert(!calibrate_is_noisy(&quiet));
    ck_assert(calibrate_is_noisy(&spread));
    ck_assert(calibrate_is_noisy(&wide));
    ck_assert(calibrate_is_noisy(&preempted));
    ck_assert_double_eq(calibrate_confidence(&exact), 0.95);
    ck_assert_double_eq(calibrate_confidence(&quiet), 0.8);
    ck_assert_double_eq(calibrate_confidence(&wide), 0.5);
    ck_assert_double_eq(calibrate_confidence(&preempted), 0.5);
    ck_assert_double_eq(calibrate_confidence(&hopeless), 0.2);
    ck_assert(measure_is_preempted(2000000, 1000000));
    ck_assert(!measure_is_preempted(1040000, 1000000));
    ck_assert(!measure_is_preempted(4000, 1000));
    ck_assert(!measure_is_preempted(2000000, -1));
}
END_TEST

static void note_progress(void *arg, double part)
{
    double *last = arg;

    ck_assert_double_ge(part, *last);
    *last = part;
}

START_TEST(the_host_is_measured)
{
    struct calibrate_options options = calibrate_default();
    struct calibration c;
    struct weir_error err = {WEIR_OK, ""};
    double last = 0;

    options.n_repeats = 3;
    options.has_contention = false;
    options.progress = note_progress;
    options.progress_arg = &last;
    ck_assert_msg(calibrate_measure("host", &options, &c, &err) == WEIR_OK, "%s", err.text);
    ck_assert_double_eq_tol(last, 1, 1e-9);
    for (int i = 0; i < CALIBRATE_CLASSES; i++) {
        ck_assert_double_gt(c.rates[i].unit_ns, 0);
        ck_assert_double_ge(c.rates[i].fixed_ns, 0);
        ck_assert_double_gt(c.rates[i].unit_range_ns.low, 0);
        ck_assert_double_le(c.rates[i].unit_range_ns.low, c.rates[i].unit_ns);
        ck_assert_double_ge(c.rates[i].unit_range_ns.high, c.rates[i].unit_ns);
        ck_assert_double_ge(c.rates[i].fixed_range_ns.low, 0);
        ck_assert_double_le(c.rates[i].fixed_range_ns.low, c.rates[i].fixed_ns);
        ck_assert_double_ge(c.rates[i].fixed_range_ns.high, c.rates[i].fixed_ns);
        ck_assert_double_ge(c.rates[i].noise.width_ratio, 0);
        ck_assert_uint_ge(c.rates[i].noise.n_samples, 18);
    }
    free(machine_text(&c));
    ck_assert_int_eq(calibrate_measure("cuda", &options, &c, &err), WEIR_DEVICE);
}
END_TEST

START_TEST(contention_is_measured)
{
    const struct device_ops *ops;
    struct measure_rate rates[2];
    const struct measure_runner compute = {{.action = STEP_COMPUTE}, &rates[0]};
    const struct measure_runner copy = {{.action = STEP_COPY, .window_bytes = 1 << 20}, &rates[1]};
    struct measure_kappa kappa;
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_int_eq(device_find("host", &ops, &err), WEIR_OK);
    ASK(measure_rate(ops, &compute.action, 200000, 3, MEASURE_LINE, &rates[0], &err),
        measure_has_line(&rates[0]));
    ASK(measure_rate(ops, &copy.action, 200000, 3, MEASURE_LINE, &rates[1], &err),
        measure_has_line(&rates[1]));
    ck_assert_int_eq(measure_kappa(ops, &compute, &copy, 1, 200000, 5, &kappa, &err), WEIR_OK);
    ck_assert_uint_ge(kappa.noise.n_samples, FIT_FEWEST_BLOCKS);
    ck_assert_uint_le(kappa.noise.n_samples, 5);
    ck_assert_double_gt(kappa.range.low, 0.1);
    ck_assert_double_le(kappa.range.low, kappa.factor);
    ck_assert_double_ge(kappa.range.high, kappa.factor);
    ck_assert_double_le(kappa.noise.preempted_ratio, 1);
    ck_assert_double_gt(kappa.n_beside, 0);
    ck_assert_double_le(kappa.n_beside, 1.001);
    /* Three others, also where there are too few processors for them: then they take turns. */
    ck_assert_int_eq(measure_kappa(ops, &copy, (const struct measure_runner[]){copy, compute, copy},
                                   3, 200000, 3, &kappa, &err),
                     WEIR_OK);
    ck_assert_double_gt(kappa.factor, 0.1);
    ck_assert_double_gt(kappa.n_beside, 0);
    ck_assert_double_le(kappa.n_beside, 3.001);
}
END_TEST

/* ---- rates of copies ---- */

/* Buffers of 64 bytes: 10 ns + 1 ns a byte; of 1 KiB: 10 + 2; of 16 KiB: 10 + 4. */
static struct rates three_points(void)
{
    const struct place device = {{0}, false};
    const struct place host = {{1}, true};
    struct rates_needs needs = {.directions = NULL};
    struct weir_error err;

    ck_assert_int_eq(rates_need_copy(&needs, device, host, 1000, &err), WEIR_OK);
    ck_assert_uint_eq(needs.directions[0].n_points, 2);
    ck_assert_int_eq(rates_need_copy(&needs, device, host, 16384, &err), WEIR_OK);
    ck_assert_uint_eq(needs.n_directions, 1);
    ck_assert_uint_eq(needs.directions[0].n_points, 3);
    for (int p = 0; p < 3; p++)
        needs.directions[0].at[p] =
            (struct measure_rate){.fixed_ns = 10, .unit_ns = (double)(1 << p)};
    return (struct rates){.directions = needs.directions, .n_directions = 1};
}

/* 256 bytes are 1/5 of the way from 64 to 1024, where passes take 74 and 2058, and half of it in
 * logarithms, where bytes take 1 and 2. A pass beyond the last size takes longer in proportion. */
START_TEST(rates_lie_between_sizes)
{
    struct rates rates = three_points();
    const weir_domain from = {0};
    const weir_domain to = {1};

    ck_assert_double_eq_tol(rates_copy(&rates, from, to, 8).unit_ns, 1, 1e-9);
    ck_assert_double_eq_tol(rates_copy(&rates, from, to, 64).unit_ns, 1, 1e-9);
    ck_assert_double_eq_tol(rates_copy(&rates, from, to, 256).unit_ns, 1.5, 1e-9);
    ck_assert_double_eq_tol(rates_pass_ns(&rates, from, to, 256), 74 + (2058 - 74) / 5.0, 1e-9);
    ck_assert_double_eq_tol(rates_copy(&rates, from, to, 1024).unit_ns, 2, 1e-9);
    ck_assert_double_eq_tol(rates_pass_ns(&rates, from, to, 1024), 2058, 1e-9);
    ck_assert_double_eq_tol(rates_pass_ns(&rates, from, to, 163840), 10 * (10 + 16384.0 * 4), 1e-6);
    ck_assert_int_eq(rates_fitting_bytes(&rates, from, to, 2058, 1 << 20), 1024);
    ck_assert_int_eq(rates_fitting_bytes(&rates, from, to, 2057, 1 << 20), 1023);
    ck_assert_int_eq(rates_fitting_bytes(&rates, from, to, 1e9, 4000), 4000);
    ck_assert_int_eq(rates_fitting_bytes(&rates, from, to, 5, 4000), 0);
    rates_free(&rates);
}
END_TEST

/* A copy through a buffer takes longer the more it moves, in caches or not. */
START_TEST(windows_are_measured)
{
    const int64_t windows[] = {64, 4096, 1 << 20};
    const struct device_ops *ops;
    struct measure_rate rates[3];
    struct weir_error err = {WEIR_OK, ""};

    ck_assert_int_eq(device_find("host", &ops, &err), WEIR_OK);
    for (int64_t footprint = 8192; footprint <= 32 << 20; footprint <<= 12) {
        const struct measure_direction direction = {.from = {{0}, false},
                                                    .to = {{1}, true},
                                                    .from_bytes = 64 * footprint,
                                                    .to_bytes = footprint};

        ASK(measure_windows(ops, &direction, windows, 3, rates, &err),
            measure_has_line(&rates[0]) && measure_has_line(&rates[1]) &&
                measure_has_line(&rates[2]));
        for (int w = 0; w < 3; w++) {
            ck_assert_double_gt(rates[w].unit_ns, 0);
            ck_assert_double_ge(rates[w].fixed_ns, 0);
            ck_assert_uint_eq(rates[w].noise.n_samples, 36);
        }
    }
}
END_TEST

START_TEST(amounts_follow_from_rates)
{
    const struct measure_rate rate = {.fixed_ns = 100, .unit_ns = 4};

    ck_assert_int_eq(measure_amount(&rate, 500), 100);
    ck_assert_int_eq(measure_amount(&rate, 50), 1);
    ck_assert_int_eq(measure_amount(&rate, 1e300), INT64_MAX);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replay/calibrate");
    TCase *machine = tcase_create("machine");
    TCase *measured = tcase_create("measured");
    TCase *rates = tcase_create("rates");

    (void)gsl_set_error_handler_off();
    tcase_add_test(machine, figures_become_statements);
    tcase_add_test(machine, models_become_statements);
    tcase_add_test(machine, a_fixed_power_says_so);
    tcase_add_test(machine, pairs_alone_judge_nothing);
    tcase_add_test(machine, noise_is_known);
    tcase_add_test(measured, the_host_is_measured);
    tcase_add_test(measured, contention_is_measured);
    tcase_add_test(rates, rates_lie_between_sizes);
    tcase_add_test(rates, windows_are_measured);
    tcase_add_test(rates, amounts_follow_from_rates);
    suite_add_tcase(suite, machine);
    suite_add_tcase(suite, measured);
    suite_add_tcase(suite, rates);
    return run_suite(suite);
}
