/* SPDX-License-Identifier: Apache-2.0 */
/* Running the compilers, one step after the other, and reading what they leave. */
#include "base/team.h"
#include "compile/job.h"
#include "compile/metadata.h"
#include "compile/repair.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

const char *job_hash(struct arena *arena, const char *data, size_t bytes) {
    XXH128_hash_t hash = XXH3_128bits(data, bytes);
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

const char *job_key_join(struct arena *arena, const char *key, const char *part) {
    return arena_printf(arena, "%s\n%s", key, part);
}

/* A text with every place of one path replaced. */
static const char *path_replaced(struct arena *arena, const char *text, const char *path, const char *by) {
    const size_t length = strlen(path);
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, path)); at += length)
        found++;
    if (!found || strcmp(path, by) == 0)
        return text;
    char *out = arena_alloc(arena, strlen(text) + found * strlen(by) + 1), *end = out;
    for (const char *at; (at = strstr(text, path)); text = at + length) {
        memcpy(end, text, (size_t)(at - text));
        end = stpcpy(end + (at - text), by);
    }
    memcpy(end, text, strlen(text) + 1);
    return out;
}

/* A file that includes itself has every message begin with hundreds of lines. Of a log beyond all reading the first and the last
 * lines are kept: what went wrong first, and what ended it. */
static const char *log_shortened(struct arena *arena, const char *log) {
    enum { KEPT_BYTES = 32 << 10 }; /* at either end */
    const size_t length = strlen(log);
    if (length <= 2 * KEPT_BYTES)
        return log;
    const char *head = log + KEPT_BYTES, *tail = log + length - KEPT_BYTES;
    while (head > log && head[-1] != '\n')
        head--;
    while (*tail && tail[-1] != '\n')
        tail++;
    size_t lines = 0;
    for (const char *at = head; at < tail; at++)
        lines += *at == '\n';
    return arena_printf(arena, "%.*s[%zu lines left out]\n%s", (int)(head - log), log, lines, tail);
}

/* Messages name files as the user does, not where we put a copy of them; of a crash only the first words are kept,
 * not the compiler's own call stack. */
static const char *log_clean(struct compile_job *job, const char *log) {
    struct arena *arena = job->arena;
    log = log_shortened(arena, log);
    const char *stop = strstr(log, "PLEASE submit a bug report");
    if (stop)
        log = arena_strndup(arena, log, (size_t)(stop - log));
    log = path_replaced(arena, log, job_headers(job), "");
    log = path_replaced(arena, log, arena_printf(arena, "%s/", job->temporary), "");
    for (unsigned i = 0; i < job->options->include_count; i++)
        log = path_replaced(arena, log, job->includes[i], job->options->includes[i]);
    return strcmp(job->folder, "/") == 0 ? log : path_replaced(arena, log, job->folder, job->given);
}

enum { COMPILE_SECONDS = 300 };
static const uint64_t compile_memory_bytes = (uint64_t)4 << 30, compile_file_bytes = (uint64_t)1 << 30;

struct process_cage compile_cage(const char *folder) {
    const char *given = getenv("HEDDLE_COMPILE_SECONDS");
    const unsigned long seconds = given ? strtoul(given, NULL, 10) : COMPILE_SECONDS;
    return (struct process_cage){.folder = folder,
                                 .seconds = seconds && seconds < UINT16_MAX ? (unsigned)seconds : COMPILE_SECONDS,
                                 .memory_bytes = compile_memory_bytes,
                                 .file_bytes = compile_file_bytes};
}

/* Set once, before anything is compiled. */
static struct {
    compile_watch *watch;
    void *self;
} watcher;

void compile_set_watch(compile_watch *watch, void *self) { watcher.watch = watch, watcher.self = self; }

static void tell_slow(void *self) {
    struct compile_job *job = self;
    job->is_slow = true;
    watcher.watch(watcher.self, job->name, false);
}

void job_tell_end(const struct compile_job *job) {
    if (job->is_slow)
        watcher.watch(watcher.self, job->name, true);
}

