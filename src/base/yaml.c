/* SPDX-License-Identifier: Apache-2.0 */
#include "base/yaml.h"
#include "base/text.h"
#include "base/words.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { DEPTH_MAX = 32, SHOWN_MAX = 160 };

struct anchor {
    const char *name;
    struct yaml_node *node;
};

struct builder {
    struct arena *arena;
    struct yaml *yaml;
    struct report *report;
    yaml_parser_t parser;
    struct {
        struct anchor *items;
        unsigned count, capacity;
    } anchors;
};

struct node_list {
    struct yaml_node **items;
    unsigned count, capacity;
};

static enum status error_at(const struct yaml *yaml, unsigned line, unsigned column, struct report *report,
                            const char *message) {
    if (!line) /* it stands in no file */
        return report_add(report, STATUS_INVALID, "%s: %s", yaml->name, message);
    const char *start = yaml->text, *end = yaml->text + yaml->length;
    for (unsigned i = 1; i < line && start; i++) {
        const char *next = memchr(start, '\n', (size_t)(end - start));
        start = next ? next + 1 : NULL;
    }
    if (!start || start >= end)
        return report_add(report, STATUS_INVALID, "%s:%u:%u: %s", yaml->name, line, column, message);
    char shown[SHOWN_MAX + 1], caret[SHOWN_MAX + 1];
    unsigned length = 0, caret_length = 0;
    for (; start < end && *start != '\n' && *start != '\r' && length < SHOWN_MAX; start++) {
        char c = *start;
        shown[length] = ((unsigned char)c < ' ' && c != '\t') || c == 0x7f ? ' ' : c;
        /* libyaml counts characters: the bytes of one UTF-8 character share a column */
        if (caret_length + 1 < column && ((unsigned char)c & 0xc0) != 0x80)
            caret[caret_length++] = c == '\t' ? '\t' : ' ';
        length++;
    }
    shown[length] = 0;
    caret[caret_length] = 0;
    return report_add(report, STATUS_INVALID, "%s:%u:%u: %s\n  %s\n  %s^", yaml->name, line, column, message, shown,
                      caret);
}

enum status yaml_error(const struct yaml *yaml, const struct yaml_node *at, struct report *report, const char *format,
                       ...) {
    if (report && report->truncated)
        return STATUS_INVALID; /* nobody will read it: do not look for the line */
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (size_t length = strlen(message); length && message[length - 1] == '\n'; length--)
        message[length - 1] = 0; /* it may quote another report */
    return error_at(yaml, at->line, at->column, report, message);
}

static unsigned position(size_t from_zero) { return from_zero < 1000000000 ? (unsigned)from_zero + 1 : 1000000000; }

static enum status error_mark(struct builder *b, const yaml_mark_t *mark, const char *message) {
    return error_at(b->yaml, position(mark->line), position(mark->column), b->report, message);
}

static enum status parser_error(struct builder *b) {
    const char *problem = b->parser.problem ? b->parser.problem : "it cannot be read as YAML";
    yaml_mark_t mark = b->parser.problem_mark;
    if (b->parser.error == YAML_READER_ERROR) { /* it knows only an offset in bytes */
        mark.line = mark.column = 0;
        size_t end = b->parser.problem_offset < b->yaml->length ? b->parser.problem_offset : b->yaml->length;
        for (size_t i = 0; i < end; i++) {
            mark.column = b->yaml->text[i] == '\n' ? 0 : mark.column + 1;
            mark.line += b->yaml->text[i] == '\n';
        }
    }
    char message[256];
    snprintf(message, sizeof message, "not valid YAML: %s", problem);
    return error_mark(b, &mark, message);
}

static struct yaml_node *new_node(struct builder *b, enum yaml_kind kind, const yaml_mark_t *mark) {
    struct yaml_node *node = ARENA_NEW(b->arena, struct yaml_node);
    node->kind = kind;
    node->line = position(mark->line);
    node->column = position(mark->column);
    return node;
}

/* An anchor is known from the end of its node on, so that no node can hold itself. */
static void add_anchor(struct builder *b, const char *name, struct yaml_node *node) {
    if (!name)
        return;
    struct anchor *anchor = ARENA_PUSH(b->arena, &b->anchors);
    anchor->name = name;
    anchor->node = node;
}

static enum status build_node(struct builder *b, const yaml_event_t *event, unsigned depth, struct yaml_node **out);

static enum status next_event(struct builder *b, yaml_event_t *event) {
    return yaml_parser_parse(&b->parser, event) ? STATUS_OK : parser_error(b);
}

