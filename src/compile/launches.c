/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/launches.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/status.h"

enum { MOST_FILES = 64, MOST_CONFIGURATION = 4096 }; /* characters of a configuration */

/* ---- text ---- */

/* The end of a string or character that begins at *at, or of a raw string. */
static const char *end_of_quoted(const char *begin, const char *at) {
    const char quote = *at++;
    if (quote == '"' && at - 1 > begin && at[-2] == 'R') {
        const size_t length = strcspn(at, "(");
        for (const char *end = at; (end = strchr(end, ')')); end++)
            if (strncmp(end + 1, at, length) == 0 && end[1 + length] == '"')
                return end + length + 2;
        return at + strlen(at);
    }
    for (; *at && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

/* Behind a comment, a string or a character that begins here; here, if none does. A ' inside of a number is none. */
static const char *past_other(const char *begin, const char *at) {
    if (at[0] == '/' && at[1] == '/')
        return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        const char *end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at == '"' || (*at == '\'' && !(at > begin && isxdigit((unsigned char)at[-1]))))
        return end_of_quoted(begin, at);
    return at;
}

static const char *past_blanks(const char *at) { return at + strspn(at, " \t"); }

/* The length of a mark of three such characters, with blanks before the last at most; 0: there is none. */
static size_t mark(const char *at, char c) {
    if (at[0] != c || at[1] != c)
        return 0;
    const char *last = past_blanks(at + 2);
    return *last == c ? (size_t)(last - at) + 1 : 0;
}

/* operator<< <int>(...) names a function. */
static bool is_operator(const char *begin, const char *at) {
    static const char word[] = "operator";
    const size_t length = sizeof word - 1;
    while (at > begin && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return (size_t)(at - begin) >= length && strncmp(at - length, word, length) == 0;
}

/* The mark that ends a configuration: outside of parentheses, with arguments behind it. NULL: none comes soon. */
static const char *closing(const char *begin, const char *at) {
    const char *first = at;
    unsigned depth = 0;
    while (*at && *at != ';' && *at != '{' && at - first < MOST_CONFIGURATION) {
        const char *next = past_other(begin, at);
        const size_t length = depth ? 0 : mark(at, '>');
        if (length && at[length + strspn(at + length, " \t\r\n")] == '(')
            return at;
        depth += *at == '(' || *at == '[';
        depth -= depth && (*at == ')' || *at == ']');
        at = next > at ? next : at + 1;
    }
    return NULL;
}

static void close_up(char *at, size_t length) {
    const char c = *at;
    memset(at, ' ', length);
    memset(at, c, 3);
}

char *launches_close(struct arena *arena, const char *text) {
    char *copy = NULL;
    for (const char *at = text; *at;) {
        const char *next = past_other(text, at);
        const size_t length = mark(at, '<');
        const char *end = length && next == at && !is_operator(text, at) ? closing(text, at + length) : NULL;
        if (end && (length > 3 || mark(end, '>') > 3)) {
            if (!copy)
                copy = arena_strndup(arena, text, strlen(text));
            close_up(copy + (at - text), length);
            close_up(copy + (end - text), mark(end, '>'));
        }
        at = next > at ? next : at + (length ? length : 1);
    }
    return copy;
}

/* ---- files ---- */

struct overlay {
    struct arena *arena;
    const char *temporary, *entries, *seen[MOST_FILES];
    unsigned number, seen_count, count;
};

/* A path from the root without "." and "..", as clang makes it: it does not look where links lead. */
static char *tidy(struct arena *arena, const char *path) {
    char *out = arena_printf(arena, "%s/", path), *end = out;
    for (const char *part = path; *part;) {
        const size_t length = strcspn(++part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0) {
            while (end > out && *--end != '/')
                ;
        } else if (length && !(length == 1 && *part == '.')) {
            *end++ = '/';
            memmove(end, part, length);
            end += length;
        }
        part += length;
    }
    *end = 0;
    return out;
}

/* clang asks by the path from the folder at hand, under the name that the shell has for it too. */
static void add_entry(struct overlay *o, const char *folder, const char *path, const char *other) {
    const char *whole = tidy(o->arena, *path == '/' ? path : arena_printf(o->arena, "%s/%s", folder, path));
    if (strpbrk(whole, "\"\\\n"))
        return;
    o->entries = arena_printf(o->arena, "%s%s{\"type\":\"file\",\"name\":\"%s\",\"external-contents\":\"%s\"}",
                              o->entries, *o->entries ? ",\n" : "", whole, other);
}

static void add_file(struct overlay *o, const char *path, const char *text) {
    struct report report = {0};
    char folder[4096];
    const char *name = getenv("PWD");
    const char *other = arena_printf(o->arena, "%s/%u.%u.closed", o->temporary, o->number, o->count++);
    if (!getcwd(folder, sizeof folder) || file_write(other, text, strlen(text), &report) != STATUS_OK)
        return; /* clang then says what it does not take */
    add_entry(o, folder, path, other);
    if (*path != '/' && name && *name == '/' && strcmp(name, folder) != 0)
        add_entry(o, name, path, other);
}

static void look(struct overlay *o, const char *path);

/* Files by #include "NAME" that lie where the source is. */
static void look_at_included(struct overlay *o, const char *path, const char *text) {
    const int folder = (int)(file_name(path) - path);
    for (const char *line = text; line; line = (line = strchr(line, '\n')) ? line + 1 : NULL) {
        const char *word = past_blanks(line);
        if (*word != '#')
            continue;
        word = past_blanks(word + 1);
        if (strncmp(word, "include", 7) != 0 || *(word = past_blanks(word + 7)) != '"')
            continue;
        const size_t length = strcspn(++word, "\"\n");
        if (word[length] == '"' && *word != '/')
            look(o, arena_printf(o->arena, "%.*s%.*s", folder, path, (int)length, word));
    }
}

static void look(struct overlay *o, const char *path) {
    for (unsigned i = 0; i < o->seen_count; i++)
        if (strcmp(o->seen[i], path) == 0)
            return;
    const char *text = o->seen_count < MOST_FILES ? file_try_read(o->arena, path, NULL) : NULL;
    if (!text)
        return;
    o->seen[o->seen_count++] = path;
    const char *closed = launches_close(o->arena, text);
    if (closed)
        add_file(o, path, closed);
    look_at_included(o, path, text);
}

const char *launches_overlay(struct arena *arena, const char *source, const char *temporary, unsigned number) {
    struct overlay o = {.arena = arena, .temporary = temporary, .entries = "", .number = number};
    struct report report = {0};
    if (!file_ends_in(source, ".cu"))
        return NULL;
    look(&o, source);
    if (!*o.entries)
        return NULL;
    const char *path = arena_printf(arena, "%s/%u.overlay", temporary, number);
    const char *text = arena_printf(arena,
                                    "{\"version\":0,\"case-sensitive\":\"true\",\"use-external-names\":\"false\","
                                    "\"roots\":[\n%s\n]}\n",
                                    o.entries);
    return file_write(path, text, strlen(text), &report) == STATUS_OK ? path : NULL;
}
