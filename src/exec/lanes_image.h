/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of images of 32-bit floats in functional runs, four lanes at a time: the same sums as image_locate and image_filter make
 * (image/sample.c), in the same order, so that every bit is the same. What is not so (levels, cubes, arrays, other formats, border colours,
 * handles that differ between lanes, sums that are no number) goes lane by lane (image.c). Part of lanes.c, compiled with it once per level. */
#ifndef HEDDLE_EXEC_LANES_IMAGE_H
#define HEDDLE_EXEC_LANES_IMAGE_H

#include "base/bits.h"
#include "base/cpu.h"
#include "exec/kernel_heap.h"
#include "exec/lanes_rows.h"
#include "exec/memory.h"
#include "exec/state.h"
#include "image/image.h"

#ifdef CPU_GATHERS
#include <immintrin.h>

enum { IMAGE_LANES = 4, IMAGE_GROUPS = LANES_MAX / IMAGE_LANES, IMAGE_ROWS = 4 };

/* What all lanes of the instruction have in common. */
struct lane_image {
    const uint8_t *texels;       /* of the host */
    const uint8_t *at[3];        /* rows of coordinates */
    uint8_t *out[IMAGE_ROWS];    /* rows of results, of which there are `count` */
    uint32_t sizes[3], steps[3]; /* in texels; bytes from a texel to the next */
    uint8_t addressing[3];
    unsigned channels, read, count, dimensions; /* read: channels that go into rows */
    bool is_normalised, is_linear;
    bool is_plain; /* texels outside are those at the edge */
    /* by lane_bounds */
    __m256d size[3], low[3], high[3]; /* between which texels are kept; -1 and the size where there is a border */
    __m128i pitch[3];
};

/* Four lanes along one dimension: one texel or two. */
struct lane_along {
    __m128i offset[2];
    __m256d inside[2], weight[2];
};

/* ---- before the lanes ---- */

/* The value that active lanes agree on. */
static inline bool lanes_agree(const uint64_t *row, uint32_t lanes, uint64_t *value) {
    const u64 *values = (const u64 *)row;
    const uint64_t first = values[bits_first(lanes)];
    *value = first;
    if (lanes == UINT32_MAX) {
        const __m256i firsts = _mm256_set1_epi64x((long long)first);
        __m256i differs = _mm256_setzero_si256();
        for (unsigned k = 0; k < LANES_MAX / 4; k++)
            differs =
                _mm256_or_si256(differs,
                                _mm256_xor_si256(firsts, _mm256_loadu_si256((const __m256i *)(const void *)row + k)));
        return _mm256_testz_si256(differs, differs);
    }
    uint64_t differs = 0;
    for (unsigned i = 0; i < LANES_MAX; i++)
        differs |= (values[i] ^ first) & (lanes & lane_bit_wide[i] ? UINT64_MAX : 0);
    return !differs;
}

static inline unsigned lane_channels(const struct image_view *image) {
    if (image->element != TEXEL_FLOAT)
        return 0;
    return image->channels == CHANNELS_R      ? 1
           : image->channels == CHANNELS_RG   ? 2
           : image->channels == CHANNELS_RGBA ? 4
                                              : 0;
}

static inline bool lane_kind_fits(enum image_kind kind, enum geometry geometry) {
    return (kind == IMAGE_1D && geometry == GEOMETRY_1D) || (kind == IMAGE_2D && geometry == GEOMETRY_2D) ||
           (kind == IMAGE_3D && geometry == GEOMETRY_3D);
}

/* The image lies in one allocation, its texels aligned, near enough for offsets of 31 bits; its sides are numbers that floats hold. */
static inline bool lane_texels(struct exec *exec, const struct step *step, const struct image_view *image,
                               uint64_t texel) {
    struct site *site = &exec->sites[step - exec->linked->steps];
    const uint64_t row = image->row_bytes, slice = image->slice_bytes, address = image->address;
    if ((image->width | image->height | image->depth) >> 24 || (row | slice) >> 31 ||
        (address | row | slice) & (texel - 1))
        return false;
    const uint64_t bytes = slice * (image->depth - 1) + row * (image->height - 1) + texel * image->width;
    if (bytes > INT32_MAX)
        return false;
    if (!range_within(address - site->low, bytes, site->high - site->low)) {
        const struct allocation *found = memory_find(exec->memory, address);
        if (!found || !range_within(address - found->start, bytes, found->end - found->start) ||
            kernel_heap_holds(exec->memory, address))
            return false;
        *site = (struct site){found->start, found->end};
    }
    return true;
}

