/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/metadata.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Metadata nodes are lines "!12 = !{...}"; a kernel's definition line refers to them by number:
 *   define dso_local spir_kernel void @k(...) ... !kernel_arg_name !17 !reqd_work_group_size !18 {  */
static const char *const node_kinds[] = {
    "kernel_arg_addr_space", "kernel_arg_access_qual", "kernel_arg_type",
    "kernel_arg_base_type",  "kernel_arg_type_qual",   "kernel_arg_name",
    "reqd_work_group_size",  "work_group_size_hint",   "vec_type_hint",
};
enum {
    KIND_SPACE,
    KIND_ACCESS,
    KIND_TYPE,
    KIND_BASE_TYPE,
    KIND_QUALIFIER,
    KIND_NAME,
    KIND_REQD,
    KIND_HINT,
    KIND_VECTOR,
    KINDS
};

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

static size_t line_length(const char *line) { return strcspn(line, "\n"); }

static bool is_kernel_line(const char *line) {
    if (strncmp(line, "define ", 7) != 0)
        return false;
    const char *mark = memmem(line, line_length(line), "spir_kernel ", 12);
    const char *at = memchr(line, '@', line_length(line));
    return mark && at && mark < at;
}

/* The number in " !kind !N" on the line, or -1. */
static long reference(const char *line, const char *kind) {
    size_t length = strlen(kind);
    const char *end = line + line_length(line);
    for (const char *at = line; (at = memmem(at, (size_t)(end - at), kind, length)); at += length)
        if (at > line && at[-1] == '!' && at[length] == ' ' && at[length + 1] == '!' &&
            isdigit((unsigned char)at[length + 2]))
            return strtol(at + length + 2, NULL, 10);
    return -1;
}

/* The text after "!N = " or NULL. */
static const char *node_find(const char *ir, long number) {
    for (const char *line = ir; *line; line = next_line(line)) {
        if (line[0] != '!' || !isdigit((unsigned char)line[1]))
            continue;
        char *end;
        if (strtol(line + 1, &end, 10) == number && strncmp(end, " = ", 3) == 0)
            return end + 3;
    }
    return NULL;
}

struct metadata_text {
    char *items;
    unsigned count, capacity;
};

static void text_add(struct arena *arena, struct metadata_text *text, const char *more, size_t length) {
    for (size_t i = 0; i < length; i++)
        *ARENA_PUSH(arena, text) = more[i];
}

char *metadata_extract(struct arena *arena, const char *ir) {
    struct metadata_text out = {0};
    for (const char *line = ir; *line; line = next_line(line)) {
        if (!is_kernel_line(line))
            continue;
        text_add(arena, &out, line, line_length(line));
        text_add(arena, &out, "\n", 1);
        for (int kind = 0; kind < KINDS; kind++) {
            long number = reference(line, node_kinds[kind]);
            const char *node = number >= 0 ? node_find(ir, number) : NULL;
            if (!node)
                continue;
            const char *head = arena_printf(arena, "!%ld = ", number);
            text_add(arena, &out, head, strlen(head));
            text_add(arena, &out, node, line_length(node));
            text_add(arena, &out, "\n", 1);
        }
    }
    text_add(arena, &out, "", 1);
    return out.items;
}

static unsigned hex_digit(char c) {
    return (unsigned)(isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10);
}

/* Reads the next item of "!{!"text", i32 5}" at *at as text; false at the end. */
static bool item_next(struct arena *arena, const char **at, const char **out) {
    const char *p = *at;
    while (*p && *p != '\n' && *p != '}' && (*p == ',' || *p == ' ' || *p == '{' || (*p == '!' && p[1] == '{')))
        p++;
    if (!*p || *p == '\n' || *p == '}')
        return false;
    struct metadata_text text = {0};
    if (*p == '!' && p[1] == '"') {
        for (p += 2; *p && *p != '\n' && *p != '"'; p++) {
            char c = *p;
            if (c == '\\' && isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])) {
                c = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
                p += 2;
            }
            text_add(arena, &text, &c, 1);
        }
        if (*p == '"')
            p++;
    } else {
        size_t length = strcspn(p, ",}\n");
        text_add(arena, &text, p, length);
        p += length;
    }
    text_add(arena, &text, "", 1);
    *out = text.items;
    *at = p;
    return true;
}

