/* SPDX-License-Identifier: Apache-2.0 */
/* SPIR-V: llvm-spirv makes LLVM IR of it, which is of the target spir; it becomes IR as clang makes it of OpenCL C for our own target,
 * with our built-in functions, and goes the way of that from there on. */
#include <string.h>

#include "base/file.h"
#include "compile/job.h"
#include "compile/metadata.h"

#define COUNT(array) ((unsigned)(sizeof(array) / sizeof *(array)))

bool compile_is_il(const void *bytes, size_t length) {
    static const uint32_t magic = 0x07230203;
    enum { HEADER_BYTES = 20 };
    uint32_t first;
    if (!bytes || length < HEADER_BYTES || length % sizeof first)
        return false;
    memcpy(&first, bytes, sizeof first); /* of the host's order of bytes: others are not taken */
    return first == magic;
}

/* ---- IR of spir to IR of our target ---- */

/* What is written grows line by line; it never takes more than `room`. */
struct rewriting {
    struct arena *arena;
    char *end;
    const char *cpu;         /* words for attributes */
    const char *kernels;     /* nodes that mark kernels, */
    const char *kernel_list; /* and their list */
    unsigned kernel_count;
};

enum { FIRST_NODE = 1000000, PER_LINE_BYTES = 160 };

static bool begins(const char *text, const char *words) { return strncmp(text, words, strlen(words)) == 0; }
static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.$-", c);
}

/* Names of functions say their address spaces: spir's 2 is constant, which is 4 here, and its 4 generic, which is 0. */
static const char *put_name(struct rewriting *to, const char *at) {
    const bool is_intrinsic = begins(at, "@llvm.");
    *to->end++ = *at++;
    while (*at && is_name(*at))
        if (!is_intrinsic && begins(at, "U3AS2"))
            to->end = stpcpy(to->end, "U3AS4"), at += 5;
        else if (!is_intrinsic && begins(at, "U3AS4"))
            at += 5;
        else if (is_intrinsic && begins(at, ".p2") && !is_name(at[3] == '.' ? ' ' : at[3]))
            to->end = stpcpy(to->end, ".p4"), at += 3;
        else if (is_intrinsic && begins(at, ".p4") && !is_name(at[3] == '.' ? ' ' : at[3]))
            to->end = stpcpy(to->end, ".p0"), at += 3;
        else
            *to->end++ = *at++;
    return at;
}

/* Of a cast between what are two address spaces of spir and is one here. */
static void settle_casts(struct rewriting *to, char *line) {
    static const char cast[] = "addrspacecast ptr ", to_generic[] = " to ptr";
    *to->end = '\0';
    char *at = strstr(line, cast), *middle = at ? strstr(at, to_generic) : NULL;
    if (!middle || begins(at + sizeof cast - 1, "addrspace(") || begins(middle + sizeof to_generic - 1, " addrspace("))
        return;
    const size_t shorter = strlen("addrspacecast") - strlen("bitcast");
    memcpy(at, "bitcast", strlen("bitcast"));
    char *rest = at + strlen("addrspacecast");
    memmove(rest - shorter, rest, (size_t)(to->end - rest) + 1);
    to->end -= shorter;
}

static void put_line(struct rewriting *to, const char *at, const char *stop) {
    char *line = to->end;
    while (at < stop) {
        const char *quoted = *at == '"' ? memchr(at + 1, '"', (size_t)(stop - at - 1)) : NULL;
        if (quoted) { /* strings are nobody's names */
            memcpy(to->end, at, (size_t)(quoted + 1 - at));
            to->end += quoted + 1 - at;
            at = quoted + 1;
        } else if (begins(at, "@_Z") || begins(at, "@llvm.")) {
            at = put_name(to, at);
        } else if (begins(at, "addrspace(2)")) {
            to->end = stpcpy(to->end, "addrspace(4)"), at += 12;
        } else if (begins(at, " addrspace(4)")) {
            at += 13;
        } else if (begins(at, "spir_func ")) {
            at += 10;
        } else {
            *to->end++ = *at++;
        }
    }
    settle_casts(to, line);
    *to->end++ = '\n';
}

