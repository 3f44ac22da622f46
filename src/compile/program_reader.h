/* SPDX-License-Identifier: Apache-2.0 */
/* Reading nvcc's command line: what program_read.c (words) and program_options.c (what each does) share. */
#ifndef HEDDLE_COMPILE_PROGRAM_READER_H
#define HEDDLE_COMPILE_PROGRAM_READER_H

#include "compile/program.h"

enum follows { NOTHING, VALUE, JOINED };
enum action {
    ACT_SO,
    ACT_NOTE,
    ACT_NO,
    ACT_OUTPUT,
    ACT_STAGE_OBJECT,
    ACT_STAGE_PTX,
    ACT_STAGE_FATBIN,
    ACT_STAGE_PREPROCESS,
    ACT_STAGE_DEPENDENCIES,
    ACT_DEPENDENCY,
    ACT_DEPENDENCY_VALUE,
    ACT_LANGUAGE,
    ACT_RDC,
    ACT_DEVICE_C,
    ACT_STAGE_DEVICE_LINK,
    ACT_DEBUG_DEVICE,
    ACT_DEFINE,
    ACT_UNDEFINE,
    ACT_INCLUDE,
    ACT_PRE_INCLUDE,
    ACT_STANDARD,
    ACT_ARCH,
    ACT_CODE,
    ACT_GENCODE,
    ACT_FAST_MATH,
    ACT_FTZ,
    ACT_PREC_DIV,
    ACT_PREC_SQRT,
    ACT_FMAD,
    ACT_QUIET,
    ACT_OPTIMISE,
    ACT_HOST_FLAG,
    ACT_LINK_FLAG,
    ACT_MACHINE,
    ACT_WERROR,
    ACT_HOST_WORDS,
    ACT_LINK_WORDS,
    ACT_LIBRARY_FOLDER,
    ACT_LIBRARY,
    ACT_CUDART,
    ACT_FORWARD,
    ACT_SHOW,
    ACT_DRY_RUN,
    ACT_VERSION,
};

/* One line of nvcc.def. */
struct nvcc_word {
    const char *name, *letter;
    enum follows follows;
    enum action action;
    const char *text;
};

struct reader {
    struct arena *arena;
    const char *const *words;
    unsigned count, at;
    struct cuda_program *out;
    struct report *report;
    bool has_language; /* -x: of all files that are not linked */
    enum program_kind language;
    unsigned archs[64], arch_count;
};

/* Does what the word is for. `word` is as the user wrote it, for messages; value "" where nothing follows. */
enum status reader_take(struct reader *r, const struct nvcc_word *known, const char *word, const char *value);
enum status reader_refuse(struct reader *r, const char *word, const char *why);
/* "cu", "c++", "c"; false: it is none. */
bool reader_language(const char *name, enum program_kind *out);
/* Of the architectures asked for the one that is compiled for. */
unsigned reader_arch(const struct reader *r);

#endif
