/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and queries of images, lane by lane. Texels are device memory like any other: every access of one is checked. */
#include "image/image.h"

#include <inttypes.h>
#include <string.h>

#include "base/bits.h"
#include "exec/core.h"
#include "exec/memory.h"
#include "exec/scalar.h"
#include "exec/state.h"

/* One lane's instruction. */
struct image_access {
    struct exec *exec;
    const struct step *step;
    const struct row *sources;
    const struct image_view *image;
    unsigned warp, lane;
    struct ticket *ticket; /* of sured in time */
};

static uint64_t source(const struct image_access *access, unsigned index) {
    return exec_read(access->exec, access->warp, &access->sources[index], access->lane);
}

static bool is_of_geometry(enum image_kind kind, enum geometry geometry) {
    static const uint8_t geometries[IMAGE_KIND_COUNT] = {
        [IMAGE_1D] = GEOMETRY_1D,     [IMAGE_1D_ARRAY] = GEOMETRY_A1D,    [IMAGE_1D_BUFFER] = GEOMETRY_1D,
        [IMAGE_2D] = GEOMETRY_2D,     [IMAGE_2D_ARRAY] = GEOMETRY_A2D,    [IMAGE_3D] = GEOMETRY_3D,
        [IMAGE_CUBE] = GEOMETRY_CUBE, [IMAGE_CUBE_ARRAY] = GEOMETRY_ACUBE};
    if (geometry == GEOMETRY_FLAT)
        return geometries[kind] == GEOMETRY_1D || geometries[kind] == GEOMETRY_2D;
    return geometries[kind] == geometry;
}

/* The variable (.texref) whose address stands for the handle that it holds; NULL: it is the handle. */
static const struct allocation *reference_of(const struct image_access *access, uint64_t handle) {
    const struct allocation *found = handle < GLOBAL_BASE ? NULL : memory_find(access->exec->memory, handle);
    return found && found->is_reference && found->start == handle ? found : NULL;
}

/* Reading the variable costs nothing: the hardware has handles of references in a constant bank. */
static uint64_t handle_of(const struct image_access *access, unsigned index) {
    uint64_t handle = source(access, index);
    if (reference_of(access, handle))
        memcpy(&handle, memory_host(access->exec->memory, handle), sizeof handle);
    return handle;
}

static bool find_image(struct image_access *access) {
    const struct memory *memory = access->exec->memory;
    const struct inst *inst = access->step->inst;
    const uint64_t handle = handle_of(access, IMAGE_SOURCE_IMAGE);
    access->image = handle - 1 < memory->images.count ? &memory->images.items[handle - 1] : NULL;
    const bool is_there = access->image && access->image->width;
    const struct allocation *reference = is_there ? NULL : reference_of(access, source(access, IMAGE_SOURCE_IMAGE));
    if (reference && !handle)
        return exec_fail(access->exec, access->warp, access->lane, access->step, "%s of %s, which is bound to nothing",
                         op_name((enum op)inst->op), reference->name);
    if (!is_there)
        return exec_fail(access->exec, access->warp, access->lane, access->step,
                         "%s of 0x%" PRIx64 ", which is not the handle of an image", op_name((enum op)inst->op),
                         handle);
    if (inst->op != OP_IMAGE_QUERY &&
        !is_of_geometry((enum image_kind)access->image->kind, (enum geometry)inst->geometry))
        return exec_fail(access->exec, access->warp, access->lane, access->step,
                         "%s with coordinates of another kind, of image %" PRIu64 ", a %s", op_name((enum op)inst->op),
                         handle, image_kind_name((enum image_kind)access->image->kind));
    return true;
}

/* ---- in time ---- */

/* What the lanes access is a load or a store of texels, or of several for each lane. Nothing of it is known before. */
static void begin_noting(struct access *noted) {
    noted->kind = ACCESS_NONE, noted->space = SPACE_GLOBAL, noted->packed = false;
    noted->bytes = 0, noted->lanes = noted->missed = 0;
    noted->more_count = noted->texels = 0, noted->samples = 0;
    noted->ticket = NO_TICKET;
}

