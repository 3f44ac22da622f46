/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "compile/job.h"
#include "compile/metadata.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct compile_options default_options;

/* ---- keys ---- */

/* Changes when the file does, without reading its megabytes. */
static const char *file_identity(struct arena *arena, const char *path) {
    struct stat info;
    if (!path || stat(path, &info) < 0)
        return "none";
    return arena_printf(arena, "%s %lld %lld.%09ld", path, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                        info.st_mtim.tv_nsec);
}

static bool has_any(const char *text, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

/* A text that draws in no other file is its own description; only others are preprocessed for the key. */
static bool is_self_contained(const struct compile_job *job) {
    static const char *const words[] = {"include", "import", "embed"};
    if (job->language != COMPILE_OPENCL || strlen(job->text) != job->text_bytes)
        return false;
    for (const char *splice = job->text; (splice = strstr(splice, "\\\n")); splice++)
        if (splice > job->text && isalnum((unsigned char)splice[-1]))
            return false; /* could hide one of the words */
    return !has_any(job->text, words, 3);
}

static bool is_cacheable(const struct compile_job *job) {
    static const char *const clocks[] = {"__DATE__", "__TIME__", "__TIMESTAMP__"};
    return !job->options->no_cache && job->tools.cache && !has_any(job->text, clocks, 3);
}

/* ---- cache ---- */

/* A line with a checksum and the lengths, then the parts. */
char *entry_pack(struct arena *arena, const char *metadata, const char *log, const char *ptx, size_t *bytes) {
    const char *body = arena_printf(arena, "%s%s%s", metadata, log, ptx);
    char *entry = arena_printf(arena, CACHE_FORM " %s %zu %zu %zu\n%s", job_hash(arena, body, strlen(body)),
                               strlen(metadata), strlen(log), strlen(ptx), body);
    *bytes = strlen(entry);
    return entry;
}

/* A decimal number with a blank in front of it; NULL: there is none, or one beyond `most`. */
static const char *read_length(const char *at, size_t most, size_t *out) {
    if (*at++ != ' ' || !isdigit((unsigned char)*at))
        return NULL;
    for (*out = 0; isdigit((unsigned char)*at); at++) {
        *out = *out * 10 + (size_t)(*at - '0');
        if (*out > most)
            return NULL;
    }
    return at;
}

bool entry_unpack(struct arena *arena, const char *entry, size_t bytes, const char *parts[3]) {
    static const char form[] = CACHE_FORM " ";
    enum { SUM_DIGITS = 32 };
    if (strlen(entry) != bytes || strncmp(entry, form, strlen(form)) != 0 || bytes < strlen(form) + SUM_DIGITS)
        return false;
    const char *sum = entry + strlen(form), *at = sum + SUM_DIGITS;
    size_t lengths[3];
    for (int i = 0; at && i < 3; i++)
        at = read_length(at, bytes, &lengths[i]);
    if (!at || *at++ != '\n')
        return false;
    size_t left = bytes - (size_t)(at - entry);
    if (strncmp(sum, job_hash(arena, at, left), SUM_DIGITS) != 0)
        return false;
    for (int i = 0; i < 3; at += lengths[i], left -= lengths[i], i++) {
        if (lengths[i] > left)
            return false;
        parts[i] = arena_strndup(arena, at, lengths[i]);
    }
    return left == 0;
}

static const char *entry_path(struct compile_job *job, const char *compiler_version, const char *described) {
    struct arena *arena = job->arena;
    const char *key = job_key_join(arena, CACHE_FORM, compiler_version);
    key = job_key_join(arena, key, job->name);
    for (unsigned i = 0; i < job->flags.count; i++)
        key = job_key_join(arena, key, job->flags.items[i]);
    key = job_key_join(arena, key, job_library_key(job));
    if (job->language == COMPILE_CUDA) {
        size_t bytes = 0;
        const char *text = file_try_read(arena, arena_printf(arena, "%s/cuda_device.h", job->tools.share), &bytes);
        key = job_key_join(arena, key, text ? job_hash(arena, text, bytes) : "none");
    }
    key = job_key_join(arena, key, file_identity(arena, job_libclc(job)));
    key = job_key_join(arena, key, job_hash(arena, described, strlen(described)));
    return arena_printf(arena, "%s/%s.compiled", job->tools.cache, job_hash(arena, key, strlen(key)));
}

/* ---- the two languages ---- */

static void result_fill(struct compile_job *job, struct arena *arena, const char *metadata, const char *ptx,
                        struct compiled *out) {
    if (job->language == COMPILE_OPENCL) {
        compiled_from_text(metadata, ptx, arena, out);
    } else {
        *out = (struct compiled){.ptx = arena_strdup(arena, ptx), .ptx_bytes = strlen(ptx), .metadata = ""};
        metadata_from_ptx(arena, out->ptx, out);
    }
    out->log = arena_strdup(arena, job->log ? job->log : "");
}

/* Looks in the cache; *entry is where a result belongs, NULL when it is not to be kept. */
static enum status cache_look(struct compile_job *job, struct arena *arena, struct compiled *out, const char **entry) {
    const char *described = job->text, *parts[3];
    *entry = NULL;
    if (!is_cacheable(job))
        return STATUS_OK;
    if (!is_self_contained(job)) {
        enum status status = job_preprocess(job, &described, job->language == COMPILE_CUDA);
        if (status != STATUS_OK)
            return status;
    }
    *entry = entry_path(job, job->tools.clang_version, described);
    size_t bytes = 0;
    const char *kept = file_try_read(job->arena, *entry, &bytes);
    if (!kept || !entry_unpack(job->arena, kept, bytes, parts))
        return STATUS_OK;
    job->log = parts[1];
    result_fill(job, arena, parts[0], parts[2], out);
    out->from_cache = true;
    return STATUS_OK;
}

static enum status opencl_compile(struct compile_job *job, struct arena *arena, struct compiled *out) {
    const char *install = "install clang 19 or later and libclc (Debian: apt-get install clang-19 libclc-19)";
    if (!job->tools.clang)
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: OpenCL C needs clang 19 or later, and none was found on PATH; %s, or set HEDDLE_CLANG",
                          job->name, install);
    if (!(job_libclc(job)))
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: OpenCL C needs libclc's %s, which was not found; %s, or set HEDDLE_LIBCLC to its folder",
                          job->name, job_is_32_bit(job) ? "nvptx--nvidiacl.bc" : "nvptx64--nvidiacl.bc", install);
    job_flags_opencl(job);
    /* C99 leaves a function that is only `inline` to some other source where it is not inlined, and there is none. Pieces
     * that are linked keep C99's way: each may have the function. C++ has a rule of its own. */
    if (!job->options->standard || strncmp(job->options->standard, "CLC++", 5) != 0)
        command_line_add(job->arena, &job->flags, "-fgnu89-inline");
    const char *entry = NULL, *metadata = "", *ptx = "";
    enum status status = cache_look(job, arena, out, &entry);
    if (status != STATUS_OK || out->from_cache)
        return status;
    if ((status = job_run_opencl(job, &metadata, &ptx)) != STATUS_OK)
        return status;
    result_fill(job, arena, metadata, ptx, out);
    size_t bytes = 0;
    if (entry) {
        const char *packed = entry_pack(job->arena, metadata, out->log, ptx, &bytes);
        file_write_private(entry, packed, bytes); /* a cache that cannot be written is no error */
    }
    return STATUS_OK;
}

