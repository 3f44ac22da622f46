/* SPDX-License-Identifier: Apache-2.0 */
#include "study/laws.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "study/laws_heard.h"
#include "trace/file.h"

/* Of all launches together: of each thread something is kept. */
enum { THREADS_MAX = 1 << 26 };

/* What is left of a run. */
struct laws_outcome {
    struct arena arena;
    uint64_t threads, cycles;
    uint64_t *by_pc;     /* thread instructions */
    uint32_t *by_thread; /* through all launches, those that struct laws_hearer counts; none where nobody heard */
    uint32_t code_count;
    bool tries_again;
    bool *is_indirect; /* by PC: a branch whose target a register tells */
    void **buffers;
    uint64_t *buffer_bytes;
    const char *output;
    size_t output_bytes;
};

/* OF_SOME: an issue may stand for threads that it does not name. */
enum laws_how { FUNCTIONAL, IN_TIME, HEARD, HEARD_OF_SOME };

const char *const laws_verdict_names[LAWS_VERDICTS] = {"same", "refused", "stopped", "broken"};

enum laws_verdict laws_verdict_of(enum status status) {
    static const enum laws_verdict verdicts[] = {LAWS_SAME, LAWS_BROKEN, LAWS_REFUSED, LAWS_STOPPED, LAWS_BROKEN};
    return verdicts[status];
}

/* ---- a run ---- */

/* A compare-and-swap that others came before is tried again: order shows in how often, though not in what comes out. Native code
 * that branches by which lanes are active has a way for lanes that wait for others first. */
static bool tries_again(const struct module *module) {
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (module->code[pc].atom == ATOM_CAS ||
            (module->code[pc].op == OP_ACTIVEMASK && module->code[pc].flags & FLAG_PART))
            return true;
    return false;
}

static void keep_output(struct laws_outcome *out, const struct launch_result *result) {
    char *both = arena_alloc(&out->arena, out->output_bytes + result->output_bytes + 1);
    if (out->output_bytes)
        memcpy(both, out->output, out->output_bytes);
    if (result->output_bytes)
        memcpy(both + out->output_bytes, result->output, result->output_bytes);
    out->output = both, out->output_bytes += result->output_bytes;
}

static void keep(struct laws_outcome *out, struct run *run) {
    out->code_count = run->module->code_count;
    out->tries_again = tries_again(run->module);
    out->by_pc = ARENA_ARRAY(&out->arena, uint64_t, run->module->code_count);
    out->is_indirect = ARENA_ARRAY(&out->arena, bool, run->module->code_count);
    for (uint32_t pc = 0; pc < run->module->code_count; pc++)
        out->is_indirect[pc] = run->module->code[pc].op == OP_BRX;
    out->buffer_bytes = ARENA_ARRAY(&out->arena, uint64_t, run->file->buffer_count);
    out->buffers = ARENA_ARRAY(&out->arena, void *, run->file->buffer_count);
    out->output = "";
    for (unsigned i = 0; i < run->done; i++) {
        const struct launch_result *result = &run->results[i];
        out->threads += result->stats.threads;
        out->cycles += result->timed ? result->timed->cycles : 0;
        for (uint32_t pc = 0; result->instructions && pc < run->module->code_count; pc++)
            out->by_pc[pc] += result->instructions[pc].threads;
        if (result->output_bytes)
            keep_output(out, result);
    }
    for (unsigned i = 0; i < run->file->buffer_count; i++) {
        const uint64_t bytes = run->buffers[i].count * element_bytes(run->file->buffers[i].element);
        out->buffer_bytes[i] = bytes;
        out->buffers[i] = arena_copy(&out->arena, device_memory(run->device, run->buffers[i].address, bytes), bytes);
    }
}

/* Structures that a key NAME.X_entries limits have a counter X_largest, which is never larger; 0: no limit. */
static enum status check_limits(const struct run *run, struct report *report) {
    const struct gpu_stats *timed = run->results[run->done - 1].timed;
    const struct own *mechanism = timed->own[OWN_MECHANISM];
    char name[128];
    for (const struct param_description *key = mechanism->params; key && key->key; key++) {
        const char *dot = strrchr(key->key, '.'), *begin = dot ? dot + 1 : key->key, *end = strstr(begin, "_entries");
        if (!end)
            continue;
        const struct param_set *set = &run->machine->params;
        const uint64_t limit = strtoull(param_text(set, param_find(set, key->key)), NULL, 0);
        const struct stat_description *stat = mechanism->stats;
        snprintf(name, sizeof name, "%.*s_largest", (int)(end - begin), begin);
        while (stat && stat->name && strcmp(stat->name, name) != 0)
            stat++;
        if (!stat || !stat->name)
            return report_add(report, STATUS_WRONG, "%s limits a structure of which no counter %s tells", key->key,
                              name);
        const uint64_t largest = stat_counter(timed->own_stats[OWN_MECHANISM], stat);
        if (limit && largest > limit)
            return report_add(report, STATUS_WRONG, "%s is %" PRIu64 ", and %s %" PRIu64, key->key, limit, name,
                              largest);
    }
    return STATUS_OK;
}

