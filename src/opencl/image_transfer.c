/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that move texels: read, write, copy, fill, map. */
#include <string.h>

#include "opencl/image.h"
#include "opencl/transfer.h"

/* ---- boxes of an image ---- */

/* A region of an image in bytes from its first texel. */
struct image_box {
    size_t offset, span, bytes; /* bytes: of one row of the region */
    size_t pitches[2];
};

static cl_int place_region(const struct _cl_mem *image, const size_t *origin, const size_t *region,
                           struct image_box *out) {
    size_t extent[3];
    const size_t texel = image_object_texel_bytes(image);
    if (!origin || !region)
        return CL_INVALID_VALUE;
    image_extent(image, extent, out->pitches);
    for (unsigned i = 0; i < 3; i++)
        if (!region[i] || region[i] > extent[i] || origin[i] > extent[i] - region[i])
            return CL_INVALID_VALUE;
    out->bytes = region[0] * texel;
    out->offset = origin[0] * texel + origin[1] * out->pitches[0] + origin[2] * out->pitches[1];
    out->span = out->bytes + (region[1] - 1) * out->pitches[0] + (region[2] - 1) * out->pitches[1];
    return CL_SUCCESS;
}

static struct box_side side_of(const struct _cl_mem *image, const struct image_box *box) {
    return (struct box_side){image->data + box->offset, box->pitches[0], box->pitches[1]};
}

/* Pitches of the program's memory; 0 is left to us. Layers of 1D images lie a slice pitch apart. */
static bool host_pitches(const struct _cl_mem *image, const size_t *region, size_t row, size_t slice, size_t out[2]) {
    const size_t bytes = region[0] * image_object_texel_bytes(image);
    const bool is_row_array = image->view.kind == IMAGE_1D_ARRAY;
    const bool has_slices = image->view.kind == IMAGE_3D || image_is_array((enum image_kind)image->view.kind);
    if ((row && row < bytes) || (slice && !has_slices))
        return false;
    row = row ? row : bytes;
    size_t least;
    if (__builtin_mul_overflow(row, is_row_array ? 1 : region[1], &least) || (slice && slice < least))
        return false;
    slice = slice ? slice : least;
    out[0] = is_row_array ? slice : row, out[1] = slice;
    return true;
}

/* ---- read and write ---- */

/* The program's memory of a command. */
struct host_texels {
    void *data;
    size_t row, slice;
};

static cl_int image_read_or_write(const struct command_order *order, cl_mem image, const size_t *origin,
                                  const size_t *region, const struct host_texels *host) {
    if (!object_is(order->queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const bool writes = order->type == CL_COMMAND_WRITE_IMAGE;
    struct image_box at;
    size_t pitches[2];
    cl_int wrong = transfer_check(order->queue, image, true);
    if (!wrong)
        wrong = place_region(image, origin, region, &at);
    if (wrong)
        return wrong;
    if (!host->data || !host_pitches(image, region, host->row, host->slice, pitches))
        return CL_INVALID_VALUE;
    const cl_mem_flags closed = CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    if (image->flags & closed)
        return CL_INVALID_OPERATION;
    const struct box_side device = side_of(image, &at), program = {host->data, pitches[0], pitches[1]};
    const struct box box = {.to = writes ? device : program,
                            .from = writes ? program : device,
                            .bytes = at.bytes,
                            .rows = region[1],
                            .slices = region[2],
                            .written = writes ? image->address + at.offset : 0};
    return transfer_submit(order, transfer_run_box, &box, sizeof box, image, NULL);
}

cl_int CL_API_CALL clEnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                      const size_t *region, size_t row, size_t slice, void *host, cl_uint wait_count,
                                      const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_READ_IMAGE, wait_count, waits, blocking, out};
    return image_read_or_write(&order, image, origin, region, &(struct host_texels){host, row, slice});
}

cl_int CL_API_CALL clEnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t *origin,
                                       const size_t *region, size_t row, size_t slice, const void *host,
                                       cl_uint wait_count, const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_WRITE_IMAGE, wait_count, waits, blocking, out};
    return image_read_or_write(&order, image, origin, region,
                               &(struct host_texels){(void *)(uintptr_t)host, row, slice});
}

/* ---- fill ---- */

struct texel_fill {
    uint8_t texel[IMAGE_TEXEL_BYTES_MAX];
    size_t texel_bytes, region[3];
    struct box_side to;
    uint64_t written;
};

static struct command_end run_fill(cl_event event, struct device *device) {
    const struct texel_fill *fill = event->work;
    const size_t *region = fill->region;
    for (size_t z = 0; z < region[2]; z++)
        for (size_t y = 0; y < region[1]; y++)
            for (size_t x = 0; x < region[0]; x++)
                memcpy(fill->to.data + z * fill->to.slice + y * fill->to.row + x * fill->texel_bytes, fill->texel,
                       fill->texel_bytes);
    return transfer_moved(device, region[0] * region[1] * region[2] * fill->texel_bytes);
}

