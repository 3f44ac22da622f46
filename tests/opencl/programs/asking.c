/* SPDX-License-Identifier: Apache-2.0 */
/* A program that asks whether there are images, by all the ways there are: device, extensions, formats, the compiler. */
#include "program.h"

int main(void) {
    struct gpu gpu = gpu_open(0);
    cl_bool has_images;
    cl_uint formats = 0;
    cl_int says = -1;
    char extensions[8192];
    const size_t one = 1;
    CHECK(clGetDeviceInfo(gpu.device, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, NULL));
    CHECK(clGetDeviceInfo(gpu.device, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL));
    CHECK(clGetSupportedImageFormats(gpu.context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &formats));
    cl_program program = gpu_build(&gpu,
                                   "#ifdef __IMAGE_SUPPORT__\n#define SAYS 1\n#else\n#define SAYS 0\n#endif\n"
                                   "kernel void ask(global int *out) { *out = SAYS; }",
                                   "");
    cl_kernel kernel = gpu_kernel(program, "ask");
    cl_mem buffer = gpu_buffer(&gpu, CL_MEM_READ_WRITE, sizeof says, NULL);
    CHECK(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
    CHECK(clEnqueueNDRangeKernel(gpu.queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    CHECK(clEnqueueReadBuffer(gpu.queue, buffer, CL_TRUE, 0, sizeof says, &says, 0, NULL, NULL));
    const bool has_extension = strstr(extensions, "cl_khr_3d_image_writes") != NULL;
    const bool is_right =
        says == (has_images != 0) && (formats != 0) == (has_images != 0) && (has_images || !has_extension);
    CHECK(clReleaseMemObject(buffer));
    CHECK(clReleaseKernel(kernel));
    CHECK(clReleaseProgram(program));
    gpu_close(&gpu);
    printf("images: %s\n", has_images ? "yes" : "no");
    return verdict(is_right);
}
