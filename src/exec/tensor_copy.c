/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies by tensor maps, each of one thread, and what changes such maps. As other bulk copies (exec/bulk.c), their bytes move when they
 * issue; in time those that are read are as of then, what is stored is logged, and reductions are performed in memory with the SM's log. */
#include <string.h>

#include "base/bits.h"
#include "exec/bulk.h"
#include "exec/core.h"
#include "exec/scalar.h"
#include "image/tensor_map.h"

enum tensor_source {
    SOURCE_MAP,
    SOURCE_SHARED,
    SOURCE_SHARED_OFFSET,
    SOURCE_BARRIER,
    SOURCE_BARRIER_OFFSET,
    SOURCE_MASK /* then, of all: coordinates */
};

/* A copy under way. */
struct tensor_box {
    struct bulk bulk;
    struct tensor_map map;
    int32_t at[TENSOR_RANK_MAX];
    uint8_t *shared; /* where bulk.shared leads */
    enum type type;  /* of reductions */
};

/* Bytes side by side in global memory, and theirs of shared memory. */
struct tensor_piece {
    uint64_t address;
    uint32_t bytes;
    uint8_t *data;
};

static uint32_t sum(const struct exec *exec, unsigned warp, unsigned lane, const struct row *rows) {
    return (uint32_t)(exec_read(exec, warp, &rows[0], lane) + exec_read(exec, warp, &rows[1], lane));
}

/* ---- the map ---- */

enum { MAP_PART = 64 }; /* bytes that its address is a multiple of */

/* Global memory as the SM sees it, in pieces that lie in one sector each. */
static void see(const struct exec *exec, uint64_t address, uint32_t bytes, uint8_t *data) {
    const uint64_t end = address + bytes;
    while (exec->core && address < end) {
        const uint64_t next = ((address >> SECTOR_SHIFT) + 1) << SECTOR_SHIFT, to = next < end ? next : end;
        exec_timed_bytes(exec, address, (uint32_t)(to - address), data);
        data += to - address, address = to;
    }
}

static bool is_global(const struct step *step, uint64_t address) {
    const enum space space = step->address.space;
    return space != SPACE_PARAM && space != SPACE_SHARED && address >= GLOBAL_BASE;
}

static bool read_map(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint64_t address,
                     struct tensor_map *map) {
    for (unsigned at = 0; at < TENSOR_MAP_BYTES; at += MAP_PART) {
        const uint8_t *from = exec_translate(exec, warp, lane, step, address + at, MAP_PART);
        if (!from)
            return false;
        memcpy((uint8_t *)map + at, from, MAP_PART);
        if (from != exec->nowhere && is_global(step, address))
            see(exec, address + at, MAP_PART, (uint8_t *)map + at);
    }
    return true;
}

/* False: a fault. */
static bool check_map(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                      const struct tensor_box *box) {
    const struct tensor_map *map = &box->map;
    const unsigned long long address = box->bulk.address;
    const bool is_map = map->mark == TENSOR_MAP_MARK;
    const char *unsupported = is_map ? tensor_map_unsupported(map) : NULL;
    const char *wrong = tensor_map_wrong(map);
    if (unsupported)
        return exec_fail(exec, warp, lane, step, "unsupported: tensor map at 0x%llx: %s", address, unsupported);
    if (wrong)
        return exec_fail(exec, warp, lane, step, "tensor map at 0x%llx: %s", address, wrong);
    if (map->rank != step->inst->rank)
        return exec_fail(exec, warp, lane, step, "tensor map at 0x%llx has %u dimensions, and the copy %u", address,
                         (unsigned)map->rank, (unsigned)step->inst->rank);
    if (box->bulk.shared % TENSOR_SHARED_ALIGN)
        return exec_fail(exec, warp, lane, step,
                         "copy of a tensor at shared address 0x%x, which is not a multiple of %d",
                         (unsigned)box->bulk.shared, TENSOR_SHARED_ALIGN);
    return true;
}

/* ---- bytes ---- */

static bool bring(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                  const struct tensor_piece *piece) {
    const uint8_t *memory = exec_translate_global(exec, warp, lane, step, piece->address, piece->bytes);
    if (!memory)
        return false;
    memcpy(piece->data, memory, piece->bytes);
    if (memory != exec->nowhere)
        see(exec, piece->address, piece->bytes, piece->data);
    return true;
}

