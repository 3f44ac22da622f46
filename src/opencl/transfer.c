/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that move bytes: read, write, copy, fill, also of rectangles, map and unmap. All but fills are boxes copied
 * row by row; a plain range is a box of one row. */
#include <string.h>

#include "device/host.h"
#include "opencl/transfer.h"

/* It takes as long as the DRAM at its best. */
struct command_end transfer_moved(const struct device *device, uint64_t bytes) {
    return (struct command_end){.status = CL_COMPLETE, .ns = host_move_ns(device, bytes)};
}

struct command_end transfer_run_box(cl_event event, struct device *device) {
    return transfer_moved(device, host_move(device, event->work));
}

static cl_int check_memory(cl_command_queue queue, cl_mem memory) {
    if (!object_is(memory, OBJECT_MEMORY))
        return CL_INVALID_MEM_OBJECT;
    return memory->context == queue->context ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

cl_int transfer_check(cl_command_queue queue, cl_mem memory, bool is_image) {
    if (object_is(memory, OBJECT_MEMORY) && memory_is_image(memory) != is_image)
        return CL_INVALID_MEM_OBJECT;
    return check_memory(queue, memory);
}

static cl_int check_buffer(cl_command_queue queue, cl_mem buffer) { return transfer_check(queue, buffer, false); }

cl_int transfer_submit(const struct command_order *order, struct command_end (*run)(cl_event, struct device *),
                       const void *work, size_t work_bytes, cl_mem a, cl_mem b) {
    cl_int code;
    cl_event event = event_create(order->queue, order->type, order->wait_count, order->waits, work_bytes, &code);
    if (!event)
        return code;
    void *const held[] = {a, b};
    if (!event_hold(event, held, 2)) {
        event_release(event);
        return CL_OUT_OF_HOST_MEMORY;
    }
    memcpy(event->work, work, work_bytes);
    event->run = run;
    return event_submit(event, order->blocking, order->out);
}

/* ---- ranges ---- */

static cl_int read_or_write(const struct command_order *order, cl_mem buffer, size_t offset, size_t size, void *host) {
    if (!object_is(order->queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const bool writes = order->type == CL_COMMAND_WRITE_BUFFER;
    const cl_int wrong = check_buffer(order->queue, buffer);
    if (wrong)
        return wrong;
    if (!host || !buffer_has(buffer, offset, size))
        return CL_INVALID_VALUE;
    const cl_mem_flags closed = CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    if (buffer->flags & closed)
        return CL_INVALID_OPERATION;
    struct box_side device = {.data = buffer->data + offset}, program = {.data = host};
    const struct box box = {.to = writes ? device : program,
                            .from = writes ? program : device,
                            .bytes = size,
                            .rows = 1,
                            .slices = 1,
                            .written = writes ? buffer->address + offset : 0};
    return transfer_submit(order, transfer_run_box, &box, sizeof box, buffer, NULL);
}

cl_int CL_API_CALL clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void *host, cl_uint wait_count, const cl_event *waits,
                                       cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_READ_BUFFER, wait_count, waits, blocking, out};
    return read_or_write(&order, buffer, offset, size, host);
}

cl_int CL_API_CALL clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, const void *host, cl_uint wait_count, const cl_event *waits,
                                        cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_WRITE_BUFFER, wait_count, waits, blocking, out};
    return read_or_write(&order, buffer, offset, size, (void *)(uintptr_t)host);
}

static bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) {
    return a < b + b_bytes && b < a + a_bytes;
}

cl_int CL_API_CALL clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                       size_t to_offset, size_t size, cl_uint wait_count, const cl_event *waits,
                                       cl_event *out) {
    if (!object_is(queue, OBJECT_QUEUE))
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
    const struct command_order order = {queue, CL_COMMAND_COPY_BUFFER, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, transfer_run_box, &box, sizeof box, from, to);
}

/* ---- boxes ---- */

