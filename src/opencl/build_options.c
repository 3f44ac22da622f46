/* The options of clBuildProgram and its relatives, as the specification lists them. */
#include <string.h>

#include "opencl/program.h"

struct words {
    const char **items;
    unsigned count, capacity;
};

/* Splits at blanks; quotes keep them, a backslash keeps a quote. */
static void split(const char *text, struct arena *arena, struct words *out) {
    while (*text) {
        text += strspn(text, " \t\n\r\v\f");
        if (!*text)
            return;
        char *word = arena_alloc(arena, strlen(text) + 1), *end = word;
        char quote = 0;
        for (; *text && (quote || !strchr(" \t\n\r\v\f", *text)); text++) {
            if (*text == '\\' && (text[1] == '"' || text[1] == '\'' || text[1] == '\\'))
                *end++ = *++text;
            else if (quote ? *text == quote : *text == '"' || *text == '\'')
                quote = quote ? 0 : *text;
            else
                *end++ = *text;
        }
        *ARENA_PUSH(arena, out) = word;
    }
}

/* Handed to the compiler as they are. */
static const char *const passed[] = {"-cl-single-precision-constant",
                                     "-cl-denorms-are-zero",
                                     "-cl-fp32-correctly-rounded-divide-sqrt",
                                     "-cl-strict-aliasing",
                                     "-cl-mad-enable",
                                     "-cl-no-signed-zeros",
                                     "-cl-unsafe-math-optimizations",
                                     "-cl-finite-math-only",
                                     "-cl-fast-relaxed-math",
                                     "-cl-uniform-work-group-size",
                                     "-w",
                                     "-Werror",
                                     NULL};
/* Say what is so anyway. */
static const char *const idle[] = {"-cl-kernel-arg-info", "-cl-no-subgroup-ifp", "-g", NULL};
static const char *const standards[] = {"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0", NULL};
static const char *const linking[] = {"-cl-denorms-are-zero",
                                      "-cl-no-signed-zeros",
                                      "-cl-unsafe-math-optimizations",
                                      "-cl-finite-math-only",
                                      "-cl-fast-relaxed-math",
                                      "-cl-no-subgroup-ifp",
                                      NULL};

static const char *among(const char *word, const char *const *list) {
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return *list;
    return NULL;
}

struct reader {
    struct words words, defines, includes, extra;
    struct arena *arena;
    struct build_options *out;
    unsigned at;
};

/* -Dx and -D x: what follows; NULL: nothing does. */
static const char *value_of(struct reader *r, const char *word) {
    if (word[2])
        return word + 2;
    return ++r->at < r->words.count ? r->words.items[r->at] : NULL;
}

static bool read_compile_option(struct reader *r, const char *word) {
    struct compile_options *compile = &r->out->compile;
    if (strncmp(word, "-D", 2) == 0 || strncmp(word, "-I", 2) == 0) {
        const char *value = value_of(r, word);
        if (value)
            *ARENA_PUSH(r->arena, word[1] == 'D' ? &r->defines : &r->includes) = value;
        return value != NULL;
    }
    if (strncmp(word, "-cl-std=", 8) == 0)
        return (compile->standard = among(word + 8, standards)) != NULL;
    if (strcmp(word, "-cl-opt-disable") == 0 || strcmp(word, "-O0") == 0) {
        compile->optimisation = -1;
        return true;
    }
    if (strlen(word) == 3 && strncmp(word, "-O", 2) == 0 && word[2] >= '1' && word[2] <= '3') {
        compile->optimisation = word[2] - '0';
        return true;
    }
    if (among(word, passed)) {
        *ARENA_PUSH(r->arena, &r->extra) = word;
        return true;
    }
    return among(word, idle) != NULL;
}

bool build_options_read(const char *text, enum build_stage stage, struct arena *arena, struct build_options *out) {
    *out = (struct build_options){.compile = {.language = COMPILE_OPENCL}};
    struct reader r = {.arena = arena, .out = out};
    split(text ? text : "", arena, &r.words);
    for (; r.at < r.words.count; r.at++) {
        const char *word = r.words.items[r.at];
        if (stage == STAGE_LINK) {
            if (strcmp(word, "-create-library") == 0)
                out->creates_library = true;
            else if (strcmp(word, "-enable-link-options") != 0 && !among(word, linking))
                return false;
        } else if (!read_compile_option(&r, word)) {
            return false;
        }
    }
    out->compile.defines = r.defines.items, out->compile.define_count = r.defines.count;
    out->compile.includes = r.includes.items, out->compile.include_count = r.includes.count;
    out->compile.extra = r.extra.items, out->compile.extra_count = r.extra.count;
    return true;
}