static inline void lane_dimension(struct lane_image *out, const struct sampler *sampler, unsigned d) {
    const enum image_addressing mode = (enum image_addressing)sampler->addressing[d];
    const bool folds = mode == ADDRESSING_REPEAT || mode == ADDRESSING_MIRROR;
    out->addressing[d] = (uint8_t)(folds && !sampler->is_normalised ? ADDRESSING_EDGE : mode);
    out->is_plain &= out->addressing[d] == ADDRESSING_EDGE;
}

/* A step has rows of all coordinates, and so at least four. */
static inline void lane_rows(struct lane_image *out, uint8_t *const *bases, const struct step *step) {
    const struct row *coordinate = step->rows + step->dst_count + IMAGE_SOURCE_X;
    for (unsigned d = 0; d < 3; d++)
        out->at[d] = bases[coordinate[d].base] + coordinate[d].offset;
    for (unsigned c = 0; c < IMAGE_ROWS; c++)
        out->out[c] = bases[0] + step->rows[c].offset;
    out->count = step->dst_count;
    out->read = out->channels < out->count ? out->channels : out->count;
}

static inline bool lane_handle(const struct row *row, uint8_t *const *bases, uint32_t lanes, uint64_t *handle) {
    return lanes_agree((const uint64_t *)(const void *)(bases[row->base] + row->offset), lanes, handle);
}

static inline bool lane_image_of(struct lane_image *out, struct exec *exec, uint8_t *const *bases,
                                 const struct step *step, uint32_t lanes) {
    const struct row *sources = step->rows + step->dst_count;
    const struct inst *inst = step->inst;
    const struct memory *memory = exec->memory;
    uint64_t handle;
    if (!step->plain || exec->core || exec->launch->watch || exec->unwritten || memory->footprint ||
        !lane_handle(&sources[IMAGE_SOURCE_IMAGE], bases, lanes, &handle) || handle - 1 >= memory->images.count)
        return false;
    const struct image_view *image = &memory->images.items[handle - 1];
    struct sampler sampler = image->own;
    if (inst->src[IMAGE_SOURCE_SAMPLER].kind != OPERAND_NONE &&
        (!lane_handle(&sources[IMAGE_SOURCE_SAMPLER], bases, lanes, &handle) || !sampler_from_handle(handle, &sampler)))
        return false;
    out->channels = lane_channels(image);
    if (!out->channels || !image->width || image->has_border || !lane_texels(exec, step, image, 4 * out->channels) ||
        !lane_kind_fits((enum image_kind)image->kind, (enum geometry)inst->geometry))
        return false;
    out->dimensions = image->kind == IMAGE_3D ? 3 : image->kind == IMAGE_2D ? 2 : 1;
    out->is_linear = sampler.is_linear, out->is_normalised = sampler.is_normalised, out->is_plain = true;
    out->texels = memory_host(memory, image->address);
    out->sizes[0] = image->width, out->sizes[1] = image->height, out->sizes[2] = image->depth;
    out->steps[0] = 4 * out->channels, out->steps[1] = (uint32_t)image->row_bytes;
    out->steps[2] = (uint32_t)image->slice_bytes;
    for (unsigned d = 0; d < out->dimensions; d++)
        lane_dimension(out, &sampler, d);
    lane_rows(out, bases, step);
    return true;
}

/* ---- four lanes ---- */

__attribute__((always_inline)) static inline void lane_bounds(struct lane_image *image, unsigned dimensions) {
    for (unsigned d = 0; d < dimensions; d++) {
        const bool is_wide = image->addressing[d] != ADDRESSING_EDGE && image->addressing[d] != ADDRESSING_MIRROR;
        const double size = image->sizes[d];
        image->size[d] = _mm256_set1_pd(size);
        image->low[d] = _mm256_set1_pd(is_wide ? -1 : 0);
        image->high[d] = _mm256_set1_pd(is_wide ? size : size - 1);
        image->pitch[d] = _mm_set1_epi32((int)image->steps[d]);
    }
}

