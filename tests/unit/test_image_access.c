/* SPDX-License-Identifier: Apache-2.0 */
/* tex, suld, sust and txq of PTX, without time and in time: where they read and write, what they refuse. */
#include "device_fixture.h"

#include "image/image.h"

enum { WORDS = 4096, TEXELS = 1024, OUT = 64, W = 4, H = 3 }; /* texels and results: words of the buffer */

/* The handle of the image is the buffer's first word; results go behind OUT. */
#define KERNEL(body)                                                                                                   \
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<9>;\n"                     \
    "ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"         \
    "add.u64 %rd3, %rd3, %rd1;\nrem.u32 %r2, %r1, 6;\nsub.u32 %r2, %r2, 1;\ndiv.u32 %r3, %r1, 6;\n"                    \
    "sub.u32 %r3, %r3, 1;\nshl.b32 %r4, %r2, 2;\nadd.u32 %r6, %r1, 1000;\n" body "\nret;\n}\n"
#define PUT(reg) "st.global.b32 [%rd3+256], " reg ";\n"

static void open_image(struct fixture *f, const char *settings, const char *body, struct image_view view) {
    uint64_t handle;
    fixture_open(f, settings, WORDS);
    load(f, body);
    view.address = f->buffer + 4 * TEXELS;
    assert_int_equal(device_image(f->device, &view, &handle, &f->report), STATUS_OK);
    f->memory[0] = (uint32_t)handle;
    for (unsigned i = 0; i < W * H; i++)
        f->memory[TEXELS + i] = 100 + i;
}

static const struct image_view words = {.kind = IMAGE_2D,
                                        .channels = CHANNELS_R,
                                        .element = TEXEL_UNSIGNED32,
                                        .width = W,
                                        .height = H,
                                        .depth = 1,
                                        .layers = 1,
                                        .row_bytes = 4 * W,
                                        .slice_bytes = 4 * W * H};

static bool is_inside(int x, int y) { return x >= 0 && x < W && y >= 0 && y < H; }
static int between(int a, int low, int high) { return a < low ? low : a > high ? high : a; }

/* Threads are texels from (-1, -1) to (4, 3), 30 of them. */
static void surfaces_clamp_or_give_zero(void **state) {
    (void)state;
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_image(&f, "sm.count: 1", KERNEL("suld.b.2d.b32.zero {%r7}, [%rd2, {%r4, %r3}];\n" PUT("%r7")), words);
        assert_int_equal(launch(&f, 1, 30, in_time), STATUS_OK);
        for (int i = 0; i < 30; i++) {
            const int x = i % 6 - 1, y = i / 6 - 1;
            assert_int_equal(f.memory[OUT + i], is_inside(x, y) ? 100 + y * W + x : 0);
        }
        finish(&f);
        open_image(&f, "sm.count: 1", KERNEL("suld.b.2d.b32.clamp {%r7}, [%rd2, {%r4, %r3}];\n" PUT("%r7")), words);
        assert_int_equal(launch(&f, 1, 30, in_time), STATUS_OK);
        for (int i = 0; i < 30; i++)
            assert_int_equal(f.memory[OUT + i], 100 + between(i / 6 - 1, 0, H - 1) * W + between(i % 6 - 1, 0, W - 1));
        finish(&f);
        open_image(&f, "sm.count: 1", KERNEL("sust.b.2d.b32.zero [%rd2, {%r4, %r3}], {%r6};\n"), words);
        assert_int_equal(launch(&f, 1, 30, in_time), STATUS_OK);
        for (int i = 0; i < 30; i++)
            if (is_inside(i % 6 - 1, i / 6 - 1))
                assert_int_equal(f.memory[TEXELS + (i / 6 - 1) * W + i % 6 - 1], 1000 + i);
        assert_int_equal(f.memory[TEXELS - 1] | f.memory[TEXELS + W * H], 0);
        finish(&f);
    }
}

static void expect_fault(const char *body, const struct image_view *view, const char *words_of_it) {
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_image(&f, "sm.count: 1", body, *view);
        assert_int_equal(launch(&f, 1, 30, in_time), STATUS_STOPPED);
        expect_text(&f, words_of_it);
        finish(&f);
    }
}