/* Where a box lies in a memory: as the program says it, a pitch of 0 left to us, and what place_box makes of it. */
struct box_place {
    const size_t *origin;
    size_t row, slice;   /* pitches: bytes from a row to the next, from a slice to the next */
    size_t offset, span; /* span bytes from offset on hold all of it */
};

/* False: the pitches do not fit the region. */
static bool place_box(struct box_place *place, const size_t region[3]) {
    const size_t *origin = place->origin;
    place->row = place->row ? place->row : region[0];
    if (place->row < region[0])
        return false;
    size_t smallest;
    if (__builtin_mul_overflow(region[1], place->row, &smallest))
        return false;
    place->slice = place->slice ? place->slice : smallest;
    if (place->slice < smallest || place->slice % place->row)
        return false;
    size_t z, y, last_z, last_y;
    if (__builtin_mul_overflow(origin[2], place->slice, &z) || __builtin_mul_overflow(origin[1], place->row, &y) ||
        __builtin_mul_overflow(region[2] - 1, place->slice, &last_z) ||
        __builtin_mul_overflow(region[1] - 1, place->row, &last_y))
        return false;
    return !__builtin_add_overflow(z, y, &place->offset) &&
           !__builtin_add_overflow(place->offset, origin[0], &place->offset) &&
           !__builtin_add_overflow(last_z, last_y, &place->span) &&
           !__builtin_add_overflow(place->span, region[0], &place->span);
}

static bool is_region(const size_t region[3]) { return region && region[0] && region[1] && region[2]; }

static cl_int box_read_or_write(const struct command_order *order, cl_mem buffer, struct box_place at, void *host,
                                struct box_place host_at, const size_t *region) {
    if (!object_is(order->queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const bool writes = order->type == CL_COMMAND_WRITE_BUFFER_RECT;
    const cl_int wrong = check_buffer(order->queue, buffer);
    if (wrong)
        return wrong;
    if (!host || !at.origin || !host_at.origin || !is_region(region) || !place_box(&at, region) ||
        !buffer_has(buffer, at.offset, at.span) || !place_box(&host_at, region))
        return CL_INVALID_VALUE;
    const cl_mem_flags closed = CL_MEM_HOST_NO_ACCESS | (writes ? CL_MEM_HOST_READ_ONLY : CL_MEM_HOST_WRITE_ONLY);
    if (buffer->flags & closed)
        return CL_INVALID_OPERATION;
    struct box_side device = {buffer->data + at.offset, at.row, at.slice};
    struct box_side program = {(uint8_t *)host + host_at.offset, host_at.row, host_at.slice};
    const struct box box = {.to = writes ? device : program,
                            .from = writes ? program : device,
                            .bytes = region[0],
                            .rows = region[1],
                            .slices = region[2],
                            .written = writes ? buffer->address + at.offset : 0};
    return transfer_submit(order, transfer_run_box, &box, sizeof box, buffer, NULL);
}

cl_int CL_API_CALL clEnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                           const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
                                           size_t row, size_t slice, size_t host_row, size_t host_slice, void *host,
                                           cl_uint wait_count, const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_READ_BUFFER_RECT, wait_count, waits, blocking, out};
    const struct box_place at = {.origin = buffer_origin, .row = row, .slice = slice};
    const struct box_place host_at = {.origin = host_origin, .row = host_row, .slice = host_slice};
    return box_read_or_write(&order, buffer, at, host, host_at, region);
}

