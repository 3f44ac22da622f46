/* SPDX-License-Identifier: Apache-2.0 */
/* Images and samplers: what they are, what moves their texels, and what kernels read and write. */
#include "opencl_fixture.h"

#include <math.h>

enum { W = 7, H = 5, D = 3 };

static const size_t origin[3] = {0, 0, 0};

static cl_image_desc describe(cl_mem_object_type type) {
    const bool is_flat = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    return (cl_image_desc){.image_type = type,
                           .image_width = W,
                           .image_height = is_flat || type == CL_MEM_OBJECT_IMAGE3D ? H : 1,
                           .image_depth = type == CL_MEM_OBJECT_IMAGE3D ? D : 1,
                           .image_array_size =
                               type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? D : 1};
}

static cl_mem make(struct fixture *f, cl_mem_object_type type, cl_channel_order order, cl_channel_type channel) {
    cl_int code;
    const cl_image_desc desc = describe(type);
    const cl_image_format format = {order, channel};
    cl_mem image = clCreateImage(f->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    OK(code);
    return image;
}

static void set(cl_kernel kernel, cl_uint index, const void *object) {
    OK(clSetKernelArg(kernel, index, sizeof(cl_mem), object));
}

/* ---- objects ---- */

static void creation(void **state) {
    struct fixture *f = *state;
    cl_int code;
    char host[W * H * 4] = "texels";
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8}, none = {CL_RGB, CL_UNORM_INT8}, unknown = {1, 2};
    cl_image_desc desc = describe(CL_MEM_OBJECT_IMAGE2D);
    REFUSED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, clCreateImage(f->context, CL_MEM_READ_ONLY, NULL, &desc, NULL, &code));
    REFUSED(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(f->context, CL_MEM_READ_ONLY, &format, NULL, NULL, &code));
    if (f->is_heddle) { /* PoCL 3.1 checks less, here and below */
        REFUSED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                clCreateImage(f->context, CL_MEM_READ_ONLY, &none, &desc, NULL, &code));
        REFUSED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                clCreateImage(f->context, CL_MEM_READ_ONLY, &unknown, &desc, NULL, &code));
        REFUSED(CL_INVALID_VALUE, clCreateImage(f->context, (cl_mem_flags)1 << 50, &format, &desc, NULL, &code));
        REFUSED(CL_INVALID_HOST_PTR, clCreateImage(f->context, CL_MEM_USE_HOST_PTR, &format, &desc, NULL, &code));
        REFUSED(CL_INVALID_HOST_PTR, clCreateImage(f->context, CL_MEM_READ_ONLY, &format, &desc, host, &code));
        desc.image_row_pitch = 4 * W - 4; /* less than a row */
        REFUSED(CL_INVALID_IMAGE_DESCRIPTOR,
                clCreateImage(f->context, CL_MEM_COPY_HOST_PTR, &format, &desc, host, &code));
        desc.image_row_pitch = 4 * W; /* of no memory */
        REFUSED(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(f->context, CL_MEM_READ_ONLY, &format, &desc, NULL, &code));
        desc = describe(CL_MEM_OBJECT_IMAGE2D), desc.num_samples = 4;
        REFUSED(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(f->context, CL_MEM_READ_ONLY, &format, &desc, NULL, &code));
        desc = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER); /* of no buffer */
        REFUSED(CL_INVALID_IMAGE_DESCRIPTOR, clCreateImage(f->context, CL_MEM_READ_ONLY, &format, &desc, NULL, &code));
    }
    desc = describe(CL_MEM_OBJECT_IMAGE2D), desc.image_width = (size_t)1 << 40;
    if (f->is_heddle)
        REFUSED(CL_INVALID_IMAGE_SIZE, clCreateImage(f->context, CL_MEM_READ_ONLY, &format, &desc, NULL, &code));
    cl_mem image = clCreateImage2D(f->context, CL_MEM_COPY_HOST_PTR, &format, W, H, 0, host, &code);
    OK(code);
    char back[W * H * 4];
    const size_t region[3] = {W, H, 1};
    OK(clEnqueueReadImage(f->queue, image, CL_TRUE, origin, region, 0, 0, back, 0, NULL, NULL));
    assert_memory_equal(back, host, sizeof host);
    OK(clReleaseMemObject(image));
    image = clCreateImage3D(f->context, CL_MEM_READ_ONLY, &format, W, H, D, 0, 0, NULL, &code);
    OK(code);
    OK(clReleaseMemObject(image));
    if (f->is_heddle) {
        desc = describe(CL_MEM_OBJECT_IMAGE1D);
        image = clCreateImageWithProperties(f->context, NULL, CL_MEM_READ_ONLY, &format, &desc, NULL, &code);
        OK(code);
        OK(clReleaseMemObject(image));
    }
}