static void wrong_handles_and_coordinates_are_faults(void **state) {
    (void)state;
    struct image_view solid = words;
    solid.kind = IMAGE_3D;
    expect_fault(KERNEL("suld.b.2d.b32.trap {%r7}, [%rd2, {%r4, %r3}];\n"), &words,
                 "suld outside of image 1, a 2D image of 4 x 3 x 1 texels");
    expect_fault(KERNEL("sust.b.2d.b32 [%rd2, {%r4, %r3}], {%r6};\n"), &words, "sust outside of image 1");
    expect_fault(KERNEL("txq.width.b32 %r7, [%rd1];\n"), &words, "which is not the handle of an image");
    expect_fault(KERNEL("tex.2d.v4.u32.s32 {%r7, %r8, %r9, %r10}, [%rd2, %rd1, {%r2, %r3}];\n"), &words,
                 "which is not the handle of a sampler");
    expect_fault(KERNEL("suld.b.2d.b32.zero {%r7}, [%rd2, {%r4, %r3}];\n"), &solid,
                 "suld with coordinates of another kind, of image 1, a 3D image");
    expect_fault(KERNEL("suld.b.2d.b32.clamp {%r7}, [%rd2, {%r1, %r3}];\n"), &words, "is misaligned");
    expect_fault(".global .texref loose;\n" KERNEL("txq.width.b32 %r7, [loose];\n"), &words, "of variable loose of ");
}

static void queries_say_what_the_image_is(void **state) {
    (void)state;
    struct image_view view = words;
    view.kind = IMAGE_2D_ARRAY, view.layers = 5;
    struct fixture f;
    open_image(&f, "sm.count: 1",
               KERNEL("txq.width.b32 %r7, [%rd2];\nst.global.u32 [%rd1+256], %r7;\n"
                      "suq.height.b32 %r7, [%rd2];\nst.global.u32 [%rd1+260], %r7;\n"
                      "txq.array_size.b32 %r7, [%rd2];\nst.global.u32 [%rd1+264], %r7;\n"
                      "txq.channel_order.b32 %r7, [%rd2];\nst.global.u32 [%rd1+268], %r7;\n"
                      "txq.channel_data_type.b32 %r7, [%rd2];\nst.global.u32 [%rd1+272], %r7;\n"
                      "txq.depth.b32 %r7, [%rd2];\nst.global.u32 [%rd1+276], %r7;\n"),
               view);
    assert_int_equal(launch(&f, 1, 1, true), STATUS_OK);
    const uint32_t expected[] = {W, H, 5, 0x10b0, 0x10dc, 1}; /* CL_R, CL_UNSIGNED_INT32 */
    assert_memory_equal(f.memory + OUT, expected, sizeof expected);
    finish(&f);
}

/* A linear sample is one access of up to four texels; a store of the same thread is seen by what reads behind it. */
static void samples_see_own_stores(void **state) {
    (void)state;
    struct image_view view = words;
    view.element = TEXEL_FLOAT;
    view.own = sampler_of(ADDRESSING_EDGE, true, false);
    for (unsigned in_time = 0; in_time < 2; in_time++) {
        struct fixture f;
        open_image(&f, "sm.count: 1",
                   KERNEL("mov.u32 %r8, 0;\nmov.u32 %r9, 1;\nmov.f32 %f1, 0f40000000;\nmov.f32 %f2, 0f40C00000;\n"
                          "mov.f32 %f3, 0f3F800000;\n" /* texels (0, 0) and (1, 0) are 2 and 6; between them at 1 */
                          "sust.p.2d.v4.b32.trap [%rd2, {%r8, %r8}], {%f1, %f1, %f1, %f1};\n"
                          "sust.p.2d.v4.b32.trap [%rd2, {%r9, %r8}], {%f2, %f1, %f1, %f1};\n"
                          "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f3, 0f00000000}];\n"
                          "st.global.f32 [%rd3+256], %f4;\n"),
                   view);
        assert_int_equal(launch(&f, 1, 32, in_time), STATUS_OK);
        for (unsigned i = 0; i < 32; i++) {
            float value;
            memcpy(&value, &f.memory[OUT + i], sizeof value);
            assert_true(value == 4);
        }
        finish(&f);
    }
}

