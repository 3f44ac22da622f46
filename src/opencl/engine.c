/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/engine.h"

#include <signal.h>

#include "opencl/event.h"

enum { WAITING_MAX = 1024 }; /* commands that wait for a flush; with more it comes by itself */

bool engine_create(struct engine *engine, cl_context context, struct report *report) {
    engine->context = context;
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->changed, NULL);
    engine->now_ns = 1; /* programs take a time of 0 for none */
    return device_create(&engine->device, &context->device->machine, report) == STATUS_OK;
}

bool engine_is_inside(struct engine *engine) {
    return engine->has_thread && pthread_equal(engine->thread, pthread_self());
}

void engine_destroy(struct engine *engine) {
    pthread_mutex_lock(&engine->lock);
    engine->quit = true;
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
    if (engine->has_thread && !engine_is_inside(engine))
        pthread_join(engine->thread, NULL);
    else if (engine->has_thread)
        pthread_detach(engine->thread); /* and returns after this */
    device_destroy(engine->device);
    pthread_cond_destroy(&engine->changed);
    pthread_mutex_destroy(&engine->lock);
}

/* The lock is held. */
static bool has_borrowed(const struct engine *engine) {
    return engine->is_lent && pthread_equal(engine->borrower, pthread_self());
}

void engine_lend(struct engine *engine, bool is_lent) {
    pthread_mutex_lock(&engine->lock);
    engine->is_lent = is_lent;
    engine->borrower = pthread_self();
    pthread_mutex_unlock(&engine->lock);
}

void engine_acquire(struct engine *engine) {
    pthread_mutex_lock(&engine->lock);
    while (engine->busy && !has_borrowed(engine))
        pthread_cond_wait(&engine->changed, &engine->lock);
    engine->busy = true;
    pthread_mutex_unlock(&engine->lock);
}

