/* SPDX-License-Identifier: Apache-2.0 */
/* What each of nvcc's words does: it goes into what clang is told, has no effect, or is refused. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/folder.h"
#include "compile/compile.h"
#include "compile/program_reader.h"

static void add(struct reader *r, struct command_line *list, const char *text) {
    command_line_add(r->arena, list, text);
}

static void note(struct reader *r, const char *word, const char *why) {
    r->out->notes = arena_printf(r->arena, "%sheddle cc: note: '%s' has no effect: %s\n", r->out->notes, word, why);
}

enum status reader_refuse(struct reader *r, const char *word, const char *why) {
    return report_add(r->report, STATUS_INVALID, "heddle cc: '%s': %s", word, why);
}

/* ---- architectures ---- */

/* "sm_75", "compute_86", "sm_90a"; 0: it is none. */
static unsigned arch_number(const char *text) {
    const char *digits = strncmp(text, "sm_", 3) == 0        ? text + 3
                         : strncmp(text, "compute_", 8) == 0 ? text + 8
                         : strncmp(text, "lto_", 4) == 0     ? text + 4
                                                             : "";
    char *end;
    const unsigned long number = isdigit((unsigned char)*digits) ? strtoul(digits, &end, 10) : 0;
    return number >= 10 && number < 1000 && (!*end || (strchr("af", *end) && !end[1])) ? (unsigned)number : 0;
}

static enum status add_arch(struct reader *r, const char *word, const char *text) {
    if (strcmp(text, "native") == 0 || strcmp(text, "all") == 0 || strcmp(text, "all-major") == 0)
        return STATUS_OK; /* the one that is compiled for where nothing is said */
    const unsigned number = arch_number(text);
    if (!number)
        return reader_refuse(r, word,
                             arena_printf(r->arena, "'%s' is not an architecture such as sm_75 or compute_75", text));
    if (r->arch_count < sizeof r->archs / sizeof *r->archs)
        r->archs[r->arch_count++] = number;
    return STATUS_OK;
}

/* "a,b" or "[a,b]": each of them. */
static enum status add_archs(struct reader *r, const char *word, const char *list) {
    enum status status = STATUS_OK;
    while (*list && status == STATUS_OK) {
        list += strspn(list, "[],\"' ");
        const size_t length = strcspn(list, "[],\"' ");
        if (length)
            status = add_arch(r, word, arena_strndup(r->arena, list, length));
        list += length;
    }
    return status;
}

/* "arch=compute_60,code=[sm_60,compute_60]": what code is for is compiled for arch. */
static enum status add_gencode(struct reader *r, const char *word, const char *value) {
    const char *arch = strstr(value, "arch=");
    if (!arch)
        return reader_refuse(r, word, "it needs arch=compute_NN,code=sm_NN");
    arch += strlen("arch=");
    return add_arch(r, word, arena_strndup(r->arena, arch, strcspn(arch, ",\"' ")));
}

/* Of those asked for the one that the device prefers: the highest up to 75, else the lowest; clang knows 50 to 90. */
unsigned reader_arch(const struct reader *r) {
    enum { DEVICE = 75, LOWEST = 50, HIGHEST = 90 };
    unsigned best = 0;
    for (unsigned i = 0; i < r->arch_count; i++) {
        const unsigned arch = r->archs[i];
        if (!best || (arch <= DEVICE ? best > DEVICE || arch > best : best > DEVICE && arch < best))
            best = arch;
    }
    if (!best)
        best = DEVICE;
    return best < LOWEST ? LOWEST : best > HIGHEST ? HIGHEST : best;
}

/* ---- values ---- */

static enum status truth(struct reader *r, const char *word, const char *value, bool *out) {
    *out = strcmp(value, "true") == 0;
    return *out || strcmp(value, "false") == 0 ? STATUS_OK : reader_refuse(r, word, "it is true or false");
}

static void add_llvm(struct reader *r, const char *text) {
    add(r, &r->out->device, "-mllvm");
    add(r, &r->out->device, text);
}

