/* SPDX-License-Identifier: Apache-2.0 */
/* Where the compiler, its library and our own files are. */
#include "base/file.h"
#include "compile/compile.h"
#include "compile/job.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void cache_find(struct arena *arena, struct compile_tools *out) {
    const char *base = environment("XDG_CACHE_HOME"), *home = environment("HOME");
    char *path = NULL;
    if (base && base[0] == '/') /* the XDG specification has relative values ignored */
        path = arena_printf(arena, "%s/heddle", base);
    else if (home)
        path = path_absolute(arena, arena_printf(arena, "%s/.cache/heddle", home));
    const char *wrong = path ? folder_make_private(arena, path) : NULL;
    if (path && !wrong)
        out->cache = path;
    else
        out->cache_refused = path ? arena_printf(arena, "%s %s", path, wrong) : "HOME and XDG_CACHE_HOME are not set";
}

static const char *share_folder(struct arena *arena) {
    const char *candidates[] = {
        environment("HEDDLE_SHARE"), file_beside_program(arena, ""),
#ifdef HEDDLE_SHARE_INSTALLED
        HEDDLE_SHARE_INSTALLED,
#endif
        "/usr/local/share/heddle",   "/usr/share/heddle",
    };
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
        if (candidates[i] && file_exists(arena_printf(arena, "%s/builtins.cl", candidates[i])))
            return path_absolute(arena, candidates[i]);
    return NULL;
}

static const char *libclc_find(struct arena *arena, const char *file) {
    const char *folders[] = {
        environment("HEDDLE_LIBCLC"), "/usr/lib/clc",  "/usr/share/clc", "/usr/local/share/clc", "/usr/local/lib/clc",
        "/usr/lib/llvm-19/share/clc", "/usr/lib64/clc"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char *path = folders[i] ? arena_printf(arena, "%s/%s", folders[i], file) : NULL;
        if (path && file_exists(path))
            return path_absolute(arena, path);
    }
    return NULL;
}

/* The output of `program --version`. Asking takes longer than a cached compile, so the answer is kept under a name
 * that changes when the program does. */
static const char *version_of(struct arena *arena, const char *program, const char *cache) {
    struct stat info;
    if (stat(program, &info) < 0)
        return NULL;
    const char *identity = arena_printf(arena, "%s %lld %lld.%09ld", program, (long long)info.st_size,
                                        (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    char *kept = NULL;
    if (cache) {
        kept = arena_printf(arena, "%s/%016llx.version", cache,
                            (unsigned long long)XXH3_64bits(identity, strlen(identity)));
        const char *text = file_try_read(arena, kept, NULL);
        if (text && *text)
            return text;
    }
    char *folder = folder_make_temporary(arena);
    if (!folder)
        return NULL;
    struct command_line arguments = {0};
    struct process_end end = {0};
    command_line_add(arena, &arguments, program);
    command_line_add(arena, &arguments, "--version");
    const struct process_cage cage = compile_cage(folder);
    enum status status = process_run(arena, &arguments, arena_printf(arena, "%s/version", folder), &cage, &end, NULL);
    folder_remove(arena, folder);
    if (status != STATUS_OK || end.exit_code != 0)
        return NULL;
    if (kept)
        file_write_private(kept, end.output, strlen(end.output));
    return end.output;
}

static unsigned major_version(const char *text) {
    const char *at = strstr(text, "version ");
    return at ? (unsigned)strtoul(at + strlen("version "), NULL, 10) : 0;
}

static const char *first_line(struct arena *arena, const char *text) {
    return text ? arena_strndup(arena, text, strcspn(text, "\n")) : NULL;
}

static void clang_find(struct arena *arena, struct compile_tools *out) {
    const char *names[] = {environment("HEDDLE_CLANG"), "clang-19", "clang-20", "clang-21", "clang",
                           "/usr/lib/llvm-19/bin/clang"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *program = names[i] ? program_find(arena, names[i]) : NULL;
        const char *version = program ? version_of(arena, program, out->cache) : NULL;
        if (version && strstr(version, "clang") && major_version(version) >= 19) {
            out->clang = program;
            out->clang_version = first_line(arena, version);
            return;
        }
    }
}

/* Of versions up to the compiler's: what it writes is to be read by that. */
static void llvm_spirv_find(struct arena *arena, struct compile_tools *out) {
    const char *names[] = {getenv("HEDDLE_LLVM_SPIRV"),
                           "llvm-spirv-19",
                           "llvm-spirv-18",
                           "llvm-spirv-17",
                           "llvm-spirv-16",
                           "llvm-spirv-15",
                           "llvm-spirv-14",
                           "llvm-spirv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] && !*names[i])
            return; /* set and empty: never */
        const char *program = names[i] ? program_find(arena, names[i]) : NULL;
        const char *version = program ? version_of(arena, program, out->cache) : NULL;
        if (version) {
            out->llvm_spirv = program;
            out->llvm_spirv_version = first_line(arena, version + strspn(version, " "));
            return;
        }
    }
}

static const char *release_line(struct arena *arena, const char *version) {
    const char *release = strstr(version, "Cuda compilation tools");
    return first_line(arena, release ? release : version);
}

/* A program of NVIDIA's toolkit by the variable that names one, on PATH, or where the toolkit is put; *version is what it says. */
static const char *toolkit_find(struct arena *arena, const char *variable, const char *name, const char *cache,
                                const char **version) {
    const char *chosen = getenv(variable);
    if (chosen && !*chosen)
        return NULL; /* set and empty: never */
    const char *program = program_find(arena, chosen ? chosen : name);
    if (!program && !chosen)
        program = program_find(arena, arena_printf(arena, "/usr/local/cuda/bin/%s", name));
    *version = program ? version_of(arena, program, cache) : NULL;
    return *version ? program : NULL;
}

static void toolkit_find_all(struct arena *arena, struct compile_tools *out) {
    const char *version = NULL;
    out->nvcc = toolkit_find(arena, "HEDDLE_NVCC", "nvcc", out->cache, &version);
    out->nvcc_version = out->nvcc ? release_line(arena, version) : NULL;
    out->ptxas = toolkit_find(arena, "HEDDLE_PTXAS", "ptxas", out->cache, &version);
    out->ptxas_version = out->ptxas ? release_line(arena, version) : NULL;
    out->ptxas_identity = out->ptxas ? version : NULL;
}

void compile_find_tools(struct arena *arena, struct compile_tools *out) {
    *out = (struct compile_tools){0};
    cache_find(arena, out);
    out->share = share_folder(arena);
    out->libclc64 = libclc_find(arena, "nvptx64--nvidiacl.bc");
    out->libclc32 = libclc_find(arena, "nvptx--nvidiacl.bc");
    clang_find(arena, out);
    llvm_spirv_find(arena, out);
    toolkit_find_all(arena, out);
}
