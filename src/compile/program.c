/* SPDX-License-Identifier: Apache-2.0 */
/* The steps from a CUDA program's sources to objects and programs. */
#include "compile/program.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "compile/fatbin.h"
#include "compile/job.h"
#include "compile/launches.h"
#include "compile/openmp.h"
#include "compile/parts.h"

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

struct making {
    const struct cuda_program *program;
    const struct program_runtime *runtime;
    struct compile_job job; /* tools, libraries of our own, the temporary folder */
    struct arena *arena;    /* that the words live in */
    struct program_words *words;
    struct report *report;
    /* of the source at hand */
    unsigned number;     /* for names of temporary files */
    const char *overlay; /* what clang reads otherwise than it lies there; NULL: nothing */
    const char *tag;     /* -rdc=true: for names of its own */
    struct part_symbols symbols;
};

static void add(struct making *m, struct command_line *line, const char *text) {
    command_line_add(m->arena, line, text);
}

static void add_list(struct making *m, struct command_line *line, const struct command_line *list) {
    command_line_add_all(m->arena, line, list->items, list->count);
}

static const char *join(struct arena *arena, const char *before, const char *text) {
    return *before ? arena_printf(arena, "%s%s", before, text) : text;
}

/* The same for the same command, and another for every source of a program. */
static void begin_source(struct making *m, unsigned number, const char *source) {
    const char *all = arena_printf(m->arena, "%s %u %s", source, number, m->program->output ? m->program->output : "");
    for (unsigned i = 0; i < m->program->preprocess.count; i++)
        all = arena_printf(m->arena, "%s %s", all, m->program->preprocess.items[i]);
    m->number = number;
    m->overlay = launches_overlay(m->arena, source, m->job.temporary, number);
    m->tag = arena_printf(m->arena, "%016llx", (unsigned long long)XXH3_64bits(all, strlen(all)));
}

/* A command line as a shell would take it. */
static const char *shown(struct arena *arena, const struct command_line *line) {
    const char *out = "";
    for (unsigned i = 0; i < line->count; i++) {
        const bool is_plain = !strpbrk(line->items[i], " \t\"'$`\\&|;<>()*?[]#~!{}") && *line->items[i];
        out = arena_printf(arena, is_plain ? "%s%s%s" : "%s%s'%s'", out, i ? " " : "", line->items[i]);
    }
    return arena_printf(arena, "%s\n", out);
}

static enum status run(struct making *m, struct command_line *line) {
    struct process_end end;
    if (m->program->shows)
        m->words->said = join(m->arena, m->words->said, shown(m->arena, line));
    if (m->program->only_shows)
        return STATUS_OK;
    const char *output = arena_printf(m->arena, "%s/.said", m->job.temporary);
    const enum status status = process_run(m->arena, line, output, NULL, &end, m->report);
    if (status != STATUS_OK)
        return status;
    m->words->said = join(m->arena, m->words->said, end.output);
    if (end.signal)
        return report_add(m->report, STATUS_INVALID, "heddle cc: %s ended by signal %d", line->items[0], end.signal);
    return end.exit_code ? STATUS_INVALID : STATUS_OK;
}

/* ---- what clang is told ---- */

/* clang as the compiler of both sides, with no file of NVIDIA's. Its own idea of the toolkit's version has it write launches as
 * CUDA 12 has them. */
static void add_cuda(struct making *m, struct command_line *line) {
    const char *const words[] = {"-x",
                                 "cuda",
                                 arena_printf(m->arena, "--cuda-gpu-arch=sm_%u", m->program->sm),
                                 "--cuda-path=/nonexistent",
                                 "-nocudainc",
                                 "-nocudalib",
                                 "-Xclang",
                                 "-target-sdk-version=12.3",
                                 "-Xclang",
                                 "-fcuda-allow-variadic-functions",
                                 "-Wno-unknown-cuda-version",
                                 "-Wno-linker-warnings",
                                 "-Wno-unused-command-line-argument",
                                 "-Wno-error=c++11-narrowing",               /* nvcc warns of {0.0} for an int */
                                 "-Wno-error=reserved-user-defined-literal", /* and of "number"NAME, a macro */
                                 "-fno-crash-diagnostics",
                                 arena_printf(m->arena, "-std=%s",
                                              m->program->standard ? m->program->standard : "c++17")};
    command_line_add_all(m->arena, line, words, COUNT(words));
    if (m->program->is_in_parts) {
        add(m, line, "-fgpu-rdc");
        const char *id = arena_printf(m->arena, "-cuid=%s", m->tag);
        const char *const ids[] = {id, "-Xclang", id}; /* the driver hands it on to one side only */
        command_line_add_all(m->arena, line, ids, COUNT(ids));
    }
}

