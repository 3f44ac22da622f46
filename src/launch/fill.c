/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/fill.h"
#include "base/file.h"
#include "launch/npy.h"
#include "base/words.h"
#include <string.h>

static enum status read_host_file(void *context, const char *path, uint64_t limit_bytes, struct arena *arena,
                                  struct file_contents *out, struct report *report) {
    (void)context;
    return file_read(path, limit_bytes, arena, &out->data, &out->bytes, report);
}

const struct file_access file_access_host = {NULL, read_host_file};

struct fill_parser {
    const struct yaml *yaml;
    enum element element;
    struct arena *arena;
    struct report *report;
};

static enum status parse_number(const struct fill_parser *p, const struct yaml_node *node, const char *what,
                                struct number *out) {
    if (node->kind != YAML_SCALAR || node->quoted || !number_parse(node->text, out))
        return yaml_error(p->yaml, node, p->report, "%s has to be a number", what);
    return STATUS_OK;
}

/* A number that becomes an element. */
static enum status parse_element(const struct fill_parser *p, const struct yaml_node *node, struct number *out) {
    unsigned char scratch[8];
    enum status status = parse_number(p, node, "an element", out);
    if (!status && !element_store(p->element, out, scratch))
        status = yaml_error(p->yaml, node, p->report, "%s does not fit an element of type %s", node->text,
                            element_names[p->element]);
    return status;
}

static enum status parse_key(const struct fill_parser *p, const struct yaml_node *map, const char *key,
                             struct number *out) {
    const struct yaml_node *node = yaml_get(map, key);
    return node ? parse_number(p, node, key, out) : STATUS_OK;
}

static enum status parse_key_u64(const struct fill_parser *p, const struct yaml_node *map, const char *key,
                                 uint64_t max, uint64_t *out) {
    const struct yaml_node *node = yaml_get(map, key);
    return node ? yaml_unsigned(p->yaml, node, key, max, out, p->report) : STATUS_OK;
}

static enum status parse_index(const struct fill_parser *p, const struct yaml_node *node, struct fill *out) {
    static const char *const keys[] = {"scale", "offset", "modulo", NULL};
    out->scale = number_integer(1);
    out->offset = number_integer(0);
    if (yaml_is_null(node))
        return STATUS_OK;
    enum status status = yaml_known_keys(p->yaml, node, "an index fill", keys, p->report);
    if (!status)
        status = parse_key(p, node, "scale", &out->scale);
    if (!status)
        status = parse_key(p, node, "offset", &out->offset);
    if (!status)
        status = parse_key_u64(p, node, "modulo", INT64_MAX, &out->modulo);
    if (status)
        return status;
    if (yaml_get(node, "modulo") && out->modulo == 0)
        return yaml_error(p->yaml, yaml_get(node, "modulo"), p->report, "modulo has to be at least 1");
    if (element_kind(p->element) != ELEMENT_FLOAT && !(out->scale.is_integer && out->offset.is_integer))
        return yaml_error(p->yaml, node, p->report, "scale and offset have to be integers for elements of type %s",
                          element_names[p->element]);
    return STATUS_OK;
}

static enum status parse_random(const struct fill_parser *p, const struct yaml_node *node, struct fill *out) {
    static const char *const keys[] = {"seed", "min", "max", NULL};
    out->min = number_integer(0);
    out->max = number_integer(1);
    if (yaml_is_null(node))
        return STATUS_OK;
    enum status status = yaml_known_keys(p->yaml, node, "a random fill", keys, p->report);
    const struct yaml_node *min = yaml_get(node, "min"), *max = yaml_get(node, "max");
    if (!status && min)
        status = parse_element(p, min, &out->min);
    if (!status && max)
        status = parse_element(p, max, &out->max);
    if (!status)
        status = parse_key_u64(p, node, "seed", UINT64_MAX, &out->seed);
    if (status)
        return status;
    out->has_seed = yaml_get(node, "seed") != NULL;
    bool ordered = element_kind(p->element) == ELEMENT_FLOAT ? out->min.real <= out->max.real
                                                             : out->min.integer <= out->max.integer;
    bool finite = out->max.real - out->min.real < __builtin_inf();
    if (!ordered || !finite)
        return yaml_error(p->yaml, node, p->report, "min has to be at most max, and both finite");
    return STATUS_OK;
}

