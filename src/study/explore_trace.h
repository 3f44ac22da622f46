/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of every thread, in its own order: of one run kept, of another compared with it. */
#ifndef HEDDLE_STUDY_EXPLORE_TRACE_H
#define HEDDLE_STUDY_EXPLORE_TRACE_H

#include "exec/delayed.h"
#include "exec/watch.h"

enum seen_mode { SEEN_OFF, SEEN_KEEP, SEEN_COMPARE };

/* Who wrote a word last. */
struct seen_writer {
    uint64_t key; /* 0: nobody */
    uint64_t block;
    uint32_t thread, pc;
};

struct seen_entry {
    uint64_t hash, value;
    struct seen_writer writer;
};

/* The first access that differs. */
struct seen_difference {
    bool found;
    unsigned launch;
    uint64_t block, address, value, before; /* before: in the run that was kept */
    uint32_t thread, pc;
    uint8_t space, bytes;
    bool is_load, is_same_access; /* else the thread had gone another way before */
    struct seen_writer writer, writer_before;
};

struct seen_log {
    struct arena arena;
    struct exec_watch watch;
    struct exec_delays delays;
    enum seen_mode mode;
    bool with_strong; /* of volatile accesses and atomics too */
    unsigned launch;
    struct {
        struct seen_launch {
            struct seen_thread {
                struct seen_entry *items;
                unsigned count, capacity;
                unsigned compared;
            } * threads;
            uint64_t count;
        } * items;
        unsigned count, capacity;
    } launches;
    struct {
        struct seen_writer *items;
        uint64_t count, capacity; /* capacity: a power of two, or 0 */
    } writers;
    uint64_t entries;
    bool is_full; /* not all accesses were kept */
    struct seen_difference difference;
};

void seen_create(struct seen_log *log);
/* A launch of so many threads begins. */
void seen_begin(struct seen_log *log, unsigned launch, uint64_t threads);
/* A run begins. */
void seen_rewind(struct seen_log *log, enum seen_mode mode);
void seen_free(struct seen_log *log);

#endif
