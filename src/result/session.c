/* SPDX-License-Identifier: Apache-2.0 */
#include "result/session.h"

#include <stddef.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "result/lines.h"
#include "result/parts.h"

const char *session_source(const char *source) {
    const char *end = strchr(source, '\n');
    return strncmp(source, "#line 1 ", 8) == 0 && end ? end + 1 : source;
}

/* Programs are named by their first kernel, or by themselves, so two may have one name: "add.cl" and "add-2.cl" then. */
static const char *unique_name(struct session *session, const char *name, uint64_t source_hash) {
    const char *dot = strrchr(name, '.'), *unique = name;
    const int stem = (int)(dot ? dot - name : (ptrdiff_t)strlen(name));
    unsigned number = 1;
    for (const struct session_module *other = session->modules; other;) {
        if (other->source_hash == source_hash && strcmp(other->given_name, name) == 0)
            return other->source_name;
        const bool is_taken = strcmp(other->source_name, unique) == 0;
        if (is_taken)
            unique = arena_printf(&session->arena, "%.*s-%u%s", stem, name, ++number, dot ? dot : "");
        other = is_taken ? session->modules : other->next;
    }
    return unique;
}

/* Files that a compiler named by where they lie are the program's own: their lines are shown, under names that have no folder of the
 * host. The text of the first is what the program's source is called from then on. */
static void read_files(struct arena *arena, struct session_module *module) {
    enum { LIMIT_BYTES = 4 << 20 };
    const struct module *code = module->run.module;
    for (unsigned i = 1; i < code->file_count; i++) {
        const char *path = code->files[i];
        char *text = NULL;
        size_t length = 0;
        if (*path != '/')
            continue;
        code->files[i] = source_name_here(arena, path);
        if (file_read(path, LIMIT_BYTES, arena, &text, &length, NULL) != STATUS_OK)
            continue;
        source_give(&module->run.sources, code->files[i], text);
        module->source = i == 1 && !*module->source ? text : module->source;
    }
}

struct session_module *session_add(struct session *session, struct device *device, struct program *program,
                                   const char *source) {
    struct arena *arena = &session->arena;
    struct session_module *module = ARENA_NEW(arena, struct session_module);
    const struct module *code = program_module(program);
    module->run = (struct run){.machine = session->machine, .device = device, .program = program, .module = code};
    module->run.options.in_time = session->in_time;
    module->run.module_hash = XXH64(code->text, strlen(code->text), 0);
    module->run.sources = sources_of(arena, code, NULL);
    module->source = source;
    read_files(arena, module);
    module->source_hash = XXH64(module->source, strlen(module->source), 0);
    module->given_name = code->file_count > 1 ? lines_file_name(code, 1) : code->name;
    module->source_name = unique_name(session, module->given_name, module->source_hash);
    if (code->file_count > 1) {
        const char *file = code->files[1];
        for (unsigned i = 1; i < code->file_count; i++) /* what lines are called */
            code->files[i] = strcmp(code->files[i], file) == 0 ? module->source_name : code->files[i];
        source_give(&module->run.sources, module->source_name, session_source(module->source));
    }
    if (session->last)
        session->last->next = module;
    else
        session->modules = module;
    session->last = module;
    return module;
}

void session_keep(struct session *session, struct session_module *module, const struct launch *launch,
                  struct launch_result *result) {
    struct run *run = &module->run;
    unsigned capacity = module->capacity;
    run->launches = arena_grow(&session->arena, run->launches, run->done, &capacity, sizeof *run->launches);
    run->results = arena_grow(&session->arena, run->results, run->done, &module->capacity, sizeof *run->results);
    run->launches[run->done] = *launch;
    run->results[run->done] = *result;
    run->results[run->done].arena.escape = NULL;
    *ARENA_PUSH(&session->arena, &session->launches) = (struct session_launch){module, run->done};
    run->done++;
    run_fold(run);
}

void session_fault(struct session *session, const char *message) {
    session->faults = arena_printf(&session->arena, "%s%s", session->faults ? session->faults : "", message);
}

void session_remark(struct session *session, const char *message) {
    session->remarks = arena_printf(&session->arena, "%s%s", session->remarks ? session->remarks : "", message);
}

void session_close(struct session *session) {
    for (struct session_module *module = session->modules; module; module = module->next)
        for (unsigned i = 0; i < module->run.done; i++)
            launch_result_free(&module->run.results[i]);
    arena_free(&session->arena);
    *session = (struct session){0};
}

enum status session_set_limits(struct machine *machine, struct report *report) {
    enum status status = STATUS_OK;
    if (!machine->gpu.max_cycles)
        status = machine_set(machine, "limits.max_cycles=10000000000", "OpenCL", report);
    if (!status && !machine->max_instructions)
        status = machine_set(machine, "functional.max_instructions=100000000000", "OpenCL", report);
    return status;
}