/* tap: which of the lane's, from 0 on */
static void note_texel(const struct image_access *access, unsigned tap, uint64_t offset, uint32_t bytes) {
    struct core *core = access->exec->core;
    if (!core)
        return;
    struct access *noted = core->access;
    const uint64_t address = access->image->address + image_offset_in_time(access->image, offset);
    noted->bytes = (uint8_t)(bytes > noted->bytes ? bytes : noted->bytes);
    if (tap)
        core->taps[tap - 1][access->lane] = address;
    else
        noted->address[access->lane] = address;
    noted->lanes |= UINT32_C(1) << access->lane;
}

/* A lane with fewer texels than others has its first one again, which costs nothing. */
static void note_count(const struct image_access *access, unsigned count, uint8_t samples) {
    struct core *core = access->exec->core;
    if (!core || !count)
        return;
    struct access *noted = core->access;
    for (unsigned k = count - 1; k < TAPS_MORE; k++)
        core->taps[k][access->lane] = noted->address[access->lane];
    noted->more = core->taps;
    noted->samples = samples > noted->samples ? samples : noted->samples;
    noted->more_count = (uint16_t)(count - 1 > noted->more_count ? count - 1 : noted->more_count);
    noted->texels = (uint16_t)(noted->texels + count);
}

static void end_noting(struct access *noted, const struct inst *inst) {
    const bool stores = inst->op == OP_SUST || inst->op == OP_SUST_TEXEL;
    noted->kind = (uint8_t)(!noted->lanes        ? ACCESS_NONE
                            : stores             ? ACCESS_STORE
                            : inst->op == OP_TEX ? ACCESS_TEXELS
                                                 : ACCESS_LOAD);
}

/* ---- memory ---- */

static uint8_t *texel_at(const struct image_access *access, uint64_t offset, uint32_t bytes) {
    return exec_translate(access->exec, access->warp, access->lane, access->step, access->image->address + offset,
                          bytes);
}

/* Bytes as this thread sees them; false: a fault. */
static bool load_bytes(const struct image_access *access, uint64_t offset, uint8_t *out, uint32_t bytes) {
    const struct core *core = access->exec->core;
    const uint64_t address = access->image->address + offset;
    const uint8_t *from = texel_at(access, offset, bytes);
    if (!from)
        return false;
    memcpy(out, from, bytes);
    if (core && core->log.count && core_may_be_logged(core, address) && from != access->exec->nowhere)
        core_overlay(core, address, bytes, out);
    return true;
}

static bool store_bytes(const struct image_access *access, uint64_t offset, const uint8_t *bytes, uint32_t count) {
    struct core *core = access->exec->core;
    uint8_t *to = texel_at(access, offset, count);
    if (!to || to == access->exec->nowhere)
        return to != NULL;
    if (!core) {
        memcpy(to, bytes, count);
        return true;
    }
    const uint32_t part = count < 8 ? count : 8;
    for (uint32_t at = 0; at < count; at += part) {
        uint64_t value = 0;
        memcpy(&value, bytes + at, part);
        core_log(core, access->image->address + offset + at, value, part);
    }
    access->exec->counts->progress++;
    note_texel(access, 0, offset, count);
    return true;
}

_Static_assert(IMAGE_TAPS_MAX == TAPS_MORE + 1, "what is noted of a sample are all its texels");

/* ---- reading ---- */

