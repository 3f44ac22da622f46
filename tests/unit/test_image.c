/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of images against a sampler of its own, in integers: coordinates are fractions of 4096, so that every texel, every weight
 * and every sum is exact. Written from OpenCL 1.2 §8.2 and CUDA's appendix on texture fetching. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image_sampler.h"
#include "random_bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { KINDS = IMAGE_3D + 1 }; /* cubes are in test_image_levels.c */
enum { SIDE_MAX = 7, TEXELS_MAX = SIDE_MAX * SIDE_MAX * SIDE_MAX * 3 };

/* An addressing mode for every dimension. */
#define SAME(mode)                                                                                                     \
    { mode, mode, mode }

struct scene {
    struct image_view image;
    struct sampler sampler;
    uint8_t bytes[TEXELS_MAX]; /* one channel of one byte */
    int64_t s[3];
    uint32_t layer;
};

/* 255 * 256^dimensions times what the red channel must be. */
static int64_t expected(const struct scene *scene, int64_t *whole) {
    const struct image_view *image = &scene->image;
    const int64_t size[3] = {image->width, image->height, image->depth};
    const unsigned dimensions = image_dimensions(image->kind);
    struct pick picks[3] = {{{0}, {1}}, {{0}, {1}}, {{0}, {1}}};
    *whole = 255;
    for (unsigned d = 0; d < dimensions; d++) {
        picks[d] = pick(scene->s[d], size[d], scene->sampler.addressing[d], scene->sampler.is_normalised,
                        scene->sampler.is_linear);
        *whole *= 256;
    }
    int64_t sum = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        int64_t at[3], weight = 1;
        bool inside = true;
        for (unsigned d = 0; d < 3; d++) {
            const unsigned side = corner >> d & 1;
            at[d] = picks[d].texel[side];
            weight *= picks[d].weight[side];
            inside = inside && at[d] >= 0 && at[d] < size[d];
        }
        const int64_t layer = between(scene->layer, 0, image->layers - 1);
        if (inside)
            sum += weight * scene->bytes[((at[2] + layer) * size[1] + at[1]) * size[0] + at[0]];
    }
    return sum;
}

static void fetch(const struct image_view *image, const struct sampler *sampler, const struct image_place *place,
                  const uint8_t *bytes, uint32_t out[4]) {
    struct image_taps taps;
    uint8_t texels[IMAGE_TAPS_MAX][IMAGE_TEXEL_BYTES_MAX];
    const unsigned texel_bytes = image_texel_bytes(image->channels, image->element);
    image_locate(image, sampler, place, &taps);
    for (unsigned i = 0; i < taps.count; i++)
        if (!taps.tap[i].is_border)
            memcpy(texels[i], bytes + taps.tap[i].offset, texel_bytes);
    image_filter(image, &taps, texels, out);
}

static struct image_view image_of(enum image_kind kind, enum image_channels channels, enum image_element element,
                                  const uint32_t size[3]) {
    const uint64_t texel = image_texel_bytes(channels, element);
    return (struct image_view){.kind = (uint8_t)kind,
                               .channels = (uint8_t)channels,
                               .element = (uint8_t)element,
                               .width = size[0],
                               .height = size[1],
                               .depth = size[2],
                               .layers = image_is_array(kind) ? 3 : 1,
                               .row_bytes = texel * size[0],
                               .slice_bytes = texel * size[0] * size[1]};
}

/* ---- addressing and filtering ---- */

static void check(const struct scene *scene) {
    int64_t whole;
    const int64_t sum = expected(scene, &whole);
    struct image_place place = {.layer = scene->layer};
    uint32_t out[4];
    for (unsigned d = 0; d < 3; d++)
        place.at[d] = (float)scene->s[d] / (float)(int)UNIT;
    fetch(&scene->image, &scene->sampler, &place, scene->bytes, out);
    assert_true(as_float(out[0]) == (float)((long double)sum / (long double)whole));
    assert_true(out[1] == 0 && out[2] == 0);
}

