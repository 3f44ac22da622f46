/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/fragment.h"

#include <string.h>

#include "base/bits.h"
#include "exec/core.h"

static uint64_t element_mask(unsigned bits) { return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1; }

/* ---- registers ---- */

/* Elements of a row of its array. */
static unsigned depth_of(const struct matrix_form *form, enum matrix_part part) {
    return part == PART_A ? matrix_columns(form, part) : part == PART_B ? form->k : form->n;
}

unsigned fragment_index(const struct matrix_form *form, enum matrix_part part, struct matrix_place place) {
    const unsigned depth = depth_of(form, part);
    return part == PART_B ? place.column * depth + place.row : place.row * depth + place.column;
}

void fragment_read(const struct fragment *from, uint64_t *tile) {
    const struct matrix_form *form = from->form;
    const unsigned each = matrix_per_register(form, from->part);
    const unsigned bits = matrix_element_bits(matrix_element_of(form, from->part));
    for (unsigned reg = 0; reg < matrix_distinct(form, from->part); reg++)
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            const uint64_t value = exec_read(from->exec, from->warp, &from->rows[reg], lane);
            uint64_t *to = &tile[fragment_index(form, from->part, matrix_place(form, from->part, lane, reg))];
            for (unsigned i = 0; i < each; i++)
                to[i] = value >> bits * i & element_mask(bits);
        }
}

void fragment_write(const struct fragment *to, const uint64_t *tile) {
    const struct matrix_form *form = to->form;
    const unsigned each = matrix_per_register(form, to->part);
    const unsigned bits = matrix_element_bits(matrix_element_of(form, to->part));
    for (unsigned reg = 0; reg < matrix_registers(form, to->part); reg++)
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            const unsigned like = reg % matrix_distinct(form, to->part);
            const uint64_t *from = &tile[fragment_index(form, to->part, matrix_place(form, to->part, lane, like))];
            uint64_t value = 0;
            for (unsigned i = 0; i < each; i++)
                value |= from[i] << bits * i;
            exec_write(to->exec, to->warp, &to->rows[reg], lane, value);
        }
}

/* ---- memory ---- */

enum { ALIGNED_MAX = 16, TILE_BYTES = 32 * LANES_MAX };

static enum matrix_part part_of(const struct inst *inst) {
    return (enum matrix_part)(inst->layout >> LAYOUT_PART_SHIFT);
}

/* Elements of a row, or of a column where the matrix lies by columns. */
static unsigned line_of(const struct inst *inst) {
    const struct matrix_form *form = matrix_form(inst->matrix);
    return inst->layout & LAYOUT_COLUMNS ? matrix_rows(form, part_of(inst)) : matrix_columns(form, part_of(inst));
}

bool fragment_pieces(struct exec *exec, unsigned warp, const struct step *step, struct tile_pieces *pieces) {
    const struct inst *inst = step->inst;
    const struct matrix_form *form = matrix_form(inst->matrix);
    const enum matrix_part part = part_of(inst);
    const unsigned bits = matrix_element_bits(matrix_element_of(form, part));
    const uint32_t line_bytes = line_of(inst) * bits / 8;
    const struct row *stride_row = &step->rows[step->dst_count + 1u];
    const uint64_t start = exec_address(exec, warp, 0, step), stride = exec_read(exec, warp, stride_row, 0);
    for (unsigned lane = 1; lane < LANES_MAX; lane++)
        if (exec_address(exec, warp, lane, step) != start || exec_read(exec, warp, stride_row, lane) != stride)
            return exec_fail(exec, warp, lane, step, "%s: lanes 0 and %u name different addresses or strides",
                             op_name(inst->op), lane);
    pieces->bytes = matrix_rows(form, part) * matrix_columns(form, part) * bits / 8 / LANES_MAX;
    pieces->access_bytes = pieces->bytes < ALIGNED_MAX ? pieces->bytes : ALIGNED_MAX;
    for (unsigned lane = 0; lane < LANES_MAX; lane++) {
        const uint32_t at = lane * pieces->bytes;
        pieces->address[lane] = start + (uint32_t)stride * (uint64_t)bits / 8 * (at / line_bytes) + at % line_bytes;
    }
    return true;
}

