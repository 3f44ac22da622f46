/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a context and who carries them out.
 *
 * A context has one simulated device, which does one thing at a time. Commands stand in the order they were enqueued;
 * the first whose queue and events allow it runs next, so a program that does the same calls gets the same results.
 * Whoever waits (clFinish, clWaitForEvents, a blocking call) carries out commands itself; a thread of the engine does
 * it when nobody waits (clFlush, callbacks), and it alone calls the callbacks of the program. */
#ifndef HEDDLE_OPENCL_ENGINE_H
#define HEDDLE_OPENCL_ENGINE_H

#include <pthread.h>

#include "device/device.h"
#include "opencl/object.h"

struct engine {
    cl_context context;
    pthread_mutex_t lock; /* guards all of this, and the status, times and callbacks of the context's events */
    pthread_cond_t changed;
    struct device *device; /* only for who has `busy` */
    bool busy;             /* somebody is at the device */
    bool lost;             /* a launch stopped in the middle: nothing more runs */
    bool flushed;          /* the thread is to carry out what can be */
    bool has_thread, quit, ends_itself;
    pthread_t thread;
    bool is_lent; /* who is at the device calls a function of the program, which may ask for the device too */
    pthread_t borrower;
    cl_event first, last;               /* commands that have not started */
    unsigned waiting;                   /* how many */
    cl_event called_first, called_last; /* events with callbacks to be called */
    uint64_t now_ns;                    /* the device's clock */
    uint64_t scan;
};

/* False: the host refused. */
bool engine_create(struct engine *engine, cl_context context, struct report *report);
/* Ends the thread and the device. */
void engine_destroy(struct engine *engine);
/* Whether the caller is the engine's thread, which cannot wait for its own end: it is told by engine_leave to end the
 * context when it has come out of what it is doing. */
bool engine_is_inside(struct engine *engine);
void engine_leave(struct engine *engine);

/* Nobody else is at the device between these two. */
void engine_acquire(struct engine *engine);
void engine_give_back(struct engine *engine);
/* Who has the device calls a function of the program meanwhile: it may acquire the device, which then stays with the caller. */
void engine_lend(struct engine *engine, bool is_lent);

/* Appends a command; takes over one reference to the event. */
void engine_submit(struct engine *engine, cl_event event);
/* Has commands carried out without anybody waiting. */
void engine_flush(struct engine *engine);
/* Returns when the event has ended. */
void engine_wait(struct engine *engine, cl_event event);
/* Returns when all commands of the queue have ended. */
void engine_finish(struct engine *engine, cl_command_queue queue);
/* Ends a user's event. False: it had ended already. */
bool engine_end_user_event(struct engine *engine, cl_event event, cl_int status);
/* Hands an event whose callbacks are due to the thread; the lock is held. */
void engine_call_back(struct engine *engine, cl_event event);

#endif
