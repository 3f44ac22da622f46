/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that move bytes: read, write, copy, fill, also of rectangles, map and unmap. All but fills are boxes copied
 * row by row; a plain range is a box of one row. */
#include <string.h>

#include "opencl/buffer.h"
#include "opencl/event.h"

struct side {
    uint8_t *data;
    size_t row, slice; /* bytes from a row to the next, from a slice to the next */
};

struct box {
    struct side to, from;
    size_t bytes, rows, slices;
    uint64_t written; /* device address of to.data where the host wrote it; 0: it did not */
};

/* Moving data between host and device is not modelled: it takes as long as the DRAM at its best. */
static struct command_end moved(cl_event event, uint64_t bytes) {
    const uint64_t rate = event->context->device->dram_bytes_per_second;
    const double ns = (double)bytes * 1e9 / (double)rate;
    return (struct command_end){.status = CL_COMPLETE, .ns = 1 + (uint64_t)ns};
}

static struct command_end run_box(cl_event event, struct device *device) {
    const struct box *box = event->work;
    for (size_t z = 0; z < box->slices; z++)
        for (size_t y = 0; y < box->rows; y++) {
            const size_t to = z * box->to.slice + y * box->to.row;
            memmove(box->to.data + to, box->from.data + z * box->from.slice + y * box->from.row, box->bytes);
            if (box->written)
                device_written(device, box->written + to, box->bytes);
        }
    return moved(event, (uint64_t)box->bytes * box->rows * box->slices);
}

