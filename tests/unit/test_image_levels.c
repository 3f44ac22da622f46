/* SPDX-License-Identifier: Apache-2.0 */
/* Mipmap levels, cube maps and gathers, against a sampler of the tests' own in integers. */
#include <math.h>
#include <stdlib.h>

#include "image_sampler.h"
#include "random_bits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { SIDE_MAX = 16, LAYERS_MAX = 12, LEVELS_MAX = 5, BYTES_MAX = 1 << 20, ROW_BYTES = 32, LEVEL_UNIT = 1024 };

struct level {
    int64_t size[3], offset, row, slice;
};

struct scene {
    struct image_view image;
    struct sampler sampler;
    struct level level[LEVELS_MAX];
    uint8_t *bytes; /* one channel of one byte */
};

static int64_t drawn(int64_t below) { return (int64_t)(random_bits() % (uint64_t)below); }

/* Levels one behind the other, with rows of whole units. */
static void lay_out(struct scene *scene) {
    struct image_view *image = &scene->image;
    int64_t size[3] = {image->width, image->height, image->depth}, offset = 0;
    for (unsigned n = 0; n < image->levels; n++) {
        struct level *level = &scene->level[n];
        level->row = (size[0] + ROW_BYTES - 1) / ROW_BYTES * ROW_BYTES;
        level->slice = level->row * size[1];
        level->offset = offset;
        offset += level->slice * size[2] * image->layers;
        for (unsigned d = 0; d < 3; d++) {
            level->size[d] = size[d];
            size[d] = size[d] > 1 ? size[d] / 2 : 1;
        }
    }
    image->row_bytes = (uint64_t)scene->level[0].row;
    image->slice_bytes = (uint64_t)scene->level[0].slice;
    assert_int_equal(image_bytes(image), offset);
    assert_true(offset < BYTES_MAX);
    for (int64_t i = 0; i < offset; i++)
        scene->bytes[i] = (uint8_t)random_bits();
}

static struct scene scene_of(enum image_kind kind, uint8_t *bytes) {
    struct scene scene = {.image = {.kind = (uint8_t)kind, .channels = CHANNELS_R, .element = TEXEL_UNORM8},
                          .bytes = bytes};
    struct image_view *image = &scene.image;
    const unsigned dimensions = image_dimensions(kind);
    image->width = 1 + (uint32_t)drawn(SIDE_MAX);
    image->height = image_is_cube(kind) ? image->width : dimensions > 1 ? 1 + (uint32_t)drawn(SIDE_MAX) : 1;
    image->depth = dimensions > 2 ? 1 + (uint32_t)drawn(SIDE_MAX) : 1;
    image->layers = kind == IMAGE_CUBE ? 6 : kind == IMAGE_CUBE_ARRAY ? 12 : image_is_array(kind) ? 3 : 1;
    image->levels = (uint8_t)(1 + drawn(image_levels_most(image)));
    image->levels = image->levels > LEVELS_MAX ? LEVELS_MAX : image->levels;
    image->level_most = LEVELS_MAX;
    lay_out(&scene);
    return scene;
}

static void fetch(const struct scene *scene, const struct image_place *place, uint32_t out[4]) {
    struct image_taps taps;
    uint8_t texels[IMAGE_TAPS_MAX][IMAGE_TEXEL_BYTES_MAX];
    image_locate(&scene->image, &scene->sampler, place, &taps);
    assert_true(taps.count <= IMAGE_TAPS_MAX);
    for (unsigned i = 0; i < taps.count; i++)
        if (!taps.tap[i].is_border)
            texels[i][0] = scene->bytes[taps.tap[i].offset];
    image_filter(&scene->image, &taps, texels, out);
}

/* 256 to the number of dimensions times the red channel of a level's sample, of 255. */
static int64_t level_sum(const struct scene *scene, unsigned n, const int64_t s[3], int64_t layer) {
    const struct level *level = &scene->level[n];
    struct pick picks[3] = {{{0}, {256}}, {{0}, {256}}, {{0}, {256}}};
    for (unsigned d = 0; d < image_dimensions(scene->image.kind); d++)
        picks[d] = pick(s[d], level->size[d], scene->sampler.addressing[d], scene->sampler.is_normalised,
                        scene->sampler.is_linear);
    int64_t sum = 0;
    for (unsigned corner = 0; corner < 8; corner++) {
        int64_t weight = 1, at[3];
        bool inside = true;
        for (unsigned d = 0; d < 3; d++) {
            at[d] = picks[d].texel[corner >> d & 1];
            weight *= picks[d].weight[corner >> d & 1];
            inside = inside && at[d] >= 0 && at[d] < level->size[d];
        }
        if (inside)
            sum += weight * scene->bytes[level->offset + (at[2] + layer) * level->slice + at[1] * level->row + at[0]];
    }
    return sum;
}