/* The forms that compilers emit; tests/forms/coverage.py looks for them here. Thread i has texel i of twelve, at x, y and z. */
#define AT(x_mask, x_bits, y_mask, y_bits)                                                                             \
    "and.b32 %r10, %r1, " #x_mask ";\nshr.u32 %r11, %r1, " #x_bits ";\nand.b32 %r11, %r11, " #y_mask ";\n"             \
    "shr.u32 %r12, %r1, " #y_bits ";\ncvt.rn.f32.u32 %f1, %r10;\nadd.rn.f32 %f1, %f1, 0f3F000000;\n"                   \
    "cvt.rn.f32.u32 %f2, %r11;\nadd.rn.f32 %f2, %f2, 0f3F000000;\ncvt.rn.f32.u32 %f3, %r12;\n"                         \
    "add.rn.f32 %f3, %f3, 0f3F000000;\nshl.b32 %r13, %r10, 2;\n"
#define READ "st.global.f32 [%rd3+256], %f4;\n"

static void forms_of_compilers_read_and_write_the_texel_named(void **state) {
    (void)state;
    static const struct {
        const char *body;
        enum image_kind kind;
        uint32_t width, height, depth, layers;
    } forms[] = {
        {KERNEL("tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%rd2, {%r1}];\n" READ), IMAGE_1D, 12, 1, 1, 1},
        {KERNEL(AT(3, 2, 3, 4) "tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2}];\n" READ), IMAGE_2D, 4, 3, 1,
         1},
        {KERNEL(AT(1, 1, 1, 2) "tex.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f1, %f2, %f3, %f3}];\n" READ),
         IMAGE_3D, 2, 2, 3, 1},
        {KERNEL(AT(1, 1, 1, 2) "tex.a2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%r12, %f1, %f2, %f2}];\n" READ),
         IMAGE_2D_ARRAY, 2, 2, 1, 3},
        {KERNEL(AT(3, 2, 3, 4) "suld.b.2d.b32.trap {%r7}, [%rd2, {%r13, %r11}];\n" PUT("%r7")), IMAGE_2D, 4, 3, 1, 1},
        {KERNEL(AT(3, 2, 3, 4) "sust.b.2d.b32.trap [%rd2, {%r13, %r11}], {%r6};\n"), IMAGE_2D, 4, 3, 1, 1},
    };
    for (unsigned run = 0; run < 2 * sizeof forms / sizeof forms[0]; run++) {
        const unsigned n = run / 2;
        struct image_view view = words;
        view.kind = (uint8_t)forms[n].kind, view.element = TEXEL_FLOAT, memset(view.own.addressing, ADDRESSING_EDGE, 3);
        view.width = forms[n].width, view.height = forms[n].height;
        view.depth = forms[n].depth, view.layers = forms[n].layers;
        view.row_bytes = 4 * (uint64_t)view.width, view.slice_bytes = view.row_bytes * view.height;
        struct fixture f;
        open_image(&f, "sm.count: 1", forms[n].body, view);
        for (unsigned i = 0; i < 12; i++) {
            const float texel = 1.5F + (float)i;
            memcpy(&f.memory[TEXELS + i], &texel, sizeof texel);
        }
        assert_int_equal(launch(&f, 1, 12, run % 2), STATUS_OK);
        for (unsigned i = 0; i < 12; i++) {
            const float texel = 1.5F + (float)i;
            if (strstr(forms[n].body, "sust"))
                assert_int_equal(f.memory[TEXELS + i], 1000 + i);
            else
                assert_memory_equal(&f.memory[OUT + i], &texel, sizeof texel);
        }
        finish(&f);
    }
}

