/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reader of the text form while it reads. A file is gone through twice: first the names that
 * its statements define get their ids, then every statement is read, so that it may refer to what
 * stands further down and a name that nothing defines is told where it is used. */
#ifndef WEIR_GRAPH_READ_INTERNAL_H
#define WEIR_GRAPH_READ_INTERNAL_H

#include "graph/fields.h"
#include "graph/graph_internal.h"
#include "graph/report.h"
#include "graph/token.h"

/* For each row, the line of this file that states it; 0 when none does. */
struct lines {
    uint32_t *of;
    size_t room;
    uint32_t next; /* the row that the next statement probably is */
};

#define LINES_BETWEEN 65536 /* two looks at how far reading is */
#define DECLARING_PART 0.25 /* of the time goes into names, the rest into statements */

struct reader {
    struct graph *graph;
    struct report *report;
    struct weir_error *err;
    enum weir_status status; /* WEIR_OK until memory or numbers run out; then reading stops */
    const char *file;

    const char *text, *line_end; /* of the line */
    const char *end;             /* of the whole text */
    uint32_t line;
    uint32_t n_faults; /* in this file */
    bool has_version;
    bool is_hopeless;   /* this is no graph file: the rest is not looked at */
    uint32_t head_line; /* of the `graph` statement; 0 before it */

    uint32_t n_before[STATEMENT_KINDS]; /* rows that were there before this file */
    struct lines lines[STATEMENT_KINDS];
    uint32_t last[STATEMENT_KINDS]; /* name referred to last, single jumps not counted */
    bool has_jumped[STATEMENT_KINDS];
    /* Of facts about pairs and of edges; NULL until needed. The first row of each key that this file
     * has not stated, or the last that it has; and behind each row the next of its key. */
    struct keys *keys[STATEMENT_KINDS];
    uint32_t *same[STATEMENT_KINDS];

    struct span evidence_word; /* read last, and what it says; length 0 before the first */
    struct graph_evidence evidence;

    /* Items of the statement being read. */
    char *scratch; /* as long as the longest line */
    struct graph_access *reads;
    weir_object *writes;
    weir_domain *placements;
    struct graph_charge *workspace;
    struct graph_demand *uses;
    int64_t *times;
    uint32_t *used_on; /* by resource: the line that used it last */
    size_t used_on_room, scratch_room, reads_room, writes_room, placements_room, workspace_room,
        uses_room, times_room;
};

/** Reports a fault at a place of the line being read. Returns false, so that
 *  `return read_fault(...)` is one statement. */
PRINTF_LIKE(4, 5)
bool read_fault(struct reader *reader, enum finding_code code, const char *where,
                const char *format, ...);
/** Reports what is wrong with a word. Returns false. */
bool read_token_fault(struct reader *reader, enum token_fault fault, const char *where);
/** Ends reading unless the status is WEIR_OK; the error is set. */
bool read_keep(struct reader *reader, enum weir_status status);

/* A piece of input as a message shows it: without control characters, and not too long. */
struct shown {
    char text[96];
};
/** @return shown->text */
const char *read_shown(struct shown *shown, const char *text, size_t length);

/** Reads a field's value (what stands behind the `=`, or the whole word of a positional field) into
 *  the statement's value. False when a fault was reported or reading ends. Lists stay in the reader
 *  until the next statement. */
bool read_value(struct reader *reader, const struct field *field, const struct span *word,
                union statement_value *value);
bool read_list_value(struct reader *reader, const struct field *field, const struct span *word,
                     union statement_value *value);

/* Pieces of read_value. */

/** The next item of the word. */
bool read_item(struct reader *reader, const char **at, const struct span *word, const char *stops,
               struct item *item);
/** The word as one item. */
bool read_only_item(struct reader *reader, const struct span *word, struct item *item);
/** A whole number of the form, at least @p least. */
bool read_quantity(struct reader *reader, const struct field *field, enum field_form form,
                   const struct item *item, int64_t least, int64_t *out);
/** The row that has the name; a fault when there is none. */
bool read_reference(struct reader *reader, enum statement_kind kind, const struct item *item,
                    uint32_t *id);
/** The place of the item in the words; a fault when it is none of them. */
bool read_word(struct reader *reader, const struct field *field, const char *const *words,
               const struct item *item, int *out);

/* A statement at work: its value begins as what is there already (nothing, for what is new), each
 * field written replaces its own, and the whole is kept when no word of the line was at fault. */
struct state {
    enum statement_kind kind;
    const struct statement *statement;
    const char *at;    /* behind the words read so far */
    const char *start; /* behind the word that says which statement it is, and its name */
    uint32_t row;      /* WEIR_NONE when it is new or a duplicate */
    bool is_new;       /* so that required fields are required */
    unsigned next_field;
    union statement_value value;
};

/** Makes the value that of a statement without any field. */
void read_begin_blank(struct state *state);
/** Makes the value that of the row which is there. */
void read_load_row(const struct graph *graph, struct state *state);
MUST_CHECK enum weir_status read_keep_row(struct graph *graph, const struct state *state,
                                          struct weir_error *err);
/** Reads all words behind the name into the value. False when one was at fault. */
bool read_words(struct reader *reader, struct state *state);
/** Reads and keeps a statement that has no name. */
void read_keyed(struct reader *reader, struct state *state);

/** Gives ids to the names that the statements of the text define. */
void read_declare(struct reader *reader, const char *text, size_t length);
/** Makes the scratch as long as the line. */
bool read_need_scratch(struct reader *reader);
/** Moves to the next line of [*at, end). False at the end. */
bool read_next_line(struct reader *reader, const char **at, const char *end);
/** The kind of statement that begins with the word; STATEMENT_KINDS when there is none. */
enum statement_kind read_statement_kind(struct span word);
/** Reads what follows the first word of a statement, and keeps it in the graph. */
void read_statement(struct reader *reader, enum statement_kind kind, const char *at);

/** Of a kind of statement that has names: its rows by name, how many there are, and the name of
 *  one. */
const struct name_index *graph_name_index(const struct graph *graph, enum statement_kind kind);
uint32_t graph_count(const struct graph *graph, enum statement_kind kind);
weir_text graph_row_name(const struct graph *graph, enum statement_kind kind, uint32_t row);

/** The name of a row of that kind that is most like the text; none when none is like it. */
weir_text nearest_name(const struct graph *graph, enum statement_kind kind, const char *text,
                       size_t length);
/** The word of the list (NULL after the last) that is most like the text; NULL when none is. */
const char *nearest_word(const char *const *words, const char *text, size_t length);

/** Where the graph's statements stand, for the findings about them. */
struct statement_places {
    const char *file; /* NULL: unknown, as are the others */
    const char *text;
    size_t length;
    const struct lines *lines;
};

enum check_part {
    CHECK_GRAPH, /* what no machine file can mend */
    CHECK_ALL
};

/** graph_check_statements, in part, with the places of the statements. */
void statements_check(const struct graph *graph, struct report *report, enum check_part part,
                      const struct statement_places *places);

#endif
