/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/tensor_arg.h"

#include <string.h>

#include "base/words.h"
#include "image/tensor_map.h"

static const char *const known[] = {"tensor", "type", "sizes", "box", "strides", "steps", "swizzle", "nan", NULL};
/* In the order of enum tensor_element. */
static const char *const types[] = {"u8",  "u16", "u32",  "i32",     "u64",  "i64",      "f16",
                                    "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", NULL};
_Static_assert(sizeof types / sizeof *types == TENSOR_ELEMENTS + 1, "a name for each");

/* What the keys of an argument are read with. */
struct tensor_reader {
    const struct yaml *yaml;
    const struct yaml_node *node;
    struct report *report;
};

/* The list of a key, which has `count` numbers (0: one to five); *found 0: there is none. */
static enum status read_list(const struct tensor_reader *r, const char *key, unsigned count, uint64_t *out,
                             unsigned *found) {
    const struct yaml_node *list = yaml_get(r->node, key);
    enum status status = STATUS_OK;
    *found = 0;
    if (!list)
        return STATUS_OK;
    if (list->kind != YAML_LIST || !list->count || (count ? list->count != count : list->count > TENSOR_RANK_MAX))
        return yaml_error(r->yaml, list, r->report, "%s is a list of %s numbers, innermost first", key,
                          !count                        ? "one to five"
                          : strcmp(key, "strides") == 0 ? "rank - 1"
                                                        : "as many as sizes");
    for (unsigned i = 0; i < list->count && !status; i++)
        status = yaml_unsigned(r->yaml, list->items[i], key, UINT64_C(1) << 41, &out[i], r->report);
    *found = list->count;
    return status;
}

static enum status read_kinds(const struct tensor_reader *r, struct tensor_map *map) {
    static const struct {
        const char *text;
        uint8_t swizzle;
    } swizzles[] = {{"0", SWIZZLE_NONE}, {"32", SWIZZLE_32}, {"64", SWIZZLE_64}, {"128", SWIZZLE_128}};
    const struct yaml_node *type = yaml_get(r->node, "type"), *swizzle = yaml_get(r->node, "swizzle");
    const struct yaml_node *nan = yaml_get(r->node, "nan");
    unsigned element = 0, which = 0;
    while (type && type->kind == YAML_SCALAR && types[element] && strcmp(types[element], type->text) != 0)
        element++;
    if (!type || type->kind != YAML_SCALAR || !types[element])
        return yaml_error(r->yaml, type ? type : r->node, r->report, "a tensor has a type: one of %s",
                          "u8, u16, u32, i32, u64, i64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz");
    while (swizzle && which < SWIZZLES &&
           (swizzle->kind != YAML_SCALAR || strcmp(swizzles[which].text, swizzle->text) != 0))
        which++;
    if (which == SWIZZLES)
        return yaml_error(r->yaml, swizzle, r->report, "swizzle is 0, 32, 64 or 128 bytes");
    if (nan && (nan->kind != YAML_SCALAR || (strcmp(nan->text, "true") != 0 && strcmp(nan->text, "false") != 0)))
        return yaml_error(r->yaml, nan, r->report, "nan is true or false");
    map->element = (uint8_t)element, map->swizzle = swizzles[which].swizzle;
    map->fill = nan && strcmp(nan->text, "true") == 0;
    return STATUS_OK;
}

/* Lists that are not there: rows side by side, and every element. */
static enum status read_shape(const struct tensor_reader *r, struct tensor_map *map) {
    uint64_t sizes[TENSOR_RANK_MAX], box[TENSOR_RANK_MAX], steps[TENSOR_RANK_MAX], strides[TENSOR_RANK_MAX];
    unsigned rank, sides, stepped, strided = 0;
    enum status status = read_list(r, "sizes", 0, sizes, &rank);
    if (!status && !rank)
        return yaml_error(r->yaml, r->node, r->report, "a tensor has sizes and a box");
    status = status ? status : read_list(r, "box", rank, box, &sides);
    if (!status && !sides)
        return yaml_error(r->yaml, r->node, r->report, "a tensor has sizes and a box");
    status = status ? status : read_list(r, "steps", rank, steps, &stepped);
    if (!status && rank > 1)
        status = read_list(r, "strides", rank - 1, strides, &strided);
    if (status)
        return status;
    map->rank = (uint8_t)rank;
    uint64_t row = tensor_element_bytes((enum tensor_element)map->element);
    for (unsigned d = 0; d < rank; d++) {
        if (!sizes[d] || sizes[d] > UINT64_C(1) << 32 || box[d] > UINT16_MAX || (stepped && steps[d] > UINT8_MAX))
            return yaml_error(r->yaml, r->node, r->report, "a size, a side of the box or a step is out of range");
        map->last[d] = (uint32_t)(sizes[d] - 1), map->box[d] = (uint16_t)box[d];
        map->step[d] = stepped ? (uint8_t)steps[d] : 1;
        if (d)
            row = map->stride[d - 1] = strided ? strides[d - 1] : row;
        row = row <= UINT64_C(1) << 41 ? row * sizes[d] : UINT64_MAX; /* which is refused */
    }
    return STATUS_OK;
}

enum status tensor_arg_read(const struct yaml *yaml, const struct yaml_node *node, struct arena *arena,
                            struct launch_arg *out, struct report *report) {
    const struct tensor_reader reader = {yaml, node, report};
    struct tensor_map *map = ARENA_NEW(arena, struct tensor_map);
    const char *why;
    *map = (struct tensor_map){.mark = TENSOR_MAP_MARK};
    out->kind = LAUNCH_ARG_TENSOR, out->bytes = map, out->byte_count = sizeof *map;
    enum status status = yaml_known_keys(yaml, node, "a tensor", known, report);
    status = status ? status : read_kinds(&reader, map);
    status = status ? status : read_shape(&reader, map);
    struct tensor_map ignored;
    if (!status && !tensor_arg_map(out, 0, &ignored, &why))
        return yaml_error(yaml, node, report, "a tensor map: %s", why);
    return status;
}

bool tensor_arg_map(const struct launch_arg *arg, uint64_t address, void *map, const char **why) {
    struct tensor_map made;
    memcpy(&made, arg->bytes, sizeof made);
    made.address = address;
    memcpy(map, &made, sizeof made);
    *why = tensor_map_wrong(&made);
    return !*why;
}