/* Thread i reads in a way of its own: every level form of PTX, without time and in time. The image is a pyramid of 4 x 4, 2 x 2 and 1 texels
 * in words, whose rows take 32 bytes from level 1 on; level 0 holds 1.5, level 1 holds 8.5, level 2 holds 32.5 everywhere. */
static void open_pyramid(struct fixture *f, const char *body, enum image_kind kind, uint32_t layers) {
    struct image_view view = words;
    view.kind = (uint8_t)kind, view.element = TEXEL_FLOAT, view.layers = layers;
    view.width = view.height = 4, view.row_bytes = 32, view.slice_bytes = 128;
    view.levels = 3, view.level_most = 9, view.level_linear = true;
    view.own = sampler_of(ADDRESSING_EDGE, false, true);
    open_image(f, "sm.count: 1", body, view);
    const uint32_t ends[] = {32 * layers, (32 + 16) * layers, (32 + 16 + 8) * layers};
    for (uint32_t i = 0; i < ends[2]; i++) {
        const float texel = i < ends[0] ? 1.5F : i < ends[1] ? 8.5F : 32.5F;
        memcpy(&f->memory[TEXELS + i], &texel, sizeof texel);
    }
}

static void levels_cubes_and_gathers_by_ptx(void **state) {
    (void)state;
#define CALL(opcode, rest) KERNEL("mov.f32 %f1, 0f3F000000;\n" opcode "{%f4, %f5, %f6, %f7}, " rest ";\n" READ)
    static const struct {
        const char *body;
        enum image_kind kind;
        uint32_t layers;
        float expected;
    } reads[] = {
        {CALL("tex.level.2d.v4.f32.f32 ", "[%rd2, {%f1, %f1}], 0f3F800000"), IMAGE_2D, 1, 8.5F},
        {CALL("tex.level.2d.v4.f32.f32 ", "[%rd2, {%f1, %f1}], %f1"), IMAGE_2D, 1, 5.0F},
        {CALL("tex.level.2d.v4.f32.s32 ", "[%rd2, {%r1, %r1}], 2"), IMAGE_2D, 1, 32.5F},
        {CALL("tex.level.a2d.v4.f32.f32 ", "[%rd2, {%r1, %f1, %f1, %f1}], 0f40000000"), IMAGE_2D_ARRAY, 3, 32.5F},
        {CALL("tex.base.2d.v4.f32.f32 ", "[%rd2, {%f1, %f1}]"), IMAGE_2D, 1, 1.5F},
        {CALL("tex.grad.2d.v4.f32.f32 ", "[%rd2, {%f1, %f1}], {%f1, 0f00000000}, {0f00000000, 0f3E800000}"), IMAGE_2D,
         1, 8.5F},
        {CALL("tex.grad.a2d.v4.f32.f32 ", "[%rd2, {2, %f1, %f1, %f1}], {0f3F800000, 0f00000000}, {%f1, %f1}"),
         IMAGE_2D_ARRAY, 3, 32.5F},
        {CALL("tex.cube.v4.f32.f32 ", "[%rd2, {%f1, %f1, %f1, %f1}]"), IMAGE_CUBE, 6, 1.5F},
        {CALL("tex.level.cube.v4.f32.f32 ", "[%rd2, {%f1, %f1, %f1, %f1}], 0f3F800000"), IMAGE_CUBE, 6, 8.5F},
        {CALL("tex.level.acube.v4.f32.f32 ", "[%rd2, {1, %f1, %f1, %f1}], 0f40000000"), IMAGE_CUBE_ARRAY, 12, 32.5F},
        {CALL("tld4.r.2d.v4.f32.f32 ", "[%rd2, {%f1, %f1}]"), IMAGE_2D, 1, 1.5F},
        {CALL("tld4.g.2d.v4.f32.f32 ", "[%rd2, {%f1, %f1}]"), IMAGE_2D, 1, 0.0F},
        {CALL("tld4.a.a2d.v4.f32.f32 ", "[%rd2, {1, %f1, %f1, %f1}]"), IMAGE_2D_ARRAY, 3, 1.0F},
        {CALL("tld4.r.cube.v4.f32.f32 ", "[%rd2, {%f1, %f1, %f1, %f1}]"), IMAGE_CUBE, 6, 1.5F},
    };
    for (unsigned run = 0; run < 2 * sizeof reads / sizeof reads[0]; run++) {
        struct fixture f;
        open_pyramid(&f, reads[run / 2].body, reads[run / 2].kind, reads[run / 2].layers);
        assert_int_equal(launch(&f, 1, 32, run % 2), STATUS_OK);
        for (unsigned i = 0; i < 32; i++)
            assert_memory_equal(&f.memory[OUT + i], &reads[run / 2].expected, sizeof(float));
        finish(&f);
    }
}

