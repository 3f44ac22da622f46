/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that move bytes, for buffers and for images. */
#ifndef HEDDLE_OPENCL_TRANSFER_H
#define HEDDLE_OPENCL_TRANSFER_H

#include "device/host.h"
#include "opencl/buffer.h"
#include "opencl/event.h"

/* It takes as long as the DRAM at its best. */
struct command_end transfer_moved(const struct device *device, uint64_t bytes);
/* event->work: a struct box. */
struct command_end transfer_run_box(cl_event event, struct device *device);
/* Maps bytes of a memory object, which may be mapped so: their pointer, or NULL and *code says why. */
void *transfer_map(const struct command_order *order, cl_mem memory, size_t offset, size_t bytes, cl_map_flags flags,
                   cl_int *code);
/* A pattern of 1 to PATTERN_MAX_BYTES bytes, a power of two. */
enum { PATTERN_MAX_BYTES = 128 };
struct pattern_fill {
    uint8_t pattern[PATTERN_MAX_BYTES];
    size_t pattern_bytes, bytes;
    uint8_t *data;
};
bool transfer_is_pattern(const void *pattern, size_t bytes);
/* event->work: a struct pattern_fill. */
struct command_end transfer_run_fill(cl_event event, struct device *device);
cl_int transfer_submit(const struct command_order *order, struct command_end (*run)(cl_event, struct device *),
                       const void *work, size_t work_bytes, cl_mem a, cl_mem b);
/* A memory object of the queue's context, an image or not. */
cl_int transfer_check(cl_command_queue queue, cl_mem memory, bool is_image);
/* What may be mapped so. */
cl_int transfer_check_map(const struct _cl_mem *memory, cl_map_flags flags);

#endif
