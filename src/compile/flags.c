/* SPDX-License-Identifier: Apache-2.0 */
/* What the compilers are told: the options that the user's and the target make, and those of each step. */
#include "compile/job.h"
#include <errno.h>
#include <string.h>

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

static const char *target_cpu(const struct compile_job *job) {
    return arena_printf(job->arena, "sm_%u", job->options->sm ? job->options->sm : 75);
}

const char *job_headers(const struct compile_job *job) {
    return arena_printf(job->arena, "%s/.headers/", job->temporary);
}

bool job_is_32_bit(const struct compile_job *job) { return job->options->address_bits == 32; }

const char *job_libclc(const struct compile_job *job) {
    return job_is_32_bit(job) ? job->tools.libclc32 : job->tools.libclc64;
}

static const char *optimisation(const struct compile_job *job) {
    static const char *const levels[] = {"-O0", "-O2", "-O1", "-O2", "-O3"};
    int level = job->options->optimisation;
    return level < -1 || level > 3 ? "-O2" : levels[level + 1];
}

static const char *opencl_target(const struct compile_job *job) {
    /* The operating system `nvcl` has pointer parameters carry their address space. */
    return job_is_32_bit(job) ? "--target=nvptx-nvidia-nvcl" : "--target=nvptx64-nvidia-nvcl";
}

static void add_defines(struct compile_job *job) {
    for (unsigned i = 0; i < job->options->define_count; i++)
        command_line_add(job->arena, &job->flags, arena_printf(job->arena, "-D%s", job->options->defines[i]));
}

static void flags_common(struct compile_job *job) {
    struct command_line *flags = &job->flags;
    for (unsigned i = 0; i < job->options->include_count; i++)
        command_line_add(job->arena, flags, arena_printf(job->arena, "-I%s", job->includes[i]));
    command_line_add_all(job->arena, flags, job->options->extra, job->options->extra_count);
}

void job_add_clang(struct compile_job *job, struct command_line *line) {
    command_line_add(job->arena, line, job->tools.clang);
    command_line_add(job->arena, line, "--no-default-config");
}

void job_add_flags(struct compile_job *job, struct command_line *line) {
    command_line_add_all(job->arena, line, job->flags.items, job->flags.count);
    command_line_add(job->arena, line, arena_printf(job->arena, "-I%s/include", job->tools.share)); /* heddle.h */
    if (job->options->header_count) /* not part of the key: their text is, preprocessed */
        command_line_add(job->arena, line, arena_printf(job->arena, "-I%s", job_headers(job)));
}

void job_add_maps(struct compile_job *job, struct command_line *line) {
    struct arena *arena = job->arena;
    for (unsigned i = 0; i < job->options->include_count; i++)
        command_line_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s/=", job->includes[i]));
    command_line_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s/include/=", job->tools.share));
    command_line_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s=", job->folder));
    if (job->options->header_count)
        command_line_add(arena, line, arena_printf(arena, "-ffile-prefix-map=%s=", job_headers(job)));
    command_line_add(arena, line, "-fdebug-compilation-dir=.");
}

/* What the compiler is told of extensions.def; clang knows the rest by its version. */
static void add_extensions(struct compile_job *job, struct command_line *line, const char *standard) {
    static const char *const always[] = {
#define EXTENSION(name) "-Xclang", "-cl-ext=+" #name,
#define FEATURE EXTENSION
#define EXTENSION_MACRO(name) "-D" #name "=1",
#define MACRO EXTENSION_MACRO
#define IMAGE_EXTENSION(name)
#define IMAGE_EXTENSION_MACRO(name)
#define IMAGE_MACRO(name)
#define IMAGE_FEATURE(name)
#include "compile/extensions.def"
    };
    static const char *const of_images[] = {
#define IMAGE_EXTENSION(name) "-Xclang", "-cl-ext=+" #name,
#define IMAGE_FEATURE IMAGE_EXTENSION
#define IMAGE_EXTENSION_MACRO(name) "-D" #name "=1",
#define IMAGE_MACRO IMAGE_EXTENSION_MACRO
#include "compile/extensions.def"
    };
    static const char *const in_3_0[] = {
#define FEATURE_MACRO(name) "-D" #name "=1",
#include "compile/extensions.def"
    };
    command_line_add_all(job->arena, line, always, COUNT(always));
    if (!job->options->no_images)
        command_line_add_all(job->arena, line, of_images, COUNT(of_images));
    if (strcmp(standard, "CL3.0") == 0 || strcmp(standard, "CLC++2021") == 0)
        command_line_add_all(job->arena, line, in_3_0, COUNT(in_3_0));
}

