/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of several parts: lists, charges, durations, aliases, places, fallbacks. Where a name is
 * followed by @, : or +, a name that holds that character is written in quotes. */
#include "base/array.h"
#include "base/number.h"
#include "graph/read_internal.h"

static bool is_end(const char *at, const struct span *word)
{
    return at == word->text + word->length;
}

/* Behind an item: true when another follows, *at then behind the comma. */
static bool has_next(const char **at, const struct span *word)
{
    if (is_end(*at, word))
        return false;
    (*at)++;
    return true;
}

/* [@DOMAIN] */
static bool read_at_domain(struct reader *reader, const char **at, const struct span *word,
                           weir_domain *domain)
{
    struct item item;

    domain->index = WEIR_NONE;
    if (is_end(*at, word) || **at != '@')
        return true;
    (*at)++;
    return read_item(reader, at, word, ",", &item) &&
           read_reference(reader, STATEMENT_DOMAIN, &item, &domain->index);
}

/* O[@D],... */
static bool read_reads(struct reader *reader, const struct field *field, const struct span *word,
                       union statement_value *value)
{
    struct graph_node *node = &value->node;
    const char *at = word->text;
    uint32_t n = 0;

    (void)field;
    do {
        struct graph_access access;
        struct item item;
        if (!read_item(reader, &at, word, ",@", &item) ||
            !read_reference(reader, STATEMENT_OBJECT, &item, &access.object.index) ||
            !read_at_domain(reader, &at, word, &access.domain) ||
            !read_keep(reader,
                       array_grow(&reader->reads, &reader->reads_room, (size_t)n + 1, reader->err)))
            return false;
        reader->reads[n++] = access;
    } while (has_next(&at, word));
    node->reads = reader->reads;
    node->n_reads = n;
    return true;
}

/* O,... */
static bool read_writes(struct reader *reader, const struct field *field, const struct span *word,
                        union statement_value *value)
{
    struct graph_node *node = &value->node;
    const char *at = word->text;
    uint32_t n = 0;

    (void)field;
    do {
        weir_object object;
        struct item item;
        if (!read_item(reader, &at, word, ",", &item) ||
            !read_reference(reader, STATEMENT_OBJECT, &item, &object.index) ||
            !read_keep(reader, array_grow(&reader->writes, &reader->writes_room, (size_t)n + 1,
                                          reader->err)))
            return false;
        reader->writes[n++] = object;
    } while (has_next(&at, word));
    node->writes = reader->writes;
    node->n_writes = n;
    return true;
}

/* D,... */
static bool read_placements(struct reader *reader, const struct field *field,
                            const struct span *word, union statement_value *value)
{
    struct graph_object *object = &value->object;
    const char *at = word->text;
    uint32_t n = 0;

    (void)field;
    do {
        weir_domain domain;
        struct item item;
        if (!read_item(reader, &at, word, ",", &item) ||
            !read_reference(reader, STATEMENT_DOMAIN, &item, &domain.index) ||
            !read_keep(reader, array_grow(&reader->placements, &reader->placements_room,
                                          (size_t)n + 1, reader->err)))
            return false;
        reader->placements[n++] = domain;
    } while (has_next(&at, word));
    object->placements = reader->placements;
    object->n_placements = n;
    return true;
}

/* SIZE[@D] */
static bool read_charge(struct reader *reader, const struct field *field, const char **at,
                        const struct span *word, struct graph_charge *charge)
{
    struct item item;

    return read_item(reader, at, word, ",@", &item) &&
           read_quantity(reader, field, FORM_SIZE, &item, 0, &charge->bytes) &&
           read_at_domain(reader, at, word, &charge->domain);
}

static bool read_workspace(struct reader *reader, const struct field *field,
                           const struct span *word, union statement_value *value)
{
    struct graph_node *node = &value->node;
    const char *at = word->text;
    uint32_t n = 0;

    do {
        struct graph_charge charge;
        if (!read_charge(reader, field, &at, word, &charge) ||
            !read_keep(reader, array_grow(&reader->workspace, &reader->workspace_room,
                                          (size_t)n + 1, reader->err)))
            return false;
        reader->workspace[n++] = charge;
    } while (has_next(&at, word));
    node->workspace = reader->workspace;
    node->n_workspace = n;
    return true;
}

/* Nothing may follow what a field takes one of. */
static bool read_no_more(struct reader *reader, const struct field *field, const char *at,
                         const struct span *word)
{
    if (is_end(at, word))
        return true;
    return read_fault(reader, FINDING_BAD_VALUE, at, "%s takes one value, not a list", field->name);
}

static bool read_staging(struct reader *reader, const struct field *field, const struct span *word,
                         union statement_value *value)
{
    struct graph_node *node = &value->node;
    const char *at = word->text;

    return read_charge(reader, field, &at, word, &node->staging) &&
           read_no_more(reader, field, at, word);
}