static enum status parse_values(const struct fill_parser *p, const struct yaml_node *node, struct fill *out) {
    if (node->kind != YAML_LIST || node->count == 0)
        return yaml_error(p->yaml, node, p->report, "values has to be a list of numbers: [1, 2, 3]");
    struct number *values = ARENA_ARRAY(p->arena, struct number, node->count);
    for (unsigned i = 0; i < node->count; i++) {
        enum status status = parse_element(p, node->items[i], &values[i]);
        if (status)
            return status;
    }
    out->values = values;
    out->value_count = node->count;
    return STATUS_OK;
}

static enum status parse_xorshift32(const struct fill_parser *p, const struct yaml_node *node, struct fill *out) {
    static const char *const keys[] = {"state", "skip", "modulo", NULL};
    uint64_t state = 1;
    enum status status = yaml_known_keys(p->yaml, node, "an xorshift32 fill", keys, p->report);
    if (!status)
        status = parse_key_u64(p, node, "state", UINT32_MAX, &state);
    if (!status)
        status = parse_key_u64(p, node, "skip", UINT64_C(1) << 32, &out->skip);
    if (!status)
        status = parse_key_u64(p, node, "modulo", UINT32_MAX, &out->modulo);
    if (!status && state == 0)
        status = yaml_error(p->yaml, node, p->report, "state must not be 0: the generator would yield only zeros");
    out->state = (uint32_t)state;
    return status;
}

static enum status parse_path(const struct fill_parser *p, const struct yaml_node *node, struct fill *out) {
    if (node->kind != YAML_SCALAR || !*node->text)
        return yaml_error(p->yaml, node, p->report, "file has to be a path");
    out->path = node->text;
    return STATUS_OK;
}

enum status fill_parse(const struct yaml *yaml, const struct yaml_node *node, enum element element, struct arena *arena,
                       struct fill *out, struct report *report) {
    static const char *const kinds[] = {"value", "index", "random", "file", "values", "xorshift32", NULL};
    struct fill_parser p = {yaml, element, arena, report};
    *out = (struct fill){.at = node};
    if (node->kind == YAML_SCALAR)
        return yaml_error(yaml, node, report, "a fill is written as {value: %s}, or with another of %s", node->text,
                          words_join(arena, kinds));
    enum status status = yaml_known_keys(yaml, node, "a fill", kinds, report);
    if (status)
        return status;
    if (node->count != 1)
        return yaml_error(yaml, node, report, "a fill has exactly one of the keys %s", words_join(arena, kinds));
    const char *kind = node->keys[0]->text;
    const struct yaml_node *inside = node->items[0];
    out->at = inside;
    if (strcmp(kind, "value") == 0) {
        out->kind = FILL_VALUE;
        return parse_element(&p, inside, &out->value);
    }
    if (strcmp(kind, "index") == 0) {
        out->kind = FILL_INDEX;
        return parse_index(&p, inside, out);
    }
    if (strcmp(kind, "random") == 0) {
        out->kind = FILL_RANDOM;
        return parse_random(&p, inside, out);
    }
    if (strcmp(kind, "file") == 0) {
        out->kind = FILL_FILE;
        return parse_path(&p, inside, out);
    }
    if (strcmp(kind, "values") == 0) {
        out->kind = FILL_VALUES;
        return parse_values(&p, inside, out);
    }
    out->kind = FILL_XORSHIFT32;
    return parse_xorshift32(&p, inside, out);
}

