/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM 19's NVPTX back end loses the second element of a "<2 x i8>" that a call passes or returns, or ends with an error.
 * An i16 of the same bits goes through calls in its place. */
#include <stdbool.h>
#include <string.h>

#include "compile/repair.h"

#define PAIR "<2 x i8>"
enum { PAIR_LENGTH = sizeof PAIR - 1 };

struct pairs {
    struct arena *arena;
    unsigned number;   /* keeps names apart */
    const char *entry; /* lines for the start of the function that is being read; NULL: they are written */
    unsigned unnamed;  /* parameters of it that have numbers; the block at its start has the next */
    bool is_labelled;  /* it has a label in the text */
    struct {
        struct parameter {
            const char *before, *after; /* names: "%0", "%heddle.p3" */
        } * items;
        unsigned count, capacity;
    } parameters; /* of that function, pairs only */
};

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("._$-", c));
}

/* The bracket that closes the one at `open`, NULL: none. */
static const char *closing(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; at++) {
        depth += strchr("([{<", *at) != NULL;
        depth -= strchr(")]}>", *at) != NULL;
        if (depth == 0)
            return at;
    }
    return NULL;
}

/* Where the comma or the end behind an argument is. */
static const char *argument_end(const char *at, const char *end) {
    for (; at < end && *at != ','; at++)
        if (strchr("([{<", *at) && closing(at))
            at = closing(at);
    return at < end ? at : end;
}

/* Behind the type and attributes of "<2 x i8> noundef %4": its value. */
static const char *argument_value(const char *at, const char *end) {
    at += PAIR_LENGTH;
    while (at < end) {
        at += strspn(at, " ");
        const size_t length = strcspn(at, " ,)");
        const bool is_word = length > 0 && (strncmp(at, "zeroinitializer", length) == 0 ||
                                            strncmp(at, "poison", length) == 0 || strncmp(at, "undef", length) == 0);
        if (*at == '%' || *at == '<' || is_word)
            break;
        at += length ? length : 1;
    }
    return at;
}

/* The list between `open` and `close`: in a call every pair becomes an i16 made before it, in a definition one that is
 * taken apart at the function's start, in a declaration a type. `before` gets the lines in front. */
enum list_kind { LIST_CALL, LIST_DEFINITION, LIST_DECLARATION };
static const char *list_rewrite(struct pairs *p, enum list_kind kind, const char *open, const char *close,
                                const char **before) {
    const char *out = "";
    for (const char *at = open + 1; at < close;) {
        const char *end = argument_end(at, close);
        const char *start = at + strspn(at, " "), *comma = end < close ? "," : "";
        const char *last = memrchr(at, '%', (size_t)(end - at));
        p->unnamed += last && last[1] >= '0' && last[1] <= '9';
        if (strncmp(start, PAIR, PAIR_LENGTH) != 0) {
            out = arena_printf(p->arena, "%s%.*s%s", out, (int)(end - at), at, comma);
        } else if (kind == LIST_DECLARATION) {
            out = arena_printf(p->arena, "%s i16%s", out, comma);
        } else {
            const char *from = argument_value(start, end);
            const char *value = arena_strndup(p->arena, from, (size_t)(end - from));
            const char *name = arena_printf(p->arena, "%%heddle.p%u", p->number++);
            if (kind == LIST_CALL) {
                *before = arena_printf(p->arena, "%s  %s = bitcast " PAIR " %s to i16\n", *before, name, value);
            } else {
                const char *after = arena_printf(p->arena, "%s.pair", name);
                *before = arena_printf(p->arena, "%s  %s = bitcast i16 %s to " PAIR "\n", *before, after, name);
                *ARENA_PUSH(p->arena, &p->parameters) = (struct parameter){value, after};
            }
            out = arena_printf(p->arena, "%s i16 %s%s", out, name, comma);
        }
        at = end + (end < close);
    }
    return out;
}

/* A line with names of parameters said anew. */
static const char *names_rewrite(struct pairs *p, const char *line) {
    for (unsigned i = 0; i < p->parameters.count; i++) {
        const struct parameter *parameter = &p->parameters.items[i];
        const size_t length = strlen(parameter->before);
        for (const char *at = line; (at = strstr(at, parameter->before));) {
            const size_t offset = (size_t)(at - line);
            if (is_name(at[length])) {
                at += length;
                continue;
            }
            line = arena_printf(p->arena, "%.*s%s%s", (int)offset, line, parameter->after, at + length);
            at = line + offset + strlen(parameter->after);
        }
    }
    return line;
}

/* The callee or defined function's name, with its '@', and whether what stands in front of it is a pair. */
static const char *name_find(const char *from, bool *is_pair) {
    const char *at = strchr(from, '@');
    for (const char *open = from; at && (open = strpbrk(open, "([{<")) && open < at; open++)
        if (!(open = closing(open)) || open > at)
            return NULL; /* among the arguments of a call through a pointer */
    *is_pair = at && at - from > PAIR_LENGTH && strncmp(at - PAIR_LENGTH - 1, PAIR " ", PAIR_LENGTH + 1) == 0;
    return at && strncmp(at, "@llvm.", 6) != 0 ? at : NULL;
}