/* clang with our own header first; nvcc, where it is installed, for sources that need NVIDIA's headers, or when
 * HEDDLE_NVCC asks for it. */
static enum status cuda_compile(struct compile_job *job, struct arena *arena, struct compiled *out) {
    bool asked = getenv("HEDDLE_NVCC") && job->tools.nvcc;
    const char *entry = NULL, *ptx = NULL;
    enum status status = STATUS_SYSTEM;
    if (!job->tools.clang && !job->tools.nvcc)
        return report_add(
            job->report, STATUS_SYSTEM,
            "%s: CUDA sources need clang 19 or later, or nvcc, and neither was found on PATH; install one "
            "(Debian: apt-get install clang-19), or compile to PTX elsewhere and use the .ptx file",
            job->name);
    if (job->tools.clang && !asked) {
        job_flags_cuda(job);
        if (cache_look(job, arena, out, &entry) == STATUS_OK) {
            if (out->from_cache)
                return STATUS_OK;
            status = job_run_cuda(job, job->tools.clang, job->tools.nvcc != NULL, &ptx);
        } else {
            status = report_add(job->tools.nvcc ? NULL : job->report, STATUS_INVALID, "%s: does not compile:\n%s",
                                job->name, job->log ? job->log : "");
        }
    }
    if (status != STATUS_OK && job->tools.nvcc) {
        const char *before = job->log;
        job->flags = (struct command_line){0};
        job->log = NULL;
        if ((status = job_check_nvcc(job)) != STATUS_OK || (status = job_flags_nvcc(job)) != STATUS_OK)
            return status;
        status = job_run_cuda(job, job->tools.nvcc, false, &ptx);
        if (status != STATUS_OK && before && *before)
            report_add(job->report, status, "%s: clang said before:\n%s", job->name, before);
    }
    if (status != STATUS_OK)
        return status;
    result_fill(job, arena, "", ptx, out);
    size_t bytes = 0;
    if (entry) {
        const char *packed = entry_pack(job->arena, "", out->log, ptx, &bytes);
        file_write_private(entry, packed, bytes);
    }
    return STATUS_OK;
}

