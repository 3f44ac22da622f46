/* SPDX-License-Identifier: Apache-2.0 */
/* heddle doctor: what this computer has of what Heddle can use. */
#include "base/cpu.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "compile/compile.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option options[] = {OPTION_END};

static const char *find_program(struct arena *arena, const char *name) {
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        const char *full = arena_printf(arena, "%.*s/%s", (int)length, path, name);
        if (length && access(full, X_OK) == 0)
            return full;
        path += length + (path[length] == ':');
    }
    return NULL;
}

static void show(bool there, const char *what, const char *found, const char *adds) {
    printf("  %-8s %-26s ", there ? "ok" : "missing", what);
    text_wrap(there ? found : adds, 38, stdout);
}

static void show_sources(struct arena *arena) {
    struct compile_tools tools = {0};
    compile_find_tools(arena, &tools);
    puts("Kernels (.ptx needs nothing):");
    show(tools.clang, "clang 19", tools.clang_version ? tools.clang_version : tools.clang,
         "apt-get install clang-19: runs .cl files, and simple .cu files");
    show(tools.libclc64, "libclc", tools.libclc64,
         "apt-get install libclc-19: OpenCL's built-in functions for .cl files");
    show(tools.share, "Heddle's own builtins", tools.share, "share/heddle of the source tree; set HEDDLE_SHARE to it");
    show(tools.nvcc, "nvcc (optional)", tools.nvcc_version ? tools.nvcc_version : tools.nvcc,
         "NVIDIA's CUDA toolkit: .cu files that use its headers");
    show(tools.ptxas, "ptxas (optional)", tools.ptxas_version,
         "NVIDIA's CUDA toolkit: runs PTX as native code of sm_75 to sm_90 (isa: sm_86)");
    show(tools.llvm_spirv, "llvm-spirv (optional)", tools.llvm_spirv_version,
         "OpenCL programs from SPIR-V; Debian: apt-get install llvm-spirv-15");
    show(tools.cache, "cache of compiled kernels", tools.cache, tools.cache_refused);
}

static void show_machines(struct arena *arena) {
    const char *const *names = machine_list(arena);
    const char *list = "";
    for (unsigned i = 0; names[i]; i++)
        list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", names[i]);
    puts("\nMachines:");
    show(names[0] != NULL, "configurations", list, "the folder configs; set HEDDLE_CONFIGS to it");
}

static void show_host(struct arena *arena) {
    const char *levels = "";
#define LEVEL(level, is_there, is_automatic)                                                                           \
    if (is_there)                                                                                                      \
        levels = arena_printf(arena, "%s%s" #level, levels, *levels ? ", " : "");
    CPU_LEVELS(LEVEL)
#undef LEVEL
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE), processors = sysconf(_SC_NPROCESSORS_ONLN);
    double gibibytes = (double)pages * (double)page / (1024.0 * 1024 * 1024);
    puts("\nThis computer:");
    show(true, "host", CPU_NAME, "");
    show(true, "lanes",
         arena_printf(arena, "%s (levels the CPU has; --set host.lanes=" CPU_LEAST_LEVEL " forces one)", levels), "");
    show(gibibytes >= 2, "memory", arena_printf(arena, "%.1f GiB, %ld processors", gibibytes, processors),
         arena_printf(arena, "%.1f GiB is little: large launches may not fit", gibibytes));
}

static void show_developer(struct arena *arena) {
    const char *oclgrind = find_program(arena, "oclgrind"), *cmake = find_program(arena, "cmake");
    const char *pocl = access("/etc/OpenCL/vendors/pocl.icd", R_OK) == 0 ? "/etc/OpenCL/vendors/pocl.icd" : NULL;
    puts("\nFor work on Heddle itself:");
    show(find_program(arena, "node") || find_program(arena, "nodejs"), "Node.js", "bundles the page of 'heddle report'",
         "apt-get install nodejs and build again: 'heddle report'");
    show(cmake, "cmake", cmake, "apt-get install cmake: builds Heddle");
    show(oclgrind, "Oclgrind", oclgrind, "apt-get install oclgrind: random kernels are compared with it");
    show(pocl, "PoCL", pocl, "apt-get install pocl-opencl-icd: a second opinion on random kernels");
}

static int doctor_main(struct arguments *arguments) {
    struct arena *arena = &arguments->arena;
    show_sources(arena);
    show_machines(arena);
    show_host(arena);
    show_developer(arena);
    return 0;
}

const struct command command_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Show what is installed, what is missing, and what each missing part would add",
    .text = "",
    .options = options,
    .operands_min = 0,
    .operands_max = 0,
    .main = doctor_main,
};