/* What stands in front of a pair that is returned, without the range of its elements, which is none of an i16's. */
static const char *head_rewrite(struct pairs *p, const char *from, const char *to) {
    static const char word[] = "range(";
    const char *head = arena_strndup(p->arena, from, (size_t)(to - from)), *range = strstr(head, word);
    const char *close = range ? closing(range + sizeof word - 2) : NULL;
    return close ? arena_printf(p->arena, "%.*s%s", (int)(range - head), head, close + 1 + strspn(close + 1, " "))
                 : head;
}

static const char *header_rewrite(struct pairs *p, const char *line) {
    bool is_pair;
    const char *name = name_find(line, &is_pair), *open = name ? strchr(name, '(') : NULL;
    const char *close = open ? closing(open) : NULL;
    p->parameters.count = 0, p->unnamed = 0;
    p->entry = NULL, p->is_labelled = false;
    if (!close)
        return line;
    const bool is_definition = strncmp(line, "define ", 7) == 0;
    const char *entry = "";
    const char *list = list_rewrite(p, is_definition ? LIST_DEFINITION : LIST_DECLARATION, open, close, &entry);
    if (*entry)
        p->entry = entry;
    if (!is_pair)
        return arena_printf(p->arena, "%.*s(%s%s", (int)(open - line), line, list, close);
    return arena_printf(p->arena, "%si16 %.*s(%s%s", head_rewrite(p, line, name - PAIR_LENGTH - 1), (int)(open - name),
                        name, list, close);
}

static const char *call_rewrite(struct pairs *p, const char *line) {
    const char *call = strstr(line, "call "), *equal = strstr(line, " = ");
    bool is_pair;
    if (!call || strstr(call, " asm "))
        return line;
    const char *name = name_find(call, &is_pair), *open = name ? strchr(name, '(') : NULL;
    const char *close = open ? closing(open) : NULL, *before = "";
    if (!close)
        return line;
    const char *list = list_rewrite(p, LIST_CALL, open, close, &before);
    if (!is_pair || !equal || equal > call)
        return arena_printf(p->arena, "%s%.*s(%s%s", before, (int)(open - line), line, list, close);
    const char *got = arena_printf(p->arena, "%%heddle.p%u", p->number++);
    return arena_printf(p->arena, "%s  %s%si16 %.*s(%s%s\n%.*s = bitcast i16 %s to " PAIR, before, got,
                        head_rewrite(p, equal, name - PAIR_LENGTH - 1), (int)(open - name), name, list, close,
                        (int)(equal - line), line, got);
}

static const char *return_rewrite(struct pairs *p, const char *line) {
    static const char word[] = "  ret " PAIR " ";
    if (strncmp(line, word, sizeof word - 1) != 0)
        return line;
    const char *value = line + sizeof word - 1, *end = argument_end(value, value + strlen(value));
    const unsigned number = p->number++;
    return arena_printf(p->arena, "  %%heddle.p%u = bitcast " PAIR " %.*s to i16\n  ret i16 %%heddle.p%u%s", number,
                        (int)(end - value), value, number, end);
}

static const char *line_rewrite(struct pairs *p, const char *line) {
    if (strncmp(line, "define ", 7) == 0 || strncmp(line, "declare ", 8) == 0)
        return header_rewrite(p, line);
    const char *entry = "";
    if (p->entry && strncmp(line, "  ", 2) == 0) { /* behind a label; without one its number would be another now */
        entry = p->is_labelled ? p->entry : arena_printf(p->arena, "%u:\n%s", p->unnamed, p->entry);
        p->entry = NULL;
    }
    p->is_labelled = true;
    const char *renamed = names_rewrite(p, line);
    const char *out = strstr(renamed, PAIR) ? return_rewrite(p, call_rewrite(p, renamed)) : renamed;
    return *entry ? arena_printf(p->arena, "%s%s", entry, out) : out;
}

const char *repair_pairs(struct arena *arena, const char *ir) {
    if (!strstr(ir, PAIR))
        return ir;
    struct pairs p = {.arena = arena};
    struct repair_text out = {0};
    const char *copied = ir;
    for (const char *line = ir; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *next = line + length + (line[length] == '\n');
        if (p.parameters.count || memmem(line, length, PAIR, PAIR_LENGTH) || strncmp(line, "define ", 7) == 0) {
            const char *was = arena_strndup(arena, line, length), *now = line_rewrite(&p, was);
            if (strcmp(was, now) != 0) {
                repair_text_add(arena, &out, copied, (size_t)(line - copied));
                repair_text_add(arena, &out, now, strlen(now));
                copied = line + length;
            }
        }
        line = next;
    }
    if (copied == ir)
        return ir;
    repair_text_add(arena, &out, copied, strlen(copied) + 1);
    return out.items;
}
