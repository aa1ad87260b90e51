/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables as CSV: quoted as RFC 4180 says, a line feed at the end of each row. */
#ifndef WEIR_TRACES_CSV_H
#define WEIR_TRACES_CSV_H

#include "traces/writer.h"

/** Writes one line. @param values NULL stands for no value, an empty field; a text that is empty is
 *  an empty field in quotes */
void csv_row(struct writer *writer, uint32_t n_values, const char *const *values);

#endif
