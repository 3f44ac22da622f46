/* SPDX-License-Identifier: Apache-2.0 */
#include "study/explore.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device/host.h"
#include "launch/element.h"
#include "study/explore_order.h"
#include "study/explore_trace.h"

/* The run that is made again and again, and what memory held before. */
struct again {
    struct machine machine;
    struct run run;
    struct arena arena;
    void **before; /* of each allocation */
    bool is_open;
};

/* What a run leaves. */
struct explored {
    struct arena arena;
    const char *stopped;    /* why it did not end; NULL: it did */
    unsigned launch;        /* at which */
    uint64_t *instructions; /* of each launch */
    void **buffers;
};

struct explore_work {
    struct again again;
    struct seen_log log;
    struct explored first; /* of run 0 */
};

/* ---- a run ---- */

static uint64_t bytes_of(const struct run *run, unsigned i) {
    return run->buffers[i].count * element_bytes(run->file->buffers[i].element);
}

static void keep(struct explored *out, const struct run *run) {
    out->buffers = ARENA_ARRAY(&out->arena, void *, run->file->buffer_count);
    for (unsigned i = 0; i < run->file->buffer_count; i++)
        out->buffers[i] = arena_copy(&out->arena, device_memory(run->device, run->buffers[i].address, bytes_of(run, i)),
                                     bytes_of(run, i));
}

/* Lanes by themselves issue more, and those that wait for others much more; but not without end. */
static uint64_t limit_of(const struct explore *explore, unsigned launch) {
    enum { TIMES = 1000, LEAST = 1000000 };
    return explore->work->first.instructions ? LEAST + TIMES * explore->work->first.instructions[launch] : 0;
}