static bool put(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                const struct tensor_piece *piece) {
    uint8_t *memory = exec_translate_global(exec, warp, lane, step, piece->address, piece->bytes);
    if (!memory)
        return false;
    if (!exec->core || memory == exec->nowhere) {
        memcpy(memory, piece->data, piece->bytes);
        return true;
    }
    exec->counts->progress++;
    for (uint32_t at = 0, bytes; at < piece->bytes; at += bytes) {
        const uint64_t address = piece->address + at;
        const uint32_t word = 8 - (uint32_t)(address % 8);
        uint64_t value = 0;
        bytes = piece->bytes - at < word ? piece->bytes - at : word;
        memcpy(&value, piece->data + at, bytes);
        core_log(exec->core, address, value, bytes);
    }
    return true;
}

/* The type of PTX that the reduction of such elements has; TYPE_NONE: there is none. */
static enum type reduced_type(enum atom atom, enum tensor_element element) {
    static const enum type types[TENSOR_ELEMENTS] = {
        [TENSOR_U32] = TYPE_U32, [TENSOR_S32] = TYPE_S32,   [TENSOR_U64] = TYPE_U64,
        [TENSOR_S64] = TYPE_S64, [TENSOR_F16] = TYPE_F16,   [TENSOR_F32] = TYPE_F32,
        [TENSOR_F64] = TYPE_F64, [TENSOR_BF16] = TYPE_BF16, [TENSOR_F32_FTZ] = TYPE_F32};
    const enum type type = types[element];
    switch (atom) {
    case ATOM_ADD: return type == TYPE_S64 ? TYPE_U64 : type;
    case ATOM_INC:
    case ATOM_DEC: return type == TYPE_U32 ? type : TYPE_NONE;
    case ATOM_MIN:
    case ATOM_MAX: return type == TYPE_F32 || type == TYPE_F64 ? TYPE_NONE : type;
    default: return type_is_float(type) ? TYPE_NONE : type;
    }
}

static bool reduce(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                   const struct tensor_box *box, const struct tensor_piece *piece) {
    const enum atom atom = (enum atom)step->inst->atom;
    const uint32_t size = type_bytes(box->type);
    uint8_t *memory = exec_translate_global(exec, warp, lane, step, piece->address, piece->bytes);
    if (!memory)
        return false;
    exec->counts->progress++;
    for (uint32_t at = 0; at < piece->bytes; at += size) {
        uint64_t old = 0, value = 0;
        memcpy(&value, piece->data + at, size);
        if (exec->core && memory != exec->nowhere) {
            core_log_reduction(exec->core, piece->address + at, value, atom, box->type);
            continue;
        }
        memcpy(&old, memory + at, size);
        const uint64_t new = scalar_atomic(atom, box->type, box->type == TYPE_F32, old, value, 0);
        memcpy(memory + at, &new, size);
    }
    return true;
}

/* ---- boxes ---- */

static bool move_piece(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                       const struct tensor_box *box, const struct tensor_piece *piece) {
    if (step->inst->mode == MODE_BULK_LOAD)
        return bring(exec, warp, lane, step, piece);
    return step->inst->atom == ATOM_NONE ? put(exec, warp, lane, step, piece)
                                         : reduce(exec, warp, lane, step, box, piece);
}

/* Of 16 bytes of a row, which begin `offset` bytes behind its start, those in the tensor. */
static struct tensor_piece piece_of(const struct tensor_box *box, const struct tensor_row *row, uint32_t offset,
                                    uint8_t *chunk) {
    const uint32_t size = tensor_element_bytes((enum tensor_element)box->map.element);
    const uint32_t start = offset / size, end = start + TENSOR_CHUNK / size;
    const uint32_t first = row->first > start ? row->first : start, last = row->last < end ? row->last : end;
    if (first >= last)
        return (struct tensor_piece){.bytes = 0};
    return (struct tensor_piece){row->address + (uint64_t)first * size, (last - first) * size,
                                 chunk + (first - start) * size};
}