/* The items up to the end event; in a map keys and values by turns. */
static enum status build_items(struct builder *b, yaml_event_type_t end, unsigned depth, struct node_list *list) {
    for (;;) {
        yaml_event_t event;
        enum status status = next_event(b, &event);
        if (status)
            return status;
        if (event.type == end) {
            yaml_event_delete(&event);
            return STATUS_OK;
        }
        struct yaml_node *node = NULL;
        status = build_node(b, &event, depth, &node);
        yaml_event_delete(&event);
        if (status)
            return status;
        *ARENA_PUSH(b->arena, list) = node;
    }
}

static int compare_keys(const void *a, const void *b) {
    const struct yaml_node *left = *(const struct yaml_node *const *)a, *right = *(const struct yaml_node *const *)b;
    int order = strcmp(left->text, right->text);
    return order ? order : (left->line > right->line) - (left->line < right->line);
}

static enum status split_map(struct builder *b, struct yaml_node *node, const struct node_list *list) {
    node->count = list->count / 2;
    node->keys = ARENA_ARRAY(b->arena, struct yaml_node *, node->count);
    node->items = ARENA_ARRAY(b->arena, struct yaml_node *, node->count);
    for (unsigned i = 0; i < node->count; i++) {
        node->keys[i] = list->items[2 * i];
        node->items[i] = list->items[2 * i + 1];
        if (node->keys[i]->kind != YAML_SCALAR)
            return yaml_error(b->yaml, node->keys[i], b->report, "a key has to be a word, not a list or a map");
    }
    struct yaml_node **sorted = arena_copy(b->arena, node->keys, node->count * sizeof *sorted);
    if (node->count)
        qsort(sorted, node->count, sizeof *sorted, compare_keys);
    for (unsigned i = 1; i < node->count; i++)
        if (strcmp(sorted[i - 1]->text, sorted[i]->text) == 0)
            return yaml_error(b->yaml, sorted[i], b->report, "'%s' is given twice, first in line %u; keep one",
                              sorted[i]->text, sorted[i - 1]->line);
    return STATUS_OK;
}

static char *copy_text(struct builder *b, const yaml_char_t *text) {
    return text ? arena_strdup(b->arena, (const char *)text) : NULL;
}

static enum status build_scalar(struct builder *b, const yaml_event_t *event, struct yaml_node **out) {
    *out = new_node(b, YAML_SCALAR, &event->start_mark);
    if (memchr(event->data.scalar.value, 0, event->data.scalar.length))
        return error_mark(b, &event->start_mark, "a NUL character is not allowed here");
    (*out)->text = arena_strndup(b->arena, (const char *)event->data.scalar.value, event->data.scalar.length);
    (*out)->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    add_anchor(b, copy_text(b, event->data.scalar.anchor), *out);
    return STATUS_OK;
}

static enum status build_alias(struct builder *b, const yaml_event_t *event, struct yaml_node **out) {
    const char *name = (const char *)event->data.alias.anchor;
    for (unsigned i = b->anchors.count; i-- > 0;)
        if (strcmp(b->anchors.items[i].name, name) == 0) {
            *out = b->anchors.items[i].node;
            return STATUS_OK;
        }
    return error_mark(b, &event->start_mark, "this alias names no anchor defined before it");
}

static enum status build_node(struct builder *b, const yaml_event_t *event, unsigned depth, struct yaml_node **out) {
    if (depth > DEPTH_MAX)
        return error_mark(b, &event->start_mark, "nested deeper than 32 levels");
    if (event->type == YAML_SCALAR_EVENT)
        return build_scalar(b, event, out);
    if (event->type == YAML_ALIAS_EVENT)
        return build_alias(b, event, out);
    struct node_list list = {0};
    if (event->type == YAML_SEQUENCE_START_EVENT) {
        const char *anchor = copy_text(b, event->data.sequence_start.anchor);
        *out = new_node(b, YAML_LIST, &event->start_mark);
        enum status status = build_items(b, YAML_SEQUENCE_END_EVENT, depth + 1, &list);
        (*out)->items = list.items;
        (*out)->count = list.count;
        add_anchor(b, anchor, *out);
        return status;
    }
    if (event->type != YAML_MAPPING_START_EVENT)
        return error_mark(b, &event->start_mark, "not valid YAML here");
    const char *anchor = copy_text(b, event->data.mapping_start.anchor);
    *out = new_node(b, YAML_MAP, &event->start_mark);
    enum status status = build_items(b, YAML_MAPPING_END_EVENT, depth + 1, &list);
    if (!status)
        status = split_map(b, *out, &list);
    add_anchor(b, anchor, *out);
    return status;
}