/* A job is slow when its steps together are. */
static void watch_step(struct compile_job *job, struct process_cage *cage) {
    static const double patience_seconds = 1;
    if (!watcher.watch || job->is_slow)
        return;
    const double now = team_clock_seconds();
    job->begun = job->begun > 0 ? job->begun : now;
    cage->tell = tell_slow, cage->self = job;
    cage->tell_seconds = patience_seconds - (now - job->begun);
}

enum status job_step(struct compile_job *job, struct command_line *line, bool quiet) {
    struct process_end end;
    const char *output = arena_printf(job->arena, "%s/.heddle.log", job->temporary);
    struct process_cage cage = compile_cage(job->temporary);
    watch_step(job, &cage);
    enum status status = process_run(job->arena, line, output, &cage, &end, job->report);
    if (status != STATUS_OK)
        return status;
    const char *log = log_clean(job, end.output);
    if (end.stopped)
        log = arena_printf(job->arena, "%s: the compiler %s %s\n%s", job->name, line->items[0], end.stopped, log);
    job->log = job->log && *job->log ? arena_printf(job->arena, "%s%s", job->log, log) : log;
    if (end.exit_code == 0)
        return STATUS_OK;
    struct report *report = quiet ? NULL : job->report;
    if (end.stopped)
        return report_add(report, STATUS_INVALID, "%s", log);
    if (end.signal)
        return report_add(report, STATUS_INVALID, "%s: the compiler %s ended by signal %d:\n%s", job->name,
                          line->items[0], end.signal, log);
    return report_add(report, STATUS_INVALID, "%s: does not compile:\n%s", job->name, log);
}

enum status job_preprocess(struct compile_job *job, const char **out, bool quiet) {
    struct command_line line = {0};
    const char *result = arena_printf(job->arena, "%s/.heddle.i", job->temporary);
    job_add_clang(job, &line);
    job_add_flags(job, &line);
    if (job->language == COMPILE_CUDA) {
        command_line_add(job->arena, &line, "-include");
        command_line_add(job->arena, &line, arena_printf(job->arena, "%s/cuda_device.h", job->tools.share));
    }
    command_line_add(job->arena, &line, "-E");
    command_line_add(job->arena, &line, job->path);
    command_line_add(job->arena, &line, "-o");
    command_line_add(job->arena, &line, result);
    const char *log = job->log;
    enum status status = job_step(job, &line, quiet);
    if (status != STATUS_OK)
        return status;
    job->log = log; /* warnings of the preprocessor come again with the compile */
    *out = file_try_read(job->arena, result, NULL);
    return *out ? STATUS_OK : report_add(job->report, STATUS_SYSTEM, "%s: %s", result, strerror(errno));
}

/* Our own files that become bitcode, in the order of linking: each may use what stands behind it. The first is for whole CUDA
 * programs only. */
static const char *const library_sources[] = {"libdevice.cl", "half.cl",  "groups.cl",   "builtins.cl",
                                              "math.cl",      "image.cl", "collective.c"};
enum { LIBRARY_COUNT = sizeof library_sources / sizeof *library_sources };

const char *job_library_key(struct compile_job *job) {
    const char *key = "";
    for (unsigned i = 0; i <= LIBRARY_COUNT; i++) {
        const char *name = i < LIBRARY_COUNT ? library_sources[i] : "builtins.h";
        size_t bytes = 0;
        const char *text = file_try_read(job->arena, arena_printf(job->arena, "%s/%s", job->tools.share, name), &bytes);
        key = job_key_join(job->arena, key, text ? job_hash(job->arena, text, bytes) : "none");
    }
    return key;
}

