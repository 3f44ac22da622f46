/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on shared virtual memory. Mapping moves nothing: host and device see the same bytes. */
#include "opencl/svm.h"
#include "opencl/transfer.h"

static cl_int check_queue(cl_command_queue queue) {
    if (!object_is(queue, OBJECT_QUEUE))
        return CL_INVALID_COMMAND_QUEUE;
    return svm_is_supported(queue->context->device) ? CL_SUCCESS : CL_INVALID_OPERATION;
}

/* Memory that the program gave back before a command on it had its turn. */
static bool is_gone(struct device *device, const void *pointer, uint64_t bytes) {
    return !device_memory(device, (uint64_t)(uintptr_t)pointer, bytes);
}

/* ---- copy ---- */

struct svm_copy {
    struct box box;
    bool from_shared; /* box.written says it of the other side */
};

static struct command_end run_copy(cl_event event, struct device *device) {
    const struct svm_copy *copy = event->work;
    const struct box *box = &copy->box;
    if ((box->written && is_gone(device, box->to.data, box->bytes)) ||
        (copy->from_shared && is_gone(device, box->from.data, box->bytes)))
        return (struct command_end){.status = CL_OUT_OF_RESOURCES};
    return transfer_moved(device, host_move(device, box));
}

cl_int CL_API_CALL clEnqueueSVMMemcpy(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t size,
                                      cl_uint wait_count, const cl_event *waits, cl_event *out) {
    const cl_int wrong = check_queue(queue);
    if (wrong)
        return wrong;
    if (!to || !from)
        return CL_INVALID_VALUE;
    const bool to_shared = svm_has(queue->context, to, 1), from_shared = svm_has(queue->context, from, 1);
    if ((to_shared && !svm_has(queue->context, to, size)) || (from_shared && !svm_has(queue->context, from, size)))
        return CL_INVALID_VALUE;
    const uintptr_t a = (uintptr_t)to, b = (uintptr_t)from;
    if (a - b < size || b - a < size)
        return CL_MEM_COPY_OVERLAP;
    const struct svm_copy copy = {.box = {.to = {.data = to},
                                          .from = {.data = (uint8_t *)b},
                                          .bytes = size,
                                          .rows = 1,
                                          .slices = 1,
                                          .written = to_shared ? a : 0},
                                  .from_shared = from_shared};
    const struct command_order order = {queue, CL_COMMAND_SVM_MEMCPY, wait_count, waits, blocking, out};
    return transfer_submit(&order, run_copy, &copy, sizeof copy, NULL, NULL);
}

/* ---- fill ---- */

static struct command_end run_fill(cl_event event, struct device *device) {
    const struct pattern_fill *fill = event->work;
    if (is_gone(device, fill->data, fill->bytes))
        return (struct command_end){.status = CL_OUT_OF_RESOURCES};
    return transfer_run_fill(event, device);
}

cl_int CL_API_CALL clEnqueueSVMMemFill(cl_command_queue queue, void *pointer, const void *pattern, size_t pattern_bytes,
                                       size_t size, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    const cl_int wrong = check_queue(queue);
    if (wrong)
        return wrong;
    if (!pointer || !transfer_is_pattern(pattern, pattern_bytes) || size % pattern_bytes ||
        (uintptr_t)pointer % pattern_bytes || !svm_has(queue->context, pointer, size))
        return CL_INVALID_VALUE;
    struct pattern_fill fill = {.pattern_bytes = pattern_bytes, .bytes = size, .data = pointer};
    memcpy(fill.pattern, pattern, pattern_bytes);
    const struct command_order order = {queue, CL_COMMAND_SVM_MEMFILL, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, run_fill, &fill, sizeof fill, NULL, NULL);
}

/* ---- map ---- */

static struct command_end run_map(cl_event event, struct device *device) {
    (void)event;
    return transfer_moved(device, 0);
}

static struct command_end run_unmap(cl_event event, struct device *device) {
    const struct svm_mapping *mapping = event->work;
    if (mapping->flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) &&
        !is_gone(device, mapping->pointer, mapping->bytes))
        device_written(device, (uint64_t)(uintptr_t)mapping->pointer, mapping->bytes);
    return transfer_moved(device, 0);
}

/* False: the host has no memory. */
static bool add_mapping(cl_context context, const struct svm_mapping *like) {
    pthread_mutex_lock(&context->engine.lock);
    struct svm_range *range = svm_find(context, like->pointer);
    struct svm_mapping *mapping = context->unused_svm_mappings;
    if (mapping)
        context->unused_svm_mappings = mapping->next;
    else
        mapping = object_alloc(&context->object, sizeof *mapping);
    if (mapping && range) {
        *mapping = *like;
        mapping->next = range->mappings;
        range->mappings = mapping;
    }
    pthread_mutex_unlock(&context->engine.lock);
    return mapping && range;
}