/* Whether the line has used the resource already; from now on it has. */
static bool is_used_again(struct reader *reader, weir_resource resource)
{
    bool is_again;

    if (!read_keep(reader, array_grow(&reader->used_on, &reader->used_on_room,
                                      (size_t)resource.index + 1, reader->err)))
        return false;
    is_again = reader->used_on[resource.index] == reader->line;
    reader->used_on[resource.index] = reader->line;
    return is_again;
}

/* RES:RATE */
static bool read_demand(struct reader *reader, const struct field *field, const char **at,
                        const struct span *word, struct graph_demand *demand)
{
    struct item name, rate;
    struct shown shown;

    if (!read_item(reader, at, word, ",:", &name) ||
        !read_reference(reader, STATEMENT_RESOURCE, &name, &demand->resource.index))
        return false;
    (void)read_shown(&shown, name.text, name.length);
    if (is_used_again(reader, demand->resource))
        return read_fault(reader, FINDING_BAD_VALUE, name.where,
                          "uses names the resource \"%s\" twice; expected one rate for each",
                          shown.text);
    if (is_end(*at, word) || **at != ':')
        return read_fault(reader, FINDING_BAD_VALUE, *at,
                          "uses gives no rate for the resource \"%s\"; expected %s:RATE",
                          shown.text, shown.text);
    (*at)++;
    return read_item(reader, at, word, ",", &rate) &&
           read_quantity(reader, field, FORM_RATE, &rate, 0, &demand->rate_per_s);
}

static bool read_uses(struct reader *reader, const struct field *field, const struct span *word,
                      union statement_value *value)
{
    struct graph_node *node = &value->node;
    const char *at = word->text;
    uint32_t n = 0;

    do {
        struct graph_demand demand;
        if (!read_demand(reader, field, &at, word, &demand) ||
            !read_keep(reader,
                       array_grow(&reader->uses, &reader->uses_room, (size_t)n + 1, reader->err)))
            return false;
        reader->uses[n++] = demand;
    } while (has_next(&at, word));
    node->uses = reader->uses;
    node->n_uses = n;
    return true;
}

/* OBJ[+OFFSET] */
static bool read_alias(struct reader *reader, const struct field *field, const struct span *word,
                       union statement_value *value)
{
    struct graph_object *object = &value->object;
    const char *at = word->text;
    struct item item;

    object->alias_offset_bytes = 0;
    if (!read_item(reader, &at, word, "+", &item) ||
        !read_reference(reader, STATEMENT_OBJECT, &item, &object->alias_of.index))
        return false;
    if (is_end(at, word))
        return true;
    at++;
    return read_item(reader, &at, word, "", &item) &&
           read_quantity(reader, field, FORM_SIZE, &item, 0, &object->alias_offset_bytes);
}

/* N@D */
static bool read_place(struct reader *reader, const struct field *field, const struct span *word,
                       union statement_value *value)
{
    struct graph_object *object = &value->object;
    const char *at = word->text;
    struct graph_charge place;

    if (!read_charge(reader, field, &at, word, &place) || !read_no_more(reader, field, at, word))
        return false;
    if (!weir_is(place.domain))
        return read_fault(reader, FINDING_BAD_VALUE, at,
                          "offset names no domain; expected BYTES@DOMAIN");
    object->planned_offset_bytes = place.bytes;
    object->planned_domain = place.domain;
    return true;
}

static bool is_bare_word(const struct item *item, const char *word)
{
    return !item->is_quoted && item->length == strlen(word) &&
           memcmp(item->text, word, item->length) == 0;
}

/* NODE|wait|fail; a node of such a name is written in quotes. */
static bool read_fallback(struct reader *reader, const struct field *field, const struct span *word,
                          union statement_value *value)
{
    struct graph_node *node = &value->node;
    struct item item;

    (void)field;
    if (!read_only_item(reader, word, &item))
        return false;
    node->fallback_node.index = WEIR_NONE;
    if (is_bare_word(&item, "wait")) {
        node->fallback = FALLBACK_WAIT;
        return true;
    }
    if (is_bare_word(&item, "fail")) {
        node->fallback = FALLBACK_FAIL;
        return true;
    }
    node->fallback = FALLBACK_NODE;
    return read_reference(reader, STATEMENT_NODE, &item, &node->fallback_node.index);
}

static struct item trimmed(struct item item)
{
    while (item.length > 0 && (*item.text == ' ' || *item.text == '\t')) {
        item.text++;
        item.length--;
    }
    while (item.length > 0 &&
           (item.text[item.length - 1] == ' ' || item.text[item.length - 1] == '\t'))
        item.length--;
    return item;
}