/* One of them as bitcode for this target: compiled once per compiler, version of the files, sm and width. */
static enum status bitcode_get(struct compile_job *job, const char *name, struct command_line *line,
                               const char *library_key, const char **out) {
    struct arena *arena = job->arena;
    const char *source = arena_printf(arena, "%s/%s", job->tools.share, name);
    const char *key = job_key_join(arena, CACHE_FORM, job->tools.clang_version);
    for (unsigned i = 1; i < line->count; i++)
        key = job_key_join(arena, key, line->items[i]);
    key = job_key_join(arena, job_key_join(arena, key, name), library_key);
    const char *file = job_hash(arena, key, strlen(key));
    char *kept = job->tools.cache ? arena_printf(arena, "%s/%s.bc", job->tools.cache, file) : NULL;
    *out = kept;
    if (kept && file_exists(kept))
        return STATUS_OK;
    const char *fresh = arena_printf(arena, "%s/.heddle.%s.bc", job->temporary, name);
    const char *const output[] = {"-c", source, "-o", fresh};
    command_line_add_all(arena, line, output, COUNT(output));
    const char *log = job->log;
    enum status status = job_step(job, line, false);
    job->log = log;
    if (status != STATUS_OK)
        return status;
    if (!kept || !file_publish(arena, fresh, kept))
        *out = fresh;
    return STATUS_OK;
}

