/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a policy gets before it begins: memory, parameters, random bits. */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "policies/draft_internal.h"

static void *setup_alloc(struct weir_setup *setup, size_t size_bytes)
{
    struct plan *plan = setup->impl;

    return arena_alloc(&plan->arena, size_bytes);
}

static uint32_t count_params(const struct weir_policy *policy)
{
    uint32_t n = 0;

    while (policy->params != NULL && policy->params[n].name != NULL) {
        n++;
    }
    return n;
}

static double setup_param(const struct weir_setup *setup, const char *name)
{
    const struct plan *plan = setup->impl;

    for (uint32_t i = 0; i < count_params(plan->policy); i++) {
        if (strcmp(plan->policy->params[i].name, name) == 0) {
            return plan->values[i];
        }
    }
    return 0;
}

static uint64_t setup_random_bits(struct weir_setup *setup)
{
    struct plan *plan = setup->impl;

    return random_bits(&plan->random);
}

void plan_setup(struct plan *plan)
{
    plan->setup = (struct weir_setup){
        .size = sizeof plan->setup,
        .impl = plan,
        .alloc = setup_alloc,
        .param = setup_param,
        .random_bits = setup_random_bits,
    };
}

static enum weir_status set_value(struct plan *plan, const char *setting, struct weir_error *err)
{
    const char *equals = strchr(setting, '=');
    uint32_t n = count_params(plan->policy);
    size_t length = equals == NULL ? strlen(setting) : (size_t)(equals - setting);
    double value;

    for (uint32_t i = 0; i < n; i++) {
        const struct weir_param *param = &plan->policy->params[i];

        if (strlen(param->name) != length || strncmp(param->name, setting, length) != 0) {
            continue;
        }
        if (equals == NULL || number_ratio(equals + 1, strlen(equals + 1), &value) != NUMBER_OK ||
            value < param->least || value > param->greatest) {
            return weir_error_set(err, WEIR_USAGE, "--set %s: expected %s=NUMBER from %g to %g %s",
                                  setting, param->name, param->least, param->greatest, param->unit);
        }
        plan->values[i] = value;
        return WEIR_OK;
    }
    return weir_error_set(err, WEIR_USAGE,
                          "--set %s: policy %s has no such parameter; weir policies lists them",
                          setting, plan->policy->name);
}

enum weir_status plan_parameters(struct plan *plan, const struct plan_options *options,
                                 struct weir_error *err)
{
    uint32_t n = count_params(plan->policy);

    plan->values = arena_array(&plan->arena, (size_t)n + 1, sizeof *plan->values);
    if (plan->values == NULL) {
        return weir_error_memory(err);
    }
    for (uint32_t i = 0; i < n; i++) {
        plan->values[i] = plan->policy->params[i].default_value;
    }
    for (uint32_t i = 0; i < options->n_sets; i++) {
        enum weir_status status = set_value(plan, options->sets[i], err);

        if (status != WEIR_OK) {
            return status;
        }
    }
    return WEIR_OK;
}
