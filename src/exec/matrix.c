/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on matrices that the 32 lanes of a warp hold together. */
#include <string.h>

#include "base/bits.h"
#include "exec/fragment.h"
#include "exec/tensor.h"

/* ---- 8x8 matrices of 16-bit elements ---- */

enum { ROW_BYTES = 16, ROWS = 8 };

/* Memory of the rows of all matrices, row r at the address of lane r; false: a fault. `there`: lanes whose row is not nowhere. */
static bool find_rows(struct exec *exec, unsigned warp, const struct step *step, unsigned count, uint8_t **rows,
                      uint32_t *there) {
    *there = 0;
    for (unsigned lane = 0; lane < ROWS * count; lane++) {
        const uint64_t address = exec_address(exec, warp, lane, step);
        if (step->address.space == SPACE_GENERIC && address - SHARED_WINDOW >= WINDOW_BYTES)
            return exec_fail(exec, warp, lane, step, "%s at address 0x%llx, which is not in shared memory",
                             op_name(step->inst->op), (unsigned long long)address);
        rows[lane] = exec_translate(exec, warp, lane, step, address, ROW_BYTES);
        if (!rows[lane])
            return false;
        *there |= (uint32_t)(rows[lane] != exec->nowhere) << lane;
    }
    return true;
}

/* Where the k-th element of a lane lies: in its row, or transposed. */
static uint8_t *element_of(uint8_t *const *rows, unsigned lane, unsigned k, bool transposed) {
    const unsigned one = lane / 4, other = 2 * (lane % 4) + k;
    return transposed ? rows[other] + 2 * one : rows[one] + 2 * other;
}

static bool load_matrices(struct exec *exec, unsigned warp, const struct step *step) {
    const bool transposed = step->inst->mode == MODE_TRANS;
    uint8_t *rows[LANES_MAX];
    uint32_t there, values[4][LANES_MAX];
    if (!find_rows(exec, warp, step, step->dst_count, rows, &there))
        return false;
    if (exec->core)
        exec_timed_shared(exec, warp, step, there, ACCESS_LOAD, ROW_BYTES);
    for (unsigned i = 0; i < step->dst_count; i++)
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            uint16_t elements[2];
            for (unsigned k = 0; k < 2; k++)
                memcpy(&elements[k], element_of(&rows[ROWS * i], lane, k, transposed), sizeof elements[k]);
            values[i][lane] = (uint32_t)elements[1] << 16 | elements[0];
        }
    for (unsigned i = 0; i < step->dst_count; i++) /* the address may be in one of them */
        for (unsigned lane = 0; lane < LANES_MAX; lane++)
            exec_write(exec, warp, &step->rows[i], lane, values[i][lane]);
    return true;
}

static bool store_matrices(struct exec *exec, unsigned warp, const struct step *step) {
    const bool transposed = step->inst->mode == MODE_TRANS;
    const unsigned count = step->src_count - 1u;
    uint8_t *rows[LANES_MAX];
    uint32_t there;
    if (!find_rows(exec, warp, step, count, rows, &there))
        return false;
    if (exec->core)
        exec_timed_shared(exec, warp, step, there, ACCESS_STORE, ROW_BYTES);
    for (unsigned i = 0; i < count; i++)
        for (unsigned lane = 0; lane < LANES_MAX; lane++) {
            const uint32_t value = (uint32_t)exec_read(exec, warp, &step->rows[1 + i], lane);
            for (unsigned k = 0; k < 2; k++) {
                const uint16_t element = (uint16_t)(value >> 16 * k);
                memcpy(element_of(&rows[ROWS * i], lane, k, transposed), &element, sizeof element);
            }
        }
    return true;
}

static void transpose(struct exec *exec, unsigned warp, const struct step *step) {
    uint16_t elements[ROWS][ROWS];
    for (unsigned lane = 0; lane < LANES_MAX; lane++) {
        const uint32_t value = (uint32_t)exec_read(exec, warp, &step->rows[1], lane);
        for (unsigned k = 0; k < 2; k++)
            elements[lane / 4][2 * (lane % 4) + k] = (uint16_t)(value >> 16 * k);
    }
    for (unsigned lane = 0; lane < LANES_MAX; lane++) {
        const unsigned row = 2 * (lane % 4), column = lane / 4;
        const uint32_t value = (uint32_t)elements[row + 1][column] << 16 | elements[row][column];
        exec_write(exec, warp, &step->rows[0], lane, value);
    }
}

/* ---- products ---- */

/* Lane i of the eight of a quad pair: four of the lower half of the warp, four of the upper one. */
static unsigned lane_in_quad(unsigned quad, unsigned i) { return 4 * quad + i % 4 + (i < 4 ? 0 : LANES_MAX / 2); }

/* The same of one quad pair, element by element. `stores`: from the tile to registers. */
static void move_quad(const struct fragment *fragment, unsigned layout, unsigned quad, uint64_t *tile, bool stores) {
    const struct matrix_form *form = fragment->form;
    const unsigned each = matrix_per_register(form, fragment->part), bits = 32 / each;
    for (unsigned i = 0; i < LANES_MAX / MATRIX_QUAD_COUNT; i++)
        for (unsigned reg = 0; reg < matrix_registers(form, fragment->part); reg++) {
            const unsigned lane = lane_in_quad(quad, i);
            uint64_t value = stores ? 0 : exec_read(fragment->exec, fragment->warp, &fragment->rows[reg], lane);
            for (unsigned k = 0; k < each; k++) {
                uint64_t *element =
                    &tile[fragment_index(form, fragment->part,
                                         matrix_place_in_quad(form, fragment->part, layout, lane, reg * each + k))];
                if (stores)
                    value |= *element << bits * k;
                else
                    *element = value >> bits * k & ((UINT64_C(1) << bits) - 1);
            }
            if (stores)
                exec_write(fragment->exec, fragment->warp, &fragment->rows[reg], lane, value);
        }
}