/* Where the coordinate leads, in texels; 0 what is no number. */
__attribute__((always_inline)) static inline __m256d lane_unfold(const struct lane_image *image, unsigned d, unsigned k,
                                                                 bool is_plain) {
    __m256d u = _mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)image->at[d] + (size_t)IMAGE_LANES * k));
    if (!is_plain && image->addressing[d] == ADDRESSING_REPEAT)
        u = _mm256_sub_pd(u, _mm256_floor_pd(u));
    else if (!is_plain && image->addressing[d] == ADDRESSING_MIRROR) {
        const __m256d far =
            _mm256_round_pd(_mm256_mul_pd(_mm256_set1_pd(0.5), u), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        u = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(u, _mm256_mul_pd(_mm256_set1_pd(2), far)));
    }
    if (image->is_normalised)
        u = _mm256_mul_pd(u, image->size[d]);
    return _mm256_and_pd(u, _mm256_cmp_pd(u, u, _CMP_ORD_Q));
}

/* A whole number becomes the offset of a texel that is there; `inside`: whether it is the one that was meant. */
__attribute__((always_inline)) static inline __m128i lane_settle(const struct lane_image *image, unsigned d,
                                                                 __m256d texel, __m256d *inside, bool is_plain) {
    texel = _mm256_min_pd(_mm256_max_pd(texel, image->low[d]), image->high[d]);
    if (!is_plain) {
        const __m256d size = image->size[d], zero = _mm256_setzero_pd();
        const __m256d up = _mm256_and_pd(_mm256_cmp_pd(texel, zero, _CMP_LT_OQ), size),
                      down = _mm256_and_pd(_mm256_cmp_pd(texel, size, _CMP_GE_OQ), size);
        const __m256d around = _mm256_sub_pd(_mm256_add_pd(texel, up), down),
                      there = _mm256_min_pd(_mm256_max_pd(texel, zero), _mm256_sub_pd(size, _mm256_set1_pd(1)));
        const bool repeats = image->addressing[d] == ADDRESSING_REPEAT;
        *inside = repeats ? _mm256_cmp_pd(zero, zero, _CMP_EQ_OQ) : _mm256_cmp_pd(there, texel, _CMP_EQ_OQ);
        texel = repeats ? around : there;
    }
    return _mm_mullo_epi32(_mm256_cvttpd_epi32(texel), image->pitch[d]);
}

__attribute__((always_inline)) static inline void lane_locate(const struct lane_image *image, unsigned d, unsigned k,
                                                              bool is_linear, bool is_plain, struct lane_along *out) {
    const __m256d u = lane_unfold(image, d, k, is_plain), half = _mm256_set1_pd(0.5);
    if (!is_linear) {
        out->offset[0] = lane_settle(image, d, _mm256_floor_pd(u), &out->inside[0], is_plain);
        return;
    }
    const __m256d whole = _mm256_set1_pd(1 << IMAGE_WEIGHT_BITS), moved = _mm256_sub_pd(u, half),
                  below = _mm256_floor_pd(moved);
    const __m256d part =
        _mm256_mul_pd(_mm256_sub_pd(moved, below), whole); /* no number where u is infinite: nothing of the second */
    const __m256d second = _mm256_and_pd(_mm256_round_pd(part, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                                         _mm256_cmp_pd(part, part, _CMP_ORD_Q));
    out->weight[0] = _mm256_sub_pd(whole, second), out->weight[1] = second;
    out->offset[0] = lane_settle(image, d, below, &out->inside[0], is_plain);
    out->offset[1] = lane_settle(image, d, _mm256_add_pd(below, _mm256_set1_pd(1)), &out->inside[1], is_plain);
}

/* A texel of each lane; 0 in the border. */
static inline __m128 lane_texel(const struct lane_image *image, unsigned c, __m128i offset) {
    return _mm_i32gather_ps((const float *)(const void *)(image->texels + (size_t)4 * c), offset, 1);
}

static inline void lane_put(const struct lane_image *image, unsigned c, unsigned k, __m128i on, __m128 value) {
    _mm_maskstore_ps((float *)(void *)image->out[c] + (size_t)IMAGE_LANES * k, on, value);
}

static inline __m128i lane_active(uint32_t lanes, unsigned k) {
    const __m128i bits = _mm_load_si128((const __m128i *)(const void *)lane_bit + k);
    return _mm_cmpeq_epi32(_mm_and_si128(_mm_set1_epi32((int)lanes), bits), bits);
}

static inline __m256i lane_eight(uint32_t lanes, unsigned k) {
    const __m256i bits = _mm256_load_si256((const __m256i *)(const void *)lane_bit + k);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)lanes), bits), bits);
}