static enum status take_truth(struct reader *r, const struct nvcc_word *known_word, const char *word,
                              const char *value) {
    bool yes = true;
    const enum status status =
        known_word->action == ACT_FAST_MATH ? STATUS_OK : truth(r, word, value, &yes); /* fast: all of them */
    const enum action action = known_word->action;
    if (status != STATUS_OK)
        return status;
    if (action == ACT_RDC) {
        r->out->is_in_parts = yes;
        return STATUS_OK;
    }
    if (action == ACT_FMAD)
        add(r, &r->out->device, yes ? "-ffp-contract=fast-honor-pragmas" : "-ffp-contract=off");
    if (action == ACT_FAST_MATH)
        add(r, &r->out->device, "-fgpu-approx-transcendentals");
    if (action == ACT_FAST_MATH || (action == ACT_FTZ && yes))
        add(r, &r->out->device, "-fgpu-flush-denormals-to-zero");
    if (action == ACT_FAST_MATH || (action == ACT_PREC_DIV && !yes))
        add_llvm(r, "-nvptx-prec-divf32=0");
    if (action == ACT_FAST_MATH || (action == ACT_PREC_SQRT && !yes))
        add_llvm(r, "-nvptx-prec-sqrtf32=0");
    return STATUS_OK;
}

/* What is the user's own to say to another program, between commas. A file of words is not: it could say anything. */
static enum status take_words(struct reader *r, struct command_line *list, const char *word, const char *value) {
    while (*value) {
        const size_t length = strcspn(value, ",");
        char *part = arena_strndup(r->arena, value, length);
        for (size_t end = strlen(part); end && strchr("\"' ", part[end - 1]);)
            part[--end] = '\0';
        part += strspn(part, "\"' ");
        if (*part == '@')
            return reader_refuse(r, word, "options are read from the command line only");
        if (*part && compile_bad_path(part))
            return reader_refuse(r, word, "a word has one line and no control characters");
        for (char *blank; *part && (blank = strchr(part, ' ')) && list != &r->out->link;) { /* "-Wall -Wextra" */
            *blank = '\0';
            add(r, list, part);
            part = blank + 1 + strspn(blank + 1, " ");
        }
        if (*part)
            add(r, list, part);
        value += length + (value[length] == ',');
    }
    return STATUS_OK;
}

/* One line of libraries.def. */
struct nvidia_library {
    const char *name, *other_name;
    enum { LIBRARY_BUILT, LIBRARY_LINKED, LIBRARY_ABSENT } state;
};
static const struct nvidia_library nvidia_libraries[] = {
#define BUILT(name, other_name) {name, other_name, LIBRARY_BUILT},
#define LINKED(name) {name, name, LIBRARY_LINKED},
#define ABSENT(name) {name, name, LIBRARY_ABSENT},
#include "compile/libraries.def"
#undef ABSENT
#undef LINKED
#undef BUILT
};

static const struct nvidia_library *find_library(const char *name) {
    for (unsigned i = 0; i < sizeof nvidia_libraries / sizeof *nvidia_libraries; i++)
        if (strcmp(name, nvidia_libraries[i].name) == 0 || strcmp(name, nvidia_libraries[i].other_name) == 0)
            return &nvidia_libraries[i];
    return NULL;
}

/* Once, however often it is said. */
static void add_built(struct reader *r, const char *name) {
    for (unsigned i = 0; i < r->out->libraries.count; i++)
        if (strcmp(r->out->libraries.items[i], name) == 0)
            return;
    add(r, &r->out->libraries, name);
}

static enum status take_library(struct reader *r, const char *name) {
    const struct nvidia_library *library = find_library(name);
    if (!library) {
        struct program_input *input = ARENA_PUSH(r->arena, &r->out->inputs);
        *input = (struct program_input){arena_printf(r->arena, "-l%s", name), PROGRAM_LINKED};
        return STATUS_OK;
    }
    if (library->state == LIBRARY_ABSENT)
        return reader_refuse(r, arena_printf(r->arena, "-l%s", name), "this library of NVIDIA's is not built");
    if (library->state == LIBRARY_BUILT)
        add_built(r, library->name);
    return STATUS_OK;
}

