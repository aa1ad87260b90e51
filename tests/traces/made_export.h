/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small exports, made row by row with SQLite, for the tests of the importer; and questions to what
 * came of them. One process (777) and device (0), context 1, unless a row is made by SQL. Times are
 * nanoseconds. Every failure fails the test. */
#ifndef TESTS_TRACES_MADE_EXPORT_H
#define TESTS_TRACES_MADE_EXPORT_H

#include <sqlite3.h>

#include "traces/import.h"

#define PID INT64_C(777)
#define PROCESS ((INT64_C(1) << 56) | (PID << 24))
#define THREAD(n) (PROCESS + (n))
#define NO_ID INT64_C(4294967295)

/* As in ENUM_CUDA_MEM_KIND and ENUM_CUDA_MEMCPY_OPER. */
enum { PAGEABLE, PINNED, DEVICE, ARRAY, MANAGED, DEVICE_STATIC };
enum { H2D = 1, D2H = 2, D2D = 8, P2P = 10, UVM_H2D = 11, UVM_D2H = 12 };
/* Of TARGET_INFO_CUDA_STREAM. */
enum { BLOCKING = 1, NON_BLOCKING = 2, NULL_STREAM = 3 };

struct made_export {
    sqlite3 *db;
    char path[256];
};

/* A new export without rows, in a folder of this test. Tables are made with their first row. */
void made_begin(struct made_export *, const char *name);
/* Closes it, so that it can be imported. */
void made_end(struct made_export *);
void made_sql(struct made_export *, const char *sql);

void made_call(struct made_export *, int64_t start, int64_t end, int64_t thread,
               int64_t correlation, const char *name);
void made_failed_call(struct made_export *, int64_t start, int64_t end, int64_t thread,
                      int64_t correlation, const char *name);
void made_kernel(struct made_export *, int64_t start, int64_t end, int64_t stream,
                 int64_t correlation, const char *name);
void made_copy(struct made_export *, int64_t start, int64_t end, int64_t stream,
               int64_t correlation, int kind, int from, int to, int64_t bytes);
void made_set(struct made_export *, int64_t start, int64_t end, int64_t stream, int64_t correlation,
              int64_t bytes);
/* @param event NO_ID: none  @param stream NO_ID: none */
void made_sync(struct made_export *, int64_t start, int64_t end, int64_t stream,
               int64_t correlation, int64_t event);
void made_record(struct made_export *, int64_t stream, int64_t correlation, int64_t event);
void made_stream(struct made_export *, int64_t stream, int flag);
void made_memory(struct made_export *, int64_t t, bool is_free, int64_t address, int64_t bytes,
                 int kind, int64_t correlation);
void made_range(struct made_export *, int64_t start, int64_t end, int64_t thread, const char *text);

/* Imports what made_end closed; checks that the graph is legal and gives every start back. */
void made_import(struct made_export *, struct import_result *);
void made_import_window(struct made_export *, const char *window, struct import_result *);
/* Imports what must be refused with this status, by a message that holds the text. */
void made_refused(const char *path, enum weir_status status, const char *text);
/* A file in the folder of this test. */
const char *made_path(const char *name);
void made_copy_file(const char *from, const char *to);

/* Two streams, an event between them, memory, a synchronization. Times begin at `at`. Not ended. */
void made_run(struct made_export *, const char *name, int64_t at);
/* The canonical form without what names rows and the file. The caller frees it. */
char *made_form(struct made_export *, const char *window);
/* Fails with the first line that differs. */
void made_same_forms(const char *a, const char *b);

/* Questions. Names must be there. */
weir_node node_of(const struct import_result *, const char *name);
bool has_node(const struct import_result *, const char *name);
int64_t start_of(const struct import_result *, const char *name);
int64_t finish_of(const struct import_result *, const char *name);
/* "" when there is none */
const char *origin_of(const struct import_result *, const char *name);
bool has_edge(const struct import_result *, const char *from, const char *to);
/* The edge from one node to another, which must be there. */
struct graph_edge edge_of(const struct import_result *, const char *from, const char *to);
/* KIND:DETAIL of its evidence */
const char *why_of(const struct import_result *, const char *from, const char *to);
struct graph_object object_of(const struct import_result *, const char *name);
int64_t count_of(const struct import_result *, const char *section, const char *key);

#endif