static void note_kernel(struct rewriting *to, const char *line, const char *stop) {
    const char *name = memchr(line, '@', (size_t)(stop - line)), *end = name ? strchr(name, '(') : NULL;
    if (!begins(line, "define ") || !memmem(line, (size_t)(stop - line), "spir_kernel ", 12) || !end || end > stop)
        return;
    const unsigned node = FIRST_NODE + to->kernel_count;
    to->kernels = arena_printf(to->arena, "%s!%u = !{ptr %.*s, !\"kernel\", i32 1}\n", to->kernels, node,
                               (int)(end - name), name);
    to->kernel_list = arena_printf(to->arena, "%s%s!%u", to->kernel_list, to->kernel_count++ ? ", " : "", node);
}

/* All that a kernel calls may be a barrier: its functions are convergent, as clang has those of OpenCL C. */
static void put_attributes(struct rewriting *to, const char *line, const char *stop) {
    const char *open = memchr(line, '{', (size_t)(stop - line));
    const bool has_word = memmem(line, (size_t)(stop - line), " convergent ", 12) != NULL;
    if (!open || stop[-1] != '}') {
        put_line(to, line, stop);
        return;
    }
    memcpy(to->end, line, (size_t)(open + 1 - line));
    to->end = stpcpy(to->end + (open + 1 - line), has_word ? "" : " convergent");
    memcpy(to->end, open + 1, (size_t)(stop - 1 - (open + 1)));
    to->end = stpcpy(to->end + (stop - 1 - (open + 1)), to->cpu);
    to->end = stpcpy(to->end, " }\n");
}

static const char *rewrite(struct arena *arena, const char *ir, unsigned sm) {
    size_t lines = 1;
    for (const char *at = ir; *at; at++)
        lines += *at == '\n';
    char *out = arena_alloc(arena, strlen(ir) + lines * PER_LINE_BYTES + 1);
    struct rewriting to = {.arena = arena,
                           .end = out,
                           .cpu = arena_printf(arena, "\"target-cpu\"=\"sm_%u\" \"target-features\"=\"+ptx85,+sm_%u\"",
                                               sm, sm),
                           .kernels = "",
                           .kernel_list = ""};
    while (*ir) {
        const char *stop = ir + strcspn(ir, "\n");
        note_kernel(&to, ir, stop);
        if (begins(ir, "attributes #"))
            put_attributes(&to, ir, stop);
        else if (!begins(ir, "target "))
            put_line(&to, ir, stop);
        ir = *stop ? stop + 1 : stop;
    }
    *to.end = '\0';
    return to.kernel_count ? arena_printf(arena, "%s\n!nvvm.annotations = !{%s}\n%s", out, to.kernel_list, to.kernels)
                           : out;
}

/* ---- the steps ---- */

static enum status read_il(struct compile_job *job, const char **ir) {
    struct arena *arena = job->arena;
    const char *bitcode = arena_printf(arena, "%s/.heddle.spir.bc", job->temporary);
    const char *text = arena_printf(arena, "%s/.heddle.spir.ll", job->temporary);
    const char *const translate[] = {job->tools.llvm_spirv, "-r", job->path, "-o", bitcode};
    const char *const print[] = {"-x",
                                 "ir",
                                 "--target=spir64",
                                 "-S",
                                 "-emit-llvm",
                                 "-Wno-override-module",
                                 "-Xclang",
                                 "-disable-llvm-passes",
                                 bitcode,
                                 "-o",
                                 text};
    struct command_line first = {0}, second = {0};
    command_line_add_all(arena, &first, translate, COUNT(translate));
    enum status status = job_step(job, &first, false);
    if (status != STATUS_OK)
        return status;
    job_add_clang(job, &second);
    command_line_add_all(arena, &second, print, COUNT(print));
    status = job_step(job, &second, false);
    *ir = status == STATUS_OK ? file_try_read(arena, text, NULL) : NULL;
    return *ir || status != STATUS_OK ? status : report_add(job->report, STATUS_SYSTEM, "%s cannot be read", text);
}

