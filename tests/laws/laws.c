/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of divergence mechanisms, one launch file on many machines: laws FILE REFERENCE MACHINE...
 * REFERENCE is the mechanism of the functional run that all are held against; a MACHINE is "GPU KEY=VALUE...". Of each a
 * line "VERDICT <tab> CYCLES <tab> text" goes to the standard output, where VERDICT is
 *   same      memory, output, threads, and instructions by PC and by thread are those of the functional run, every
 *             thread went its own way to its end, no structure outgrew its key
 *   refused   the machine says why it does not run this
 *   stopped   the launch stopped: a deadlock, a fault or a limit
 *   broken    a law; the text says which
 * Every machine runs twice: as users run it, and with somebody who hears of every issue. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "machine/machine.h"
#include "launch/run.h"
#include "emulate/emulate.h"
#include "simt/threads.h"

/* What is left of a run. */
struct outcome {
    struct arena arena;
    uint64_t threads, thread_instructions, cycles;
    uint64_t *by_pc;     /* thread instructions */
    uint32_t *by_thread; /* through all launches, those of `counted` */
    uint32_t code_count;
    bool tries_again;
    void **buffers;
    uint64_t *buffer_bytes;
    const char *output;
    size_t output_bytes;
};

enum { MESSAGE_BYTES = 400 };

/* Somebody who hears of every issue of a launch. */
struct hearer {
    const struct module *module;
    uint32_t *counted; /* instructions before this PC, but for those that may issue for threads that they do not name */
    uint32_t *counts;  /* of each thread of the launch */
    uint32_t *next;    /* where it goes on; NO_PC: it has not begun */
    bool *ended;
    uint64_t threads, block_threads;
    uint32_t first_pc;
    char broken[MESSAGE_BYTES]; /* the first law that was */
};

/* A jump without a guard does the same for all threads that stand there, so that one issue may serve them all; and an
 * instruction whose guard does not hold may pass a thread by. Both count in the thread instructions of their PC. */
static bool names_its_threads(const struct inst *inst) { return inst->guard < 0 && inst->op != OP_BRA; }

static void hear_run(void *self, const struct issue_run *run) {
    struct hearer *h = self;
    for (BITS_EACH(lane, run->lanes))
        h->counts[run->block * h->block_threads + run->first_thread + lane] +=
            h->counted[run->pc + run->issues] - h->counted[run->pc];
}

/* Can a thread that was to go on at `from` be at `pc` without an issue that named it? */
static bool leads_to(const struct hearer *h, uint32_t from, uint32_t pc) {
    for (uint32_t steps = 0; from != pc && from < h->module->code_count && steps < h->module->code_count; steps++) {
        const struct inst *inst = &h->module->code[from];
        if (names_its_threads(inst))
            return false;
        from = inst->guard < 0 ? inst->target : from + 1;
    }
    return from == pc;
}

static void hear_thread(struct hearer *h, uint64_t thread, unsigned lane, const struct sm_issue *issue) {
    const uint32_t pc = issue->group.pc;
    const struct executed *executed = issue->executed;
    const char *wrong = NULL;
    if (thread >= h->threads || h->ended[thread])
        wrong = "has ended or never was";
    else if (!leads_to(h, h->next[thread] == NO_PC ? h->first_pc : h->next[thread], pc))
        wrong = "does not stand there";
    if (wrong && !h->broken[0])
        snprintf(h->broken, sizeof h->broken, "cycle %" PRIu64 ": the group at PC %u has thread %" PRIu64 ", which %s",
                 issue->cycle, (unsigned)pc, thread, wrong);
    if (wrong)
        return;
    h->counts[thread] += names_its_threads(&h->module->code[pc]);
    h->next[thread] = threads_next(executed, lane);
    h->ended[thread] = executed->flow == FLOW_EXIT && executed->taken >> lane & 1;
}