/* The next launch; `counts` as laws_hearer_create takes them, NULL in a run that nobody hears of. */
static enum status run_launch(struct run *run, enum laws_how how, uint32_t *counts, struct report *report) {
    struct launch *launch = &run->launches[run->done];
    struct arena arena = {0};
    struct laws_hearer hearer = {0};
    const struct issue_listener listener = {laws_hear_run, &hearer};
    const struct sm_observer observer = {.self = &hearer, .issued = laws_hear_issue};
    if (counts)
        laws_hearer_create(&hearer, &arena, run->module, launch, counts);
    launch->listener = how == FUNCTIONAL ? &listener : NULL;
    launch->issues = how >= HEARD ? &observer : NULL;
    enum status status = run_next(run, report);
    launch->listener = NULL, launch->issues = NULL;
    if (!status && how == HEARD)
        status = laws_check_threads(&hearer, report);
    if (!status && how == IN_TIME)
        status = check_limits(run, report);
    arena_free(&arena);
    return status;
}

/* More than THREADS_MAX: too many to be told. */
static uint64_t threads_of_launch(const struct launch *launch) {
    uint64_t threads = 1;
    for (unsigned i = 0; i < 6 && threads <= THREADS_MAX; i++)
        threads *= i < 3 ? launch->block[i] : launch->grid[i - 3];
    return threads;
}

static enum status run_all(struct laws_outcome *out, struct run *run, enum laws_how how, struct report *report) {
    enum status status = STATUS_OK;
    uint64_t threads = 0, before = 0;
    for (unsigned i = 0; i < run->file->launch_count && threads <= THREADS_MAX; i++)
        threads += threads_of_launch(&run->launches[i]);
    if (threads > THREADS_MAX)
        return report_add(report, STATUS_INVALID, "%s: more than %u threads are not followed: launch fewer",
                          run->file->name, (unsigned)THREADS_MAX);
    if (how != IN_TIME)
        out->by_thread = ARENA_ARRAY(&out->arena, uint32_t, threads);
    while (!status && run->done < run->file->launch_count) {
        const uint64_t here = threads_of_launch(&run->launches[run->done]);
        status = run_launch(run, how, out->by_thread ? out->by_thread + before : NULL, report);
        before += here;
    }
    if (!status)
        keep(out, run);
    return status;
}

/* `trace`: NULL, or what is recorded in the run that somebody hears of, and replayed in one more. */
static enum status outcome_of(struct laws_outcome *out, const struct launch_file *file, const struct machine *machine,
                              enum laws_how how, struct trace_writer *trace, struct report *report) {
    struct run_options options = {.files = &file_access_host, .seed = 1, .in_time = how != FUNCTIONAL, .cold = true};
    struct trace_reader reader = {.name = "what was recorded"};
    if (trace && how == IN_TIME)
        reader.data = trace->items, reader.bytes = trace->count, options.trace_from = &reader;
    else
        options.trace_to = trace;
    struct run run = {0};
    enum status status = run_open(&run, file, machine, &options, report);
    if (!status)
        status = run_all(out, &run, how, report);
    run_close(&run);
    return status;
}

/* ---- the same? ---- */

/* Where the first difference is. */
static enum status differs(struct report *report, const char *what, uint64_t at, uint64_t got, uint64_t wanted) {
    return report_add(report, STATUS_WRONG, "%s %" PRIu64 ": %" PRIu64 ", functionally %" PRIu64, what, at, got,
                      wanted);
}

static enum status compare_memory(const struct launch_file *file, const struct laws_outcome *got,
                                  const struct laws_outcome *wanted, struct report *report) {
    for (unsigned i = 0; i < file->buffer_count; i++) {
        const unsigned char *a = got->buffers[i], *b = wanted->buffers[i];
        uint64_t k = 0;
        if (memcmp(a, b, wanted->buffer_bytes[i]) == 0)
            continue;
        while (a[k] == b[k])
            k++;
        return report_add(report, STATUS_WRONG, "byte %" PRIu64 " of '%s' is %02x, functionally %02x", k,
                          file->buffers[i].name, a[k], b[k]);
    }
    if (got->output_bytes != wanted->output_bytes || memcmp(got->output, wanted->output, got->output_bytes) != 0)
        return report_add(report, STATUS_WRONG, "what was printed is not what the functional run printed");
    return STATUS_OK;
}

