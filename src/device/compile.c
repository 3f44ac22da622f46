#include "device/compile.h"
#include "device/compile_metadata.h"
#include "device/compile_process.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

/* Raised when the form of what is cached changes. */
#define CACHE_FORM "heddle compile 1"

static const struct compile_options default_options;

/* One compilation on its way. Everything but the result lives in `arena`, which ends with it. */
struct job {
    struct arena *arena;
    const struct compile_options *options;
    enum compile_language language;
    struct compile_tools tools;
    const char *path;   /* the source as the compiler is to open it */
    const char *folder; /* its folder with the slash, "" for none: what must not show in the PTX */
    const char *name;   /* what the PTX, messages and the key call it */
    const char *text;
    size_t text_bytes;
    const char *temporary;  /* folder */
    struct arguments flags; /* options that decide the outcome: part of the key */
    const char *log;
    struct report *report;
};

/* ---- keys ---- */

static const char *hash_text(struct arena *arena, const char *data, size_t bytes)
{
    XXH128_hash_t hash = XXH3_128bits(data, bytes);
    return arena_printf(arena, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}

static const char *key_join(struct arena *arena, const char *key, const char *part)
{
    return arena_printf(arena, "%s\n%s", key, part);
}

/* Changes when the file does, without reading its megabytes. */
static const char *file_identity(struct arena *arena, const char *path)
{
    struct stat info;
    if (!path || stat(path, &info) < 0)
        return "none";
    return arena_printf(arena, "%s %lld %lld.%09ld", path, (long long)info.st_size, (long long)info.st_mtim.tv_sec,
                        info.st_mtim.tv_nsec);
}

static bool has_any(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(text, words[i]))
            return true;
    return false;
}

/* A text that draws in no other file is its own description; only others are preprocessed for the key. */
static bool is_self_contained(const struct job *job)
{
    static const char *const words[] = {"include", "import", "embed"};
    if (job->language != COMPILE_OPENCL || strlen(job->text) != job->text_bytes)
        return false;
    for (unsigned i = 0; i < job->options->extra_count; i++)
        if (has_any(job->options->extra[i], words, 3) || job->options->extra[i][0] == '@' ||
            strncmp(job->options->extra[i], "-imacros", 8) == 0)
            return false;
    for (const char *splice = job->text; (splice = strstr(splice, "\\\n")); splice++)
        if (splice > job->text && isalnum((unsigned char)splice[-1]))
            return false; /* could hide one of the words */
    return !has_any(job->text, words, 3);
}

static bool is_cacheable(const struct job *job)
{
    static const char *const clocks[] = {"__DATE__", "__TIME__", "__TIMESTAMP__"};
    return !job->options->no_cache && job->tools.cache && !has_any(job->text, clocks, 3);
}

/* ---- command lines ---- */

static const char *target_cpu(const struct job *job)
{
    return arena_printf(job->arena, "sm_%u", job->options->sm ? job->options->sm : 75);
}

static bool is_32_bit(const struct job *job)
{
    return job->options->address_bits == 32;
}

static const char *optimisation(const struct job *job)
{
    static const char *const levels[] = {"-O0", "-O2", "-O1", "-O2", "-O3"};
    int level = job->options->optimisation;
    return level < -1 || level > 3 ? "-O2" : levels[level + 1];
}

static const char *opencl_target(const struct job *job)
{
    /* The operating system `nvcl` has pointer parameters carry their address space. */
    return is_32_bit(job) ? "--target=nvptx-nvidia-nvcl" : "--target=nvptx64-nvidia-nvcl";
}

static void flags_common(struct job *job)
{
    struct arguments *flags = &job->flags;
    for (unsigned i = 0; i < job->options->define_count; i++)
        arguments_add(job->arena, flags, arena_printf(job->arena, "-D%s", job->options->defines[i]));
    for (unsigned i = 0; i < job->options->include_count; i++)
        arguments_add(job->arena, flags, arena_printf(job->arena, "-I%s", job->options->includes[i]));
    arguments_add_all(job->arena, flags, job->options->extra, job->options->extra_count);
}

