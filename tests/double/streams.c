/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams as lists of what is left to do: what the device does with them in virtual time and in real
 * time. Whoever has threads holds a lock around these. */
#include <stdlib.h>

#include "tests/double/double.h"

static struct {
    double_stream *first;
    uint32_t n_made;
    int64_t n_commands; /* of all */
} state;

double_stream *streams_first(void)
{
    return state.first;
}

double_stream *streams_add(void)
{
    double_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL) {
        abort();
    }
    stream->number = ++state.n_made + 6; /* as CUPTI numbers them */
    stream->next = state.first;
    state.first = stream;
    return stream;
}

void streams_remove(double_stream *stream)
{
    double_stream **at = &state.first;

    while (*at != stream) {
        at = &(*at)->next;
    }
    *at = stream->next;
    free(stream);
}

bool streams_are_idle(const double_stream *stream)
{
    if (stream != NULL) {
        return stream->first == NULL;
    }
    for (stream = state.first; stream != NULL; stream = stream->next) {
        if (stream->first != NULL) {
            return false;
        }
    }
    return true;
}

/* ---- commands ---- */

void stream_push(double_stream *stream, const struct double_command *command)
{
    struct double_command *kept = malloc(sizeof *kept);

    if (kept == NULL) {
        abort();
    }
    *kept = *command;
    kept->stream = stream;
    kept->next = NULL;
    kept->start_ns = -1;
    kept->called_ns = double_now_ns();
    if (stream->last == NULL) {
        stream->first = kept;
    } else {
        stream->last->next = kept;
    }
    stream->last = kept;
    stream->n_commands++;
    state.n_commands++;
}

void stream_pop(double_stream *stream)
{
    struct double_command *command = stream->first;

    stream->first = command->next;
    if (stream->first == NULL) {
        stream->last = NULL;
    }
    stream->n_commands--;
    state.n_commands--;
    free(command);
}

bool stream_is_full(const double_stream *stream)
{
    return (double_config.depth > 0 && stream->n_commands >= double_config.depth) ||
           (double_config.room > 0 && state.n_commands >= double_config.room);
}

void double_wait_for_others(double_stream *stream)
{
    for (double_stream *other = state.first; other != NULL; other = other->next) {
        double_event *event = other == stream ? NULL : calloc(1, sizeof *event); /* stays */
        struct double_command command = {.kind = DOUBLE_RECORD, .event = event, .generation = 1};

        if (event == NULL) {
            continue;
        }
        event->n_recorded = 1;
        double_append(other, &command);
        command.kind = DOUBLE_WAIT_EVENT;
        double_append(stream, &command);
    }
}
