/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's images: descriptions, formats, queries, arguments. An image lies in memory row by row, as its host pointer has it where there
 * is one. */
#include "opencl/image.h"

#include <string.h>

#include "device/host.h"
#include "opencl/info.h"
#include "result/guest.h"

bool image_is_supported(const struct _cl_device_id *device) {
    return host_has_images(&device->machine, !guest_is_functional(device->platform->recorder));
}

/* ---- formats ---- */

unsigned image_object_texel_bytes(const struct _cl_mem *image) {
    return image_texel_bytes((enum image_channels)image->view.channels, (enum image_element)image->view.element);
}

/* A format that the specification knows and the device does not have, or one that nobody has. */
static cl_int refuse_format(const cl_image_format *format) {
    static const cl_channel_order known[] = {CL_Rx,   CL_RGx,   CL_RGBx, CL_DEPTH, CL_DEPTH_STENCIL,
                                             CL_sRGB, CL_sRGBx, CL_ABGR};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (format->image_channel_order == known[i] && format->image_channel_data_type >= CL_SNORM_INT8 &&
            format->image_channel_data_type <= CL_UNORM_INT24)
            return CL_IMAGE_FORMAT_NOT_SUPPORTED;
    return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
}

static bool is_image_type(cl_mem_object_type type) {
    return type >= CL_MEM_OBJECT_IMAGE2D && type <= CL_MEM_OBJECT_IMAGE1D_BUFFER;
}

cl_int CL_API_CALL clGetSupportedImageFormats(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                              cl_uint room, cl_image_format *formats, cl_uint *count) {
    if (!object_is(context, OBJECT_CONTEXT))
        return CL_INVALID_CONTEXT;
    if ((formats && !room) || !is_image_type(type) ||
        !memory_flags_fit(flags & ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE))
        return CL_INVALID_VALUE;
    cl_uint found = 0;
    const unsigned orders = image_is_supported(context->device) ? CHANNELS_COUNT : 0;
    for (unsigned c = 0; c < orders; c++)
        for (unsigned e = 0; e < TEXEL_COUNT; e++) {
            if (!image_format_exists((enum image_channels)c, (enum image_element)e))
                continue;
            if (formats && found < room)
                formats[found] = (cl_image_format){image_channels_code((enum image_channels)c),
                                                   image_element_code((enum image_element)e)};
            found++;
        }
    if (count)
        *count = found;
    return CL_SUCCESS;
}

/* ---- descriptions ---- */

static enum image_kind kind_of(cl_mem_object_type type) {
    switch (type) {
    case CL_MEM_OBJECT_IMAGE1D: return IMAGE_1D;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY: return IMAGE_1D_ARRAY;
    case CL_MEM_OBJECT_IMAGE1D_BUFFER: return IMAGE_1D_BUFFER;
    case CL_MEM_OBJECT_IMAGE2D: return IMAGE_2D;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY: return IMAGE_2D_ARRAY;
    default: return IMAGE_3D;
    }
}

static bool within(size_t value, size_t most) { return value && value <= most; }

static cl_int read_sizes(const cl_image_desc *from, struct image_view *view) {
    const enum image_kind kind = kind_of(from->image_type);
    const unsigned dimensions = image_dimensions(kind);
    const size_t side = kind == IMAGE_3D          ? IMAGE_3D_SIDE_MAX
                        : kind == IMAGE_1D_BUFFER ? IMAGE_BUFFER_TEXELS_MAX
                                                  : IMAGE_SIDE_MAX;
    if (!from->image_width || (dimensions > 1 && !from->image_height) || (dimensions > 2 && !from->image_depth) ||
        (image_is_array(kind) && !from->image_array_size))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (!within(from->image_width, side) || (dimensions > 1 && !within(from->image_height, side)) ||
        (dimensions > 2 && !within(from->image_depth, side)) ||
        (image_is_array(kind) && !within(from->image_array_size, IMAGE_LAYERS_MAX)))
        return CL_INVALID_IMAGE_SIZE;
    view->kind = (uint8_t)kind;
    view->width = (uint32_t)from->image_width;
    view->height = dimensions > 1 ? (uint32_t)from->image_height : 1;
    view->depth = dimensions > 2 ? (uint32_t)from->image_depth : 1;
    view->layers = image_is_array(kind) ? (uint32_t)from->image_array_size : 1;
    return CL_SUCCESS;
}