static void add_flags(struct job *job, struct arguments *line)
{
    arguments_add_all(job->arena, line, job->flags.items, job->flags.count);
}

/* No folder of the host enters the PTX, not even through __FILE__. */
static void add_maps(struct job *job, struct arguments *line)
{
    struct arena *arena = job->arena;
    for (unsigned i = 0; i < job->options->include_count; i++)
        arguments_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s/=", job->options->includes[i]));
    if (*job->folder)
        arguments_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s=", job->folder));
    arguments_add(arena, line, "-fdebug-compilation-dir=.");
}

/* What builtins.cl has beyond the compiler's defaults for the target; clang knows the rest by its version. */
#define OPENCL_EXTENSIONS                                                                                              \
    "-cl-ext=+cl_khr_fp64,+cl_khr_fp16,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,+cl_khr_subgroups,"   \
    "+__opencl_c_int64,+__opencl_c_fp64,+__opencl_c_generic_address_space,+__opencl_c_program_scope_global_variables," \
    "+__opencl_c_subgroups,+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst"
static const char *const opencl_macros[] = {"-Dcl_khr_subgroup_shuffle=1", "-Dcl_khr_subgroup_shuffle_relative=1",
                                            "-Dcl_khr_subgroup_ballot=1", "-Dcl_khr_subgroup_non_uniform_vote=1"};
static const char *const opencl3_macros[] = {"-D__opencl_c_atomic_scope_device=1",
                                             "-D__opencl_c_atomic_scope_all_devices=1",
                                             "-D__opencl_c_work_group_collective_functions=1"};
#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static void flags_opencl(struct job *job)
{
    static const char *const fixed[] = {"-x", "cl", "--cuda-feature=+ptx85", "-cl-kernel-arg-info", "-fno-crash-diagnostics",
                                        "-Wno-linker-warnings", "-fno-ident", "-Xclang", OPENCL_EXTENSIONS};
    struct arena *arena = job->arena;
    struct arguments *flags = &job->flags;
    arguments_add_all(arena, flags, fixed, COUNT(fixed));
    arguments_add_all(arena, flags, opencl_macros, COUNT(opencl_macros));
    const char *standard = job->options->standard ? job->options->standard : "CL1.2";
    if (strcmp(standard, "CL3.0") == 0)
        arguments_add_all(arena, flags, opencl3_macros, COUNT(opencl3_macros));
    arguments_add(arena, flags, arena_printf(arena, "-cl-std=%s", standard));
    arguments_add(arena, flags, opencl_target(job));
    arguments_add(arena, flags, arena_printf(arena, "-march=%s", target_cpu(job)));
    arguments_add(arena, flags, optimisation(job));
    if (!job->options->no_line_info) {
        arguments_add(arena, flags, "-gdwarf-4");
        arguments_add(arena, flags, "-gline-directives-only");
    }
    flags_common(job);
}

static void flags_cuda(struct job *job)
{
    static const char *const fixed[] = {"-x", "cuda", "--cuda-feature=+ptx85", "--cuda-device-only", "-nocudainc", "-nocudalib",
                                        "-fno-crash-diagnostics", "-fno-ident", "-Wno-unknown-cuda-version"};
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
    flags_common(job);
}

static void flags_nvcc(struct job *job)
{
    struct arena *arena = job->arena;
    struct arguments *flags = &job->flags;
    arguments_add(arena, flags, "-ptx");
    arguments_add(arena, flags, arena_printf(arena, "-arch=%s", target_cpu(job)));
    if (!job->options->no_line_info)
        arguments_add(arena, flags, "-lineinfo");
    if (job->options->standard)
        arguments_add(arena, flags, arena_printf(arena, "-std=%s", job->options->standard));
    flags_common(job);
}

/* ---- running ---- */

