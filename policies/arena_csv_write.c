/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing buffers with their offsets, so that they can be read again. */
#include "policies/arena_csv.h"

#include <inttypes.h>

/* The id as it is, for programs that look for it: nothing is put in front of what a spreadsheet would
 * take for a formula, as quote_csv does. */
static void write_id(const char *id, FILE *file)
{
    if (strpbrk(id, ",\"\r\n") == NULL) {
        fputs(id, file);
        return;
    }
    putc('"', file);
    for (const char *at = id; *at != '\0'; at++) {
        if (*at == '"') {
            putc('"', file);
        }
        putc(*at, file);
    }
    putc('"', file);
}

static void write_gaps(const struct arena_buffer *buffer, FILE *file)
{
    putc(',', file);
    for (uint32_t i = 0; i < buffer->n_gaps; i++) {
        const struct arena_gap *gap = &buffer->gaps[i];

        fprintf(file, "%s%" PRId64 "-%" PRId64, i == 0 ? "" : " ", gap->lower, gap->upper);
        if (gap->from_bytes < gap->to_bytes) {
            fprintf(file, "@%" PRId64 ":%" PRId64, gap->from_bytes, gap->to_bytes);
        }
    }
}

void arena_csv_write(const struct arena_problem *problem, const int64_t *offsets_bytes, FILE *file)
{
    bool has_align = false, has_hint = false, has_gaps = false;

    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        has_align |= problem->buffers[i].align_bytes != 1;
        has_hint |= problem->buffers[i].hint_bytes >= 0;
        has_gaps |= problem->buffers[i].n_gaps > 0;
    }
    fprintf(file, "id,lower,upper,size%s%s%s,offset\n", has_align ? ",alignment" : "",
            has_hint ? ",hint" : "", has_gaps ? ",gaps" : "");
    for (uint32_t i = 0; i < problem->n_buffers; i++) {
        const struct arena_buffer *at = &problem->buffers[i];

        write_id(at->name, file);
        fprintf(file, ",%" PRId64 ",%" PRId64 ",%" PRId64, at->lower, at->upper, at->size_bytes);
        if (has_align) {
            fprintf(file, ",%" PRId64, at->align_bytes);
        }
        if (has_hint) {
            fprintf(file, ",%" PRId64, at->hint_bytes);
        }
        if (has_gaps) {
            write_gaps(at, file);
        }
        fprintf(file, ",%" PRId64 "\n", offsets_bytes[i]);
    }
}
