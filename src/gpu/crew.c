/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/crew.h"

enum { HOST_LINE_BYTES = 64 };

void crew_create(struct crew *crew, struct arena *arena, unsigned size, uint32_t code_count) {
    *crew = (struct crew){.size = size, .arena = arena};
    crew->threads = arena_alloc_aligned(arena, size * sizeof *crew->threads, alignof(struct crew_thread));
    for (unsigned i = 0; i < size; i++)
        crew->threads[i].instructions =
            arena_alloc_aligned(arena, (code_count + 1u) * sizeof(struct sm_inst_stats), HOST_LINE_BYTES);
    arena_alloc_aligned(arena, 0, HOST_LINE_BYTES);
}

/* ---- parts ---- */

/* How many of `count` things are the thread's: every size-th. */
static unsigned share(const struct crew *crew, unsigned thread, unsigned count) {
    return (count + crew->size - 1 - thread) / crew->size;
}

/* Memory that the SM needs comes from its own arena: if there is none, this thread gives up its epoch. */
static void run_sm(const struct crew *crew, struct sm *sm, unsigned number) {
    struct crew_thread *thread = &crew->threads[number];
    struct arena *arena = sm_arena(sm);
    jmp_buf *const before = arena->escape;
    arena->escape = &thread->escape;
    sm_count_in(sm, number, thread->instructions, &thread->histograms);
    if (sm_run(sm, crew->epoch.from, crew->epoch.to))
        thread->faulted = true;
    net_route(crew->parts.nets[0], sm_shape_of(sm)->id, sm_shape_of(sm)->id + 1);
    arena->escape = before;
}

/* Crossbars; and those between SMs, which are one part. */
static unsigned net_parts(const struct crew_parts *parts) { return 2 + (parts->clusters != NULL); }

/* The n-th part of `owner`, on thread `number`. Crossbars come first: they are few, and the longest. */
static void run_part(const struct crew *crew, unsigned owner, unsigned n, unsigned number) {
    const struct crew_parts *parts = &crew->parts;
    const struct crew_epoch *epoch = &crew->epoch;
    const unsigned nets = share(crew, owner, net_parts(parts)), sms = share(crew, owner, parts->sm_count);
    if (n < nets && owner + n * crew->size == 2)
        clusters_run(parts->clusters, epoch->from, epoch->to);
    else if (n < nets) {
        struct net *net = parts->nets[owner + n * crew->size];
        if (net_next(net, epoch->net_to - 1) < epoch->net_to)
            net_run(net, epoch->net_from, epoch->net_to);
    } else if (n - nets < sms)
        run_sm(crew, parts->sms[owner + (n - nets) * crew->size], number);
    else
        partition_run(&parts->partitions[owner + (n - nets - sms) * crew->size], 1, epoch->l2_from, epoch->l2_to);
}

static void run_parts(void *self, unsigned number) {
    struct crew *crew = self;
    if (number >= crew->size)
        return;
    struct crew_thread *thread = &crew->threads[number];
    const uint64_t begin = team_clock_ns();
    if (setjmp(thread->escape)) {
        thread->failed = true;
        return;
    }
    for (unsigned k = 0; k < crew->size; k++) {
        const unsigned owner = (number + k) % crew->size;
        struct crew_thread *from = &crew->threads[owner];
        while (atomic_load_explicit(&from->next, memory_order_relaxed) < from->count) {
            const unsigned n = atomic_fetch_add_explicit(&from->next, 1, memory_order_relaxed);
            if (n < from->count)
                run_part(crew, owner, n, number);
        }
    }
    thread->busy_ns = team_clock_ns() - begin;
}

/* ---- links ---- */

static void exchange(void *self, unsigned number) {
    struct crew *crew = self;
    struct net *const *nets = crew->parts.nets;
    const uint32_t first = net_words(nets[0]), count = first + net_words(nets[1]);
    if (number == 0 && crew->meanwhile)
        crew->meanwhile(crew->self);
    if (number == 0 && crew->parts.clusters)
        clusters_exchange(crew->parts.clusters);
    for (uint32_t word; (word = atomic_fetch_add_explicit(&crew->next_word, 1, memory_order_relaxed)) < count;)
        net_exchange_word(nets[word >= first], word >= first ? word - first : word);
}

bool crew_run(struct crew *crew, struct team *team, const struct crew_parts *parts, const struct crew_epoch *epoch,
              void (*meanwhile)(void *self), void *self) {
    crew->size = crew->size < team_size(team) ? crew->size : team_size(team);
    crew->parts = *parts;
    crew->epoch = *epoch;
    crew->meanwhile = meanwhile, crew->self = self;
    for (unsigned i = 0; i < crew->size; i++) {
        struct crew_thread *thread = &crew->threads[i];
        thread->count =
            share(crew, i, net_parts(parts)) + share(crew, i, parts->sm_count) + share(crew, i, parts->partition_count);
        thread->busy_ns = 0; /* the host may not let it come */
        atomic_store_explicit(&thread->next, 0, memory_order_relaxed);
    }
    atomic_store_explicit(&crew->next_word, 0, memory_order_relaxed);
    team_run(team, run_parts, crew);
    bool failed = false, faulted = false;
    crew->busy_ns = 0;
    for (unsigned i = 0; i < crew->size; i++) {
        crew->busy_ns += crew->threads[i].busy_ns;
        failed |= crew->threads[i].failed;
        faulted |= crew->threads[i].faulted;
    }
    if (failed)
        arena_out_of_memory(crew->arena);
    team_run(team, exchange, crew);
    return faulted;
}