/* Messages name the source as the user does, not where we put a copy of it. */
static const char *log_clean(struct job *job, const char *log)
{
    const char *folder = arena_printf(job->arena, "%s/", job->temporary);
    size_t length = strlen(folder);
    char *out = arena_alloc(job->arena, strlen(log) + 1), *end = out;
    while (*log) {
        if (strncmp(log, folder, length) == 0) {
            log += length;
            continue;
        }
        *end++ = *log++;
    }
    *end = '\0';
    return out;
}

/* Runs one step. Its words are added to the job's log; a failure becomes STATUS_INVALID with them in the report. */
static enum status step_run(struct job *job, struct arguments *line, bool quiet)
{
    struct process_end end;
    const char *output = arena_printf(job->arena, "%s/.heddle.log", job->temporary);
    enum status status = process_run(job->arena, line, output, &end, job->report);
    if (status != STATUS_OK)
        return status;
    const char *log = log_clean(job, end.output);
    job->log = job->log && *job->log ? arena_printf(job->arena, "%s%s", job->log, log) : log;
    if (end.exit_code == 0)
        return STATUS_OK;
    struct report *report = quiet ? NULL : job->report;
    if (end.signal)
        return report_add(report, STATUS_INVALID, "%s: the compiler %s ended by signal %d:\n%s", job->name,
                          line->items[0], end.signal, log);
    return report_add(report, STATUS_INVALID, "%s: does not compile:\n%s", job->name, log);
}

static enum status preprocess(struct job *job, const char **out, bool quiet)
{
    struct arguments line = {0};
    const char *result = arena_printf(job->arena, "%s/.heddle.i", job->temporary);
    arguments_add(job->arena, &line, job->tools.clang);
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
    *out = process_read(job->arena, result, NULL);
    return *out ? STATUS_OK : report_add(job->report, STATUS_SYSTEM, "%s: %s", result, strerror(errno));
}