/* What the texels do not have: alpha is 1, the other channels are 0. Written last: the row may be that of a coordinate. */
static inline void lane_fill(const struct lane_image *image, uint32_t lanes) {
    __m256i on[LANES_MAX / 8];
    for (unsigned k = 0; k < LANES_MAX / 8; k++)
        on[k] = lane_eight(lanes, k);
    for (unsigned c = image->channels; c < image->count; c++) {
        const __m256 value = _mm256_set1_ps(c == 3 ? 1 : 0);
        float *row = (float *)(void *)image->out[c];
        for (unsigned k = 0; k < LANES_MAX / 8; k++)
            _mm256_maskstore_ps(row + (size_t)8 * k, on[k], value);
    }
}

static inline __m128 lane_narrow(__m256d mask) {
    const __m256 words = _mm256_castpd_ps(mask);
    return _mm_shuffle_ps(_mm256_castps256_ps128(words), _mm256_extractf128_ps(words, 1), _MM_SHUFFLE(2, 0, 2, 0));
}

enum { QUIET_BIT = 1 << 22 };

static inline __m128 lane_quiet(__m128 value) {
    const __m128 bit = _mm_castsi128_ps(_mm_set1_epi32(QUIET_BIT));
    return _mm_or_ps(value, _mm_and_ps(_mm_cmpunord_ps(value, value), bit));
}

/* A texel keeps its bits, but for numbers that are none, which become quiet as they do on their way through doubles. */
__attribute__((always_inline)) static inline uint32_t lane_points(struct lane_image *image, uint32_t lanes,
                                                                  unsigned dimensions, bool is_plain) {
    lane_bounds(image, dimensions);
    for (unsigned k = 0; k < IMAGE_GROUPS; k++) {
        struct lane_along along;
        __m128i offset = _mm_setzero_si128();
        __m256d inside = _mm256_castsi256_pd(_mm256_set1_epi32(-1));
        for (unsigned d = 0; d < dimensions; d++) {
            lane_locate(image, d, k, false, is_plain, &along);
            offset = _mm_add_epi32(offset, along.offset[0]);
            if (!is_plain)
                inside = _mm256_and_pd(inside, along.inside[0]);
        }
        const __m128i on = lane_active(lanes, k);
        for (unsigned c = 0; c < image->read; c++) {
            __m128 value = lane_quiet(lane_texel(image, c, offset));
            if (!is_plain)
                value = _mm_and_ps(value, lane_narrow(inside));
            lane_put(image, c, k, on, value);
        }
    }
    return 0;
}

/* Four lanes' texels of a linear sample: where they are, what they count, whether they are there. */
struct lane_taps {
    __m128i offset[8];
    __m256d weight[8], inside[8];
};

__attribute__((always_inline)) static inline void lane_weigh(const struct lane_image *image, unsigned k,
                                                             unsigned dimensions, bool is_plain,
                                                             struct lane_taps *out) {
    struct lane_along along[3];
    for (unsigned d = 0; d < dimensions; d++)
        lane_locate(image, d, k, true, is_plain, &along[d]);
    for (unsigned i = 0; i < 1u << dimensions; i++) {
        out->offset[i] = along[0].offset[i & 1], out->weight[i] = along[0].weight[i & 1];
        if (!is_plain)
            out->inside[i] = along[0].inside[i & 1];
        for (unsigned d = 1; d < dimensions; d++) {
            const unsigned side = i >> d & 1;
            out->offset[i] = _mm_add_epi32(out->offset[i], along[d].offset[side]);
            out->weight[i] = _mm256_mul_pd(out->weight[i], along[d].weight[side]);
            if (!is_plain)
                out->inside[i] = _mm256_and_pd(out->inside[i], along[d].inside[side]);
        }
    }
}

