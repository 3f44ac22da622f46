/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are called. OpenCL C lets a kernel call another one as a function; PTX knows no call of an .entry. The body
 * of such a kernel becomes a function, which keeps its lines, and the kernel calls it as its callers do. */
#include "compile/repair.h"
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define BODY_PREFIX "__heddle_kernel_"

/* "define dso_local spir_kernel void @f(i32 noundef %0) local_unnamed_addr #0 !dbg !11 !kernel_arg_name !12 {" */
struct kernel_line {
    const char *name, *params, *tail; /* "f", "(i32 noundef %0)", " local_unnamed_addr #0 !dbg ... {" */
    size_t name_length, params_length, tail_length;
};

struct kernel_lines {
    struct kernel_line *items;
    unsigned count, capacity;
};

static bool is_name_character(char c) { return isalnum((unsigned char)c) || (c && strchr("-$._", c)); }

static bool kernel_line_read(const char *line, size_t length, struct kernel_line *out) {
    static const char word[] = " spir_kernel void @";
    const char *end = line + length, *at = memmem(line, length, word, sizeof word - 1);
    if (strncmp(line, "define ", 7) != 0 || !at)
        return false;
    out->name = at + sizeof word - 1;
    while (is_name_character(out->name[out->name_length]))
        out->name_length++;
    out->params = out->name + out->name_length;
    unsigned depth = 0;
    for (const char *p = out->params; p < end; p++) { /* "align(8)" and "byval(%struct.s)" have parentheses too */
        depth += *p == '(';
        depth -= *p == ')';
        if (depth == 0) {
            out->tail = p + 1;
            out->params_length = (size_t)(out->tail - out->params);
            out->tail_length = (size_t)(end - out->tail);
            return out->params_length > 0;
        }
    }
    return false;
}

/* The kernel that the line calls, or NULL; *at is where its name begins. */
static const struct kernel_line *called(const struct kernel_lines *kernels, const char *line, size_t length,
                                        const char **at) {
    const char *call = memmem(line, length, "call ", 5);
    const char *name = call ? memchr(call, '@', length - (size_t)(call - line)) : NULL;
    size_t name_length = 0;
    if (!name || line[0] != ' ')
        return NULL;
    for (*at = ++name; is_name_character(name[name_length]); name_length++)
        ;
    for (unsigned i = 0; name[name_length] == '(' && i < kernels->count; i++)
        if (kernels->items[i].name_length == name_length && memcmp(kernels->items[i].name, name, name_length) == 0)
            return &kernels->items[i];
    return NULL;
}

static const char *line_after(const char *line, size_t *length) {
    *length = strcspn(line, "\n");
    return line + *length + (line[*length] == '\n');
}

/* The kernels of `all` that some line calls, once each. */
static struct kernel_lines calls_find(struct arena *arena, const char *ir, const struct kernel_lines *all) {
    struct kernel_lines found = {0};
    size_t length;
    const char *at;
    for (const char *line = ir, *next; *line; line = next) {
        next = line_after(line, &length);
        const struct kernel_line *kernel = called(all, line, length, &at);
        if (kernel && !called(&found, line, length, &at))
            *ARENA_PUSH(arena, &found) = *kernel;
    }
    return found;
}

static struct kernel_lines kernels_find(struct arena *arena, const char *ir) {
    struct kernel_lines all = {0};
    size_t length;
    for (const char *line = ir, *next; *line; line = next) {
        struct kernel_line kernel = {0};
        next = line_after(line, &length);
        if (kernel_line_read(line, length, &kernel))
            *ARENA_PUSH(arena, &all) = kernel;
    }
    return all;
}

static void add(struct arena *arena, struct repair_text *out, const char *text) {
    repair_text_add(arena, out, text, strlen(text));
}

/* The head of the function with the kernel's body: it has the kernel's lines, but not what is said of its arguments. */
static void body_begin(struct arena *arena, struct repair_text *out, const struct kernel_line *kernel) {
    const char *tail = arena_strndup(arena, kernel->tail, kernel->tail_length);
    const char *about = strstr(tail, " !kernel_arg_"), *lines = strstr(tail, " !dbg ");
    const size_t kept = about ? (size_t)(about - tail) : kernel->tail_length - 2; /* without " {" */
    add(arena, out,
        arena_printf(arena, "define internal void @" BODY_PREFIX "%.*s%.*s%.*s", (int)kernel->name_length, kernel->name,
                     (int)kernel->params_length, kernel->params, (int)kept, tail));
    if (lines && (size_t)(lines - tail) >= kept)
        add(arena, out, arena_strndup(arena, lines, 6 + strcspn(lines + 6, " ")));
    add(arena, out, " {\n");
}

/* The kernel itself, which has no lines of its own. */
static void kernel_add(struct arena *arena, struct repair_text *out, const struct kernel_line *kernel) {
    const char *tail = arena_strndup(arena, kernel->tail, kernel->tail_length), *lines = strstr(tail, " !dbg ");
    const size_t before = lines ? (size_t)(lines - tail) : kernel->tail_length;
    const char *after = lines ? lines + 6 + strcspn(lines + 6, " ") : "";
    const int name = (int)kernel->name_length, params = (int)kernel->params_length;
    add(arena, out,
        arena_printf(arena,
                     "\ndefine dso_local spir_kernel void @%.*s%.*s%.*s%s\n"
                     "  call void @" BODY_PREFIX "%.*s%.*s\n"
                     "  ret void\n}\n",
                     name, kernel->name, params, kernel->params, (int)before, tail, after, name, kernel->name, params,
                     kernel->params));
}

static void call_add(struct arena *arena, struct repair_text *out, const char *line, const char *name,
                     const char *next) {
    static const char convention[] = "spir_kernel ";
    const char *head = arena_strndup(arena, line, (size_t)(name - line)), *word = strstr(head, convention);
    repair_text_add(arena, out, head, word ? (size_t)(word - head) : strlen(head));
    if (word)
        add(arena, out, word + sizeof convention - 1);
    add(arena, out, BODY_PREFIX);
    repair_text_add(arena, out, name, (size_t)(next - name));
}

const char *repair_kernel_calls(struct arena *arena, const char *ir) {
    const struct kernel_lines all = kernels_find(arena, ir), kernels = calls_find(arena, ir, &all);
    if (kernels.count == 0)
        return ir;
    struct repair_text out = {0};
    struct kernel_line kernel = {0};
    bool is_body = false;
    size_t length;
    for (const char *line = ir, *next; *line; line = next) {
        const char *name = NULL;
        struct kernel_line read = {0};
        next = line_after(line, &length);
        if (kernel_line_read(line, length, &read)) {
            is_body = false;
            for (unsigned i = 0; i < kernels.count; i++)
                is_body |= kernels.items[i].name == read.name;
            kernel = read;
        }
        if (is_body && kernel.name == read.name)
            body_begin(arena, &out, &kernel);
        else if (called(&kernels, line, length, &name))
            call_add(arena, &out, line, name, next);
        else
            repair_text_add(arena, &out, line, (size_t)(next - line));
        if (is_body && line[0] == '}') {
            kernel_add(arena, &out, &kernel);
            is_body = false;
        }
    }
    repair_text_add(arena, &out, "", 1);
    return out.items;
}
