/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of fields.h. Order within a table is the order of the canonical form. */
#include "graph/fields.h"

#include <assert.h>

static const char *const implied_words[] = {"none", "all", NULL};
static const char *const from_words[] = {"finish", "start", NULL};
static const char *const guard_words[] = {"off", "on", NULL};

static_assert(sizeof(enum node_kind) == sizeof(int), "enums are kept through an int");
static_assert(sizeof(enum edge_type) == sizeof(int), "enums are kept through an int");
static_assert(sizeof(enum purity) == sizeof(int), "enums are kept through an int");
static_assert(sizeof(enum graph_scope) == sizeof(int), "enums are kept through an int");
static_assert(sizeof(enum overlap_rule) == sizeof(int), "enums are kept through an int");

#define NAME(name_) .name = name_, .name_length = sizeof name_ - 1
#define AT(type, member_) .offset = offsetof(struct type, member_), .member = #member_
/* A whole number that is not written when it is @p none. */
#define NUMBER(name_, form_, type, member, least_, none)                              \
    {                                                                                 \
        NAME(name_), .form = form_, AT(type, member), .least = least_, .absent = none \
    }
#define OTHER(name_, form_, type, member)            \
    {                                                \
        NAME(name_), .form = form_, AT(type, member) \
    }
#define WORDS(name_, form_, type, member, words_, none)                               \
    {                                                                                 \
        NAME(name_), .form = form_, AT(type, member), .absent = none, .words = words_ \
    }
#define EVIDENCE(type)                                \
    OTHER("evidence", FORM_EVIDENCE, type, evidence), \
        OTHER("confidence", FORM_CONFIDENCE, type, evidence.confidence)
/* By position, and so always there. */
#define FIRST(name_, form_, type, member)                                                        \
    {                                                                                            \
        NAME(name_), .form = form_, .is_positional = true, .is_required = true, AT(type, member) \
    }
#define FIRST_WORD(name_, form_, type, member, words_)                                            \
    {                                                                                             \
        NAME(name_), .form = form_, .is_positional = true, .is_required = true, AT(type, member), \
                     .absent = -1, .words = words_                                                \
    }
#define REQUIRED(name_, form_, type, member, least_)                                        \
    {                                                                                       \
        NAME(name_), .form = form_, .is_required = true, AT(type, member), .least = least_, \
                     .absent = -1                                                           \
    }

static const struct field head_fields[] = {
    FIRST("name", FORM_TEXT, graph_head, name),
    WORDS("scope", FORM_ENUM, graph_head, scope, scope_words, SCOPE_NONE),
    WORDS("implied", FORM_CHOICE, graph_head, is_implied, implied_words, true),
    EVIDENCE(graph_head),
};

static const struct field domain_fields[] = {
    FIRST("name", FORM_TEXT, graph_domain, name),
    REQUIRED("capacity", FORM_SIZE, graph_domain, capacity_bytes, 1),
    NUMBER("reserve", FORM_SIZE, graph_domain, reserve_bytes, 0, 0),
    NUMBER("granule", FORM_SIZE, graph_domain, granule_bytes, 1, 0),
    EVIDENCE(graph_domain),
};

static const struct field engine_fields[] = {
    FIRST("name", FORM_TEXT, graph_engine, name),
    NUMBER("slots", FORM_INTEGER, graph_engine, slots, 1, 1),
    OTHER("domain", FORM_DOMAIN, graph_engine, domain),
    NUMBER("bandwidth", FORM_RATE, graph_engine, bandwidth_bytes_per_s, 1, 0),
    NUMBER("latency", FORM_TIME, graph_engine, latency_ns, 0, 0),
    OTHER("from", FORM_DOMAIN, graph_engine, from),
    OTHER("to", FORM_DOMAIN, graph_engine, to),
    NUMBER("flops", FORM_FLOPS, graph_engine, flops_per_s, 1, 0),
    EVIDENCE(graph_engine),
};

static const struct field resource_fields[] = {
    FIRST("name", FORM_TEXT, graph_resource, name),
    REQUIRED("capacity", FORM_RATE, graph_resource, capacity_per_s, 1),
    EVIDENCE(graph_resource),
};

static const struct field kappa_fields[] = {
    FIRST("class", FORM_CLASS, graph_kappa, slowed),
    FIRST("class", FORM_CLASS, graph_kappa, beside),
    FIRST("factor", FORM_FACTOR, graph_kappa, factor),
    EVIDENCE(graph_kappa),
};

static const struct field overlap_fields[] = {
    FIRST("node or class", FORM_TEXT, graph_overlap, a),
    FIRST("node or class", FORM_TEXT, graph_overlap, b),
    FIRST_WORD("rule", FORM_ENUM, graph_overlap, rule, rule_words),
    OTHER("proof", FORM_TEXT, graph_overlap, proof),
    NUMBER("earliest", FORM_TIME, graph_overlap, earliest_ns, 0, -1),
    NUMBER("latest", FORM_TIME, graph_overlap, latest_ns, 0, -1),
    EVIDENCE(graph_overlap),
};

static const struct field param_fields[] = {
    FIRST("family", FORM_TEXT, graph_param, family),
    FIRST("name", FORM_TEXT, graph_param, name),
    FIRST("value", FORM_NUMBER, graph_param, value),
    EVIDENCE(graph_param),
};