cl_int CL_API_CALL clEnqueueFillImage(cl_command_queue queue, cl_mem image, const void *colour, const size_t *origin,
                                      const size_t *region, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    struct image_box at;
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    cl_int wrong = transfer_check(queue, image, true);
    if (!wrong && !colour)
        wrong = CL_INVALID_VALUE;
    if (!wrong)
        wrong = place_region(image, origin, region, &at);
    if (wrong)
        return wrong;
    struct texel_fill fill = {.texel_bytes = image_object_texel_bytes(image),
                              .region = {region[0], region[1], region[2]},
                              .to = side_of(image, &at)};
    uint32_t words[4];
    memcpy(words, colour, sizeof words);
    image_encode(&image->view, words, fill.texel);
    const struct command_order order = {queue, CL_COMMAND_FILL_IMAGE, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, run_fill, &fill, sizeof fill, image, NULL);
}

/* ---- copies ---- */

static bool regions_overlap(const size_t *a, const size_t *b, const size_t *region) {
    bool overlap = true;
    for (unsigned i = 0; i < 3; i++)
        overlap = overlap && a[i] < b[i] + region[i] && b[i] < a[i] + region[i];
    return overlap;
}

cl_int CL_API_CALL clEnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                      const size_t *to_origin, const size_t *region, cl_uint wait_count,
                                      const cl_event *waits, cl_event *out) {
    struct image_box from_at, to_at;
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    cl_int wrong = transfer_check(queue, from, true);
    if (!wrong)
        wrong = transfer_check(queue, to, true);
    if (!wrong && memcmp(&from->format, &to->format, sizeof from->format) != 0)
        wrong = CL_IMAGE_FORMAT_MISMATCH;
    if (!wrong)
        wrong = place_region(from, from_origin, region, &from_at);
    if (!wrong)
        wrong = place_region(to, to_origin, region, &to_at);
    if (!wrong && from == to && regions_overlap(from_origin, to_origin, region))
        wrong = CL_MEM_COPY_OVERLAP;
    if (wrong)
        return wrong;
    const struct box box = {.to = side_of(to, &to_at),
                            .from = side_of(from, &from_at),
                            .bytes = to_at.bytes,
                            .rows = region[1],
                            .slices = region[2]};
    const struct command_order order = {queue, CL_COMMAND_COPY_IMAGE, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, transfer_run_box, &box, sizeof box, from, to);
}

/* Texels lie behind each other in the buffer. */
static cl_int copy_with_buffer(const struct command_order *order, cl_mem image, cl_mem buffer, const size_t *origin,
                               const size_t *region, size_t offset) {
    const bool to_image = order->type == CL_COMMAND_COPY_BUFFER_TO_IMAGE;
    struct image_box at;
    if (!object_is(order->queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    cl_int wrong = transfer_check(order->queue, image, true);
    if (!wrong)
        wrong = transfer_check(order->queue, buffer, false);
    if (!wrong)
        wrong = place_region(image, origin, region, &at);
    if (!wrong && !buffer_has(buffer, offset, at.bytes * region[1] * region[2]))
        wrong = CL_INVALID_VALUE;
    if (wrong)
        return wrong;
    const struct box_side texels = side_of(image, &at), bytes = {buffer->data + offset, at.bytes, at.bytes * region[1]};
    const struct box box = {.to = to_image ? texels : bytes,
                            .from = to_image ? bytes : texels,
                            .bytes = at.bytes,
                            .rows = region[1],
                            .slices = region[2]};
    return transfer_submit(order, transfer_run_box, &box, sizeof box, image, buffer);
}

cl_int CL_API_CALL clEnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *origin,
                                              const size_t *region, size_t offset, cl_uint wait_count,
                                              const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_COPY_IMAGE_TO_BUFFER, wait_count, waits, CL_FALSE, out};
    return copy_with_buffer(&order, from, to, origin, region, offset);
}

cl_int CL_API_CALL clEnqueueCopyBufferToImage(cl_command_queue queue, cl_mem from, cl_mem to, size_t offset,
                                              const size_t *origin, const size_t *region, cl_uint wait_count,
                                              const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_COPY_BUFFER_TO_IMAGE, wait_count, waits, CL_FALSE, out};
    return copy_with_buffer(&order, to, from, origin, region, offset);
}

/* ---- map ---- */

/* Bytes between rows of the region are mapped too. So what the program may throw away is still brought to it: they go back with it. */
void *CL_API_CALL clEnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                    const size_t *origin, const size_t *region, size_t *row, size_t *slice,
                                    cl_uint wait_count, const cl_event *waits, cl_event *out, cl_int *code) {
    struct image_box at;
    if (!object_is(queue, OBJECT_QUEUE))
        return object_refuse(code, CL_INVALID_COMMAND_QUEUE);
    cl_int wrong = transfer_check(queue, image, true);
    if (!wrong)
        wrong = place_region(image, origin, region, &at);
    if (!wrong)
        wrong = transfer_check_map(image, flags);
    if (wrong)
        return object_refuse(code, wrong);
    const bool has_slices = image->view.kind == IMAGE_3D || image_is_array((enum image_kind)image->view.kind);
    if (!row || (has_slices && !slice))
        return object_refuse(code, CL_INVALID_VALUE);
    const struct command_order order = {queue, CL_COMMAND_MAP_IMAGE, wait_count, waits, blocking, out};
    *row = image->view.row_bytes;
    if (slice)
        *slice = has_slices ? image->view.slice_bytes : 0;
    return transfer_map(&order, image, at.offset, at.span,
                        flags & CL_MAP_WRITE_INVALIDATE_REGION ? CL_MAP_WRITE : flags, code);
}
