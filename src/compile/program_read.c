/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's command line: which word is which, what follows it, what is a file. */
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "compile/compile.h"
#include "compile/program_reader.h"

static const struct nvcc_word known[] = {
#define SO ACT_SO
#define NOTE ACT_NOTE
#define NO ACT_NO
#define DO(action) ACT_##action
#define WORD(name, letter, follows, action, text) {name, letter, follows, action, text},
#include "compile/nvcc.def"
#undef WORD
#undef DO
#undef NO
#undef NOTE
#undef SO
};
enum { KNOWN = sizeof known / sizeof *known };

static bool is_name(const char *name, const char *text, size_t length) {
    return strlen(name) == length && strncmp(name, text, length) == 0;
}

/* The word's line in the table, and where its value begins; NULL: nobody knows it. Names may have one dash or two, as nvcc's. */
static const struct nvcc_word *find_word(const char *text, const char **value) {
    const bool is_long = text[1] == '-';
    const char *name = text + (is_long ? 2 : 1);
    const size_t length = strcspn(name, "=");
    *value = name[length] ? name + length + 1 : NULL;
    for (unsigned i = 0; i < KNOWN; i++)
        if (is_name(known[i].name, name, length) || (!is_long && is_name(known[i].letter, name, length)))
            return &known[i];
    for (unsigned i = 0; i < KNOWN && !is_long; i++)
        if (known[i].follows == JOINED && known[i].letter[0] == *name &&
            (known[i].action != ACT_MACHINE || strspn(name + 1, "0123456789") == strlen(name + 1))) { /* not -march= */
            *value = name + 1;
            return &known[i];
        }
    return NULL;
}

static enum status unknown(struct reader *r, const char *word) {
    struct text_nearest nearest = {0};
    const char *name = word + strspn(word, "-");
    name = arena_strndup(r->arena, name, strcspn(name, "="));
    for (unsigned i = 0; i < KNOWN; i++) {
        text_nearest_try(&nearest, name, known[i].name);
        text_nearest_try(&nearest, name, known[i].letter);
    }
    return reader_refuse(
        r, word,
        nearest.best && strlen(name) > 2
            ? arena_printf(r->arena,
                           "no such option is known; did you mean '%s%s'? What is for the host's compiler goes behind "
                           "-Xcompiler",
                           strlen(nearest.best) > 1 ? "--" : "-", nearest.best)
            : "no such option is known; what is for the host's compiler goes behind -Xcompiler");
}

static enum status read_option(struct reader *r, const char *word) {
    const char *value = NULL;
    const struct nvcc_word *found = find_word(word, &value);
    if (!found && r->out->forwards && !compile_bad_path(word)) {
        command_line_add(r->arena, &r->out->host, word);
        return STATUS_OK;
    }
    if (!found)
        return unknown(r, word);
    if (found->follows == NOTHING)
        return value ? reader_refuse(r, word, "it takes no value") : reader_take(r, found, word, "");
    if (!value) {
        if (r->at + 1 >= r->count)
            return reader_refuse(r, word, "something must follow it");
        value = r->words[++r->at];
        word = arena_printf(r->arena, "%s %s", word, value);
    }
    return reader_take(r, found, word, value);
}

/* ---- files ---- */

static bool ends_in_one_of(const char *path, const char *const *endings) {
    for (; *endings; endings++)
        if (file_ends_in(path, *endings))
            return true;
    return false;
}

static enum status read_file(struct reader *r, const char *path) {
    static const char *const cxx[] = {".cpp", ".cc", ".cxx", ".c++", ".C", NULL};
    static const char *const linked[] = {".o", ".obj", ".a", ".so", NULL};
    const char *why = compile_bad_path(path);
    if (path[0] == '@')
        why = "options are read from the command line only";
    if (why)
        return reader_refuse(r, path, why);
    enum program_kind kind;
    if (ends_in_one_of(path, linked) || strstr(file_name(path), ".so."))
        kind = PROGRAM_LINKED;
    else if (r->has_language)
        kind = r->language;
    else if (file_ends_in(path, ".cu"))
        kind = PROGRAM_CUDA;
    else if (ends_in_one_of(path, cxx))
        kind = PROGRAM_CXX;
    else if (file_ends_in(path, ".c"))
        kind = PROGRAM_C;
    else
        return reader_refuse(r, path,
                             "files are .cu, .cpp, .cc, .cxx, .c, .o, .a and .so; others need -x cu, -x c++ or -x c");
    struct program_input *input = ARENA_PUSH(r->arena, &r->out->inputs);
    *input = (struct program_input){path, kind};
    return STATUS_OK;
}

/* -x and -forward-unknown-to-host-compiler are for all words, wherever they stand. */
static void look_ahead(struct reader *r) {
    for (unsigned i = 0; i < r->count; i++) {
        const char *word = r->words[i], *name = word + strspn(word, "-");
        if (*word == '-' && strcmp(name, "forward-unknown-to-host-compiler") == 0)
            r->out->forwards = true;
        const char *language = strncmp(name, "x=", 2) == 0                  ? name + 2
                               : strcmp(name, "x") == 0 && i + 1 < r->count ? r->words[i + 1]
                                                                            : "";
        enum program_kind kind;
        if (*word == '-' && reader_language(language, &kind)) {
            r->has_language = true;
            r->language = kind;
        }
    }
}

static enum status check_whole(struct reader *r) {
    const struct cuda_program *p = r->out;
    unsigned sources = 0;
    for (unsigned i = 0; i < p->inputs.count; i++)
        sources += p->inputs.items[i].kind != PROGRAM_LINKED;
    if (p->says_version)
        return STATUS_OK;
    if (!p->inputs.count)
        return report_add(r->report, STATUS_INVALID,
                          "heddle cc: no file to compile; 'heddle help cc' says how it is called");
    if (p->stage == PROGRAM_DEVICE_LINK && sources)
        return report_add(r->report, STATUS_INVALID, "heddle cc: -dlink takes objects and libraries, no sources");
    if (p->stage != PROGRAM_LINK && p->stage != PROGRAM_DEVICE_LINK && !sources)
        return report_add(r->report, STATUS_INVALID,
                          "heddle cc: nothing to compile: objects and libraries are only linked");
    if (p->output && p->stage != PROGRAM_LINK && p->stage != PROGRAM_DEPENDENCIES && sources > 1)
        return report_add(r->report, STATUS_INVALID,
                          "heddle cc: -o %s: there are %u sources, each with a result of its own", p->output, sources);
    return STATUS_OK;
}

enum status program_read(struct arena *arena, const char *const *words, unsigned count, struct cuda_program *out,
                         struct report *report) {
    struct reader r = {.arena = arena, .words = words, .count = count, .out = out, .report = report};
    enum status status = STATUS_OK;
    *out = (struct cuda_program){.notes = ""};
    look_ahead(&r);
    for (; r.at < count && status == STATUS_OK; r.at++)
        status = words[r.at][0] == '-' && words[r.at][1] ? read_option(&r, words[r.at]) : read_file(&r, words[r.at]);
    out->sm = reader_arch(&r);
    return status == STATUS_OK ? check_whole(&r) : status;
}