cl_int CL_API_CALL clEnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                            const size_t *buffer_origin, const size_t *host_origin,
                                            const size_t *region, size_t row, size_t slice, size_t host_row,
                                            size_t host_slice, const void *host, cl_uint wait_count,
                                            const cl_event *waits, cl_event *out) {
    const struct command_order order = {queue, CL_COMMAND_WRITE_BUFFER_RECT, wait_count, waits, blocking, out};
    const struct box_place at = {.origin = buffer_origin, .row = row, .slice = slice};
    const struct box_place host_at = {.origin = host_origin, .row = host_row, .slice = host_slice};
    return box_read_or_write(&order, buffer, at, (void *)(uintptr_t)host, host_at, region);
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
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, from), wrong_to = check_buffer(queue, to);
    if (wrong || wrong_to)
        return wrong ? wrong : wrong_to;
    struct box_place from_at = {.origin = from_origin, .row = from_row, .slice = from_slice};
    struct box_place to_at = {.origin = to_origin, .row = to_row, .slice = to_slice};
    if (!from_origin || !to_origin || !is_region(region) || !place_box(&from_at, region) ||
        !buffer_has(from, from_at.offset, from_at.span) || !place_box(&to_at, region) ||
        !buffer_has(to, to_at.offset, to_at.span))
        return CL_INVALID_VALUE;
    if (from == to && (from_at.row != to_at.row || from_at.slice != to_at.slice))
        return CL_INVALID_VALUE;
    if (overlap(from->address + from_at.offset, from_at.span, to->address + to_at.offset, to_at.span) &&
        (from != to || boxes_overlap(from_at.offset, to_at.offset, region, from_at.row, from_at.slice)))
        return CL_MEM_COPY_OVERLAP;
    const struct box box = {.to = {to->data + to_at.offset, to_at.row, to_at.slice},
                            .from = {from->data + from_at.offset, from_at.row, from_at.slice},
                            .bytes = region[0],
                            .rows = region[1],
                            .slices = region[2]};
    const struct command_order order = {queue, CL_COMMAND_COPY_BUFFER_RECT, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, transfer_run_box, &box, sizeof box, from, to);
}

/* ---- fill ---- */

bool transfer_is_pattern(const void *pattern, size_t bytes) {
    return pattern && bytes && bytes <= PATTERN_MAX_BYTES && !(bytes & (bytes - 1));
}

struct command_end transfer_run_fill(cl_event event, struct device *device) {
    const struct pattern_fill *fill = event->work;
    size_t done = fill->pattern_bytes < fill->bytes ? fill->pattern_bytes : fill->bytes;
    memcpy(fill->data, fill->pattern, done);
    while (done < fill->bytes) { /* what is there, once more */
        const size_t more = done < fill->bytes - done ? done : fill->bytes - done;
        memcpy(fill->data + done, fill->data, more);
        done += more;
    }
    host_filled(device, fill->data, fill->bytes);
    return transfer_moved(device, fill->bytes);
}

cl_int CL_API_CALL clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                       size_t offset, size_t size, cl_uint wait_count, const cl_event *waits,
                                       cl_event *out) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return wrong;
    if (!transfer_is_pattern(pattern, pattern_bytes) || offset % pattern_bytes || size % pattern_bytes ||
        !buffer_has(buffer, offset, size))
        return CL_INVALID_VALUE;
    struct pattern_fill fill = {.pattern_bytes = pattern_bytes, .bytes = size, .data = buffer->data + offset};
    memcpy(fill.pattern, pattern, pattern_bytes);
    const struct command_order order = {queue, CL_COMMAND_FILL_BUFFER, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, transfer_run_fill, &fill, sizeof fill, buffer, NULL);
}

/* ---- map ---- */

/* Only a buffer that lives in the program's memory has anything to move. */
struct map_work {
    cl_mem buffer;
    struct mapping mapping;
};

static struct command_end run_map(cl_event event, struct device *device) {
    (void)device;
    const struct map_work *work = event->work;
    if (!buffer_has_copy(work->buffer) || work->mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION)
        return transfer_moved(device, 0);
    memcpy(work->mapping.pointer, work->buffer->data + work->mapping.offset, work->mapping.bytes);
    return transfer_moved(device, work->mapping.bytes);
}