/* Two warps, in which threads meet at texels: each adds its number, or more and less of it, to the texel of its number modulo six. */
static void reductions_lose_nothing(void **state) {
    (void)state;
    static const char *const reductions[] = {
        KERNEL("sured.b.add.1d.u32.zero [%rd2, {%r4}], {%r1};\n"),
        KERNEL("sured.b.max.1d.s32.zero [%rd2, {%r4}], {%r6};\n"),
        KERNEL("sub.s32 %r6, 5, %r1;\nsured.b.min.1d.s32.zero [%rd2, {%r4}], {%r6};\n"),
        KERNEL("sured.b.or.1d.b32.zero [%rd2, {%r4}], {%r1};\n"),
        KERNEL("sured.b.and.1d.b32.zero [%rd2, {%r4}], {%r1};\n"),
    };
    for (unsigned run = 0; run < 2 * sizeof reductions / sizeof reductions[0]; run++) {
        struct image_view line = words;
        line.kind = IMAGE_1D, line.height = 1;
        struct fixture f;
        open_image(&f, "sm.count: 1", reductions[run / 2], line);
        uint32_t before[W];
        memcpy(before, f.memory + TEXELS, sizeof before);
        assert_int_equal(launch(&f, 1, 64, run % 2), STATUS_OK);
        for (unsigned i = 0; i < W; i++) { /* threads i + 1, i + 7, i + 13, ... below 64 reach texel i */
            uint32_t value = before[i];
            for (uint32_t t = i + 1; t < 64; t += 6) {
                const int32_t less = 5 - (int32_t)t;
                value = run / 2 == 0   ? value + t
                        : run / 2 == 1 ? (value > t + 1000 ? value : t + 1000)
                        : run / 2 == 2 ? ((int32_t)value < less ? value : (uint32_t)less)
                        : run / 2 == 3 ? (value | t)
                                       : (value & t);
            }
            assert_int_equal(f.memory[TEXELS + i], value);
        }
        assert_int_equal(f.memory[TEXELS + W], 100 + W); /* what is outside is dropped */
        assert_int_equal(f.memory[TEXELS - 1], 0);
        finish(&f);
    }
    expect_fault(KERNEL("sured.b.add.2d.u32.trap [%rd2, {%r4, %r3}], {%r6};\n"), &words, "sured outside of image 1");
}

static void groups_that_form_anew_are_refused_in_time(void **state) {
    (void)state;
    struct fixture f;
    open_image(&f, "divergence.mechanism: dwf", KERNEL("suld.b.2d.b32.zero {%r7}, [%rd2, {%r4, %r3}];\n" PUT("%r7")),
               words);
    assert_int_equal(launch(&f, 1, 30, true), STATUS_INVALID);
    expect_text(&f, "unsupported in time with divergence.mechanism=dwf: kernel 'k' accesses an image");
    finish(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_clamp_or_give_zero),
        cmocka_unit_test(wrong_handles_and_coordinates_are_faults),
        cmocka_unit_test(queries_say_what_the_image_is),
        cmocka_unit_test(samples_see_own_stores),
        cmocka_unit_test(forms_of_compilers_read_and_write_the_texel_named),
        cmocka_unit_test(levels_cubes_and_gathers_by_ptx),
        cmocka_unit_test(reductions_lose_nothing),
        cmocka_unit_test(groups_that_form_anew_are_refused_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