static cl_int check_buffer(cl_command_queue queue, cl_mem buffer) {
    if (!object_is(buffer, KIND_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    return buffer->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

/* The event list as every enqueue function has it. */
struct waits {
    cl_uint count;
    const cl_event *events;
};

static cl_int submit(cl_command_queue queue, cl_command_type type, struct waits waits,
                     struct command_end (*run)(cl_event, struct device *), const void *work, size_t work_bytes,
                     cl_mem a, cl_mem b, cl_bool blocking, cl_event *out) {
    cl_int code;
    cl_event event = event_create(queue, type, waits.count, waits.events, work_bytes, &code);
    if (!event)
        return code;
    void *const held[] = {a, b};
    if (!event_hold(event, held, 2)) {
        event_release(event);
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(event->work, work, work_bytes);
    event->run = run;
    return event_submit(event, blocking, out);
}

/* ---- ranges ---- */

static cl_int read_or_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                            void *host, bool writes, struct waits waits, cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return wrong;
    if (!host || !buffer_has(buffer, offset, size))
        return CL_INVALID_VALUE;
    const cl_mem_flags closed = CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    if (buffer->flags & closed)
        return CL_INVALID_OPERATION;
    struct side device = {.data = buffer->data + offset}, program = {.data = host};
    const struct box box = {.to = writes ? device : program,
                            .from = writes ? program : device,
                            .bytes = size,
                            .rows = 1,
                            .slices = 1,
                            .written = writes ? buffer->address + offset : 0};
    return submit(queue, writes ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER, waits, run_box, &box, sizeof box,
                  buffer, NULL, blocking, out);
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void *host, cl_uint wait_count, const cl_event *waits,
                                       cl_event *out) {
    return read_or_write(queue, buffer, blocking, offset, size, host, false, (struct waits){wait_count, waits}, out);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, const void *host, cl_uint wait_count, const cl_event *waits,
                                        cl_event *out) {
    return read_or_write(queue, buffer, blocking, offset, size, (void *)(uintptr_t)host, true,
                         (struct waits){wait_count, waits}, out);
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t size, cl_uint wait_count, const cl_event *waits,
                                       cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, from), wrong_to = check_buffer(queue, to);
    if (wrong || wrong_to)
        return wrong ? wrong : wrong_to;
    if (!buffer_has(from, from_offset, size) || !buffer_has(to, to_offset, size))
        return CL_INVALID_VALUE;
    if (overlap(from->address + from_offset, size, to->address + to_offset, size))
        return CL_MEM_COPY_OVERLAP;
    const struct box box = {.to = {.data = to->data + to_offset},
                            .from = {.data = from->data + from_offset},
                            .bytes = size,
                            .rows = 1,
                            .slices = 1};
    return submit(queue, CL_COMMAND_COPY_BUFFER, (struct waits){wait_count, waits}, run_box, &box, sizeof box, from, to,
                  CL_FALSE, out);
}

/* ---- boxes ---- */

/* The place of a box in memory: *span bytes from *offset on hold all of it. False: the pitches do not fit the region. */
static bool place_box(const size_t origin[3], const size_t region[3], size_t *row, size_t *slice, size_t *offset,
                      size_t *span) {
    *row = *row ? *row : region[0];
    if (*row < region[0])
        return false;
    size_t smallest;
    if (__builtin_mul_overflow(region[1], *row, &smallest))
        return false;
    *slice = *slice ? *slice : smallest;
    if (*slice < smallest || *slice % *row)
        return false;
    size_t z, y, last_z, last_y;
    if (__builtin_mul_overflow(origin[2], *slice, &z) || __builtin_mul_overflow(origin[1], *row, &y) ||
        __builtin_mul_overflow(region[2] - 1, *slice, &last_z) || __builtin_mul_overflow(region[1] - 1, *row, &last_y))
        return false;
    return !__builtin_add_overflow(z, y, offset) && !__builtin_add_overflow(*offset, origin[0], offset) &&
           !__builtin_add_overflow(last_z, last_y, span) && !__builtin_add_overflow(*span, region[0], span);
}

static bool is_region(const size_t region[3]) { return region && region[0] && region[1] && region[2]; }

static cl_int box_read_or_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *buffer_origin,
                                const size_t *host_origin, const size_t *region, size_t row, size_t slice,
                                size_t host_row, size_t host_slice, void *host, bool writes, struct waits waits,
                                cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return wrong;
    size_t offset, span, host_offset, host_span;
    if (!host || !buffer_origin || !host_origin || !is_region(region) ||
        !place_box(buffer_origin, region, &row, &slice, &offset, &span) || !buffer_has(buffer, offset, span) ||
        !place_box(host_origin, region, &host_row, &host_slice, &host_offset, &host_span))
        return CL_INVALID_VALUE;
    const cl_mem_flags closed = CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    if (buffer->flags & closed)
        return CL_INVALID_OPERATION;
    struct side device = {buffer->data + offset, row, slice};
    struct side program = {(uint8_t *)host + host_offset, host_row, host_slice};
    const struct box box = {.to = writes ? device : program,
                            .from = writes ? program : device,
                            .bytes = region[0],
                            .rows = region[1],
                            .slices = region[2],
                            .written = writes ? buffer->address + offset : 0};
    return submit(queue, writes ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_READ_BUFFER_RECT, waits, run_box, &box,
                  sizeof box, buffer, NULL, blocking, out);
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
                                           size_t row, size_t slice, size_t host_row, size_t host_slice, void *host,
                                           cl_uint wait_count, const cl_event *waits, cl_event *out) {
    return box_read_or_write(queue, buffer, blocking, buffer_origin, host_origin, region, row, slice, host_row,
                             host_slice, host, false, (struct waits){wait_count, waits}, out);
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t *buffer_origin, const size_t *host_origin,
                                            const size_t *region, size_t row, size_t slice, size_t host_row,
                                            size_t host_slice, const void *host, cl_uint wait_count,
                                            const cl_event *waits, cl_event *out) {
    return box_read_or_write(queue, buffer, blocking, buffer_origin, host_origin, region, row, slice, host_row,
                             host_slice, (void *)(uintptr_t)host, true, (struct waits){wait_count, waits}, out);
}

/* `part` bytes from a on and from b on, in every stretch of `pitch`: one lies in the gap of the other. */
static bool in_the_gap(size_t a, size_t b, size_t part, size_t pitch) {
    a %= pitch, b %= pitch;
    return (b >= a + part && b + part <= a + pitch) || (a >= b + part && a + part <= b + pitch);
}

/* Whether two boxes of one memory, whose spans do, share a byte: as the specification's appendix decides it. */
static bool boxes_overlap(size_t from, size_t to, const size_t region[3], size_t row, size_t slice) {
    return !in_the_gap(from, to, region[0], row) && !in_the_gap(from, to, (region[1] - 1) * row + region[0], slice);
}

cl_int CL_API_CALL clEnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t *from_origin,
                                           const size_t *to_origin, const size_t *region, size_t from_row,
                                           size_t from_slice, size_t to_row, size_t to_slice, cl_uint wait_count,
                                           const cl_event *waits, cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, from), wrong_to = check_buffer(queue, to);
    if (wrong || wrong_to)
        return wrong ? wrong : wrong_to;
    size_t from_offset, from_span, to_offset, to_span;
    if (!from_origin || !to_origin || !is_region(region) ||
        !place_box(from_origin, region, &from_row, &from_slice, &from_offset, &from_span) ||
        !buffer_has(from, from_offset, from_span) ||
        !place_box(to_origin, region, &to_row, &to_slice, &to_offset, &to_span) || !buffer_has(to, to_offset, to_span))
        return CL_INVALID_VALUE;
    if (from == to && (from_row != to_row || from_slice != to_slice))
        return CL_INVALID_VALUE;
    if (overlap(from->address + from_offset, from_span, to->address + to_offset, to_span) &&
        (from != to || boxes_overlap(from_offset, to_offset, region, from_row, from_slice)))
        return CL_MEM_COPY_OVERLAP;
    const struct box box = {.to = {to->data + to_offset, to_row, to_slice},
                            .from = {from->data + from_offset, from_row, from_slice},
                            .bytes = region[0],
                            .rows = region[1],
                            .slices = region[2]};
    return submit(queue, CL_COMMAND_COPY_BUFFER_RECT, (struct waits){wait_count, waits}, run_box, &box, sizeof box,
                  from, to, CL_FALSE, out);
}

