/* SPDX-License-Identifier: Apache-2.0 */
/* The options of heddle run: what goes together, and what does not. */
#include "cli/run.h"

#include <string.h>

#include "cli/comparison.h"
#include "cli/energy.h"

static enum status read_dump(struct run_command *s, const char *text, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return report_add(report, STATUS_INVALID, "--dump takes NAME=FILE, such as y=y.npy, not '%s'", text);
    const char *name = arena_strndup(arena, text, (size_t)(equals - text));
    struct dump *dump = &s->dumps[s->dump_count++];
    *dump = (struct dump){launch_file_buffer(&s->file, name), equals + 1};
    if (dump->buffer < s->file.buffer_count)
        return check_writable(arena, "dump", dump->path, report);
    const char *list = "";
    for (unsigned i = 0; i < s->file.buffer_count; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", s->file.buffers[i].name);
    return report_add(report, STATUS_INVALID, "--dump: there is no buffer '%s'; buffers are %s", name, list);
}

static enum status read_outputs(struct run_command *s, struct report *report) {
    const struct arguments *arguments = s->arguments;
    const char *output = arguments_value(arguments, "output");
    enum status status = output ? check_writable(&s->arguments->arena, "output", output, report) : STATUS_OK;
    s->dumps = ARENA_ARRAY(&s->arguments->arena, struct dump, arguments->given.count);
    for (unsigned i = 0; !status && i < arguments->given.count; i++)
        if (strcmp(arguments->given.items[i].option->name, "dump") == 0)
            status = read_dump(s, arguments->given.items[i].value, report);
    return status;
}

/* What --timeline and --pipeline are to hold. */
static enum status read_window(struct run_command *s, struct report *report) {
    const struct arguments *arguments = s->arguments;
    static const char *const files[] = {"timeline", "pipeline"}, *const limits[] = {"from", "to", "sm", "block"};
    uint64_t values[4] = {0};
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < 2 && !status; i++) {
        const char *path = arguments_value(arguments, files[i]);
        s->is_watched |= path != NULL;
        status = path ? check_writable(&s->arguments->arena, files[i], path, report) : STATUS_OK;
    }
    for (unsigned i = 0; i < 4 && !status; i++) {
        bool is_given = arguments_has(arguments, limits[i]);
        if (i == 0)
            is_given = run_checkpoints_cycle(arguments, &values[i]);
        else
            status = arguments_number(arguments, limits[i], i == 1 ? UINT64_MAX : 0, i == 2 ? UINT32_MAX : UINT64_MAX,
                                      &values[i], report);
        if (!status && !s->is_watched && is_given)
            status =
                report_add(report, STATUS_INVALID, "--%s needs --timeline or --pipeline; neither is given", limits[i]);
    }
    s->window = (struct timeline_window){.from = values[0],
                                         .to = values[1],
                                         .one_sm = arguments_has(arguments, "sm"),
                                         .one_block = arguments_has(arguments, "block"),
                                         .sm = (uint32_t)values[2],
                                         .block = values[3]};
    if (status || !s->is_watched)
        return status;
    if (!s->run_options.in_time)
        return report_add(report, STATUS_INVALID,
                          "--timeline and --pipeline need a run in time; leave out --functional");
    if (s->variants > 1)
        return report_add(report, STATUS_INVALID,
                          "--timeline and --pipeline are for one machine, not for lists of values");
    return STATUS_OK;
}

/* What is recorded or replayed is one run in time. */
static enum status read_traces(struct run_command *s, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    const char *to = arguments_value(s->arguments, "trace"), *from = arguments_value(s->arguments, "replay");
    if (!to && !from)
        return STATUS_OK;
    const char *option = to ? "trace" : "replay";
    if (to && from)
        return report_add(report, STATUS_INVALID,
                          "--trace and --replay: leave one out; a run is either recorded or replayed");
    if (!s->run_options.in_time)
        return report_add(report, STATUS_INVALID, "--%s needs a run in time; leave out --functional", option);
    if (to && s->variants > 1)
        return report_add(report, STATUS_INVALID, "--trace is for one machine, not for lists of values");
    if (from && arguments_has(s->arguments, "dump"))
        return report_add(report, STATUS_INVALID, "--dump: a replayed run computes no values; leave out --replay");
    s->trace_to.arena = arena;
    s->run_options.trace_to = to ? &s->trace_to : NULL;
    s->run_options.trace_from = from ? &s->trace_from : NULL;
    return to ? check_writable(arena, "trace", to, report) : trace_open(&s->trace_from, from, arena, report);
}

/* --predict-threads, of one run in time that nobody else looks at. */
static enum status read_prediction(struct run_command *s, struct report *report) {
    if (!arguments_has(s->arguments, "predict-threads"))
        return STATUS_OK;
    if (!s->run_options.in_time || s->is_watched || s->variants > 1)
        return report_add(report, STATUS_INVALID,
                          "--predict-threads measures one run in time; leave out --functional, --timeline, --pipeline "
                          "and lists of values");
    s->run_options.meter = &s->meter;
    return STATUS_OK;
}

