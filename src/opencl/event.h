/* SPDX-License-Identifier: Apache-2.0 */
/* Events: a command on its way and how it ended, or something the program says itself. */
#ifndef HEDDLE_OPENCL_EVENT_H
#define HEDDLE_OPENCL_EVENT_H

#include "opencl/context.h"
#include "opencl/queue.h"

typedef void(CL_CALLBACK *event_callback)(cl_event event, cl_int status, void *data);

struct callback {
    event_callback function;
    void *data;
    cl_int at;   /* the status that it waits for */
    bool is_due; /* handed to the engine's thread */
    struct callback *next;
};

enum { TIME_QUEUED, TIME_SUBMIT, TIME_START, TIME_END, TIMES };

/* What a command did with the device: its end, and how long it took in simulated time. */
struct command_end {
    cl_int status; /* CL_COMPLETE, or an error */
    uint64_t ns;
    bool lost; /* the device cannot go on */
};

struct _cl_event {
    struct object object;
    cl_context context;
    cl_command_queue queue; /* NULL: a user's event */
    cl_command_type type;
    cl_int status;
    uint64_t times[TIMES];
    struct callback *callbacks;
    bool is_called; /* in the engine's list of events with callbacks that are due */
    cl_event call_next;

    /* the command */
    const cl_event *waits; /* a reference to each */
    cl_uint wait_count;
    bool waits_for_queue; /* a barrier, or a marker without events: everything before it in its queue */
    bool is_barrier;      /* nothing behind it in its queue starts before it ended */
    struct command_end (*run)(cl_event event, struct device *device); /* NULL: there is nothing to do */
    void *work;
    struct object **held; /* objects that it uses, a reference to each */
    cl_uint held_count;
    cl_event next;
};

/* What every enqueue function is given of its command. */
struct command_order {
    cl_command_queue queue;
    cl_command_type type;
    cl_uint wait_count;
    const cl_event *waits;
    cl_bool blocking;
    cl_event *out; /* NULL: nobody asked for the event */
};

/* A command for this queue with one reference, its events checked; NULL with the error in *code. A reference to each
 * event is kept. */
cl_event event_create(cl_command_queue queue, cl_command_type type, cl_uint wait_count, const cl_event *waits,
                      size_t work_bytes, cl_int *code);
/* Keeps an object until the command has ended. False: the host has no memory. */
bool event_hold(cl_event event, void *const *objects, cl_uint count);
void event_release(cl_event event);
/* Lets go of what the command kept. Not under the engine's lock. */
void event_let_go(cl_event event);
/* Submits a command. blocking: waits for its end, whose error it returns. *out, where given, gets the event. */
cl_int event_submit(cl_event event, cl_bool blocking, cl_event *out);
/* Marks callbacks that wait for the event's status as due; the engine's lock is held. */
void event_status_changed(struct engine *engine, cl_event event);

#endif
