/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One line a row; what a value holds never ends the field or the line. */
#include "traces/csv.h"

#include "base/quote.h"

static void put(void *writer, const char *bytes, size_t n)
{
    writer_put(writer, bytes, n);
}

void csv_row(struct writer *writer, uint32_t n_values, const char *const *values)
{
    for (uint32_t i = 0; i < n_values; i++) {
        if (i > 0)
            writer_put(writer, ",", 1);
        if (values[i] == NULL)
            continue;
        if (values[i][0] == '\0')
            writer_text(writer, "\"\"");
        else
            quote_csv(values[i], put, writer);
    }
    writer_text(writer, "\n");
}
