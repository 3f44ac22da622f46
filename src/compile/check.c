/* SPDX-License-Identifier: Apache-2.0 */
/* What may reach a compiler. Definitions, folders and options come from launch files, from OpenCL programs and through the
 * library, and any of them may be a stranger's: a compiler reads a word that begins with '-' as an option and one that begins
 * with '@' as a file of further words, and an option can load a plug-in. So names are names, paths begin at the root,
 * options are among those listed here, and nothing has more than one line. */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "compile/job.h"

/* Handed on as they are. */
static const char *const opencl_options[] = {"-cl-single-precision-constant",
                                             "-cl-denorms-are-zero",
                                             "-cl-fp32-correctly-rounded-divide-sqrt",
                                             "-cl-strict-aliasing",
                                             "-cl-mad-enable",
                                             "-cl-no-signed-zeros",
                                             "-cl-unsafe-math-optimizations",
                                             "-cl-finite-math-only",
                                             "-cl-fast-relaxed-math",
                                             "-cl-uniform-work-group-size",
                                             "-cl-opt-disable",
                                             "-cl-kernel-arg-info",
                                             "-w",
                                             "-Werror",
                                             NULL};
static const char *const cuda_options[] = {"-ffast-math",
                                           "-ffp-contract=off",
                                           "-ffp-contract=on",
                                           "-ffp-contract=fast",
                                           "-funroll-loops",
                                           "-fno-unroll-loops",
                                           "-w",
                                           "-Werror",
                                           NULL};
/* Say what is so anyway. */
static const char *const idle_options[] = {"-cl-no-subgroup-ifp", "-g", NULL};
static const char *const opencl_standards[] = {"CL1.0", "CL1.1",    "CL1.2",     "CL2.0", "CL3.0",
                                               "CLC++", "CLC++1.0", "CLC++2021", NULL};
static const char *const cuda_standards[] = {"c++03", "c++11", "c++14", "c++17", "c++20", "c++23", NULL};

