/* SPDX-License-Identifier: Apache-2.0 */
/* Which arguments of a kernel are images. */
#include "opencl_fixture.h"

/* A program's own types, by value and behind a pointer, whose names begin as those of images and samplers do. */
static const char *const text = "typedef struct { int width, height; } image_size_t;\n"
                                "typedef struct { int width, height; } sampler_size_t;\n"
                                "kernel void k(read_only image2d_t image, image_size_t more,\n"
                                "              global image_size_t *size, global sampler_size_t *other) {\n"
                                "    size->width = get_image_width(image) + more.width;\n"
                                "    other->height = get_image_height(image) + more.height;\n"
                                "}\n";

static void types_named_like_images_are_none(void **state) {
    struct fixture *f = *state;
    cl_int code;
    cl_program program = fixture_build(f, text, "");
    cl_kernel kernel = clCreateKernel(program, "k", &code);
    OK(code);
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 7, .image_height = 5};
    cl_mem image = clCreateImage(f->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code);
    OK(code);
    cl_mem size = fixture_buffer(f, 8), other = fixture_buffer(f, 8);
    const cl_int more[2] = {100, 200};
    OK(clSetKernelArg(kernel, 0, sizeof image, &image));
    OK(clSetKernelArg(kernel, 1, sizeof more, more));
    OK(clSetKernelArg(kernel, 2, sizeof size, &size));
    OK(clSetKernelArg(kernel, 3, sizeof other, &other));
    OK(clEnqueueTask(f->queue, kernel, 0, NULL, NULL));
    cl_int width, height;
    OK(clEnqueueReadBuffer(f->queue, size, CL_TRUE, 0, sizeof width, &width, 0, NULL, NULL));
    OK(clEnqueueReadBuffer(f->queue, other, CL_TRUE, 4, sizeof height, &height, 0, NULL, NULL));
    assert_int_equal(width, 107);
    assert_int_equal(height, 205);
    OK(clReleaseMemObject(other));
    OK(clReleaseMemObject(size));
    OK(clReleaseMemObject(image));
    OK(clReleaseKernel(kernel));
    OK(clReleaseProgram(program));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_named_like_images_are_none),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