static enum status check_tools(struct compile_job *job) {
    const enum status status = job_find_opencl_tools(job);
    if (status != STATUS_OK || job->tools.llvm_spirv)
        return status;
    return report_add(job->report, STATUS_SYSTEM,
                      "a program from SPIR-V needs llvm-spirv, and none was found on PATH; install it (Debian: apt-get "
                      "install llvm-spirv-15), or set HEDDLE_LLVM_SPIRV");
}

/* llvm-spirv says the width of addresses by the triple. */
static enum status check_width(struct compile_job *job, const char *ir) {
    const char *triple = strstr(ir, "target triple = \"spir");
    const bool is_64 = triple && begins(triple, "target triple = \"spir64");
    if (triple && is_64 != job_is_32_bit(job))
        return STATUS_OK;
    return report_add(job->report, STATUS_INVALID, "%s: is SPIR-V of %s-bit addresses, and the device has %s-bit ones",
                      job->name, is_64 ? "64" : "32", is_64 ? "32" : "64");
}

/* Optimised IR with what it needs of the libraries. */
static enum status make_ir(struct compile_job *job, const char **ir) {
    struct arena *arena = job->arena;
    const char *from = arena_printf(arena, "%s/.heddle.own.ll", job->temporary);
    const char *to = arena_printf(arena, "%s/.heddle.optimised.ll", job->temporary);
    const char *spir = NULL;
    struct command_line line = {0};
    enum status status = read_il(job, &spir);
    if (status == STATUS_OK)
        status = check_width(job, spir);
    if (status != STATUS_OK)
        return status;
    const char *own = rewrite(arena, spir, job->options->sm ? job->options->sm : 75);
    if (!file_write_private(from, own, strlen(own)))
        return report_add(job->report, STATUS_SYSTEM, "%s cannot be written", from);
    job_add_optimising_ir_flags(job, &line);
    status = job_add_libraries(job, false, &line);
    const char *const rest[] = {"-S", "-emit-llvm", from, "-o", to};
    command_line_add_all(arena, &line, rest, COUNT(rest));
    const char *log = job->log;
    if (status == STATUS_OK)
        status = job_step(job, &line, false);
    if (status == STATUS_OK)
        job->log = log; /* that libclc is of another system, which no flag keeps it from saying of IR */
    *ir = status == STATUS_OK ? file_try_read(arena, to, NULL) : NULL;
    return *ir || status != STATUS_OK ? status : report_add(job->report, STATUS_SYSTEM, "%s cannot be read", to);
}

static enum status compile(const struct compile_source *il, bool as_object, struct compile_job *job,
                           struct arena *arena, struct compiled *out) {
    *out = (struct compiled){.log = "", .metadata = ""};
    enum status status = job_begin(job, "program.spv", il->text, il->bytes);
    const char *ir = NULL;
    if (status == STATUS_OK)
        status = check_tools(job);
    if (status == STATUS_OK)
        status = make_ir(job, &ir);
    return job_deliver(job, status, ir, as_object, arena, out);
}

enum status compile_il(const struct compile_source *il, const struct compile_options *options, struct arena *arena,
                       struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    struct compile_job job = {.arena = &scratch, .options = options, .report = report};
    return compile(il, false, &job, arena, out);
}

enum status compile_il_object(const struct compile_source *il, const struct compile_options *options,
                              struct arena *arena, struct compiled *out, struct report *report) {
    struct arena scratch = {.escape = arena->escape};
    struct compile_job job = {.arena = &scratch, .options = options, .report = report};
    return compile(il, true, &job, arena, out);
}
