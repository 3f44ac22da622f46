/* SPDX-License-Identifier: Apache-2.0 */
/* Native code with images against PTX: native_images PTX CUBIN... [--rounds N] [--in-time]
 * Each kernel of the PTX runs with random images, samplers and coordinates, then the kernel of that name of each cubin; the whole memory that
 * both leave is compared. A kernel's name says what it is given (image_kernels.py). Exit status 1: memory differs, or a launch ended badly. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "device/device.h"
#include "image/image.h"
#include "machine/machine.h"

enum {
    FILE_LIMIT_BYTES = 1 << 26,
    LANES = 32,
    IMAGES = 2,
    /* the buffer, in words */
    IN = 0,
    TABLE = 512,
    OUT = 1024,
    TEXELS = 4096,
    IMAGE_WORDS = 1 << 14,
    WORDS = TEXELS + IMAGES * IMAGE_WORDS
};

struct side {
    const char *name;
    struct machine machine;
    struct device *device;
    struct program *program;
    uint64_t buffer;
    uint32_t *memory;
};

static struct report report;
static struct arena arena;
static uint64_t state;
static bool in_time;

static uint32_t drawn(uint32_t below) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static void die(const char *what) {
    fprintf(stderr, "%s\n%s", what, report_text(&report));
    exit(2);
}

static void open_side(struct side *side, const char *path) {
    size_t length;
    char *bytes;
    side->name = path;
    if (machine_open_text(&side->machine, "test.yaml", "sm.count: 1", 11, &report) != STATUS_OK ||
        device_create(&side->device, &side->machine, &report) != STATUS_OK ||
        device_alloc(side->device, "buffer", WORDS * sizeof(uint32_t), &side->buffer, &report) != STATUS_OK ||
        file_read(path, FILE_LIMIT_BYTES, &arena, &bytes, &length, &report) != STATUS_OK ||
        device_load(side->device, path, bytes, length, &side->program, &report) != STATUS_OK)
        die(path);
    side->memory = device_memory(side->device, side->buffer, WORDS * sizeof(uint32_t));
}

/* ---- what a kernel is given ---- */

struct given {
    bool is_surface;
    enum image_kind kind;
    char source; /* p, m, r */
    struct image_view images[IMAGES];
    uint32_t words[WORDS];
};

static bool kind_of(const char *name, size_t length, enum image_kind *out) {
    static const struct {
        const char *name;
        enum image_kind kind;
    } kinds[] = {{"1d", IMAGE_1D},        {"2d", IMAGE_2D},     {"3d", IMAGE_3D},           {"a1d", IMAGE_1D_ARRAY},
                 {"a2d", IMAGE_2D_ARRAY}, {"cube", IMAGE_CUBE}, {"acube", IMAGE_CUBE_ARRAY}};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strlen(kinds[i].name) == length && strncmp(kinds[i].name, name, length) == 0) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

static void choose_format(struct given *given, struct image_view *image) {
    static const struct {
        enum image_channels channels;
        enum image_element element;
    } of_textures[] = {{CHANNELS_RGBA, TEXEL_FLOAT},    {CHANNELS_RGBA, TEXEL_UNORM8}, {CHANNELS_R, TEXEL_UNSIGNED32},
                       {CHANNELS_RG, TEXEL_HALF},       {CHANNELS_BGRA, TEXEL_UNORM8}, {CHANNELS_RGBA, TEXEL_SIGNED16},
                       {CHANNELS_RGBA, TEXEL_UNSIGNED8}},
      of_surfaces[] = {{CHANNELS_RGBA, TEXEL_UNSIGNED32},
                       {CHANNELS_RG, TEXEL_UNSIGNED32},
                       {CHANNELS_R, TEXEL_UNSIGNED32},
                       {CHANNELS_RGBA, TEXEL_UNORM8},
                       {CHANNELS_RGBA, TEXEL_HALF}};
    const unsigned n =
        drawn(given->is_surface ? sizeof of_surfaces / sizeof *of_surfaces : sizeof of_textures / sizeof *of_textures);
    image->channels = (uint8_t)(given->is_surface ? of_surfaces[n].channels : of_textures[n].channels);
    image->element = (uint8_t)(given->is_surface ? of_surfaces[n].element : of_textures[n].element);
}

