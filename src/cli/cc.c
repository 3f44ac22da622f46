/* SPDX-License-Identifier: Apache-2.0 */
/* heddle cc: CUDA programs compiled as nvcc would, without any file of NVIDIA's. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/library.h"
#include "compile/program.h"

static const struct option options[] = {
    {"output-file", 'o', "FILE", "the output; default a.out, or the source's name with another ending"},
    {"compile", 'c', NULL, "compile to objects only"},
    {"ptx", 0, NULL, "PTX only, into SOURCE.ptx; --fatbin: in a fat binary"},
    {"preprocess", 'E', NULL, "what the preprocessor makes of the source"},
    {"generate-dependencies", 'M', NULL, "the files a source includes, for make; also -MM, -MD, -MMD, -MF, -MT, -MP"},
    {"include-path", 'I', "DIR", "a folder of headers; also -isystem"},
    {"define-macro", 'D', "NAME=VALUE", "a definition"},
    {"library-path", 'L', "DIR", "a folder of libraries"},
    {"library", 'l', "NAME", "a library; of NVIDIA's those that docs/cuda.md lists are compiled into the program"},
    {"std", 0, "NAME", "c++11, c++14, c++17 (default), c++20 or c++23"},
    {"optimize", 'O', "LEVEL", "of host code; device code is optimised anyway"},
    {"debug", 'g', NULL, "debug information for host code"},
    {"device-debug", 'G', NULL, "optimise device code less"},
    {"gpu-architecture", 0, "NAME", "-arch, -gencode: of those named the highest up to sm_75, else the lowest"},
    {"use_fast_math", 0, NULL, "fast and less exact mathematics; also --ftz, --prec-div, --prec-sqrt, --fmad"},
    {"compiler-options", 0, "WORDS", "-Xcompiler: for the host's compiler"},
    {"linker-options", 0, "WORDS", "-Xlinker: for the linker"},
    {"disable-warnings", 'w', NULL, "no warnings"},
    {"toolkit", 0, NULL, "print a folder with bin/nvcc, include and lib64, for makefiles that want the CUDA toolkit's"},
    {"verbose", 'v', NULL, "show commands; --dryrun: and do nothing"},
    OPTION_END,
};

/* The folder that stands in for the CUDA toolkit; NULL: CUDA's runtime was not built. */
static const char *find_toolkit(struct arena *arena, const char **folder) {
    const char *preload = library_find(arena, CUDA_FOLDER "/" CUDA_PRELOAD, "HEDDLE_CUDA");
    *folder = preload ? file_dir(arena, preload) : NULL;
    const char *toolkit = preload ? file_join(arena, *folder, CUDA_TOOLKIT) : NULL;
    return toolkit && access(file_join(arena, toolkit, CUDA_STUB "/libcudart.so"), R_OK) == 0 ? toolkit : NULL;
}

static struct program_runtime find_runtime(struct arena *arena) {
    const char *folder = NULL, *toolkit = find_toolkit(arena, &folder);
    return toolkit ? (struct program_runtime){.folder = folder, .stub = file_join(arena, toolkit, CUDA_STUB)}
                   : (struct program_runtime){NULL, NULL};
}

/* For makefiles: make CUDA_PATH="$(heddle cc --toolkit)". */
static int print_toolkit(struct arena *arena) {
    const char *folder = NULL, *toolkit = find_toolkit(arena, &folder);
    if (toolkit)
        puts(toolkit);
    else
        fputs("heddle cc: CUDA's runtime was not found beside this program\n", stderr);
    return toolkit ? 0 : 2;
}

static int cc_main(struct arguments *arguments) {
    struct arena *arena = &arguments->arena;
    struct report report = {0};
    struct cuda_program program;
    struct program_words words = {.said = "", .output = ""};
    if (arguments->operand_count == 1 && strcmp(arguments->operands[0], "--toolkit") == 0)
        return print_toolkit(arena);
    enum status status = program_read(arena, arguments->operands, arguments->operand_count, &program, &report);
    if (!status && program.says_version) {
        puts("heddle cc: CUDA compiler driver of heddle " HEDDLE_VERSION
             "\nCuda compilation tools, release 12.3, V12.3.0");
        return 0;
    }
    if (!status) {
        const struct program_runtime runtime = find_runtime(arena);
        print_text(stderr, program.notes);
        status = program_make(&program, &runtime, arena, &words, &report);
        fputs(words.output, stdout);
        print_text(stderr, words.said);
    }
    return finish(status, &report);
}

const struct command command_cc = {
    .name = "cc",
    .operands = "FILE...",
    .summary = "Compile CUDA programs for heddle exec, with nvcc's options and no NVIDIA software",
    .text =
        "Takes nvcc's command line: 'make NVCC=\"heddle cc\"'. Files are .cu, .cpp, .cc, .cxx, .c, .o, .a and .so. "
        "Device and host code are compiled by clang with headers of Heddle's own; programs load libcudart.so.12 and "
        "run under 'heddle exec -- ./a.out', or directly as long as Heddle is not moved. An unknown or unsupported "
        "option is refused by name; an option without effect is named in a note. docs/cuda.md lists what is supported.",
    .manual =
        "The compiler runs as you do, with your folders and environment: do not compile sources of strangers with "
        "it that you would not compile with another compiler. Options are one word or two, with one dash or two, "
        "as nvcc takes them; files of options are refused.",
    .examples = "heddle cc -O3 -o saxpy saxpy.cu\n"
                "make NVCC=\"heddle cc\"\n"
                "make CUDA_PATH=\"$(heddle cc --toolkit)\"\n"
                "heddle exec -- ./saxpy",
    .options = options,
    .operands_min = 1,
    .operands_max = UINT_MAX,
    .reads_words = true,
    .main = cc_main,
};
