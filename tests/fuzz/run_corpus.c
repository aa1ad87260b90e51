/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a fuzz target without a fuzzer, over every file of its corpus and every beginning of each,
 * and prints TAP: what fuzzing once found is tried in every check.
 * usage: PROGRAM [FILE]...      (default: $WEIR_SOURCE/tests/fuzz/corpus/CORPUS) */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LONGEST ((size_t)1 << 20)

/* In a block of its own, so that a sanitizer sees a step past its end. */
static void try_bytes(const uint8_t *data, size_t n)
{
    uint8_t *copy = malloc(n + 1);

    if (copy == NULL)
        abort();
    memcpy(copy, data, n);
    (void)LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void try_beginnings(const uint8_t *data, size_t size)
{
    for (size_t n = 0; n < size; n += size / 2000 + 1)
        try_bytes(data, n);
    try_bytes(data, size);
}

static int try_file(const char *path, int number)
{
    static uint8_t data[LONGEST];
    FILE *file = fopen(path, "rb");
    const char *name = strrchr(path, '/');
    size_t size;

    if (file == NULL) {
        printf("not ok %d - %s: %s\n", number, path, strerror(errno));
        return 1;
    }
    size = fread(data, 1, sizeof data, file);
    (void)fclose(file);
    try_beginnings(data, size);
    printf("ok %d - %s, %zu bytes\n", number, name == NULL ? path : name + 1, size);
    return 0;
}

static int is_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int try_folder(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_file, alphasort), n_failed = 0;
    char path[4096 + 300];

    if (n <= 0) {
        printf("1..1\nnot ok 1 - %s holds no file\n", folder);
        return 1;
    }
    printf("1..%d\n", n);
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        n_failed += try_file(path, i + 1);
        (void)fflush(stdout);
        free(entries[i]);
    }
    free(entries);
    return n_failed;
}

int main(int argc, char **argv)
{
    const char *source = getenv("WEIR_SOURCE");
    char folder[4096];
    int n_failed = 0;

    if (argc > 1) {
        printf("1..%d\n", argc - 1);
        for (int i = 1; i < argc; i++)
            n_failed += try_file(argv[i], i);
    } else {
        (void)snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/" CORPUS,
                       source == NULL ? "." : source);
        n_failed = try_folder(folder);
    }
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