/* A folder of NVIDIA's headers, which would come before ours or beside them. */
static bool is_toolkit(struct arena *arena, const char *folder) {
    return file_exists(arena_printf(arena, "%s/crt/host_config.h", folder));
}

static enum status take_folder(struct reader *r, const struct nvcc_word *known_word, const char *word,
                               const char *value) {
    const char *why = compile_bad_path(value);
    if (why)
        return reader_refuse(r, word, why);
    if (is_toolkit(r->arena, value)) {
        note(r, word, "the folder holds NVIDIA's headers, and Heddle has its own");
        return STATUS_OK;
    }
    if (strcmp(known_word->text, "-I") == 0) {
        add(r, &r->out->preprocess, arena_printf(r->arena, "-I%s", value));
    } else {
        add(r, &r->out->preprocess, known_word->text);
        add(r, &r->out->preprocess, value);
    }
    return STATUS_OK;
}

static enum status take_standard(struct reader *r, const char *word, const char *value) {
    static const char *const standards[] = {"c++11", "c++14", "c++17", "c++20", "c++23"};
    for (unsigned i = 0; i < sizeof standards / sizeof *standards; i++)
        if (strcmp(value, standards[i]) == 0) {
            r->out->standard = standards[i];
            return STATUS_OK;
        }
    return reader_refuse(r, word, "the standards for CUDA are c++11, c++14, c++17, c++20 and c++23");
}

static enum status take_optimise(struct reader *r, const char *word, const char *value) {
    if (strlen(value) != 1 || !strchr("0123s", *value))
        return reader_refuse(r, word, "levels are 0, 1, 2, 3 and s");
    add(r, &r->out->host, arena_printf(r->arena, "-O%s", value));
    return STATUS_OK;
}

static enum status take_source(struct reader *r, const struct nvcc_word *known_word, const char *word,
                               const char *value) {
    const char *why = NULL;
    switch (known_word->action) {
    case ACT_DEFINE:
        if ((why = compile_bad_define(value)))
            return reader_refuse(r, word, why);
        add(r, &r->out->preprocess, arena_printf(r->arena, "-D%s", value));
        return STATUS_OK;
    case ACT_UNDEFINE:
        if ((why = compile_bad_define(value)))
            return reader_refuse(r, word, why);
        add(r, &r->out->preprocess, arena_printf(r->arena, "-U%s", value));
        return STATUS_OK;
    case ACT_PRE_INCLUDE:
    case ACT_DEPENDENCY_VALUE:
    case ACT_OUTPUT:
        if ((why = compile_bad_path(value)))
            return reader_refuse(r, word, why);
        if (known_word->action == ACT_OUTPUT) {
            r->out->output = value;
            return STATUS_OK;
        }
        {
            const bool is_dependency = known_word->action == ACT_DEPENDENCY_VALUE;
            struct command_line *list = is_dependency ? &r->out->dependencies : &r->out->preprocess;
            add(r, list, is_dependency ? known_word->text : "-include");
            add(r, list, value);
        }
        return STATUS_OK;
    default: return take_folder(r, known_word, word, value);
    }
}

static enum status take_link(struct reader *r, const struct nvcc_word *known_word, const char *word,
                             const char *value) {
    switch (known_word->action) {
    case ACT_HOST_WORDS: return take_words(r, &r->out->host, word, value);
    case ACT_LINK_WORDS: {
        struct command_line words = {0};
        const enum status status = take_words(r, &words, word, value);
        for (unsigned i = 0; i < words.count; i++) {
            add(r, &r->out->link, "-Xlinker");
            add(r, &r->out->link, words.items[i]);
        }
        return status;
    }
    case ACT_LIBRARY_FOLDER:
        add(r, &r->out->link, arena_printf(r->arena, "-L%s", value));
        return compile_bad_path(value) ? reader_refuse(r, word, compile_bad_path(value)) : STATUS_OK;
    case ACT_LIBRARY:
        return compile_bad_path(value) ? reader_refuse(r, word, compile_bad_path(value)) : take_library(r, value);
    case ACT_CUDART:
        return strcmp(value, "shared") == 0 || strcmp(value, "static") == 0
                   ? STATUS_OK
                   : reader_refuse(r, word,
                                   "CUDA's runtime is always linked: shared, or static, which is the same here");
    case ACT_MACHINE: return strcmp(value, "64") == 0 ? STATUS_OK : reader_refuse(r, word, "programs have 64 bits");
    default: /* -Werror KIND,KIND */
        if (strstr(value, "all-warnings") || strstr(value, "cross-execution-space-call"))
            add(r, &r->out->host, "-Werror");
        return STATUS_OK;
    }
}