static float source_float(const struct image_access *access, unsigned index) {
    const uint32_t bits = (uint32_t)source(access, index);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool gathers(const struct inst *inst) { return inst->mode >= MODE_GATHER_R && inst->mode <= MODE_GATHER_A; }

/* What an instruction says of the level. */
static void read_level(const struct image_access *access, struct image_place *place) {
    const struct inst *inst = access->step->inst;
    place->reading = (uint8_t)(inst->mode == MODE_AT_LEVEL   ? READING_LEVEL
                               : inst->mode == MODE_BY_STEPS ? READING_STEPS
                               : gathers(inst)               ? READING_GATHER
                                                             : READING_BASE);
    if (place->reading == READING_LEVEL)
        place->level = place->is_integer ? (float)(int32_t)source(access, IMAGE_SOURCE_VALUES)
                                         : source_float(access, IMAGE_SOURCE_VALUES);
    for (unsigned i = 0; place->reading == READING_STEPS && i < 6; i++)
        place->steps[i / 3][i % 3] = source_float(access, IMAGE_SOURCE_VALUES + i);
}

/* A gather gives a channel of each of its texels, a sample the channels of their sum. */
static void filter(const struct image_access *access, const struct image_taps *taps,
                   uint8_t texels[][IMAGE_TEXEL_BYTES_MAX], uint32_t colour[4]) {
    const struct inst *inst = access->step->inst;
    if (!gathers(inst)) {
        image_filter(access->image, taps, texels, colour);
        return;
    }
    for (unsigned i = 0; i < 4; i++) {
        struct image_taps one = {.count = 1, .whole = 1, .tap = {taps->tap[i]}};
        uint32_t channels[4];
        one.tap[0].weight = 1;
        image_filter(access->image, &one, &texels[i], channels);
        colour[i] = channels[inst->mode - MODE_GATHER_R];
    }
}

static bool read_sample(const struct image_access *access) {
    const struct inst *inst = access->step->inst;
    const struct image_view *image = access->image;
    struct image_place place = {.is_integer = inst->stype == TYPE_S32,
                                .layer = (uint32_t)source(access, IMAGE_SOURCE_LAYER)};
    struct sampler sampler = image->own;
    const uint64_t handle = handle_of(access, IMAGE_SOURCE_SAMPLER);
    if (inst->src[IMAGE_SOURCE_SAMPLER].kind != OPERAND_NONE && !sampler_from_handle(handle, &sampler))
        return exec_fail(access->exec, access->warp, access->lane, access->step,
                         "tex with 0x%" PRIx64 ", which is not the handle of a sampler", handle);
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t bits = (uint32_t)source(access, IMAGE_SOURCE_X + i);
        place.texel[i] = (int32_t)bits;
        memcpy(&place.at[i], &bits, sizeof bits);
    }
    read_level(access, &place);
    struct image_taps taps;
    uint8_t texels[IMAGE_TAPS_MAX][IMAGE_TEXEL_BYTES_MAX];
    const unsigned bytes = image_texel_bytes((enum image_channels)image->channels, (enum image_element)image->element);
    uint32_t colour[4];
    image_locate(image, &sampler, &place, &taps);
    unsigned loaded = 0;
    for (unsigned i = 0; i < taps.count; i++) {
        if (taps.tap[i].is_border)
            continue;
        if (!load_bytes(access, taps.tap[i].offset, texels[i], bytes))
            return false;
        note_texel(access, loaded++, taps.tap[i].offset, bytes);
    }
    note_count(access, loaded, taps.samples);
    filter(access, &taps, texels, colour);
    for (unsigned i = 0; i < access->step->dst_count; i++)
        exec_write(access->exec, access->warp, &access->step->rows[i], access->lane, colour[i]);
    return true;
}

/* ---- surfaces ---- */

/* Where bytes of an access begin; its first coordinate counts `unit` bytes. */
struct surface_place {
    uint64_t offset;
    bool is_outside;
};