/* level: of LEVEL_UNIT, before the image's own bias and bounds, which are of LEVEL_UNIT too. */
static float expected(const struct scene *scene, const int64_t s[3], int64_t layer, int64_t level, int64_t bias,
                      const int64_t bounds[2]) {
    level = level + bias < bounds[0] ? bounds[0] : level + bias;
    level = level > bounds[1] ? bounds[1] : level;
    int64_t part = between(nearest(level * 256, LEVEL_UNIT), 0, 256 * (scene->image.levels - 1));
    if (!scene->image.level_linear)
        part = floor_of(part + 128, 256) * 256;
    const unsigned first = (unsigned)(part / 256), second = part % 256 ? first + 1 : first;
    const int64_t sum =
        level_sum(scene, first, s, layer) * (256 - part % 256) + level_sum(scene, second, s, layer) * (part % 256);
    return (float)((long double)sum / (255.0L * 256 * 256 * 256 * 256));
}

static void choose_sampler(struct scene *scene, unsigned round) {
    scene->sampler = (struct sampler){{(uint8_t)(round % 5), (uint8_t)(round / 5 % 5), (uint8_t)(round / 25 % 5)},
                                      round / 2 & 1,
                                      true};
    scene->image.level_linear = drawn(2);
}

/* Coordinates of normalised reads: the place in the arrays, s in units of 1/4096. */
static void choose_place(const struct scene *scene, struct image_place *place, int64_t s[3], int64_t *layer) {
    *layer = drawn(scene->image.layers);
    place->layer = (uint32_t)*layer;
    for (unsigned d = 0; d < 3; d++) {
        s[d] = drawn(3 * UNIT) - UNIT;
        place->at[d] = (float)s[d] / (float)UNIT;
    }
}

static void levels_are_read_and_mixed(void **state) {
    (void)state;
    uint8_t *bytes = malloc(BYTES_MAX);
    for (unsigned round = 0; round < 3000; round++) {
        struct scene scene =
            scene_of((enum image_kind[]){IMAGE_1D, IMAGE_1D_ARRAY, IMAGE_2D, IMAGE_2D_ARRAY, IMAGE_3D}[round % 5],
                     bytes);
        choose_sampler(&scene, round / 5);
        const int64_t bias = round % 3 ? 0 : drawn(2 * LEVEL_UNIT) - LEVEL_UNIT;
        const int64_t bounds[2] = {round % 4 ? 0 : drawn(2 * LEVEL_UNIT),
                                   round % 7 ? LEVELS_MAX * LEVEL_UNIT : drawn(4 * LEVEL_UNIT)};
        scene.image.level_bias = (float)bias / (float)(int)LEVEL_UNIT;
        scene.image.level_least = (float)bounds[0] / (float)(int)LEVEL_UNIT;
        scene.image.level_most = (float)bounds[1] / (float)(int)LEVEL_UNIT;
        for (unsigned i = 0; i < 20; i++) {
            struct image_place place = {.reading = READING_LEVEL};
            int64_t s[3], layer;
            uint32_t out[4];
            choose_place(&scene, &place, s, &layer);
            const int64_t level = drawn(8 * LEVEL_UNIT) - 2 * LEVEL_UNIT;
            place.level = (float)level / (float)(int)LEVEL_UNIT;
            fetch(&scene, &place, out);
            assert_true(as_float(out[0]) == expected(&scene, s, layer, level, bias, bounds));
            place.reading = READING_BASE; /* says nothing of a level: the first, whatever bias and bounds are */
            fetch(&scene, &place, out);
            assert_true(as_float(out[0]) == expected(&scene, s, layer, 0, 0, (const int64_t[]){0, 0}));
        }
    }
    free(bytes);
}

