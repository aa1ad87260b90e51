/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of a timeline as whole numbers, and back: a time that there is not is PACKED_NULL, and so
 * is an id; what is mostly near another number is kept as its difference from that, which is short. */
#include "store/timeline_values.h"

#include "store/values.h"

static int64_t id_value(uint32_t id)
{
    return id == WEIR_NONE ? PACKED_NULL : (int64_t)id;
}

/* An id that is kept as the difference from another. */
static int64_t id_from_value(uint32_t id, size_t from)
{
    return id == WEIR_NONE ? PACKED_NULL : (int64_t)id - (int64_t)from;
}

static uint32_t value_id(int64_t value)
{
    return value == PACKED_NULL ? WEIR_NONE : id_of(value);
}

/* a - b; what has no such difference is damaged, and becomes what no time can be. */
static int64_t less(int64_t a, int64_t b)
{
    int64_t difference;

    return __builtin_sub_overflow(a, b, &difference) ? INT64_MIN : difference;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MIN : sum;
}

static uint32_t value_id_from(int64_t value, size_t from)
{
    return value == PACKED_NULL ? WEIR_NONE : id_of(plus(value, (int64_t)from));
}

/* ---- spans: start, waited, length, more, how, blocker, start_order ---- */

static void get_span(const struct run *run, size_t row, unsigned i, timeline_values values)
{
    const struct timeline_span *span = &run->timeline->spans[row];
    bool has_started = span->start_ns != -1;
    bool has_finished = has_started && span->finish_ns != -1;
    int64_t length_ns = has_finished ? span->finish_ns - span->start_ns : 0;

    values[0][i] = has_started ? span->start_ns : PACKED_NULL;
    values[1][i] = (has_started ? span->start_ns : 0) - span->ready_ns;
    values[2][i] = has_finished ? length_ns : PACKED_NULL;
    values[3][i] = span->isolated_ns == -1 ? PACKED_NULL : length_ns - span->isolated_ns;
    values[4][i] = span->cause + 16 * span->source;
    values[5][i] = id_from_value(span->blocker.index, row);
    values[6][i] = id_from_value(span->order, row);
}

static enum weir_status take_span(struct timeline *timeline, size_t row, unsigned i,
                                  timeline_values values, struct weir_error *err)
{
    bool has_started = values[0][i] != PACKED_NULL, has_finished = values[2][i] != PACKED_NULL;
    int64_t start_ns = has_started ? values[0][i] : 0;
    int64_t length_ns = has_finished ? values[2][i] : 0;
    int64_t how = values[4][i];

    if (row >= timeline->n_nodes) {
        return weir_error_set(err, WEIR_STORE, "a span is of node %zu, which the graph has not",
                              row);
    }
    timeline->spans[row] = (struct timeline_span){
        .ready_ns = less(start_ns, values[1][i]),
        .start_ns = has_started ? start_ns : -1,
        .finish_ns = has_finished ? plus(start_ns, length_ns) : -1,
        .isolated_ns = values[3][i] == PACKED_NULL ? -1 : less(length_ns, values[3][i]),
        .blocker = {value_id_from(values[5][i], row)},
        .order = value_id_from(values[6][i], row),
        .cause = (uint8_t)(how & 15),
        .source = how >= 0 && how < 256 ? (uint8_t)(how >> 4) : UINT8_MAX,
    };
    return WEIR_OK;
}

/* ---- waits: node_id, cause, blocker, object, from, length ---- */

static void get_wait(const struct run *run, size_t row, unsigned i, timeline_values values)
{
    const struct timeline_wait *wait = &run->timeline->waits[row];

    values[0][i] = wait->node.index;
    values[1][i] = (int64_t)wait->cause;
    values[2][i] = id_value(wait->blocker.index);
    values[3][i] = id_value(wait->object.index);
    values[4][i] = wait->from_ns;
    values[5][i] = wait->to_ns - wait->from_ns;
}

static enum weir_status take_wait(struct timeline *timeline, size_t row, unsigned i,
                                  timeline_values values, struct weir_error *err)
{
    struct timeline_wait wait = {
        .node = {id_of(values[0][i])},
        .cause = (enum wait_cause)id_of(values[1][i]),
        .blocker = {value_id(values[2][i])},
        .object = {value_id(values[3][i])},
        .from_ns = values[4][i],
        .to_ns = plus(values[4][i], values[5][i]),
    };

    (void)row;
    return timeline_add_wait(timeline, &wait, err);
}

/* ---- pressures: domain, t, bytes ---- */

static void get_pressure(const struct run *run, size_t row, unsigned i, timeline_values values)
{
    const struct timeline_pressure *pressure = &run->timeline->pressures[row];

    values[0][i] = pressure->domain.index;
    values[1][i] = pressure->t_ns;
    values[2][i] = pressure->bytes;
}

static enum weir_status take_pressure(struct timeline *timeline, size_t row, unsigned i,
                                      timeline_values values, struct weir_error *err)
{
    struct timeline_pressure pressure = {
        .domain = {id_of(values[0][i])},
        .t_ns = values[1][i],
        .bytes = values[2][i],
    };

    (void)row;
    if (pressure.domain.index >= timeline->n_domains)
        return weir_error_set(err, WEIR_STORE, "a pressure is of a domain that the graph has not");
    return timeline_add_pressure(timeline, &pressure, err);
}

