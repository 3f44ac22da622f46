/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/repair.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* LLVM 19 merges "sext <2 x i1> (icmp <2 x i16> a, b) to <2 x i16>", which is what every comparison of two short2 comes
 * to, into one node that its NVPTX back end cannot select (llvm-project pull request 108969, in LLVM 20). The two
 * halves one by one are no node of that kind. */
struct extension {
    const char *result, *kind, *operand, *tail; /* "%5", "sext" or "zext", "%4", the rest of the line: ", !dbg !7" */
    int result_length, operand_length, tail_length;
};

static bool extension_read(const char *line, size_t length, struct extension *out) {
    static const char from[] = " <2 x i1> ", to[] = " to <2 x i16>";
    const char *end = line + length, *equal = memmem(line, length, " = ", 3);
    if (!equal)
        return false;
    out->kind = equal + 3;
    if (end - out->kind < (ptrdiff_t)(4 + sizeof from) ||
        (strncmp(out->kind, "sext", 4) != 0 && strncmp(out->kind, "zext", 4) != 0) ||
        strncmp(out->kind + 4, from, sizeof from - 1) != 0)
        return false;
    out->result = line + strspn(line, " ");
    out->result_length = (int)(equal - out->result);
    out->operand = out->kind + 4 + sizeof from - 1;
    const char *target = memmem(out->operand, (size_t)(end - out->operand), to, sizeof to - 1);
    if (!target || *out->operand != '%')
        return false;
    out->operand_length = (int)(target - out->operand);
    out->tail = target + sizeof to - 1;
    out->tail_length = (int)(end - out->tail);
    return true;
}

/* The six lines that stand for one extension; `number` keeps their names apart. */
static const char *extension_split(struct arena *arena, const struct extension *e, unsigned number) {
    const char *tail = arena_strndup(arena, e->tail, (size_t)e->tail_length);
    const char *operand = arena_strndup(arena, e->operand, (size_t)e->operand_length);
    const char *name = arena_printf(arena, "%%heddle.%u", number);
    const char *halves = "";
    for (unsigned i = 0; i < 2; i++)
        halves = arena_printf(
            arena, "%s  %s.bit%u = extractelement <2 x i1> %s, i64 %u%s\n  %s.half%u = %.4s i1 %s.bit%u to i16%s\n",
            halves, name, i, operand, i, tail, name, i, e->kind, name, i, tail);
    return arena_printf(arena,
                        "%s  %s.low = insertelement <2 x i16> poison, i16 %s.half0, i64 0%s\n"
                        "  %.*s = insertelement <2 x i16> %s.low, i16 %s.half1, i64 1%s\n",
                        halves, name, name, tail, e->result_length, e->result, name, name, tail);
}

/* LLVM 19 makes one narrow load of "extractelement (load <4 x i64>, ptr p), i64 %i", and its NVPTX back end takes that
 * for one from generic memory, whatever memory p points to: it looks for the value behind the address, and there is
 * none any more. A freeze between the two keeps them apart. Loads from global memory, whose addresses are generic ones,
 * are left alone. */
struct choice {
    const char *vector, *operand, *tail; /* "<4 x i64>", "%7", ", i64 %9, !dbg !7" */
    int vector_length, operand_length, head_length;
};

/* The loads a function's vectors come from are in front of their uses. */
static bool is_other_load(const char *function, const char *line, const struct choice *c) {
    char definition[64];
    int length = snprintf(definition, sizeof definition, "\n  %.*s = load ", c->operand_length, c->operand);
    if (length < 0 || (size_t)length >= sizeof definition)
        return false;
    const char *load = memmem(function, (size_t)(line - function), definition, (size_t)length);
    if (!load)
        return false;
    load += length;
    return !memmem(load, strcspn(load, "\n"), "ptr addrspace(1)", 16);
}

static bool choice_read(const char *function, const char *line, size_t length, struct choice *out) {
    static const char word[] = " = extractelement ";
    const char *end = line + length, *at = memmem(line, length, word, sizeof word - 1);
    if (!at)
        return false;
    out->vector = at + sizeof word - 1;
    const char *close = memchr(out->vector, '>', (size_t)(end - out->vector));
    if (!close || close + 2 >= end || close[2] != '%')
        return false;
    out->operand = close + 2;
    out->tail = memchr(out->operand, ',', (size_t)(end - out->operand));
    if (!out->tail)
        return false;
    const char *index = memchr(out->tail + 2, ' ', (size_t)(end - out->tail - 2));
    if (!index || index[1] != '%')
        return false;
    out->vector_length = (int)(close + 1 - out->vector);
    out->operand_length = (int)(out->tail - out->operand);
    out->head_length = (int)(out->vector - line);
    return is_other_load(function, line, out);
}