/* Steps of so many texels of level 0 are the logarithm of them: exact for powers of two and, along a diagonal, of their roots. */
static void steps_choose_the_level_of_the_longer_one(void **state) {
    (void)state;
    static const int64_t bounds[2] = {0, LEVELS_MAX * LEVEL_UNIT};
    uint8_t *bytes = malloc(BYTES_MAX);
    for (unsigned round = 0; round < 2000; round++) {
        struct scene scene = scene_of(round & 1 ? IMAGE_2D : IMAGE_2D_ARRAY, bytes);
        scene.image.width = scene.image.height = SIDE_MAX;
        scene.image.levels = LEVELS_MAX;
        lay_out(&scene);
        choose_sampler(&scene, round / 2);
        struct image_place place = {.reading = READING_STEPS};
        int64_t s[3], layer;
        uint32_t out[4];
        choose_place(&scene, &place, s, &layer);
        const int64_t power = drawn(8) - 2;
        const bool is_diagonal = drawn(2), is_down = drawn(2);
        const float step = ldexpf(1, (int)power) / (float)(int)SIDE_MAX;
        place.steps[is_down][drawn(2)] = drawn(2) ? step : -step;
        if (is_diagonal)
            place.steps[is_down][0] = place.steps[is_down][1] = step;
        place.steps[!is_down][drawn(2)] = step / 2; /* the shorter one counts nothing */
        fetch(&scene, &place, out);
        const int64_t level = power * LEVEL_UNIT + (is_diagonal ? LEVEL_UNIT / 2 : 0);
        assert_true(as_float(out[0]) == expected(&scene, s, layer, level, 0, bounds));
    }
    free(bytes);
}

/* Of other steps: the level that the host's logarithm gives, where that is not at the border of two. */
static void steps_of_any_length(void **state) {
    (void)state;
    static const int64_t bounds[2] = {0, LEVELS_MAX * LEVEL_UNIT};
    uint8_t *bytes = malloc(BYTES_MAX);
    unsigned compared = 0;
    struct scene scene = scene_of(IMAGE_3D, bytes);
    scene.image.width = scene.image.height = scene.image.depth = SIDE_MAX;
    scene.image.levels = LEVELS_MAX;
    lay_out(&scene);
    scene.image.level_linear = true;
    scene.sampler = sampler_of(ADDRESSING_REPEAT, true, true);
    for (unsigned round = 0; round < 4000; round++) {
        struct image_place place = {.reading = READING_STEPS};
        int64_t s[3], layer;
        uint32_t out[4];
        choose_place(&scene, &place, s, &layer);
        long double longest = 0;
        for (unsigned side = 0; side < 2; side++) {
            long double sum = 0;
            for (unsigned d = 0; d < 3; d++) {
                place.steps[side][d] = (float)(drawn(2001) - 1000) / 1500;
                const long double texels = (long double)place.steps[side][d] * (long double)(int)SIDE_MAX;
                sum += texels * texels;
            }
            longest = sum > longest ? sum : longest;
        }
        const long double units = 128 * log2l(longest);
        if (fabsl(units - floorl(units) - 0.5L) < 0.001L)
            continue;
        fetch(&scene, &place, out);
        const int64_t level = (int64_t)roundl(units) * (LEVEL_UNIT / 256);
        assert_true(as_float(out[0]) == expected(&scene, s, layer, level, 0, bounds));
        compared++;
    }
    assert_true(compared > 3000);
    free(bytes);
}

