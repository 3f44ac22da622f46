/* SPDX-License-Identifier: Apache-2.0 */
/* One compilation, shared by compile.c (cache, the public functions) and steps.c (command lines, running). */
#ifndef HEDDLE_COMPILE_JOB_H
#define HEDDLE_COMPILE_JOB_H

#include "compile/compile.h"
#include "base/folder.h"
#include "base/process.h"

/* Raised when the form of what is cached changes, or what the same source compiles to (repair.c). */
#define CACHE_FORM "heddle compile 5"

/* One compilation on its way. Everything but the result lives in `arena`, which ends with it. */
struct job {
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
    const char *temporary;  /* folder */
    struct arguments flags; /* options that decide the outcome: part of the key */
    const char *log;
    struct report *report;
};

/* Hexadecimal digits of the data's hash. */
const char *job_hash(struct arena *arena, const char *data, size_t bytes);
/* The name of the text's first kernel, by its words alone; NULL: none is to be seen, or its name is long. */
const char *job_first_kernel(struct arena *arena, const char *text);
const char *job_key_join(struct arena *arena, const char *key, const char *part);
bool job_is_32_bit(const struct job *job);
/* Changes with every one of our own OpenCL C files. */
const char *job_library_key(struct job *job);
/* libclc for the width asked for, NULL when it is not installed. */
const char *job_libclc(const struct job *job);

/* Whether all that a caller gave may reach a compiler; what may not is in the report. */
enum status job_check(const struct job *job);
/* The same of what nvcc cannot be given besides. */
enum status job_check_nvcc(const struct job *job);

/* A kept result: metadata, log and PTX as one file, and back. False: it is none, or cut or changed. */
char *entry_pack(struct arena *arena, const char *metadata, const char *log, const char *ptx, size_t *bytes);
bool entry_unpack(struct arena *arena, const char *entry, size_t bytes, const char *parts[3]);

/* Fill job->flags. */
void job_flags_opencl(struct job *job);
void job_flags_cuda(struct job *job);
enum status job_flags_nvcc(struct job *job);
/* The folder of headers that are in none of the host's, with the slash. */
const char *job_headers(const struct job *job);
/* What holds every compiler. */
struct process_cage compile_cage(const char *folder);

/* Run the compiler. Its words are added to job->log; where it fails that is STATUS_INVALID, with them in the report
 * unless `quiet`. */
enum status job_preprocess(struct job *job, const char **out, bool quiet);
enum status job_run_opencl(struct job *job, const char **metadata, const char **ptx);
/* The two halves of it, and between them: IR of several sources as one. */
enum status job_make_ir(struct job *job, const char **ir);
enum status job_link_ir(struct job *job, const char *const *objects, unsigned count, const char **ir);
enum status job_make_ptx(struct job *job, const char *ir, const char **ptx);
enum status job_run_cuda(struct job *job, const char *program, bool quiet, const char **ptx);

#endif