static void queries(void **state) {
    struct fixture *f = *state;
    cl_mem image = make(f, CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_FLOAT);
    assert_int_equal(ASK(cl_mem_object_type, clGetMemObjectInfo, image, CL_MEM_TYPE), CL_MEM_OBJECT_IMAGE3D);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_WIDTH), W);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_HEIGHT), H);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_DEPTH), D);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_ELEMENT_SIZE), 16);
    assert_true(ASK(size_t, clGetImageInfo, image, CL_IMAGE_ROW_PITCH) >= 16 * W);
    assert_true(ASK(size_t, clGetImageInfo, image, CL_IMAGE_SLICE_PITCH) >= 16 * W * H);
    assert_int_equal(ASK(cl_image_format, clGetImageInfo, image, CL_IMAGE_FORMAT).image_channel_order, CL_RGBA);
    IS(CL_INVALID_VALUE, clGetImageInfo(image, 1, 0, NULL, NULL));
    OK(clReleaseMemObject(image));
    if (!f->is_heddle)
        return;
    image = make(f, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_R, CL_FLOAT);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_HEIGHT), 0);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_DEPTH), 0);
    assert_int_equal(ASK(size_t, clGetImageInfo, image, CL_IMAGE_ARRAY_SIZE), D);
    OK(clReleaseMemObject(image));
    cl_mem buffer = fixture_buffer(f, 64);
    IS(CL_INVALID_MEM_OBJECT, clGetImageInfo(buffer, CL_IMAGE_WIDTH, 0, NULL, NULL));
    OK(clReleaseMemObject(buffer));
}

static void samplers(void **state) {
    struct fixture *f = *state;
    cl_int code;
    if (f->is_heddle)
        REFUSED(CL_INVALID_VALUE, clCreateSampler(f->context, CL_TRUE, 1, CL_FILTER_LINEAR, &code));
    cl_sampler sampler = clCreateSampler(f->context, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, &code);
    OK(code);
    assert_int_equal(ASK(cl_addressing_mode, clGetSamplerInfo, sampler, CL_SAMPLER_ADDRESSING_MODE), CL_ADDRESS_REPEAT);
    assert_int_equal(ASK(cl_filter_mode, clGetSamplerInfo, sampler, CL_SAMPLER_FILTER_MODE), CL_FILTER_LINEAR);
    assert_int_equal(ASK(cl_bool, clGetSamplerInfo, sampler, CL_SAMPLER_NORMALIZED_COORDS), CL_TRUE);
    assert_ptr_equal(ASK(cl_context, clGetSamplerInfo, sampler, CL_SAMPLER_CONTEXT), f->context);
    OK(clRetainSampler(sampler));
    assert_int_equal(ASK(cl_uint, clGetSamplerInfo, sampler, CL_SAMPLER_REFERENCE_COUNT), 2);
    OK(clReleaseSampler(sampler));
    OK(clReleaseSampler(sampler));
    if (!f->is_heddle)
        return;
    const cl_sampler_properties wanted[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, 0},
                                twice[] = {CL_SAMPLER_FILTER_MODE, CL_FILTER_LINEAR, CL_SAMPLER_FILTER_MODE,
                                           CL_FILTER_LINEAR, 0};
    sampler = clCreateSamplerWithProperties(f->context, wanted, &code);
    OK(code);
    assert_int_equal(ASK(cl_filter_mode, clGetSamplerInfo, sampler, CL_SAMPLER_FILTER_MODE), CL_FILTER_LINEAR);
    assert_int_equal(ASK(cl_addressing_mode, clGetSamplerInfo, sampler, CL_SAMPLER_ADDRESSING_MODE), CL_ADDRESS_CLAMP);
    OK(clReleaseSampler(sampler));
    REFUSED(CL_INVALID_VALUE, clCreateSamplerWithProperties(f->context, twice, &code));
}