/* Our headers come first, then the user's folders; those of CUDA's samples are for who has none of his own. */
static void add_sources(struct making *m, struct command_line *line, enum program_kind kind) {
    const char *share = m->job.tools.share;
    add(m, line, arena_printf(m->arena, "-I%s/cuda", share));
    if (kind == PROGRAM_CUDA) {
        add(m, line, "-include");
        add(m, line, arena_printf(m->arena, "%s/cuda/cuda_runtime.h", share));
        if (m->overlay)
            add(m, line, arena_printf(m->arena, "-ivfsoverlay%s", m->overlay));
    }
    add_list(m, line, &m->program->preprocess);
    add(m, line, arena_printf(m->arena, "-idirafter%s/include", share));
    add(m, line, arena_printf(m->arena, "-idirafter%s/cuda/serial", share));
    add(m, line, arena_printf(m->arena, "-idirafter%s/cuda/samples", share));
    if (m->program->is_quiet)
        add(m, line, "-w");
}

static void begin(struct making *m, struct command_line *line, enum program_kind kind) {
    add(m, line, m->job.tools.clang);
    add(m, line, "--no-default-config");
    add(m, line, kind == PROGRAM_C ? "--driver-mode=gcc" : "--driver-mode=g++");
}

static void add_output(struct making *m, struct command_line *line, const char *source, const char *output) {
    const char *const words[] = {source, "-o", output};
    command_line_add_all(m->arena, line, words, COUNT(words));
}

/* ---- device code ---- */

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* The first function that the PTX calls, has not, and the device has neither; NULL: there is none. In parts only those that no other
 * file can have. */
static const char *missing_function(struct arena *arena, const char *ptx, bool in_parts) {
    static const char *const device[] = {"vprintf", "__assertfail", "malloc", "free", "__cuda_syscall_aligned_malloc"};
    for (const char *at = ptx; (at = strstr(at, ".extern .func"));) {
        at += strlen(".extern .func");
        at += strspn(at, " \t\n");
        if (*at == '(')
            at += strcspn(at, ")") + 1;
        at += strspn(at, " \t\n");
        size_t length = 0;
        while (is_name(at[length]))
            length++;
        bool is_known = false;
        for (unsigned i = 0; i < COUNT(device); i++)
            is_known |= strlen(device[i]) == length && strncmp(device[i], at, length) == 0;
        if (!is_known && (!in_parts || strncmp(at, "__nv_", 5) == 0))
            return arena_strndup(arena, at, length);
    }
    return NULL;
}

static enum status check_ptx(struct making *m, const char *source, const char *ptx) {
    const char *name = missing_function(m->arena, ptx, m->program->is_in_parts);
    if (!name)
        return STATUS_OK;
    if (strncmp(name, "__nv_", 5) == 0)
        return report_add(m->report, STATUS_INVALID,
                          "heddle cc: %s: kernels cannot call %s: this function is not built", source, name + 5);
    return report_add(m->report, STATUS_INVALID,
                      "heddle cc: %s: the device function %s is defined elsewhere, which needs -rdc=true", source,
                      name);
}

/* Source to PTX; *ptx is the text, NULL where commands are only shown. Warnings come with the host's compilation of the source. */
static enum status device_compile(struct making *m, const char *source, const char *path, const char **ptx) {
    struct command_line line = {0};
    begin(m, &line, PROGRAM_CUDA);
    add_cuda(m, &line);
    const char *const fixed[] = {"--cuda-device-only",
                                 "--cuda-feature=+ptx85",
                                 "-fno-ident",
                                 "-ffp-contract=fast-honor-pragmas", /* not inside of libclc's functions */
                                 m->program->debugs_device ? "-O1" : "-O2",
                                 "-gdwarf-4",
                                 "-gline-directives-only",
                                 "-w",
                                 "-S"};
    command_line_add_all(m->arena, &line, fixed, COUNT(fixed));
    add_list(m, &line, &m->program->device);
    add_sources(m, &line, PROGRAM_CUDA);
    if (job_libclc(&m->job)) {
        const enum status status = job_add_libraries(&m->job, true, &line);
        if (status != STATUS_OK)
            return status;
    }
    add_output(m, &line, source, path);
    const enum status status = run(m, &line);
    *ptx = NULL;
    if (status != STATUS_OK || m->program->only_shows)
        return status;
    *ptx = file_try_read(m->arena, path, NULL);
    return *ptx ? check_ptx(m, source, *ptx) : report_add(m->report, STATUS_SYSTEM, "%s: %s", path, strerror(errno));
}