static struct command_end run_unmap(cl_event event, struct device *device) {
    const struct map_work *work = event->work;
    if (!(work->mapping.flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)))
        return transfer_moved(device, 0);
    if (buffer_has_copy(work->buffer))
        memcpy(work->buffer->data + work->mapping.offset, work->mapping.pointer, work->mapping.bytes);
    device_written(device, work->buffer->address + work->mapping.offset, work->mapping.bytes);
    return transfer_moved(device, buffer_has_copy(work->buffer) ? work->mapping.bytes : 0);
}

cl_int transfer_check_map(const struct _cl_mem *memory, cl_map_flags flags) {
    const cl_map_flags writes = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
    if (flags & ~(writes | CL_MAP_READ) ||
        (flags & CL_MAP_WRITE_INVALIDATE_REGION && flags & (CL_MAP_READ | CL_MAP_WRITE)))
        return CL_INVALID_VALUE;
    const bool is_closed = (flags & CL_MAP_READ && memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) ||
                           (flags & writes && memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS));
    return is_closed ? CL_INVALID_OPERATION : CL_SUCCESS;
}

void *transfer_map(const struct command_order *order, cl_mem memory, size_t offset, size_t bytes, cl_map_flags flags,
                   cl_int *code) {
    struct map_work work = {.buffer = memory};
    if (!buffer_map(memory, offset, bytes, flags, &work.mapping))
        return object_refuse(code, CL_OUT_OF_HOST_MEMORY);
    const cl_int failed = transfer_submit(order, run_map, &work, sizeof work, memory, NULL);
    struct mapping gone;
    if (failed)
        buffer_unmap(memory, work.mapping.pointer, &gone);
    object_refuse(code, failed);
    return failed ? NULL : work.mapping.pointer;
}

void *CL_API_CALL clEnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint wait_count, const cl_event *waits,
                                     cl_event *out, cl_int *code) {
    if (!object_is(queue, OBJECT_QUEUE))
        return object_refuse(code, CL_INVALID_COMMAND_QUEUE);
    const cl_int wrong = check_buffer(queue, buffer);
    if (wrong)
        return object_refuse(code, wrong);
    if (!size || !buffer_has(buffer, offset, size))
        return object_refuse(code, CL_INVALID_VALUE);
    const cl_int closed = transfer_check_map(buffer, flags);
    if (closed)
        return object_refuse(code, closed);
    const struct command_order order = {queue, CL_COMMAND_MAP_BUFFER, wait_count, waits, blocking, out};
    return transfer_map(&order, buffer, offset, size, flags, code);
}

cl_int CL_API_CALL clEnqueueUnmapMemObject(cl_command_queue queue, cl_mem buffer, void *pointer, cl_uint wait_count,
                                           const cl_event *waits, cl_event *out) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    const cl_int wrong = check_memory(queue, buffer);
    if (wrong)
        return wrong;
    struct map_work work = {.buffer = buffer};
    if (!buffer_unmap(buffer, pointer, &work.mapping))
        return CL_INVALID_VALUE;
    const struct command_order order = {queue, CL_COMMAND_UNMAP_MEM_OBJECT, wait_count, waits, CL_FALSE, out};
    const cl_int failed = transfer_submit(&order, run_unmap, &work, sizeof work, buffer, NULL);
    struct mapping again;
    if (failed)
        buffer_map(buffer, work.mapping.offset, work.mapping.bytes, work.mapping.flags, &again);
    return failed;
}

cl_int CL_API_CALL clEnqueueMigrateMemObjects(cl_command_queue queue, cl_uint count, const cl_mem *memories,
                                              cl_mem_migration_flags flags, cl_uint wait_count, const cl_event *waits,
                                              cl_event *out) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    if (!count || !memories ||
        flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++) {
        const cl_int wrong = check_memory(queue, memories[i]);
        if (wrong)
            return wrong;
    }
    const struct command_order order = {queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, NULL, "", 0, NULL, NULL);
}
