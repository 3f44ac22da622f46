/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL C and CUDA sources to PTX, by running a compiler of the host in a process of its own: a crash in the
 * compiler is then a build error and not the end of the program we live in.
 * Results are cached by content in $XDG_CACHE_HOME/heddle (else ~/.cache/heddle); without such a folder everything
 * still works, only slower. Safe for several processes at once. */
#ifndef HEDDLE_COMPILE_COMPILE_H
#define HEDDLE_COMPILE_COMPILE_H

#include "base/arena.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compile_language {
    COMPILE_AUTO, /* by the ending of the name: .cu is CUDA, everything else OpenCL C */
    COMPILE_OPENCL,
    COMPILE_CUDA,
};

struct compile_header {
    const char *name; /* as #include has it */
    const char *text;
};

/* Zero-initialise for the defaults. Whatever is in here may come from a stranger: values that could be an option, a file of
 * options or several lines to a compiler are refused (check.c). */
struct compile_options {
    enum compile_language language;
    const char *const *defines; /* "NAME" or "NAME=VALUE" */
    unsigned define_count;
    const char *const *includes; /* folders */
    unsigned include_count;
    const char *standard; /* OpenCL: "CL1.0" to "CL3.0" ("CL1.2" if none), "CLC++2021"; CUDA: "c++17" (default) ... */
    const char *const *extra; /* options that compile_knows_option, such as -cl-fast-relaxed-math */
    unsigned extra_count;
    unsigned sm;           /* 0: 75 */
    unsigned address_bits; /* 64 (also 0) or 32 */
    int optimisation;      /* 0: -O2; 1, 2, 3: that level; -1: -O0 */
    bool no_line_info;
    bool no_images; /* the device has none, and sources may ask for that */
    bool no_cache;
    const struct compile_header *headers; /* that are in no folder of the host */
    unsigned header_count;
};

enum compile_space { COMPILE_PRIVATE, COMPILE_GLOBAL, COMPILE_CONSTANT, COMPILE_LOCAL };
enum compile_access {
    COMPILE_ACCESS_NONE,
    COMPILE_READ_ONLY,
    COMPILE_WRITE_ONLY,
    COMPILE_READ_WRITE
}; /* images, pipes */
enum compile_element { COMPILE_ELEMENT_OTHER, COMPILE_ELEMENT_SIGNED, COMPILE_ELEMENT_UNSIGNED, COMPILE_ELEMENT_FLOAT };

/* One argument of a kernel as its source says it. CUDA kernels have only what PTX tells: no list of arguments. */
struct compile_arg {
    const char *name;         /* "" when unknown */
    const char *type_name;    /* as written, qualifiers apart: "float*", "uint4", "struct particle" */
    const char *base_type;    /* the same without typedefs: "image2d_t", "sampler_t" */
    enum compile_space space; /* of what a pointer points to; COMPILE_PRIVATE: passed by value */
    enum compile_access access;
    bool is_pointer, is_const, is_volatile, is_restrict;
    /* What a pointer points to, or the value itself. OTHER: a struct, an image, a pointer; bytes 0: not known here. */
    enum compile_element element;
    unsigned element_bytes; /* of one component: 4 for float4 */
    unsigned components;    /* 1, 2, 3 (takes the room of 4), 4, 8, 16 */
};

struct compile_kernel {
    const char *name;
    struct compile_arg *args;
    unsigned arg_count;
    bool has_arg_info;
    uint32_t reqd_work_group_size[3], work_group_size_hint[3]; /* 0: not given */
    const char *vec_type_hint;                                 /* NULL: not given */
};

struct compiled {
    char *ptx; /* NUL-terminated; names the source relative to its own folder, never a path of the host */
    size_t ptx_bytes;
    const char *log;      /* what the compiler said, "" when nothing */
    const char *metadata; /* what `kernels` was read from: compiled_from_text makes the same again of it and the PTX */
    const char *object;   /* of compile_object and compile_library: LLVM IR as text */
    struct compile_kernel *kernels;
    unsigned kernel_count;
    bool from_cache;
};