static enum status write_fatbin(struct making *m, const char *path, const char *ptx) {
    size_t bytes = 0;
    if (!ptx)
        return STATUS_OK;
    if (m->program->is_in_parts) {
        m->symbols = parts_symbols(m->arena, ptx);
        ptx = parts_own_names(m->arena, ptx, &m->symbols, m->tag);
    }
    const char *data = fatbin_write(m->arena, ptx, m->program->sm, &bytes);
    return file_write(path, data, bytes, m->report);
}

/* ---- host code ---- */

/* What old C has, and gcc took with a warning for as long as such programs were written. */
static void add_old_c(struct making *m, struct command_line *line) {
    const char *const words[] = {"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
                                 "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"};
    command_line_add_all(m->arena, line, words, COUNT(words));
}

static void add_host(struct making *m, struct command_line *line, enum program_kind kind) {
    if (kind == PROGRAM_CUDA) {
        add_cuda(m, line);
        add(m, line, "--cuda-host-only");
    } else {
        add(m, line, "-x");
        add(m, line, kind == PROGRAM_C ? "c" : "c++");
    }
    if (kind == PROGRAM_CXX && m->program->standard)
        add(m, line, arena_printf(m->arena, "-std=%s", m->program->standard));
    if (kind == PROGRAM_C)
        add_old_c(m, line);
    add_sources(m, line, kind);
    add_list(m, line, &m->program->host);
}

/* The object of a part with the symbols of its device code: a relocatable link of both. */
static enum status part_finish(struct making *m, const char *object, const char *output) {
    static const char begins[] = "__cudaRegisterLinkedBinary__nv_"; /* the function that clang's code calls */
    size_t bytes = 0;
    const char *data = m->program->only_shows ? NULL : file_try_read(m->arena, object, &bytes);
    const char *name = data ? memmem(data, bytes, begins, strlen(begins)) : NULL;
    if (!name && !m->program->only_shows)
        return report_add(m->report, STATUS_SYSTEM,
                          "heddle cc: %s: this clang registers device code in a way that is not known", object);
    const char *source = arena_printf(m->arena, "%s/%u.part.c", m->job.temporary, m->number);
    const char *part = arena_printf(m->arena, "%s/%u.part.o", m->job.temporary, m->number);
    const char *text = name ? parts_source(m->arena, &m->symbols, name) : "";
    enum status status = file_write(source, text, strlen(text), m->report);
    struct command_line compile = {0}, link = {0};
    begin(m, &compile, PROGRAM_C);
    add(m, &compile, "-fPIC");
    add(m, &compile, "-c");
    add_output(m, &compile, source, part);
    if (status == STATUS_OK)
        status = run(m, &compile);
    begin(m, &link, PROGRAM_C);
    add(m, &link, "-r");
    add(m, &link, "-nostdlib");
    add(m, &link, part);
    add_output(m, &link, object, output);
    return status == STATUS_OK ? run(m, &link) : status;
}

