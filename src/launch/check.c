/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/check.h"
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

enum { CHUNK_ELEMENTS = 4096 };

static void add_mismatch(struct check_result *out, uint64_t index, const char *got, const char *expected) {
    out->passed = false;
    out->mismatches++;
    if (out->shown == CHECK_MISMATCHES_SHOWN)
        return;
    struct check_mismatch *mismatch = &out->first[out->shown++];
    mismatch->index = index;
    snprintf(mismatch->got, sizeof mismatch->got, "%s", got);
    snprintf(mismatch->expected, sizeof mismatch->expected, "%s", expected);
}

/* first: the index of the first of them. */
static void compare_chunk(const struct launch_check *check, const struct check_contents *got,
                          const unsigned char *expected, uint64_t first, struct check_result *out) {
    const enum element element = got->buffer->element;
    unsigned size = element_bytes(element);
    if (memcmp(got->data, expected, got->count * size) == 0)
        return;
    for (uint64_t i = 0; i < got->count; i++) {
        const void *a = got->data + i * size, *b = expected + i * size;
        if (element_close(element, a, b, check->tolerance))
            continue;
        char text_a[CHECK_TEXT_BYTES], text_b[CHECK_TEXT_BYTES];
        add_mismatch(out, first + i, element_text(element, a, text_a, sizeof text_a),
                     element_text(element, b, text_b, sizeof text_b));
    }
}

static enum status check_equals(const struct launch_check *check, const struct check_contents *contents,
                                const struct fill_source *source, struct check_result *out, struct report *report) {
    struct arena arena = {0};
    const uint64_t count = contents->count;
    struct fill_cursor cursor = {.fill = &check->equals, .element = contents->buffer->element, .count = count};
    unsigned size = element_bytes(cursor.element);
    enum status status = fill_start(&cursor, source, &arena, report);
    unsigned char expected[CHUNK_ELEMENTS * 8];
    for (uint64_t i = 0; !status && i < count; i += CHUNK_ELEMENTS) {
        uint64_t n = count - i < CHUNK_ELEMENTS ? count - i : CHUNK_ELEMENTS;
        const struct check_contents chunk = {contents->buffer, contents->data + i * size, n};
        fill_next(&cursor, expected, n);
        compare_chunk(check, &chunk, expected, check->first + i, out);
    }
    out->compared = count;
    arena_free(&arena);
    return status;
}

static void check_hash(const struct launch_check *check, const void *data, uint64_t bytes, struct check_result *out) {
    uint64_t hash = XXH64(data, bytes, 0);
    out->compared = 1;
    if (hash == check->hash)
        return;
    char got[17], expected[17];
    snprintf(got, sizeof got, "%016llx", (unsigned long long)hash);
    snprintf(expected, sizeof expected, "%016llx", (unsigned long long)check->hash);
    add_mismatch(out, check->first, got, expected);
}

/* Integers are added exactly; floats as doubles, in order. */
static void check_sum(const struct launch_check *check, enum element element, const unsigned char *data, uint64_t count,
                      struct check_result *out) {
    wide_integer exact = 0;
    double real = 0;
    unsigned size = element_bytes(element);
    bool is_float = element_kind(element) == ELEMENT_FLOAT;
    if (element == ELEMENT_F32)
        for (uint64_t i = 0; i < count; i++) {
            float value;
            memcpy(&value, data + i * size, sizeof value);
            real += (double)value;
        }
    else
        for (uint64_t i = 0; i < count; i++) {
            const struct number number = element_load(element, data + i * size);
            real += is_float ? number.real : 0;
            exact += is_float ? 0 : number.integer;
        }
    double sum = is_float ? real : (double)exact;
    double difference = sum - check->sum.real, magnitude = check->sum.real < 0 ? -check->sum.real : check->sum.real;
    bool equal = is_float || !check->sum.is_integer ? sum == check->sum.real : exact == check->sum.integer;
    bool close = (difference < 0 ? -difference : difference) <= check->tolerance * (magnitude > 1 ? magnitude : 1);
    out->compared = 1;
    if (equal || (check->tolerance > 0 && close))
        return;
    char got[CHECK_TEXT_BYTES], expected[CHECK_TEXT_BYTES];
    bool fits = exact == (int64_t)exact;
    struct number found = is_float || !fits ? number_real(sum) : number_integer(exact);
    add_mismatch(out, check->first, number_text(&found, got, sizeof got),
                 number_text(&check->sum, expected, sizeof expected));
}

enum status check_buffer(const struct launch_check *check, const struct check_contents *contents,
                         const struct fill_source *source, struct check_result *out, struct report *report) {
    const struct launch_buffer *buffer = contents->buffer;
    const uint64_t count = contents->count;
    *out = (struct check_result){.passed = true};
    if (check->first >= count || check->count > count - check->first)
        return yaml_error(source->yaml, check->at, report, "'%s' has %llu elements; first and count reach beyond them",
                          buffer->name, (unsigned long long)count);
    unsigned size = element_bytes(buffer->element);
    const unsigned char *start = contents->data + check->first * size;
    uint64_t wanted = check->count ? check->count : count - check->first;
    /* part of a buffer is looked at only when the file says so */
    if (check->kind == LAUNCH_CHECK_EQUALS && check->equals.kind == FILL_VALUES && !check->count &&
        check->equals.value_count < wanted)
        return yaml_error(source->yaml, check->at, report,
                          "%llu values are given for the %llu elements of '%s'; add count: %llu to look at only those",
                          (unsigned long long)check->equals.value_count, (unsigned long long)wanted, buffer->name,
                          (unsigned long long)check->equals.value_count);
    const struct check_contents part = {buffer, start, wanted};
    switch (check->kind) {
    case LAUNCH_CHECK_EQUALS: return check_equals(check, &part, source, out, report);
    case LAUNCH_CHECK_HASH: check_hash(check, start, wanted * size, out); break;
    case LAUNCH_CHECK_SUM: check_sum(check, buffer->element, start, wanted, out); break;
    }
    return STATUS_OK;
}