/* Why a value must not reach a compiler; NULL: it may. */
const char *compile_bad_define(const char *text);
const char *compile_bad_path(const char *text);
bool compile_knows_option(enum compile_language language, const char *word);
/* Options as words, such as "-DN=4" or "-I" "folder", for the language that out->language says. The first word that is
 * refused; NULL: none is. */
const char *compile_read_words(struct arena *arena, const char *const *words, unsigned count,
                               struct compile_options *out);

/* Everything in *out lives in the arena. STATUS_INVALID: the source does not compile, the compiler's words are in
 * out->log and in the report. STATUS_SYSTEM: a part is missing or the host refused. */
enum status compile_file(const char *path, const struct compile_options *options, struct arena *arena,
                         struct compiled *out, struct report *report);
/* A program handed over as a string. */
struct compile_source {
    const char *name; /* NULL: that of its first kernel */
    const char *text;
    size_t bytes;
};
/* Includes are searched in options->includes. */
enum status compile_text(const struct compile_source *source, const struct compile_options *options,
                         struct arena *arena, struct compiled *out, struct report *report);
/* OpenCL C in pieces: a source alone gives an object; objects together give what one source would. out->log is set as by
 * compile_text. Nothing of this is cached. */
enum status compile_object(const char *text, size_t length, const struct compile_options *options, struct arena *arena,
                           struct compiled *out, struct report *report);
enum status compile_link(const char *const *objects, unsigned count, const struct compile_options *options,
                         struct arena *arena, struct compiled *out, struct report *report);
/* The objects as one object. */
enum status compile_library(const char *const *objects, unsigned count, const struct compile_options *options,
                            struct arena *arena, struct compiled *out, struct report *report);
/* The same two of SPIR-V (il->text: its words), for which llvm-spirv is needed: a program, and an object to be linked. */
enum status compile_il(const struct compile_source *il, const struct compile_options *options, struct arena *arena,
                       struct compiled *out, struct report *report);
enum status compile_il_object(const struct compile_source *il, const struct compile_options *options,
                              struct arena *arena, struct compiled *out, struct report *report);
/* Whether the bytes begin as SPIR-V does. */
bool compile_is_il(const void *bytes, size_t length);
/* What an earlier compilation of OpenCL C gave, kept as text. Copied into the arena. */
void compiled_from_text(const char *metadata, const char *ptx, struct arena *arena, struct compiled *out);
const struct compile_kernel *compiled_find(const struct compiled *compiled, const char *kernel);

/* PTX to native code by NVIDIA's assembler (ptxas), which nothing else needs. STATUS_SYSTEM: there is none; STATUS_INVALID: it refuses the
 * PTX, and its words are in the report. */
struct assemble_options {
    unsigned sm;        /* 75, 80, 86, 89, 90 */
    unsigned registers; /* of a thread at most; 0, 255 and above: as many as there are */
    bool no_cache;
};
struct assembled {
    const uint8_t *bytes; /* a cubin */
    size_t length;
    bool from_cache;
};
enum status compile_assemble(const struct compile_source *ptx, const struct assemble_options *options,
                             struct arena *arena, struct assembled *out, struct report *report);

/* Who is told that compiling a source takes more than a second, and when it has ended then. A program sets this before it does
 * anything else; nobody is told without. Called by the thread that compiles. */
typedef void compile_watch(void *self, const char *name, bool has_ended);
void compile_set_watch(compile_watch *watch, void *self);

/* What is installed, for `heddle doctor` and for messages. Paths are NULL when not found. */
struct compile_tools {
    const char *clang, *clang_version; /* clang 19 or later with the NVPTX back end; first line of --version */
    const char *libclc64, *libclc32;   /* nvptx64--nvidiacl.bc, nvptx--nvidiacl.bc */
    const char *nvcc, *nvcc_version;
    const char *ptxas, *ptxas_version;           /* NVIDIA's assembler */
    const char *ptxas_identity;                  /* all that it says of itself */
    const char *llvm_spirv, *llvm_spirv_version; /* translates SPIR-V to LLVM IR */
    const char *share;                           /* the folder with builtins.cl and cuda_device.h */
    const char *cache;                           /* the cache folder; NULL: there is none */
    const char *cache_refused;                   /* why there is none: the folder's path and what is wrong with it */
};
void compile_find_tools(struct arena *arena, struct compile_tools *out);

#endif
