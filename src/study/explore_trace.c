/* SPDX-License-Identifier: Apache-2.0 */
#include "study/explore_trace.h"

#include <string.h>
#include <xxhash.h>

#include "exec/step.h"

enum { ENTRIES_MAX = 1 << 21 };

/* ---- writers ---- */

static struct seen_writer *find(struct seen_writer *items, uint64_t capacity, uint64_t key) {
    for (uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;; at++) {
        struct seen_writer *one = &items[at & (capacity - 1)];
        if (!one->key || one->key == key)
            return one;
    }
}

static struct seen_writer writer_of(const struct seen_log *log, uint64_t key) {
    return log->writers.capacity ? *find(log->writers.items, log->writers.capacity, key) : (struct seen_writer){0};
}

static void set_writer(struct seen_log *log, const struct seen_writer *writer) {
    const uint64_t capacity = log->writers.capacity;
    if (2 * log->writers.count >= capacity) {
        struct seen_writer *old = log->writers.items;
        log->writers.capacity = capacity ? 2 * capacity : 1024;
        log->writers.items = ARENA_ARRAY(&log->arena, struct seen_writer, log->writers.capacity);
        for (uint64_t i = 0; i < capacity; i++)
            if (old[i].key)
                *find(log->writers.items, log->writers.capacity, old[i].key) = old[i];
    }
    struct seen_writer *to = find(log->writers.items, log->writers.capacity, writer->key);
    log->writers.count += to->key == 0;
    *to = *writer;
}

/* ---- accesses ---- */

static uint64_t key_of(const struct watch_issue *issue, const struct watch_access *access, unsigned lane) {
    const uint64_t word = access->address[lane] / 4;
    return access->space == SPACE_SHARED ? UINT64_C(1) << 63 | (issue->block + 1) << 20 | word : word;
}

static struct seen_entry entry_of(const struct seen_log *log, const struct watch_issue *issue,
                                  const struct watch_access *access, unsigned lane) {
    struct {
        uint64_t pc, address, value;
    } facts = {issue->pc, access->address[lane], 0};
    if (issue->inst->op == OP_LD)
        memcpy(&facts.value, access->memory[lane], access->bytes < 8 ? access->bytes : 8);
    return (struct seen_entry){.hash = XXH64(&facts, sizeof facts, 0),
                               .value = facts.value,
                               .writer = writer_of(log, key_of(issue, access, lane))};
}

static void compare(struct seen_log *log, struct seen_thread *thread, const struct seen_entry *now,
                    const struct watch_issue *issue, const struct watch_access *access, unsigned lane) {
    const unsigned number = thread->compared++;
    const struct seen_entry *before = number < thread->count ? &thread->items[number] : NULL;
    if ((before && before->hash == now->hash) || (!before && log->is_full) || log->difference.found)
        return;
    struct {
        uint64_t pc, address, value;
    } facts = {issue->pc, access->address[lane], before ? before->value : 0};
    log->difference =
        (struct seen_difference){.found = true,
                                 .launch = log->launch,
                                 .block = issue->block,
                                 .address = access->address[lane],
                                 .value = now->value,
                                 .before = facts.value,
                                 .thread = issue->launch->warp_size * issue->warp + lane,
                                 .pc = issue->pc,
                                 .space = access->space,
                                 .bytes = access->bytes,
                                 .is_load = issue->inst->op == OP_LD,
                                 .is_same_access = before && before->hash == XXH64(&facts, sizeof facts, 0),
                                 .writer = now->writer,
                                 .writer_before = before ? before->writer : (struct seen_writer){0}};
}

static void note_write(struct seen_log *log, const struct watch_issue *issue, const struct watch_access *access,
                       unsigned lane) {
    struct seen_writer writer = {.key = key_of(issue, access, lane),
                                 .block = issue->block,
                                 .thread = issue->launch->warp_size * issue->warp + lane,
                                 .pc = issue->pc};
    for (unsigned i = 0; i < access->bytes; i += 4, writer.key++)
        set_writer(log, &writer);
}

static void on_access(void *self, const struct watch_issue *issue, const struct watch_access *access) {
    struct seen_log *log = self;
    const struct inst *inst = issue->inst;
    const bool is_strong = inst->order != ORDER_WEAK || inst->op == OP_ATOM || inst->op == OP_RED;
    if (log->mode == SEEN_OFF)
        return;
    const uint32_t *block = issue->launch->block;
    const uint64_t per_block = (uint64_t)block[0] * block[1] * block[2];
    for (BITS_EACH(lane, access->lanes)) {
        const uint64_t number = issue->block * per_block + issue->launch->warp_size * issue->warp + lane;
        struct seen_thread *thread = &log->launches.items[log->launch].threads[number];
        const struct seen_entry now = entry_of(log, issue, access, lane);
        if (is_strong && !log->with_strong)
            ;
        else if (log->mode == SEEN_COMPARE)
            compare(log, thread, &now, issue, access, lane);
        else if (log->entries < ENTRIES_MAX)
            *ARENA_PUSH(&log->arena, thread) = now, log->entries++;
        else
            log->is_full = true;
        if (inst->op != OP_LD)
            note_write(log, issue, access, lane);
    }
}

static void on_meet(void *self, const struct watch_issue *issue, uint32_t lanes) {
    (void)self, (void)issue, (void)lanes;
}
static void on_fence(void *self, const struct watch_issue *issue) { (void)self, (void)issue; }
static void on_barrier(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t count) {
    (void)self, (void)issue, (void)barrier, (void)count;
}
static void on_refuse(void *self, const struct watch_issue *issue, unsigned lane, enum watch_refusal why,
                      const char *message) {
    (void)self, (void)issue, (void)lane, (void)why, (void)message;
}

void seen_create(struct seen_log *log) {
    *log = (struct seen_log){0};
    log->watch = (struct exec_watch){.self = log,
                                     .accesses = true,
                                     .access = on_access,
                                     .meet = on_meet,
                                     .fence = on_fence,
                                     .arrive = on_barrier,
                                     .leave = on_barrier,
                                     .refuse = on_refuse};
}

void seen_begin(struct seen_log *log, unsigned launch, uint64_t threads) {
    log->launch = launch;
    while (log->launches.count <= launch)
        ARENA_PUSH(&log->arena, &log->launches);
    struct seen_launch *one = &log->launches.items[launch];
    if (log->mode == SEEN_KEEP)
        one->threads = ARENA_ARRAY(&log->arena, struct seen_thread, threads), one->count = threads;
}

void seen_rewind(struct seen_log *log, enum seen_mode mode) {
    log->mode = mode;
    log->writers.count = 0;
    if (log->writers.capacity)
        memset(log->writers.items, 0, log->writers.capacity * sizeof *log->writers.items);
}

void seen_free(struct seen_log *log) { arena_free(&log->arena); }
