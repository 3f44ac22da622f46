/* SPDX-License-Identifier: Apache-2.0 */
/* Products of warpgroups: each of four warps computes 16 rows of 64. b, and a where registers do not hold it, are read from shared memory
 * when the instruction issues; what a warp adds up is in its registers at once, which programs may look at only behind a wait. */
#include <string.h>

#include "exec/fragment.h"
#include "exec/tensor.h"

enum { WARPS = 4, WARP_ROWS = 16, ROWS_TOGETHER = 8, CHUNK = 16, COLUMNS = 8 };
enum wgmma_source { SOURCE_B, SOURCE_ADDS, SOURCE_A };

/* A matrix in shared memory as a descriptor says. `rows` are those of a and the columns of b; k goes along the other side. */
struct wgmma_matrix {
    uint32_t start, leading, stride; /* bytes */
    uint32_t width;                  /* bytes of a row of eight that are swizzled together; CHUNK: they are not */
    unsigned bits;                   /* of an element */
    bool by_rows;                    /* neighbours are of the same k */
};

/* [PTX ISA, matrix descriptor] */
static struct wgmma_matrix unpack(uint64_t descriptor, unsigned bits, bool by_rows) {
    static const uint32_t widths[] = {CHUNK, 128, 64, 32};
    return (struct wgmma_matrix){.start = (uint32_t)(descriptor & 0x3fff) << 4,
                                 .leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                                 .stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4,
                                 .width = widths[descriptor >> 62],
                                 .bits = bits,
                                 .by_rows = by_rows};
}

/* Byte of shared memory where the element's is, and what is before it in that byte's chunk. [layouts: as CUTLASS writes them down] */
static uint32_t place_of(const struct wgmma_matrix *matrix, unsigned row, unsigned k) {
    const uint32_t along = (matrix->by_rows ? row : k) * matrix->bits / 8; /* bytes */
    const uint32_t across = matrix->by_rows ? k : row, width = matrix->width;
    const uint32_t group = across / ROWS_TOGETHER, beyond = along / width;
    uint32_t at = matrix->start + across % ROWS_TOGETHER * width + along % width;
    if (!matrix->by_rows)
        at += group * matrix->stride + beyond * matrix->leading;
    else if (width == CHUNK)
        at += group * matrix->leading + beyond * matrix->stride;
    else
        at += group * matrix->stride + beyond * matrix->leading;
    return at ^ (at >> 7 & (width / CHUNK - 1)) * CHUNK;
}

static bool read_elements(struct exec *exec, unsigned warp, const struct step *step, const struct wgmma_matrix *matrix,
                          const unsigned first_and_rows[2], uint64_t *to) {
    const unsigned depth = matrix_form(step->inst->matrix)->k, bits = matrix->bits;
    const uint32_t bytes = bits < 8 ? 1 : bits / 8;
    for (unsigned row = 0; row < first_and_rows[1]; row++)
        for (unsigned k = 0; k < depth; k++) {
            const uint32_t at = place_of(matrix, first_and_rows[0] + row, k);
            uint64_t value = 0;
            if (!range_within(at, bytes, exec->shared_bytes))
                return exec_fail(exec, warp, 0, step, "wgmma reads shared address 0x%x, but there are only 0x%x bytes",
                                 (unsigned)at, (unsigned)exec->shared_bytes);
            memcpy(&value, exec->shared + at, bytes);
            to[row * depth + k] = bits < 8 ? value >> k % 8 & 1 : value;
        }
    return true;
}

static void negate(uint64_t *elements, unsigned count, unsigned bits) {
    for (unsigned i = 0; i < count; i++)
        elements[i] ^= UINT64_C(1) << (bits - 1);
}

static bool check(struct exec *exec, unsigned warp, const struct step *step, uint64_t descriptor) {
    if (descriptor >> 49 & 7)
        return exec_fail(exec, warp, 0, step, "wgmma: a descriptor with a base offset is not supported");
    return true;
}

/* a, of the warp's rows. */
static bool read_a(struct exec *exec, unsigned warp, const struct step *step, uint64_t *to) {
    const struct inst *inst = step->inst;
    const struct matrix_form *form = matrix_form(inst->matrix);
    const struct row *rows = step->rows + step->dst_count + SOURCE_A;
    const unsigned bits = matrix_element_bits((enum matrix_element)form->a);
    if (inst->layout & LAYOUT_A_SHARED) {
        const uint64_t descriptor = exec_read(exec, warp, &rows[0], 0);
        const struct wgmma_matrix matrix = unpack(descriptor, bits, (inst->layout & LAYOUT_A_MN) != 0);
        const unsigned which[2] = {warp % WARPS * WARP_ROWS, WARP_ROWS};
        if (!check(exec, warp, step, descriptor) || !read_elements(exec, warp, step, &matrix, which, to))
            return false;
    } else {
        const struct fragment fragment = {exec, warp, form, rows, PART_A};
        fragment_read(&fragment, to);
    }
    if (inst->layout & LAYOUT_NEGATES_A)
        negate(to, WARP_ROWS * form->k, bits);
    return true;
}

bool exec_wgmma_step(struct exec *exec, unsigned warp, const struct step *step) {
    const struct inst *inst = step->inst;
    const struct matrix_form *form = matrix_form(inst->matrix);
    const struct row *sources = step->rows + step->dst_count;
    const unsigned bits = matrix_element_bits((enum matrix_element)form->a);
    const unsigned each = matrix_registers(form, PART_D), of_a = inst->layout & LAYOUT_A_SHARED ? 1 : 4;
    const uint64_t descriptor = exec_read(exec, warp, &sources[SOURCE_B], 0);
    const struct wgmma_matrix b = unpack(descriptor, bits, (inst->layout & LAYOUT_B_MN) != 0);
    const bool adds = exec_read(exec, warp, &sources[SOURCE_ADDS], 0) != 0;
    const struct tensor_rule rule = {.sum = (enum tensor_sum)exec->launch->tensor_sum,
                                     .saturates = (inst->flags & FLAG_SAT) != 0,
                                     .is_and = inst->boolop == BOOL_AND};
    struct tensor_tile tile;
    if (warp - warp % WARPS + WARPS > exec->warps)
        return exec_fail(exec, warp, 0, step, "wgmma is an operation of four warps, but the block ends with warp %u",
                         exec->warps - 1);
    if (!check(exec, warp, step, descriptor) || !read_a(exec, warp, step, tile.a))
        return false;
    for (unsigned i = 0; i < inst->columns; i++) {
        const unsigned which[2] = {i * COLUMNS, COLUMNS};
        if (!read_elements(exec, warp, step, &b, which, tile.b))
            return false;
        if (inst->layout & LAYOUT_NEGATES_B)
            negate(tile.b, COLUMNS * form->k, bits);
        const struct fragment c = {exec, warp, form, sources + SOURCE_A + of_a + i * each, PART_C};
        const struct fragment d = {exec, warp, form, step->rows + i * each, PART_D};
        memset(tile.c, 0, sizeof tile.c);
        if (adds)
            fragment_read(&c, tile.c);
        tensor_multiply(form, &rule, &tile);
        fragment_write(&d, tile.d);
    }
    return true;
}
