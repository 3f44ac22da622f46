/* SPDX-License-Identifier: Apache-2.0 */
/* A name for a program that comes without one: that of its first kernel. */
#include "compile/job.h"
#include <ctype.h>
#include <string.h>

enum { NAME_MAX_CHARACTERS = 64 };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *after_literal(const char *p) {
    const char quote = *p++;
    while (*p && *p != quote && *p != '\n')
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p == quote ? p + 1 : p;
}

/* Behind comments, literals, directives and single characters; at a word or at the end. */
static const char *next_word(const char *p) {
    while (*p && !is_word(*p)) {
        const char *end = NULL;
        if (strncmp(p, "/*", 2) == 0) {
            end = strstr(p + 2, "*/");
            p = end ? end + 2 : p + strlen(p);
        } else if (strncmp(p, "//", 2) == 0 || *p == '#') {
            do
                p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n');
            while (*p && p[-2] == '\\');
        } else {
            p = *p == '"' || *p == '\'' ? after_literal(p) : p + 1;
        }
    }
    return p;
}

static const char *after_parentheses(const char *p) {
    unsigned depth = 0;
    for (; *p; p++) {
        depth += *p == '(';
        depth -= depth && *p == ')';
        if (depth == 0 && *p == ')')
            return p + 1;
    }
    return p;
}

const char *job_first_kernel(struct arena *arena, const char *text) {
    static const char *const marks[] = {"kernel", "__kernel", "__global__"};
    bool is_kernel = false;
    for (const char *word = next_word(text), *end; *word; word = next_word(end)) {
        for (end = word; is_word(*end); end++)
            ;
        const size_t length = (size_t)(end - word);
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            is_kernel |= length == strlen(marks[i]) && strncmp(word, marks[i], length) == 0;
        if (!is_kernel || end[strspn(end, " \t\r\n")] != '(')
            continue;
        const bool is_attribute = (length == 13 && strncmp(word, "__attribute__", 13) == 0) ||
                                  (length == 17 && strncmp(word, "__launch_bounds__", 17) == 0);
        if (!is_attribute)
            return isdigit((unsigned char)*word) || length > NAME_MAX_CHARACTERS ? NULL
                                                                                 : arena_strndup(arena, word, length);
        end = after_parentheses(end);
    }
    return NULL;
}