/* The sum of what has a weight; a single texel keeps the sign of its 0, and a sum of several begins at 0. */
__attribute__((always_inline)) static inline __m256d lane_exact_sum(const __m256d *value, const __m256d *weight,
                                                                    unsigned count, __m256d whole) {
    const __m256d zero = _mm256_setzero_pd(), nothing = _mm256_set1_pd(-0.0);
    __m256d sum = nothing, is_one = zero;
    for (unsigned i = 0; i < count; i++) {
        const __m256d none = _mm256_cmp_pd(weight[i], zero, _CMP_EQ_OQ);
        sum = _mm256_add_pd(sum, _mm256_blendv_pd(_mm256_mul_pd(value[i], weight[i]), nothing, none));
        is_one = _mm256_or_pd(is_one, _mm256_cmp_pd(weight[i], whole, _CMP_EQ_OQ));
    }
    return _mm256_add_pd(sum, _mm256_and_pd(is_one, nothing));
}

/* What has no weight changes no sum but 0 and what is no number. */
__attribute__((always_inline)) static inline __m256d lane_sum(const struct lane_image *image, unsigned c,
                                                              unsigned dimensions, bool is_plain,
                                                              const struct lane_taps *taps) {
    const unsigned count = 1u << dimensions;
    const __m256d zero = _mm256_setzero_pd(),
                  whole = _mm256_set1_pd((double)(UINT32_C(1) << (IMAGE_WEIGHT_BITS * dimensions)));
    __m256d value[8], sum = zero;
    for (unsigned i = 0; i < count; i++) {
        value[i] = _mm256_cvtps_pd(lane_texel(image, c, taps->offset[i]));
        if (!is_plain)
            value[i] = _mm256_and_pd(value[i], taps->inside[i]);
        sum = _mm256_add_pd(sum, _mm256_mul_pd(value[i], taps->weight[i]));
    }
    if (_mm256_movemask_pd(_mm256_cmp_pd(sum, zero, _CMP_EQ_UQ)))
        sum = lane_exact_sum(value, taps->weight, count, whole);
    return _mm256_mul_pd(sum, _mm256_set1_pd(1.0 / (double)(UINT32_C(1) << (IMAGE_WEIGHT_BITS * dimensions))));
}

/* Returns the lanes with a sum that is no number, for which nothing is stored: of several such texels the order of the processor's operands
 * chooses whose bits the sum has. */
__attribute__((always_inline)) static inline uint32_t lane_linears(struct lane_image *image, uint32_t lanes,
                                                                   unsigned dimensions, bool is_plain) {
    uint32_t left = 0;
    lane_bounds(image, dimensions);
    for (unsigned k = 0; k < IMAGE_GROUPS; k++) {
        struct lane_taps taps;
        __m128 value[IMAGE_ROWS], odd = _mm_setzero_ps();
        lane_weigh(image, k, dimensions, is_plain, &taps);
        for (unsigned c = 0; c < image->read; c++) {
            value[c] = _mm256_cvtpd_ps(lane_sum(image, c, dimensions, is_plain, &taps));
            odd = _mm_or_ps(odd, _mm_cmpunord_ps(value[c], value[c]));
        }
        const __m128i on = _mm_andnot_si128(_mm_castps_si128(odd), lane_active(lanes, k));
        left |= (uint32_t)_mm_movemask_ps(odd) << (IMAGE_LANES * k);
        for (unsigned c = 0; c < image->read; c++)
            lane_put(image, c, k, on, value[c]);
    }
    return left & lanes;
}