static enum status compare(const struct launch_file *file, const struct laws_outcome *got,
                           const struct laws_outcome *wanted, bool by_thread, struct report *report) {
    enum status status = compare_memory(file, got, wanted, report);
    if (status)
        return status;
    if (got->threads != wanted->threads)
        return report_add(report, STATUS_WRONG, "%" PRIu64 " threads, functionally %" PRIu64, got->threads,
                          wanted->threads);
    if (got->code_count != wanted->code_count)
        return report_add(report, STATUS_INVALID, "its code is not that of the functional run (isa)");
    if (wanted->tries_again)
        return STATUS_OK;
    for (uint32_t pc = 0; pc < wanted->code_count; pc++) {
        if (got->by_pc[pc] == wanted->by_pc[pc])
            continue;
        if (!wanted->is_indirect[pc] || got->by_pc[pc] < wanted->by_pc[pc])
            return differs(report, "thread instructions at PC", pc, got->by_pc[pc], wanted->by_pc[pc]);
        by_thread = false; /* lanes whose target had to wait have executed the branch anew */
    }
    for (uint64_t i = 0; by_thread && i < wanted->threads; i++)
        if (got->by_thread[i] != wanted->by_thread[i])
            return differs(report, "instructions of thread", i, got->by_thread[i], wanted->by_thread[i]);
    return STATUS_OK;
}

/* A run that is replayed computes nothing, and takes as long. */
static enum status compare_replay(const struct laws_outcome *got, const struct laws_outcome *wanted,
                                  struct report *report) {
    if (got->cycles != wanted->cycles)
        return report_add(report, STATUS_WRONG, "%" PRIu64 " cycles, and %" PRIu64 " when it is replayed",
                          wanted->cycles, got->cycles);
    for (uint32_t pc = 0; pc < wanted->code_count; pc++)
        if (got->by_pc[pc] != wanted->by_pc[pc])
            return report_add(report, STATUS_WRONG, "replayed, thread instructions at PC %u: %" PRIu64 ", not %" PRIu64,
                              (unsigned)pc, got->by_pc[pc], wanted->by_pc[pc]);
    return STATUS_OK;
}

/* ---- one machine ---- */

/* With a key NAME.scalar set to true, an issue of the mechanism NAME may stand for threads that it does not name. */
static bool names_all(const struct machine *machine) {
    char key[128];
    snprintf(key, sizeof key, "%s.scalar", machine->divergence_mechanism);
    const struct param_description *param = param_find(&machine->params, key);
    return !param || strcmp(param_text(&machine->params, param), "true") != 0;
}

enum status laws_find_reference(struct laws_reference *out, const struct launch_file *file, struct machine *machine,
                                const char *mechanism, struct report *report) {
    out->file = file;
    out->outcome = ARENA_NEW(&out->arena, struct laws_outcome);
    const char *setting = arena_printf(&machine->arena, "divergence.mechanism=%s", mechanism);
    /* Not checked again: keys of time may contradict the mechanism, and a functional run reads none of them. */
    const enum status status = machine_set(machine, setting, "laws", report);
    return status ? status : outcome_of(out->outcome, file, machine, FUNCTIONAL, NULL, report);
}

enum status laws_hold(const struct laws_reference *reference, const struct machine *machine, uint64_t *cycles,
                      struct report *report) {
    const struct launch_file *file = reference->file;
    const struct laws_outcome *wanted = reference->outcome;
    struct laws_outcome plain = {0}, heard = {0}, replayed = {0};
    struct trace_writer trace = {.arena = &heard.arena};
    const bool all = names_all(machine), repeats = machine_repeats(machine);
    *cycles = 0;
    if (machine->ideal_barriers)
        return report_add(report, STATUS_INVALID, "ideal.barriers=true runs a launch twice; the laws are of one run");
    enum status status = outcome_of(&plain, file, machine, IN_TIME, NULL, report);
    if (!status)
        status = compare(file, &plain, wanted, false, report);
    if (!status)
        status = outcome_of(&heard, file, machine, all ? HEARD : HEARD_OF_SOME, repeats ? &trace : NULL, report);
    if (!status)
        status = compare(file, &heard, wanted, all, report);
    if (!status && plain.cycles != heard.cycles)
        status = report_add(report, STATUS_WRONG, "%" PRIu64 " cycles, and %" PRIu64 " when every issue is observed",
                            plain.cycles, heard.cycles);
    if (!status && repeats)
        status = outcome_of(&replayed, file, machine, IN_TIME, &trace, report);
    if (!status && repeats)
        status = compare_replay(&replayed, &plain, report);
    *cycles = plain.cycles;
    arena_free(&replayed.arena);
    arena_free(&plain.arena);
    arena_free(&heard.arena);
    return status;
}

void laws_free(struct laws_reference *reference) {
    if (reference->outcome)
        arena_free(&reference->outcome->arena);
    arena_free(&reference->arena);
    *reference = (struct laws_reference){0};
}
