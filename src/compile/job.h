/* SPDX-License-Identifier: Apache-2.0 */
/* One compilation, shared by compile.c (cache, the public functions), flags.c (options) and steps.c (running). */
#ifndef HEDDLE_COMPILE_JOB_H
#define HEDDLE_COMPILE_JOB_H

#include "compile/compile.h"
#include "base/folder.h"
#include "base/process.h"

/* Raised when the form of what is cached changes, or what the same source compiles to (repair.c). */
#define CACHE_FORM "heddle compile 5"

/* One compilation on its way. Everything but the result lives in `arena`, which ends with it. */
struct compile_job {
    struct arena *arena;
    const struct compile_options *options;
    enum compile_language language;
    struct compile_tools tools;
    const char *path;      /* the source as the compiler is to open it, from the root: so no path is an option */
    const char *folder;    /* its folder with the slash: what must not show in the PTX */
    const char *given;     /* the same folder as the user said it, for messages */
    const char **includes; /* folders, from the root */
    const char *name;      /* what the PTX, messages and the key call it */
    const char *text;
    size_t text_bytes;
    const char *temporary;     /* folder */
    struct command_line flags; /* options that decide the outcome: part of the key */
    const char *log;
    struct report *report;
    double begun; /* when its first step was; 0: not yet */
    bool is_slow; /* somebody was told */
};

/* Hexadecimal digits of the data's hash. */
const char *job_hash(struct arena *arena, const char *data, size_t bytes);
/* The name of the text's first kernel, by its words alone; NULL: none is to be seen, or its name is long. */
const char *job_first_kernel(struct arena *arena, const char *text);
const char *job_key_join(struct arena *arena, const char *key, const char *part);
bool job_is_32_bit(const struct compile_job *job);
/* Changes with every one of our own OpenCL C files. */
const char *job_library_key(struct compile_job *job);
/* libclc for the width asked for, NULL when it is not installed. */
const char *job_libclc(const struct compile_job *job);

/* Whether all that a caller gave may reach a compiler; what may not is in the report. */
enum status job_check(const struct compile_job *job);
/* The same of what nvcc cannot be given besides. */
enum status job_check_nvcc(const struct compile_job *job);

/* A kept result: metadata, log and PTX as one file, and back. False: it is none, or cut or changed. */
char *entry_pack(struct arena *arena, const char *metadata, const char *log, const char *ptx, size_t *bytes);
bool entry_unpack(struct arena *arena, const char *entry, size_t bytes, const char *parts[3]);

/* Prepares a job for a text, in a temporary folder that job_end removes. */
enum status job_begin(struct compile_job *job, const char *name, const char *text, size_t length);
void job_end(struct compile_job *job);
/* All that OpenCL C needs, and its flags. */
enum status job_find_opencl_tools(struct compile_job *job);

/* Fill job->flags. */
void job_flags_opencl(struct compile_job *job);
void job_flags_cuda(struct compile_job *job);
enum status job_flags_nvcc(struct compile_job *job);
/* Add to the command line of a step: the compiler, to which no file of the host says what to do; the job's own options. */
void job_add_clang(struct compile_job *job, struct command_line *line);
void job_add_flags(struct compile_job *job, struct command_line *line);
/* No folder of the host enters the PTX, not even through __FILE__. */
void job_add_maps(struct compile_job *job, struct command_line *line);
/* The compiler and its options for one of our own files, of OpenCL C or of C. */
void job_add_library_flags(struct compile_job *job, bool is_opencl, struct command_line *line);
/* The same for IR that becomes something else without being optimised again. */
void job_add_ir_flags(struct compile_job *job, struct command_line *line);
/* And for IR that is. */
void job_add_optimising_ir_flags(struct compile_job *job, struct command_line *line);
/* The folder of headers that are in none of the host's, with the slash. */
const char *job_headers(const struct compile_job *job);
/* Links our own bitcode and libclc to what is compiled; for a whole CUDA program the names of libdevice too. What is ours wins over
 * libclc's; only what the source uses is taken. */
enum status job_add_libraries(struct compile_job *job, bool is_program, struct command_line *line);
/* What holds every compiler. */
struct process_cage compile_cage(const char *folder);

/* The job has ended: who was told that it takes long is told this too. */
void job_tell_end(const struct compile_job *job);
/* Runs one step. Its words are added to the job's log; a failure becomes STATUS_INVALID with them in the report unless `quiet`. */
enum status job_step(struct compile_job *job, struct command_line *line, bool quiet);
/* Run the compiler. Its words are added to job->log; where it fails that is STATUS_INVALID, with them in the report
 * unless `quiet`. */
enum status job_preprocess(struct compile_job *job, const char **out, bool quiet);
enum status job_run_opencl(struct compile_job *job, const char **metadata, const char **ptx);
/* The two halves of it, and between them: IR of several sources as one. */
enum status job_make_ir(struct compile_job *job, const char **ir);
enum status job_link_ir(struct compile_job *job, const char *const *objects, unsigned count, const char **ir);
enum status job_make_ptx(struct compile_job *job, const char *ir, const char **ptx);
/* The end of a job: where all went well, IR as the object itself or as PTX and its kernels; the log in any case. */
enum status job_deliver(struct compile_job *job, enum status status, const char *ir, bool as_object,
                        struct arena *arena, struct compiled *out);
enum status job_run_cuda(struct compile_job *job, const char *program, bool quiet, const char **ptx);

#endif
