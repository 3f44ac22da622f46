/* SPDX-License-Identifier: Apache-2.0 */
/* PTX to native code of sm_75 to sm_90 by NVIDIA's assembler, where the host has one. */
#include "base/file.h"
#include "compile/job.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DIGEST_DIGITS = 32 };

/* ---- cache ---- */

/* Everything that decides what the assembler writes. */
static const char *entry_path(struct compile_job *job) {
    struct arena *arena = job->arena;
    const char *key = job_key_join(arena, CACHE_FORM " assembled", job->tools.ptxas_identity);
    key = job_key_join(arena, key, job->name); /* it stands in messages that are kept in the file */
    for (unsigned i = 0; i < job->flags.count; i++)
        key = job_key_join(arena, key, job->flags.items[i]);
    key = job_key_join(arena, key, job_hash(arena, job->text, job->text_bytes));
    return arena_printf(arena, "%s/%s.cubin", job->tools.cache, job_hash(arena, key, strlen(key)));
}

/* A line with the digest, then the file. False: there is none, or it was cut or changed. */
static bool entry_take(struct compile_job *job, const char *path, struct arena *arena, struct assembled *out) {
    size_t bytes = 0;
    const char *kept = file_try_read(job->arena, path, &bytes);
    if (!kept || bytes <= DIGEST_DIGITS + 1)
        return false;
    const char *file = kept + DIGEST_DIGITS + 1;
    const size_t length = bytes - DIGEST_DIGITS - 1;
    if (strncmp(kept, job_hash(job->arena, file, length), DIGEST_DIGITS) != 0)
        return false;
    out->bytes = arena_copy(arena, file, length);
    out->length = length;
    out->from_cache = true;
    return true;
}

static void entry_keep(struct compile_job *job, const char *path, const struct assembled *made) {
    char *entry = arena_alloc(job->arena, made->length + DIGEST_DIGITS + 1);
    memcpy(entry, job_hash(job->arena, (const char *)made->bytes, made->length), DIGEST_DIGITS);
    entry[DIGEST_DIGITS] = '\n';
    memcpy(entry + DIGEST_DIGITS + 1, made->bytes, made->length);
    file_write_private(path, entry, made->length + DIGEST_DIGITS + 1); /* a cache that cannot be written is no error */
}

/* ---- the assembler ---- */

static void add_flags(struct compile_job *job, const struct assemble_options *options) {
    enum { REGISTERS_MOST = 255, REGISTERS_LEAST = 16 };
    struct arena *arena = job->arena;
    unsigned registers = options->registers && options->registers < REGISTERS_MOST ? options->registers : 0;
    if (registers && registers < REGISTERS_LEAST)
        registers = REGISTERS_LEAST; /* it takes no fewer */
    command_line_add(arena, &job->flags, arena_printf(arena, "-arch=sm_%u", options->sm));
    command_line_add(arena, &job->flags, "-lineinfo");
    if (registers)
        command_line_add(arena, &job->flags, arena_printf(arena, "--maxrregcount=%u", registers));
}

/* Heddle's stand-in for the assembler hands PTX through: that is no native code. */
static bool is_native(const char *bytes, size_t length) { return length > 4 && memcmp(bytes, "\177ELF", 4) == 0; }