void job_flags_opencl(struct compile_job *job) {
    static const char *const fixed[] = {"-x",
                                        "cl",
                                        "--cuda-feature=+ptx85",
                                        "-cl-kernel-arg-info",
                                        "-Dasm=__asm__", /* as NVIDIA's compiler has it */
                                        "-fno-crash-diagnostics",
                                        "-Wno-linker-warnings",
                                        "-fno-ident"};
    struct arena *arena = job->arena;
    struct command_line *flags = &job->flags;
    command_line_add_all(arena, flags, fixed, COUNT(fixed));
    const char *standard = job->options->standard ? job->options->standard : "CL1.2";
    add_extensions(job, flags, standard);
    command_line_add(arena, flags, arena_printf(arena, "-cl-std=%s", standard));
    command_line_add(arena, flags, opencl_target(job));
    command_line_add(arena, flags, arena_printf(arena, "-march=%s", target_cpu(job)));
    command_line_add(arena, flags, optimisation(job));
    if (!job->options->no_line_info) {
        command_line_add(arena, flags, "-gdwarf-4");
        command_line_add(arena, flags, "-gline-directives-only");
    }
    command_line_add(arena, flags, "-D__OPENCL_VERSION__=300"); /* of the device, whatever the language is */
    add_defines(job);
    flags_common(job);
}

void job_flags_cuda(struct compile_job *job) {
    static const char *const fixed[] = {"-x", "cuda", "--cuda-feature=+ptx85", "--cuda-device-only", "-nocudainc",
                                        "-nocudalib",
                                        /* products and sums are fused, but not inside of libclc's functions, which
                                         * rely on each rounding: clang's own default for CUDA fuses those too */
                                        "-ffp-contract=fast-honor-pragmas", "-fno-crash-diagnostics", "-fno-ident",
                                        "-Wno-unknown-cuda-version", "-Wno-linker-warnings"};
    struct arena *arena = job->arena;
    struct command_line *flags = &job->flags;
    command_line_add_all(arena, flags, fixed, COUNT(fixed));
    const char *standard = job->options->standard ? job->options->standard : "c++17";
    command_line_add(arena, flags, arena_printf(arena, "-std=%s", standard));
    command_line_add(arena, flags, arena_printf(arena, "--cuda-gpu-arch=%s", target_cpu(job)));
    command_line_add(arena, flags, optimisation(job));
    if (!job->options->no_line_info) {
        command_line_add(arena, flags, "-gdwarf-4");
        command_line_add(arena, flags, "-gline-directives-only");
    }
    add_defines(job);
    flags_common(job);
}

/* nvcc hands its words to a shell, so definitions travel in a file. */
static enum status write_defines(struct compile_job *job, const char *path) {
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

enum status job_flags_nvcc(struct compile_job *job) {
    struct arena *arena = job->arena;
    struct command_line *flags = &job->flags;
    command_line_add(arena, flags, "-ptx");
    command_line_add(arena, flags, arena_printf(arena, "-arch=%s", target_cpu(job)));
    if (!job->options->no_line_info)
        command_line_add(arena, flags, "-lineinfo");
    if (job->options->standard)
        command_line_add(arena, flags, arena_printf(arena, "-std=%s", job->options->standard));
    const char *defines = arena_printf(arena, "%s/.heddle.defines.h", job->temporary);
    command_line_add(arena, flags, "-include");
    command_line_add(arena, flags, defines);
    flags_common(job);
    return write_defines(job, defines);
}

void job_add_library_flags(struct compile_job *job, bool is_opencl, struct command_line *line) {
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
    job_add_clang(job, line);
    command_line_add_all(arena, line, common, COUNT(common));
    if (!is_opencl)
        return;
    command_line_add_all(arena, line, opencl, COUNT(opencl));
    add_extensions(job, line, "CL3.0");
}

void job_add_optimising_ir_flags(struct compile_job *job, struct command_line *line) {
    const char *const generate[] = {"-x",
                                    "ir",
                                    "--cuda-feature=+ptx85",
                                    opencl_target(job),
                                    arena_printf(job->arena, "-march=%s", target_cpu(job)),
                                    optimisation(job),
                                    "-fno-crash-diagnostics",
                                    "-Wno-override-module",
                                    "-Wno-linker-warnings"};
    job_add_clang(job, line);
    command_line_add_all(job->arena, line, generate, COUNT(generate));
}

void job_add_ir_flags(struct compile_job *job, struct command_line *line) {
    job_add_optimising_ir_flags(job, line);
    command_line_add(job->arena, line, "-Xclang");
    command_line_add(job->arena, line, "-disable-llvm-passes");
}
