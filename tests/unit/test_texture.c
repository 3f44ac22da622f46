/* SPDX-License-Identifier: Apache-2.0 */
/* The texture unit in time: its rates, its cache, groups of bytes, what its counters add up to; results that no layout, cache or number of
 * host threads changes. */
#include "device_fixture.h"

#include <stdlib.h>

#include "base/bits.h"
#include "image/image.h"
#include "study/show.h"

enum { SIDE = 64, TEXELS = 1024, OUT = 64, WORDS = TEXELS + SIDE * SIDE, THREADS = 256 };

/* The handle of the image is the buffer's first word; results go behind OUT. Thread i is at (i % 8 + i / 32 * 8, i / 8 % 4). */
#define KERNEL(body)                                                                                                   \
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<9>;\n.reg .pred %p<3>;\n"  \
    "ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"         \
    "add.u64 %rd3, %rd3, %rd1;\nand.b32 %r2, %r1, 7;\nshr.u32 %r3, %r1, 5;\nmad.lo.u32 %r2, %r3, 8, %r2;\n"            \
    "shr.u32 %r3, %r1, 3;\nand.b32 %r3, %r3, 3;\ncvt.rn.f32.u32 %f1, %r2;\ncvt.rn.f32.u32 %f2, %r3;\n" body            \
    "\nret;\n}\n"
#define FETCH "tex.2d.v4.u32.s32 {%r7, %r8, %r9, %r10}, [%rd2, {%r2, %r3}];\n"
#define PUT "st.global.b32 [%rd3+256], %r7;\n"
#define SAMPLE "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2}];\n"
#define PUT_SAMPLE "st.global.f32 [%rd3+256], %f4;\n"

static struct image_view square(enum image_element element) {
    return (struct image_view){.kind = IMAGE_2D,
                               .channels = CHANNELS_R,
                               .element = (uint8_t)element,
                               .width = SIDE,
                               .height = SIDE,
                               .depth = 1,
                               .layers = 1,
                               .row_bytes = 4 * SIDE,
                               .slice_bytes = 4 * SIDE * SIDE,
                               .own = sampler_of(ADDRESSING_EDGE, element == TEXEL_FLOAT, false),
                               .gob_rows = IMAGE_GOB_ROWS};
}

static void open_square(struct fixture *f, const char *settings, const char *body, enum image_element element) {
    struct image_view view = square(element);
    uint64_t handle;
    fixture_open(f, settings, WORDS);
    load(f, body);
    view.address = f->buffer + 4 * TEXELS;
    assert_int_equal(device_image(f->device, &view, &handle, &f->report), STATUS_OK);
    f->memory[0] = (uint32_t)handle;
    for (unsigned i = 0; i < SIDE * SIDE; i++) {
        const float value = (float)(i * 7 % 31);
        f->memory[TEXELS + i] = 1000 + i;
        if (element == TEXEL_FLOAT)
            memcpy(&f->memory[TEXELS + i], &value, sizeof value);
    }
}

static struct sm_stats run(struct fixture *f, uint32_t threads) {
    assert_int_equal(launch(f, 1, threads, true), STATUS_OK);
    const struct sm_stats sm = f->result.timed->sm;
    assert_int_equal(sm.texture_hits + sm.texture_misses, sm.texture_sectors);
    return sm;
}

/* ---- groups of bytes ---- */

/* Every byte of an image has a place of its own in it, and sectors of whole groups are 16 bytes by two rows. */
static void places_are_a_permutation(void **state) {
    (void)state;
    static const struct {
        uint32_t width, height, depth, row;
        uint8_t rows, levels;
    } shapes[] = {{64, 64, 1, 256, 8, 0}, {20, 19, 3, 96, 8, 0},  {40, 9, 2, 160, 4, 0},
                  {5, 3, 1, 32, 8, 0},    {33, 30, 1, 160, 8, 5}, {16, 16, 4, 64, 4, 4}};
    for (unsigned n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        struct image_view view = square(TEXEL_UNSIGNED32);
        view.width = shapes[n].width, view.height = shapes[n].height, view.depth = shapes[n].depth;
        view.kind = view.depth > 1 ? IMAGE_3D : IMAGE_2D;
        view.row_bytes = shapes[n].row, view.slice_bytes = view.row_bytes * view.height;
        view.gob_rows = shapes[n].rows, view.levels = shapes[n].levels;
        view.address = UINT64_C(1) << 33;
        const uint64_t bytes = image_bytes(&view);
        uint8_t *seen = calloc(bytes, 1);
        assert_non_null(seen);
        for (uint64_t at = 0; at < bytes; at++) {
            const uint64_t place = image_offset_in_time(&view, at);
            assert_true(place < bytes && !seen[place]);
            seen[place] = 1;
        }
        free(seen);
    }
    struct image_view view = square(TEXEL_UNSIGNED32);
    for (uint64_t y = 0; y < SIDE; y += 2)
        for (uint64_t x = 0; x < view.row_bytes; x += 16) {
            const uint64_t first = image_offset_in_time(&view, y * view.row_bytes + x) / 32;
            assert_int_equal(image_offset_in_time(&view, (y + 1) * view.row_bytes + x + 15) / 32, first);
            assert_int_equal(image_offset_in_time(&view, y * view.row_bytes + x + 15) / 32, first);
        }
    view.gob_rows = 0;
    assert_int_equal(image_offset_in_time(&view, 12345), 12345);
}