static const char *choice_split(struct arena *arena, const struct choice *c, const char *line, size_t length,
                                unsigned number) {
    int tail_length = (int)(line + length - c->tail);
    return arena_printf(arena, "  %%heddle.%u = freeze %.*s %.*s\n%.*s%.*s %%heddle.%u%.*s\n", number, c->vector_length,
                        c->vector, c->operand_length, c->operand, c->head_length, line, c->vector_length, c->vector,
                        number, tail_length, c->tail);
}

/* LLVM 19's NVPTX back end makes +1 of "sitofp i1 true", which is -1, unless the bit comes straight from a comparison.
 * The line that stands for it, or NULL when this is none; vectors likewise, with as many numbers as they have. */
static const char *sign_rewrite(struct arena *arena, const char *line, size_t length) {
    char from[16], operand[64], to[32], element[16];
    unsigned count = 1;
    const char *copy = arena_strndup(arena, line, length), *equal = strstr(copy, " = sitofp ");
    int used = 0;
    if (!equal)
        return NULL;
    const char *rest = equal + 10;
    if (sscanf(rest, "i1 %63s to %31[a-z]%n", operand, to, &used) == 2 && used > 0) {
        snprintf(from, sizeof from, "i1");
        snprintf(element, sizeof element, "%.15s", to);
    } else if (sscanf(rest, "<%u x i1> %63s to <%*u x %15[a-z]>%n", &count, operand, element, &used) == 3 && used > 0) {
        snprintf(from, sizeof from, "<%u x i1>", count);
        snprintf(to, sizeof to, "<%u x %s>", count, element);
    } else {
        return NULL;
    }
    const char *ones = from[0] == '<' ? "<" : "";
    for (unsigned i = 0; from[0] == '<' && i < count; i++)
        ones = arena_printf(arena, "%s%s%s -1.0", ones, i ? ", " : "", element);
    ones = from[0] == '<' ? arena_printf(arena, "%s>", ones) : "-1.0";
    return arena_printf(arena, "%.*s = select %s %s, %s %s, %s %s%s\n", (int)(equal - copy), copy, from, operand, to,
                        ones, to, from[0] == '<' ? "zeroinitializer" : "0.0", rest + used);
}

/* LLVM 19's NVPTX back end loads "<16 x i8>" with one instruction that wants 16-byte alignment, whatever the load says.
 * The lines that stand for such a load, in two halves, or NULL when this is none. */
static const char *bytes_split(struct arena *arena, const char *line, size_t length, unsigned number) {
    static const char word[] = " = load <16 x i8>, ", loud[] = " = load volatile <16 x i8>, ", aligned[] = ", align ";
    const char *copy = arena_strndup(arena, line, length), *kind = "";
    const char *equal = strstr(copy, word), *operand = equal ? equal + sizeof word - 1 : NULL;
    if (!equal && (equal = strstr(copy, loud))) {
        kind = "volatile ";
        operand = equal + sizeof loud - 1;
    }
    const char *tail = operand ? strstr(operand, aligned) : NULL;
    if (!tail || strtoul(tail + sizeof aligned - 1, NULL, 10) >= 16)
        return NULL;
    const char *address = arena_strndup(arena, operand, (size_t)(tail - operand));
    const char *space = arena_strndup(arena, operand, strcspn(operand, "%@")); /* "ptr addrspace(1) " */
    if (strstr(space, "getelementptr"))
        space = arena_strndup(arena, operand, (size_t)(strstr(operand, "getelementptr") - operand));
    const char *name = arena_printf(arena, "%%heddle.%u", number), *mask = "";
    for (unsigned i = 0; i < 16; i++)
        mask = arena_printf(arena, "%s%si32 %u", mask, i ? ", " : "", i);
    return arena_printf(arena,
                        "  %s.low = load %s<8 x i8>, %s%s\n"
                        "  %s.at = getelementptr inbounds i8, %s, i64 8\n"
                        "  %s.high = load %s<8 x i8>, %s%s.at%s\n"
                        "%.*s = shufflevector <8 x i8> %s.low, <8 x i8> %s.high, <16 x i32> <%s>\n",
                        name, kind, address, tail, name, address, name, kind, space, name, tail, (int)(equal - copy),
                        copy, name, name, mask);
}

/* A conversion of a vector, "%4 = fpext <16 x half> %3 to <16 x float>": where its parts are in a copy of its line. */
struct vector_conversion {
    const char *copy, *from, *to; /* "<16 x half> ...", "<16 x float>..." */
    char element[16], operand[64];
    unsigned count;
};