static const struct field guard_fields[] = {
    FIRST("name", FORM_TEXT, graph_guard, name),
    FIRST_WORD("state", FORM_CHOICE, graph_guard, is_on, guard_words),
    EVIDENCE(graph_guard),
};

static const struct field object_fields[] = {
    FIRST("name", FORM_TEXT, graph_object, name),
    REQUIRED("size", FORM_SIZE, graph_object, size_bytes, 0),
    OTHER("domain", FORM_DOMAIN, graph_object, domain),
    NUMBER("align", FORM_SIZE, graph_object, align_bytes, 1, 0),
    OTHER("placements", FORM_PLACEMENTS, graph_object, placements),
    OTHER("alias", FORM_ALIAS, graph_object, alias_of),
    OTHER("initial", FORM_FLAG, graph_object, is_initial),
    OTHER("retained", FORM_FLAG, graph_object, is_retained),
    NUMBER("ready", FORM_TIME, graph_object, ready_ns, 0, 0),
    OTHER("offloadable", FORM_FLAG, graph_object, is_offloadable),
    OTHER("recompute", FORM_NODE, graph_object, recompute),
    OTHER("offset", FORM_PLACE, graph_object, planned_offset_bytes),
    OTHER("origin", FORM_TEXT, graph_object, origin),
    EVIDENCE(graph_object),
};

static const struct field node_fields[] = {
    FIRST("name", FORM_TEXT, graph_node, name),
    FIRST_WORD("kind", FORM_ENUM, graph_node, kind, node_kind_words),
    OTHER("engine", FORM_ENGINE, graph_node, engine),
    OTHER("duration", FORM_DURATION, graph_node, duration),
    NUMBER("bytes", FORM_SIZE, graph_node, bytes, 0, -1),
    OTHER("reads", FORM_READS, graph_node, reads),
    OTHER("writes", FORM_WRITES, graph_node, writes),
    OTHER("object", FORM_OBJECT, graph_node, object),
    OTHER("from", FORM_DOMAIN, graph_node, from),
    OTHER("to", FORM_DOMAIN, graph_node, to),
    OTHER("domain", FORM_DOMAIN, graph_node, domain),
    OTHER("workspace", FORM_WORKSPACE, graph_node, workspace),
    OTHER("staging", FORM_STAGING, graph_node, staging),
    OTHER("uses", FORM_USES, graph_node, uses),
    OTHER("class", FORM_CLASS, graph_node, class_given),
    NUMBER("priority", FORM_INTEGER, graph_node, priority, INT64_MIN, 0),
    NUMBER("release", FORM_TIME, graph_node, release_ns, 0, 0),
    NUMBER("deadline", FORM_TIME, graph_node, deadline_ns, 0, -1),
    OTHER("guard", FORM_GUARD, graph_node, guard),
    NUMBER("pure", FORM_FLAG_OF, graph_node, purity, PURITY_PURE, PURITY_UNSAID),
    NUMBER("impure", FORM_FLAG_OF, graph_node, purity, PURITY_IMPURE, PURITY_UNSAID),
    OTHER("speculative", FORM_FLAG, graph_node, is_speculative),
    OTHER("group", FORM_TEXT, graph_node, group),
    OTHER("fallback", FORM_FALLBACK, graph_node, fallback),
    OTHER("origin", FORM_TEXT, graph_node, origin),
    EVIDENCE(graph_node),
};

static const struct field edge_fields[] = {
    FIRST("producer", FORM_NODE, graph_edge, producer),
    FIRST("consumer", FORM_NODE, graph_edge, consumer),
    FIRST_WORD("type", FORM_ENUM, graph_edge, type, edge_type_words),
    WORDS("from", FORM_CHOICE, graph_edge, is_from_start, from_words, false),
    OTHER("object", FORM_OBJECT, graph_edge, object),
    NUMBER("lag", FORM_TIME, graph_edge, lag_ns, 0, 0),
    EVIDENCE(graph_edge),
};

static const struct graph_head graph_head_default = {.is_implied = true,
                                                     .evidence = {.confidence = -1}};

#define STATEMENT(word_, name, is_named_, has_required_)                            \
    {                                                                               \
        .word = word_, .word_length = sizeof word_ - 1, .is_named = is_named_,      \
        .has_required = has_required_, .value_size = sizeof graph_##name##_default, \
        .blank = &graph_##name##_default, .fields = name##_fields,                  \
        .n_fields = sizeof name##_fields / sizeof *name##_fields                    \
    }

const struct statement statements[STATEMENT_KINDS] = {
    [STATEMENT_NODE] = STATEMENT("node", node, true, false),
    [STATEMENT_EDGE] = STATEMENT("edge", edge, false, false),
    [STATEMENT_OBJECT] = STATEMENT("object", object, true, true),
    [STATEMENT_DOMAIN] = STATEMENT("domain", domain, true, true),
    [STATEMENT_ENGINE] = STATEMENT("engine", engine, true, false),
    [STATEMENT_RESOURCE] = STATEMENT("resource", resource, true, true),
    [STATEMENT_GUARD] = STATEMENT("guard", guard, true, false),
    [STATEMENT_KAPPA] = STATEMENT("kappa", kappa, false, false),
    [STATEMENT_OVERLAP] = STATEMENT("overlap", overlap, false, false),
    [STATEMENT_PARAM] = STATEMENT("param", param, false, false),
    [STATEMENT_GRAPH] = STATEMENT("graph", head, false, false),
};
