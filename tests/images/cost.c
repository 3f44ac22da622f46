/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one kind of read many times, functionally: image_cost READ TRIPS. tools/speed-images counts its host instructions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "image/image.h"
#include "machine/machine.h"

enum { SIDE = 64, DEEP = 4, THREADS = 256, BLOCKS = 8, LEVELS = 3, IMAGE_WORDS = SIDE * SIDE * DEEP * 2 };

/* What stands in a loop of eight. Lanes are 8 by 4 texels apart; %rd4 is the address of a thread's texel, %f1 to %f3 its coordinates, %f4 a
 * level between two. */
static const struct reading {
    const char *name, *body;
    enum image_kind kind;
    uint8_t levels;
    bool is_linear;
} readings[] = {
    {"none", "", IMAGE_2D, 0, false},
    {"load", "ld.global.f32 %f5, [%rd4];\n", IMAGE_2D, 0, false},
    {"load4", "ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%rd5];\n", IMAGE_2D, 0, false},
    {"integer", "tex.2d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd2, {%r3, %r4}];\n", IMAGE_2D, 0, false},
    {"point", "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd2, {%f1, %f2}];\n", IMAGE_2D, 0, false},
    {"bilinear", "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd2, {%f1, %f2}];\n", IMAGE_2D, 0, true},
    {"trilinear", "tex.3d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd2, {%f1, %f2, %f3, %f3}];\n", IMAGE_3D, 0, true},
    {"levels", "tex.level.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd2, {%f1, %f2}], %f4;\n", IMAGE_2D, LEVELS, true},
};

static const char *const head =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u32 trips) {\n.reg .b64 %rd<9>;\n.reg .b32 %r<20>;\n.reg .f32 "
    "%f<12>;\n.reg .pred %p<3>;\n"
    "ld.param.u64 %rd1, [p];\nld.global.u64 %rd2, [%rd1];\nld.param.u32 %r9, [trips];\nmov.u32 %r1, %tid.x;\n"
    "and.b32 %r3, %r1, 7;\nshr.u32 %r2, %r1, 5;\nmad.lo.u32 %r3, %r2, 7, %r3;\nshr.u32 %r4, %r1, 3;\nand.b32 %r4, %r4, "
    "3;\n"
    "mad.lo.u32 %r5, %r4, 64, %r3;\nmul.wide.u32 %rd3, %r5, 4;\nadd.u64 %rd4, %rd3, %rd1;\nadd.u64 %rd4, %rd4, 64;\n"
    "mul.wide.u32 %rd3, %r5, 16;\nadd.u64 %rd5, %rd3, %rd1;\nadd.u64 %rd5, %rd5, 64;\n"
    "cvt.rn.f32.u32 %f1, %r3;\ncvt.rn.f32.u32 %f2, %r4;\nadd.f32 %f1, %f1, 0f3f400000;\nadd.f32 %f2, %f2, 0f3fa00000;\n"
    "mov.f32 %f3, 0f3fe00000;\nmov.f32 %f4, 0f3f200000;\nmov.f32 %f9, 0f00000000;\nloop:\n";
static const char *const tail =
    "sub.u32 %r9, %r9, 1;\nsetp.ne.u32 %p1, %r9, 0;\n@%p1 bra loop;\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.u64 %rd3, %rd3, %rd1;\nst.global.f32 [%rd3+%OUT], %f5;\nret;\n}\n";

static int fail(const struct report *report) { return fputs(report_text(report), stderr), 1; }

/* The kernel's text; the caller frees it. */
static char *kernel_of(const struct reading *reading) {
    char out[32], *text = calloc(1, 1 << 13);
    if (!text)
        return NULL;
    strcpy(text, head);
    for (unsigned i = 0; i < 8; i++)
        strcat(text, reading->body);
    const char *cut = strstr(tail, "%OUT");
    strncat(text, tail, (size_t)(cut - tail));
    snprintf(out, sizeof out, "%u", 64 + 4 * IMAGE_WORDS);
    return strcat(strcat(text, out), cut + strlen("%OUT"));
}

static struct image_view view_of(const struct reading *reading, uint64_t address) {
    const bool is_deep = reading->kind == IMAGE_3D;
    return (struct image_view){.kind = (uint8_t)reading->kind,
                               .channels = CHANNELS_R,
                               .element = TEXEL_FLOAT,
                               .width = SIDE,
                               .height = SIDE,
                               .depth = is_deep ? DEEP : 1,
                               .layers = 1,
                               .row_bytes = 4 * SIDE,
                               .slice_bytes = 4 * SIDE * SIDE,
                               .address = address,
                               .levels = reading->levels,
                               .level_linear = true,
                               .level_most = LEVELS,
                               .own = sampler_of(ADDRESSING_EDGE, reading->is_linear, false)};
}

static enum status run(struct device *device, const struct reading *reading, uint32_t trips, float *out,
                       struct report *report) {
    struct program *program = NULL;
    uint64_t buffer, handle;
    const uint64_t bytes = 64 + 4 * (IMAGE_WORDS + THREADS);
    enum status status = device_alloc(device, "buffer", bytes, &buffer, report);
    if (status != STATUS_OK)
        return status;
    char *memory = device_memory(device, buffer, bytes);
    for (unsigned i = 0; i < IMAGE_WORDS; i++) {
        const float value = (float)(i * 7 % 31);
        memcpy(memory + 64 + 4 * i, &value, sizeof value);
    }
    const struct image_view view = view_of(reading, buffer + 64);
    char *text = kernel_of(reading);
    status = text ? device_load(device, "cost.ptx", text, strlen(text), &program, report) : STATUS_SYSTEM;
    free(text);
    if (status == STATUS_OK)
        status = device_image(device, &view, &handle, report);
    if (status != STATUS_OK)
        return status;
    memcpy(memory, &handle, sizeof handle);
    struct {
        uint64_t buffer;
        uint32_t trips;
    } params = {buffer, trips};
    const struct launch launch = {.program = program,
                                  .kernel = module_find(program_module(program), "k"),
                                  .grid = {BLOCKS, 1, 1},
                                  .block = {THREADS, 1, 1},
                                  .params = &params,
                                  .work_dim = 1};
    struct launch_result result = {0};
    status = device_launch(device, &launch, &result, report);
    launch_result_free(&result);
    memcpy(out, memory + 64 + 4 * IMAGE_WORDS, THREADS * sizeof *out);
    return status;
}

int main(int argc, char **argv) {
    const struct reading *reading = NULL;
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        if (argc == 3 && strcmp(argv[1], readings[i].name) == 0)
            reading = &readings[i];
    if (!reading || atoi(argv[2]) < 1)
        return fprintf(stderr, "image_cost READ TRIPS\n"), 2;
    struct report report = {0};
    struct machine machine;
    struct device *device = NULL;
    float out[THREADS];
    if (machine_open(&machine, NULL, &report) != STATUS_OK ||
        machine_set(&machine, "host.lanes=v3", "image_cost", &report) != STATUS_OK ||
        machine_set(&machine, "host.threads=1", "image_cost", &report) != STATUS_OK ||
        device_create(&device, &machine, &report) != STATUS_OK)
        return fail(&report);
    const enum status status = run(device, reading, (uint32_t)atoi(argv[2]), out, &report);
    if (status == STATUS_OK)
        printf("%d warp reads, thread 9 has %g\n", BLOCKS * THREADS / 32 * 8 * atoi(argv[2]), (double)out[9]);
    device_destroy(device);
    machine_close(&machine);
    return status == STATUS_OK ? 0 : fail(&report);
}