/* ---- what moves texels ---- */

static void regions(void **state) {
    struct fixture *f = *state;
    uint32_t whole[D][H][W], part[2][3][4], back[D][H][W];
    for (unsigned i = 0; i < D * H * W; i++)
        (&whole[0][0][0])[i] = i;
    for (unsigned i = 0; i < 24; i++)
        (&part[0][0][0])[i] = 1000 + i;
    cl_mem image = make(f, CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_UNSIGNED_INT8),
           other = make(f, CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_UNSIGNED_INT8);
    const size_t all[3] = {W, H, D}, at[3] = {2, 1, 1}, some[3] = {3, 2, 2}, outside[3] = {W, H, D + 1};
    OK(clEnqueueWriteImage(f->queue, image, CL_TRUE, origin, all, 0, 0, whole, 0, NULL, NULL));
    OK(clEnqueueWriteImage(f->queue, image, CL_TRUE, at, some, sizeof part[0][0], sizeof part[0], part, 0, NULL, NULL));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 2; y++)
            memcpy(&whole[1 + z][1 + y][2], part[z][y], 12);
    OK(clEnqueueCopyImage(f->queue, image, other, origin, origin, all, 0, NULL, NULL));
    OK(clEnqueueReadImage(f->queue, other, CL_TRUE, origin, all, 0, 0, back, 0, NULL, NULL));
    assert_memory_equal(back, whole, sizeof whole);
    IS(CL_INVALID_VALUE, clEnqueueReadImage(f->queue, other, CL_TRUE, origin, outside, 0, 0, back, 0, NULL, NULL));
    if (f->is_heddle)
        IS(CL_INVALID_VALUE, clEnqueueReadImage(f->queue, other, CL_TRUE, origin, all, 4, 0, back, 0, NULL, NULL));
    const uint32_t colour[4] = {1, 2, 3, 300}; /* which saturates */
    OK(clEnqueueFillImage(f->queue, image, colour, at, some, 0, NULL, NULL));
    cl_mem buffer = fixture_buffer(f, 4096);
    OK(clEnqueueCopyImageToBuffer(f->queue, image, buffer, at, some, 16, 0, NULL, NULL));
    uint32_t bytes[12];
    OK(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 16, sizeof bytes, bytes, 0, NULL, NULL));
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(bytes[i], 0xff030201);
    OK(clEnqueueCopyBufferToImage(f->queue, buffer, other, 16, origin, some, 0, NULL, NULL));
    OK(clEnqueueReadImage(f->queue, other, CL_TRUE, origin, some, 0, 0, back, 0, NULL, NULL));
    assert_memory_equal(back, bytes, sizeof bytes);
    if (f->is_heddle) {
        IS(CL_MEM_COPY_OVERLAP, clEnqueueCopyImage(f->queue, image, image, origin, at, some, 0, NULL, NULL));
        IS(CL_INVALID_VALUE, clEnqueueCopyImageToBuffer(f->queue, image, buffer, at, some, 4090, 0, NULL, NULL));
        IS(CL_INVALID_MEM_OBJECT,
           clEnqueueReadImage(f->queue, buffer, CL_TRUE, origin, all, 0, 0, back, 0, NULL, NULL));
        IS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(f->queue, image, CL_TRUE, 0, 4, back, 0, NULL, NULL));
    }
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(image));
    OK(clReleaseMemObject(other));
}

static void mapping(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_mem image = make(f, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT8);
    const size_t at[3] = {1, 2, 0}, some[3] = {3, 2, 1};
    size_t row = 0, slice = 1;
    uint8_t *bytes =
        clEnqueueMapImage(f->queue, image, CL_TRUE, CL_MAP_WRITE, at, some, &row, &slice, 0, NULL, NULL, &code);
    OK(code);
    assert_true(row >= 4 * W);
    for (unsigned y = 0; y < 2; y++)
        memset(bytes + y * row, (int)(10 + y), 12);
    OK(clEnqueueUnmapMemObject(f->queue, image, bytes, 0, NULL, NULL));
    uint8_t back[2][12];
    OK(clEnqueueReadImage(f->queue, image, CL_TRUE, at, some, 0, 0, back, 0, NULL, NULL));
    for (unsigned i = 0; i < 24; i++)
        assert_int_equal(back[i / 12][i % 12], 10 + i / 12);
    if (f->is_heddle)
        REFUSED(CL_INVALID_VALUE,
                clEnqueueMapImage(f->queue, image, CL_TRUE, CL_MAP_READ, at, some, NULL, NULL, 0, NULL, NULL, &code));
    OK(clReleaseMemObject(image));
}

