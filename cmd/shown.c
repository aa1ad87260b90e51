/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names come from files, and can hold what a terminal acts on: no byte of that kind is printed. */
#include <stdlib.h>

#include "base/quote.h"
#include "cmd/cmd.h"

static void put_file(void *to, const char *bytes, size_t n_bytes)
{
    (void)fwrite(bytes, 1, n_bytes, to);
}

void cmd_show(FILE *to, const char *text)
{
    quote_terminal(text, put_file, to);
}

void cmd_show_lines(FILE *to, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        size_t length = (size_t)(end - text);
        char *line = malloc(length + 1);

        if (line != NULL) { /* else the line is left out */
            memcpy(line, text, length);
            line[length] = '\0';
            cmd_show(to, line);
        }
        free(line);
        putc('\n', to);
    }
    cmd_show(to, text);
}
