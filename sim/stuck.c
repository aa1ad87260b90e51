/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When nothing can run any more: which ready nodes wait, for how many bytes, who holds them, and
 * which unfinished nodes would have given them back. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "sim/lacking.h"

#define NODES_SHOWN 8
#define HOLDERS_SHOWN 6
#define FREERS_SHOWN 4

static const char *domain_name(const struct simulation *sim, weir_domain domain)
{
    return graph_text(sim->program->graph, graph_domain(sim->program->graph, domain)->name);
}

static bool is_unfinished(const struct simulation *sim, uint32_t node)
{
    return sim->timeline->spans[node].finish_ns < 0 &&
           (sim->program->nodes[node].flags & PROGRAM_OFF) == 0 &&
           (sim->fallbacks == NULL || sim->fallbacks[node].fate != FATE_SKIPPED);
}

/* Would any node still to run give the copy back? */
static bool comes_back(const struct simulation *sim, weir_copy copy)
{
    const struct bind_copy *bound = bind_copy(sim->program->binding, copy);

    return weir_is(bound->reclamation) ? is_unfinished(sim, bound->reclamation.index)
                                       : !bound->stays;
}

/* Bytes of a domain that no node still to run would give back. */
static int64_t held_for_good(const struct simulation *sim, weir_domain domain)
{
    int64_t bytes = 0;

    for (uint32_t i = 0; i < sim->program->n_copies; i++) {
        weir_copy copy = {i};

        if (weir_same(bind_copy(sim->program->binding, copy)->domain, domain) &&
            !comes_back(sim, copy)) {
            bytes += memory_live_bytes(sim->memory, copy);
        }
    }
    return bytes;
}

/* The unfinished nodes that a copy waits for before it is given back. */
static void print_freers(const struct simulation *sim, weir_copy copy, FILE *text)
{
    const struct bind_copy *bound = bind_copy(sim->program->binding, copy);
    uint32_t n_shown = 0;

    if (!comes_back(sim, copy)) {
        fputs(" (which nothing gives back)", text);
        return;
    }
    if (weir_is(bound->reclamation)) {
        fprintf(text, " (given back by %s, which has not run)",
                graph_node_name(sim->program->graph, bound->reclamation));
        return;
    }
    fputs(" (given back after ", text);
    for (uint32_t i = 0; i < sim->program->n_nodes && n_shown < FREERS_SHOWN; i++) {
        uint32_t n_touches;
        const struct bind_touch *touches =
            bind_touches(sim->program->binding, (weir_node){i}, &n_touches);

        for (uint32_t j = 0; j < n_touches && is_unfinished(sim, i); j++) {
            if (weir_same(touches[j].copy, copy)) {
                fprintf(text, "%s%s", n_shown++ > 0 ? ", " : "",
                        graph_node_name(sim->program->graph, (weir_node){i}));
            }
        }
    }
    fprintf(text, "%s which %s not run)", n_shown == FREERS_SHOWN ? " ..." : "",
            n_shown == 1 ? "has" : "have");
}

/* Largest first, each taken once: a few passes over the copies. */
static void print_holders(const struct simulation *sim, weir_domain domain, FILE *text)
{
    int64_t below_bytes = INT64_MAX;
    uint32_t below_copy = 0;

    for (uint32_t shown = 0; shown < HOLDERS_SHOWN; shown++) {
        weir_copy best = {WEIR_NONE};
        int64_t best_bytes = 0;
        char size[NUMBER_TEXT_BYTES];

        for (uint32_t i = 0; i < sim->program->n_copies; i++) {
            int64_t bytes = memory_live_bytes(sim->memory, (weir_copy){i});
            bool is_shown = bytes > below_bytes || (bytes == below_bytes && i <= below_copy);

            if (weir_same(bind_copy(sim->program->binding, (weir_copy){i})->domain, domain) &&
                bytes > best_bytes && !(shown > 0 && is_shown)) {
                best.index = i;
                best_bytes = bytes;
            }
        }
        if (!weir_is(best)) {
            return;
        }
        number_size_text(best_bytes, size);
        fprintf(
            text, "%s%s holds %s", shown == 0 ? "" : "; ",
            graph_object_name(sim->program->graph, bind_copy(sim->program->binding, best)->object),
            size);
        print_freers(sim, best, text);
        below_bytes = best_bytes;
        below_copy = best.index;
    }
    fputs("; ...", text);
}

static void print_waiting(const struct simulation *sim, uint32_t node, weir_domain domain,
                          FILE *text)
{
    int64_t usable = memory_usable_bytes(sim->memory, domain);
    char need[NUMBER_TEXT_BYTES], room[NUMBER_TEXT_BYTES], all[NUMBER_TEXT_BYTES];
    char since[NUMBER_TEXT_BYTES];

    number_size_text(memory_need_bytes(sim->memory, node, domain), need);
    number_size_text(usable - memory_used_bytes(sim->memory)[domain.index], room);
    number_size_text(usable, all);
    number_time_text(sim->timeline->spans[node].ready_ns, since);
    fprintf(text, "\n  %s, ready since %s, waits for %s in %s, where %s of %s are free",
            graph_node_name(sim->program->graph, (weir_node){node}), since, need,
            domain_name(sim, domain), room, all);
}

/* Who lacks bytes in the domain, which may not be the only one that is short for it, and who holds
 * them. @return true when some node lacks bytes there that no order of events could give it */
