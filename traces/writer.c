/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes are gathered in a buffer, and compressed on their way to the file when it asks for that. */
#include "traces/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct packer {
    z_stream stream;
    unsigned char packed[1 << 16];
};

static void fail(struct writer *writer)
{
    writer->status = weir_error_set(
        writer->err, WEIR_STORE, "%.300s: cannot be written: %s; make room, or give another path",
        writer->output.path, strerror(errno));
}

static void write_out(struct writer *writer, const void *bytes, size_t n)
{
    if (writer->status == WEIR_OK && fwrite(bytes, 1, n, writer->output.file) != n)
        fail(writer);
}

/* Hands the buffer on. @param how Z_NO_FLUSH, or Z_FINISH at the end */
static void pack(struct writer *writer, int how)
{
    struct packer *packer = writer->packer;
    int code;

    packer->stream.next_in = (unsigned char *)writer->bytes;
    packer->stream.avail_in = (uInt)writer->used;
    do {
        packer->stream.next_out = packer->packed;
        packer->stream.avail_out = sizeof packer->packed;
        code = deflate(&packer->stream, how);
        write_out(writer, packer->packed, sizeof packer->packed - packer->stream.avail_out);
    } while (code == Z_OK && (packer->stream.avail_out == 0 || how == Z_FINISH));
}

static void flush(struct writer *writer, int how)
{
    if (writer->packer != NULL)
        pack(writer, how);
    else
        write_out(writer, writer->bytes, writer->used);
    writer->used = 0;
}

static bool ends_in(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);

    return length > tail && strcmp(text + length - tail, ending) == 0;
}

static enum weir_status begin_packing(struct writer *writer)
{
    struct packer *packer = calloc(1, sizeof *packer);

    /* 15 + 16: the largest window, and a gzip header without name or time: the same bytes each
     * time. */
    if (packer == NULL || deflateInit2(&packer->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16,
                                       8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(packer);
        return weir_error_memory(writer->err);
    }
    writer->packer = packer;
    return WEIR_OK;
}

enum weir_status writer_begin(struct writer *writer, const char *path, struct weir_error *err)
{
    enum weir_status status;

    writer->packer = NULL;
    writer->err = err;
    writer->status = WEIR_OK;
    writer->n_bytes = 0;
    writer->used = 0;
    status = output_begin(&writer->output, path, err);
    if (status == WEIR_OK && ends_in(path, ".gz")) {
        status = begin_packing(writer);
        if (status != WEIR_OK)
            status = output_end(&writer->output, status, err);
    }
    return status;
}

void writer_put(struct writer *writer, const char *bytes, size_t n)
{
    writer->n_bytes += n;
    while (n > sizeof writer->bytes - writer->used) {
        size_t part = sizeof writer->bytes - writer->used;

        memcpy(writer->bytes + writer->used, bytes, part);
        writer->used += part;
        bytes += part;
        n -= part;
        flush(writer, Z_NO_FLUSH);
    }
    memcpy(writer->bytes + writer->used, bytes, n);
    writer->used += n;
}

void writer_text(struct writer *writer, const char *text)
{
    writer_put(writer, text, strlen(text));
}

void writer_integer(struct writer *writer, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (value < 0)
        digits[--at] = '-';
    writer_put(writer, digits + at, sizeof digits - at);
}

enum weir_status writer_end(struct writer *writer, enum weir_status status)
{
    if (status == WEIR_OK)
        flush(writer, Z_FINISH);
    if (writer->packer != NULL) {
        (void)deflateEnd(&writer->packer->stream);
        free(writer->packer);
    }
    if (status == WEIR_OK)
        status = writer->status;
    return output_end(&writer->output, status, writer->err);
}