static enum status run_launches(struct explore *explore, struct run *run, const struct explore_order *order,
                                struct explored *out, struct report *report) {
    struct seen_log *log = &explore->work->log;
    enum status status = STATUS_OK;
    out->instructions = ARENA_ARRAY(&out->arena, uint64_t, run->file->launch_count);
    while (!status && run->done < run->file->launch_count) {
        const unsigned number = out->launch = run->done;
        struct launch *launch = &run->launches[number];
        struct report inner = {0};
        const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
        struct emulate_order blocks_order = explore_blocks(order, blocks);
        blocks_order.max_instructions = limit_of(explore, number);
        launch->order = order->order.turn_issues ? &blocks_order : NULL;
        launch->checker = &log->watch;
        seen_begin(log, number, blocks * launch->block[0] * launch->block[1] * launch->block[2]);
        log->delays.count = 0;
        status = run_next(run, &inner);
        if (!status) /* else shared memory has gone */
            delayed_end(&log->delays);
        out->instructions[number] = run->results[number].stats.warp_instructions;
        if (status == STATUS_STOPPED)
            out->stopped = arena_strdup(&out->arena, report_text(&inner));
        else if (status)
            report_add(report, status, "%s", report_text(&inner));
        report_free(&inner);
        launch->order = NULL;
    }
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

/* ---- the file once more, from its beginning ---- */

static void close_again(struct again *again) {
    run_close(&again->run);
    machine_close(&again->machine);
    arena_free(&again->arena);
    *again = (struct again){0};
}

static enum status open_again(struct explore *explore, const char *mechanism, struct again *again,
                              struct report *report) {
    again->is_open = true;
    enum status status = explore->open(explore->self, mechanism, &again->machine, report);
    if (!status)
        status = run_open(&again->run, explore->file, &again->machine, &explore->options, report);
    if (status)
        return status;
    const struct device *device = again->run.device;
    again->before = ARENA_ARRAY(&again->arena, void *, host_allocation_count(device));
    for (unsigned i = 0; i < host_allocation_count(device); i++) {
        const struct host_range range = host_allocation_at(device, i);
        again->before[i] =
            arena_copy(&again->arena, device_memory(again->run.device, range.start, range.bytes), range.bytes);
    }
    return STATUS_OK;
}

static void rewind_run(struct again *again) {
    struct run *run = &again->run;
    for (unsigned i = 0; i < host_allocation_count(run->device); i++) {
        const struct host_range range = host_allocation_at(run->device, i);
        memcpy(device_memory(run->device, range.start, range.bytes), again->before[i], range.bytes);
    }
    for (unsigned i = 0; i < run->done; i++)
        launch_result_free(&run->results[i]);
    run->done = 0;
}

static enum status carry_out(struct explore *explore, const struct explore_order *order, struct explored *out,
                             struct report *report) {
    struct seen_log *log = &explore->work->log;
    struct again *again = &explore->work->again, other = {0};
    enum status status = STATUS_OK;
    *out = (struct explored){0};
    log->watch.delays = order->delay_chance ? &log->delays : NULL;
    log->delays.chance = order->delay_chance;
    rng_seed(&log->delays.rng, order->order.seed);
    if (order->mechanism)
        again = &other;
    if (again->is_open)
        rewind_run(again);
    else
        status = open_again(explore, order->mechanism, again, report);
    if (!status)
        status = run_launches(explore, &again->run, order, out, report);
    if (!status)
        keep(out, &again->run);
    /* a device that stopped takes no more launches, and a heap of kernels is not as it was */
    if (again->is_open && (order->mechanism || status || out->stopped || host_has_heap(again->run.device)))
        close_again(again);
    return status;
}

/* ---- what differs ---- */

/* The first byte; false: none. */
static bool differs(const struct explore *explore, const struct explored *one, const struct explored *other,
                    unsigned *buffer, uint64_t *byte) {
    const struct run *run = explore->shown;
    for (*buffer = 0; *buffer < run->file->buffer_count; ++*buffer) {
        const uint8_t *a = one->buffers[*buffer], *b = other->buffers[*buffer];
        for (*byte = 0; *byte < bytes_of(run, *buffer); ++*byte)
            if (a[*byte] != b[*byte])
                return true;
    }
    return false;
}

/* Both runs once more, watched; the first access that differs is in the log. */
static enum status trace(struct explore *explore, const struct explore_order *order, const struct explore_order *own,
                         struct report *report) {
    struct seen_log *log = &explore->work->log;
    enum status status = STATUS_OK;
    for (unsigned pass = 0; pass < 2 && !status && !log->difference.found; pass++) {
        struct explored out = {0};
        seen_free(log);
        seen_create(log);
        log->with_strong = pass != 0; /* those that wait for each other by flags differ, and nothing is wrong */
        seen_rewind(log, SEEN_KEEP);
        status = carry_out(explore, own, &out, report);
        arena_free(&out.arena);
        seen_rewind(log, SEEN_COMPARE);
        if (!status)
            status = carry_out(explore, order, &out, report);
        arena_free(&out.arena);
    }
    return status;
}

/* "load of 4 bytes at shared address 0x10 reads 5, and 3 in run 0" */
static const char *difference_text(const struct seen_difference *d, const struct run *run, struct arena *arena) {
    char where[256], place[96];
    snprintf(place, sizeof place, "%u bytes at %s address 0x%" PRIx64, (unsigned)d->bytes,
             d->space == SPACE_SHARED ? "shared" : "global", d->address);
    for (unsigned i = 0; d->space != SPACE_SHARED && i < run->file->buffer_count; i++)
        if (d->address - run->buffers[i].address < bytes_of(run, i))
            snprintf(place, sizeof place, "%u bytes at byte %" PRIu64 " of '%.40s'", (unsigned)d->bytes,
                     d->address - run->buffers[i].address, run->file->buffers[i].name);
    const char *verb = d->is_load ? "load" : "store or atomic";
    if (!d->is_load || !d->is_same_access)
        return arena_printf(arena, "the first access that differs is the %s of %s: the thread has gone another way",
                            verb, place);
    const struct seen_writer *other = d->writer.key ? &d->writer : &d->writer_before;
    return arena_printf(arena, "the load of %s reads %" PRIu64 ", and %" PRIu64 " in run 0%s%s", place, d->value,
                        d->before, other->key ? ": before or behind the store at " : "",
                        other->key ? module_where(run->module, other->pc, where, sizeof where) : "");
}

static void find(struct explore *explore, const char *what, const struct seen_difference *d, unsigned launch_number,
                 struct arena *arena) {
    const struct run *run = explore->shown;
    const struct launch *launch = &run->launches[d->found ? d->launch : launch_number];
    const struct seen_writer *other = d->writer.key ? &d->writer : &d->writer_before;
    struct finding finding = {.kind = FINDING_ORDER,
                              .module = run->module,
                              .kernel = launch->kernel->name,
                              .launch = (d->found ? d->launch : launch_number) + 1,
                              .at.pc = NO_PC,
                              .other.pc = NO_PC,
                              .message = what};
    memcpy(finding.grid, launch->grid, sizeof finding.grid);
    memcpy(finding.block, launch->block, sizeof finding.block);
    if (d->found) {
        finding.has_thread = true;
        finding.at =
            (struct finding_access){.pc = d->pc, .block = d->block, .thread = d->thread, .is_write = !d->is_load};
        finding.message = arena_printf(arena, "%s; %s", what, difference_text(d, run, arena));
    }
    if (d->found && d->is_load && d->is_same_access && other->key) {
        finding.has_other = true;
        finding.other =
            (struct finding_access){.pc = other->pc, .block = other->block, .thread = other->thread, .is_write = true};
        finding.missing = "what orders the two: a barrier, __syncwarp(), or a fence and a flag";
    }
    check_add(explore->check, &finding);
}

/* found: the run differs from run 0, and a finding says where. */
static enum status compare(struct explore *explore, uint64_t number, bool *found, struct report *report) {
    struct arena arena = {0};
    struct explored out = {0};
    const struct explored *first = &explore->work->first;
    const struct explore_order own = explore_order_of(0, "", &arena),
                               order = explore_order_of(number, explore->shown->machine->divergence_mechanism, &arena);
    enum status status = carry_out(explore, &order, &out, report);
    unsigned buffer = 0;
    uint64_t byte = 0;
    const char *title = arena_printf(&arena, "run %" PRIu64 " (%s)", number, order.text), *what = NULL;
    if (!status && !first->stopped != !out.stopped)
        what = arena_printf(&arena, "%s %s, and run 0 does%s: %s", title, out.stopped ? "does not end" : "ends",
                            out.stopped ? "" : " not", out.stopped ? out.stopped : first->stopped);
    const bool has_stopped = what != NULL;
    if (!status && !has_stopped && !out.stopped && differs(explore, first, &out, &buffer, &byte))
        what = arena_printf(&arena, "%s leaves byte %" PRIu64 " of '%s' as 0x%02x, and run 0 as 0x%02x", title, byte,
                            explore->file->buffers[buffer].name, ((uint8_t *)out.buffers[buffer])[byte],
                            ((uint8_t *)first->buffers[buffer])[byte]);
    *found = what != NULL;
    if (*found && !has_stopped)
        status = trace(explore, &order, &own, report);
    if (*found && !status)
        find(explore, what, &explore->work->log.difference, out.stopped ? out.launch : first->launch, &arena);
    arena_free(&out.arena);
    arena_free(&arena);
    return status;
}

enum status explore_run(struct explore *explore, struct report *report) {
    struct explore_work work = {0};
    struct arena arena = {0};
    bool found = false;
    const struct explore_order own = explore_order_of(0, "", &arena);
    explore->work = &work;
    seen_create(&work.log);
    enum status status = carry_out(explore, &own, &work.first, report);
    explore->done = 1;
    for (uint64_t i = explore->first; !status && !found && i < explore->end; i++) {
        status = compare(explore, i, &found, report);
        explore->done++;
    }
    seen_free(&work.log);
    if (work.again.is_open)
        close_again(&work.again);
    arena_free(&work.first.arena);
    arena_free(&arena);
    explore->work = NULL;
    return status;
}