/* Pitches are given only where there is memory that has them. */
static cl_int read_pitches(const cl_image_desc *from, bool has_memory, struct image_view *view) {
    const size_t texel = image_texel_bytes((enum image_channels)view->channels, (enum image_element)view->element);
    const size_t row = texel * view->width;
    if (from->num_mip_levels || from->num_samples ||
        (!has_memory && (from->image_row_pitch || from->image_slice_pitch)))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    view->row_bytes = from->image_row_pitch ? from->image_row_pitch : row;
    if (view->row_bytes < row || view->row_bytes % texel || view->row_bytes > SIZE_MAX / 4 / view->height)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    const size_t slice = view->row_bytes * view->height;
    const bool has_slices = view->kind == IMAGE_3D || image_is_array((enum image_kind)view->kind);
    view->slice_bytes = has_slices && from->image_slice_pitch ? from->image_slice_pitch : slice;
    const uint32_t slices = view->depth > view->layers ? view->depth : view->layers;
    if (view->slice_bytes < slice || view->slice_bytes % view->row_bytes || view->slice_bytes > SIZE_MAX / 4 / slices)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    return CL_SUCCESS;
}

static size_t view_bytes(const struct image_view *view) {
    return view->slice_bytes * (view->depth > view->layers ? view->depth : view->layers);
}

/* Tells the device; an image that it has no memory for ends. */
static cl_mem finish(cl_mem image, const cl_image_format *format, const struct image_view *view, cl_int *code) {
    if (!image)
        return NULL;
    image->format = *format;
    image->view = *view;
    image->view.address = image->address;
    struct engine *engine = &image->context->engine;
    engine_acquire(engine);
    const enum status status = device_image(engine->device, &image->view, &image->handle, NULL);
    host_filled(engine->device, image->data, image->bytes); /* what kernels write to images is not told */
    engine_give_back(engine);
    if (status == STATUS_OK)
        return image;
    memory_object_release(image);
    return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
}

/* An image of a buffer's bytes: of one row, or of rows. */
static cl_mem create_over(cl_mem buffer, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *from,
                          const struct image_view *view, cl_int *code) {
    if (!object_is(buffer, OBJECT_MEMORY) || memory_is_image(buffer) ||
        (view->kind != IMAGE_1D_BUFFER && view->kind != IMAGE_2D))
        return object_refuse(code, CL_INVALID_IMAGE_DESCRIPTOR);
    if (!memory_part_flags(buffer->flags, &flags))
        return object_refuse(code, CL_INVALID_VALUE);
    if (view_bytes(view) > buffer->bytes)
        return object_refuse(code, CL_INVALID_IMAGE_SIZE);
    const struct object_order order = {buffer->context, flags, from->image_type, view_bytes(view), NULL};
    return finish(memory_create_part(buffer, &order, 0, code), format, view, code);
}

cl_mem CL_API_CALL clCreateImage(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                                 const cl_image_desc *from, void *host, cl_int *code) {
    struct image_view view = {.own = sampler_of(ADDRESSING_NONE, false, false)};
    if (!object_is(context, OBJECT_CONTEXT))
        return object_refuse(code, CL_INVALID_CONTEXT);
    if (!image_is_supported(context->device))
        return object_refuse(code, CL_INVALID_OPERATION);
    if (!memory_flags_fit(flags & ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE))
        return object_refuse(code, CL_INVALID_VALUE);
    flags &= ~(cl_mem_flags)CL_MEM_KERNEL_READ_AND_WRITE;
    if (!format)
        return object_refuse(code, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    if (!image_format_of(format->image_channel_order, format->image_channel_data_type, &view))
        return object_refuse(code, refuse_format(format));
    if (!from || !is_image_type(from->image_type))
        return object_refuse(code, CL_INVALID_IMAGE_DESCRIPTOR);
    cl_int wrong = read_sizes(from, &view);
    if (!wrong)
        wrong = read_pitches(from, host || from->mem_object, &view);
    if (wrong)
        return object_refuse(code, wrong);
    if (from->mem_object)
        return host ? object_refuse(code, CL_INVALID_HOST_PTR)
                    : create_over(from->mem_object, flags, format, from, &view, code);
    if (view.kind == IMAGE_1D_BUFFER)
        return object_refuse(code, CL_INVALID_IMAGE_DESCRIPTOR);
    view.gob_rows = IMAGE_GOB_ROWS;
    if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return object_refuse(code, CL_INVALID_HOST_PTR);
    if (view_bytes(&view) > device_largest_buffer(context->device))
        return object_refuse(code, CL_INVALID_IMAGE_SIZE);
    const struct object_order order = {context, flags, from->image_type, view_bytes(&view), host};
    return finish(memory_create_object(&order, code), format, &view, code);
}

cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties,
                                               cl_mem_flags flags, const cl_image_format *format,
                                               const cl_image_desc *from, void *host, cl_int *code) {
    if (object_is(context, OBJECT_CONTEXT) && properties && properties[0])
        return object_refuse(code, CL_INVALID_PROPERTY); /* there are none yet */
    cl_mem image = clCreateImage(context, flags, format, from, host, code);
    if (image && properties) {
        image->properties = object_alloc(&image->object, sizeof *properties);
        image->property_count = image->properties ? 1 : 0;
    }
    return image;
}

