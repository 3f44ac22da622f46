/* SPDX-License-Identifier: Apache-2.0 */
/* A picture scaled down by a linear filter, turned by a nearest one, and a histogram of it from a buffer seen as an image. */
#include "program.h"

static const char *const source =
    "const sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "#define AT (int2)(get_global_id(0), get_global_id(1))\n"
    "kernel void half_size(read_only image2d_t from, sampler_t s, write_only image2d_t to) {\n"
    "    const float2 at = convert_float2(AT) + 0.5f, size = convert_float2(get_image_dim(to));\n"
    "    write_imagef(to, AT, read_imagef(from, s, at / size));\n"
    "}\n"
    "kernel void turned(read_only image2d_t from, write_only image2d_array_t to) {\n"
    "    const int2 size = get_image_dim(from);\n"
    "    write_imagef(to, (int4)(AT, 1, 0), read_imagef(from, exact, (int2)(AT.y, size.y - 1 - AT.x)));\n"
    "}\n"
    "kernel void count(read_only image1d_buffer_t texels, global int *counts) {\n"
    "    atomic_inc(&counts[read_imageui(texels, (int)get_global_id(0)).x >> 6]);\n"
    "}\n";

enum { SIDE = 64, HALF = SIDE / 2 };

static void run(const struct gpu *gpu, cl_program program, const char *name, const void *arguments[], size_t sizes[],
                unsigned count, const size_t range[2]) {
    cl_kernel kernel = gpu_kernel(program, name);
    for (unsigned i = 0; i < count; i++)
        CHECK(clSetKernelArg(kernel, i, sizes[i], arguments[i]));
    CHECK(clEnqueueNDRangeKernel(gpu->queue, kernel, range[1] ? 2 : 1, NULL, range, NULL, 0, NULL, NULL));
    CHECK(clReleaseKernel(kernel));
}

static cl_mem make(const struct gpu *gpu, cl_mem_object_type type, size_t side, cl_channel_type channel, cl_mem over) {
    cl_int code;
    const cl_image_format format = {CL_RGBA, channel};
    const bool is_row = type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    const cl_image_desc desc = {.image_type = type,
                                .image_width = is_row ? side * side : side,
                                .image_height = is_row ? 0 : side,
                                .image_array_size = type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? 2 : 0,
                                .buffer = over};
    cl_mem image = clCreateImage(gpu->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    CHECK(code);
    return image;
}

int main(void) {
    static unsigned char picture[SIDE][SIDE][4], small[HALF][HALF][4], got[HALF][HALF][4];
    int counts[4] = {0}, wanted[4] = {0};
    cl_int code;
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            for (int c = 0; c < 4; c++)
                picture[y][x][c] = (unsigned char)(4 * ((x * (c + 3) + y * 7) % 64));
    for (int i = 0; i < HALF * HALF * 4; i++) { /* a fourth of four: halves and quarters, rounded to even */
        const int c = i % 4, x = i / 4 % HALF, y = i / 4 / HALF;
        const int sum = picture[2 * y][2 * x][c] + picture[2 * y][2 * x + 1][c] + picture[2 * y + 1][2 * x][c] +
                        picture[2 * y + 1][2 * x + 1][c];
        small[y][x][c] = (unsigned char)(sum / 4);
    }
    struct gpu gpu = gpu_open(0);
    cl_program program = gpu_build(&gpu, source, "");
    cl_sampler linear = clCreateSampler(gpu.context, CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR, &code);
    CHECK(code);
    cl_mem large = make(&gpu, CL_MEM_OBJECT_IMAGE2D, SIDE, CL_UNORM_INT8, NULL);
    cl_mem halved = make(&gpu, CL_MEM_OBJECT_IMAGE2D, HALF, CL_UNORM_INT8, NULL);
    cl_mem layers = make(&gpu, CL_MEM_OBJECT_IMAGE2D_ARRAY, HALF, CL_UNORM_INT8, NULL);
    cl_mem bytes = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof small, NULL),
           tally = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof counts, counts);
    cl_mem row = make(&gpu, CL_MEM_OBJECT_IMAGE1D_BUFFER, HALF, CL_UNSIGNED_INT8, bytes);
    const size_t zero[3] = {0}, whole[3] = {SIDE, SIDE, 1}, part[3] = {HALF, HALF, 1}, second[3] = {0, 0, 1};
    CHECK(clEnqueueWriteImage(gpu.queue, large, CL_TRUE, zero, whole, 0, 0, picture, 0, NULL, NULL));
    run(&gpu, program, "half_size", (const void *[]){&large, &linear, &halved},
        (size_t[]){sizeof large, sizeof linear, sizeof halved}, 3, part);
    run(&gpu, program, "turned", (const void *[]){&halved, &layers}, (size_t[]){sizeof halved, sizeof layers}, 2, part);
    CHECK(clEnqueueCopyImageToBuffer(gpu.queue, layers, bytes, second, part, 0, 0, NULL, NULL));
    run(&gpu, program, "count", (const void *[]){&row, &tally}, (size_t[]){sizeof row, sizeof tally}, 2,
        (const size_t[]){HALF * HALF, 0});
    CHECK(clEnqueueReadImage(gpu.queue, layers, CL_TRUE, second, part, 0, 0, got, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, tally, CL_TRUE, 0, sizeof counts, counts, 0, NULL, NULL));
    bool right = true;
    for (int y = 0; y < HALF; y++)
        for (int x = 0; x < HALF; x++) {
            right &= memcmp(got[y][x], small[HALF - 1 - x][y], 4) == 0;
            wanted[small[y][x][0] >> 6]++;
        }
    right &= memcmp(counts, wanted, sizeof counts) == 0;
    cl_mem const all[] = {row, bytes, tally, layers, halved, large};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        CHECK(clReleaseMemObject(all[i]));
    CHECK(clReleaseSampler(linear));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    return verdict(right);
}
