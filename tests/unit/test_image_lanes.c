/* SPDX-License-Identifier: Apache-2.0 */
/* Samples that are made several lanes at a time have the same bytes as lane by lane: host.lanes v1 against what the host has. */
#include "device_fixture.h"

#include <math.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "image/image.h"

enum {
    SIZE = 5,
    TEXELS = SIZE * SIZE * SIZE * 4,
    THREADS = 256,
    AT = 8,
    FIRST = AT + 3 * THREADS,
    OUT = FIRST + TEXELS,
    WORDS = OUT + 4 * THREADS
};

#define KERNEL(geometry, coordinates, colour)                                                                          \
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<20>;\n.reg .f32 %f<9>;\n.reg .pred %p<3>;\n"  \
    "ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"         \
    "add.u64 %rd4, %rd3, %rd1;\nld.global.f32 %f1, [%rd4+32];\nld.global.f32 %f2, [%rd4+1056];\n"                      \
    "ld.global.f32 %f3, [%rd4+2080];\nmov.f32 %f4, 0f40e00000;\nmov.f32 %f5, %f4;\nmov.f32 %f6, %f4;\nmov.f32 %f7, "   \
    "%f4;\n"                                                                                                           \
    "and.b32 %r2, %r1, 96;\nsetp.ne.u32 %p1, %r2, 32;\nand.b32 %r3, %r1, 3;\nsetp.ne.or.u32 %p1, %r3, 1, %p1;\n"       \
    "@%p1 tex." geometry ".v4.f32.f32 " colour ", [%rd2, " coordinates "];\n"                                          \
    "mul.wide.u32 %rd3, %r1, 16;\nadd.u64 %rd4, %rd3, %rd1;\n"                                                         \
    "st.global.v4.f32 [%rd4+5104], " colour ";\nret;\n}\n"

/* Of each kind one that puts its colour elsewhere, and one that puts it where the coordinates were. */
#define APART "{%f4, %f5, %f6, %f7}"
#define OVER "{%f3, %f2, %f1, %f7}"
#define KERNELS(geometry, coordinates)                                                                                 \
    { KERNEL(geometry, coordinates, APART), KERNEL(geometry, coordinates, OVER) }

static const char *const kernels[][2] = {KERNELS("1d", "{%f1}"), KERNELS("2d", "{%f1, %f2}"),
                                         KERNELS("3d", "{%f1, %f2, %f3, %f3}")};
static const enum image_kind kinds[] = {IMAGE_1D, IMAGE_2D, IMAGE_3D};

static float any_float(bool is_coordinate) {
    static const float odd[] = {NAN,   INFINITY, -INFINITY, -0.0f, 0.0f, 1e30f, -1e30f, 3e9f,
                                -3e9f, 1e-42f,   0.5f,      1,     5,    4.5f,  -0.5f};
    if (rand() % 6 == 0)
        return odd[(unsigned)rand() % (sizeof odd / sizeof *odd)];
    if (rand() % 4 == 0)
        return (float)(rand() % 64 - 16) / 8;
    return ((float)rand() / (float)RAND_MAX - 0.3f) * (is_coordinate ? 8 : 1000);
}

static struct image_view view_of(unsigned kind, enum image_channels channels) {
    const unsigned texel = image_texel_bytes(channels, TEXEL_FLOAT);
    return (struct image_view){.kind = (uint8_t)kinds[kind],
                               .channels = (uint8_t)channels,
                               .element = TEXEL_FLOAT,
                               .width = SIZE,
                               .height = kind > 0 ? SIZE - 1 : 1,
                               .depth = kind > 1 ? SIZE : 1,
                               .layers = 1,
                               .row_bytes = SIZE * texel,
                               .slice_bytes = (uint64_t)SIZE * texel * (kind > 0 ? SIZE - 1 : 1)};
}

/* What a launch of a kernel leaves with these lanes; the seed decides all inputs. */
static void sample(const char *lanes, const char *kernel, struct image_view view, uint32_t *out) {
    struct fixture f;
    uint64_t handle;
    char setting[64];
    fixture_open(&f, "base: gtx480\n", WORDS);
    snprintf(setting, sizeof setting, "host.lanes=%s", lanes);
    device_destroy(f.device);
    assert_int_equal(machine_set(&f.machine, setting, "test", &f.report), STATUS_OK);
    assert_int_equal(device_create(&f.device, &f.machine, &f.report), STATUS_OK);
    assert_int_equal(device_alloc(f.device, "buffer", WORDS * sizeof(uint32_t), &f.buffer, &f.report), STATUS_OK);
    f.memory = device_memory(f.device, f.buffer, WORDS * sizeof(uint32_t));
    load(&f, kernel);
    view.address = f.buffer + 4 * FIRST;
    assert_int_equal(device_image(f.device, &view, &handle, &f.report), STATUS_OK);
    f.memory[0] = (uint32_t)handle;
    for (unsigned i = AT; i < OUT; i++) {
        const float value = any_float(i < FIRST);
        memcpy(&f.memory[i], &value, sizeof value);
    }
    f.memory[FIRST + 7] = 0x7f800001; /* no quiet number */
    assert_int_equal(launch(&f, 1, THREADS, false), STATUS_OK);
    memcpy(out, f.memory + OUT, 4 * THREADS * sizeof *out);
    finish(&f);
}

/* Whether a case had a sum that is no number is for its inputs to decide: of all together many have one. */
static unsigned count_no_numbers(const uint32_t *words) {
    unsigned count = 0;
    for (unsigned i = 0; i < 4 * THREADS; i++)
        count += (words[i] & 0x7fffffff) > 0x7f800000;
    return count;
}

static unsigned compare(unsigned n, unsigned over) {
    static const enum image_channels channels[] = {CHANNELS_R, CHANNELS_RG, CHANNELS_RGBA};
    static uint32_t plain[4 * THREADS], fast[4 * THREADS];
    const unsigned kind = n % 3;
    struct image_view view = view_of(kind, channels[n / 3 % 3]);
    view.own = sampler_of((enum image_addressing)(n / 9 % 5), n / 45 & 1, n / 90 & 1);
    view.own.addressing[2] = (uint8_t)(n / 7 % 5);
    srand(n + 1);
    sample("v1", kernels[kind][over], view, plain);
    srand(n + 1);
    sample("v3", kernels[kind][over], view, fast);
    for (unsigned i = 0; i < 4 * THREADS; i++)
        if (plain[i] != fast[i])
            fail_msg("case %u%s, thread %u channel %u: 0x%08x, lane by lane 0x%08x", n, over ? " over" : "", i / 4,
                     i % 4, fast[i], plain[i]);
    return view.own.is_linear ? count_no_numbers(plain) : 0;
}

static void every_lane_has_the_same_bytes(void **state) {
    unsigned no_numbers = 0;
    (void)state;
    for (unsigned n = 0; n < 3 * 3 * 5 * 4; n++)
        no_numbers += compare(n, 0) + compare(n, 1);
    assert_true(no_numbers > 1000);
}

int main(void) {
#if defined(__x86_64__)
    if (!cpu_has_v3())
        return 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_lane_has_the_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    (void)every_lane_has_the_same_bytes; /* there is one level */
    return 0;
#endif
}