static bool move_row(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                     const struct tensor_box *box, uint32_t number) {
    const struct tensor_map *map = &box->map;
    const struct tensor_row row = tensor_map_row(map, box->at, number);
    const uint32_t bytes = tensor_map_row_bytes(map), shared = box->bulk.shared;
    const bool loads = step->inst->mode == MODE_BULK_LOAD;
    for (uint32_t offset = 0; offset < bytes; offset += TENSOR_CHUNK) {
        const uint32_t at = (uint32_t)tensor_map_swizzled(map, shared + number * bytes + offset);
        uint8_t *there = box->shared ? box->shared + (at - shared) : NULL; /* NULL: another block's, in time */
        uint8_t chunk[TENSOR_CHUNK];
        if (loads)
            tensor_map_fill(map, chunk);
        else
            memcpy(chunk, there, sizeof chunk);
        const struct tensor_piece piece = piece_of(box, &row, offset, chunk);
        if (piece.bytes && !move_piece(exec, warp, lane, step, box, &piece))
            return false;
        if (loads) {
            tensor_map_convert(map, chunk);
            if (there)
                memcpy(there, chunk, sizeof chunk);
            else if (!exec_far_put(exec, warp, lane, step, &(struct far_bytes){at, sizeof chunk, chunk, 0}))
                return false;
        }
    }
    return true;
}

static bool move_box(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, struct tensor_box *box) {
    struct bulk whole = box->bulk;
    if (box->map.swizzle) /* which may lead to the end of the last line */
        whole.bytes = (uint32_t)bits_round_up(whole.bytes, TENSOR_SHARED_ALIGN);
    const bool far = step->inst->mode == MODE_BULK_LOAD && exec_is_far(exec, whole.shared);
    box->shared = far ? NULL : bulk_shared(exec, warp, lane, step, &whole);
    if (!far && !box->shared)
        return false;
    const uint32_t rows = box->bulk.bytes / tensor_map_row_bytes(&box->map);
    for (uint32_t row = 0; row < rows; row++)
        if (!move_row(exec, warp, lane, step, box, row))
            return false;
    return step->inst->mode != MODE_BULK_LOAD || bulk_complete(exec, warp, lane, step, &box->bulk);
}

/* To the same place in each block that the mask names. */
static bool move_to_all(struct exec *exec, unsigned warp, unsigned lane, const struct step *step,
                        struct tensor_box *box) {
    const uint32_t mask = (uint32_t)exec_read(exec, warp, &step->rows[SOURCE_MASK], lane) & UINT16_MAX;
    const uint64_t done = exec->core && mask ? bulk_turn(exec, box->bulk.bytes) : 0;
    for (BITS_EACH(rank, mask)) {
        struct tensor_box one = *box;
        one.bulk.done = done;
        if (!exec_shared_name(exec, rank, &one.bulk.shared) || !exec_shared_name(exec, rank, &one.bulk.barrier))
            return exec_fail(exec, warp, lane, step,
                             "cp.async.bulk to block %u of the cluster, which has no such block", rank);
        if (!move_box(exec, warp, lane, step, &one))
            return false;
    }
    return true;
}

/* What is copied; false: a fault. */
static bool find_box(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, struct tensor_box *box) {
    const struct inst *inst = step->inst;
    *box = (struct tensor_box){.bulk = {.address = exec_address(exec, warp, lane, step)}};
    if (inst->mode != MODE_BULK_PREFETCH)
        box->bulk.shared = sum(exec, warp, lane, &step->rows[SOURCE_SHARED]);
    if (inst->mode == MODE_BULK_LOAD)
        box->bulk.barrier = sum(exec, warp, lane, &step->rows[SOURCE_BARRIER]);
    for (unsigned d = 0; d < inst->rank; d++)
        box->at[d] = (int32_t)(uint32_t)exec_read(exec, warp, &step->rows[step->src_count - inst->rank + d], lane);
    if (!read_map(exec, warp, lane, step, box->bulk.address, &box->map) || !check_map(exec, warp, lane, step, box))
        return false;
    box->bulk.bytes = tensor_map_bytes(&box->map);
    if (inst->atom == ATOM_NONE)
        return true;
    box->type = reduced_type((enum atom)inst->atom, (enum tensor_element)box->map.element);
    return box->type != TYPE_NONE ||
           exec_fail(exec, warp, lane, step, "tensor map at 0x%llx: PTX has no such reduction of its elements",
                     (unsigned long long)box->bulk.address);
}