static enum status build_stream(struct builder *b) {
    yaml_event_t event;
    struct yaml_node *root = NULL;
    bool done = false;
    enum status status = STATUS_OK;
    while (!status && !done) {
        status = next_event(b, &event);
        if (status)
            return status;
        yaml_event_type_t type = event.type;
        if (type == YAML_STREAM_END_EVENT)
            done = true;
        else if (type == YAML_DOCUMENT_START_EVENT && root)
            status = error_mark(b, &event.start_mark, "a second document starts here; one file holds one");
        else if (type != YAML_STREAM_START_EVENT && type != YAML_DOCUMENT_START_EVENT &&
                 type != YAML_DOCUMENT_END_EVENT)
            status = build_node(b, &event, 0, &root);
        yaml_event_delete(&event);
    }
    if (!status && !root)
        status = report_add(b->report, STATUS_INVALID, "%s:1:1: the file is empty", b->yaml->name);
    b->yaml->root = root;
    return status;
}

enum status yaml_parse(struct arena *arena, const char *name, const char *text, size_t length, struct yaml *out,
                       struct report *report) {
    *out = (struct yaml){.name = name, .text = text, .length = length};
    struct builder b = {.arena = arena, .yaml = out, .report = report};
    if (!yaml_parser_initialize(&b.parser))
        return report_add(report, STATUS_SYSTEM, "%s: no memory to parse it", name);
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
    enum status status = build_stream(&b);
    yaml_parser_delete(&b.parser);
    return status;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key) {
    if (map && map->kind == YAML_MAP)
        for (unsigned i = 0; i < map->count; i++)
            if (strcmp(map->keys[i]->text, key) == 0)
                return map->items[i];
    return NULL;
}

bool yaml_is_null(const struct yaml_node *node) {
    return node->kind == YAML_SCALAR && !node->quoted &&
           (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

enum status yaml_known_keys(const struct yaml *yaml, const struct yaml_node *map, const char *what,
                            const char *const *known, struct report *report) {
    struct arena scratch = {0};
    enum status status = STATUS_OK;
    if (map->kind != YAML_MAP)
        status = yaml_error(yaml, map, report, "%s is written as {key: value}; its keys are %s", what,
                            words_join(&scratch, known));
    for (unsigned i = 0; map->kind == YAML_MAP && i < map->count; i++) {
        const char *key = map->keys[i]->text;
        bool found = false;
        for (unsigned k = 0; known[k]; k++)
            found |= strcmp(known[k], key) == 0;
        if (found)
            continue;
        if (report && report->truncated)
            break;
        const char *near = words_suggest(key, known);
        if (near)
            status =
                yaml_error(yaml, map->keys[i], report, "%s has no key '%.60s'; did you mean '%s'?", what, key, near);
        else
            status = yaml_error(yaml, map->keys[i], report, "%s has no key '%.60s'; its keys are %s", what, key,
                                words_join(&scratch, known));
    }
    arena_free(&scratch);
    return status;
}

enum status yaml_unsigned(const struct yaml *yaml, const struct yaml_node *node, const char *what, uint64_t max,
                          uint64_t *out, struct report *report) {
    if (node->kind != YAML_SCALAR || node->quoted || !text_to_u64(node->text, out))
        return yaml_error(yaml, node, report, "%s has to be an integer from 0 to %llu", what, (unsigned long long)max);
    if (*out > max)
        return yaml_error(yaml, node, report, "%s is at most %llu", what, (unsigned long long)max);
    return STATUS_OK;
}

const char *yaml_word(struct arena *arena, const char *word) {
    if (!word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-")] && *word != '-' &&
        strcmp(word, "null") != 0)
        return word;
    char *quoted = arena_alloc(arena, strlen(word) * 2 + 3), *at = quoted;
    *at++ = '\'';
    for (; *word; word++) {
        *at++ = *word;
        if (*word == '\'')
            *at++ = '\'';
    }
    *at = '\'';
    return quoted;
}

const char *yaml_sizes(struct arena *arena, const uint32_t *sizes, unsigned count) {
    const char *text = arena_printf(arena, "[%u", (unsigned)sizes[0]);
    for (unsigned i = 1; i < count; i++)
        text = arena_printf(arena, "%s, %u", text, (unsigned)sizes[i]);
    return arena_printf(arena, "%s]", text);
}
