/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's command queues. */
#ifndef HEDDLE_OPENCL_QUEUE_H
#define HEDDLE_OPENCL_QUEUE_H

#include "opencl/context.h"

struct _cl_command_queue {
    struct object object;
    cl_context context;
    cl_command_queue_properties properties;
    cl_queue_properties *list; /* as given to clCreateCommandQueueWithProperties */
    size_t list_count;
    /* under the engine's lock */
    unsigned pending;       /* commands that have not ended */
    uint64_t seen, blocked; /* number of the scan in which a command before was met, or one that holds the rest back */
};

void queue_release(cl_command_queue queue);

#endif