/* ---- rates ---- */

/* A warp of 8 x 4 integers is four sectors of groups by four, and a sector of each of four rows; eight quads. */
static void counters_follow_the_keys(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        uint64_t sectors, busy;
    } cases[] = {
        {"texture.lookups: 4\n", 4, 8},
        {"texture.gob_rows: 0\n", 4, 8},
        {"texture.lanes: 8\n", 4, 4},
        {"texture.full_bytes: 2\n", 4, 16},
        {"texture.lanes: 32\ntexture.lookups: 1\n", 4, 4},
        {"texture.lanes: 3\n", 4, 11},
        {"texture.cache: own\ntexture_cache.size_bytes: 4096\ntexture_cache.ways: 4\ntexture_cache.line_bytes: 128\n",
         1, 8},
        {"texture.gob_rows: 0\ntexture.cache: own\ntexture_cache.size_bytes: 4096\ntexture_cache.ways: "
         "4\ntexture_cache.line_bytes: 128\n",
         4, 8},
        {"ideal.texture: true\n", 4, 1}};
    for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct fixture f;
        char settings[512];
        snprintf(settings, sizeof settings, "base: v100\nsm.count: 1\n%s", cases[n].keys);
        open_square(&f, settings, KERNEL(FETCH PUT), TEXEL_UNSIGNED32);
        const struct sm_stats sm = run(&f, 32);
        assert_int_equal(sm.texture_requests, 1);
        assert_int_equal(sm.texture_samples, 32);
        assert_int_equal(sm.texture_texels, 32);
        assert_int_equal(sm.texture_sectors, cases[n].sectors);
        assert_int_equal(sm.texture_busy, cases[n].busy);
        assert_int_equal(sm.texture_hits, n + 1 == sizeof cases / sizeof *cases ? 4 : 0);
        assert_int_equal(sm.global_loads, 1); /* of the handle */
        finish(&f);
    }
}

static uint64_t cycles_of(const char *keys, const char *body, enum image_element element) {
    struct fixture f;
    char settings[512];
    snprintf(settings, sizeof settings, "base: v100\nsm.count: 1\n%s", keys);
    open_square(&f, settings, body, element);
    run(&f, 32);
    const uint64_t cycles = f.result.timed->cycles;
    finish(&f);
    return cycles;
}

/* The second fetch of the same texels hits, one that misses waits longer by what the key says. */
static void latencies_are_the_keys(void **state) {
    (void)state;
    const char *const once = KERNEL(FETCH PUT), *const twice = KERNEL(
                                                    FETCH "and.b32 %r7, %r7, 0;\nadd.u32 %r2, %r2, %r7;\n" FETCH PUT);
    const uint64_t hit = cycles_of("texture.latency: 100\n", twice, TEXEL_UNSIGNED32);
    assert_int_equal(cycles_of("texture.latency: 164\n", twice, TEXEL_UNSIGNED32) - hit, 64);
    const uint64_t miss = cycles_of("texture.miss_latency: 3\n", once, TEXEL_UNSIGNED32);
    assert_int_equal(cycles_of("texture.miss_latency: 35\n", once, TEXEL_UNSIGNED32) - miss, 32);
}

/* ---- caches ---- */

/* Its own begins empty with every launch; the L1 of this machine stays. */
static void own_cache_begins_empty(void **state) {
    (void)state;
    for (unsigned own = 0; own < 2; own++) {
        struct fixture f;
        char settings[512];
        snprintf(settings, sizeof settings, "base: v100\nsm.count: 1\nl1.flush_at_end: false\ntexture.cache: %s\n",
                 own ? "own" : "l1");
        open_square(&f, settings, KERNEL(FETCH PUT), TEXEL_UNSIGNED32);
        run(&f, 32);
        const struct sm_stats second = run(&f, 32);
        assert_int_equal(second.texture_hits, own ? 0 : 4);
        assert_int_equal(f.result.timed->texture.misses, own ? 4 : 0);
        finish(&f);
    }
}