/* The metadata of four groups or more of k that a row has in one thread: bit 4i on is of its i-th group. */
static uint32_t metadata_of(struct exec *exec, unsigned warp, const struct step *step, unsigned row, unsigned chunk) {
    const struct matrix_form *form = matrix_form(step->inst->matrix);
    const struct matrix_sparsity sparsity = matrix_sparsity(form);
    const struct row *rows = step->rows + step->dst_count + step->src_count - 2u;
    const unsigned first = sparsity.threads * (unsigned)exec_read(exec, warp, &rows[1], 0), upper = row / 8;
    const unsigned thread = sparsity.by_rows ? 2 * chunk + upper : chunk;
    const uint32_t word = (uint32_t)exec_read(exec, warp, &rows[0], row % 8 * 4 + first + thread);
    return sparsity.by_rows ? word : word >> 16 * upper & 0xffff;
}

/* The places of the elements of one group, from its four bits; false: there are no such. */
static bool place_group(const struct matrix_sparsity *sparsity, unsigned bits, bool ordered, uint8_t *places) {
    const unsigned low = bits & 3, high = bits >> 2;
    if (sparsity->group == 2) {
        places[0] = bits == 0xe;
        return bits == 0xe || bits == 0x4;
    }
    const unsigned each = sparsity->group / 4;
    for (unsigned i = 0; i < each; i++)
        places[i] = (uint8_t)(low * each + i), places[each + i] = (uint8_t)(high * each + i);
    return ordered ? low < high : low != high;
}

/* Where in k the elements of a lie. */
static bool place_elements(struct exec *exec, unsigned warp, const struct step *step, uint8_t *places) {
    const struct matrix_form *form = matrix_form(step->inst->matrix);
    const struct matrix_sparsity sparsity = matrix_sparsity(form);
    const unsigned of_thread = sparsity.by_rows ? 8 : 4, kept = sparsity.group / 2;
    for (unsigned row = 0; row < form->m; row++)
        for (unsigned i = 0; i < form->k / sparsity.group; i++) {
            const uint32_t metadata = metadata_of(exec, warp, step, row, i / of_thread);
            const unsigned bits = metadata >> 4 * (i % of_thread) & 15;
            uint8_t *to = &places[row * matrix_depth(form) + i * kept];
            if (!place_group(&sparsity, bits, step->inst->mode == MODE_ORDERED, to))
                return exec_fail(exec, warp, row % 8 * 4, step,
                                 "mma.sp: metadata 0x%x of row %u, group %u name no elements%s", bits, row, i,
                                 step->inst->mode == MODE_ORDERED ? " in order" : "");
            for (unsigned j = 0; j < kept; j++)
                to[j] = (uint8_t)(to[j] + i * sparsity.group);
        }
    return true;
}

static bool multiply(struct exec *exec, unsigned warp, const struct step *step) {
    const struct inst *inst = step->inst;
    const struct matrix_form *form = matrix_form(inst->matrix);
    const struct tensor_rule rule = {.sum = (enum tensor_sum)exec->launch->tensor_sum,
                                     .saturates = (inst->flags & FLAG_SAT) != 0,
                                     .is_and = inst->boolop == BOOL_AND,
                                     .rounding = (enum rounding)inst->rounding};
    const struct row *sources = step->rows + step->dst_count;
    const unsigned of_a = matrix_registers(form, PART_A), of_b = matrix_registers(form, PART_B);
    const struct fragment a = {exec, warp, form, sources, PART_A}, b = {exec, warp, form, sources + of_a, PART_B};
    const struct fragment c = {exec, warp, form, sources + of_a + of_b, PART_C},
                          d = {exec, warp, form, step->rows, PART_D};
    if (!(form->options & MATRIX_QUADS)) {
        struct tensor_tile tile;
        fragment_read(&a, tile.a), fragment_read(&b, tile.b), fragment_read(&c, tile.c);
        if (form->options & MATRIX_SPARSE && !place_elements(exec, warp, step, tile.place))
            return false;
        tensor_multiply(form, &rule, &tile);
        fragment_write(&d, tile.d);
        return true;
    }
    struct tensor_tile tiles[MATRIX_QUAD_COUNT]; /* all are read before any is written */
    for (unsigned quad = 0; quad < MATRIX_QUAD_COUNT; quad++) {
        move_quad(&a, inst->layout, quad, tiles[quad].a, false),
            move_quad(&b, inst->layout, quad, tiles[quad].b, false);
        move_quad(&c, inst->layout, quad, tiles[quad].c, false);
        tensor_multiply(form, &rule, &tiles[quad]);
    }
    for (unsigned quad = 0; quad < MATRIX_QUAD_COUNT; quad++)
        move_quad(&d, inst->layout, quad, tiles[quad].d, true);
    return true;
}

bool exec_matrix_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    if (lanes != UINT32_MAX)
        return exec_fail(exec, warp, bits_first(lanes), step,
                         "%s is an operation of all 32 lanes of a warp; lanes 0x%08x take no part",
                         op_name(step->inst->op), (unsigned)~lanes);
    switch ((enum op)step->inst->op) {
    case OP_LDMATRIX: return load_matrices(exec, warp, step);
    case OP_STMATRIX: return store_matrices(exec, warp, step);
    case OP_TILE_LOAD:
    case OP_TILE_STORE: return fragment_move(exec, warp, step);
    case OP_MOVMATRIX: transpose(exec, warp, step); return true;
    case OP_WGMMA: return exec_wgmma_step(exec, warp, step);
    default: return multiply(exec, warp, step);
    }
}