static uint32_t xorshift32(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

/* A step is linear over single bits: what it makes of each bit of the state, exclusive-ored. */
static uint32_t apply(const uint32_t of_bit[32], uint32_t state) {
    uint32_t result = 0;
    for (unsigned i = 0; i < 32; i++)
        result ^= state >> i & 1 ? of_bit[i] : 0;
    return result;
}

/* `count` steps at once, by those of 1, 2, 4, ... steps. */
static uint32_t xorshift32_skip(uint32_t state, uint64_t count) {
    uint32_t steps[32], twice[32];
    for (unsigned i = 0; i < 32; i++) {
        steps[i] = UINT32_C(1) << i;
        xorshift32(&steps[i]);
    }
    for (; count; count >>= 1) {
        state = count & 1 ? apply(steps, state) : state;
        for (unsigned i = 0; i < 32; i++)
            twice[i] = apply(steps, steps[i]);
        memcpy(steps, twice, sizeof steps);
    }
    return state;
}

static wide_integer positive_modulo(wide_integer value, uint64_t modulo) {
    wide_integer rest = value % (wide_integer)modulo;
    return rest < 0 ? rest + (wide_integer)modulo : rest;
}

/* No file needs to be larger than what is wanted of it, and a header of NumPy's. */
static size_t limit_of(const struct fill_cursor *cursor, const struct fill_source *source) {
    enum { HEADER_BYTES = 1 << 20 };
    uint64_t wanted;
    if (cursor->count == FILL_COUNT_UNKNOWN ||
        __builtin_mul_overflow(cursor->count, (uint64_t)element_bytes(cursor->element), &wanted) ||
        wanted > source->memory_bytes)
        wanted = source->memory_bytes;
    return wanted + HEADER_BYTES;
}

static enum status load_file(struct fill_cursor *cursor, const struct fill_source *source, struct arena *arena,
                             struct report *report) {
    const struct fill *fill = cursor->fill;
    struct file_contents file = {0};
    struct report inner = {0};
    const char *path = file_join(arena, source->folder, fill->path);
    enum status status =
        source->files->read(source->files->context, path, limit_of(cursor, source), arena, &file, &inner);
    struct npy npy;
    bool is_npy = !status && npy_is(file.data, file.bytes);
    if (is_npy)
        status = npy_parse(fill->path, file.data, file.bytes, &npy, &inner);
    if (status) {
        yaml_error(source->yaml, fill->at, report, "the file cannot be used: %s", report_text(&inner));
        report_free(&inner);
        return status;
    }
    report_free(&inner);
    unsigned size = element_bytes(cursor->element);
    const char *type = element_names[cursor->element];
    if (is_npy && !npy_matches(&npy, cursor->element))
        return yaml_error(source->yaml, fill->at, report, "%s holds elements of NumPy type '%s', not %s ('%s')",
                          fill->path, npy.descr, type, npy_descr(cursor->element));
    uint64_t available = (is_npy ? npy.data_bytes : file.bytes) / size;
    if (is_npy && npy.count > available)
        return yaml_error(source->yaml, fill->at, report, "%s is cut off: %llu of its %llu elements are there",
                          fill->path, (unsigned long long)available, (unsigned long long)npy.count);
    if (is_npy && npy.data_bytes > npy.count * size)
        return yaml_error(source->yaml, fill->at, report, "%s holds %llu bytes more than the shape in its header says",
                          fill->path, (unsigned long long)(npy.data_bytes - npy.count * size));
    if (!is_npy && file.bytes % size)
        return yaml_error(source->yaml, fill->at, report, "%s has %zu bytes, which is no whole number of %s elements",
                          fill->path, file.bytes, type);
    uint64_t held = is_npy ? npy.count : available;
    if (cursor->count == FILL_COUNT_UNKNOWN)
        cursor->count = held;
    if (held != cursor->count)
        return yaml_error(source->yaml, fill->at, report, "%s holds %llu elements, but %llu are wanted", fill->path,
                          (unsigned long long)held, (unsigned long long)cursor->count);
    cursor->data = is_npy ? npy.data : (const void *)file.data;
    return STATUS_OK;
}

enum status fill_start(struct fill_cursor *cursor, const struct fill_source *source, struct arena *arena,
                       struct report *report) {
    const struct fill *fill = cursor->fill;
    const uint64_t count = cursor->count;
    *cursor = (struct fill_cursor){.fill = fill, .element = cursor->element, .count = count, .state = fill->state};
    if (fill->kind == FILL_FILE)
        return load_file(cursor, source, arena, report);
    if (fill->kind == FILL_VALUES) {
        if (count == FILL_COUNT_UNKNOWN)
            cursor->count = fill->value_count;
        if (cursor->count != fill->value_count)
            return yaml_error(source->yaml, fill->at, report, "%llu values are given, but %llu are wanted",
                              (unsigned long long)fill->value_count, (unsigned long long)count);
    }
    if (fill->kind == FILL_RANDOM)
        rng_seed(&cursor->rng, fill->has_seed ? fill->seed : source->seed);
    if (fill->kind == FILL_INDEX)
        cursor->index = fill->modulo ? positive_modulo(fill->offset.integer, fill->modulo) : fill->offset.integer;
    if (fill->kind == FILL_XORSHIFT32)
        cursor->state = xorshift32_skip(cursor->state, fill->skip);
    return STATUS_OK;
}

static void store_integer(enum element element, wide_integer value, void *out) {
    if (element_kind(element) == ELEMENT_FLOAT) {
        struct number number = number_integer(value);
        element_store(element, &number, out);
    } else {
        element_store_wrapped(element, value, out);
    }
}

/* Integers step exactly, without a division per element. */
static void step_integers(struct fill_cursor *cursor, unsigned char *out, uint64_t n, unsigned size, wide_integer step,
                          wide_integer modulo) {
    for (uint64_t i = 0; i < n; i++, out += size) {
        store_integer(cursor->element, cursor->index, out);
        cursor->index += step;
        if (modulo && cursor->index >= modulo)
            cursor->index -= modulo;
    }
}

/* After `modulo` elements they repeat: a buffer of millions should not take longer to fill than to use. */
static void next_integers(struct fill_cursor *cursor, unsigned char *out, uint64_t n, unsigned size) {
    const struct fill *fill = cursor->fill;
    const wide_integer modulo = (wide_integer)fill->modulo;
    const wide_integer step = fill->modulo ? positive_modulo(fill->scale.integer, fill->modulo) : fill->scale.integer;
    if (!fill->modulo || fill->modulo >= n) {
        step_integers(cursor, out, n, size, step, modulo);
        return;
    }
    const wide_integer first = cursor->index;
    step_integers(cursor, out, fill->modulo, size, step, modulo);
    for (uint64_t done = fill->modulo; done < n; done *= 2)
        memcpy(out + done * size, out, (done < n - done ? done : n - done) * size);
    cursor->index = (first + step * (wide_integer)(n % fill->modulo)) % modulo;
}

static void next_index(struct fill_cursor *cursor, unsigned char *out, uint64_t n, unsigned size) {
    const struct fill *fill = cursor->fill;
    if (fill->scale.is_integer && fill->offset.is_integer) {
        next_integers(cursor, out, n, size);
        return;
    }
    for (uint64_t i = 0; i < n; i++, out += size) {
        double value = (double)(cursor->next + i) * fill->scale.real + fill->offset.real;
        if (fill->modulo)
            value -= (double)fill->modulo * __builtin_floor(value / (double)fill->modulo);
        struct number number = number_real(value);
        element_store(cursor->element, &number, out);
    }
}

static void next_random(struct fill_cursor *cursor, unsigned char *out, uint64_t n, unsigned size) {
    const struct fill *fill = cursor->fill;
    bool is_float = element_kind(cursor->element) == ELEMENT_FLOAT;
    double span = fill->max.real - fill->min.real;
    uint64_t values = is_float ? 0 : (uint64_t)(fill->max.integer - fill->min.integer) + 1; /* 0: all of 2^64 */
    for (uint64_t i = 0; i < n; i++, out += size) {
        if (is_float) {
            struct number number = number_real(fill->min.real + span * rng_f64(&cursor->rng));
            element_store(cursor->element, &number, out);
        } else {
            uint64_t drawn = values ? rng_below(&cursor->rng, values) : rng_u64(&cursor->rng);
            element_store_wrapped(cursor->element, fill->min.integer + (wide_integer)drawn, out);
        }
    }
}

void fill_next(struct fill_cursor *cursor, void *out, uint64_t n) {
    const struct fill *fill = cursor->fill;
    unsigned char *to = out;
    unsigned size = element_bytes(cursor->element);
    switch (fill->kind) {
    case FILL_ZERO: memset(to, 0, n * size); break;
    case FILL_VALUE:
        for (uint64_t i = 0; i < n; i++)
            element_store(cursor->element, &fill->value, to + i * size);
        break;
    case FILL_INDEX: next_index(cursor, to, n, size); break;
    case FILL_RANDOM: next_random(cursor, to, n, size); break;
    case FILL_FILE: memcpy(to, cursor->data + cursor->next * size, n * size); break;
    case FILL_VALUES:
        for (uint64_t i = 0; i < n; i++)
            element_store(cursor->element, &fill->values[cursor->next + i], to + i * size);
        break;
    case FILL_XORSHIFT32:
        for (uint64_t i = 0; i < n; i++) {
            uint32_t value = xorshift32(&cursor->state);
            store_integer(cursor->element, fill->modulo ? value % (uint32_t)fill->modulo : value, to + i * size);
        }
        break;
    }
    cursor->next += n;
}