static enum status take_plain(struct reader *r, const struct nvcc_word *known_word) {
    struct cuda_program *out = r->out;
    switch (known_word->action) {
    case ACT_STAGE_OBJECT: out->stage = PROGRAM_OBJECT; break;
    case ACT_DEVICE_C: out->stage = PROGRAM_OBJECT, out->is_in_parts = true; break;
    case ACT_STAGE_DEVICE_LINK: out->stage = PROGRAM_DEVICE_LINK; break;
    case ACT_STAGE_PTX: out->stage = PROGRAM_PTX; break;
    case ACT_STAGE_FATBIN: out->stage = PROGRAM_FATBIN; break;
    case ACT_STAGE_PREPROCESS: out->stage = PROGRAM_PREPROCESS; break;
    case ACT_STAGE_DEPENDENCIES:
        out->stage = PROGRAM_DEPENDENCIES;
        add(r, &out->dependencies, known_word->text);
        break;
    case ACT_DEPENDENCY: add(r, &out->dependencies, known_word->text); break;
    case ACT_HOST_FLAG: add(r, &out->host, known_word->text); break;
    case ACT_LINK_FLAG: add(r, &out->link, known_word->text); break;
    default:
        out->debugs_device |= known_word->action == ACT_DEBUG_DEVICE;
        out->is_quiet |= known_word->action == ACT_QUIET;
        out->forwards |= known_word->action == ACT_FORWARD;
        out->shows |= known_word->action == ACT_SHOW || known_word->action == ACT_DRY_RUN;
        out->only_shows |= known_word->action == ACT_DRY_RUN;
        out->says_version |= known_word->action == ACT_VERSION;
    }
    return STATUS_OK;
}

bool reader_language(const char *name, enum program_kind *out) {
    *out = strcmp(name, "cu") == 0 ? PROGRAM_CUDA : strcmp(name, "c++") == 0 ? PROGRAM_CXX : PROGRAM_C;
    return *out != PROGRAM_C || strcmp(name, "c") == 0;
}

enum status reader_take(struct reader *r, const struct nvcc_word *known_word, const char *word, const char *value) {
    switch (known_word->action) {
    case ACT_SO: return STATUS_OK;
    case ACT_NOTE: note(r, word, known_word->text); return STATUS_OK;
    case ACT_NO: return reader_refuse(r, word, known_word->text);
    case ACT_OUTPUT:
    case ACT_DEFINE:
    case ACT_UNDEFINE:
    case ACT_INCLUDE:
    case ACT_PRE_INCLUDE:
    case ACT_DEPENDENCY_VALUE: return take_source(r, known_word, word, value);
    case ACT_LANGUAGE:
        return reader_language(value, &r->language) ? STATUS_OK : reader_refuse(r, word, "languages are cu, c++ and c");
    case ACT_STANDARD: return take_standard(r, word, value);
    case ACT_ARCH: return add_archs(r, word, value);
    case ACT_CODE: return STATUS_OK; /* of -arch, which is compiled for */
    case ACT_GENCODE: return add_gencode(r, word, value);
    case ACT_RDC:
    case ACT_FAST_MATH:
    case ACT_FTZ:
    case ACT_PREC_DIV:
    case ACT_PREC_SQRT:
    case ACT_FMAD: return take_truth(r, known_word, word, value);
    case ACT_OPTIMISE: return take_optimise(r, word, value);
    case ACT_WERROR:
    case ACT_MACHINE:
    case ACT_HOST_WORDS:
    case ACT_LINK_WORDS:
    case ACT_LIBRARY_FOLDER:
    case ACT_LIBRARY:
    case ACT_CUDART: return take_link(r, known_word, word, value);
    default: return take_plain(r, known_word);
    }
}
