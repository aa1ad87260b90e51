/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each thread takes the next item that nobody has, until there is none. */
#include "base/workers.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/ending.h"

struct shared_work {
    atomic_uint_least64_t next; /* item: wider than the count, which it passes by a thread each */
    uint32_t n_items;
    void (*work)(void *arg, uint32_t item, uint32_t thread);
    void *arg;
};

struct worker {
    struct shared_work *shared;
    uint32_t number;
    pthread_t thread;
};

static void take_items(struct shared_work *shared, uint32_t number)
{
    for (;;) {
        uint_least64_t item = atomic_fetch_add(&shared->next, 1);

        if (item >= shared->n_items)
            return;
        shared->work(shared->arg, (uint32_t)item, number);
    }
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;

    take_items(worker->shared, worker->number);
    return NULL;
}

void workers_run(uint32_t n_items, uint32_t n_threads,
                 void (*work)(void *arg, uint32_t item, uint32_t thread), void *arg)
{
    struct shared_work shared = {.n_items = n_items, .work = work, .arg = arg};
    struct worker workers[WORKERS_MOST];
    uint32_t n = 0;

    atomic_init(&shared.next, 0);
    ending_threads_begin();
    for (; n + 1 < n_threads && n + 1 < n_items && n + 1 < WORKERS_MOST; n++) {
        workers[n].shared = &shared;
        workers[n].number = n + 1;
        if (pthread_create(&workers[n].thread, NULL, worker_main, &workers[n]) != 0)
            break;
    }
    ending_threads_end();
    take_items(&shared, 0);
    for (uint32_t i = 0; i < n; i++)
        (void)pthread_join(workers[i].thread, NULL);
}