static void hear_issue(void *self, const struct sm *sm, const struct sm_issue *issue) {
    struct hearer *h = self;
    const struct group *group = &issue->group;
    for (BITS_EACH(lane, group->lanes)) {
        const unsigned thread = group->threads ? group->threads[lane] : issue->slot * LANES_MAX + lane;
        const uint64_t block = sm_block_of(sm, thread / LANES_MAX);
        hear_thread(h, block * h->block_threads + sm_thread_of_block(sm_shape_of(sm), thread), lane, issue);
    }
}

static void hearer_create(struct hearer *h, struct arena *arena, const struct module *module,
                          const struct launch *launch) {
    *h = (struct hearer){.module = module, .first_pc = launch->kernel->first_pc};
    h->block_threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    h->threads = h->block_threads * launch->grid[0] * launch->grid[1] * launch->grid[2];
    h->counted = ARENA_ARRAY(arena, uint32_t, module->code_count + 1u);
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        h->counted[pc + 1] = h->counted[pc] + names_its_threads(&module->code[pc]);
    h->counts = ARENA_ARRAY(arena, uint32_t, h->threads);
    h->next = ARENA_ARRAY(arena, uint32_t, h->threads);
    h->ended = ARENA_ARRAY(arena, bool, h->threads);
    for (uint64_t i = 0; i < h->threads; i++)
        h->next[i] = NO_PC;
}

/* A compare-and-swap that others came before is tried again: order shows in how often, though not in what comes out. */
static bool tries_again(const struct module *module) {
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (module->code[pc].atom == ATOM_CAS)
            return true;
    return false;
}

/* ---- a run ---- */

