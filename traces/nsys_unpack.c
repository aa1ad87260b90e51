/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed exports are unpacked to a file that has no name: whatever happens, nothing is left behind,
 * and memory does not grow with the file. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <stdlib.h>
#include <zstd.h>
#endif

#include "traces/nsys_internal.h"

#define CHUNK_BYTES ((size_t)256 * 1024)

enum nsys_packing nsys_packing_of(const unsigned char *head, size_t n_bytes)
{
    if (n_bytes >= 2 && head[0] == 0x1F && head[1] == 0x8B)
        return PACKED_GZIP;
    if (n_bytes >= 4 && memcmp(head, "\x28\xB5\x2F\xFD", 4) == 0)
        return PACKED_ZSTD;
    return PACKED_NOT;
}

static enum weir_status no_room(const char *path, struct weir_error *err)
{
    if (errno == ENOMEM)
        return weir_error_memory(err);
    return weir_error_set(
        err, WEIR_STORE,
        "%.200s: unpacking it to a temporary file failed: %s; make room, or unpack "
        "it yourself and import the result",
        path, strerror(errno));
}

/* Several members one after the other count as one file, as for gunzip. */
static enum weir_status unpack_gzip(int fd, const char *path, FILE *out, struct weir_error *err)
{
    static const char advice[] = "copy or export it again";
    unsigned char chunk[CHUNK_BYTES];
    int copy = dup(fd); /* gzclose closes what it was given */
    gzFile file = copy < 0 ? NULL : gzdopen(copy, "rb");
    enum weir_status status = WEIR_OK;
    int n, fault = Z_OK;

    if (file == NULL) {
        if (copy >= 0)
            (void)close(copy);
        return weir_error_memory(err);
    }
    while ((n = gzread(file, chunk, sizeof chunk)) > 0) {
        if (fwrite(chunk, 1, (size_t)n, out) != (size_t)n) {
            status = no_room(path, err);
            break;
        }
    }
    if (status == WEIR_OK && n <= 0) {
        const char *text = gzerror(file, &fault);
        if (strncmp(text, "<fd:", 4) == 0 && strstr(text, ": ") != NULL)
            text = strstr(text, ": ") + 2; /* it has no better name for the file */
        if (fault == Z_MEM_ERROR)
            status = weir_error_memory(err);
        else if (fault == Z_BUF_ERROR)
            status = weir_error_set(err, WEIR_INPUT, "%.200s: the gzip file ends too early; %s",
                                    path, advice);
        else if (n < 0)
            status = weir_error_set(err, WEIR_INPUT, "%.200s: damaged gzip file (%.100s); %s", path,
                                    fault == Z_ERRNO ? strerror(errno) : text, advice);
    }
    (void)gzclose_r(file);
    return status;
}

#ifdef HAVE_ZSTD
static enum weir_status unpack_zstd_from(int fd, const char *path, FILE *out, ZSTD_DStream *stream,
                                         unsigned char *chunks, struct weir_error *err)
{
    size_t pending = 0; /* 0 after a whole frame */
    ssize_t n;

    while ((n = read(fd, chunks, CHUNK_BYTES)) > 0) {
        ZSTD_inBuffer in = {chunks, (size_t)n, 0};

        while (in.pos < in.size) {
            ZSTD_outBuffer to = {chunks + CHUNK_BYTES, CHUNK_BYTES, 0};

            pending = ZSTD_decompressStream(stream, &to, &in);
            if (ZSTD_isError(pending))
                return weir_error_set(err, WEIR_INPUT,
                                      "%.200s: damaged zstd file (%s); copy or export it again",
                                      path, ZSTD_getErrorName(pending));
            if (fwrite(to.dst, 1, to.pos, out) != to.pos)
                return no_room(path, err);
        }
    }
    if (n < 0)
        return weir_error_set(
            err, WEIR_INPUT,
            "%.200s: cannot be read: %s; give the path of a profile that you may read", path,
            strerror(errno));
    if (pending != 0)
        return weir_error_set(
            err, WEIR_INPUT, "%.200s: the zstd file ends too early; copy or export it again", path);
    return WEIR_OK;
}

static enum weir_status unpack_zstd(int fd, const char *path, FILE *out, struct weir_error *err)
{
    ZSTD_DStream *stream = ZSTD_createDStream();
    unsigned char *chunks = malloc(2 * CHUNK_BYTES);
    enum weir_status status;

    if (stream == NULL || chunks == NULL)
        status = weir_error_memory(err);
    else
        status = unpack_zstd_from(fd, path, out, stream, chunks, err);
    (void)ZSTD_freeDStream(stream);
    free(chunks);
    return status;
}
#else
static enum weir_status unpack_zstd(int fd, const char *path, FILE *out, struct weir_error *err)
{
    (void)fd;
    (void)out;
    return weir_error_set(err, WEIR_INPUT,
                          "%.200s: packed with zstd, which this weir was built without; unpack it "
                          "with zstd -d and import the result, or build weir with libzstd "
                          "installed (Debian: libzstd-dev)",
                          path);
}
#endif

enum weir_status nsys_unpack(enum nsys_packing packing, int fd, const char *path, FILE **out,
                             struct weir_error *err)
{
    FILE *file = tmpfile();
    enum weir_status status;

    if (file == NULL)
        return no_room(path, err);
    status = packing == PACKED_GZIP ? unpack_gzip(fd, path, file, err)
                                    : unpack_zstd(fd, path, file, err);
    if (status == WEIR_OK && fflush(file) != 0)
        status = no_room(path, err);
    if (status != WEIR_OK) {
        (void)fclose(file);
        return status;
    }
    *out = file;
    return WEIR_OK;
}