/* The load/store unit waits with samples that the full unit does not take, and stalls are the unit's. */
static void full_unit_stalls(void **state) {
    (void)state;
    struct fixture f;
    open_square(&f, "base: v100\nsm.count: 1\ntexture.lanes: 1\ntexture.queue: 1\nsm.memory_queue: 1\n",
                KERNEL(SAMPLE SAMPLE SAMPLE SAMPLE SAMPLE SAMPLE PUT_SAMPLE), TEXEL_FLOAT);
    const struct sm_stats sm = run(&f, THREADS);
    assert_int_equal(sm.texture_requests, 6 * THREADS / 32);
    assert_int_equal(sm.texture_busy, 32 * 6 * THREADS / 32);
    assert_true(sm.texture_waits > sm.texture_busy / 2);
    assert_true(sm.stall_texture > 4 * sm.stall_load_store);
    assert_true(sm.stall >= sm.stall_texture);
    finish(&f);
    open_square(&f, "base: v100\nsm.count: 1\ntexture.lanes: 32\ntexture.queue: 16\n", KERNEL(SAMPLE PUT_SAMPLE),
                TEXEL_FLOAT);
    const struct sm_stats wide = run(&f, THREADS);
    assert_int_equal(wide.stall_texture | wide.texture_waits, 0);
    finish(&f);
}

/* ---- what it must not change ---- */

/* Values are those of the functional run, whatever the machine, the layout and the cache; counters those of one host thread. */
static void results_are_the_functional_ones(void **state) {
    (void)state;
    static const char *const machines[] = {"base: gtx480\n",
                                           "base: gtx480\ntexture.cache: l1\n",
                                           "base: quadro-fx5800\n",
                                           "base: v100\n",
                                           "base: v100\ntexture.cache: own\n",
                                           "base: a6000\nsm.pipeline: control-bits\n",
                                           "base: v100\ntexture.gob_rows: 0\ntexture.queue: 1\n",
                                           "base: qv100\nl1.write: back\n",
                                           "base: rtx4090\nsm.scheduler: ccws\n"};
    const char *const body = KERNEL("add.f32 %f1, %f1, 0f3FA00000;\nadd.f32 %f2, %f2, 0f40700000;\n" SAMPLE PUT_SAMPLE);
    uint32_t expected[THREADS];
    struct fixture f;
    open_square(&f, "base: gtx480\n", body, TEXEL_FLOAT);
    assert_int_equal(launch(&f, 1, THREADS, false), STATUS_OK);
    memcpy(expected, f.memory + OUT, sizeof expected);
    finish(&f);
    for (unsigned n = 0; n < sizeof machines / sizeof *machines; n++) {
        struct gpu_stats one = {0};
        for (unsigned threads = 1; threads <= 2; threads++) {
            char settings[256];
            snprintf(settings, sizeof settings, "%shost.threads: %u\nhost.alone_ns: 0\n", machines[n], threads);
            open_square(&f, settings, body, TEXEL_FLOAT);
            assert_int_equal(launch(&f, 6, THREADS, true), STATUS_OK);
            assert_memory_equal(f.memory + OUT, expected, sizeof expected);
            assert_int_equal(f.result.timed->sm.texture_requests, 6 * THREADS / 32);
            if (threads > 1) {
                assert_int_equal(f.result.timed->cycles, one.cycles);
                assert_memory_equal(&f.result.timed->sm, &one.sm, sizeof one.sm);
            }
            one = *f.result.timed;
            finish(&f);
        }
    }
}

/* ---- what users see ---- */

static void show_names_images_kinds_and_lines(void **state) {
    (void)state;
    struct fixture f;
    char *text = NULL;
    size_t length;
    const struct show_options options = {.machine = &f.machine};
    fixture_open(&f, "base: gtx480\n", WORDS);
    load(&f, ".global .texref faces;\n.visible .entry k(.param .u64 p, .param .u64 pic) {\n.reg .b64 %rd<4>;\n.reg "
             ".b32 %r<9>;\n"
             ".reg .f32 %f<5>;\nld.param.u64 %rd1, [pic];\nmov.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"
             "suld.b.2d.b32.zero {%r7}, [%rd2, {%r1, %r1}];\n"
             "tex.3d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [faces, {%r1, %r1, %r1, %r1}];\n"
             "add.u64 %rd3, %rd1, 1;\nsust.b.a2d.b32.zero [%rd3, {%r1, %r1, %r1, %r1}], {%r7};\nret;\n}\n");
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(device_show_module(program_module(f.program), NULL, NULL, &options, out, &f.report), STATUS_OK);
    fclose(out);
    assert_non_null(strstr(text, "images        read or written by 3 instructions"));
    assert_non_null(strstr(text, "suld of pic (2D)\n"));
    assert_non_null(strstr(text, "tex of faces (3D)\n"));
    assert_non_null(strstr(text, "sust of a handle that is computed (2D array)\n"));
    free(text);
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_a_permutation),
        cmocka_unit_test(counters_follow_the_keys),
        cmocka_unit_test(latencies_are_the_keys),
        cmocka_unit_test(own_cache_begins_empty),
        cmocka_unit_test(show_names_images_kinds_and_lines),
        cmocka_unit_test(full_unit_stalls),
        cmocka_unit_test(results_are_the_functional_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