static unsigned items_read(struct arena *arena, const char *node, const char **items, unsigned capacity) {
    unsigned count = 0;
    const char *item;
    while (count < capacity && item_next(arena, &node, &item))
        items[count++] = item;
    return count;
}

static unsigned long item_number(const char *item) {
    const char *digits = strrchr(item, ' ');
    return strtoul(digits ? digits + 1 : item, NULL, 10);
}

/* Base types are printed in clang's words: "float __attribute__((ext_vector_type(4)))*", "uchar*", "struct p". */
static void element_parse(const char *base, struct compile_arg *arg) {
    static const struct {
        const char *name;
        enum compile_element element;
        unsigned bytes;
    } scalars[] = {
        {"bool", COMPILE_ELEMENT_UNSIGNED, 1},   {"char", COMPILE_ELEMENT_SIGNED, 1},
        {"uchar", COMPILE_ELEMENT_UNSIGNED, 1},  {"short", COMPILE_ELEMENT_SIGNED, 2},
        {"ushort", COMPILE_ELEMENT_UNSIGNED, 2}, {"int", COMPILE_ELEMENT_SIGNED, 4},
        {"uint", COMPILE_ELEMENT_UNSIGNED, 4},   {"long", COMPILE_ELEMENT_SIGNED, 8},
        {"ulong", COMPILE_ELEMENT_UNSIGNED, 8},  {"half", COMPILE_ELEMENT_FLOAT, 2},
        {"float", COMPILE_ELEMENT_FLOAT, 4},     {"double", COMPILE_ELEMENT_FLOAT, 8},
    };
    const char *star = strchr(base, '*');
    arg->is_pointer = star != NULL;
    arg->components = 1;
    if (star && strchr(star + 1, '*'))
        return; /* a pointer to pointers */
    if (strncmp(base, "_Atomic(", 8) == 0)
        base += 8;
    size_t length = 0;
    while (isalnum((unsigned char)base[length]) || base[length] == '_')
        length++;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        if (length == strlen(scalars[i].name) && strncmp(base, scalars[i].name, length) == 0) {
            arg->element = scalars[i].element;
            arg->element_bytes = scalars[i].bytes;
        }
    const char *vector = strstr(base, "ext_vector_type(");
    if (vector && arg->element_bytes)
        arg->components = (unsigned)strtoul(vector + strlen("ext_vector_type("), NULL, 10);
}

