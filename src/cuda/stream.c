/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/stream.h"

#include "cuda/graph.h"

enum { STREAM_LEGACY = 1, STREAM_OF_THREAD = 2, EVENT_UNTIMED = 2 };

struct stream *stream_create(struct runtime *cuda, unsigned flags, int priority) {
    struct stream **at = &cuda->first_stream;
    while (*at && (*at)->kind)
        at = &(*at)->next;
    struct stream *stream = *at ? *at : ARENA_NEW(&cuda->arena, struct stream); /* one that has ended begins anew */
    *stream = (struct stream){
        .kind = STREAM_KIND, .flags = flags, .priority = priority, .number = ++cuda->streams, .next = stream->next};
    *at = stream;
    return stream;
}

struct stream *stream_find(struct runtime *cuda, void *handle) {
    struct stream *stream = handle;
    if ((uintptr_t)handle <= STREAM_OF_THREAD)
        return cuda->first_stream;
    return stream->kind == STREAM_KIND ? stream : NULL;
}

enum cuda_error stream_submit(struct runtime *cuda, struct stream *stream, const struct stream_work *work) {
    if (!stream)
        return cudaErrorInvalidResourceHandle;
    if (!stream->capture)
        return work_run(cuda, work);
    struct graph_node *node = graph_add(stream->capture, work, stream->last.items, stream->last.count);
    stream->last = (struct graph_nodes){0}; /* events may have the old list */
    *ARENA_PUSH(&stream->capture->arena, &stream->last) = node;
    return cudaSuccess;
}

enum cuda_error stream_submit_leave(struct runtime *cuda, void *handle, const struct stream_work *work) {
    return runtime_leave(cuda, stream_submit(cuda, stream_find(cuda, handle), work));
}

/* ---- entry points: streams ---- */

static enum cuda_error make_stream(void **out, unsigned flags, int priority) {
    ENTER(cuda);
    if (!out || flags > 1)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    *out = stream_create(cuda, flags, priority);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaStreamCreate, void **out) { return make_stream(out, 0, 0); }
API(cudaStreamCreateWithFlags, void **out, unsigned flags) { return make_stream(out, flags, 0); }
API(cudaStreamCreateWithPriority, void **out, unsigned flags, int priority) {
    return make_stream(out, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority);
}

API(cudaStreamDestroy, void *handle) {
    ENTER(cuda);
    struct stream *stream = stream_find(cuda, handle);
    if (!stream || stream == cuda->first_stream)
        return runtime_leave(cuda, cudaErrorInvalidResourceHandle);
    stream->kind = 0;
    return runtime_leave(cuda, cudaSuccess);
}

/* What is there to wait for is done; `code` where the stream is a stream. A stream that is captured cannot be waited for. */
static enum cuda_error answer(void *handle, bool waits) {
    ENTER(cuda);
    const struct stream *stream = stream_find(cuda, handle);
    return runtime_leave(cuda, !stream                    ? cudaErrorInvalidResourceHandle
                               : waits && stream->capture ? cudaErrorStreamCaptureUnsupported
                                                          : cudaSuccess);
}

API_STREAM(cudaStreamSynchronize, void *handle) { return answer(handle, true); }
API_STREAM(cudaStreamQuery, void *handle) { return answer(handle, true); }
API_STREAM(cudaStreamAttachMemAsync, void *handle, void *address, size_t bytes, unsigned flags) {
    (void)address, (void)bytes, (void)flags;
    return answer(handle, false);
}
API_STREAM(cudaStreamSetAttribute, void *handle, int attribute, const void *value) {
    (void)attribute, (void)value;
    return answer(handle, false);
}
API_STREAM(cudaStreamCopyAttributes, void *to, void *from) {
    const enum cuda_error error = answer(to, false);
    return error ? error : answer(from, false);
}

