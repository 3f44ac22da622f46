/* SPDX-License-Identifier: Apache-2.0 */
/* One scheduler of eight warps, driven event by event, with keys of its own. */
#ifndef HEDDLE_TESTS_SCHEDULER_FIXTURE_H
#define HEDDLE_TESTS_SCHEDULER_FIXTURE_H

#include "own_keys.h"

#include "isa/inst.h"
#include "sm/scheduler/scheduler.h"

enum { SCHEDULED = 8 };

struct scheduled {
    struct arena arena;
    const struct scheduler_ops *ops;
    void *self;
    uint64_t now, older[SCHEDULED];
    uint8_t places[SCHEDULED];
    slot_set bypass;
    unsigned blocks_most;
    uint32_t mshrs, room; /* free */
};

static const struct inst load_inst = {.op = OP_LD, .space = SPACE_GLOBAL},
                         store_inst = {.op = OP_ST, .space = SPACE_GLOBAL};

static inline uint32_t scheduled_mshrs(const void *s) { return ((const struct scheduled *)s)->mshrs; }
static inline uint32_t scheduled_room(const void *s) { return ((const struct scheduled *)s)->room; }

/* Warps are as old as their numbers say; two places of four warps. */
static inline void scheduled_open(struct scheduled *s, const char *name, const struct inst *code, uint32_t code_count,
                                  const char *const *settings) {
    struct report report = {0};
    memset(s, 0, sizeof *s);
    s->ops = scheduler_find(name, &report);
    assert_non_null(s->ops);
    for (unsigned w = 0; w < SCHEDULED; w++)
        s->older[w] = (UINT64_C(1) << w) - 1, s->places[w] = (uint8_t)(w / 4);
    const struct scheduler_shape shape = {.warps = SCHEDULED,
                                          .mine = 0xff,
                                          .places = s->places,
                                          .params = own_values(&s->ops->own, &s->arena, settings),
                                          .now = &s->now,
                                          .memory = {s, scheduled_mshrs, scheduled_room},
                                          .bypass = &s->bypass,
                                          .blocks_most = &s->blocks_most,
                                          .code = code,
                                          .code_count = code_count,
                                          .l1_lines = 256,
                                          .l1_line_bytes = 128};
    s->self = s->ops->create(&s->arena, &shape);
}

static inline void scheduled_close(struct scheduled *s) { arena_free(&s->arena); }

static inline void scheduled_tell(struct scheduled *s, struct scheduler_event event) {
    if (s->ops->hears >> event.kind & 1)
        s->ops->heard(s->self, &event);
}

static inline void scheduled_start(struct scheduled *s, unsigned first, unsigned last) {
    for (unsigned w = first; w <= last; w++)
        scheduled_tell(s, (struct scheduler_event){.kind = SCHEDULER_STARTED, .warp = w});
}

static inline unsigned scheduled_pick(struct scheduled *s, slot_set ready, slot_set loads, slot_set stores) {
    const struct scheduler_view view = {.ready = ready, .loads = loads, .stores = stores, .older = s->older};
    return s->ops->pick(s->self, &view);
}

/* Warps that would issue a load if they alone were ready. */
static inline slot_set scheduled_may_load(struct scheduled *s) {
    slot_set may = 0;
    for (unsigned w = 0; w < SCHEDULED; w++)
        may |= scheduled_pick(s, set_of(w), set_of(w), 0) == w ? set_of(w) : 0;
    return may;
}

static inline uint64_t scheduled_counter(const struct scheduled *s, const char *name) {
    return own_counter(&s->ops->own, s->ops->own.statistics(s->self), name);
}

#endif
