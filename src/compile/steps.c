/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines for the compilers, and running them. */
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

static const char *target_cpu(const struct job *job) {
    return arena_printf(job->arena, "sm_%u", job->options->sm ? job->options->sm : 75);
}

const char *job_headers(const struct job *job) { return arena_printf(job->arena, "%s/.headers/", job->temporary); }

bool job_is_32_bit(const struct job *job) { return job->options->address_bits == 32; }

const char *job_libclc(const struct job *job) { return job_is_32_bit(job) ? job->tools.libclc32 : job->tools.libclc64; }

static const char *optimisation(const struct job *job) {
    static const char *const levels[] = {"-O0", "-O2", "-O1", "-O2", "-O3"};
    int level = job->options->optimisation;
    return level < -1 || level > 3 ? "-O2" : levels[level + 1];
}

static const char *opencl_target(const struct job *job) {
    /* The operating system `nvcl` has pointer parameters carry their address space. */
    return job_is_32_bit(job) ? "--target=nvptx-nvidia-nvcl" : "--target=nvptx64-nvidia-nvcl";
}

static void add_defines(struct job *job) {
    for (unsigned i = 0; i < job->options->define_count; i++)
        arguments_add(job->arena, &job->flags, arena_printf(job->arena, "-D%s", job->options->defines[i]));
}

static void flags_common(struct job *job) {
    struct arguments *flags = &job->flags;
    for (unsigned i = 0; i < job->options->include_count; i++)
        arguments_add(job->arena, flags, arena_printf(job->arena, "-I%s", job->includes[i]));
    arguments_add_all(job->arena, flags, job->options->extra, job->options->extra_count);
}

/* No file of the host's tells it what to do. */
static void add_clang(struct job *job, struct arguments *line) {
    arguments_add(job->arena, line, job->tools.clang);
    arguments_add(job->arena, line, "--no-default-config");
}

static void add_flags(struct job *job, struct arguments *line) {
    arguments_add_all(job->arena, line, job->flags.items, job->flags.count);
    arguments_add(job->arena, line, arena_printf(job->arena, "-I%s/include", job->tools.share)); /* heddle.h */
    if (job->options->header_count) /* not part of the key: their text is, preprocessed */
        arguments_add(job->arena, line, arena_printf(job->arena, "-I%s", job_headers(job)));
}

/* No folder of the host enters the PTX, not even through __FILE__. */
static void add_maps(struct job *job, struct arguments *line) {
    struct arena *arena = job->arena;
    for (unsigned i = 0; i < job->options->include_count; i++)
        arguments_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s/=", job->includes[i]));
    arguments_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s/include/=", job->tools.share));
    arguments_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s=", job->folder));
    if (job->options->header_count)
        arguments_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s=", job_headers(job)));
    arguments_add(arena, line, "-fdebug-compilation-dir=.");
}

/* What the compiler is told of extensions.def; clang knows the rest by its version. */
static void add_extensions(struct job *job, struct arguments *line, const char *standard) {
    static const char *const always[] = {
#define EXTENSION(name) "-Xclang", "-cl-ext=+" #name,
#define FEATURE EXTENSION
#define EXTENSION_MACRO(name) "-D" #name "=1",
#define MACRO EXTENSION_MACRO
#include "compile/extensions.def"
    };
    static const char *const in_3_0[] = {
#define FEATURE_MACRO(name) "-D" #name "=1",
#include "compile/extensions.def"
    };
    arguments_add_all(job->arena, line, always, COUNT(always));
    if (strcmp(standard, "CL3.0") == 0)
        arguments_add_all(job->arena, line, in_3_0, COUNT(in_3_0));
}

void job_flags_opencl(struct job *job) {
    static const char *const fixed[] = {"-x",
                                        "cl",
                                        "--cuda-feature=+ptx85",
                                        "-cl-kernel-arg-info",
                                        "-fno-crash-diagnostics",
                                        "-Wno-linker-warnings",
                                        "-fno-ident"};
    struct arena *arena = job->arena;
    struct arguments *flags = &job->flags;
    arguments_add_all(arena, flags, fixed, COUNT(fixed));
    const char *standard = job->options->standard ? job->options->standard : "CL1.2";
    add_extensions(job, flags, standard);
    arguments_add(arena, flags, arena_printf(arena, "-cl-std=%s", standard));
    arguments_add(arena, flags, opencl_target(job));
    arguments_add(arena, flags, arena_printf(arena, "-march=%s", target_cpu(job)));
    arguments_add(arena, flags, optimisation(job));
    if (!job->options->no_line_info) {
        arguments_add(arena, flags, "-gdwarf-4");
        arguments_add(arena, flags, "-gline-directives-only");
    }
    arguments_add(arena, flags, "-D__OPENCL_VERSION__=300"); /* of the device, whatever the language is */
    add_defines(job);
    flags_common(job);
}