/* What is ours wins over libclc's, so it is linked first; only what the source uses is taken. */
enum status job_add_libraries(struct compile_job *job, bool is_program, struct command_line *line) {
    const char *files[LIBRARY_COUNT + 1] = {[LIBRARY_COUNT] = job_libclc(job)};
    const char *key = job_library_key(job);
    const unsigned first = is_program ? 0 : 1;
    enum status status = STATUS_OK;
    for (unsigned i = first; status == STATUS_OK && i < LIBRARY_COUNT; i++) {
        struct command_line compile = {0};
        job_add_library_flags(job, strstr(library_sources[i], ".cl") != NULL, &compile);
        status = bitcode_get(job, library_sources[i], &compile, key, &files[i]);
    }
    for (unsigned i = first; status == STATUS_OK && i < COUNT(files); i++) {
        const char *const link[] = {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", files[i]};
        command_line_add_all(job->arena, line, link, COUNT(link));
    }
    return status;
}

/* ".file 1 "./saxpy.cl"" -> ".file 1 "saxpy.cl"": names start at the source's own folder, and a header from
 * elsewhere keeps only its last name. */
static char *clean_file_names(struct compile_job *job, const char *ptx) {
    char *out = arena_alloc(job->arena, strlen(ptx) + 1), *end = out;
    for (const char *line = ptx; *line;) {
        size_t length = strcspn(line, "\n");
        const char *quote = memchr(line, '"', length);
        size_t blank = strspn(line, " \t");
        if (quote && strncmp(line + blank, ".file", 5) == 0) {
            const char *name = quote + 1, *stop = name + strcspn(name, "\"\n");
            while (strncmp(name, "./", 2) == 0)
                name += 2;
            if (strncmp(name, job->folder, strlen(job->folder)) == 0)
                name += strlen(job->folder);
            if (*name == '/')
                while (memchr(name, '/', (size_t)(stop - name)))
                    name++;
            memcpy(end, line, (size_t)(quote + 1 - line));
            end += quote + 1 - line;
            memcpy(end, name, (size_t)(line + length - name));
            end += line + length - name;
        } else {
            memcpy(end, line, length);
            end += length;
        }
        line += length;
        if (*line == '\n')
            *end++ = *line++;
    }
    *end = '\0';
    return out;
}

static void add_output(struct compile_job *job, struct command_line *line, const char *source, const char *result) {
    command_line_add(job->arena, line, source);
    command_line_add(job->arena, line, "-o");
    command_line_add(job->arena, line, result);
}

static enum status result_read(struct compile_job *job, const char *path, const char **out) {
    *out = file_try_read(job->arena, path, NULL);
    return *out ? STATUS_OK : report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

static enum status ptx_read(struct compile_job *job, const char *path, const char **out) {
    enum status status = result_read(job, path, out);
    if (status == STATUS_OK)
        *out = clean_file_names(job, *out);
    return status;
}

/* Source to optimised IR, which has the argument information. */
enum status job_make_ir(struct compile_job *job, const char **ir) {
    struct arena *arena = job->arena;
    const char *path = arena_printf(arena, "%s/.heddle.ll", job->temporary);
    struct command_line line = {0};
    job_add_clang(job, &line);
    job_add_flags(job, &line);
    job_add_maps(job, &line);
    enum status status = job_add_libraries(job, false, &line);
    if (status != STATUS_OK)
        return status;
    command_line_add(arena, &line, "-S");
    command_line_add(arena, &line, "-emit-llvm");
    add_output(job, &line, job->path, path);
    status = job_step(job, &line, false);
    return status == STATUS_OK ? result_read(job, path, ir) : status;
}

static enum status ir_write(struct compile_job *job, const char *path, const char *ir) {
    return file_write_private(path, ir, strlen(ir))
               ? STATUS_OK
               : report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

enum status job_make_ptx(struct compile_job *job, const char *ir, const char **ptx) {
    struct arena *arena = job->arena;
    const char *ir_path = arena_printf(arena, "%s/.heddle.ll", job->temporary);
    const char *ptx_path = arena_printf(arena, "%s/.heddle.ptx", job->temporary);
    enum status status = ir_write(job, ir_path, repair_ir(arena, ir));
    if (status != STATUS_OK)
        return status;
    struct command_line line = {0};
    job_add_ir_flags(job, &line);
    command_line_add(arena, &line, "-S");
    add_output(job, &line, ir_path, ptx_path);
    status = job_step(job, &line, false);
    return status == STATUS_OK ? ptx_read(job, ptx_path, ptx) : status;
}

/* The compiler links bitcode into the module it is given: the first stays text, the others become bitcode. */
enum status job_link_ir(struct compile_job *job, const char *const *objects, unsigned count, const char **ir) {
    struct arena *arena = job->arena;
    const char *first = arena_printf(arena, "%s/.heddle.0.ll", job->temporary);
    const char *linked = arena_printf(arena, "%s/.heddle.linked.ll", job->temporary);
    struct command_line line = {0};
    job_add_ir_flags(job, &line);
    enum status status = ir_write(job, first, objects[0]);
    for (unsigned i = 1; status == STATUS_OK && i < count; i++) {
        const char *text = arena_printf(arena, "%s/.heddle.%u.ll", job->temporary, i);
        const char *bitcode = arena_printf(arena, "%s/.heddle.%u.bc", job->temporary, i);
        const char *const use[] = {"-Xclang", "-mlink-bitcode-file", "-Xclang", bitcode};
        struct command_line convert = {0};
        job_add_ir_flags(job, &convert);
        command_line_add(arena, &convert, "-emit-llvm");
        command_line_add(arena, &convert, "-c");
        add_output(job, &convert, text, bitcode);
        status = ir_write(job, text, objects[i]);
        if (status == STATUS_OK)
            status = job_step(job, &convert, false);
        command_line_add_all(arena, &line, use, COUNT(use));
    }
    command_line_add(arena, &line, "-S");
    command_line_add(arena, &line, "-emit-llvm");
    add_output(job, &line, first, linked);
    if (status == STATUS_OK)
        status = job_step(job, &line, false);
    return status == STATUS_OK ? result_read(job, linked, ir) : status;
}

enum status job_run_opencl(struct compile_job *job, const char **metadata, const char **ptx) {
    const char *ir = NULL;
    const enum status status = job_make_ir(job, &ir);
    if (status != STATUS_OK)
        return status;
    *metadata = metadata_extract(job->arena, ir);
    return job_make_ptx(job, ir, ptx);
}

enum status job_run_cuda(struct compile_job *job, const char *program, bool quiet, const char **ptx) {
    struct arena *arena = job->arena;
    const char *ptx_path = arena_printf(arena, "%s/.heddle.ptx", job->temporary);
    struct command_line line = {0};
    enum status status = STATUS_OK;
    if (program == job->tools.clang)
        job_add_clang(job, &line);
    else
        command_line_add(arena, &line, program);
    job_add_flags(job, &line);
    if (program == job->tools.clang) {
        job_add_maps(job, &line);
        command_line_add(arena, &line, "-include");
        command_line_add(arena, &line, arena_printf(arena, "%s/cuda_device.h", job->tools.share));
        command_line_add(arena, &line, "-S");
        if (job_libclc(job) &&
            (status = job_add_libraries(job, false, &line)) != STATUS_OK) /* math is there only with libclc */
            return status;
    }
    add_output(job, &line, job->path, ptx_path);
    status = job_step(job, &line, quiet);
    return status == STATUS_OK ? ptx_read(job, ptx_path, ptx) : status;
}