/* Every kind, mode and filter; along x from two images before it to two behind it, elsewhere at random. */
static void samples_are_those_of_the_specifications(void **state) {
    (void)state;
    for (unsigned round = 0; round < KINDS * 500; round++) {
        const enum image_kind kind = round % KINDS;
        const unsigned rest = round / KINDS, dimensions = image_dimensions(kind);
        uint32_t size[3] = {1, 1, 1};
        for (unsigned d = 0; d < dimensions; d++)
            size[d] = 1 + (uint32_t)random_bits() % SIDE_MAX;
        struct scene scene = {.image = image_of(kind, CHANNELS_R, TEXEL_UNORM8, size),
                              .sampler = {{(uint8_t)(rest % 5), (uint8_t)(rest / 20 % 5), (uint8_t)(rest / 100 % 5)},
                                          rest / 5 & 1,
                                          rest / 10 & 1}};
        for (unsigned i = 0; i < TEXELS_MAX; i++)
            scene.bytes[i] = (uint8_t)random_bits();
        const int64_t span = scene.sampler.is_normalised ? UNIT : UNIT * (int64_t)size[0];
        for (int64_t s = -2 * span; s <= 3 * span; s += 1 + (int64_t)(random_bits() % 64)) {
            scene.s[0] = s;
            for (unsigned d = 1; d < 3; d++)
                scene.s[d] = (int64_t)(random_bits() % (5 * UNIT * SIDE_MAX)) - 2 * UNIT * SIDE_MAX;
            scene.layer = (uint32_t)(random_bits() % 5);
            check(&scene);
        }
    }
}

static void integer_coordinates_name_texels(void **state) {
    (void)state;
    const uint32_t size[3] = {3, 2, 1};
    const struct image_view image = image_of(IMAGE_2D, CHANNELS_R, TEXEL_UNSIGNED8, size);
    const uint8_t bytes[] = {10, 11, 12, 20, 21, 22};
    for (int32_t y = -2; y < 4; y++)
        for (int32_t x = -2; x < 5; x++)
            for (unsigned linear = 0; linear < 2; linear++) {
                const struct image_place place = {.is_integer = true, .texel = {x, y}};
                uint32_t out[4];
                fetch(&image, &(struct sampler){SAME(ADDRESSING_EDGE), linear, linear}, &place, bytes, out);
                assert_int_equal(out[0], 10 + 10 * between(y, 0, 1) + between(x, 0, 2));
                assert_int_equal(out[3], 1);
                fetch(&image, &(struct sampler){SAME(ADDRESSING_BORDER), linear, linear}, &place, bytes, out);
                const bool inside = x >= 0 && x < 3 && y >= 0 && y < 2;
                assert_int_equal(out[0], inside ? 10 + 10 * y + x : 0);
            }
}

/* Whatever the coordinate, a sample stays inside the image. */
static void no_coordinate_leaves_the_image(void **state) {
    (void)state;
    static const float hard[] = {
        0,      -0.0f,   1,      0.5f,     3,         -1,  1e30f,    -1e30f,        3.4e38f,        -3.4e38f,
        1e-40f, -1e-40f, -1e-9f, INFINITY, -INFINITY, NAN, 16777216, 2147483648.0f, -2147483648.0f, 9.3e18f};
    const uint32_t size[3] = {5, 3, 1};
    const struct image_view image = image_of(IMAGE_2D, CHANNELS_RGBA, TEXEL_FLOAT, size);
    const uint64_t last = (uint64_t)15 * 16 - 16;
    for (unsigned i = 0; i < sizeof hard / sizeof *hard; i++)
        for (unsigned j = 0; j < sizeof hard / sizeof *hard; j++)
            for (unsigned mode = 0; mode < 20; mode++) {
                const struct sampler sampler = {SAME((uint8_t)(mode % 5)), mode / 5 & 1, mode / 10};
                const struct image_place place = {.at = {hard[i], hard[j]}};
                struct image_taps taps;
                uint64_t weight = 0;
                image_locate(&image, &sampler, &place, &taps);
                for (unsigned k = 0; k < taps.count; k++) {
                    assert_true(taps.tap[k].offset <= last && taps.tap[k].offset % 16 == 0);
                    weight += taps.tap[k].weight;
                }
                assert_int_equal(weight, taps.whole);
                if (sampler.addressing[0] == ADDRESSING_EDGE && i == 13 && j == 13)
                    assert_int_equal(taps.tap[0].offset, last); /* infinity is the last texel */
            }
}