/* One source to an object. */
static enum status object_make(struct making *m, const struct program_input *input, const char *output) {
    struct command_line line = {0};
    enum status status = STATUS_OK;
    const char *fatbin = arena_printf(m->arena, "%s/%u.fatbin", m->job.temporary, m->number);
    if (input->kind == PROGRAM_CUDA) {
        const char *ptx = NULL;
        status = device_compile(m, input->text, arena_printf(m->arena, "%s/%u.ptx", m->job.temporary, m->number), &ptx);
        if (status == STATUS_OK)
            status = write_fatbin(m, fatbin, ptx);
        if (status != STATUS_OK)
            return status;
    }
    const bool is_part = input->kind == PROGRAM_CUDA && m->program->is_in_parts;
    const char *object = is_part ? arena_printf(m->arena, "%s/%u.host.o", m->job.temporary, m->number) : output;
    begin(m, &line, input->kind);
    add_host(m, &line, input->kind);
    if (input->kind == PROGRAM_CUDA) {
        const char *const words[] = {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", fatbin};
        command_line_add_all(m->arena, &line, words, COUNT(words));
    }
    add_list(m, &line, &m->program->dependencies);
    if (is_part && m->program->dependencies.count) { /* that say the object's name, which this is not yet */
        add(m, &line, "-MQ");
        add(m, &line, output);
    }
    add(m, &line, "-c");
    add_output(m, &line, input->text, object);
    status = run(m, &line);
    return status == STATUS_OK && is_part ? part_finish(m, object, output) : status;
}

/* What the preprocessor says, or the list of files a source includes: of the host's side. */
static enum status preprocess(struct making *m, const struct program_input *input) {
    struct command_line line = {0};
    const char *path = m->program->output ? m->program->output : arena_printf(m->arena, "%s/text", m->job.temporary);
    begin(m, &line, input->kind);
    add_host(m, &line, input->kind);
    add_list(m, &line, &m->program->dependencies);
    if (m->program->stage == PROGRAM_PREPROCESS)
        add(m, &line, "-E");
    add_output(m, &line, input->text, path);
    const enum status status = run(m, &line);
    if (status != STATUS_OK || m->program->output || m->program->only_shows)
        return status;
    const char *text = file_try_read(m->arena, path, NULL);
    m->words->output = join(m->arena, m->words->output, text ? text : "");
    return STATUS_OK;
}

/* ---- the whole ---- */

/* "dir/source.cu" -> "source.o", in the folder at hand. */
static const char *result_name(struct making *m, const char *source, const char *ending) {
    if (m->program->output)
        return m->program->output;
    const char *name = file_name(source), *dot = strrchr(name, '.');
    return arena_printf(m->arena, "%.*s%s", dot ? (int)(dot - name) : (int)strlen(name), name, ending);
}

static enum status source_make(struct making *m, const struct program_input *input) {
    const char *ptx = NULL;
    switch (m->program->stage) {
    case PROGRAM_PREPROCESS:
    case PROGRAM_DEPENDENCIES: return preprocess(m, input);
    case PROGRAM_PTX:
    case PROGRAM_FATBIN:
        if (input->kind != PROGRAM_CUDA)
            return report_add(m->report, STATUS_INVALID, "heddle cc: %s has no device code", input->text);
        if (m->program->stage == PROGRAM_PTX)
            return device_compile(m, input->text, result_name(m, input->text, ".ptx"), &ptx);
        {
            const char *path = arena_printf(m->arena, "%s/%u.ptx", m->job.temporary, m->number);
            const enum status status = device_compile(m, input->text, path, &ptx);
            return status == STATUS_OK ? write_fatbin(m, result_name(m, input->text, ".fatbin"), ptx) : status;
        }
    default: return object_make(m, input, result_name(m, input->text, ".o"));
    }
}

/* A library that is a source of ours: compiled for this program, without what the user says of the program's own sources. */
static enum status library_make(struct making *m, const char *name, const char *object) {
    struct cuda_program plain = {.sm = m->program->sm, .is_quiet = true, .notes = ""};
    struct making own = *m;
    own.program = &plain;
    plain.shows = m->program->shows, plain.only_shows = m->program->only_shows;
    add(m, &plain.host, "-O2");
    add(m, &plain.host, "-fPIC");
    const struct program_input input = {arena_printf(m->arena, "%s/cuda/libraries/%s.cu", m->job.tools.share, name),
                                        PROGRAM_CUDA};
    return object_make(&own, &input, object);
}

/* Runs the linker. OpenMP's library is the one that there is, and is named where there is none. */
static enum status link_run(struct making *m, struct command_line *line) {
    const struct openmp_search search = {m->job.tools.clang, m->job.temporary, &m->program->host, &m->program->link};
    const char *word = openmp_word(m->arena, &search);
    if (word)
        add(m, line, word);
    const enum status status = run(m, line);
    if (status == STATUS_INVALID && openmp_is_asked(&m->program->host) && openmp_is_missing(m->words->said))
        return report_add(
            m->report, status,
            "heddle cc: '-fopenmp': clang's OpenMP library, libomp.so, was not found; install it (Debian: "
            "apt-get install libomp-19-dev)");
    return status;
}

/* Objects of sources take the sources' places among the words of the linker. */
static enum status link_make(struct making *m) {
    const struct cuda_program *p = m->program;
    const struct program_runtime *runtime = m->runtime;
    struct command_line line = {0};
    enum status status = STATUS_OK;
    if (!runtime->folder || !runtime->stub)
        return report_add(
            m->report, STATUS_SYSTEM,
            "heddle cc: CUDA's runtime was not found beside this program; it is built where libzstd-dev and "
            "liblz4-dev are installed");
    begin(m, &line, PROGRAM_CXX);
    for (unsigned i = 0; i < p->inputs.count && status == STATUS_OK; i++) {
        const struct program_input *input = &p->inputs.items[i];
        const char *object = arena_printf(m->arena, "%s/%u.o", m->job.temporary, i);
        begin_source(m, i, input->text);
        if (input->kind != PROGRAM_LINKED)
            status = object_make(m, input, object);
        add(m, &line, input->kind == PROGRAM_LINKED ? input->text : object);
    }
    for (unsigned i = 0; i < p->libraries.count && status == STATUS_OK; i++) {
        const char *object = arena_printf(m->arena, "%s/%s.o", m->job.temporary, p->libraries.items[i]);
        m->number = p->inputs.count + i;
        status = library_make(m, p->libraries.items[i], object);
        add(m, &line, object);
    }
    if (status != STATUS_OK)
        return status;
    add_list(m, &line, &p->host);
    add(m, &line, arena_printf(m->arena, "-L%s", runtime->stub)); /* before folders that may have NVIDIA's */
    add_list(m, &line, &p->link);
    const char *const words[] = {"-lcudart",  arena_printf(m->arena, "-Wl,-rpath,%s", runtime->folder),
                                 "-lpthread", "-ldl",
                                 "-lrt",      "-Wno-unused-command-line-argument",
                                 "-o",        p->output ? p->output : "a.out"};
    command_line_add_all(m->arena, &line, words, COUNT(words));
    return link_run(m, &line);
}

/* The runtime puts device code together when a program runs: the object that makefiles expect has nothing in it. */
static enum status device_link_make(struct making *m) {
    struct command_line line = {0};
    begin(m, &line, PROGRAM_C);
    add(m, &line, "-x");
    add(m, &line, "c");
    add(m, &line, "-c");
    add_output(m, &line, "/dev/null", m->program->output ? m->program->output : "a_dlink.o");
    return run(m, &line);
}

static enum status make_all(struct making *m) {
    const struct cuda_program *p = m->program;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < p->inputs.count && !p->only_shows; i++)
        if (p->inputs.items[i].text[0] != '-' && !file_exists(p->inputs.items[i].text))
            status =
                report_add(m->report, STATUS_INVALID, "heddle cc: %s: there is no such file", p->inputs.items[i].text);
    if (status != STATUS_OK)
        return status;
    if (p->stage == PROGRAM_LINK)
        return link_make(m);
    if (p->stage == PROGRAM_DEVICE_LINK)
        return device_link_make(m);
    for (unsigned i = 0; i < p->inputs.count && status == STATUS_OK; i++) {
        begin_source(m, i, p->inputs.items[i].text);
        if (p->inputs.items[i].kind != PROGRAM_LINKED)
            status = source_make(m, &p->inputs.items[i]);
    }
    return status;
}