static void choose_sampler(struct image_view *image) {
    image->own.is_normalised = image_is_cube((enum image_kind)image->kind) || drawn(2);
    image->own.is_linear = drawn(2);
    for (unsigned d = 0; d < 3; d++)
        image->own.addressing[d] = (uint8_t)(ADDRESSING_EDGE + drawn(4));
    image->levels = (uint8_t)(drawn(2) ? 0 : 3);
    image->level_linear = drawn(2);
    image->level_bias = drawn(3) ? 0 : 0.5F;
    image->level_least = 0;
    image->level_most = (float)(1 + drawn(3));
}

/* Surfaces have 32 texels in a row, so that eight accesses of 16 bytes lie inside of all. */
static void choose_image(struct given *given, unsigned n) {
    struct image_view *image = &given->images[n];
    const unsigned dimensions = image_dimensions(given->kind);
    const bool is_cube = image_is_cube(given->kind);
    *image = (struct image_view){.kind = (uint8_t)given->kind, .height = 1, .depth = 1, .layers = 1};
    choose_format(given, image);
    image->width = given->is_surface ? 32 : is_cube ? 8 : 5 + drawn(20);
    if (dimensions > 1)
        image->height = is_cube ? 8 : 4 + drawn(6);
    if (dimensions > 2 && !is_cube)
        image->depth = 2 + drawn(3);
    if (image_is_array(given->kind))
        image->layers = 2 + drawn(2);
    if (is_cube)
        image->layers *= 6;
    image->row_bytes = (uint64_t)image->width *
                       image_texel_bytes((enum image_channels)image->channels, (enum image_element)image->element);
    image->slice_bytes = image->row_bytes * image->height;
    if (!given->is_surface)
        choose_sampler(image);
    if (image_bytes(image) > IMAGE_WORDS * sizeof(uint32_t))
        die("an image is larger than its room");
}

static float choose_number(bool is_cube) {
    static const float odd[] = {0.5F, 1, -1, 2, 1e9F, -1e9F, 1.0F / 3};
    if (!is_cube && drawn(8) == 0)
        return odd[drawn(sizeof odd / sizeof *odd)];
    const float wide = drawn(2) ? 2 : 24;
    return ((float)drawn(1 << 16) / 32768.0F - 0.5F) * wide;
}

static void put_number(uint32_t *word, float value) { memcpy(word, &value, sizeof value); }

/* Of a cube the greatest coordinate is a power of two: ptxas divides by it, approximately. */
static void choose_direction(uint32_t *words) {
    const float size = (float)(1 << drawn(3));
    for (unsigned i = 0; i < 3; i++)
        put_number(&words[i], ((float)drawn(1 << 12) / 2048.0F - 1) * size);
    put_number(&words[drawn(3)], drawn(2) ? size : -size);
}

static void choose_inputs(struct given *given) {
    const bool is_cube = image_is_cube(given->kind);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t *words = given->words + IN + 16 * lane;
        for (unsigned i = 0; i < 12; i++)
            put_number(&words[i], choose_number(is_cube));
        put_number(&words[3], (float)drawn(1000) / 200 - 1); /* a level */
        for (unsigned i = 4; i < 8; i++)                     /* steps, small ones too */
            put_number(&words[i], choose_number(false) / (float)(1 << drawn(8)));
        if (is_cube)
            choose_direction(words);
        words[12] = drawn(6) ? drawn(5) : UINT32_MAX - drawn(2) * 0x7fff0000U; /* a layer */
        for (unsigned i = 13; i < 16; i++)
            words[i] = drawn(36) - 3;
    }
}

static bool choose(struct given *given, const char *name, uint64_t seed) {
    const char *end = strchr(name, '_');
    memset(given, 0, sizeof *given);
    if (!end || (*name != 't' && *name != 's') || !kind_of(name + 1, (size_t)(end - name) - 1, &given->kind))
        return false;
    state = seed;
    for (const char *at = name; *at; at++)
        state = state * 131 + (uint8_t)*at;
    given->is_surface = *name == 's', given->source = end[1];
    for (unsigned n = 0; n < IMAGES; n++)
        choose_image(given, n);
    choose_inputs(given);
    for (unsigned i = TEXELS; i < WORDS; i++) { /* floats are numbers, of any size */
        put_number(&given->words[i], choose_number(false));
        if (drawn(2))
            given->words[i] = drawn(INT32_MAX) & 0x3fff3fffU;
    }
    for (unsigned lane = 0; lane < LANES; lane++)
        given->words[TABLE + 2 * lane] = 1 + drawn(IMAGES);
    return true;
}