static void border_is_opaque_where_there_is_no_alpha(void **state) {
    (void)state;
    static const struct {
        enum image_channels channels;
        enum image_element element;
        uint32_t alpha;
    } cases[] = {{CHANNELS_R, TEXEL_UNORM8, 0x3f800000},
                 {CHANNELS_RG, TEXEL_HALF, 0x3f800000},
                 {CHANNELS_RG, TEXEL_SIGNED16, 1},
                 {CHANNELS_RGB, TEXEL_UNORM565, 0x3f800000},
                 {CHANNELS_LUMINANCE, TEXEL_UNORM8, 0x3f800000},
                 {CHANNELS_RGBA, TEXEL_FLOAT, 0},
                 {CHANNELS_A, TEXEL_UNORM8, 0},
                 {CHANNELS_INTENSITY, TEXEL_SNORM8, 0},
                 {CHANNELS_BGRA, TEXEL_UNORM8, 0},
                 {CHANNELS_RA, TEXEL_UNORM8, 0}};
    const uint32_t size[3] = {1, 1, 1};
    const uint8_t bytes[16] = {255, 255, 255, 255};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct image_view image = image_of(IMAGE_2D, cases[i].channels, cases[i].element, size);
        const struct image_place place = {.at = {-1, 0}};
        uint32_t out[4];
        fetch(&image, &(struct sampler){SAME(ADDRESSING_BORDER), false, false}, &place, bytes, out);
        assert_true(!out[0] && !out[1] && !out[2] && out[3] == cases[i].alpha);
    }
}

/* A colour of the image's own, halfway between a texel and the border. */
static void borders_may_have_a_colour(void **state) {
    (void)state;
    const uint32_t size[3] = {1, 1, 1};
    const uint8_t bytes[16] = {51, 0, 204, 255};
    struct image_view image = image_of(IMAGE_2D, CHANNELS_RGBA, TEXEL_UNORM8, size);
    const struct image_place place = {.at = {0, 0.5f}}, outside = {.at = {-3, 0}};
    uint32_t out[4];
    image.has_border = true;
    for (unsigned c = 0; c < 4; c++)
        image.border[c] = as_bits((float)c / 4);
    fetch(&image, &(struct sampler){SAME(ADDRESSING_BORDER), true, false}, &place, bytes, out);
    for (unsigned c = 0; c < 4; c++)
        assert_true(as_float(out[c]) == (float)((4 * bytes[c] + 255 * (int)c) / 2040.0));
    image.element = TEXEL_SIGNED8;
    fetch(&image, &(struct sampler){SAME(ADDRESSING_BORDER), false, false}, &outside, bytes, out);
    assert_memory_equal(out, image.border, sizeof out); /* of integers: as they are */
}

/* ---- formats ---- */

static void read_one(const struct image_view *image, const void *texel, uint32_t out[4]) {
    const struct image_place place = {.is_integer = true};
    fetch(image, &(struct sampler){0}, &place, texel, out);
}

/* Where a channel comes from, told by the value: 10, 20, 30, 40 are the bytes in memory. */
static void channels_lie_where_their_order_says(void **state) {
    (void)state;
    static const struct {
        enum image_channels channels;
        uint32_t rgba[4];
    } cases[] = {{CHANNELS_R, {10, 0, 0, 1}},      {CHANNELS_A, {0, 0, 0, 10}},       {CHANNELS_RG, {10, 20, 0, 1}},
                 {CHANNELS_RA, {10, 0, 0, 20}},    {CHANNELS_RGBA, {10, 20, 30, 40}}, {CHANNELS_BGRA, {30, 20, 10, 40}},
                 {CHANNELS_ARGB, {20, 30, 40, 10}}};
    const uint32_t size[3] = {1, 1, 1};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct image_view image = image_of(IMAGE_2D, cases[i].channels, TEXEL_UNSIGNED8, size);
        const uint8_t texel[16] = {10, 20, 30, 40};
        uint8_t back[16] = {0};
        uint32_t out[4];
        read_one(&image, texel, out);
        assert_memory_equal(out, cases[i].rgba, sizeof out);
        image_encode(&image, out, back);
        assert_memory_equal(back, texel, image_texel_bytes(image.channels, image.element));
    }
}

