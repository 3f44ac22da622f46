/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as compilers print errors. */
#include <inttypes.h>
#include <jansson.h>

#include "check/document.h"

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static json_int_t number_of(const json_t *object, const char *key) {
    return json_integer_value(json_object_get(object, key));
}

static const char *triple(const json_t *list, struct arena *arena) {
    const json_int_t x = json_integer_value(json_array_get(list, 0)), y = json_integer_value(json_array_get(list, 1)),
                     z = json_integer_value(json_array_get(list, 2));
    return arena_printf(arena, "(%lld, %lld, %lld)", (long long)x, (long long)y, (long long)z);
}

/* "block (1, 0, 0), thread (5, 0, 0)" */
static const char *who(const json_t *access, struct arena *arena) {
    return arena_printf(arena, "block %s, thread %s", triple(json_object_get(access, "block"), arena),
                        triple(json_object_get(access, "thread"), arena));
}

static const char *where(const json_t *finding, const char *program, struct arena *arena) {
    const json_t *at = json_object_get(finding, "at");
    const char *module = text_of(finding, "module");
    if (at)
        return arena_printf(arena, "%s:%lld", text_of(at, "file"), (long long)number_of(at, "line"));
    return *module ? module : program;
}

/* Of a program's launches is told which; of a launch file's, how often. */
static const char *last_line(const json_t *finding, bool of_program, struct arena *arena) {
    const long long count = number_of(finding, "count"), launch = number_of(finding, "launch");
    const char *kernel = text_of(finding, "kernel");
    if (!launch || (count == 1 && !of_program))
        return "";
    if (!of_program)
        return arena_printf(arena, "  %lld times in kernel '%s'\n", count, kernel);
    return count == 1
               ? arena_printf(arena, "  in kernel '%s', launch %lld\n", kernel, launch)
               : arena_printf(arena, "  %lld times in kernel '%s', first in launch %lld\n", count, kernel, launch);
}

static const char *finding_text(const json_t *finding, const char *program, struct arena *arena) {
    const json_t *at = json_object_get(finding, "at"), *other = json_object_get(finding, "other");
    const char *text = arena_printf(arena, "%s: %s: %s: %s\n", where(finding, program, arena),
                                    text_of(finding, "level"), text_of(finding, "kind"), text_of(finding, "message"));
    if (other)
        text = arena_printf(arena, "%s  %s: %s\n  %s: %s\n", text, text_of(at, "access"), who(at, arena),
                            text_of(other, "access"), who(other, arena));
    else if (json_object_get(at, "thread"))
        text = arena_printf(arena, "%s  in %s\n", text, who(at, arena));
    if (json_object_get(finding, "missing"))
        text = arena_printf(arena, "%s  missing: %s\n", text, text_of(finding, "missing"));
    if (json_object_get(finding, "allocation"))
        text = arena_printf(arena, "%s  allocation: %s\n", text, text_of(finding, "allocation"));
    return arena_printf(arena, "%s%s", text, last_line(finding, program != NULL, arena));
}

const char *document_finding(const json_t *document, size_t index, struct arena *arena) {
    const char *program = json_string_value(json_object_get(document, "program"));
    return finding_text(json_array_get(json_object_get(document, "findings"), index), program, arena);
}

const char *document_total(const json_t *document, struct arena *arena) {
    const long long errors = number_of(document, "errors"), dropped = number_of(document, "dropped"),
                    notes = (long long)document_count(document) - errors;
    const long long suppressed = number_of(document, "suppressed");
    const char *text = dropped ? arena_printf(arena, "and %lld more, which the limit leaves out\n", dropped) : "";
    if (suppressed)
        text = arena_printf(arena, "%s%lld suppressed\n", text, suppressed);
    if (errors || notes)
        return arena_printf(arena, "%s%lld error%s, %lld note%s\n", text, errors, errors == 1 ? "" : "s", notes,
                            notes == 1 ? "" : "s");
    return arena_printf(arena, "%snothing found\n", text);
}