static enum status job_run(struct compile_job *job, struct arena *arena, struct compiled *out) {
    compile_find_tools(job->arena, &job->tools);
    if (!job->tools.share)
        return report_add(job->report, STATUS_SYSTEM,
                          "builtins.cl was not found; set HEDDLE_SHARE to the folder share/heddle of the source tree");
    const enum status status =
        job->language == COMPILE_CUDA ? cuda_compile(job, arena, out) : opencl_compile(job, arena, out);
    if (status != STATUS_OK)
        out->log = arena_strdup(arena, job->log ? job->log : "");
    return status;
}

static enum compile_language language_of(const char *name, const struct compile_options *options) {
    if (options->language != COMPILE_AUTO)
        return options->language;
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && strcmp(dot, ".cu") == 0 ? COMPILE_CUDA : COMPILE_OPENCL;
}

/* What the caller gave, looked at before any of it is used. */
static enum status values_take(struct compile_job *job) {
    const struct compile_options *options = job->options;
    const enum status status = job_check(job);
    job->includes = ARENA_ARRAY(job->arena, const char *, options->include_count + 1);
    for (unsigned i = 0; i < options->include_count; i++)
        job->includes[i] = path_absolute(job->arena, options->includes[i]);
    return status;
}

void job_end(struct compile_job *job) {
    job_tell_end(job);
    if (job->temporary)
        folder_remove(job->arena, job->temporary);
    arena_free(job->arena);
}

enum status compile_file(const char *path, const struct compile_options *options, struct arena *arena,
                         struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    *out = (struct compiled){.log = ""};
    const char *slash = strrchr(path, '/');
    struct compile_job job = {.arena = &scratch, .options = options ? options : &default_options, .report = report};
    job.path = path_absolute(&scratch, path);
    job.name = slash ? slash + 1 : path;
    job.given = slash ? arena_strndup(&scratch, path, (size_t)(slash + 1 - path)) : "";
    job.folder = arena_strndup(&scratch, job.path, (size_t)(strrchr(job.path, '/') + 1 - job.path));
    job.language = language_of(path, job.options);
    enum status status = values_take(&job);
    job.text = status == STATUS_OK ? file_try_read(&scratch, path, &job.text_bytes) : NULL;
    if (status != STATUS_OK)
        ; /* said already */
    else if (!job.text)
        status = report_add(report, STATUS_INVALID, "%s: %s", path, strerror(errno));
    else if (!(job.temporary = folder_make_temporary(&scratch)))
        status = report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    else
        status = job_run(&job, arena, out);
    job_end(&job);
    return status;
}

/* Headers that are in no folder are put into one of their own, under the names they are included by. */
static enum status write_headers(struct compile_job *job) {
    for (unsigned i = 0; i < job->options->header_count; i++) {
        const struct compile_header *header = &job->options->headers[i];
        const char *path = arena_printf(job->arena, "%s%s", job_headers(job), header->name);
        if (!folder_make(job->arena, file_dir(job->arena, path)) ||
            !file_write_private(path, header->text, strlen(header->text)))
            return report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
    }
    return STATUS_OK;
}

/* By its first kernel; a header may have that name. */
static const char *program_name(struct compile_job *job) {
    const char *kernel = job_first_kernel(job->arena, job->text);
    const char *ending = job->language == COMPILE_CUDA ? "cu" : "cl";
    const char *name = arena_printf(job->arena, "%s.%s", kernel ? kernel : "program", ending);
    for (unsigned i = 0; i < job->options->header_count; i++)
        if (strcmp(job->options->headers[i].name, name) == 0)
            return arena_printf(job->arena, "%s-program.%s", kernel ? kernel : "program", ending);
    return name;
}