/* Every code of a normalised channel: n / most, to the nearest float, and back. */
static void normalised_codes_come_back(void **state) {
    (void)state;
    static const struct {
        enum image_element element;
        int32_t least, most;
    } cases[] = {
        {TEXEL_UNORM8, 0, 255}, {TEXEL_UNORM16, 0, 65535}, {TEXEL_SNORM8, -128, 127}, {TEXEL_SNORM16, -32768, 32767}};
    const uint32_t size[3] = {1, 1, 1};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct image_view image = image_of(IMAGE_1D, CHANNELS_R, cases[i].element, size);
        for (int32_t code = cases[i].least; code <= cases[i].most; code++) {
            uint8_t texel[16] = {0}, back[16] = {0};
            uint32_t out[4];
            memcpy(texel, &code, 4);
            read_one(&image, texel, out);
            const int32_t counted = code < -cases[i].most ? -cases[i].most : code;
            assert_true(as_float(out[0]) == (float)((long double)counted / cases[i].most));
            image_encode(&image, out, back);
            int32_t again = 0;
            memcpy(&again, back, image_texel_bytes(image.channels, image.element));
            assert_int_equal(again, counted & (image_texel_bytes(image.channels, image.element) == 1 ? 255 : 65535));
        }
    }
}

/* What is written saturates, and rounds to the nearest code, ties to even. */
static void writes_saturate_and_round(void **state) {
    (void)state;
    const uint32_t size[3] = {1, 1, 1};
    const struct image_view unorm = image_of(IMAGE_1D, CHANNELS_RGBA, TEXEL_UNORM8, size);
    const struct image_view integer = image_of(IMAGE_1D, CHANNELS_RGBA, TEXEL_SIGNED8, size);
    const struct image_view positive = image_of(IMAGE_1D, CHANNELS_RGBA, TEXEL_UNSIGNED16, size);
    uint8_t texel[16];
    const uint32_t wild[4] = {as_bits(-3), as_bits(7), as_bits(NAN), as_bits(0.1f)};
    image_encode(&unorm, wild, texel);
    assert_true(texel[0] == 0 && texel[1] == 255 && texel[2] == 0 && texel[3] == 26); /* 25.5 and a bit */
    const uint32_t far[4] = {1000, (uint32_t)-1000, 127, (uint32_t)-128};
    image_encode(&integer, far, texel);
    assert_true(texel[0] == 127 && texel[1] == 128 && texel[2] == 127 && texel[3] == 128);
    const uint32_t large[4] = {70000, UINT32_MAX, 65535, 0};
    image_encode(&positive, large, texel);
    uint16_t codes[4];
    memcpy(codes, texel, sizeof codes);
    assert_true(codes[0] == 65535 && codes[1] == 65535 && codes[2] == 65535 && codes[3] == 0);
}

static float half_value(uint16_t code) {
    const uint32_t size[3] = {1, 1, 1};
    const struct image_view image = image_of(IMAGE_1D, CHANNELS_R, TEXEL_HALF, size);
    uint32_t out[4];
    read_one(&image, &code, out);
    return as_float(out[0]);
}