/* False: a fault. */
static bool place_surface(const struct image_access *access, uint32_t unit, uint32_t bytes, struct surface_place *out) {
    const struct image_view *image = access->image;
    const enum border border = (enum border)access->step->inst->border;
    const uint64_t texel = image_texel_bytes((enum image_channels)image->channels, (enum image_element)image->element);
    const int64_t most[4] = {(int64_t)(image->width * texel / unit - bytes / unit), (int64_t)image->height - 1,
                             (int64_t)image->depth - 1, (int64_t)image->layers - 1};
    int64_t at[4];
    out->is_outside = false;
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t word = (uint32_t)source(access, IMAGE_SOURCE_X + i);
        at[i] = i == 3 ? (int64_t)word : (int32_t)word;
        const bool is_outside = at[i] < 0 || at[i] > most[i];
        if (is_outside && border == BORDER_TRAP)
            return exec_fail(access->exec, access->warp, access->lane, access->step,
                             "%s outside of image %" PRIu64 ", a %s of %u x %u x %u texels",
                             op_name((enum op)access->step->inst->op), handle_of(access, IMAGE_SOURCE_IMAGE),
                             image_kind_name((enum image_kind)image->kind), image->width, image->height,
                             image->depth > image->layers ? image->depth : image->layers);
        if (is_outside && border == BORDER_CLAMP)
            at[i] = at[i] < 0 || most[i] < 0 ? 0 : most[i];
        else
            out->is_outside |= is_outside;
    }
    out->is_outside |= most[0] < 0; /* the access is wider than the image */
    out->offset =
        (uint64_t)(at[2] + at[3]) * image->slice_bytes + (uint64_t)at[1] * image->row_bytes + (uint64_t)at[0] * unit;
    return true;
}

static bool load_surface(const struct image_access *access) {
    const struct step *step = access->step;
    const uint32_t element = step->access_bytes, bytes = element * step->dst_count;
    struct surface_place place;
    if (!place_surface(access, 1, bytes, &place))
        return false;
    uint8_t loaded[32] = {0};
    if (!place.is_outside && !load_bytes(access, place.offset, loaded, bytes))
        return false;
    if (!place.is_outside)
        note_texel(access, 0, place.offset, bytes);
    for (unsigned i = 0; i < step->dst_count; i++) {
        uint64_t value = 0;
        memcpy(&value, loaded + (size_t)i * element, element);
        exec_write(access->exec, access->warp, &step->rows[i], access->lane, value);
    }
    return true;
}

static bool store(const struct image_access *access, const struct surface_place *place, const uint8_t *bytes,
                  uint32_t count) {
    return place->is_outside || store_bytes(access, place->offset, bytes, count);
}

static bool store_surface(const struct image_access *access) {
    const struct step *step = access->step;
    const uint32_t element = step->access_bytes, count = step->src_count - (uint32_t)IMAGE_SOURCE_VALUES;
    struct surface_place place;
    uint8_t bytes[32];
    for (unsigned i = 0; i < count; i++) {
        const uint64_t value = source(access, IMAGE_SOURCE_VALUES + i);
        memcpy(bytes + (size_t)i * element, &value, element);
    }
    return place_surface(access, 1, element * count, &place) && store(access, &place, bytes, element * count);
}

static bool store_texel(const struct image_access *access) {
    const struct image_view *image = access->image;
    const unsigned bytes = image_texel_bytes((enum image_channels)image->channels, (enum image_element)image->element);
    const unsigned count = access->step->src_count - (unsigned)IMAGE_SOURCE_VALUES;
    struct surface_place place;
    uint32_t colour[4] = {0};
    uint8_t texel[IMAGE_TEXEL_BYTES_MAX];
    for (unsigned i = 0; i < count && i < 4; i++)
        colour[i] = (uint32_t)source(access, IMAGE_SOURCE_VALUES + i);
    image_encode(image, colour, texel);
    return place_surface(access, bytes, bytes, &place) && store(access, &place, texel, bytes);
}