static bool is_global(const struct step *step, uint64_t address) {
    return step->address.space == SPACE_GLOBAL || (step->address.space == SPACE_GENERIC && address >= GLOBAL_BASE);
}

/* One access of a lane. */
struct tile_part {
    unsigned lane;
    uint32_t bytes;
    uint64_t address;
    uint8_t *value; /* goes there, or comes from there */
};

static bool move_part(struct exec *exec, unsigned warp, const struct step *step, const struct tile_part *part) {
    uint8_t *memory = exec_translate(exec, warp, part->lane, step, part->address, part->bytes);
    if (!memory)
        return false;
    const bool global = exec->core && is_global(step, part->address) && memory != exec->nowhere;
    if (step->inst->op == OP_TILE_LOAD) {
        memcpy(part->value, memory, part->bytes);
        if (global)
            exec_timed_bytes(exec, part->address, part->bytes, part->value);
        return true;
    }
    if (!global) {
        memcpy(memory, part->value, part->bytes);
        return true;
    }
    exec->counts->progress++;
    for (uint32_t at = 0; at < part->bytes; at += 4) {
        uint32_t word;
        memcpy(&word, part->value + at, sizeof word);
        core_log(exec->core, part->address + at, word, sizeof word);
    }
    return true;
}

static bool move_pieces(struct exec *exec, unsigned warp, const struct step *step, const struct tile_pieces *pieces,
                        uint8_t *bytes) {
    if (exec->core)
        exec_timed_pieces(exec, warp, step, pieces->address, pieces->bytes);
    for (unsigned lane = 0; lane < LANES_MAX; lane++)
        for (uint32_t at = 0; at < pieces->bytes; at += pieces->access_bytes) {
            const struct tile_part part = {lane, pieces->access_bytes, pieces->address[lane] + at,
                                           bytes + lane * pieces->bytes + at};
            if (!move_part(exec, warp, step, &part))
                return false;
        }
    return true;
}

/* Element `at` of the bytes, in the order of memory: into or out of the array. */
static void convert(const struct inst *inst, uint8_t *bytes, uint64_t *tile, bool stores) {
    const struct matrix_form *form = matrix_form(inst->matrix);
    const enum matrix_part part = part_of(inst);
    const unsigned line = line_of(inst), bits = matrix_element_bits(matrix_element_of(form, part));
    const unsigned count = matrix_rows(form, part) * matrix_columns(form, part);
    for (unsigned i = 0; i < count; i++) {
        const struct matrix_place place = inst->layout & LAYOUT_COLUMNS ? (struct matrix_place){i % line, i / line}
                                                                        : (struct matrix_place){i / line, i % line};
        uint64_t *element = &tile[fragment_index(form, part, place)];
        if (bits >= 8 && stores)
            memcpy(bytes + i * (bits / 8), element, bits / 8);
        else if (bits >= 8)
            *element = 0, memcpy(element, bytes + i * (bits / 8), bits / 8);
        else
            *element = (unsigned)bytes[i * bits / 8] >> i * bits % 8 & element_mask(bits);
    }
}

bool fragment_move(struct exec *exec, unsigned warp, const struct step *step) {
    const struct inst *inst = step->inst;
    const bool stores = inst->op == OP_TILE_STORE;
    const struct fragment fragment = {exec, warp, matrix_form(inst->matrix), step->rows + (stores ? 2 : 0),
                                      part_of(inst)};
    struct tile_pieces pieces;
    uint8_t bytes[TILE_BYTES];
    uint64_t tile[1024]; /* of b1, whose elements are smallest */
    if (!fragment_pieces(exec, warp, step, &pieces))
        return false;
    if (stores) {
        fragment_read(&fragment, tile);
        convert(inst, bytes, tile, true);
        return move_pieces(exec, warp, step, &pieces, bytes);
    }
    if (!move_pieces(exec, warp, step, &pieces, bytes))
        return false;
    convert(inst, bytes, tile, false);
    fragment_write(&fragment, tile);
    return true;
}