void engine_give_back(struct engine *engine) {
    pthread_mutex_lock(&engine->lock);
    engine->busy = has_borrowed(engine);
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- which command is next ---- */

static bool events_ended(const struct _cl_event *command) {
    for (cl_uint i = 0; i < command->wait_count; i++)
        if (command->waits[i]->status > CL_COMPLETE)
            return false;
    return true;
}

/* The first command that may start, taken out of the list; NULL: none. */
static cl_event take_ready(struct engine *engine) {
    const uint64_t scan = ++engine->scan;
    cl_event before = NULL;
    for (cl_event command = engine->first; command; before = command, command = command->next) {
        cl_command_queue queue = command->queue;
        const bool in_order = !(queue->properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        const bool is_first = queue->seen != scan;
        const bool may_start = queue->blocked != scan && (is_first || !command->waits_for_queue);
        queue->seen = scan;
        if (may_start && events_ended(command)) {
            if (before)
                before->next = command->next;
            else
                engine->first = command->next;
            if (engine->last == command)
                engine->last = before;
            engine->waiting--;
            command->next = NULL;
            return command;
        }
        if (in_order || command->is_barrier)
            queue->blocked = scan;
    }
    return NULL;
}

/* ---- carrying out ---- */

static void set_status(struct engine *engine, cl_event event, cl_int status) {
    event->status = status;
    event_status_changed(engine, event);
}

static bool an_event_failed(const struct _cl_event *command) {
    for (cl_uint i = 0; i < command->wait_count; i++)
        if (command->waits[i]->status < 0)
            return true;
    return false;
}

/* Carries out a command that take_ready gave. The lock is held at entry and exit, not meanwhile. */
static void carry_out(struct engine *engine, cl_event command) {
    struct command_end end = {.status = CL_COMPLETE};
    engine->busy = true;
    command->times[TIME_SUBMIT] = command->times[TIME_START] = engine->now_ns;
    if (an_event_failed(command))
        end.status = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    else if (engine->lost && command->run)
        end.status = CL_OUT_OF_RESOURCES;
    set_status(engine, command, CL_SUBMITTED);
    set_status(engine, command, CL_RUNNING);
    if (end.status == CL_COMPLETE && command->run) {
        pthread_mutex_unlock(&engine->lock);
        end = command->run(command, engine->device);
        pthread_mutex_lock(&engine->lock);
    }
    engine->lost |= end.lost;
    engine->now_ns += end.ns;
    command->times[TIME_END] = engine->now_ns;
    engine->busy = false;
    command->queue->pending--;
    set_status(engine, command, end.status);
    pthread_cond_broadcast(&engine->changed);
    pthread_mutex_unlock(&engine->lock);
    event_let_go(command);
    event_release(command);
    pthread_mutex_lock(&engine->lock);
}

/* One step towards an end that the caller waits for, or a rest until something changes. The lock is held. */
static void advance(struct engine *engine) {
    cl_event command = engine->busy ? NULL : take_ready(engine);
    if (command)
        carry_out(engine, command);
    else
        pthread_cond_wait(&engine->changed, &engine->lock);
}

void engine_wait(struct engine *engine, cl_event event) {
    pthread_mutex_lock(&engine->lock);
    while (event->status > CL_COMPLETE)
        advance(engine);
    pthread_mutex_unlock(&engine->lock);
}

void engine_finish(struct engine *engine, cl_command_queue queue) {
    pthread_mutex_lock(&engine->lock);
    while (queue->pending)
        advance(engine);
    pthread_mutex_unlock(&engine->lock);
}

/* ---- the thread ---- */

/* Calls what is due of the first event in the list. The lock is held at entry and exit, not meanwhile. */
static void call_callbacks(struct engine *engine) {
    cl_event event = engine->called_first;
    engine->called_first = event->call_next;
    if (!engine->called_first)
        engine->called_last = NULL;
    event->is_called = false;
    for (struct callback *callback = event->callbacks; callback; callback = callback->next) {
        if (!callback->is_due || !callback->function)
            continue;
        event_callback function = callback->function;
        callback->function = NULL;
        const cl_int status = callback->at > CL_COMPLETE ? callback->at : event->status;
        pthread_mutex_unlock(&engine->lock);
        function(event, status, callback->data);
        pthread_mutex_lock(&engine->lock);
    }
    pthread_mutex_unlock(&engine->lock);
    event_release(event);
    pthread_mutex_lock(&engine->lock);
}

static void *engine_thread(void *argument) {
    cl_context context = argument;
    struct engine *engine = &context->engine;
    pthread_mutex_lock(&engine->lock);
    while (!engine->quit) {
        cl_event command = NULL;
        if (engine->called_first) {
            call_callbacks(engine);
            continue;
        }
        if (engine->flushed && !engine->busy)
            command = take_ready(engine);
        if (command)
            carry_out(engine, command);
        else
            pthread_cond_wait(&engine->changed, &engine->lock);
        engine->flushed = engine->flushed && engine->first;
    }
    const bool ends_context = engine->ends_itself;
    pthread_mutex_unlock(&engine->lock);
    if (ends_context)
        context_destroy(context);
    return NULL;
}

/* Wakes the thread, made when it is first needed. The lock is held. */
static void wake_thread(struct engine *engine) {
    if (engine->has_thread) {
        pthread_cond_broadcast(&engine->changed);
        return;
    }
    sigset_t all, before; /* signals are the program's */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    engine->has_thread = pthread_create(&engine->thread, NULL, engine_thread, engine->context) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void engine_call_back(struct engine *engine, cl_event event) {
    if (event->is_called)
        return;
    object_retain(&event->object);
    event->is_called = true;
    event->call_next = NULL;
    if (engine->called_last)
        engine->called_last->call_next = event;
    else
        engine->called_first = event;
    engine->called_last = event;
    wake_thread(engine);
}

static void flush_locked(struct engine *engine) {
    if (!engine->first || engine->flushed)
        return;
    engine->flushed = true;
    wake_thread(engine);
}

void engine_flush(struct engine *engine) {
    pthread_mutex_lock(&engine->lock);
    flush_locked(engine);
    pthread_mutex_unlock(&engine->lock);
}

void engine_submit(struct engine *engine, cl_event event) {
    pthread_mutex_lock(&engine->lock);
    event->times[TIME_QUEUED] = engine->now_ns;
    event->queue->pending++;
    if (engine->last)
        engine->last->next = event;
    else
        engine->first = event;
    engine->last = event;
    if (++engine->waiting >= WAITING_MAX)
        flush_locked(engine);
    pthread_mutex_unlock(&engine->lock);
}

bool engine_end_user_event(struct engine *engine, cl_event event, cl_int status) {
    pthread_mutex_lock(&engine->lock);
    const bool is_first = event->status > CL_COMPLETE;
    if (is_first) {
        set_status(engine, event, status);
        pthread_cond_broadcast(&engine->changed);
    }
    pthread_mutex_unlock(&engine->lock);
    return is_first;
}

void engine_leave(struct engine *engine) {
    pthread_mutex_lock(&engine->lock);
    engine->quit = engine->ends_itself = true;
    pthread_mutex_unlock(&engine->lock);
}
