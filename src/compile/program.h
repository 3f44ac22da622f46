/* SPDX-License-Identifier: Apache-2.0 */
/* Whole CUDA programs: nvcc's command line, done by clang with headers and libraries of our own. Device code becomes PTX in a fat
 * binary, host code an object that carries it, objects a program that asks for CUDA's runtime.
 *
 * Unlike compile.h this is the user's own compiler: sources, folders and the environment are those of whoever typed the command, and
 * the compiler runs as they do. What it is told is still read here, word by word: nothing that this does not know reaches it, but for
 * what the user says is for the host's compiler or for the linker. */
#ifndef HEDDLE_COMPILE_PROGRAM_H
#define HEDDLE_COMPILE_PROGRAM_H

#include "base/process.h"
#include "base/status.h"
#include <stdbool.h>

enum program_stage {
    PROGRAM_LINK,
    PROGRAM_OBJECT,       /* -c */
    PROGRAM_PTX,          /* -ptx */
    PROGRAM_FATBIN,       /* -fatbin */
    PROGRAM_DEVICE_LINK,  /* -dlink */
    PROGRAM_PREPROCESS,   /* -E */
    PROGRAM_DEPENDENCIES, /* -M, -MM */
};

enum program_kind { PROGRAM_CUDA, PROGRAM_CXX, PROGRAM_C, PROGRAM_LINKED /* an object, a library, -lNAME */ };

struct program_input {
    const char *text;
    enum program_kind kind;
};

/* A command line, read. */
struct cuda_program {
    enum program_stage stage;
    const char *output; /* NULL: by the input's name, a.out, or standard output */
    struct {
        struct program_input *items;
        unsigned count, capacity;
    } inputs;                       /* files, and libraries in their places among them */
    struct command_line preprocess; /* definitions and folders */
    struct command_line device, host, link, dependencies;
    struct command_line libraries; /* of NVIDIA's, those that are compiled into programs here, by name */
    const char *standard;          /* NULL: c++17 */
    unsigned sm;                   /* what is compiled for */
    bool is_in_parts;              /* -rdc=true: device code may be in other files */
    bool debugs_device, is_quiet, forwards, shows, only_shows;
    bool says_version;
    const char *notes; /* lines for the user; "" when there are none */
};

/* nvcc's words. What is not known, or not built, is refused by name. */
enum status program_read(struct arena *arena, const char *const *words, unsigned count, struct cuda_program *out,
                         struct report *report);

/* Where CUDA's runtime is; NULL: nowhere, and programs are not linked. */
struct program_runtime {
    const char *folder; /* of libcudart.so.12, which programs are told to look in */
    const char *stub;   /* of the libcudart.so that is linked with */
};

/* What the compiler said. */
struct program_words {
    const char *said;   /* for standard error */
    const char *output; /* for standard output: of -E, -M and --dryrun */
};

/* Does what was read. STATUS_INVALID: the compiler refused; what it said is in *words. */
enum status program_make(const struct cuda_program *program, const struct program_runtime *runtime, struct arena *arena,
                         struct program_words *words, struct report *report);

#endif