/* ---- fill ---- */

enum { PATTERN_MAX_BYTES = 128 };

struct fill {
    uint8_t pattern[PATTERN_MAX_BYTES];
    size_t pattern_bytes, bytes;
    uint8_t *data;
};

static struct command_end run_fill(cl_event event, struct device *device) {
    (void)device;
    const struct fill *fill = event->work;
    size_t done = fill->pattern_bytes < fill->bytes ? fill->pattern_bytes : fill->bytes;
    memcpy(fill->data, fill->pattern, done);
    while (done < fill->bytes) { /* what is there, once more */
        const size_t more = done < fill->bytes - done ? done : fill->bytes - done;
        memcpy(fill->data + done, fill->data, more);
        done += more;
    }
    return moved(event, fill->bytes);
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                       size_t offset, size_t size, cl_uint wait_count, const cl_event *waits,
                                       cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return wrong;
    if (!pattern || !pattern_bytes || pattern_bytes > PATTERN_MAX_BYTES || (pattern_bytes & (pattern_bytes - 1)) ||
        offset % pattern_bytes || size % pattern_bytes || !buffer_has(buffer, offset, size))
        return CL_INVALID_VALUE;
    struct fill fill = {.pattern_bytes = pattern_bytes, .bytes = size, .data = buffer->data + offset};
    memcpy(fill.pattern, pattern, pattern_bytes);
    return submit(queue, CL_COMMAND_FILL_BUFFER, (struct waits){wait_count, waits}, run_fill, &fill, sizeof fill,
                  buffer, NULL, CL_FALSE, out);
}

/* ---- map ---- */

struct map_work {
    cl_mem buffer;
    struct mapping mapping;
};

/* Only a buffer that lives in the program's memory has anything to move. */
static struct command_end run_map(cl_event event, struct device *device) {
    (void)device;
    const struct map_work *work = event->work;
    if (!work->buffer->host || work->mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION)
        return moved(event, 0);
    memcpy(work->mapping.pointer, work->buffer->data + work->mapping.offset, work->mapping.bytes);
    return moved(event, work->mapping.bytes);
}

static struct command_end run_unmap(cl_event event, struct device *device) {
    const struct map_work *work = event->work;
    if (!(work->mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)))
        return moved(event, 0);
    if (work->buffer->host)
        memcpy(work->buffer->data + work->mapping.offset, work->mapping.pointer, work->mapping.bytes);
    device_written(device, work->buffer->address + work->mapping.offset, work->mapping.bytes);
    return moved(event, work->buffer->host ? work->mapping.bytes : 0);
}

void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint wait_count, const cl_event *waits,
                                     cl_event *out, cl_int *code) {
    if (!object_is(queue, KIND_QUEUE))
        return object_refuse(code, CL_INVALID_COMMAND_QUEUE);
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return object_refuse(code, wrong);
    const cl_map_flags writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    if (!size || !buffer_has(buffer, offset, size) || flags & ~(writes | CL_MAP_READ) ||
        (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE)))
        return object_refuse(code, CL_INVALID_VALUE);
    if ((flags & CL_MAP_READ && buffer->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) ||
        (flags & writes && buffer->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)))
        return object_refuse(code, CL_INVALID_OPERATION);
    struct mapping *mapping = buffer_map(buffer, offset, size, flags);
    if (!mapping)
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    const struct map_work work = {buffer, *mapping};
    const cl_int failed = submit(queue, CL_COMMAND_MAP_BUFFER, (struct waits){wait_count, waits}, run_map, &work,
                                 sizeof work, buffer, NULL, blocking, out);
    struct mapping gone;
    if (failed)
        buffer_unmap(buffer, work.mapping.pointer, &gone);
    object_refuse(code, failed);
    return failed ? NULL : work.mapping.pointer;
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *pointer, cl_uint wait_count,
                                           const cl_event *waits, cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return wrong;
    struct map_work work = {.buffer = buffer};
    if (!buffer_unmap(buffer, pointer, &work.mapping))
        return CL_INVALID_VALUE;
    const cl_int failed = submit(queue, CL_COMMAND_UNMAP_MEM_OBJECT, (struct waits){wait_count, waits}, run_unmap,
                                 &work, sizeof work, buffer, NULL, CL_FALSE, out);
    if (failed)
        buffer_map(buffer, work.mapping.offset, work.mapping.bytes, work.mapping.flags);
    return failed;
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                              cl_mem_migration_flags flags, cl_uint wait_count, const cl_event *waits,
                                              cl_event *out) {
    if (!object_is(queue, KIND_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!count || !memories ||
        flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        const cl_int wrong = check_buffer(queue, memories[i]);
        if (wrong)
            return wrong;
    }
    return submit(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, (struct waits){wait_count, waits}, NULL, "", 0, NULL, NULL,
                  CL_FALSE, out);
}
