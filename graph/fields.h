/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statements of the text form as tables: which fields each takes, of what form, where in the
 * statement's value they are kept, and which value is that of a field that is not written. The
 * reader and the writer both go by them, so that what one writes the other reads. */
#ifndef WEIR_GRAPH_FIELDS_H
#define WEIR_GRAPH_FIELDS_H

#include <stddef.h>

#include "graph/graph.h"

/* In groups, whose order the reader and the writer go by. */
enum field_form {
    /* Whole numbers, kept as int64_t. */
    FORM_SIZE,
    FORM_TIME,
    FORM_RATE,
    FORM_FLOPS,
    FORM_INTEGER,
    /* Decimal numbers, kept as double. */
    FORM_FACTOR, /* above 0 */
    FORM_NUMBER,
    FORM_CONFIDENCE, /* 0 to 1 */
    /* Names of what other statements define, kept as ids. */
    FORM_DOMAIN,
    FORM_ENGINE,
    FORM_OBJECT,
    FORM_NODE,
    FORM_GUARD,
    /* One of a few words, kept as an enum or as a bool. */
    FORM_ENUM,
    FORM_CHOICE,
    /* Any name or text, kept as an id. */
    FORM_CLASS, /* made when it is new */
    FORM_TEXT,
    /* A word without a value: keeps true, or the least value in an enum. */
    FORM_FLAG,
    FORM_FLAG_OF,
    /* Several members of the value, or a list. */
    FORM_EVIDENCE,
    FORM_DURATION,
    FORM_READS,
    FORM_WRITES,
    FORM_PLACEMENTS,
    FORM_WORKSPACE,
    FORM_STAGING,
    FORM_USES,
    FORM_ALIAS,
    FORM_PLACE,
    FORM_FALLBACK
};

struct field {
    const char *name; /* before the `=`; of a field known by its position: what it is called */
    unsigned name_length;
    const char *member; /* of the statement's value: its key in JSON, with its unit */
    enum field_form form;
    bool is_positional, is_required;
    size_t offset;            /* in the statement's value */
    int64_t least;            /* of a whole number; of FORM_FLAG_OF: what it stands for */
    int64_t absent;           /* a whole number or word that is not written */
    const char *const *words; /* by value, "" where there is none; NULL after the last */
};

enum statement_kind {
    STATEMENT_NODE,
    STATEMENT_EDGE,
    STATEMENT_OBJECT,
    STATEMENT_DOMAIN,
    STATEMENT_ENGINE,
    STATEMENT_RESOURCE,
    STATEMENT_GUARD,
    STATEMENT_KAPPA,
    STATEMENT_OVERLAP,
    STATEMENT_PARAM,
    STATEMENT_GRAPH,
    STATEMENT_KINDS
};

/* What the `graph` statement says. */
struct graph_head {
    weir_text name;
    enum graph_scope scope;
    bool is_implied;
    struct graph_evidence evidence;
};

/* The value of any statement. */
union statement_value {
    struct graph_node node;
    struct graph_edge edge;
    struct graph_object object;
    struct graph_domain domain;
    struct graph_engine engine;
    struct graph_resource resource;
    struct graph_guard guard;
    struct graph_kappa kappa;
    struct graph_overlap overlap;
    struct graph_param param;
    struct graph_head head;
};

struct statement {
    const char *word;
    unsigned word_length;
    bool has_required; /* fields that are not known by their position */
    bool is_named;     /* the first word behind is its name, which other statements use */
    size_t value_size; /* of its member of the union */
    const void *blank; /* its value without any field */
    const struct field *fields;
    unsigned n_fields; /* in the order of the canonical form, at most 64 */
};

extern const struct statement statements[STATEMENT_KINDS];

/* The words of enums, by value; "" for a value that is said by writing nothing. */
extern const char *const node_kind_words[];
extern const char *const edge_type_words[];
extern const char *const scope_words[];
extern const char *const rule_words[];
extern const char *const evidence_words[];
extern const char *const distribution_words[];

#endif
