/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's programs: source, builds, binaries. */
#ifndef HEDDLE_OPENCL_PROGRAM_H
#define HEDDLE_OPENCL_PROGRAM_H

#include "compile/compile.h"
#include "opencl/context.h"

typedef void(CL_CALLBACK *program_notify)(cl_program program, void *user);

struct program_end {
    program_notify function;
    void *user;
    struct program_end *next;
};

/* What a build, a compile or a link gave. Nothing in it changes once the program has it, so whoever asked for it may go on
 * reading; all of them live as long as the program. */
struct build {
    struct arena arena; /* all of it, apart from the struct itself */
    cl_build_status status;
    cl_program_binary_type type;
    const char *options, *log, *kernel_names;
    const char *source; /* one that was read from a binary has it; NULL: the program has */
    size_t source_bytes;
    const char *binary; /* made when first asked for, under the engine's lock */
    size_t binary_bytes;
    struct compiled compiled;     /* an executable */
    struct program *loaded;       /* on the device; NULL: not an executable */
    const char *code;             /* a compiled object or a library: LLVM IR */
    struct session_entry *record; /* in the log of its launches; NULL: nobody asked */
    struct build *older;
};

struct _cl_program {
    struct object object;
    cl_context context;
    const char *source; /* NULL: made from a binary or linked */
    size_t source_bytes;
    bool from_binary;
    const char *il; /* SPIR-V; NULL: made from something else */
    size_t il_bytes;
    struct program_end *ends;
    atomic_uint kernels;  /* that there are: while there is one it cannot be built again */
    atomic_flag building; /* whoever sets it may use the program's arena */
    struct build none;    /* before the first build */
    struct build *build;  /* the last one, under the engine's lock: program_build */
};

/* SPIR-V is taken where what translates it is installed. */
bool program_takes_il(void);
/* One with nothing in it; NULL with the error in *code. */
cl_program program_create(cl_context context, cl_int *code);
void program_release(cl_program program);
struct build *program_build(cl_program program);
/* A build that nobody knows of yet; NULL: the host has no memory. */
struct build *program_new_build(cl_program program);
void program_set_build(cl_program program, struct build *build);

/* A build as bytes, in its arena; NULL: the host has no memory. */
const char *binary_write(struct build *build, const char *source, size_t source_bytes, size_t *bytes);
/* Reads them back, from whomever they are; false: these bytes are none. */
bool binary_read(const unsigned char *data, size_t bytes, struct build *build);

/* Options of clBuildProgram, clCompileProgram and clLinkProgram, taken apart. */
struct build_options {
    struct compile_options compile;
    bool creates_library;
};
enum build_stage { STAGE_BUILD, STAGE_COMPILE, STAGE_LINK };
/* False: one is not known. */
bool build_options_read(const char *text, enum build_stage stage, struct arena *arena, struct build_options *out);

#endif