enum status job_begin(struct compile_job *job, const char *name, const char *text, size_t length) {
    struct arena *scratch = job->arena;
    job->language = language_of(name, job->options);
    job->name = name ? file_name(name) : NULL;
    job->text = arena_strndup(scratch, text, length);
    if (!job->name || !*job->name)
        job->name = program_name(job);
    job->text_bytes = length;
    job->temporary = folder_make_temporary(scratch);
    if (!job->temporary)
        return report_add(job->report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    job->folder = arena_printf(scratch, "%s/", job->temporary);
    job->path = arena_printf(scratch, "%s%s", job->folder, job->name);
    job->given = "";
    const enum status status = values_take(job);
    if (status != STATUS_OK)
        return status;
    if (!file_write_private(job->path, text, length))
        return report_add(job->report, STATUS_SYSTEM, "%s: %s", job->path, strerror(errno));
    return write_headers(job);
}

enum status compile_text(const struct compile_source *source, const struct compile_options *options,
                         struct arena *arena, struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    *out = (struct compiled){.log = ""};
    struct compile_job job = {.arena = &scratch, .options = options ? options : &default_options, .report = report};
    enum status status = job_begin(&job, source->name, source->text, source->bytes);
    if (status == STATUS_OK)
        status = job_run(&job, arena, out);
    job_end(&job);
    return status;
}

/* ---- in pieces ---- */

enum status job_find_opencl_tools(struct compile_job *job) {
    compile_find_tools(job->arena, &job->tools);
    if (!job->tools.share || !job->tools.clang || !job_libclc(job))
        return report_add(job->report, STATUS_SYSTEM,
                          "OpenCL C needs clang 19 or later, libclc and builtins.cl; 'heddle doctor' says what is "
                          "missing");
    job_flags_opencl(job);
    return STATUS_OK;
}

enum status job_deliver(struct compile_job *job, enum status status, const char *ir, bool as_object,
                        struct arena *arena, struct compiled *out) {
    const char *ptx = NULL;
    if (status == STATUS_OK && as_object)
        out->object = arena_strdup(arena, ir);
    else if (status == STATUS_OK)
        status = job_make_ptx(job, ir, &ptx);
    if (ptx)
        compiled_from_text(metadata_extract(job->arena, ir), ptx, arena, out);
    out->log = arena_strdup(arena, job->log ? job->log : "");
    job_end(job);
    return status;
}

enum status compile_object(const char *text, size_t length, const struct compile_options *options, struct arena *arena,
                           struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    *out = (struct compiled){.log = "", .metadata = ""};
    struct compile_job job = {.arena = &scratch, .options = options ? options : &default_options, .report = report};
    enum status status = job_begin(&job, NULL, text, length);
    const char *ir = NULL;
    if (status == STATUS_OK)
        status = job_find_opencl_tools(&job);
    if (status == STATUS_OK)
        status = job_make_ir(&job, &ir);
    return job_deliver(&job, status, ir, true, arena, out);
}

/* `as_library`: the objects become one, and no PTX is made of them. */
static enum status link_objects(struct compile_job *job, const char *const *objects, unsigned count, bool as_library,
                                struct arena *arena, struct compiled *out) {
    *out = (struct compiled){.log = "", .metadata = ""};
    enum status status = job_begin(job, "linked.cl", "", 0);
    const char *ir = NULL;
    if (status == STATUS_OK)
        status = job_find_opencl_tools(job);
    if (status == STATUS_OK)
        status = job_link_ir(job, objects, count, &ir);
    return job_deliver(job, status, ir, as_library, arena, out);
}

enum status compile_link(const char *const *objects, unsigned count, const struct compile_options *options,
                         struct arena *arena, struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    struct compile_job job = {.arena = &scratch, .options = options ? options : &default_options, .report = report};
    return link_objects(&job, objects, count, false, arena, out);
}

enum status compile_library(const char *const *objects, unsigned count, const struct compile_options *options,
                            struct arena *arena, struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    struct compile_job job = {.arena = &scratch, .options = options ? options : &default_options, .report = report};
    return link_objects(&job, objects, count, true, arena, out);
}

void compiled_from_text(const char *metadata, const char *ptx, struct arena *arena, struct compiled *out) {
    *out = (struct compiled){.ptx = arena_strdup(arena, ptx),
                             .ptx_bytes = strlen(ptx),
                             .log = "",
                             .metadata = arena_strdup(arena, metadata)};
    metadata_parse(arena, out->metadata, out);
}

const struct compile_kernel *compiled_find(const struct compiled *compiled, const char *kernel) {
    for (unsigned i = 0; i < compiled->kernel_count; i++)
        if (strcmp(compiled->kernels[i].name, kernel) == 0)
            return &compiled->kernels[i];
    return NULL;
}
