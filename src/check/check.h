/* SPDX-License-Identifier: Apache-2.0 */
/* heddle check: what is wrong with a kernel, found while it runs functionally. docs/check.md.
 *
 * A check watches launches one after another (exec/watch.h) and keeps findings. It knows of each byte of global and shared memory
 * who wrote and who read it last, and of each thread what it knows of others: barriers, warp-level operations, fences with
 * atomics and the end of a launch order accesses; nothing else does. */
#ifndef HEDDLE_CHECK_CHECK_H
#define HEDDLE_CHECK_CHECK_H

#include "base/arena.h"
#include "exec/watch.h"

/* Kinds of findings: name, which option chooses it, what it is. */
enum finding_kind {
#define FINDING(id, name, help) FINDING_##id,
#include "check/findings.def"
#undef FINDING
    FINDING_KINDS
};
const char *finding_name(enum finding_kind kind);
const char *finding_help(enum finding_kind kind);
/* A wrong kernel and words, as docs/check.md has them. */
const char *finding_lesson(enum finding_kind kind);

/* What a thread did at an instruction. */
struct finding_access {
    uint32_t pc;
    uint64_t block; /* linear index */
    uint32_t thread;
    bool is_write, is_atomic;
};

struct finding {
    enum finding_kind kind;
    unsigned sort;               /* of the kind's own */
    bool is_note;                /* told, but nothing is wrong: racing writes of the same value */
    const struct module *module; /* NULL: it is no kernel's */
    const char *kernel, *message;
    const char *missing;        /* what would have ordered the two; NULL: nothing was missing */
    const char *allocation;     /* of the program's memory that it concerns; NULL: none */
    uint64_t launch;            /* the first in which it was met, from 1 */
    bool has_thread, has_other; /* `at.block` and `at.thread` are known; so is `other` */
    struct finding_access at, other;
    uint32_t grid[3], block[3]; /* of the launch */
    uint64_t count;             /* how often it was met; `at` and `other` are the first */
};

struct check_options {
    bool memory, races, uninitialised, barriers;
    bool
        all_must_come; /* a barrier that ended threads do not reach is wrong: OpenCL; CUDA counts those that are left */
    unsigned limit;    /* findings that are kept */
    uint64_t launches; /* that have run before, of another check */
};

/* The kinds of this list, separated by commas, are switched on; NULL: all. False: *wrong, of so many bytes, is none. */
bool check_read_kinds(const char *text, struct check_options *out, const char **wrong, size_t *length);
#define CHECK_KINDS "memory, uninitialised, race and barrier"
enum { CHECK_LIMIT_DEFAULT = 100, CHECK_LIMIT_MAX = 100000 };

struct check;
struct check *check_create(const struct check_options *options);
void check_free(struct check *check);
/* What launches are given (struct launch, checker). */
const struct exec_watch *check_watch(struct check *check);
/* Of the launches that follow: the option of that name. */
void check_all_must_come(struct check *check, bool all_must_come);
/* A launch begins: all accesses before it are ordered before its own. */
void check_begin(struct check *check);
/* It stopped, and `text` says why. */
void check_stopped(struct check *check, const struct module *module, const char *kernel, const char *text);

/* Of another order of the same launch. Its texts are copied. */
void check_add(struct check *check, const struct finding *like);
/* Whether a launch can be watched, and why not: NULL, or words behind its name. */
const char *check_refusal(const struct module *module, const uint32_t grid[3], const uint32_t block[3],
                          uint32_t warp_size);
/* One has run that nobody watched: what was not written is not known any more. */
void check_unwatched(struct check *check);

/* Memory that a program allocates and gives back. `is_written`: the host writes it when it likes. */
void check_allocated(struct check *check, uint64_t start, uint64_t bytes, const char *name, bool is_written);
void check_freed(struct check *check, uint64_t start);
/* What the host puts into memory is told there (exec/memory.h). */
const struct memory_listener *check_listener(struct check *check);
/* The program has ended: what was never given back is a note. */
void check_leaks(struct check *check);

/* In the order in which they were found. */
const struct finding *check_findings(const struct check *check, unsigned *count);
/* How many of them are errors, and how often more was found and not kept. */
unsigned check_errors(const struct check *check);
uint64_t check_dropped(const struct check *check);
/* There is an error, kept or not. */
bool check_is_wrong(const struct check *check);
/* That have begun, with those of the options. */
uint64_t check_launches(const struct check *check);
/* Grows with everything that is found. */
uint64_t check_met(const struct check *check);

#endif