API_STREAM(cudaStreamGetFlags, void *handle, unsigned *out) {
    ENTER(cuda);
    const struct stream *stream = stream_find(cuda, handle);
    if (stream && out)
        *out = stream->flags;
    return runtime_leave(cuda, stream && out ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API_STREAM(cudaStreamGetPriority, void *handle, int *out) {
    ENTER(cuda);
    const struct stream *stream = stream_find(cuda, handle);
    if (stream && out)
        *out = stream->priority;
    return runtime_leave(cuda, stream && out ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API_STREAM(cudaStreamGetId, void *handle, unsigned long long *out) {
    ENTER(cuda);
    const struct stream *stream = stream_find(cuda, handle);
    if (stream && out)
        *out = stream->number;
    return runtime_leave(cuda, stream && out ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API_STREAM(cudaStreamGetDevice, void *handle, int *out) {
    if (out)
        *out = 0;
    return out ? answer(handle, false) : runtime_note(cudaErrorInvalidValue);
}

API_STREAM(cudaStreamAddCallback, void *handle, stream_callback *callback, void *data, unsigned flags) {
    ENTER(cuda);
    if (!callback || flags)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    const struct stream_work work = {.kind = WORK_CALL, .call = {.callback = callback, .stream = handle, .data = data}};
    return stream_submit_leave(cuda, handle, &work);
}

API_STREAM(cudaLaunchHostFunc, void *handle, void (*function)(void *data), void *data) {
    ENTER(cuda);
    if (!function)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    const struct stream_work work = {.kind = WORK_CALL, .call = {.function = function, .data = data}};
    return stream_submit_leave(cuda, handle, &work);
}

/* ---- entry points: events ---- */

static struct cuda_event *event_find(void *handle) {
    struct cuda_event *event = handle;
    return event && event->kind == EVENT_KIND ? event : NULL;
}

void event_record(struct runtime *cuda, struct cuda_event *event) {
    event->is_recorded = true;
    event->at_ns = cuda->now_ns;
    event->capture = NULL;
}

API(cudaEventCreateWithFlags, void **out, unsigned flags) {
    ENTER(cuda);
    if (!out || flags > 7)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    struct cuda_event *event = cuda->ended_events;
    if (event)
        cuda->ended_events = event->next;
    else
        event = ARENA_NEW(&cuda->arena, struct cuda_event);
    *event = (struct cuda_event){.kind = EVENT_KIND, .flags = flags};
    *out = event;
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaEventCreate, void **out) { return entry_cudaEventCreateWithFlags(out, 0); }

API(cudaEventDestroy, void *handle) {
    ENTER(cuda);
    struct cuda_event *event = event_find(handle);
    if (event) {
        *event = (struct cuda_event){.next = cuda->ended_events};
        cuda->ended_events = event;
    }
    return runtime_leave(cuda, event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API_STREAM(cudaEventRecord, void *handle, void *stream_handle) {
    ENTER(cuda);
    struct cuda_event *event = event_find(handle);
    struct stream *stream = stream_find(cuda, stream_handle);
    if (!event || !stream)
        return runtime_leave(cuda, cudaErrorInvalidResourceHandle);
    event_record(cuda, event);
    event->capture = stream->capture;
    event->nodes = stream->last;
    return runtime_leave(cuda, cudaSuccess);
}

API_STREAM(cudaEventRecordWithFlags, void *handle, void *stream, unsigned flags) {
    (void)flags;
    return entry_cudaEventRecord(handle, stream);
}

static enum cuda_error answer_event(void *handle) {
    ENTER(cuda);
    const struct cuda_event *event = event_find(handle);
    return runtime_leave(cuda, !event           ? cudaErrorInvalidResourceHandle
                               : event->capture ? cudaErrorCapturedEvent
                                                : cudaSuccess);
}

API(cudaEventSynchronize, void *handle) { return answer_event(handle); }
API(cudaEventQuery, void *handle) { return answer_event(handle); }

/* Simulated time, in milliseconds. */
API(cudaEventElapsedTime, float *out, void *from_handle, void *to_handle) {
    ENTER(cuda);
    const struct cuda_event *from = event_find(from_handle), *to = event_find(to_handle);
    if (!out)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    if (!from || !to || !from->is_recorded || !to->is_recorded || (from->flags | to->flags) & EVENT_UNTIMED)
        return runtime_leave(cuda, cudaErrorInvalidResourceHandle);
    *out = (float)(((double)to->at_ns - (double)from->at_ns) * 1e-6);
    return runtime_leave(cuda, cudaSuccess);
}
EXPORT_12(entry_cudaEventElapsedTime, cudaEventElapsedTime_v2)

/* Where the event belongs to a capture, so does the stream from here on. */
API_STREAM(cudaStreamWaitEvent, void *handle, void *event_handle, unsigned flags) {
    ENTER(cuda);
    struct stream *stream = stream_find(cuda, handle);
    struct cuda_event *event = event_find(event_handle);
    if (!stream || !event)
        return runtime_leave(cuda, cudaErrorInvalidResourceHandle);
    if (event->capture && stream->capture && stream->capture != event->capture)
        return runtime_leave(cuda, cudaErrorStreamCaptureMerge);
    if (event->capture) {
        struct graph_nodes both = {0};
        stream->capture = event->capture;
        for (unsigned i = 0; i < stream->last.count; i++)
            *ARENA_PUSH(&stream->capture->arena, &both) = stream->last.items[i];
        for (unsigned i = 0; i < event->nodes.count; i++)
            *ARENA_PUSH(&stream->capture->arena, &both) = event->nodes.items[i];
        stream->last = both;
    }
    (void)flags;
    return runtime_leave(cuda, cudaSuccess);
}
