#ifndef HEDDLE_OPENCL_PROGRAM_H
#define HEDDLE_OPENCL_PROGRAM_H

#include "device/compile.h"
#include "opencl/context.h"

typedef void(CL_CALLBACK *program_notify)(cl_program program, void *user);

struct program_end {
    program_notify function;
    void *user;
    struct program_end *next;
};

struct _cl_program {
    struct object object;
    cl_context context;
    const char *source; /* NULL: made from a binary or linked */
    size_t source_bytes;
    bool from_binary;
    struct program_end *ends;
    atomic_uint kernels; /* that there are: while there is one it cannot be built again */
    atomic_flag building;
    /* the last build, compile or link */
    cl_build_status status;
    cl_program_binary_type type;
    const char *options, *log, *kernel_names;
    const char *binary; /* made when first asked for, under the engine's lock */
    size_t binary_bytes;
    struct compiled compiled;     /* an executable */
    struct program *loaded;       /* on the device; NULL: not an executable */
    const char *code;             /* a compiled object or a library: LLVM IR */
    struct session_entry *record; /* in the log of its launches; NULL: nobody asked */
};

/* One with nothing in it; NULL with the error in *code. */
cl_program program_create(cl_context context, cl_int *code);
void program_release(cl_program program);
/* The last build as bytes that clCreateProgramWithBinary reads back; NULL: there is none. In the program's arena. */
const char *program_binary(cl_program program, size_t *bytes);
/* Reads one; false: these bytes are not one. */
bool program_from_binary(cl_program program, const unsigned char *data, size_t bytes);

/* Options of clBuildProgram, clCompileProgram and clLinkProgram, taken apart. */
struct build_options {
    struct compile_options compile;
    bool creates_library;
};
enum build_stage { STAGE_BUILD, STAGE_COMPILE, STAGE_LINK };
/* False: one is not known. */
bool build_options_read(const char *text, enum build_stage stage, struct arena *arena, struct build_options *out);

#endif