static void keep(struct outcome *out, struct run *run) {
    out->code_count = run->module->code_count;
    out->tries_again = tries_again(run->module);
    out->by_pc = ARENA_ARRAY(&out->arena, uint64_t, run->module->code_count);
    out->buffer_bytes = ARENA_ARRAY(&out->arena, uint64_t, run->file->buffer_count);
    out->buffers = ARENA_ARRAY(&out->arena, void *, run->file->buffer_count);
    for (unsigned i = 0; i < run->done; i++) {
        const struct launch_result *result = &run->results[i];
        out->threads += result->stats.threads;
        out->thread_instructions += result->stats.thread_instructions;
        out->cycles += result->timed ? result->timed->cycles : 0;
        for (uint32_t pc = 0; result->instructions && pc < run->module->code_count; pc++)
            out->by_pc[pc] += result->instructions[pc].threads;
        char *both = arena_alloc(&out->arena, out->output_bytes + result->output_bytes + 1);
        if (out->output_bytes)
            memcpy(both, out->output, out->output_bytes);
        if (result->output_bytes)
            memcpy(both + out->output_bytes, result->output, result->output_bytes);
        out->output = both, out->output_bytes += result->output_bytes;
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
    const struct divergence_ops *mechanism = timed->mechanism;
    char name[128];
    for (const struct param_description *key = mechanism->params; key && key->key; key++) {
        const char *dot = strrchr(key->key, '.') + 1, *end = strstr(dot, "_entries");
        if (!end)
            continue;
        const struct param_set *set = &run->machine->params;
        const uint64_t limit = strtoull(param_text(set, param_find(set, key->key)), NULL, 0);
        const struct stat_description *stat = mechanism->stats;
        snprintf(name, sizeof name, "%.*s_largest", (int)(end - dot), dot);
        while (stat && stat->name && strcmp(stat->name, name) != 0)
            stat++;
        if (!stat || !stat->name)
            return report_add(report, STATUS_WRONG, "%s limits a structure of which no counter %s tells", key->key,
                              name);
        const uint64_t largest = stat_counter(timed->mechanism_stats, stat);
        if (limit && largest > limit)
            return report_add(report, STATUS_WRONG, "%s is %" PRIu64 ", and %s %" PRIu64, key->key, limit, name,
                              largest);
    }
    return STATUS_OK;
}

static enum status check_threads(const struct hearer *h, struct report *report) {
    if (h->broken[0])
        return report_add(report, STATUS_WRONG, "%s", h->broken);
    for (uint64_t i = 0; i < h->threads; i++)
        if (!h->ended[i])
            return report_add(report, STATUS_WRONG, "thread %" PRIu64 " has not ended", i);
    return STATUS_OK;
}

enum how { FUNCTIONAL, IN_TIME, HEARD, HEARD_OF_SOME /* an issue may stand for threads that it does not name */ };

static enum status run_all(struct outcome *out, struct run *run, enum how how, struct report *report) {
    enum status status = STATUS_OK;
    uint64_t threads = 0;
    while (!status && run->done < run->file->launch_count) {
        struct launch *launch = &run->launches[run->done];
        struct hearer hearer;
        const struct issue_listener listener = {hear_run, &hearer};
        const struct sm_watcher watcher = {.self = &hearer, .issued = hear_issue};
        hearer_create(&hearer, &out->arena, run->module, launch);
        launch->listener = how == FUNCTIONAL ? &listener : NULL;
        launch->issues = how >= HEARD ? &watcher : NULL;
        status = run_next(run, report);
        if (!status && how == HEARD)
            status = check_threads(&hearer, report);
        if (!status && how == IN_TIME)
            status = check_limits(run, report);
        uint32_t *all = ARENA_ARRAY(&out->arena, uint32_t, threads + hearer.threads);
        if (threads)
            memcpy(all, out->by_thread, threads * sizeof *all);
        memcpy(all + threads, hearer.counts, hearer.threads * sizeof *all);
        out->by_thread = all, threads += hearer.threads;
    }
    if (!status)
        keep(out, run);
    return status;
}

static enum status outcome_of(struct outcome *out, const struct launch_file *file, const struct machine *machine,
                              enum how how, struct report *report) {
    const struct run_options options = {.files = &file_access_host, .seed = 1, .in_time = how != FUNCTIONAL};
    struct run run = {0};
    memset(out, 0, sizeof *out);
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

static enum status compare_memory(const struct launch_file *file, const struct outcome *got,
                                  const struct outcome *wanted, struct report *report) {
    for (unsigned i = 0; i < file->buffer_count; i++) {
        const unsigned char *a = got->buffers[i], *b = wanted->buffers[i];
        for (uint64_t k = 0; memcmp(a, b, wanted->buffer_bytes[i]) != 0; k++)
            if (a[k] != b[k])
                return report_add(report, STATUS_WRONG, "byte %" PRIu64 " of '%s' is %02x, functionally %02x", k,
                                  file->buffers[i].name, a[k], b[k]);
    }
    if (got->output_bytes != wanted->output_bytes || memcmp(got->output, wanted->output, got->output_bytes) != 0)
        return report_add(report, STATUS_WRONG, "what was printed is not what the functional run printed");
    return STATUS_OK;
}

static enum status compare(const struct launch_file *file, const struct outcome *got, const struct outcome *wanted,
                           bool by_thread, struct report *report) {
    enum status status = compare_memory(file, got, wanted, report);
    if (status)
        return status;
    if (got->threads != wanted->threads)
        return report_add(report, STATUS_WRONG, "%" PRIu64 " threads, functionally %" PRIu64, got->threads,
                          wanted->threads);
    if (wanted->tries_again)
        return STATUS_OK;
    for (uint32_t pc = 0; pc < wanted->code_count; pc++)
        if (got->by_pc[pc] != wanted->by_pc[pc])
            return differs(report, "thread instructions at PC", pc, got->by_pc[pc], wanted->by_pc[pc]);
    for (uint64_t i = 0; by_thread && i < wanted->threads; i++)
        if (got->by_thread[i] != wanted->by_thread[i])
            return differs(report, "instructions of thread", i, got->by_thread[i], wanted->by_thread[i]);
    return STATUS_OK;
}

/* ---- machines ---- */

/* "GPU KEY=VALUE..." */
static enum status open_machine(struct machine *machine, const char *text, bool settings, struct report *report) {
    char words[2048];
    snprintf(words, sizeof words, "%s", text);
    char *rest = words;
    enum status status = machine_open(machine, strtok_r(words, " ", &rest), report);
    for (char *word; !status && settings && (word = strtok_r(NULL, " ", &rest)) != NULL;)
        status = machine_set(machine, word, "laws", report);
    return status ? status : machine_check(machine, report);
}

/* The functional run on the GPU of a machine, whatever its other settings. */
static enum status find_reference(struct outcome *out, const struct launch_file *file, const char *text,
                                  const char *mechanism, struct report *report) {
    struct machine machine = {0};
    char setting[256];
    snprintf(setting, sizeof setting, "divergence.mechanism=%s", mechanism);
    enum status status = open_machine(&machine, text, false, report);
    if (!status)
        status = machine_set(&machine, setting, "laws", report);
    if (!status)
        status = outcome_of(out, file, &machine, FUNCTIONAL, report);
    machine_close(&machine);
    return status;
}

static enum status judge(const struct launch_file *file, const char *text, const struct outcome *reference,
                         uint64_t *cycles, struct report *report) {
    struct machine machine = {0};
    struct outcome plain = {0}, heard = {0};
    const bool names_all = !strstr(text, "lwm.scalar=true");
    enum status status = open_machine(&machine, text, true, report);
    if (!status)
        status = outcome_of(&plain, file, &machine, IN_TIME, report);
    if (!status)
        status = compare(file, &plain, reference, false, report);
    if (!status)
        status = outcome_of(&heard, file, &machine, names_all ? HEARD : HEARD_OF_SOME, report);
    if (!status)
        status = compare(file, &heard, reference, names_all, report);
    if (!status && plain.cycles != heard.cycles)
        status = report_add(report, STATUS_WRONG, "%" PRIu64 " cycles, and %" PRIu64 " when somebody looks on",
                            plain.cycles, heard.cycles);
    *cycles = plain.cycles;
    arena_free(&plain.arena);
    arena_free(&heard.arena);
    machine_close(&machine);
    return status;
}

static void print_verdict(enum status status, uint64_t cycles, struct report *report) {
    static const char *const names[] = {"same", "broken", "refused", "stopped", "broken"};
    printf("%s\t%" PRIu64 "\t", names[status], cycles);
    for (const char *text = report_text(report); *text; text++)
        putchar(*text == '\n' || *text == '\t' ? ' ' : *text);
    putchar('\n');
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct arena arena = {0};
    struct report report = {0};
    struct launch_file file;
    char *text = NULL;
    size_t length = 0;
    if (argc < 4)
        return fprintf(stderr, "laws FILE REFERENCE MACHINE...\n"), 2;
    enum status status = file_read(argv[1], LAUNCH_FILE_LIMIT_BYTES, &arena, &text, &length, &report);
    if (!status)
        status = launch_file_parse(&arena, argv[1], text, length, &file, &report);
    if (status)
        return fputs(report_text(&report), stderr), 2;
    struct outcome reference = {0};
    for (int i = 3; i < argc; i++) {
        const size_t name = strcspn(argv[i], " ") + 1;
        struct report one = {0};
        uint64_t cycles = 0;
        if (i == 3 || strncmp(argv[i], argv[i - 1], name) != 0) { /* neighbours on one GPU share it */
            arena_free(&reference.arena);
            status = find_reference(&reference, &file, argv[i], argv[2], &one);
        }
        if (status && !one.text)
            report_add(&one, status, "the functional run failed on this GPU");
        const enum status verdict = status ? status : judge(&file, argv[i], &reference, &cycles, &one);
        print_verdict(verdict, cycles, &one);
        report_free(&one);
    }
    arena_free(&reference.arena);
    arena_free(&arena);
    report_free(&report);
    return 0;
}