void job_flags_cuda(struct job *job) {
    static const char *const fixed[] = {"-x",
                                        "cuda",
                                        "--cuda-feature=+ptx85",
                                        "--cuda-device-only",
                                        "-nocudainc",
                                        "-nocudalib",
                                        "-fno-crash-diagnostics",
                                        "-fno-ident",
                                        "-Wno-unknown-cuda-version",
                                        "-Wno-linker-warnings"};
    struct arena *arena = job->arena;
    struct arguments *flags = &job->flags;
    arguments_add_all(arena, flags, fixed, COUNT(fixed));
    const char *standard = job->options->standard ? job->options->standard : "c++17";
    arguments_add(arena, flags, arena_printf(arena, "-std=%s", standard));
    arguments_add(arena, flags, arena_printf(arena, "--cuda-gpu-arch=%s", target_cpu(job)));
    arguments_add(arena, flags, optimisation(job));
    if (!job->options->no_line_info) {
        arguments_add(arena, flags, "-gdwarf-4");
        arguments_add(arena, flags, "-gline-directives-only");
    }
    add_defines(job);
    flags_common(job);
}

/* nvcc hands its words to a shell, so definitions travel in a file. */
static enum status write_defines(struct job *job, const char *path) {
    const char *text = "";
    for (unsigned i = 0; i < job->options->define_count; i++) {
        const char *define = job->options->defines[i], *value = strchr(define, '=');
        text = arena_printf(job->arena, "%s#define %.*s %s\n", text,
                            value ? (int)(value - define) : (int)strlen(define), define, value ? value + 1 : "1");
    }
    return file_write_private(path, text, strlen(text))
               ? STATUS_OK
               : report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

enum status job_flags_nvcc(struct job *job) {
    struct arena *arena = job->arena;
    struct arguments *flags = &job->flags;
    arguments_add(arena, flags, "-ptx");
    arguments_add(arena, flags, arena_printf(arena, "-arch=%s", target_cpu(job)));
    if (!job->options->no_line_info)
        arguments_add(arena, flags, "-lineinfo");
    if (job->options->standard)
        arguments_add(arena, flags, arena_printf(arena, "-std=%s", job->options->standard));
    const char *defines = arena_printf(arena, "%s/.heddle.defines.h", job->temporary);
    arguments_add(arena, flags, "-include");
    arguments_add(arena, flags, defines);
    flags_common(job);
    return write_defines(job, defines);
}

/* ---- running ---- */

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
static const char *log_clean(struct job *job, const char *log) {
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

/* Runs one step. Its words are added to the job's log; a failure becomes STATUS_INVALID with them in the report. */
static enum status step_run(struct job *job, struct arguments *line, bool quiet) {
    struct process_end end;
    const char *output = arena_printf(job->arena, "%s/.heddle.log", job->temporary);
    const struct process_cage cage = compile_cage(job->temporary);
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

enum status job_preprocess(struct job *job, const char **out, bool quiet) {
    struct arguments line = {0};
    const char *result = arena_printf(job->arena, "%s/.heddle.i", job->temporary);
    add_clang(job, &line);
    add_flags(job, &line);
    if (job->language == COMPILE_CUDA) {
        arguments_add(job->arena, &line, "-include");
        arguments_add(job->arena, &line, arena_printf(job->arena, "%s/cuda_device.h", job->tools.share));
    }
    arguments_add(job->arena, &line, "-E");
    arguments_add(job->arena, &line, job->path);
    arguments_add(job->arena, &line, "-o");
    arguments_add(job->arena, &line, result);
    const char *log = job->log;
    enum status status = step_run(job, &line, quiet);
    if (status != STATUS_OK)
        return status;
    job->log = log; /* warnings of the preprocessor come again with the compile */
    *out = file_try_read(job->arena, result, NULL);
    return *out ? STATUS_OK : report_add(job->report, STATUS_SYSTEM, "%s: %s", result, strerror(errno));
}

/* Our own files that become bitcode, in the order of linking: each may use what stands behind it. */
static const char *const library_sources[] = {"half.cl", "groups.cl", "builtins.cl", "math.cl", "collective.c"};
enum { LIBRARY_COUNT = sizeof library_sources / sizeof *library_sources };

const char *job_library_key(struct job *job) {
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
static enum status bitcode_get(struct job *job, const char *name, struct arguments *line, const char *library_key,
                               const char **out) {
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
    arguments_add_all(arena, line, output, COUNT(output));
    const char *log = job->log;
    enum status status = step_run(job, line, false);
    job->log = log;
    if (status != STATUS_OK)
        return status;
    if (!kept || !file_publish(arena, fresh, kept))
        *out = fresh;
    return STATUS_OK;
}

static void library_flags(struct job *job, bool is_opencl, struct arguments *line) {
    struct arena *arena = job->arena;
    const char *const common[] = {opencl_target(job),
                                  arena_printf(arena, "-march=%s", target_cpu(job)),
                                  "-O2",
                                  "-fno-crash-diagnostics",
                                  "-fno-ident",
                                  "-ffp-contract=off",
                                  "-emit-llvm",
                                  "-Xclang",
                                  "-disable-llvm-passes"};
    const char *const opencl[] = {"-x", "cl", "--cuda-feature=+ptx85", "-cl-std=CL3.0",
                                  arena_printf(arena, "-DHEDDLE_SM=%u", job->options->sm ? job->options->sm : 75)};
    add_clang(job, line);
    arguments_add_all(arena, line, common, COUNT(common));
    if (!is_opencl)
        return;
    arguments_add_all(arena, line, opencl, COUNT(opencl));
    add_extensions(job, line, "CL3.0");
}

/* What is ours wins over libclc's, so it is linked first; only what the source uses is taken. */
static enum status add_libraries(struct job *job, struct arguments *line) {
    const char *files[LIBRARY_COUNT + 1] = {[LIBRARY_COUNT] = job_libclc(job)};
    const char *key = job_library_key(job);
    enum status status = STATUS_OK;
    for (unsigned i = 0; status == STATUS_OK && i < LIBRARY_COUNT; i++) {
        struct arguments compile = {0};
        library_flags(job, strstr(library_sources[i], ".cl") != NULL, &compile);
        status = bitcode_get(job, library_sources[i], &compile, key, &files[i]);
    }
    for (unsigned i = 0; status == STATUS_OK && i < COUNT(files); i++) {
        const char *const link[] = {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", files[i]};
        arguments_add_all(job->arena, line, link, COUNT(link));
    }
    return status;
}

/* ".file 1 "./saxpy.cl"" -> ".file 1 "saxpy.cl"": names start at the source's own folder, and a header from
 * elsewhere keeps only its last name. */
static char *clean_file_names(struct job *job, const char *ptx) {
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

static void add_output(struct job *job, struct arguments *line, const char *source, const char *result) {
    arguments_add(job->arena, line, source);
    arguments_add(job->arena, line, "-o");
    arguments_add(job->arena, line, result);
}

static enum status result_read(struct job *job, const char *path, const char **out) {
    *out = file_try_read(job->arena, path, NULL);
    return *out ? STATUS_OK : report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

static enum status ptx_read(struct job *job, const char *path, const char **out) {
    enum status status = result_read(job, path, out);
    if (status == STATUS_OK)
        *out = clean_file_names(job, *out);
    return status;
}

/* Source to optimised IR, which has the argument information. */
enum status job_make_ir(struct job *job, const char **ir) {
    struct arena *arena = job->arena;
    const char *path = arena_printf(arena, "%s/.heddle.ll", job->temporary);
    struct arguments line = {0};
    add_clang(job, &line);
    add_flags(job, &line);
    add_maps(job, &line);
    enum status status = add_libraries(job, &line);
    if (status != STATUS_OK)
        return status;
    arguments_add(arena, &line, "-S");
    arguments_add(arena, &line, "-emit-llvm");
    add_output(job, &line, job->path, path);
    status = step_run(job, &line, false);
    return status == STATUS_OK ? result_read(job, path, ir) : status;
}

/* IR to something else without optimising again. */
static void add_ir_flags(struct job *job, struct arguments *line) {
    const char *const generate[] = {"-x",
                                    "ir",
                                    "--cuda-feature=+ptx85",
                                    opencl_target(job),
                                    arena_printf(job->arena, "-march=%s", target_cpu(job)),
                                    optimisation(job),
                                    "-fno-crash-diagnostics",
                                    "-Wno-override-module",
                                    "-Xclang",
                                    "-disable-llvm-passes"};
    add_clang(job, line);
    arguments_add_all(job->arena, line, generate, COUNT(generate));
}

static enum status ir_write(struct job *job, const char *path, const char *ir) {
    return file_write_private(path, ir, strlen(ir))
               ? STATUS_OK
               : report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

enum status job_make_ptx(struct job *job, const char *ir, const char **ptx) {
    struct arena *arena = job->arena;
    const char *ir_path = arena_printf(arena, "%s/.heddle.ll", job->temporary);
    const char *ptx_path = arena_printf(arena, "%s/.heddle.ptx", job->temporary);
    enum status status = ir_write(job, ir_path, repair_ir(arena, ir));
    if (status != STATUS_OK)
        return status;
    struct arguments line = {0};
    add_ir_flags(job, &line);
    arguments_add(arena, &line, "-S");
    add_output(job, &line, ir_path, ptx_path);
    status = step_run(job, &line, false);
    return status == STATUS_OK ? ptx_read(job, ptx_path, ptx) : status;
}

/* The compiler links bitcode into the module it is given: the first stays text, the others become bitcode. */
enum status job_link_ir(struct job *job, const char *const *objects, unsigned count, const char **ir) {
    struct arena *arena = job->arena;
    const char *first = arena_printf(arena, "%s/.heddle.0.ll", job->temporary);
    const char *linked = arena_printf(arena, "%s/.heddle.linked.ll", job->temporary);
    struct arguments line = {0};
    add_ir_flags(job, &line);
    enum status status = ir_write(job, first, objects[0]);
    for (unsigned i = 1; status == STATUS_OK && i < count; i++) {
        const char *text = arena_printf(arena, "%s/.heddle.%u.ll", job->temporary, i);
        const char *bitcode = arena_printf(arena, "%s/.heddle.%u.bc", job->temporary, i);
        const char *const use[] = {"-Xclang", "-mlink-bitcode-file", "-Xclang", bitcode};
        struct arguments convert = {0};
        add_ir_flags(job, &convert);
        arguments_add(arena, &convert, "-emit-llvm");
        arguments_add(arena, &convert, "-c");
        add_output(job, &convert, text, bitcode);
        status = ir_write(job, text, objects[i]);
        if (status == STATUS_OK)
            status = step_run(job, &convert, false);
        arguments_add_all(arena, &line, use, COUNT(use));
    }
    arguments_add(arena, &line, "-S");
    arguments_add(arena, &line, "-emit-llvm");
    add_output(job, &line, first, linked);
    if (status == STATUS_OK)
        status = step_run(job, &line, false);
    return status == STATUS_OK ? result_read(job, linked, ir) : status;
}

enum status job_run_opencl(struct job *job, const char **metadata, const char **ptx) {
    const char *ir = NULL;
    const enum status status = job_make_ir(job, &ir);
    if (status != STATUS_OK)
        return status;
    *metadata = metadata_extract(job->arena, ir);
    return job_make_ptx(job, ir, ptx);
}

enum status job_run_cuda(struct job *job, const char *program, bool quiet, const char **ptx) {
    struct arena *arena = job->arena;
    const char *ptx_path = arena_printf(arena, "%s/.heddle.ptx", job->temporary);
    struct arguments line = {0};
    enum status status = STATUS_OK;
    if (program == job->tools.clang)
        add_clang(job, &line);
    else
        arguments_add(arena, &line, program);
    add_flags(job, &line);
    if (program == job->tools.clang) {
        add_maps(job, &line);
        arguments_add(arena, &line, "-include");
        arguments_add(arena, &line, arena_printf(arena, "%s/cuda_device.h", job->tools.share));
        arguments_add(arena, &line, "-S");
        if (job_libclc(job) && (status = add_libraries(job, &line)) != STATUS_OK) /* math is there only with libclc */
            return status;
    }
    add_output(job, &line, job->path, ptx_path);
    status = step_run(job, &line, quiet);
    return status == STATUS_OK ? ptx_read(job, ptx_path, ptx) : status;
}