/* ---- kernels ---- */

static const char *const copies =
    "const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "#define P (int2)(get_global_id(0), get_global_id(1))\n"
    "kernel void f(read_only image2d_t a, write_only image2d_t b) { write_imagef(b, P, read_imagef(a, s, P)); }\n"
    "kernel void i(read_only image2d_t a, write_only image2d_t b) { write_imagei(b, P, read_imagei(a, s, P)); }\n"
    "kernel void u(read_only image2d_t a, write_only image2d_t b) { write_imageui(b, P, read_imageui(a, s, P)); }\n";

static const char *kernel_of(cl_channel_type type) {
    return type >= CL_SIGNED_INT8 && type <= CL_SIGNED_INT32       ? "i"
           : type >= CL_UNSIGNED_INT8 && type <= CL_UNSIGNED_INT32 ? "u"
                                                                   : "f";
}

/* Bytes that are a value in every format: no -128 of snorm, no NaN. */
static void fill_bytes(uint8_t *bytes, size_t count, cl_channel_type type) {
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t i = 0; i < count; i += 2) {
        if (type == CL_SNORM_INT8 || type == CL_SNORM_INT16)
            bytes[i] &= 0x7f, bytes[i + 1] &= 0x7f;
        else if (type == CL_HALF_FLOAT || (type == CL_FLOAT && i % 4 == 2))
            bytes[i + 1] &= 0x3f;
        else if (type == CL_UNORM_SHORT_555)
            bytes[i + 1] &= 0x7f;
        else if (type == CL_UNORM_INT_101010 && i % 4 == 2)
            bytes[i + 1] &= 0x3f;
    }
}

/* Every format that the device says it has goes through a kernel and comes out as it was. */
static void every_format_comes_back(void **state) {
    struct fixture *f = *state;
    cl_image_format formats[256];
    cl_uint count;
    OK(clGetSupportedImageFormats(f->context, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D, 256, formats, &count));
    assert_true(count >= 12 && count <= 256);
    cl_program program = fixture_build(f, copies, "");
    bool has_bgra = false;
    for (cl_uint n = 0; n < count; n++) {
        const cl_channel_order order = formats[n].image_channel_order;
        const cl_channel_type type = formats[n].image_channel_data_type;
        if (!f->is_heddle && order != CL_RGBA) /* it lists more than it converts */
            continue;
        has_bgra |= order == CL_BGRA;
        cl_int code;
        cl_kernel kernel = clCreateKernel(program, kernel_of(type), &code);
        OK(code);
        cl_mem a = make(f, CL_MEM_OBJECT_IMAGE2D, order, type), b = make(f, CL_MEM_OBJECT_IMAGE2D, order, type);
        const size_t bytes = ASK(size_t, clGetImageInfo, a, CL_IMAGE_ELEMENT_SIZE) * W * H, region[3] = {W, H, 1};
        uint8_t in[W * H * 16 + 1], out[W * H * 16];
        fill_bytes(in, bytes, type);
        OK(clEnqueueWriteImage(f->queue, a, CL_TRUE, origin, region, 0, 0, in, 0, NULL, NULL));
        set(kernel, 0, &a), set(kernel, 1, &b);
        OK(clEnqueueNDRangeKernel(f->queue, kernel, 2, NULL, region, NULL, 0, NULL, NULL));
        OK(clEnqueueReadImage(f->queue, b, CL_TRUE, origin, region, 0, 0, out, 0, NULL, NULL));
        if (memcmp(in, out, bytes) != 0)
            fail_msg("order 0x%x type 0x%x", order, type);
        OK(clReleaseMemObject(a));
        OK(clReleaseMemObject(b));
        OK(clReleaseKernel(kernel));
    }
    assert_true(has_bgra || !f->is_heddle);
    OK(clReleaseProgram(program));
}

