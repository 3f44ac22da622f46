/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's images and samplers, over what src/image has. */
#ifndef HEDDLE_OPENCL_IMAGE_H
#define HEDDLE_OPENCL_IMAGE_H

#include "compile/compile.h"
#include "opencl/buffer.h"

/* What the device allows, as clGetDeviceInfo says it. */
enum {
    IMAGE_SIDE_MAX = 16384,
    IMAGE_3D_SIDE_MAX = 2048,
    IMAGE_BUFFER_TEXELS_MAX = 1 << 27,
    IMAGE_LAYERS_MAX = 2048,
    IMAGE_READ_ARGS_MAX = 128,
    IMAGE_WRITE_ARGS_MAX = 64,
    IMAGE_SAMPLERS_MAX = 16,
};

struct _cl_sampler {
    struct object object;
    cl_context context;
    struct sampler sampler;
    cl_bool is_normalised;
    cl_addressing_mode addressing;
    cl_filter_mode filter;
    cl_sampler_properties properties[8]; /* as given, with the zero at their end */
    size_t property_count;
};

/* CL_DEVICE_IMAGE_SUPPORT */
bool image_is_supported(const struct _cl_device_id *device);
void sampler_release(cl_sampler sampler);
unsigned image_object_texel_bytes(const struct _cl_mem *image);
/* Texels of the image as origin and region count them, and bytes between rows and slices of such a box. */
void image_extent(const struct _cl_mem *image, size_t extent[3], size_t pitches[2]);
/* Whether the argument of a kernel is an image, or a sampler. */
bool image_is_argument(const struct compile_arg *arg);
bool sampler_is_argument(const struct compile_arg *arg);
/* What clSetKernelArg says of an image for this argument. */
cl_int image_check_argument(const struct compile_arg *arg, const struct _cl_mem *image);

#endif
