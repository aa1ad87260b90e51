/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a recording is given is kept in arrays that only grow. Links are judged by the times when
 * they are made, so an action must be complete before it is linked. */
#include "traces/recording.h"

#include <assert.h>
#include <stdlib.h>

#include "base/array.h"
#include "traces/recording_internal.h"

const struct rule_facts recording_rules[RECORDING_RULES] = {
#define RULE(code, evidence, type, gap, overlap, late, text) \
    [RULE_##                                                 \
        code] = {EVIDENCE_##evidence, EDGE_##type, GAP_##gap, (overlap) != 0, (late) != 0, text},
#include "traces/recording_rules.def"
#undef RULE
};

static const char *const gap_names[RECORDING_GAPS] = {
    "none",          "launch-bound", "device idle between actions", "host between calls",
    "inside a call", "unexplained",
};

const char *recording_gap_name(enum recording_gap gap)
{
    return gap_names[gap];
}

const char *recording_rule_text(enum recording_rule rule)
{
    return recording_rules[rule].text;
}

struct recording *recording_new(void)
{
    struct recording *recording = calloc(1, sizeof *recording);
    struct weir_error err;
    uint32_t none;

    if (recording == NULL)
        return NULL;
    recording->texts = names_new();
    if (recording->texts == NULL || names_intern(recording->texts, "", 0, &none, &err) != WEIR_OK) {
        recording_free(recording);
        return NULL;
    }
    return recording;
}

void recording_free(struct recording *recording)
{
    if (recording == NULL)
        return;
    names_free(recording->texts);
    free(recording->actions);
    form_table_free(&recording->forms);
    free(recording->links);
    free(recording->objects);
    free(recording->domains);
    free(recording->engines);
    free(recording->held_until);
    free(recording);
}

/* Adding. */

static enum weir_status too_many(const char *what, struct weir_error *err)
{
    return weir_error_set(err, WEIR_INPUT,
                          "there are more %s than 32 bits count; import a part with "
                          "--window",
                          what);
}

/* Two engines or domains of one name: the later one is numbered. */
static enum weir_status numbered(struct recording *recording, uint32_t name, uint32_t number,
                                 uint32_t *out, struct weir_error *err)
{
    char text[224];

    (void)snprintf(text, sizeof text, "%.200s#%u", recording_text_of(recording, name),
                   (unsigned)number);
    return recording_word(recording, text, out, err);
}

static bool is_domain(const struct recording *recording, uint32_t name)
{
    for (uint32_t i = 0; i < recording->n_domains; i++) {
        if (recording->domains[i].name == name)
            return true;
    }
    return false;
}

static bool is_engine(const struct recording *recording, uint32_t name)
{
    for (uint32_t i = 0; i < recording->n_engines; i++) {
        if (recording->engines[i].name == name)
            return true;
    }
    return false;
}

enum weir_status recording_add_domain(struct recording *recording,
                                      const struct recording_domain *domain, uint32_t *id,
                                      struct weir_error *err)
{
    struct recording_domain row = *domain;
    enum weir_status status = array_grow(&recording->domains, &recording->domains_room,
                                         (size_t)recording->n_domains + 1, err);

    for (uint32_t n = 2; status == WEIR_OK && is_domain(recording, row.name); n++)
        status = numbered(recording, domain->name, n, &row.name, err);
    if (status != WEIR_OK)
        return status;
    recording->domains[recording->n_domains] = row;
    *id = recording->n_domains++;
    return WEIR_OK;
}

enum weir_status recording_add_engine(struct recording *recording, uint32_t name, uint32_t domain,
                                      uint32_t *id, struct weir_error *err)
{
    struct engine_row row = {name, domain};
    enum weir_status status = array_grow(&recording->engines, &recording->engines_room,
                                         (size_t)recording->n_engines + 1, err);

    for (uint32_t n = 2; status == WEIR_OK && is_engine(recording, row.name); n++)
        status = numbered(recording, name, n, &row.name, err);
    if (status != WEIR_OK)
        return status;
    recording->engines[recording->n_engines] = row;
    *id = recording->n_engines++;
    return WEIR_OK;
}

enum weir_status recording_add_object(struct recording *recording,
                                      const struct recording_object *object, uint32_t *id,
                                      struct weir_error *err)
{
    enum weir_status status = array_grow(&recording->objects, &recording->objects_room,
                                         (size_t)recording->n_objects + 1, err);

    if (status != WEIR_OK)
        return status;
    if (recording->n_objects == RECORDING_NONE - 1)
        return too_many("objects", err);
    recording->objects[recording->n_objects] = *object;
    *id = recording->n_objects++;
    return WEIR_OK;
}

static enum weir_status form_of(struct recording *recording, const struct recording_action *action,
                                uint32_t *form, struct weir_error *err)
{
    const struct action_form value = {
        .class_name = action->class_name,
        .domain = action->domain,
        .from = action->from,
        .to = action->to,
        .origin_table = action->origin_table,
        .origin_call = action->origin_call,
        .kind = action->kind,
        .rank = action->rank,
        .source = action->source,
        .flags = action->flags,
    };

    return form_table_find(&recording->forms, &value, form, err);
}

enum weir_status recording_reserve(struct recording *recording, size_t n_actions, size_t n_links,
                                   struct weir_error *err)
{
    enum weir_status status =
        array_grow_raw(&recording->actions, &recording->actions_room, n_actions, err);

    if (status == WEIR_OK)
        status = array_grow_raw(&recording->links, &recording->links_room, n_links, err);
    return status;
}

enum weir_status recording_add_action(struct recording *recording,
                                      const struct recording_action *action, uint32_t *id,
                                      struct weir_error *err)
{
    bool is_part = (action->flags & ACTION_IS_PART) != 0;
    struct action_row row = {
        .start_ns = action->start_ns,
        .finish_ns = action->finish_ns,
        .bytes = action->bytes,
        .origin_row = action->origin_row,
        .name = action->name,
        .engine = action->engine,
        .about = is_part ? action->lead : action->object,
        .origin_range = action->origin_range,
    };
    enum weir_status status = array_grow_raw(&recording->actions, &recording->actions_room,
                                             (size_t)recording->n_actions + 1, err);

    if (status == WEIR_OK)
        status = form_of(recording, action, &row.form, err);
    if (status != WEIR_OK)
        return status;
    if (recording->n_actions == RECORDING_NONE - 1)
        return too_many("actions", err);
    assert(action->finish_ns >= action->start_ns);
    assert(!is_part || action->object == RECORDING_NONE);
    if (action->kind == NODE_ALLOCATION)
        recording->objects[action->object].allocation = recording->n_actions;
    if (action->kind == NODE_RECLAMATION)
        recording->objects[action->object].reclamation = recording->n_actions;
    recording->actions[recording->n_actions] = row;
    *id = recording->n_actions++;
    return WEIR_OK;
}

uint32_t recording_object_domain(const struct recording *recording, uint32_t object)
{
    return recording->objects[object].domain;
}

uint32_t recording_n_actions(const struct recording *recording)
{
    return recording->n_actions;
}

int64_t recording_start_ns(const struct recording *recording, uint32_t action)
{
    assert(action < recording->n_actions);
    return recording->actions[action].start_ns;
}

int64_t recording_finish_ns(const struct recording *recording, uint32_t action)
{
    assert(action < recording->n_actions);
    return recording->actions[action].finish_ns;
}

void recording_add_stall(struct recording *recording, uint32_t action)
{
    recording->actions[action].n_stalls++;
}

/* Linking. */

/* Program order of actions that start together is by rank and then by id; a link may not go
 * against it, so no circle can arise. */
static bool is_before(const struct recording *recording, uint32_t a, uint32_t b)
{
    const struct action_row *first = &recording->actions[a], *second = &recording->actions[b];
    const struct action_form *forms = recording->forms.forms;
    uint8_t first_rank, second_rank;

    if (first->start_ns != second->start_ns)
        return first->start_ns < second->start_ns;
    first_rank = forms[first->form].rank;
    second_rank = forms[second->form].rank;
    return first_rank != second_rank ? first_rank < second_rank : a < b;
}

static enum recording_fit fit_of(const struct recording *recording,
                                 const struct recording_link *link)
{
    const struct action_row *producer = &recording->actions[link->producer];
    const struct action_row *consumer = &recording->actions[link->consumer];

    if (!is_before(recording, link->producer, link->consumer))
        return FIT_CONTRADICTED;
    if (producer->finish_ns <= consumer->start_ns)
        return FIT_AFTER;
    if (recording_rules[link->rule].may_overlap ||
        producer->finish_ns - consumer->start_ns <= RECORDING_TOLERANCE_NS)
        return FIT_OVERLAP;
    return FIT_CONTRADICTED;
}

enum weir_status recording_link(struct recording *recording, const struct recording_link *link,
                                enum recording_fit *fit, struct weir_error *err)
{
    struct link_row row = {link->producer, link->consumer, (uint8_t)link->rule, 0,
                           link->alternatives};
    enum weir_status status;

    assert(link->producer < recording->n_actions && link->consumer < recording->n_actions);
    *fit = fit_of(recording, link);
    recording->n_fits[link->rule][*fit]++;
    if (*fit == FIT_CONTRADICTED)
        return WEIR_OK;
    if (*fit == FIT_OVERLAP)
        row.flags |= LINK_FROM_START;
    if (link->is_within)
        row.flags |= LINK_IS_WITHIN;
    if (recording->n_links == NO_LINK - 1)
        return too_many("links", err);
    status = array_grow_raw(&recording->links, &recording->links_room, recording->n_links + 1, err);
    if (status == WEIR_OK)
        recording->links[recording->n_links++] = row;
    return status;
}

int64_t recording_n_links(const struct recording *recording, enum recording_rule rule,
                          enum recording_fit fit)
{
    return recording->n_fits[rule][fit];
}

enum weir_status recording_settle(struct recording *recording, struct weir_error *err)
{
    enum weir_status status = array_grow_raw(&recording->held_until, &recording->held_room,
                                             (size_t)recording->n_actions + 1, err);

    if (status != WEIR_OK)
        return status;
    for (uint32_t i = 0; i < recording->n_actions; i++)
        recording->held_until[i] = INT64_MIN;
    for (size_t i = 0; i < recording->n_links; i++) {
        const struct link_row *link = &recording->links[i];
        const struct action_row *producer = &recording->actions[link->producer];
        int64_t at_ns =
            (link->flags & LINK_FROM_START) != 0 ? producer->start_ns : producer->finish_ns;

        if (at_ns > recording->held_until[link->consumer])
            recording->held_until[link->consumer] = at_ns;
    }
    return WEIR_OK;
}

int64_t recording_held_until(const struct recording *recording, uint32_t action)
{
    return recording->held_until[action];
}