/* Halves: every code comes back; a float becomes the code next to it, of two the even one. */
static void halves_are_the_nearest(void **state) {
    (void)state;
    const uint32_t size[3] = {1, 1, 1};
    const struct image_view image = image_of(IMAGE_1D, CHANNELS_R, TEXEL_HALF, size);
    assert_true(half_value(0x3c00) == 1 && half_value(1) == ldexpf(1, -24) && half_value(0x7bff) == 65504 &&
                isinf(half_value(0x7c00)) && isnan(half_value(0x7e00)) && half_value(0xc000) == -2);
    for (unsigned code = 0; code < 0x7c00; code++) {
        const float low = half_value((uint16_t)code), high = code == 0x7bff ? 65536 : half_value((uint16_t)(code + 1));
        const float middle = (float)(((double)low + (double)high) / 2);
        const float tries[3] = {nextafterf(middle, 0), middle, nextafterf(middle, INFINITY)};
        const unsigned wanted[3] = {code, code + (code & 1), code + 1};
        assert_true(low < high);
        for (unsigned k = 0; k < 6; k++) {
            const uint32_t colour[4] = {as_bits(k < 3 ? tries[k] : -tries[k - 3])};
            uint16_t got;
            image_encode(&image, colour, (uint8_t *)&got);
            assert_int_equal(got, wanted[k % 3] | (k < 3 ? 0u : 0x8000u));
        }
    }
}

/* sRGB against the host's pow, and every code back. */
static void srgb_is_linear_when_read(void **state) {
    (void)state;
    const uint32_t size[3] = {1, 1, 1};
    const struct image_view image = image_of(IMAGE_2D, CHANNELS_SRGBA, TEXEL_UNORM8, size);
    for (unsigned code = 0; code < 256; code++) {
        const uint8_t texel[16] = {(uint8_t)code, 0, 255, (uint8_t)code};
        uint8_t back[16];
        uint32_t out[4];
        read_one(&image, texel, out);
        const double c = code / 255.0, linear = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
        assert_true(fabs((double)as_float(out[0]) - linear) <= 1e-7 * linear);
        assert_true(as_float(out[2]) == 1 && as_float(out[3]) == (float)((long double)code / 255));
        image_encode(&image, out, back);
        assert_memory_equal(back, texel, 4);
    }
}

static void packed_texels_have_red_on_top(void **state) {
    (void)state;
    const uint32_t size[3] = {1, 1, 1};
    const struct image_view image = image_of(IMAGE_2D, CHANNELS_RGB, TEXEL_UNORM565, size);
    const struct image_view wide = image_of(IMAGE_2D, CHANNELS_RGB, TEXEL_UNORM10, size);
    const uint8_t red[16] = {0x00, 0xf8}; /* little-endian */
    uint32_t out[4], word = 0;
    read_one(&image, red, out);
    assert_true(as_float(out[0]) == 1 && !out[1] && !out[2] && as_float(out[3]) == 1);
    const uint32_t colour[4] = {as_bits(1), 0, as_bits(1), 0};
    image_encode(&wide, colour, (uint8_t *)&word);
    assert_int_equal(word, UINT32_C(1023) << 20 | 1023);
    read_one(&wide, &word, out);
    assert_true(as_float(out[0]) == 1 && !out[1] && as_float(out[2]) == 1);
}

static void samplers_go_through_their_handles(void **state) {
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        const struct sampler sampler = {SAME((uint8_t)(i % 5)), i / 5 & 1, i / 10};
        struct sampler back;
        assert_true(sampler_from_handle(sampler_handle(&sampler), &back));
        assert_true(memcmp(back.addressing, sampler.addressing, 3) == 0 && back.is_linear == sampler.is_linear &&
                    back.is_normalised == sampler.is_normalised);
    }
    struct sampler none;
    assert_false(sampler_from_handle(0, &none));
    assert_false(sampler_from_handle(SAMPLER_BIT | 14, &none)); /* no such addressing */
    assert_false(sampler_from_handle(UINT64_C(1) << 40, &none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_those_of_the_specifications),
        cmocka_unit_test(integer_coordinates_name_texels),
        cmocka_unit_test(no_coordinate_leaves_the_image),
        cmocka_unit_test(border_is_opaque_where_there_is_no_alpha),
        cmocka_unit_test(channels_lie_where_their_order_says),
        cmocka_unit_test(normalised_codes_come_back),
        cmocka_unit_test(writes_saturate_and_round),
        cmocka_unit_test(halves_are_the_nearest),
        cmocka_unit_test(srgb_is_linear_when_read),
        cmocka_unit_test(packed_texels_have_red_on_top),
        cmocka_unit_test(borders_may_have_a_colour),
        cmocka_unit_test(samplers_go_through_their_handles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