/* clang puts labels of its debug information between the words of a call, where the assembler takes none. Nothing leads to them; lines keep their numbers. */
static char *without_labels(struct compile_job *job) {
    static const char label[] = "$L__tmp";
    char *text = arena_strndup(job->arena, job->text, job->text_bytes);
    for (char *line = text; *line; line += *line == '\n') {
        const size_t length = strcspn(line, "\n"), digits = sizeof label - 1;
        if (strncmp(line, label, digits) == 0 && length > digits + 1 &&
            strspn(line + digits, "0123456789") == length - digits - 1 && line[length - 1] == ':')
            memset(line, ' ', length);
        line += length;
    }
    return text;
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.'; }

/* OpenCL's printf is handed a format and its arguments as CUDA's vprintf is, which is the name that the assembler knows. Strings,
 * the names of files, stay. */
static const char *with_vprintf(struct compile_job *job, const char *text) {
    static const char name[] = "printf";
    const size_t length = sizeof name - 1;
    size_t count = 0;
    for (const char *at = strstr(text, name); at; at = strstr(at + length, name))
        count++;
    if (!count)
        return text;
    char *out = arena_alloc(job->arena, strlen(text) + count + 1), *end = out;
    bool quoted = false;
    for (const char *at = text; *at; at++) {
        quoted ^= *at == '"';
        const bool begins = at == text || !is_of_name(at[-1]);
        if (!quoted && begins && strncmp(at, name, length) == 0 && !is_of_name(at[length]))
            *end++ = 'v';
        *end++ = *at;
    }
    *end = '\0';
    return out;
}

static enum status run(struct compile_job *job, struct arena *arena, struct assembled *out) {
    const char *source = arena_printf(job->arena, "%s/%s", job->temporary, job->name);
    const char *result = arena_printf(job->arena, "%s/.heddle.cubin", job->temporary);
    struct command_line line = {0};
    const char *text = with_vprintf(job, without_labels(job));
    if (!file_write_private(source, text, strlen(text)))
        return report_add(job->report, STATUS_SYSTEM, "%s: %s", source, strerror(errno));
    command_line_add(job->arena, &line, job->tools.ptxas);
    command_line_add_all(job->arena, &line, job->flags.items, job->flags.count);
    command_line_add(job->arena, &line, source);
    command_line_add(job->arena, &line, "-o");
    command_line_add(job->arena, &line, result);
    const enum status status = job_step(job, &line, false);
    if (status != STATUS_OK)
        return status;
    size_t length = 0;
    const char *bytes = file_try_read(job->arena, result, &length);
    if (!bytes)
        return report_add(job->report, STATUS_SYSTEM, "%s: %s", result, strerror(errno));
    if (!is_native(bytes, length))
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: what %s wrote is no native code; set HEDDLE_PTXAS to the ptxas of a CUDA toolkit",
                          job->name, job->tools.ptxas);
    out->bytes = arena_copy(arena, bytes, length);
    out->length = length;
    return STATUS_OK;
}

static enum status assemble(struct compile_job *job, const struct assemble_options *options, struct arena *arena,
                            struct assembled *out) {
    compile_find_tools(job->arena, &job->tools);
    if (!job->tools.ptxas)
        return report_add(job->report, STATUS_SYSTEM,
                          "%s: isa: sm_%u needs NVIDIA's assembler ptxas, and none was found on PATH or in "
                          "/usr/local/cuda/bin; install a CUDA toolkit or set HEDDLE_PTXAS, or assemble elsewhere and "
                          "use the .cubin file",
                          job->name, options->sm);
    add_flags(job, options);
    const char *entry = job->tools.cache && !options->no_cache ? entry_path(job) : NULL;
    if (entry && entry_take(job, entry, arena, out))
        return STATUS_OK;
    job->temporary = folder_make_temporary(job->arena);
    if (!job->temporary)
        return report_add(job->report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
    const enum status status = run(job, arena, out);
    if (status == STATUS_OK && entry)
        entry_keep(job, entry, out);
    return status;
}

enum status compile_assemble(const struct compile_source *ptx, const struct assemble_options *options,
                             struct arena *arena, struct assembled *out, struct report *report) {
    static const struct compile_options none;
    struct arena scratch = {.escape = arena->escape};
    struct compile_job job = {.arena = &scratch,
                              .options = &none,
                              .folder = "/",
                              .given = "",
                              .name = file_name(ptx->name),
                              .text = ptx->text,
                              .text_bytes = ptx->bytes,
                              .report = report};
    *out = (struct assembled){.length = 0};
    const enum status status = assemble(&job, options, arena, out);
    job_tell_end(&job);
    if (job.temporary)
        folder_remove(&scratch, job.temporary);
    arena_free(&scratch);
    return status;
}