static bool among(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

/* ---- single values ---- */

static bool has_control_character(const char *text) {
    for (; *text; text++)
        if (iscntrl((unsigned char)*text) && *text != '\t')
            return true;
    return false;
}

const char *compile_bad_define(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t at = strspn(text, letters);
    if (!at)
        return "a definition begins with a name: NAME or NAME=VALUE";
    while (text[at] && (strchr(letters, text[at]) || isdigit((unsigned char)text[at])))
        at++;
    if (text[at] == '(') {
        at += strcspn(text + at, ")=");
        if (text[at++] != ')')
            return "the parameters of a definition end with ')'";
    }
    if (text[at] && text[at] != '=')
        return "behind the name of a definition stands nothing, or '=' and its value";
    if (has_control_character(text))
        return "a definition has one line and no control characters";
    if (file_ends_in(text, "\\") || file_ends_in(text, "?\?/"))
        return "a definition cannot end in a backslash, which joins it with what comes next";
    return NULL;
}

const char *compile_bad_path(const char *text) {
    if (!*text)
        return "a path cannot be empty";
    return has_control_character(text) || strchr(text, '\t') ? "a path has no control characters" : NULL;
}

static const char *bad_standard(const struct compile_job *job) {
    const char *standard = job->options->standard;
    if (!standard)
        return NULL;
    if (job->language == COMPILE_OPENCL)
        return among(standard, opencl_standards)
                   ? NULL
                   : "the standards of OpenCL C are CL1.0, CL1.1, CL1.2, CL2.0 and CL3.0, those of C++ "
                     "for OpenCL CLC++, CLC++1.0 and CLC++2021";
    return among(standard, cuda_standards) ? NULL
                                           : "the standards for CUDA are c++03, c++11, c++14, c++17, c++20 and c++23";
}

/* A name by which a header that is in no folder may be included. */
static const char *bad_header(const char *name) {
    if (name[0] == '/' || strstr(name, ".."))
        return "a header's name neither begins with '/' nor contains '..'";
    return compile_bad_path(name);
}

/* nvcc hands its words to a shell, between double quotes. */
static const char *bad_for_shell(const char *path) {
    return strpbrk(path, "\"`$\\!")
               ? "nvcc takes no path with one of \" ` $ \\ !, which mean something to the shell it uses"
               : NULL;
}

/* ---- a job ---- */

static enum status refuse(const struct compile_job *job, const char *what, const char *value, const char *why) {
    return report_add(job->report, STATUS_INVALID, "%s: the %s '%s' cannot be given to a compiler: %s", job->name, what,
                      value, why);
}

enum status job_check(const struct compile_job *job) {
    const struct compile_options *options = job->options;
    const char *why = NULL;
    if (options->address_bits != 0 && options->address_bits != 32 && options->address_bits != 64)
        return report_add(job->report, STATUS_INVALID, "%s: address_bits is %u; 32 and 64 are known", job->name,
                          options->address_bits);
    if ((why = compile_bad_path(job->path)))
        return refuse(job, "path", job->path, why);
    if ((why = bad_standard(job)))
        return refuse(job, "standard", options->standard, why);
    for (unsigned i = 0; i < options->define_count; i++)
        if ((why = compile_bad_define(options->defines[i])))
            return refuse(job, "definition", options->defines[i], why);
    for (unsigned i = 0; i < options->include_count; i++)
        if ((why = compile_bad_path(options->includes[i])))
            return refuse(job, "folder", options->includes[i], why);
    for (unsigned i = 0; i < options->header_count; i++)
        if ((why = bad_header(options->headers[i].name)))
            return refuse(job, "header", options->headers[i].name, why);
    for (unsigned i = 0; i < options->extra_count; i++)
        if (!compile_knows_option(job->language, options->extra[i]))
            return refuse(job, "option", options->extra[i],
                          job->language == COMPILE_CUDA ? "it is not among those that Heddle knows for CUDA"
                                                        : "it is not among those that OpenCL lists");
    return STATUS_OK;
}

enum status job_check_nvcc(const struct compile_job *job) {
    const char *why = bad_for_shell(job->path);
    if (why)
        return refuse(job, "path", job->path, why);
    for (unsigned i = 0; i < job->options->include_count; i++)
        if ((why = bad_for_shell(job->includes[i])))
            return refuse(job, "folder", job->includes[i], why);
    return STATUS_OK;
}

/* ---- options as words ---- */

bool compile_knows_option(enum compile_language language, const char *word) {
    return among(word, language == COMPILE_CUDA ? cuda_options : opencl_options);
}

struct option_reader {
    struct arena *arena;
    const char *const *words;
    unsigned count, at;
    struct command_line defines, includes, extra;
    struct compile_options *out;
};

/* -Dx and -D x: what follows; NULL: nothing does. */
static const char *value_of(struct option_reader *r, const char *word) {
    if (word[2])
        return word + 2;
    return ++r->at < r->count ? r->words[r->at] : NULL;
}

/* NVIDIA's options, which say how its compiler generates code: nothing of that is so here. */
static bool is_nvidias(const char *word) {
    static const char *const numbered[] = {"-cl-nv-maxrregcount=", "-cl-nv-opt-level="};
    for (unsigned i = 0; i < sizeof numbered / sizeof *numbered; i++)
        if (strncmp(word, numbered[i], strlen(numbered[i])) == 0) {
            const char *number = word + strlen(numbered[i]);
            return *number && !number[strspn(number, "0123456789")];
        }
    return strcmp(word, "-cl-nv-verbose") == 0;
}

static bool read_word(struct option_reader *r, const char *word) {
    const bool is_cuda = r->out->language == COMPILE_CUDA;
    const char *standard = is_cuda ? "-std=" : "-cl-std=";
    if (strncmp(word, "-D", 2) == 0) { /* OpenCL has a definition end with its line */
        const char *value = value_of(r, word);
        value = value ? arena_strndup(r->arena, value, strcspn(value, "\r\n")) : NULL;
        if (value)
            command_line_add(r->arena, &r->defines, value);
        return value && !compile_bad_define(value);
    }
    if (strncmp(word, "-I", 2) == 0) {
        const char *value = value_of(r, word);
        if (value)
            command_line_add(r->arena, &r->includes, value);
        return value && !compile_bad_path(value);
    }
    if (strncmp(word, standard, strlen(standard)) == 0) {
        r->out->standard = word + strlen(standard);
        return among(r->out->standard, is_cuda ? cuda_standards : opencl_standards);
    }
    if (strcmp(word, "-x") == 0 && !is_cuda) { /* what AMD called the language before it had a standard */
        const char *value = value_of(r, word);
        r->out->standard = "CLC++2021";
        return value && strcmp(value, "clc++") == 0;
    }
    if (strcmp(word, "-cl-opt-disable") == 0 || strcmp(word, "-O0") == 0) {
        r->out->optimisation = -1;
        return true;
    }
    if (strlen(word) == 3 && strncmp(word, "-O", 2) == 0 && word[2] >= '1' && word[2] <= '3') {
        r->out->optimisation = word[2] - '0';
        return true;
    }
    if (among(word, idle_options) || (!is_cuda && is_nvidias(word)))
        return true;
    command_line_add(r->arena, &r->extra, word);
    return compile_knows_option(r->out->language, word);
}

const char *compile_read_words(struct arena *arena, const char *const *words, unsigned count,
                               struct compile_options *out) {
    struct option_reader r = {.arena = arena, .words = words, .count = count, .out = out};
    const char *wrong = NULL;
    for (; !wrong && r.at < count; r.at++) {
        const char *word = words[r.at];
        if (!read_word(&r, word))
            wrong = word;
    }
    out->defines = r.defines.items, out->define_count = r.defines.count;
    out->includes = r.includes.items, out->include_count = r.includes.count;
    out->extra = r.extra.items, out->extra_count = r.extra.count;
    return wrong;
}