static bool conversion_read(struct arena *arena, const char *line, size_t length, struct vector_conversion *out) {
    int used = 0;
    out->copy = arena_strndup(arena, line, length);
    const char *equal = strstr(out->copy, " = ");
    out->from = equal ? strchr(equal, '<') : NULL;
    if (!out->from ||
        sscanf(out->from, "<%u x %15[a-z0-9]> %63s to %n", &out->count, out->element, out->operand, &used) != 3 ||
        !used)
        return false;
    out->to = out->from + used;
    return true;
}

/* A freeze keeps a conversion apart from what its operand comes from. Two are made with it:
 * LLVM 19 makes of "trunc <2 x i64> (sext <2 x i1> (icmp <2 x i64> a, b))" to <2 x i16> a comparison of <2 x i16>, the node of above.
 * Its NVPTX back end folds "fpext <16 x half> (load)" into a load that converts, and has none: the bits of the halves are taken
 * for floats. The lines that stand for such a conversion, or NULL when this is none. */
static const char *conversion_split(struct arena *arena, const char *line, size_t length, unsigned number) {
    struct vector_conversion c;
    if (!conversion_read(arena, line, length, &c))
        return NULL;
    const bool narrows =
        strstr(c.copy, " = trunc ") && c.count == 2 && c.element[0] == 'i' && strncmp(c.to, "<2 x i16>", 9) == 0;
    const bool widens = strstr(c.copy, " = fpext ") && strcmp(c.element, "half") == 0;
    if (!narrows && !widens)
        return NULL;
    return arena_printf(arena, "  %%heddle.%u = freeze <%u x %s> %s\n%.*s<%u x %s> %%heddle.%u to %s\n", number,
                        c.count, c.element, c.operand, (int)(c.from - c.copy), c.copy, c.count, c.element, number,
                        c.to);
}

/* clang takes no predicate register as the operand of inline assembly, LLVM does ("b"). The first source of the search
 * instructions of heddle.h is one: its bit. The lines that stand for such a call, or NULL when this is none. */
static const char *predicate_give(struct arena *arena, const char *line, size_t length, unsigned number) {
    const char *copy = arena_strndup(arena, line, length), *call = strstr(copy, " asm sideeffect \"");
    const char *constraints = call ? strstr(call, ";\", \"=") : NULL;
    if (!constraints || (!strstr(call, "\"cond_acc.") && !strstr(call, "\"tree_traverse.")))
        return NULL;
    const char *source = strchr(constraints + 4, ','), *operand = strstr(constraints, "\"(i32 ");
    if (!source || strncmp(source, ",r,", 3) != 0 || !operand)
        return NULL;
    operand += strlen("\"(");
    const char *rest = strchr(operand, ',');
    if (!rest)
        return NULL;
    return arena_printf(arena, "  %%heddle.%u = trunc %.*s to i1\n%.*s,b%.*si1 %%heddle.%u%s\n", number,
                        (int)(rest - operand), operand, (int)(source - copy), copy, (int)(operand - source - 2),
                        source + 2, number, rest);
}

void repair_text_add(struct arena *arena, struct repair_text *text, const char *more, size_t length) {
    for (size_t i = 0; i < length; i++)
        *ARENA_PUSH(arena, text) = more[i];
}

const char *repair_ir(struct arena *arena, const char *ir) {
    struct repair_text out = {0};
    unsigned number = 0;
    ir = repair_pairs(arena, repair_kernel_calls(arena, ir));
    const char *copied = ir, *function = ir;
    for (const char *line = ir; *line;) {
        size_t length = strcspn(line, "\n");
        const char *next = line + length + (line[length] == '\n'), *split = NULL;
        struct extension e;
        struct choice c;
        if (strncmp(line, "define ", 7) == 0)
            function = line;
        else if (extension_read(line, length, &e))
            split = extension_split(arena, &e, number++);
        else if (choice_read(function, line, length, &c))
            split = choice_split(arena, &c, line, length, number++);
        else if (memmem(line, length, " = sitofp ", 10) && (split = sign_rewrite(arena, line, length)))
            number++;
        else if ((memmem(line, length, " = trunc ", 9) || memmem(line, length, " = fpext ", 9)) &&
                 (split = conversion_split(arena, line, length, number)))
            number++;
        else if (memmem(line, length, " asm sideeffect ", 16) && (split = predicate_give(arena, line, length, number)))
            number++;
        else if (memmem(line, length, "<16 x i8>, ", 11) && (split = bytes_split(arena, line, length, number)))
            number++;
        if (split) {
            repair_text_add(arena, &out, copied, (size_t)(line - copied));
            repair_text_add(arena, &out, split, strlen(split));
            copied = next;
        }
        line = next;
    }
    if (number == 0)
        return ir;
    repair_text_add(arena, &out, copied, strlen(copied) + 1);
    return out.items;
}