/* T,T,... between the parentheses of a distribution. */
static bool read_times(struct reader *reader, const struct field *field, struct item list,
                       uint32_t *n)
{
    bool is_last = false;

    *n = 0;
    while (!is_last) {
        const char *comma = memchr(list.text, ',', list.length);
        struct item item = list;
        is_last = comma == NULL;
        if (!is_last) {
            item.length = (size_t)(comma - list.text);
            list.length -= item.length + 1;
            list.text = comma + 1;
        }
        item = trimmed(item);
        if (!read_keep(reader, array_grow(&reader->times, &reader->times_room, (size_t)*n + 1,
                                          reader->err)) ||
            !read_quantity(reader, field, FORM_TIME, &item, 0, &reader->times[*n]))
            return false;
        (*n)++;
    }
    return true;
}

static bool check_times(struct reader *reader, const struct item *item, enum distribution_kind kind,
                        uint32_t n)
{
    const char *name = distribution_name(kind);

    if (kind != DISTRIBUTION_EMPIRICAL && n != 2)
        return read_fault(reader, FINDING_BAD_VALUE, item->where, "%s has %u times; expected 2: %s",
                          name, n,
                          kind == DISTRIBUTION_UNIFORM ? "the least and the greatest"
                                                       : "mean and standard deviation");
    if ((kind == DISTRIBUTION_LOGNORMAL || kind == DISTRIBUTION_GAMMA) && reader->times[0] <= 0)
        return read_fault(reader, FINDING_OUT_OF_RANGE, item->where,
                          "the mean of %s is 0; expected a time above 0", name);
    if (kind == DISTRIBUTION_UNIFORM && reader->times[0] > reader->times[1])
        return read_fault(reader, FINDING_OUT_OF_RANGE, item->where,
                          "uniform has its greatest time first; expected uniform(LEAST,GREATEST)");
    return true;
}

/* NAME(T,T,...) */
static bool read_distribution(struct reader *reader, const struct field *field,
                              const struct item *item, const char *open,
                              struct graph_duration *duration)
{
    struct item name = *item, list = *item;
    int found;

    name.length = (size_t)(open - item->text);
    list.text = open + 1;
    list.length = item->length - name.length - 1;
    if (list.length == 0 || list.text[list.length - 1] != ')')
        return read_fault(reader, FINDING_BAD_VALUE, item->where,
                          "the distribution is not closed; expected %.*s(T,...) without blanks, or "
                          "all of it in quotes",
                          (int)(name.length > 40 ? 40 : name.length), name.text);
    list.length--;
    if (!read_word(reader, field, distribution_words, &name, &found))
        return false;
    duration->kind = (enum distribution_kind)found;
    if (duration->kind == DISTRIBUTION_UNKNOWN)
        return read_fault(reader, FINDING_BAD_VALUE, item->where,
                          "unknown takes no times; expected duration=unknown");
    if (!read_times(reader, field, list, &duration->n_values) ||
        !check_times(reader, item, duration->kind, duration->n_values))
        return false;
    duration->values_ns = reader->times;
    return true;
}

/* The first of the times that were read. */
static struct graph_duration fixed_time(const struct reader *reader)
{
    return (struct graph_duration){
        .kind = DISTRIBUTION_FIXED, .values_ns = reader->times, .n_values = 1};
}

static bool read_duration(struct reader *reader, const struct field *field, const struct span *word,
                          union statement_value *value)
{
    struct graph_node *node = &value->node;
    struct item item;
    const char *open;

    if (!read_only_item(reader, word, &item) ||
        !read_keep(reader, array_grow(&reader->times, &reader->times_room, 1, reader->err)))
        return false;
    item = trimmed(item);
    node->has_duration = true;
    if (number_time(item.text, item.length, &reader->times[0]) == NUMBER_OK) {
        node->duration = fixed_time(reader);
        return true;
    }
    if (item.length == strlen("unknown") && memcmp(item.text, "unknown", item.length) == 0) {
        node->duration = (struct graph_duration){.kind = DISTRIBUTION_UNKNOWN};
        return true;
    }
    open = memchr(item.text, '(', item.length);
    if (open != NULL)
        return read_distribution(reader, field, &item, open, &node->duration);
    if (!read_quantity(reader, field, FORM_TIME, &item, 0, &reader->times[0]))
        return false;
    node->duration = fixed_time(reader);
    return true;
}

typedef bool list_reader(struct reader *, const struct field *, const struct span *,
                         union statement_value *);

static list_reader *const list_readers[] = {
    [FORM_DURATION] = read_duration, [FORM_READS] = read_reads,
    [FORM_WRITES] = read_writes,     [FORM_WORKSPACE] = read_workspace,
    [FORM_STAGING] = read_staging,   [FORM_USES] = read_uses,
    [FORM_FALLBACK] = read_fallback, [FORM_PLACEMENTS] = read_placements,
    [FORM_ALIAS] = read_alias,       [FORM_PLACE] = read_place,
};

bool read_list_value(struct reader *reader, const struct field *field, const struct span *word,
                     union statement_value *value)
{
    return list_readers[field->form](reader, field, word, value);
}