static const char *const kinds =
    "const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n"
    "#define X (int)get_global_id(0)\n#define Y (int)get_global_id(1)\n#define Z (int)get_global_id(2)\n"
    "#define OUT out[(Z * get_global_size(1) + Y) * get_global_size(0) + X]\n"
    "kernel void k0(read_only image1d_t a, global uint4 *out) { OUT = read_imageui(a, s, X) + read_imageui(a, s, X + "
    "0.5f); }\n"
    "kernel void k1(read_only image1d_array_t a, global uint4 *out) { OUT = read_imageui(a, s, (int2)(X, Y)) + "
    "read_imageui(a, s, (float2)(X + 0.5f, Y)) + (uint)get_image_array_size(a); }\n"
    "kernel void k2(read_only image2d_t a, global uint4 *out) { OUT = read_imageui(a, s, (int2)(X, Y)) + "
    "read_imageui(a, s, (float2)(X + 0.5f, Y + 0.5f)) + (uint)(get_image_width(a) + get_image_height(a)); }\n"
    "kernel void k3(read_only image2d_array_t a, global uint4 *out) { OUT = read_imageui(a, s, (int4)(X, Y, Z, 0)) + "
    "read_imageui(a, s, (float4)(X + 0.5f, Y + 0.5f, Z, 0)) + (uint)get_image_dim(a).y; }\n"
    "kernel void k4(read_only image3d_t a, global uint4 *out) { OUT = read_imageui(a, s, (int4)(X, Y, Z, 0)) + "
    "read_imageui(a, s, (float4)(X + 0.5f, Y + 0.5f, Z + 0.5f, 0)) + (uint)get_image_depth(a); }\n"
    "kernel void k5(read_only image1d_buffer_t a, global uint4 *out) { OUT = 2 * read_imageui(a, X); }\n";

