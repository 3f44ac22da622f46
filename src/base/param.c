/* SPDX-License-Identifier: Apache-2.0 */
#include "base/param.h"

#include <string.h>

#include "base/text.h"

/* A value before it is stored: which member counts is the kind's business. */
struct value {
    uint64_t whole; /* U32, U64, BOOL, CHOICE */
    double real;
    const char *text;
};

static void *field_of(const struct param_set *set, const struct param_description *param) {
    return (char *)set->values + param->offset;
}

static void store(const struct param_set *set, const struct param_description *param, const struct value *value) {
    void *field = field_of(set, param);
    switch (param->kind) {
    case PARAM_U32:
    case PARAM_CHOICE: *(uint32_t *)field = (uint32_t)value->whole; break;
    case PARAM_U64: *(uint64_t *)field = value->whole; break;
    case PARAM_BOOL: *(bool *)field = value->whole != 0; break;
    case PARAM_F64: *(double *)field = value->real; break;
    case PARAM_TEXT: *(const char **)field = value->text; break;
    }
}

static bool read_whole(const struct param_description *param, const char *text, uint64_t *value) {
    static const struct {
        const char *suffix;
        unsigned shift;
    } scales[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    size_t length = strlen(text);
    for (unsigned i = 0; i < sizeof scales / sizeof scales[0] && strcmp(param->unit, "bytes") == 0; i++) {
        char digits[24];
        if (length < 4 || length - 3 >= sizeof digits || strcmp(text + length - 3, scales[i].suffix) != 0)
            continue;
        memcpy(digits, text, length - 3);
        digits[length - 3] = '\0';
        if (digits[length - 4] == ' ')
            digits[length - 4] = '\0';
        return text_to_u64(digits, value) && !__builtin_mul_overflow(*value, UINT64_C(1) << scales[i].shift, value);
    }
    return text_to_u64(text, value);
}

static bool in_range(const struct param_description *param, const struct value *value) {
    if (param->kind == PARAM_F64) {
        double min, max;
        bool low = param->min[0] && (!text_to_f64(param->min, &min) || !(value->real >= min));
        bool high = param->max[0] && (!text_to_f64(param->max, &max) || !(value->real <= max));
        return value->real == value->real && !low && !high;
    }
    uint64_t min, max;
    if (param->kind == PARAM_U32 && value->whole > UINT32_MAX)
        return false;
    if (param->min[0] && (!read_whole(param, param->min, &min) || value->whole < min))
        return false;
    return !param->max[0] || (read_whole(param, param->max, &max) && value->whole <= max);
}

/* The index of text among "first|second|third". */
static bool read_choice(const char *names, const char *text, uint64_t *index) {
    size_t length = strlen(text);
    *index = 0;
    for (const char *name = names; length; name++, ++*index) {
        size_t name_length = strcspn(name, "|");
        if (name_length == length && memcmp(name, text, length) == 0)
            return true;
        name += name_length;
        if (!*name)
            break;
    }
    return false;
}

static bool read_value(const struct param_description *param, const char *text, struct value *value) {
    switch (param->kind) {
    case PARAM_U32:
    case PARAM_U64: return read_whole(param, text, &value->whole) && in_range(param, value);
    case PARAM_BOOL: value->whole = strcmp(text, "true") == 0; return value->whole || strcmp(text, "false") == 0;
    case PARAM_F64: return text_to_f64(text, &value->real) && in_range(param, value);
    case PARAM_TEXT: value->text = text; return true;
    case PARAM_CHOICE: return read_choice(param->min, text, &value->whole);
    }
    return false;
}

enum status param_create(struct param_set *set, const struct param_description *table, void *values,
                         struct arena *arena, struct report *report) {
    *set = (struct param_set){.table = table, .values = values, .arena = arena};
    size_t count = 0;
    while (table[count].key)
        count++;
    set->origins = ARENA_ARRAY(arena, const char *, count);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count; i++) {
        struct value value = {0};
        if (!read_value(&table[i], table[i].fallback, &value))
            status = report_add(report, STATUS_INVALID, "default of '%s': '%s' is not %s", table[i].key,
                                table[i].fallback, param_range(&table[i], arena));
        store(set, &table[i], &value);
        set->origins[i] = "default";
    }
    return status;
}