/* In time the operands are bound now, and memory performs it when it comes there, as it does other atomics. */
static bool reduce_surface(const struct image_access *access) {
    const struct step *step = access->step;
    const uint32_t bytes = step->access_bytes;
    struct surface_place place;
    if (!place_surface(access, 1, bytes, &place))
        return false;
    uint8_t *memory = place.is_outside ? NULL : texel_at(access, place.offset, bytes);
    if (place.is_outside || !memory || memory == access->exec->nowhere)
        return place.is_outside || memory;
    const uint64_t mask = bytes == 8 ? UINT64_MAX : UINT32_MAX, value = source(access, IMAGE_SOURCE_VALUES) & mask;
    struct ticket *ticket = access->ticket;
    if (ticket) {
        note_texel(access, 0, place.offset, bytes);
        ticket->lanes |= UINT32_C(1) << access->lane;
        ticket->thread[access->lane] =
            (uint16_t)((access->exec->place * access->exec->core->warps_per_place + access->warp) * LANES_MAX +
                       access->lane);
        ticket->address[access->lane] = access->image->address + place.offset;
        ticket->b[access->lane] = value, ticket->c[access->lane] = 0;
        return true;
    }
    uint64_t old = 0;
    memcpy(&old, memory, bytes);
    const uint64_t new = scalar_atomic((enum atom)step->inst->atom, (enum type)step->inst->type, false, old, value, 0);
    memcpy(memory, &new, bytes);
    access->exec->counts->progress += new != old;
    return true;
}

/* A ticket for a reduction in time; false: there is none left. */
static bool begin_reduction(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes,
                            struct ticket **ticket) {
    if (!exec->core || step->inst->op != OP_SURED)
        return true;
    const uint32_t number = core_take_ticket(exec->core);
    if (number == NO_TICKET)
        return exec_fail(exec, warp, bits_first(lanes), step, "more atomics in flight than the model holds");
    exec->core->access->ticket = number;
    *ticket = &exec->core->tickets.items[number];
    (*ticket)->step = step, (*ticket)->lanes = 0;
    return true;
}

static void end_reduction(struct core *core, const struct ticket *ticket) {
    struct access *noted = core->access;
    noted->kind = ticket->lanes ? ACCESS_ATOMIC : ACCESS_NONE;
    if (!ticket->lanes) {
        core_free_ticket(core, noted->ticket);
        noted->ticket = NO_TICKET;
    }
}

/* ---- queries ---- */

static bool query(const struct image_access *access) {
    const struct image_view *image = access->image;
    uint32_t value;
    switch ((enum mode)access->step->inst->mode) {
    case MODE_WIDTH: value = image->width; break;
    case MODE_HEIGHT: value = image->height; break;
    case MODE_DEPTH: value = image->depth; break;
    case MODE_ARRAY_SIZE: value = image->layers; break;
    case MODE_CHANNEL_ORDER: value = image_channels_code((enum image_channels)image->channels); break;
    default: value = image_element_code((enum image_element)image->element); break;
    }
    exec_write(access->exec, access->warp, &access->step->rows[0], access->lane, value);
    return true;
}

bool exec_image_step(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    struct ticket *ticket = NULL;
    if (exec->core)
        begin_noting(exec->core->access);
    if (!begin_reduction(exec, warp, step, lanes, &ticket))
        return false;
    for (BITS_EACH(lane, lanes)) {
        struct image_access access = {.exec = exec,
                                      .step = step,
                                      .sources = step->rows + step->dst_count,
                                      .warp = warp,
                                      .lane = lane,
                                      .ticket = ticket};
        if (!find_image(&access))
            return false;
        bool done;
        switch ((enum op)step->inst->op) {
        case OP_TEX: done = read_sample(&access); break;
        case OP_SULD: done = load_surface(&access); break;
        case OP_SUST: done = store_surface(&access); break;
        case OP_SURED: done = reduce_surface(&access); break;
        case OP_SUST_TEXEL: done = store_texel(&access); break;
        default: done = query(&access); break;
        }
        if (!done)
            return false;
    }
    if (ticket)
        end_reduction(exec->core, ticket);
    else if (exec->core)
        end_noting(exec->core->access, step->inst);
    return true;
}
