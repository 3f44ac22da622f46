/* SPDX-License-Identifier: Apache-2.0 */
#include "study/oracle.h"

#include "base/bits.h"
#include "study/align.h"
#include "emulate/emulate.h"

/* Longer stretches between barriers are refused: the time of an alignment grows with the square. */
enum { STRETCH_MAX = 4096 };
/* All that the threads of a launch may leave behind. */
enum { RUNS_MAX = 1 << 24 };

struct path_run {
    uint32_t pc, issues;
    bool waits;
};

/* What one thread issued, in order. */
struct thread_path {
    struct path_run *items;
    unsigned count, capacity;
};

struct traces {
    struct arena arena;
    struct thread_path *paths; /* by thread of the launch */
    uint64_t block_threads, limit;
    uint64_t pdom_issues, thread_instructions, runs;
};

static void hear(void *self, const struct issue_run *run) {
    struct traces *traces = self;
    const uint64_t first = run->block * traces->block_threads;
    if (first + (uint64_t)run->warp * ORACLE_WARP >= traces->limit)
        return;
    traces->pdom_issues += run->issues;
    traces->thread_instructions += (uint64_t)run->issues * bits_count(run->lanes);
    traces->runs += bits_count(run->lanes);
    if (traces->runs > RUNS_MAX)
        return;
    for (BITS_EACH(lane, run->lanes))
        *ARENA_PUSH(&traces->arena, &traces->paths[first + run->first_thread + lane]) =
            (struct path_run){run->pc, run->issues, run->waits};
}

/* ---- from runs to symbols ---- */

/* Straight code between two places where any of the runs begins or ends is one symbol, named by its first PC: threads go
 * through it as a whole, so that aligning symbols is as good as aligning instructions. */
struct alphabet {
    bool *begins;      /* by PC, one more than there is code */
    uint32_t *weights; /* instructions of the symbol that begins there */
};

static void find_symbols(struct alphabet *alphabet, const struct traces *traces, uint64_t threads, uint32_t code_count,
                         struct arena *arena) {
    alphabet->begins = ARENA_ARRAY(arena, bool, code_count + 1u);
    alphabet->weights = ARENA_ARRAY(arena, uint32_t, code_count + 1u);
    for (uint64_t t = 0; t < threads; t++)
        for (unsigned i = 0; i < traces->paths[t].count; i++) {
            const struct path_run *run = &traces->paths[t].items[i];
            alphabet->begins[run->pc] = alphabet->begins[run->pc + run->issues] = true;
        }
    for (uint32_t pc = code_count; pc-- > 0;)
        alphabet->weights[pc] = alphabet->begins[pc + 1] ? 1 : alphabet->weights[pc + 1] + 1;
}

/* The symbols of the path from its run `*at` up to a barrier that it waits at, or its end. */
static struct sequence next_stretch(const struct thread_path *path, unsigned *at, const struct alphabet *alphabet,
                                    struct arena *arena) {
    struct {
        uint32_t *items;
        unsigned count, capacity;
    } out = {0};
    bool waits = false;
    for (; *at < path->count && !waits; ++*at) {
        const struct path_run *run = &path->items[*at];
        for (uint32_t pc = run->pc; pc < run->pc + run->issues; pc += alphabet->weights[pc])
            *ARENA_PUSH(arena, &out) = pc;
        waits = run->waits;
    }
    return (struct sequence){out.items, out.count};
}

/* Barriers hold the threads of a block together, so no thread gets ahead beyond one: what lies between is aligned on its
 * own. */
static enum status align_warp(const struct thread_path *paths, unsigned count, const struct alphabet *alphabet,
                              uint64_t *issues, struct report *report) {
    unsigned at[ORACLE_WARP] = {0};
    for (bool more = true; more;) {
        struct arena arena = {0};
        struct sequence stretches[ORACLE_WARP];
        uint32_t longest = 0;
        more = false;
        for (unsigned i = 0; i < count; i++) {
            stretches[i] = next_stretch(&paths[i], &at[i], alphabet, &arena);
            longest = stretches[i].count > longest ? stretches[i].count : longest;
            more |= at[i] < paths[i].count;
        }
        if (longest <= STRETCH_MAX)
            *issues += align_all(stretches, count, alphabet->weights);
        arena_free(&arena);
        if (longest > STRETCH_MAX)
            return report_add(report, STATUS_INVALID,
                              "a thread runs %u straight pieces of code without a barrier; at most %u can be aligned: "
                              "give the kernel less to do",
                              longest, (unsigned)STRETCH_MAX);
    }
    return STATUS_OK;
}

static enum status align_warps(const struct traces *traces, uint64_t threads, uint32_t code_count, struct oracle *out,
                               struct report *report) {
    struct arena arena = {0};
    struct alphabet alphabet;
    enum status status = STATUS_OK;
    find_symbols(&alphabet, traces, threads, code_count, &arena);
    for (uint64_t t = 0; !status && t < threads; out->warps++) {
        const uint64_t left = traces->block_threads - t % traces->block_threads;
        const unsigned count = left < ORACLE_WARP ? (unsigned)left : ORACLE_WARP;
        status = align_warp(&traces->paths[t], count, &alphabet, &out->oracle_issues, report);
        t += count;
    }
    arena_free(&arena);
    return status;
}

/* ---- a launch ---- */

enum status oracle_prepare(struct machine *machine, struct report *report) {
    static const char origin[] = "heddle oracle";
    const unsigned warps = (machine->max_threads + ORACLE_WARP - 1) / ORACLE_WARP;
    const char *const settings[] = {arena_printf(&machine->arena, "sm.warp_size=%u", (unsigned)ORACLE_WARP),
                                    arena_printf(&machine->arena, "sm.max_warps=%u", warps),
                                    "divergence.mechanism=pdom"};
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < sizeof settings / sizeof *settings; i++)
        status = machine_set(machine, settings[i], origin, report);
    return status ? status : machine_check(machine, report);
}

/* Whole warps: those whose first thread is among the first `threads`. */
static uint64_t whole_warps(uint64_t threads, uint64_t block_threads, uint64_t all) {
    const uint64_t blocks = threads / block_threads, more = bits_round_up(threads % block_threads, ORACLE_WARP);
    const uint64_t taken = blocks * block_threads + (more < block_threads ? more : block_threads);
    return taken < all ? taken : all;
}

enum status oracle_next(struct run *run, unsigned threads, struct oracle *out, struct report *report) {
    struct launch *launch = &run->launches[run->done];
    struct traces traces = {.block_threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2],
                            .limit = threads};
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    const struct issue_listener listener = {hear, &traces};
    *out = (struct oracle){.threads = whole_warps(threads, traces.block_threads, blocks * traces.block_threads)};
    traces.paths = ARENA_ARRAY(&traces.arena, struct thread_path, out->threads);
    launch->listener = &listener;
    enum status status = run_next(run, report);
    launch->listener = NULL;
    if (!status && traces.runs > RUNS_MAX)
        status = report_add(report, STATUS_INVALID,
                            "the threads go through more than %u straight pieces of code: give the kernel less to do",
                            (unsigned)RUNS_MAX);
    if (!status)
        status = align_warps(&traces, out->threads, run->module->code_count, out, report);
    out->pdom_issues = traces.pdom_issues, out->thread_instructions = traces.thread_instructions;
    arena_free(&traces.arena);
    return status;
}