const struct param_description *param_find(const struct param_set *set, const char *key) {
    for (const struct param_description *param = set->table; param->key; param++)
        if (param->key[0] == key[0] && strcmp(param->key, key) == 0)
            return param;
    return NULL;
}

static enum status unknown_key(const struct param_set *set, const char *key, const char *where, struct report *report) {
    struct text_nearest nearest = {0};
    for (const struct param_description *param = set->table; param->key; param++)
        text_nearest_try(&nearest, key, param->key);
    const char *colon = *where ? ": " : "";
    if (nearest.best)
        return report_add(report, STATUS_INVALID, "%s%sunknown key '%s'; did you mean '%s'?", where, colon, key,
                          nearest.best);
    return report_add(report, STATUS_INVALID, "%s%sunknown key '%s'; 'heddle config show' lists the known ones", where,
                      colon, key);
}

enum status param_assign(struct param_set *set, const char *key, const char *text, const char *origin,
                         const char *where, struct report *report) {
    const struct param_description *param = &set->table[set->next];
    if (!param->key || strcmp(param->key, key) != 0)
        param = param_find(set, key);
    if (!param)
        return unknown_key(set, key, where, report);
    set->next = (size_t)(param - set->table) + 1;
    struct value value = {0};
    if (!read_value(param, text, &value)) {
        struct arena words = {0};
        report_add(report, STATUS_INVALID, "%s%s'%s' cannot be '%s': it takes %s", where, *where ? ": " : "", key, text,
                   param_range(param, &words));
        arena_free(&words);
        return STATUS_INVALID;
    }
    if (param->kind == PARAM_TEXT)
        value.text = arena_strdup(set->arena, text);
    store(set, param, &value);
    set->origins[param - set->table] = arena_strdup(set->arena, origin);
    return STATUS_OK;
}

const char *param_choice(const struct param_description *param, uint32_t index, struct arena *arena) {
    const char *name = param->min;
    for (; index > 0; index--)
        name += strcspn(name, "|") + 1;
    return arena_strndup(arena, name, strcspn(name, "|"));
}

const char *param_text(const struct param_set *set, const struct param_description *param) {
    const void *field = field_of(set, param);
    char number[TEXT_F64_BYTES];
    switch (param->kind) {
    case PARAM_U32: return arena_printf(set->arena, "%u", *(const uint32_t *)field);
    case PARAM_U64: return arena_printf(set->arena, "%llu", (unsigned long long)*(const uint64_t *)field);
    case PARAM_BOOL: return *(const bool *)field ? "true" : "false";
    case PARAM_F64: return arena_strdup(set->arena, text_from_f64(*(const double *)field, number));
    case PARAM_TEXT: return *(const char *const *)field;
    case PARAM_CHOICE: return param_choice(param, *(const uint32_t *)field, set->arena);
    }
    return "";
}

const char *param_origin(const struct param_set *set, const struct param_description *param) {
    return set->origins[param - set->table];
}

/* "a|b|c" as "a, b or c". */
static const char *choice_words(const char *names, struct arena *arena) {
    const char *words = "";
    while (*names) {
        size_t length = strcspn(names, "|");
        const char *rest = names + length + (names[length] == '|');
        const char *joint = !words[0] ? "" : *rest ? ", " : " or ";
        words = arena_printf(arena, "%s%s%.*s", words, joint, (int)length, names);
        names = rest;
    }
    return words;
}

const char *param_range(const struct param_description *param, struct arena *arena) {
    const char *number = param->kind == PARAM_F64 ? "a number" : "a whole number";
    const char *blank = param->unit[0] ? " " : "";
    switch (param->kind) {
    case PARAM_U32:
    case PARAM_U64:
    case PARAM_F64:
        if (param->min[0] && param->max[0])
            return arena_printf(arena, "%s from %s to %s%s%s", number, param->min, param->max, blank, param->unit);
        if (param->min[0])
            return arena_printf(arena, "%s of at least %s%s%s", number, param->min, blank, param->unit);
        if (param->max[0])
            return arena_printf(arena, "%s of at most %s%s%s", number, param->max, blank, param->unit);
        return arena_printf(arena, "%s%s%s", number, param->unit[0] ? ", in " : "", param->unit);
    case PARAM_BOOL: return "true or false";
    case PARAM_TEXT: return "text";
    case PARAM_CHOICE: return choice_words(param->min, arena);
    }
    return "";
}
