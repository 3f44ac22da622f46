/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/join.h"

#include <ctype.h>
#include <string.h>

/* What is said once for a module stands at the top of each of them. */
static bool is_header(const char *line) {
    static const char *const words[] = {".version", ".target", ".address_size"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

static bool is_of_name(char letter) { return isalnum((unsigned char)letter) || letter == '_' || letter == '$'; }

/* A later file: without its header, and with names of its own where compilers give them only for the file, as $str: these begin
 * with $, and get the file's number. Returns where the text ends now; the room is twice the text's at least. */
static char *add_file(char *to, const char *text, unsigned number) {
    const char tag[] = {'$', (char)('0' + number / 100 % 10), (char)('0' + number / 10 % 10),
                        (char)('0' + number % 10)};
    bool in_string = false;
    for (const char *at = text; *at; at++) {
        const bool begins_line = at == text || at[-1] == '\n';
        if (begins_line && is_header(at)) {
            at += strcspn(at, "\n");
            if (!*at)
                break;
        }
        in_string ^= *at == '"';
        if (*at == '$' && !in_string && !(at > text && is_of_name(at[-1]))) {
            memcpy(to, tag, sizeof tag);
            to += sizeof tag;
        }
        *to++ = *at;
    }
    *to = 0;
    return to;
}

enum status join_add(struct fatbin *out, unsigned number, const struct fatbin *next, struct arena *arena,
                     struct report *report) {
    enum { FILES_MAX = 999, ROOM_TIMES = 5 }; /* a text of $ alone becomes five times as long */
    if (number >= FILES_MAX)
        return report_add(report, STATUS_INVALID, "more than %d files of device code are linked", FILES_MAX);
    if (number == 0) {
        *out = *next;
        return STATUS_OK;
    }
    char *text = arena_alloc_unset(arena, out->bytes + ROOM_TIMES * next->bytes + 2);
    memcpy(text, out->ptx, out->bytes);
    text[out->bytes] = '\n';
    const char *end = add_file(text + out->bytes + 1, next->ptx, number);
    *out = (struct fatbin){.ptx = text,
                           .bytes = (size_t)(end - text),
                           .arch = next->arch > out->arch ? next->arch : out->arch};
    return STATUS_OK;
}

enum status join_fatbins(const void *const *fatbins, struct arena *arena, struct fatbin *out, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && fatbins[i]; i++) {
        struct fatbin next = {0};
        status = fatbin_read(fatbins[i], fatbin_bytes(fatbins[i]), arena, &next, report);
        if (!status)
            status = join_add(out, i, &next, arena, report);
    }
    return status;
}