static bool has_word(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

static enum compile_space space_of(unsigned long number) {
    static const enum compile_space spaces[] = {COMPILE_PRIVATE, COMPILE_GLOBAL, COMPILE_CONSTANT, COMPILE_LOCAL};
    return number < 4 ? spaces[number] : COMPILE_GLOBAL;
}

static enum compile_access access_of(const char *word) {
    if (strcmp(word, "read_only") == 0)
        return COMPILE_READ_ONLY;
    if (strcmp(word, "write_only") == 0)
        return COMPILE_WRITE_ONLY;
    return strcmp(word, "read_write") == 0 ? COMPILE_READ_WRITE : COMPILE_ACCESS_NONE;
}

enum { ARGUMENTS_MAX = 1024 }; /* 4 KiB of parameters */

static void arguments_parse(struct arena *arena, const char *const nodes[KINDS], struct compile_kernel *kernel) {
    const char **items[KIND_NAME + 1];
    unsigned counts[KIND_NAME + 1];
    for (int kind = 0; kind <= KIND_NAME; kind++) {
        items[kind] = ARENA_ARRAY(arena, const char *, ARGUMENTS_MAX);
        counts[kind] = nodes[kind] ? items_read(arena, nodes[kind], items[kind], ARGUMENTS_MAX) : 0;
    }
    kernel->arg_count = counts[KIND_SPACE];
    kernel->has_arg_info = nodes[KIND_SPACE] != NULL;
    kernel->args = ARENA_ARRAY(arena, struct compile_arg, kernel->arg_count);
    for (unsigned i = 0; i < kernel->arg_count; i++) {
        struct compile_arg *arg = &kernel->args[i];
        arg->name = i < counts[KIND_NAME] ? items[KIND_NAME][i] : "";
        arg->type_name = i < counts[KIND_TYPE] ? items[KIND_TYPE][i] : "";
        arg->base_type = i < counts[KIND_BASE_TYPE] ? items[KIND_BASE_TYPE][i] : "";
        arg->space = space_of(item_number(items[KIND_SPACE][i]));
        if (i < counts[KIND_ACCESS])
            arg->access = access_of(items[KIND_ACCESS][i]);
        if (i < counts[KIND_BASE_TYPE])
            element_parse(items[KIND_BASE_TYPE][i], arg);
        if (i < counts[KIND_QUALIFIER]) {
            arg->is_const = has_word(items[KIND_QUALIFIER][i], "const");
            arg->is_volatile = has_word(items[KIND_QUALIFIER][i], "volatile");
            arg->is_restrict = has_word(items[KIND_QUALIFIER][i], "restrict");
        }
    }
}

static void sizes_parse(struct arena *arena, const char *node, uint32_t sizes[3]) {
    const char *items[3];
    unsigned count = node ? items_read(arena, node, items, 3) : 0;
    for (unsigned i = 0; i < count; i++)
        sizes[i] = (uint32_t)item_number(items[i]);
}

/* "float4" of LLVM's "<4 x float> undef", and whether whole numbers are signed. */
static const char *hint_type(struct arena *arena, const char *node) {
    static const char *const names[][2] = {{"i8", "char"},   {"i16", "short"},   {"i32", "int"},      {"i64", "long"},
                                           {"half", "half"}, {"float", "float"}, {"double", "double"}};
    const char *items[2];
    if (items_read(arena, node, items, 2) != 2)
        return NULL;
    char *end = NULL;
    const bool is_vector = items[0][0] == '<';
    const unsigned long count = is_vector ? strtoul(items[0] + 1, &end, 10) : 1;
    if (is_vector && strncmp(end, " x ", 3) != 0)
        return NULL;
    const char *type = is_vector ? end + 3 : items[0];
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i][0]);
        if (strncmp(type, names[i][0], length) != 0 || (type[length] != ' ' && type[length] != '>'))
            continue;
        const char *sign = type[0] == 'i' && item_number(items[1]) == 0 ? "u" : "";
        return is_vector ? arena_printf(arena, "%s%s%lu", sign, names[i][1], count)
                         : arena_printf(arena, "%s%s", sign, names[i][1]);
    }
    return NULL;
}

struct kernels {
    struct compile_kernel *items;
    unsigned count, capacity;
};

void metadata_parse(struct arena *arena, const char *ir, struct compiled *out) {
    struct kernels kernels = {0};
    for (const char *line = ir; *line; line = next_line(line)) {
        if (!is_kernel_line(line))
            continue;
        const char *name = strchr(line, '@') + 1;
        struct compile_kernel *kernel = ARENA_PUSH(arena, &kernels);
        kernel->name = arena_strndup(arena, name, strcspn(name, "("));
        const char *nodes[KINDS];
        for (int kind = 0; kind < KINDS; kind++) {
            long number = reference(line, node_kinds[kind]);
            nodes[kind] = number >= 0 ? node_find(ir, number) : NULL;
        }
        arguments_parse(arena, nodes, kernel);
        sizes_parse(arena, nodes[KIND_REQD], kernel->reqd_work_group_size);
        sizes_parse(arena, nodes[KIND_HINT], kernel->work_group_size_hint);
        if (nodes[KIND_VECTOR])
            kernel->vec_type_hint = hint_type(arena, nodes[KIND_VECTOR]);
    }
    out->kernels = kernels.items;
    out->kernel_count = kernels.count;
}

void metadata_from_ptx(struct arena *arena, const char *ptx, struct compiled *out) {
    struct kernels kernels = {0};
    for (const char *line = ptx; *line; line = next_line(line)) {
        const char *entry = memmem(line, line_length(line), ".entry", 6);
        const char *comment = memmem(line, line_length(line), "//", 2);
        if (!entry || (comment && comment < entry))
            continue;
        entry += 6;
        entry += strspn(entry, " \t");
        size_t length = 0;
        while (isalnum((unsigned char)entry[length]) || entry[length] == '_' || entry[length] == '$')
            length++;
        if (!length)
            continue;
        struct compile_kernel *kernel = ARENA_PUSH(arena, &kernels);
        kernel->name = arena_strndup(arena, entry, length);
    }
    out->kernels = kernels.items;
    out->kernel_count = kernels.count;
}