/* A texel of each lane, where coordinates are in texels and those outside are at the edge: floats round down as doubles do. */
__attribute__((always_inline)) static inline uint32_t lane_edges(const struct lane_image *image, uint32_t lanes,
                                                                 unsigned dimensions) {
    __m256 most[3];
    __m256i pitch[3];
    for (unsigned d = 0; d < dimensions; d++) {
        most[d] = _mm256_set1_ps((float)(int32_t)(image->sizes[d] - 1));
        pitch[d] = _mm256_set1_epi32((int)image->steps[d]);
    }
    for (unsigned k = 0; k < LANES_MAX / 8; k++) {
        const __m256i on = lane_eight(lanes, k);
        __m256i offset = _mm256_setzero_si256();
        for (unsigned d = 0; d < dimensions; d++) {
            const __m256 u = _mm256_loadu_ps((const float *)(const void *)image->at[d] + (size_t)8 * k);
            const __m256 texel =
                _mm256_min_ps(_mm256_max_ps(_mm256_floor_ps(u), _mm256_setzero_ps()), /* 0 of what is no number */
                              most[d]);
            offset = _mm256_add_epi32(offset, _mm256_mullo_epi32(_mm256_cvttps_epi32(texel), pitch[d]));
        }
        for (unsigned c = 0; c < image->read; c++) {
            const __m256 value =
                _mm256_i32gather_ps((const float *)(const void *)(image->texels + (size_t)4 * c), offset, 1);
            _mm256_maskstore_ps((float *)(void *)image->out[c] + (size_t)8 * k, on,
                                _mm256_or_ps(value, _mm256_and_ps(_mm256_cmp_ps(value, value, _CMP_UNORD_Q),
                                                                  _mm256_castsi256_ps(_mm256_set1_epi32(QUIET_BIT)))));
        }
    }
    return 0;
}

/* By what is read: texels at the edge, single texels, sums, sums at the edge; of one to three dimensions. Each apart, so that it needs few
 * registers. Returns the lanes for which nothing was done. */
#define LANE_SAMPLES(name, ...)                                                                                        \
    __attribute__((noinline)) static uint32_t name(struct lane_image *image, uint32_t lanes) {                         \
        const uint32_t left = __VA_ARGS__;                                                                             \
        lane_fill(image, lanes & ~left);                                                                               \
        return left;                                                                                                   \
    }
LANE_SAMPLES(edges_1d, lane_edges(image, lanes, 1))
LANE_SAMPLES(edges_2d, lane_edges(image, lanes, 2))
LANE_SAMPLES(edges_3d, lane_edges(image, lanes, 3))
LANE_SAMPLES(points_1d, lane_points(image, lanes, 1, false))
LANE_SAMPLES(points_2d, lane_points(image, lanes, 2, false))
LANE_SAMPLES(points_3d, lane_points(image, lanes, 3, false))
LANE_SAMPLES(sums_1d, lane_linears(image, lanes, 1, false))
LANE_SAMPLES(sums_2d, lane_linears(image, lanes, 2, false))
LANE_SAMPLES(sums_3d, lane_linears(image, lanes, 3, false))
LANE_SAMPLES(edge_sums_1d, lane_linears(image, lanes, 1, true))
LANE_SAMPLES(edge_sums_2d, lane_linears(image, lanes, 2, true))
LANE_SAMPLES(edge_sums_3d, lane_linears(image, lanes, 3, true))
#undef LANE_SAMPLES

static bool run_samples(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    uint8_t *const bases[2] = {exec_frame(exec, warp), exec->uniform};
    static uint32_t (*const functions[4][3])(struct lane_image *,
                                             uint32_t) = {{points_1d, points_2d, points_3d},
                                                          {edges_1d, edges_2d, edges_3d},
                                                          {sums_1d, sums_2d, sums_3d},
                                                          {edge_sums_1d, edge_sums_2d, edge_sums_3d}};
    struct lane_image image;
    if (!lane_image_of(&image, exec, bases, step, lanes))
        return exec_image_step(exec, warp, step, lanes);
    const bool at_edge = image.is_plain && (image.is_linear || !image.is_normalised);
    const uint32_t left = functions[2 * image.is_linear + at_edge][image.dimensions - 1](&image, lanes);
    return !left || exec_image_step(exec, warp, step, left);
}

#else
static bool run_samples(struct exec *exec, unsigned warp, const struct step *step, uint32_t lanes) {
    return exec_image_step(exec, warp, step, lanes);
}
#endif

#endif
