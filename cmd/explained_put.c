/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pieces of which paragraphs about a run are made. */
#include "cmd/explained_put.h"

#include <inttypes.h>

#include "base/number.h"

void explained_put_node(const struct explained *explained, weir_node node)
{
    cmd_show(stdout, graph_node_name(explained->graph, node));
}

void explained_put_engine(const struct explained *explained, weir_engine engine)
{
    cmd_show(stdout, explained_engine(explained, engine));
}

void explained_put_time(int64_t ns)
{
    char text[NUMBER_TEXT_BYTES];

    number_time_text(ns, text);
    fputs(text, stdout);
}

void explained_put_at(int64_t ns)
{
    static const struct {
        int64_t of_ns;
        const char *name;
        int places;
    } units[] = {{1000000000, "s", 9}, {1000000, "ms", 6}, {1000, "us", 3}, {1, "ns", 0}};
    size_t unit = 0;
    char part[16];
    int length;

    while (unit < 3 && units[unit].of_ns > ns) {
        unit++;
    }
    length = snprintf(part, sizeof part, "%0*" PRId64, units[unit].places, ns % units[unit].of_ns);
    while (length > 0 && part[length - 1] == '0') {
        length--;
    }
    printf("%" PRId64 "%s%.*s %s", ns / units[unit].of_ns, length > 0 ? "." : "", length, part,
           units[unit].name);
}

void explained_put_size(int64_t bytes)
{
    char text[NUMBER_TEXT_BYTES];

    number_size_text(bytes, text);
    fputs(text, stdout);
}

void explained_begin_row(const struct explained *explained, int64_t ns)
{
    char text[NUMBER_TEXT_BYTES];
    int64_t of_ns = explained->timeline->makespan_ns;

    number_time_text(ns, text);
    printf("  %11s %5.1f %%  ", text, of_ns == 0 ? 0 : 100 * (double)ns / (double)of_ns);
}

void explained_put_causes(const int64_t by_cause_ns[STALL_CAUSES])
{
    bool is_done[STALL_CAUSES] = {false};
    const char *before = ": ";

    for (;;) {
        int most = -1;

        for (int i = 0; i < STALL_CAUSES; i++) {
            if (!is_done[i] && by_cause_ns[i] > 0 &&
                (most < 0 || by_cause_ns[i] > by_cause_ns[most])) {
                most = i;
            }
        }
        if (most < 0) {
            return;
        }
        is_done[most] = true;
        printf("%s%s ", before, stall_cause_name((enum stall_cause)most));
        explained_put_time(by_cause_ns[most]);
        before = ", ";
    }
}