/* One of our own files as bitcode for this target: compiled once per compiler, version of the file, sm and width. */
static enum status bitcode_get(struct job *job, const char *name, struct arguments *line, const char **out)
{
    struct arena *arena = job->arena;
    const char *source = arena_printf(arena, "%s/%s", job->tools.share, name);
    size_t bytes = 0;
    const char *text = process_read(arena, source, &bytes);
    if (!text)
        return report_add(job->report, STATUS_SYSTEM, "%s: %s", source, strerror(errno));
    const char *key = key_join(arena, CACHE_FORM, job->tools.clang_version);
    for (unsigned i = 1; i < line->count; i++)
        key = key_join(arena, key, line->items[i]);
    key = key_join(arena, key, hash_text(arena, text, bytes));
    const char *file = hash_text(arena, key, strlen(key));
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

static enum status builtins_get(struct job *job, const char **builtins, const char **collective)
{
    struct arena *arena = job->arena;
    const char *const common[] = {job->tools.clang, opencl_target(job),
                                  arena_printf(arena, "-march=%s", target_cpu(job)), "-O2", "-fno-crash-diagnostics",
                                  "-fno-ident", "-ffp-contract=off", "-emit-llvm"};
    const char *const opencl[] = {"-x", "cl", "--cuda-feature=+ptx85", "-cl-std=CL3.0", "-Xclang", OPENCL_EXTENSIONS,
                                  arena_printf(arena, "-DHEDDLE_SM=%u", job->options->sm ? job->options->sm : 75)};
    struct arguments line = {0};
    arguments_add_all(arena, &line, common, COUNT(common));
    arguments_add_all(arena, &line, opencl, COUNT(opencl));
    arguments_add_all(arena, &line, opencl_macros, COUNT(opencl_macros));
    arguments_add_all(arena, &line, opencl3_macros, COUNT(opencl3_macros));
    enum status status = bitcode_get(job, "builtins.cl", &line, builtins);
    if (status != STATUS_OK)
        return status;
    struct arguments plain = {0};
    arguments_add_all(arena, &plain, common, COUNT(common));
    return bitcode_get(job, "collective.c", &plain, collective);
}

/* ".file 1 "./saxpy.cl"" -> ".file 1 "saxpy.cl"": names start at the source's own folder, and a header from
 * elsewhere keeps only its last name. */
static char *clean_file_names(struct job *job, const char *ptx)
{
    char *out = arena_alloc(job->arena, strlen(ptx) + 1), *end = out;
    for (const char *line = ptx; *line;) {
        size_t length = strcspn(line, "\n");
        const char *quote = memchr(line, '"', length);
        size_t blank = strspn(line, " \t");
        if (quote && strncmp(line + blank, ".file", 5) == 0) {
            const char *name = quote + 1, *stop = name + strcspn(name, "\"\n");
            while (strncmp(name, "./", 2) == 0)
                name += 2;
            if (*job->folder && strncmp(name, job->folder, strlen(job->folder)) == 0)
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

static void add_output(struct job *job, struct arguments *line, const char *source, const char *result)
{
    arguments_add(job->arena, line, source);
    arguments_add(job->arena, line, "-o");
    arguments_add(job->arena, line, result);
}

static enum status result_read(struct job *job, const char *path, const char **out)
{
    *out = process_read(job->arena, path, NULL);
    return *out ? STATUS_OK : report_add(job->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

/* Source to optimised IR, which has the argument information; then IR to PTX without optimising again. */
static enum status opencl_run(struct job *job, const char **metadata, const char **ptx)
{
    struct arena *arena = job->arena;
    const char *builtins = NULL, *collective = NULL, *ir = NULL;
    const char *ir_path = arena_printf(arena, "%s/.heddle.ll", job->temporary);
    const char *ptx_path = arena_printf(arena, "%s/.heddle.ptx", job->temporary);
    enum status status = builtins_get(job, &builtins, &collective);
    if (status != STATUS_OK)
        return status;
    struct arguments first = {0}, second = {0};
    arguments_add(arena, &first, job->tools.clang);
    add_flags(job, &first);
    add_maps(job, &first);
    const char *const link[] = {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", builtins,
                                "-Xclang", "-mlink-builtin-bitcode", "-Xclang", collective,
                                "-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                                is_32_bit(job) ? job->tools.libclc32 : job->tools.libclc64,
                                "-S", "-emit-llvm"};
    arguments_add_all(arena, &first, link, COUNT(link));
    add_output(job, &first, job->path, ir_path);
    if ((status = step_run(job, &first, false)) != STATUS_OK || (status = result_read(job, ir_path, &ir)) != STATUS_OK)
        return status;
    *metadata = metadata_extract(arena, ir);
    const char *const generate[] = {job->tools.clang, "-x", "ir", "--cuda-feature=+ptx85", opencl_target(job),
                                    arena_printf(arena, "-march=%s", target_cpu(job)), optimisation(job),
                                    "-fno-crash-diagnostics", "-Wno-override-module", "-Xclang",
                                    "-disable-llvm-passes", "-S"};
    arguments_add_all(arena, &second, generate, COUNT(generate));
    add_output(job, &second, ir_path, ptx_path);
    if ((status = step_run(job, &second, false)) != STATUS_OK)
        return status;
    return result_read(job, ptx_path, ptx);
}

static enum status cuda_run(struct job *job, const char *program, bool quiet, const char **ptx)
{
    struct arena *arena = job->arena;
    const char *ptx_path = arena_printf(arena, "%s/.heddle.ptx", job->temporary);
    struct arguments line = {0};
    arguments_add(arena, &line, program);
    add_flags(job, &line);
    if (program == job->tools.clang) {
        add_maps(job, &line);
        arguments_add(arena, &line, "-include");
        arguments_add(arena, &line, arena_printf(arena, "%s/cuda_device.h", job->tools.share));
        arguments_add(arena, &line, "-S");
    }
    add_output(job, &line, job->path, ptx_path);
    enum status status = step_run(job, &line, quiet);
    return status == STATUS_OK ? result_read(job, ptx_path, ptx) : status;
}

/* ---- cache ---- */

/* A kept result: a line with the lengths and a checksum, then metadata, log and PTX. */
static char *entry_pack(struct arena *arena, const char *metadata, const char *log, const char *ptx, size_t *bytes)
{
    const char *body = arena_printf(arena, "%s%s%s", metadata, log, ptx);
    char *entry = arena_printf(arena, CACHE_FORM " %s %zu %zu %zu\n%s", hash_text(arena, body, strlen(body)),
                               strlen(metadata), strlen(log), strlen(ptx), body);
    *bytes = strlen(entry);
    return entry;
}

/* False when the file is missing, cut or changed: then it is made again. */
static bool entry_unpack(struct arena *arena, const char *path, const char *parts[3])
{
    size_t bytes = 0, lengths[3];
    const char *entry = process_read(arena, path, &bytes);
    char sum[33];
    int header = 0;
    if (!entry || sscanf(entry, CACHE_FORM " %32s %zu %zu %zu%n", sum, &lengths[0], &lengths[1], &lengths[2], &header) != 4)
        return false;
    const char *body = entry + header + 1;
    size_t rest = bytes > (size_t)header ? bytes - (size_t)header - 1 : 0;
    if (lengths[0] > rest || lengths[1] > rest || lengths[2] > rest || lengths[0] + lengths[1] + lengths[2] != rest ||
        strcmp(sum, hash_text(arena, body, rest)) != 0)
        return false;
    for (int i = 0; i < 3; body += lengths[i], i++)
        parts[i] = arena_strndup(arena, body, lengths[i]);
    return true;
}

static const char *entry_path(struct job *job, const char *compiler_version, const char *described)
{
    struct arena *arena = job->arena;
    const char *key = key_join(arena, CACHE_FORM, compiler_version);
    key = key_join(arena, key, job->name);
    for (unsigned i = 0; i < job->flags.count; i++)
        key = key_join(arena, key, job->flags.items[i]);
    const char *own = job->language == COMPILE_CUDA ? "cuda_device.h" : "builtins.cl";
    size_t bytes = 0;
    const char *text = process_read(arena, arena_printf(arena, "%s/%s", job->tools.share, own), &bytes);
    key = key_join(arena, key, text ? hash_text(arena, text, bytes) : "none");
    if (job->language == COMPILE_OPENCL)
        key = key_join(arena, key, file_identity(arena, is_32_bit(job) ? job->tools.libclc32 : job->tools.libclc64));
    key = key_join(arena, key, hash_text(arena, described, strlen(described)));
    return arena_printf(arena, "%s/%s.compiled", job->tools.cache, hash_text(arena, key, strlen(key)));
}

/* ---- the two languages ---- */

static void result_fill(struct job *job, struct arena *arena, const char *metadata, const char *ptx, struct compiled *out)
{
    out->ptx = arena_strdup(arena, ptx);
    out->ptx_bytes = strlen(ptx);
    out->log = arena_strdup(arena, job->log ? job->log : "");
    if (job->language == COMPILE_OPENCL)
        metadata_parse(arena, metadata, out);
    else
        metadata_from_ptx(arena, out->ptx, out);
}

/* Looks in the cache; *entry is where a result belongs, NULL when it is not to be kept. */
static enum status cache_look(struct job *job, struct arena *arena, struct compiled *out, const char **entry)
{
    const char *described = job->text, *parts[3];
    *entry = NULL;
    if (!is_cacheable(job))
        return STATUS_OK;
    if (!is_self_contained(job)) {
        enum status status = preprocess(job, &described, job->language == COMPILE_CUDA);
        if (status != STATUS_OK)
            return status;
    }
    *entry = entry_path(job, job->tools.clang_version, described);
    if (!entry_unpack(job->arena, *entry, parts))
        return STATUS_OK;
    job->log = parts[1];
    result_fill(job, arena, parts[0], parts[2], out);
    out->from_cache = true;
    return STATUS_OK;
}

static enum status opencl_compile(struct job *job, struct arena *arena, struct compiled *out)
{
    const char *install = "install clang 19 or later and libclc (Debian: apt-get install clang-19 libclc-19)";
    if (!job->tools.clang)
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: OpenCL C needs clang 19 or later, and none was found on PATH; %s, or set HEDDLE_CLANG",
                          job->name, install);
    if (!(is_32_bit(job) ? job->tools.libclc32 : job->tools.libclc64))
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: OpenCL C needs libclc's %s, which was not found; %s, or set HEDDLE_LIBCLC to its folder",
                          job->name, is_32_bit(job) ? "nvptx--nvidiacl.bc" : "nvptx64--nvidiacl.bc", install);
    flags_opencl(job);
    const char *entry = NULL, *metadata = "", *ptx = "";
    enum status status = cache_look(job, arena, out, &entry);
    if (status != STATUS_OK || out->from_cache)
        return status;
    if ((status = opencl_run(job, &metadata, &ptx)) != STATUS_OK)
        return status;
    ptx = clean_file_names(job, ptx);
    result_fill(job, arena, metadata, ptx, out);
    size_t bytes = 0;
    if (entry) {
        const char *packed = entry_pack(job->arena, metadata, out->log, ptx, &bytes);
        process_write(entry, packed, bytes); /* a cache that cannot be written is no error */
    }
    return STATUS_OK;
}

/* clang with our own header first; nvcc, where it is installed, for sources that need NVIDIA's headers, or when
 * HEDDLE_NVCC asks for it. */
static enum status cuda_compile(struct job *job, struct arena *arena, struct compiled *out)
{
    bool asked = getenv("HEDDLE_NVCC") && job->tools.nvcc;
    const char *entry = NULL, *ptx = NULL;
    enum status status = STATUS_SYSTEM;
    if (!job->tools.clang && !job->tools.nvcc)
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: CUDA sources need clang 19 or later, or nvcc, and neither was found on PATH; install one "
                          "(Debian: apt-get install clang-19), or compile to PTX elsewhere and use the .ptx file",
                          job->name);
    if (job->tools.clang && !asked) {
        flags_cuda(job);
        if (cache_look(job, arena, out, &entry) == STATUS_OK) {
            if (out->from_cache)
                return STATUS_OK;
            status = cuda_run(job, job->tools.clang, job->tools.nvcc != NULL, &ptx);
        } else {
            status = report_add(job->tools.nvcc ? NULL : job->report, STATUS_INVALID, "%s: does not compile:\n%s",
                                job->name, job->log ? job->log : "");
        }
    }
    if (status != STATUS_OK && job->tools.nvcc) {
        const char *before = job->log;
        job->flags = (struct arguments){0};
        job->log = NULL;
        flags_nvcc(job);
        status = cuda_run(job, job->tools.nvcc, false, &ptx);
        if (status != STATUS_OK && before && *before)
            report_add(job->report, status, "%s: clang said before:\n%s", job->name, before);
    }
    if (status != STATUS_OK)
        return status;
    ptx = clean_file_names(job, ptx);
    result_fill(job, arena, "", ptx, out);
    size_t bytes = 0;
    if (entry) {
        const char *packed = entry_pack(job->arena, "", out->log, ptx, &bytes);
        process_write(entry, packed, bytes);
    }
    return STATUS_OK;
}

static enum status options_check(const struct job *job)
{
    static const char *const standards[] = {"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"};
    const struct compile_options *options = job->options;
    if (options->address_bits != 0 && options->address_bits != 32 && options->address_bits != 64)
        return report_add(job->report, STATUS_INVALID, "%s: address_bits is %u; 32 and 64 are known", job->name,
                          options->address_bits);
    if (job->language != COMPILE_OPENCL || !options->standard)
        return STATUS_OK;
    for (size_t i = 0; i < sizeof standards / sizeof *standards; i++)
        if (strcmp(options->standard, standards[i]) == 0)
            return STATUS_OK;
    return report_add(job->report, STATUS_INVALID,
                      "%s: the OpenCL C standard \"%s\" is not known; CL1.0, CL1.1, CL1.2, CL2.0 and CL3.0 are",
                      job->name, options->standard);
}

static enum status job_run(struct job *job, struct arena *arena, struct compiled *out)
{
    enum status status = options_check(job);
    if (status != STATUS_OK)
        return status;
    compile_find_tools(job->arena, &job->tools);
    if (!job->tools.share)
        return report_add(job->report, STATUS_SYSTEM,
                          "builtins.cl was not found; set HEDDLE_SHARE to the folder share/heddle of the source tree");
    status = job->language == COMPILE_CUDA ? cuda_compile(job, arena, out) : opencl_compile(job, arena, out);
    if (status != STATUS_OK)
        out->log = arena_strdup(arena, job->log ? job->log : "");
    return status;
}

static enum compile_language language_of(const char *name, const struct compile_options *options)
{
    if (options->language != COMPILE_AUTO)
        return options->language;
    const char *dot = name ? strrchr(name, '.') : NULL;
    return dot && strcmp(dot, ".cu") == 0 ? COMPILE_CUDA : COMPILE_OPENCL;
}

enum status compile_file(const char *path, const struct compile_options *options, struct arena *arena,
                         struct compiled *out, struct report *report)
{
    struct arena scratch = {.escape = arena->escape};
    *out = (struct compiled){.log = ""};
    const char *slash = strrchr(path, '/');
    struct job job = {.arena = &scratch, .options = options ? options : &default_options, .path = path,
                      .report = report};
    job.name = slash ? slash + 1 : path;
    job.folder = slash ? arena_strndup(&scratch, path, (size_t)(slash + 1 - path)) : "";
    job.language = language_of(path, job.options);
    job.text = process_read(&scratch, path, &job.text_bytes);
    enum status status = STATUS_OK;
    if (!job.text)
        status = report_add(report, STATUS_INVALID, "%s: %s", path, strerror(errno));
    else if (!(job.temporary = folder_make_temporary(&scratch)))
        status = report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    else
        status = job_run(&job, arena, out);
    if (job.temporary)
        folder_remove(&scratch, job.temporary);
    arena_free(&scratch);
    return status;
}

enum status compile_text(const char *name, const char *text, size_t length, const struct compile_options *options,
                         struct arena *arena, struct compiled *out, struct report *report)
{
    struct arena scratch = {.escape = arena->escape};
    *out = (struct compiled){.log = ""};
    struct job job = {.arena = &scratch, .options = options ? options : &default_options, .report = report};
    job.language = language_of(name, job.options);
    const char *slash = name ? strrchr(name, '/') : NULL;
    job.name = slash ? slash + 1 : name;
    if (!job.name || !*job.name)
        job.name = arena_printf(&scratch, "program-%.16s.%s", hash_text(&scratch, text, length),
                                job.language == COMPILE_CUDA ? "cu" : "cl");
    job.text = arena_strndup(&scratch, text, length);
    job.text_bytes = length;
    enum status status = STATUS_OK;
    job.temporary = folder_make_temporary(&scratch);
    if (!job.temporary) {
        status = report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    } else {
        job.folder = arena_printf(&scratch, "%s/", job.temporary);
        job.path = arena_printf(&scratch, "%s%s", job.folder, job.name);
        if (process_write(job.path, text, length))
            status = job_run(&job, arena, out);
        else
            status = report_add(report, STATUS_SYSTEM, "%s: %s", job.path, strerror(errno));
        folder_remove(&scratch, job.temporary);
    }
    arena_free(&scratch);
    return status;
}

const struct compile_kernel *compiled_find(const struct compiled *compiled, const char *kernel)
{
    for (unsigned i = 0; i < compiled->kernel_count; i++)
        if (strcmp(compiled->kernels[i].name, kernel) == 0)
            return &compiled->kernels[i];
    return NULL;
}