/* ---- holds: domain, object, node_id, bytes, acquire, length, is_staging ---- */

/* Bytes without an object are the node's workspace or its staging: staging when they are as many as
 * its statement says and its workspace there is not, or when they outlive the node. */
static bool is_staging(const struct run *run, const struct timeline_hold *hold)
{
    struct graph_node node;
    bool is_workspace = false;

    if (weir_is(hold->object) || !weir_is(hold->node))
        return false;
    graph_node(run->graph, hold->node, &node);
    if (node.staging.bytes != hold->bytes ||
        !weir_same(graph_charge_domain(run->graph, hold->node, &node.staging), hold->domain))
        return false;
    for (uint32_t i = 0; i < node.n_workspace; i++) {
        weir_domain domain = graph_charge_domain(run->graph, hold->node, &node.workspace[i]);

        if (weir_same(domain, hold->domain) && node.workspace[i].bytes == hold->bytes)
            is_workspace = true;
    }
    return !is_workspace || hold->release_ns != run->timeline->spans[hold->node.index].finish_ns;
}

static void get_hold(const struct run *run, size_t row, unsigned i, timeline_values values)
{
    const struct timeline_hold *hold = &run->timeline->holds[row];

    values[0][i] = hold->domain.index;
    values[1][i] = id_value(hold->object.index);
    values[2][i] = id_value(hold->node.index);
    values[3][i] = hold->bytes;
    values[4][i] = hold->acquire_ns;
    values[5][i] = hold->release_ns == -1 ? PACKED_NULL : hold->release_ns - hold->acquire_ns;
    values[6][i] = is_staging(run, hold) ? 1 : 0;
}

static enum weir_status take_hold(struct timeline *timeline, size_t row, unsigned i,
                                  timeline_values values, struct weir_error *err)
{
    struct timeline_hold hold = {
        .domain = {id_of(values[0][i])},
        .object = {value_id(values[1][i])},
        .node = {value_id(values[2][i])},
        .bytes = values[3][i],
        .acquire_ns = values[4][i],
        .release_ns = values[5][i] == PACKED_NULL ? -1 : plus(values[4][i], values[5][i]),
    };

    (void)row;
    return timeline_add_hold(timeline, &hold, err);
}

/* ---- induced edges: producer, consumer, domain, bytes ---- */

static void get_induced(const struct run *run, size_t row, unsigned i, timeline_values values)
{
    const struct timeline_induced *induced = &run->timeline->induced[row];

    values[0][i] = induced->producer.index;
    values[1][i] = induced->consumer.index;
    values[2][i] = induced->domain.index;
    values[3][i] = induced->bytes;
}

static enum weir_status take_induced(struct timeline *timeline, size_t row, unsigned i,
                                     timeline_values values, struct weir_error *err)
{
    struct timeline_induced induced = {
        .producer = {id_of(values[0][i])},
        .consumer = {id_of(values[1][i])},
        .domain = {id_of(values[2][i])},
        .bytes = values[3][i],
    };

    (void)row;
    return timeline_add_induced(timeline, &induced, err);
}

/* ---- the lists ---- */

static size_t n_spans(const struct timeline *timeline)
{
    return timeline->n_nodes;
}

static size_t n_waits(const struct timeline *timeline)
{
    return timeline->n_waits;
}

static size_t n_pressures(const struct timeline *timeline)
{
    return timeline->n_pressures;
}

static size_t n_holds(const struct timeline *timeline)
{
    return timeline->n_holds;
}

static size_t n_induced(const struct timeline *timeline)
{
    return timeline->n_induced;
}

/* The columns of a table of blocks as weir_rows gives them, for that many fields. */
#define COLUMNS_3 "c0, c1, c2, c3, c4, c5, c6, c7"
#define COLUMNS_4 COLUMNS_3 ", c8, c9"
#define COLUMNS_6 COLUMNS_4 ", c10, c11, c12, c13"
#define COLUMNS_7 COLUMNS_6 ", c14, c15"
#define INSERT(table, columns) "INSERT INTO " table " SELECT " columns " FROM weir_rows"
#define SELECT(table) \
    "SELECT * FROM " table " WHERE key >= ?1 << 32 AND key < (?1 + 1) << 32 ORDER BY key"

const struct timeline_list timeline_lists[TIMELINE_LISTS] = {
    {INSERT("span_block", COLUMNS_7),
     SELECT("span_block"),
     7,
     {true, false, true, true, false, true, true},
     n_spans,
     get_span,
     take_span},
    {INSERT("wait_block", COLUMNS_6),
     SELECT("wait_block"),
     6,
     {false, false, true, true, false, false},
     n_waits,
     get_wait,
     take_wait},
    {INSERT("pressure_block", COLUMNS_3),
     SELECT("pressure_block"),
     3,
     {false, false, false},
     n_pressures,
     get_pressure,
     take_pressure},
    {INSERT("hold_block", COLUMNS_7),
     SELECT("hold_block"),
     7,
     {false, true, true, false, false, true, false},
     n_holds,
     get_hold,
     take_hold},
    {INSERT("induced_block", COLUMNS_4),
     SELECT("induced_block"),
     4,
     {false, false, false, false},
     n_induced,
     get_induced,
     take_induced},
};