/* ---- launches ---- */

static void bind_references(struct side *side, uint64_t handle) {
    static const char *const names[] = {"textures", "surfaces"};
    const struct module *module = program_module(side->program);
    for (unsigned i = 0; i < module->variable_count; i++)
        for (unsigned n = 0; n < 2; n++)
            if (strcmp(module->variables[i]->name, names[n]) == 0) {
                const uint64_t address = program_image(side->program) + module->variables[i]->offset;
                memcpy(device_memory(side->device, address, sizeof handle), &handle, sizeof handle);
            }
}

static bool run(struct side *side, const struct given *given, const char *name) {
    uint64_t handles[IMAGES], params[3] = {side->buffer + 4 * OUT, 0, side->buffer + 4 * IN};
    memcpy(side->memory, given->words, sizeof given->words);
    for (unsigned n = 0; n < IMAGES; n++) {
        struct image_view image = given->images[n];
        image.address = side->buffer + 4 * (TEXELS + n * IMAGE_WORDS);
        if (device_image(side->device, &image, &handles[n], &report) != STATUS_OK || handles[n] != n + 1)
            die(name);
    }
    params[1] = given->source == 'm' ? side->buffer + 4 * TABLE : handles[0];
    bind_references(side, handles[1]);
    const struct launch launch = {.program = side->program,
                                  .kernel = module_find(program_module(side->program), name),
                                  .grid = {1, 1, 1},
                                  .block = {LANES, 1, 1},
                                  .params = params,
                                  .work_dim = 1,
                                  .in_time = in_time};
    struct launch_result result = {0};
    const bool done = launch.kernel && device_launch(side->device, &launch, &result, &report) == STATUS_OK;
    launch_result_free(&result);
    for (unsigned n = 0; n < IMAGES; n++)
        device_image_end(side->device, handles[n]);
    return done;
}

static bool is_equal(const struct side *right, const struct side *found, const char *name) {
    for (unsigned i = 0; i < WORDS; i++)
        if (right->memory[i] != found->memory[i]) {
            printf("%s, %s: word %u is 0x%08" PRIx32 ", not 0x%08" PRIx32 "\n", found->name, name, i, found->memory[i],
                   right->memory[i]);
            return false;
        }
    return true;
}

static bool compare(struct side *sides, unsigned count, const char *name, unsigned round, struct given *given) {
    bool good = true;
    if (!choose(given, name, round))
        return false;
    if (!run(&sides[0], given, name)) {
        printf("%s, %s does not run: %s", sides[0].name, name, report_text(&report));
        report_free(&report);
        return false;
    }
    for (unsigned i = 1; i < count; i++) {
        const bool done = run(&sides[i], given, name);
        if (!done)
            printf("%s, %s does not run: %s", sides[i].name, name, report_text(&report));
        report_free(&report);
        good &= done && is_equal(&sides[0], &sides[i], name);
    }
    return good;
}

int main(int argc, char **argv) {
    enum { SIDES_MAX = 8 };
    static struct side sides[SIDES_MAX];
    static struct given given;
    unsigned count = 0, rounds = 4, runs = 0, wrong = 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--in-time") == 0)
            in_time = true;
        else if (count < SIDES_MAX)
            open_side(&sides[count++], argv[i]);
    if (count < 2)
        die("usage: native_images PTX CUBIN... [--rounds N] [--in-time]");
    const struct module *module = program_module(sides[0].program);
    for (unsigned f = 0; f < module->function_count; f++)
        for (unsigned round = 0; round < rounds && module->functions[f]->is_entry; round++, runs += count - 1)
            wrong += !compare(sides, count, module->functions[f]->name, round, &given);
    printf("%u runs of native code with images, %u kernels or rounds wrong\n", runs, wrong);
    arena_free(&arena);
    for (unsigned i = 0; i < count; i++) {
        device_destroy(sides[i].device);
        machine_close(&sides[i].machine);
    }
    return wrong || !runs;
}