/* Every kind of image, read at integers and at floats, in bounds and one texel beyond. */
static void every_kind_is_read(void **state) {
    struct fixture *f = *state;
    static const struct {
        cl_mem_object_type type;
        size_t size[3];
        unsigned added;
        bool has_border[3];
    } cases[] = {{CL_MEM_OBJECT_IMAGE1D, {W, 1, 1}, 0, {true, false, false}},
                 {CL_MEM_OBJECT_IMAGE1D_ARRAY, {W, D, 1}, D, {true, false, false}},
                 {CL_MEM_OBJECT_IMAGE2D, {W, H, 1}, W + H, {true, true, false}},
                 {CL_MEM_OBJECT_IMAGE2D_ARRAY, {W, H, D}, H, {true, true, false}},
                 {CL_MEM_OBJECT_IMAGE3D, {W, H, D}, D, {true, true, true}},
                 {CL_MEM_OBJECT_IMAGE1D_BUFFER, {W, 1, 1}, 0, {false, false, false}}};
    cl_program program = fixture_build(f, kinds, "");
    uint8_t texels[D][H][W][4];
    for (unsigned i = 0; i < sizeof texels; i++)
        (&texels[0][0][0][0])[i] = (uint8_t)(i * 31 + 7);
    for (unsigned n = 0; n < sizeof cases / sizeof *cases - !f->is_heddle; n++) {
        const size_t *size = cases[n].size;
        char name[] = {'k', (char)('0' + n), 0};
        cl_int code;
        cl_image_desc desc = describe(cases[n].type);
        const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
        cl_mem bytes = fixture_buffer(f, sizeof texels), out = fixture_buffer(f, (W + 1) * (H + 1) * (D + 1) * 16);
        OK(clEnqueueWriteBuffer(f->queue, bytes, CL_TRUE, 0, sizeof texels, texels, 0, NULL, NULL));
        if (cases[n].type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
            desc.mem_object = bytes;
        cl_mem image = clCreateImage(f->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
        OK(code);
        if (!desc.mem_object)
            OK(clEnqueueWriteImage(f->queue, image, CL_TRUE, origin, size, 0, 0, texels, 0, NULL, NULL));
        cl_kernel kernel = clCreateKernel(program, name, &code);
        OK(code);
        set(kernel, 0, &image), set(kernel, 1, &out);
        size_t range[3];
        for (unsigned d = 0; d < 3; d++)
            range[d] = size[d] + cases[n].has_border[d];
        OK(clEnqueueNDRangeKernel(f->queue, kernel, 3, NULL, range, NULL, 0, NULL, NULL));
        uint32_t got[(W + 1) * (H + 1) * (D + 1)][4];
        OK(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, range[0] * range[1] * range[2] * 16, got, 0, NULL, NULL));
        for (size_t i = 0; i < range[0] * range[1] * range[2]; i++) {
            const size_t x = i % range[0], y = i / range[0] % range[1], z = i / range[0] / range[1];
            const bool inside = x < size[0] && y < size[1] && z < size[2];
            const uint8_t *texel = &texels[0][0][0][0] + 4 * ((z * size[1] + y) * size[0] + x);
            for (unsigned c = 0; c < 4; c++)
                assert_int_equal(got[i][c], cases[n].added + (inside ? 2u * texel[c] : 0));
        }
        OK(clReleaseMemObject(image));
        OK(clReleaseMemObject(bytes));
        OK(clReleaseMemObject(out));
        OK(clReleaseKernel(kernel));
    }
    OK(clReleaseProgram(program));
}

static const char *const sampled =
    "kernel void k(read_only image2d_t a, sampler_t s, global float2 *at, global float4 *out) {\n"
    "    out[get_global_id(0)] = read_imagef(a, s, at[get_global_id(0)]);\n}\n";

/* One coordinate as OpenCL 1.2 §8.2 has it: two texels and how much of the second. */
static void settle(double s, int size, cl_addressing_mode mode, bool is_linear, int out[2], double *part) {
    double u = s * size;
    if (mode == CL_ADDRESS_REPEAT)
        u = (s - floor(s)) * size;
    if (mode == CL_ADDRESS_MIRRORED_REPEAT)
        u = fabs(s - 2 * rint(0.5 * s)) * size;
    const double low = is_linear ? floor(u - 0.5) : floor(u);
    *part = is_linear ? u - 0.5 - low : 0;
    for (int i = 0; i < 2; i++) {
        out[i] = (int)low + i;
        if (mode == CL_ADDRESS_REPEAT)
            out[i] = (out[i] + size) % size;
        else if (mode != CL_ADDRESS_CLAMP)
            out[i] = out[i] < 0 ? 0 : out[i] > size - 1 ? size - 1 : out[i];
    }
}

enum { POINTS = 256, SIDE_X = 8, SIDE_Y = 4 };

static void check_samples(const float *texels, float (*at)[2], float (*got)[4], cl_addressing_mode mode, bool is_linear,
                          double tolerance) {
    for (unsigned i = 0; i < POINTS; i++) {
        int x[2], y[2];
        double px, py, sum = 0;
        settle((double)at[i][0], SIDE_X, mode, is_linear, x, &px);
        settle((double)at[i][1], SIDE_Y, mode, is_linear, y, &py);
        for (unsigned k = 0; k < 4; k++) {
            const int tx = x[k & 1], ty = y[k >> 1];
            const double weight = (k & 1 ? px : 1 - px) * (k >> 1 ? py : 1 - py);
            if (tx >= 0 && tx < SIDE_X && ty >= 0 && ty < SIDE_Y)
                sum += weight * (double)texels[4 * (ty * SIDE_X + tx)];
        }
        if (fabs((double)got[i][0] - sum) > tolerance)
            fail_msg("mode 0x%x linear %d at (%g, %g): %g, not %g", mode, is_linear, (double)at[i][0], (double)at[i][1],
                     (double)got[i][0], sum);
    }
}

/* All addressing modes and both filters, at coordinates whose weights have 8 bits: exact. */
static void samples_are_those_of_the_specification(void **state) {
    struct fixture *f = *state;
    static const cl_addressing_mode modes[] = {CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP, CL_ADDRESS_REPEAT,
                                               CL_ADDRESS_MIRRORED_REPEAT};
    float texels[SIDE_Y * SIDE_X * 4], at[POINTS][2], got[POINTS][4];
    cl_int code;
    for (unsigned i = 0; i < SIDE_X * SIDE_Y * 4; i++)
        texels[i] = (float)(i * 7 % 64);
    for (unsigned i = 0; i < POINTS; i++) {
        at[i][0] = ((float)((int)(i * 2377 % 5120) - 2048) + 0.5f) / 1024; /* -2 to 3, never between two texels */
        at[i][1] = ((float)((int)(i * 1511 % 2560) - 1024) + 0.5f) / 512;
    }
    cl_program program = fixture_build(f, sampled, "");
    cl_kernel kernel = clCreateKernel(program, "k", &code);
    OK(code);
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    cl_mem image = clCreateImage2D(f->context, CL_MEM_COPY_HOST_PTR, &format, SIDE_X, SIDE_Y, 0, texels, &code);
    OK(code);
    cl_mem points = fixture_buffer(f, sizeof at), out = fixture_buffer(f, sizeof got);
    OK(clEnqueueWriteBuffer(f->queue, points, CL_TRUE, 0, sizeof at, at, 0, NULL, NULL));
    set(kernel, 0, &image), set(kernel, 2, &points), set(kernel, 3, &out);
    for (unsigned n = 0; n < 8; n++) {
        const bool is_linear = n >= 4;
        cl_sampler sampler =
            clCreateSampler(f->context, CL_TRUE, modes[n % 4], is_linear ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
        OK(code);
        OK(clSetKernelArg(kernel, 1, sizeof(cl_sampler), &sampler));
        const size_t count = POINTS;
        OK(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL));
        OK(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL));
        check_samples(texels, at, got, modes[n % 4], is_linear, 1e-5);
        OK(clReleaseSampler(sampler));
    }
    OK(clReleaseMemObject(points));
    OK(clReleaseMemObject(out));
    OK(clReleaseMemObject(image));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

static void arguments(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program = fixture_build(f, sampled, "-cl-kernel-arg-info");
    cl_kernel kernel = clCreateKernel(program, "k", &code);
    OK(code);
    cl_mem image = make(f, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_FLOAT),
           solid = make(f, CL_MEM_OBJECT_IMAGE3D, CL_RGBA, CL_FLOAT);
    cl_mem buffer = fixture_buffer(f, 64);
    cl_sampler sampler = clCreateSampler(f->context, CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &code);
    OK(code);
    OK(clSetKernelArg(kernel, 0, sizeof image, &image));
    OK(clSetKernelArg(kernel, 1, sizeof sampler, &sampler));
    IS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 0, 4, &image));
    if (f->is_heddle) {
        IS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        IS(CL_INVALID_ARG_VALUE, clSetKernelArg(kernel, 0, sizeof solid, &solid));
        const cl_mem no_image = NULL;
        const cl_sampler no_sampler = NULL;
        IS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof image, NULL));
        IS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 0, sizeof image, &no_image));
        IS(CL_INVALID_SAMPLER, clSetKernelArg(kernel, 1, sizeof sampler, NULL));
        IS(CL_INVALID_SAMPLER, clSetKernelArg(kernel, 1, sizeof sampler, &no_sampler));
        IS(CL_INVALID_MEM_OBJECT, clSetKernelArg(kernel, 2, sizeof image, &image));
        IS(CL_INVALID_SAMPLER, clSetKernelArg(kernel, 1, sizeof image, &image));
        IS(CL_INVALID_ARG_SIZE, clSetKernelArg(kernel, 1, 4, &sampler));
    }
    assert_int_equal(ASK(cl_kernel_arg_access_qualifier, clGetKernelArgInfo, kernel, 0, CL_KERNEL_ARG_ACCESS_QUALIFIER),
                     CL_KERNEL_ARG_ACCESS_READ_ONLY);
    OK(clReleaseSampler(sampler));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(solid));
    OK(clReleaseMemObject(image));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(creation),
        cmocka_unit_test(queries),
        cmocka_unit_test(samplers),
        cmocka_unit_test(regions),
        cmocka_unit_test(mapping),
        cmocka_unit_test(every_format_comes_back),
        cmocka_unit_test(every_kind_is_read),
        cmocka_unit_test(samples_are_those_of_the_specification),
        cmocka_unit_test(arguments),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