bool exec_tensor_copy_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    const struct inst *inst = step->inst;
    const bool spreads = inst->mode == MODE_BULK_LOAD && step->src_count - inst->rank > SOURCE_MASK;
    for (BITS_EACH(lane, lanes)) {
        struct tensor_box box;
        if (!find_box(exec, warp, lane, step, &box))
            return false;
        if (inst->mode == MODE_BULK_PREFETCH) {
            if (exec->core)
                (void)bulk_turn(exec, box.bulk.bytes);
            continue;
        }
        if (!(spreads ? move_to_all(exec, warp, lane, step, &box) : move_box(exec, warp, lane, step, &box)))
            return false;
    }
    return true;
}

/* ---- changes of maps ---- */

static bool write_map(struct exec *exec, unsigned warp, unsigned lane, const struct step *step, uint64_t address,
                      struct tensor_map *map) {
    if (is_global(step, address))
        return put(exec, warp, lane, step, &(struct tensor_piece){address, sizeof *map, (uint8_t *)map});
    for (unsigned at = 0; at < TENSOR_MAP_BYTES; at += MAP_PART) {
        uint8_t *to = exec_translate(exec, warp, lane, step, address + at, MAP_PART);
        if (!to)
            return false;
        memcpy(to, (const uint8_t *)map + at, MAP_PART);
    }
    return true;
}

static bool replace(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    enum { ORDINAL = 1, VALUE = 2 };
    const enum tensor_field field = (enum tensor_field)(step->inst->mode - MODE_MAP_ADDRESS + FIELD_ADDRESS);
    const uint64_t address = exec_address(exec, warp, lane, step);
    const unsigned ordinal = (unsigned)exec_read(exec, warp, &step->rows[ORDINAL], lane);
    const uint64_t value = exec_read(exec, warp, &step->rows[VALUE], lane);
    struct tensor_map map;
    if (!read_map(exec, warp, lane, step, address, &map))
        return false;
    tensor_map_begin(&map);
    if (map.mark != TENSOR_MAP_MARK)
        return exec_fail(exec, warp, lane, step, "tensor map at 0x%llx: %s", (unsigned long long)address,
                         tensor_map_wrong(&map));
    if (!tensor_map_replace(&map, field, ordinal, value))
        return exec_fail(exec, warp, lane, step, "tensor map at 0x%llx: value %llu is none of the field's",
                         (unsigned long long)address, (unsigned long long)value);
    return write_map(exec, warp, lane, step, address, &map);
}

/* tensormap.cp_fenceproxy: of the warp, once. */
static bool copy_map(struct exec *exec, unsigned warp, unsigned lane, const struct step *step) {
    const uint64_t address = exec_address(exec, warp, lane, step);
    const struct bulk bulk = {.shared = sum(exec, warp, lane, &step->rows[SOURCE_SHARED]), .bytes = TENSOR_MAP_BYTES};
    uint8_t *from = bulk_shared(exec, warp, lane, step, &bulk);
    if (address % TENSOR_SHARED_ALIGN || bulk.shared % TENSOR_SHARED_ALIGN)
        return exec_fail(exec, warp, lane, step,
                         "tensormap.cp_fenceproxy between addresses 0x%llx and 0x%x of shared "
                         "memory: both must be multiples of %d",
                         (unsigned long long)address, (unsigned)bulk.shared, TENSOR_SHARED_ALIGN);
    return from && put(exec, warp, lane, step, &(struct tensor_piece){address, TENSOR_MAP_BYTES, from});
}

bool exec_tensor_map_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    if (exec->core)
        exec_timed_copy(exec, warp, step, 0, 0);
    if (step->inst->mode == MODE_MAP_COPY)
        return copy_map(exec, warp, bits_first(lanes), step);
    for (BITS_EACH(lane, lanes))
        if (!replace(exec, warp, lane, step))
            return false;
    return true;
}