/* A sample is of one run in time, of which there is no whole. */
static enum status read_sample(struct run_command *s, struct report *report) {
    static const char *const others[] = {"functional", "trace",           "replay", "timeline",         "pipeline",
                                         "energy",     "predict-threads", "from",   "checkpoint-every", "cold"};
    const char *text = arguments_value(s->arguments, "sample");
    s->samples = text != NULL;
    if (!text)
        return STATUS_OK;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (arguments_has(s->arguments, others[i]))
            return report_add(report, STATUS_INVALID, "--sample and --%s: leave one out", others[i]);
    if (s->variants > 1)
        return report_add(report, STATUS_INVALID, "--sample is for one machine, not for lists of values");
    s->sample_request.seed = s->run_options.seed;
    return sample_read(text, &s->sample_request, report);
}

/* What goes on from a checkpoint, and what leaves some behind. */
static enum status read_checkpoints(struct run_command *s, struct report *report) {
    const char *from = run_checkpoints_from(s->arguments);
    enum status status = STATUS_OK;
    if (from)
        status = launch_file_from(&s->file, from, s->run_options.files, &s->arguments->arena, report);
    if (!status && arguments_has(s->arguments, "cold") && !s->file.checkpoint)
        status =
            report_add(report, STATUS_INVALID,
                       "--cold needs a checkpoint: give --from CHECKPOINT, or the key 'checkpoint' in the launch file");
    s->file.cold |= arguments_has(s->arguments, "cold");
    if (!status && arguments_has(s->arguments, "checkpoint-every") && s->variants > 1)
        status = report_add(report, STATUS_INVALID, "--checkpoint-every is for one machine, not for lists of values");
    if (!status && arguments_has(s->arguments, "checkpoint-every") && s->run_options.trace_from)
        status = report_add(
            report, STATUS_INVALID,
            "--checkpoint-every: a replayed run computes no values, so there is no memory to keep; leave out --replay");
    return status ? status : run_checkpoints_read(s->arguments, &s->checkpoints, report);
}

/* Every variant, before the first one runs: a wrong name is not found out after an hour. */
static enum status check_variants(struct run_command *s, struct report *report) {
    struct arena *arena = &s->arguments->arena;
    unsigned without_time = 0;
    const char *needing = ""; /* a line for each mechanism */
    for (unsigned i = 0; i < s->variants; i++) {
        struct machine *machine = &s->machine;
        enum status status = arguments_variant(s->arguments, i, machine, &s->label, report);
        if (!status && s->energy)
            status = energy_check(machine, report);
        const char *reason = status ? NULL : machine_needs_time(machine);
        without_time += !status && !reason;
        if (reason) {
            const char *one = arena_printf(arena, "\n  %s: %s", machine->divergence_mechanism, reason);
            needing = strstr(needing, one) ? needing : arena_printf(arena, "%s%s", needing, one);
        }
        if (status || s->variants > 1)
            machine_close(machine);
        if (status)
            return status;
    }
    if (s->run_options.in_time || without_time)
        return STATUS_OK;
    return report_add(report, STATUS_INVALID, "divergence.mechanism needs time; leave out --functional%s", needing);
}

enum status run_read(struct run_command *s, struct report *report) {
    struct arguments *arguments = s->arguments;
    enum status status = arguments_variants(arguments, &s->variants, report);
    if (status)
        return status;
    s->run_options =
        (struct run_options){.files = &file_access_host, .in_time = !arguments_has(arguments, "functional")};
    if (s->run_options.in_time)
        s->run_options.watch = watch_progress, s->run_options.watcher = &s->watch;
    if (s->variants > 1 && (s->to_stdout || arguments_has(arguments, "dump")))
        return report_add(report, STATUS_INVALID, "%s is for one machine; with lists of values use -o FILE.json",
                          s->to_stdout ? "-o -" : "--dump");
    if (s->energy && !s->run_options.in_time)
        return report_add(report, STATUS_INVALID, "--energy needs a run in time; leave out --functional");
    status = arguments_number(arguments, "seed", 1, (UINT64_C(1) << 53) - 1, &s->run_options.seed, report);
    if (!status)
        status = arguments_number(arguments, "lines", 8, 1000000, &s->lines, report);
    if (!status)
        status = read_window(s, report);
    if (!status)
        status = read_traces(s, report);
    if (!status)
        status = read_prediction(s, report);
    if (!status)
        status = read_sample(s, report);
    if (!status)
        status = check_variants(s, report);
    if (!status && s->samples)
        status = sample_run_check_machine(&s->machine, &s->sample_request, report);
    if (!status)
        status = arguments_launch_file(arguments, &s->file, report);
    if (!status)
        status = read_checkpoints(s, report);
    return status ? status : read_outputs(s, report);
}