static bool take_mapping(cl_context context, const void *pointer, struct svm_mapping *out) {
    pthread_mutex_lock(&context->engine.lock);
    struct svm_range *range = svm_find(context, pointer);
    struct svm_mapping **at = range ? &range->mappings : NULL;
    while (at && *at && (*at)->pointer != pointer)
        at = &(*at)->next;
    struct svm_mapping *found = at ? *at : NULL;
    if (found) {
        *out = *found;
        *at = found->next;
        found->next = context->unused_svm_mappings;
        context->unused_svm_mappings = found;
    }
    pthread_mutex_unlock(&context->engine.lock);
    return found != NULL;
}

cl_int CL_API_CALL clEnqueueSVMMap(cl_command_queue queue, cl_bool blocking, cl_map_flags flags, void *pointer,
                                   size_t size, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    const cl_int wrong = check_queue(queue);
    if (wrong)
        return wrong;
    if (!pointer || !size || !svm_has(queue->context, pointer, size) ||
        transfer_check_map(&(struct _cl_mem){.flags = 0}, flags))
        return CL_INVALID_VALUE;
    const struct command_order order = {queue, CL_COMMAND_SVM_MAP, wait_count, waits, blocking, out};
    const struct svm_mapping mapping = {.pointer = pointer, .bytes = size, .flags = flags};
    struct svm_mapping gone;
    if (!add_mapping(queue->context, &mapping))
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int failed = transfer_submit(&order, run_map, "", 0, NULL, NULL);
    if (failed)
        take_mapping(queue->context, pointer, &gone);
    return failed;
}

cl_int CL_API_CALL clEnqueueSVMUnmap(cl_command_queue queue, void *pointer, cl_uint wait_count, const cl_event *waits,
                                     cl_event *out) {
    struct svm_mapping mapping;
    const cl_int wrong = check_queue(queue);
    if (wrong)
        return wrong;
    if (!pointer || !take_mapping(queue->context, pointer, &mapping))
        return CL_INVALID_VALUE;
    const struct command_order order = {queue, CL_COMMAND_SVM_UNMAP, wait_count, waits, CL_FALSE, out};
    const cl_int failed = transfer_submit(&order, run_unmap, &mapping, sizeof mapping, NULL, NULL);
    if (failed)
        add_mapping(queue->context, &mapping);
    return failed;
}

/* ---- free, migrate ---- */

typedef void(CL_CALLBACK *svm_free_function)(cl_command_queue, cl_uint, void *[], void *);

struct svm_free {
    svm_free_function function; /* NULL: clSVMFree */
    void *user;
    cl_uint count;
    void **pointers; /* in the event's arena */
};

static struct command_end run_free(cl_event event, struct device *device) {
    const struct svm_free *work = event->work;
    engine_lend(&event->context->engine, true); /* whoever frees memory asks for the device, which is this thread's */
    if (work->function)
        work->function(event->queue, work->count, work->pointers, work->user);
    for (cl_uint i = 0; !work->function && i < work->count; i++)
        clSVMFree(event->context, work->pointers[i]);
    engine_lend(&event->context->engine, false);
    return transfer_moved(device, 0);
}

cl_int CL_API_CALL clEnqueueSVMFree(cl_command_queue queue, cl_uint count, void *pointers[], svm_free_function function,
                                    void *user, cl_uint wait_count, const cl_event *waits, cl_event *out) {
    cl_int wrong = check_queue(queue);
    if (wrong)
        return wrong;
    if (!count != !pointers)
        return CL_INVALID_VALUE;
    cl_event event = event_create(queue, CL_COMMAND_SVM_FREE, wait_count, waits, sizeof(struct svm_free), &wrong);
    if (!event)
        return wrong;
    const struct svm_free work = {function, user, count, object_alloc(&event->object, (count + 1u) * sizeof(void *))};
    if (!work.pointers) {
        event_release(event);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (cl_uint i = 0; i < count; i++)
        work.pointers[i] = pointers[i];
    memcpy(event->work, &work, sizeof work);
    event->run = run_free;
    return event_submit(event, CL_FALSE, out);
}

cl_int CL_API_CALL clEnqueueSVMMigrateMem(cl_command_queue queue, cl_uint count, const void **pointers,
                                          const size_t *sizes, cl_mem_migration_flags flags, cl_uint wait_count,
                                          const cl_event *waits, cl_event *out) {
    const cl_int wrong = check_queue(queue);
    if (wrong)
        return wrong;
    if (!count || !pointers ||
        flags & ~(cl_mem_migration_flags)(CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED))
        return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; i++)
        if (!svm_has(queue->context, pointers[i], sizes ? sizes[i] : 0))
            return CL_INVALID_VALUE;
    const struct command_order order = {queue, CL_COMMAND_SVM_MIGRATE_MEM, wait_count, waits, CL_FALSE, out};
    return transfer_submit(&order, NULL, "", 0, NULL, NULL);
}