/* Where a face lies: its middle, and the way that its first and second coordinate grow, by CUDA's table of cube maps. */
static const int faces[6][3][3] = {{{1, 0, 0}, {0, 0, -1}, {0, -1, 0}}, {{-1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                                   {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}},   {{0, -1, 0}, {1, 0, 0}, {0, 0, -1}},
                                   {{0, 0, 1}, {1, 0, 0}, {0, -1, 0}},  {{0, 0, -1}, {-1, 0, 0}, {0, -1, 0}}};

static void directions_meet_the_face_they_point_to(void **state) {
    (void)state;
    static const int64_t bounds[2] = {0, LEVELS_MAX * LEVEL_UNIT};
    uint8_t *bytes = malloc(BYTES_MAX);
    for (unsigned round = 0; round < 4000; round++) {
        struct scene scene = scene_of(round & 1 ? IMAGE_CUBE : IMAGE_CUBE_ARRAY, bytes);
        choose_sampler(&scene, round / 2);
        const struct sampler given = scene.sampler;
        const unsigned face = (unsigned)drawn(6), cube = (unsigned)drawn(scene.image.layers / 6);
        const int64_t s[3] = {1 + drawn(UNIT - 1), 1 + drawn(UNIT - 1), 0}, level = drawn(3 * LEVEL_UNIT);
        const float far = ldexpf(1, (int)drawn(9) - 4);
        struct image_place place = {.reading = READING_LEVEL,
                                    .layer = cube,
                                    .level = (float)level / (float)(int)LEVEL_UNIT};
        for (unsigned d = 0; d < 3; d++)
            place.at[d] =
                far * ((float)faces[face][0][d] + (float)faces[face][1][d] * (float)(2 * s[0] - UNIT) / (float)UNIT +
                       (float)faces[face][2][d] * (float)(2 * s[1] - UNIT) / (float)UNIT);
        uint32_t out[4];
        fetch(&scene, &place, out);
        memset(scene.sampler.addressing, ADDRESSING_EDGE, sizeof scene.sampler.addressing); /* whatever it says */
        assert_true(as_float(out[0]) == expected(&scene, s, 6 * cube + face, level, 0, bounds));
        place.layer = 99; /* beyond: the last cube */
        scene.sampler = given;
        fetch(&scene, &place, out);
        memset(scene.sampler.addressing, ADDRESSING_EDGE, sizeof scene.sampler.addressing);
        assert_true(as_float(out[0]) == expected(&scene, s, scene.image.layers - 6 + face, level, 0, bounds));
    }
    free(bytes);
}

/* The four texels of a linear sample: those below first, from left to right, then those above, from right to left. */
static void gathers_give_the_four_texels(void **state) {
    (void)state;
    static const unsigned sides[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    uint8_t *bytes = malloc(BYTES_MAX);
    for (unsigned round = 0; round < 4000; round++) {
        struct scene scene = scene_of(round & 1 ? IMAGE_2D : IMAGE_2D_ARRAY, bytes);
        choose_sampler(&scene, round / 2); /* linear or not */
        struct image_place place = {.reading = READING_GATHER};
        struct image_taps taps;
        int64_t s[3], layer;
        choose_place(&scene, &place, s, &layer);
        image_locate(&scene.image, &scene.sampler, &place, &taps);
        assert_int_equal(taps.count, 4);
        struct pick picks[2];
        for (unsigned d = 0; d < 2; d++)
            picks[d] = pick(s[d], scene.level[0].size[d], scene.sampler.addressing[d], true, true);
        for (unsigned i = 0; i < 4; i++) {
            const int64_t x = picks[0].texel[sides[i][0]], y = picks[1].texel[sides[i][1]];
            const bool inside = x >= 0 && y >= 0 && x < scene.level[0].size[0] && y < scene.level[0].size[1];
            assert_int_equal(taps.tap[i].is_border, !inside);
            if (inside)
                assert_int_equal(taps.tap[i].offset, layer * scene.level[0].slice + y * scene.level[0].row + x);
        }
    }
    free(bytes);
}

static void levels_are_images_of_their_own(void **state) {
    (void)state;
    uint8_t *bytes = malloc(BYTES_MAX);
    for (unsigned round = 0; round < 1000; round++) {
        const struct scene scene = scene_of(round % IMAGE_KIND_COUNT, bytes);
        for (unsigned n = 0; n < scene.image.levels; n++) {
            struct image_view level;
            image_level(&scene.image, n, &level);
            assert_int_equal(level.levels, 0);
            assert_int_equal(level.address - scene.image.address, scene.level[n].offset);
            assert_int_equal(level.width, scene.level[n].size[0]);
            assert_int_equal(level.height, scene.level[n].size[1]);
            assert_int_equal(level.depth, scene.level[n].size[2]);
            assert_int_equal(level.row_bytes, scene.level[n].row);
            assert_int_equal(level.slice_bytes, scene.level[n].slice);
        }
    }
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_images_of_their_own),           cmocka_unit_test(levels_are_read_and_mixed),
        cmocka_unit_test(steps_choose_the_level_of_the_longer_one), cmocka_unit_test(steps_of_any_length),
        cmocka_unit_test(directions_meet_the_face_they_point_to),   cmocka_unit_test(gathers_give_the_four_texels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