static bool print_domain(const struct simulation *sim, weir_domain domain, const uint32_t *lacking,
                         uint32_t n_lacking, FILE *text)
{
    int64_t usable = memory_usable_bytes(sim->memory, domain);
    int64_t used = memory_used_bytes(sim->memory)[domain.index];
    int64_t most_bytes = usable - held_for_good(sim, domain);
    uint32_t n_told = 0;
    bool is_hopeless = false;

    for (uint32_t i = 0; i < n_lacking; i++) {
        int64_t need = memory_need_bytes(sim->memory, lacking[i], domain);

        if (need > usable - used && n_told++ < NODES_SHOWN) {
            print_waiting(sim, lacking[i], domain, text);
        }
        is_hopeless = is_hopeless || need > most_bytes;
    }
    if (n_told > NODES_SHOWN) {
        fprintf(text, "\n  and %" PRIu32 " more", n_told - NODES_SHOWN);
    }
    if (n_told > 0 && used > 0) {
        fprintf(text, "\n  in %s: ", domain_name(sim, domain));
        print_holders(sim, domain, text);
    }
    return is_hopeless;
}

static void print_held(const struct simulation *sim, FILE *text)
{
    const struct waiting *held = &sim->for_policy;

    for (uint32_t i = 0; i < held->n && i < NODES_SHOWN; i++) {
        fprintf(text, "\n  %s is held by the policy",
                graph_node_name(sim->program->graph, (weir_node){held->items[i].node}));
    }
    if (held->n > NODES_SHOWN) {
        fprintf(text, "\n  and %" PRIu32 " more", held->n - NODES_SHOWN);
    }
}

/* Those that the policy has put off, again and again. */
static void print_put_off(const struct simulation *sim, FILE *text)
{
    for (uint32_t i = 0; i < event_n(&sim->arrivals) && i < NODES_SHOWN; i++) {
        fprintf(
            text, "\n  %s is put off by the policy, again and again",
            graph_node_name(sim->program->graph, (weir_node){event_at(&sim->arrivals, i).node}));
    }
    if (event_n(&sim->arrivals) > NODES_SHOWN) {
        fprintf(text, "\n  and %" PRIu32 " more", event_n(&sim->arrivals) - NODES_SHOWN);
    }
}

static const char *remedy(const struct simulation *sim, bool is_hopeless)
{
    if (is_hopeless) {
        return "give the domain more capacity, or let a policy move bytes away";
    }
    if (sim->n_lacking == 0 && (sim->for_policy.n > 0 || event_n(&sim->arrivals) > 0)) {
        return "let the policy admit a node when nothing runs";
    }
    return "the holders wait for those that wait: hold less at once, order the takers, or give the "
           "domain more capacity";
}

static void explain_overfull(struct simulation *sim, weir_domain domain, FILE *text)
{
    char used[NUMBER_TEXT_BYTES], usable[NUMBER_TEXT_BYTES];

    number_size_text(memory_used_bytes(sim->memory)[domain.index], used);
    number_size_text(memory_usable_bytes(sim->memory, domain), usable);
    sim->timeline->status = RUN_SHORTAGE;
    fprintf(text, "at 0 initial objects take %s of %s in %s: ", used, usable,
            domain_name(sim, domain));
    print_holders(sim, domain, text);
    fputs("\n  let some of them begin in another domain, or give the domain more capacity", text);
}

static void explain_failed(struct simulation *sim, FILE *text)
{
    char now[NUMBER_TEXT_BYTES];

    number_time_text(sim->now_ns, now);
    sim->timeline->status = RUN_FAILED;
    fprintf(text, "node %s did not start before its window closed at %s, and has fallback=fail",
            graph_node_name(sim->program->graph, sim->failed), now);
}

static void explain_waiting(struct simulation *sim, const uint32_t *lacking, uint32_t n_lacking,
                            FILE *text)
{
    char now[NUMBER_TEXT_BYTES];
    bool is_hopeless = false;

    number_time_text(sim->now_ns, now);
    fprintf(text, "at %s nothing can run any more; %" PRIu32 " node%s not finished", now,
            sim->n_to_run, sim->n_to_run == 1 ? " has" : "s have");
    for (uint32_t i = 0; i < sim->program->n_domains && n_lacking > 0; i++) {
        is_hopeless = print_domain(sim, (weir_domain){i}, lacking, n_lacking, text) || is_hopeless;
    }
    print_held(sim, text);
    print_put_off(sim, text);
    sim->timeline->status = is_hopeless ? RUN_SHORTAGE : RUN_DEADLOCK;
    fprintf(text, "\n  %s", remedy(sim, is_hopeless));
}

enum weir_status stuck_explain(struct simulation *sim, char **explanation)
{
    size_t length;
    uint32_t *lacking = NULL, n_lacking;
    FILE *text = open_memstream(explanation, &length);
    weir_domain overfull = memory_overfull(sim->memory);
    enum weir_status status =
        text == NULL ? weir_error_memory(sim->err)
                     : lacking_list(sim, (weir_domain){WEIR_NONE}, &lacking, &n_lacking, sim->err);

    if (status == WEIR_OK && weir_is(overfull)) {
        explain_overfull(sim, overfull, text);
    } else if (status == WEIR_OK && weir_is(sim->failed)) {
        explain_failed(sim, text);
    } else if (status == WEIR_OK) {
        explain_waiting(sim, lacking, n_lacking, text);
    }
    free(lacking);
    if (text != NULL && (fclose(text) != 0 || *explanation == NULL) && status == WEIR_OK) {
        status = weir_error_memory(sim->err);
    }
    if (status != WEIR_OK && text != NULL) {
        free(*explanation);
        *explanation = NULL;
    }
    return status;
}