/* What the functions of OpenCL 1.1 say of a description that does not fit is the size. */
static cl_mem create_old(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                         const cl_image_desc *from, void *host, cl_int *code) {
    cl_int own;
    cl_mem image = clCreateImage(context, flags, format, from, host, &own);
    object_refuse(code, own == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : own);
    return image;
}

cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t row, void *host, cl_int *code) {
    const cl_image_desc from = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = width, .image_height = height, .image_row_pitch = row};
    return create_old(context, flags, format, &from, host, code);
}

cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags, const cl_image_format *format, size_t width,
                                   size_t height, size_t depth, size_t row, size_t slice, void *host, cl_int *code) {
    const cl_image_desc from = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                                .image_width = width,
                                .image_height = height,
                                .image_depth = depth,
                                .image_row_pitch = row,
                                .image_slice_pitch = slice};
    return create_old(context, flags, format, &from, host, code);
}

/* ---- queries ---- */

void image_extent(const struct _cl_mem *image, size_t extent[3], size_t pitches[2]) {
    const struct image_view *view = &image->view;
    const bool is_row_array = view->kind == IMAGE_1D_ARRAY;
    extent[0] = view->width;
    extent[1] = is_row_array ? view->layers : view->height;
    extent[2] = is_row_array ? 1 : view->depth > view->layers ? view->depth : view->layers;
    pitches[0] = is_row_array ? view->slice_bytes : view->row_bytes;
    pitches[1] = view->slice_bytes;
}

cl_int CL_API_CALL clGetImageInfo(cl_mem image, cl_image_info name, size_t size, void *value, size_t *size_ret) {
    if (!object_is(image, OBJECT_MEMORY) || !memory_is_image(image))
        return CL_INVALID_MEM_OBJECT;
    const struct image_view *view = &image->view;
    const unsigned dimensions = image_dimensions((enum image_kind)view->kind);
    const bool is_array = image_is_array((enum image_kind)view->kind);
    switch (name) {
    case CL_IMAGE_FORMAT:
        return info_copy(&image->format, sizeof image->format, size, value, size_ret);
        INFO(CL_IMAGE_ELEMENT_SIZE, size_t, image_object_texel_bytes(image))
        INFO(CL_IMAGE_ROW_PITCH, size_t, view->row_bytes)
        INFO(CL_IMAGE_SLICE_PITCH, size_t, dimensions > 2 || is_array ? view->slice_bytes : 0)
        INFO(CL_IMAGE_WIDTH, size_t, view->width)
        INFO(CL_IMAGE_HEIGHT, size_t, dimensions > 1 ? view->height : 0)
        INFO(CL_IMAGE_DEPTH, size_t, dimensions > 2 ? view->depth : 0)
        INFO(CL_IMAGE_ARRAY_SIZE, size_t, is_array ? view->layers : 0)
        INFO(CL_IMAGE_BUFFER, cl_mem, image->parent)
        INFO(CL_IMAGE_NUM_MIP_LEVELS, cl_uint, 0)
        INFO(CL_IMAGE_NUM_SAMPLES, cl_uint, 0)
    default: return CL_INVALID_VALUE;
    }
}

/* ---- arguments ---- */

/* Types of the program's own may be called image_something; only images have an access qualifier, since there are no pipes. */
bool image_is_argument(const struct compile_arg *arg) { return arg->access != COMPILE_ACCESS_NONE; }
bool sampler_is_argument(const struct compile_arg *arg) { return strcmp(arg->base_type, "sampler_t") == 0; }

static const char *type_of(enum image_kind kind) {
    static const char *const types[IMAGE_KIND_COUNT] = {[IMAGE_1D] = "image1d_t",
                                                        [IMAGE_1D_ARRAY] = "image1d_array_t",
                                                        [IMAGE_1D_BUFFER] = "image1d_buffer_t",
                                                        [IMAGE_2D] = "image2d_t",
                                                        [IMAGE_2D_ARRAY] = "image2d_array_t",
                                                        [IMAGE_3D] = "image3d_t"}; /* OpenCL has no cubes */
    return types[kind];
}

cl_int image_check_argument(const struct compile_arg *arg, const struct _cl_mem *image) {
    const bool reads = arg->access != COMPILE_WRITE_ONLY,
               writes = arg->access == COMPILE_WRITE_ONLY || arg->access == COMPILE_READ_WRITE;
    if (!memory_is_image(image))
        return CL_INVALID_MEM_OBJECT;
    if (strcmp(arg->base_type, type_of((enum image_kind)image->view.kind)) != 0 ||
        (reads && image->flags & CL_MEM_WRITE_ONLY) || (writes && image->flags & CL_MEM_READ_ONLY))
        return CL_INVALID_ARG_VALUE;
    return CL_SUCCESS;
}