static enum status find_tools(struct making *m) {
    struct compile_tools *tools = &m->job.tools;
    compile_find_tools(m->arena, tools);
    if (!tools->clang)
        return report_add(
            m->report, STATUS_SYSTEM,
            "heddle cc: clang 19 or later was not found on PATH; install it (Debian: apt-get install clang-19 "
            "libclc-19), or set HEDDLE_CLANG");
    if (!tools->share || !file_exists(arena_printf(m->arena, "%s/cuda/cuda_runtime.h", tools->share)))
        return report_add(
            m->report, STATUS_SYSTEM,
            "heddle cc: cuda/cuda_runtime.h was not found; set HEDDLE_SHARE to the folder share/heddle of the "
            "source tree");
    if (!job_libclc(&m->job))
        m->words->said =
            "heddle cc: note: libclc was not found (Debian: libclc-19): kernels have no functions of mathematics\n";
    return STATUS_OK;
}

enum status program_make(const struct cuda_program *program, const struct program_runtime *runtime, struct arena *arena,
                         struct program_words *words, struct report *report) {
    const struct compile_options options = {.language = COMPILE_CUDA, .sm = program->sm};
    struct making m = {.program = program,
                       .runtime = runtime,
                       .arena = arena,
                       .words = words,
                       .report = report,
                       .job = {.arena = arena,
                               .options = &options,
                               .language = COMPILE_CUDA,
                               .name = "heddle cc",
                               .folder = "/",
                               .given = "",
                               .report = report}};
    *words = (struct program_words){.said = "", .output = ""};
    enum status status = find_tools(&m);
    if (status != STATUS_OK)
        return status;
    m.job.temporary = folder_make_temporary(arena);
    if (!m.job.temporary)
        return report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    status = make_all(&m);
    folder_remove(arena, m.job.temporary);
    return status;
}
