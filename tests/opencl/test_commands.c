/* SPDX-License-Identifier: Apache-2.0 */
/* Events, order, callbacks, threads. */
#include "opencl_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static const char *const source = "kernel void append(global int *p, int digit) { p[0] = p[0] * 10 + digit; }\n"
                                  "kernel void count(global int *p, int n) { for (int i = 0; i < n; i++)\n"
                                  "atomic_inc(&p[get_global_id(0) & 15]); }\n"
                                  "kernel void nothing(void) {}\n";

struct digits {
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
};

static struct digits digits_open(struct fixture *f) {
    cl_int code;
    struct digits d = {.program = fixture_build(f, source, NULL), .buffer = fixture_buffer(f, 64)};
    d.kernel = clCreateKernel(d.program, "append", &code);
    OK(code);
    OK(clSetKernelArg(d.kernel, 0, sizeof d.buffer, &d.buffer));
    OK(clEnqueueFillBuffer(f->queue, d.buffer, "\0", 1, 0, 64, 0, NULL, NULL));
    OK(clFinish(f->queue));
    return d;
}

static void digits_close(struct digits *d) {
    OK(clReleaseKernel(d->kernel));
    OK(clReleaseProgram(d->program));
    OK(clReleaseMemObject(d->buffer));
}

static void append(struct digits *d, cl_command_queue queue, int digit, cl_uint count, const cl_event *waits,
                   cl_event *event) {
    const size_t one = 1;
    OK(clSetKernelArg(d->kernel, 1, sizeof digit, &digit));
    OK(clEnqueueNDRangeKernel(queue, d->kernel, 1, NULL, &one, &one, count, waits, event));
}

static int value(struct fixture *f, struct digits *d) {
    int out = 0;
    OK(clEnqueueReadBuffer(f->queue, d->buffer, CL_TRUE, 0, 4, &out, 0, NULL, NULL));
    return out;
}

static void events(void **state) {
    struct fixture *f = *state;
    struct digits d = digits_open(f);
    cl_event event;
    append(&d, f->queue, 1, 0, NULL, &event);
    assert_ptr_equal(ASK(cl_command_queue, clGetEventInfo, event, CL_EVENT_COMMAND_QUEUE), f->queue);
    assert_ptr_equal(ASK(cl_context, clGetEventInfo, event, CL_EVENT_CONTEXT), f->context);
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, event, CL_EVENT_COMMAND_TYPE), CL_COMMAND_NDRANGE_KERNEL);
    if (f->is_heddle)
        IS(CL_INVALID_VALUE, clGetEventInfo(event, 0x1, 0, NULL, NULL));
    OK(clRetainEvent(event));
    OK(clReleaseEvent(event));
    OK(clWaitForEvents(1, &event));
    assert_int_equal(status_of(event), CL_COMPLETE);
    cl_ulong times[4];
    const cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                       CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    for (unsigned i = 0; i < 4; i++)
        times[i] = ASK(cl_ulong, clGetEventProfilingInfo, event, names[i]);
    assert_true(times[0] <= times[1] && times[1] <= times[2] && times[2] < times[3]);
    if (f->is_heddle)
        IS(CL_INVALID_VALUE, clGetEventProfilingInfo(event, 0x1, 0, NULL, NULL));
    IS(CL_INVALID_VALUE, clWaitForEvents(0, NULL));
    if (f->is_heddle) {
        const cl_event none[] = {event, NULL};
        IS(CL_INVALID_EVENT, clWaitForEvents(2, none));
    }
    IS(CL_INVALID_EVENT, clSetUserEventStatus(event, CL_COMPLETE)); /* not a user's */
    OK(clReleaseEvent(event));
    cl_int code;
    cl_command_queue plain = clCreateCommandQueue(f->context, f->device, 0, &code);
    OK(code);
    OK(clEnqueueMarkerWithWaitList(plain, 0, NULL, &event));
    OK(clFinish(plain));
    cl_ulong time;
    IS(CL_PROFILING_INFO_NOT_AVAILABLE,
       clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, NULL));
    OK(clReleaseEvent(event));
    OK(clReleaseCommandQueue(plain));
    digits_close(&d);
}

static void user_events(void **state) {
    struct fixture *f = *state;
    struct digits d = digits_open(f);
    cl_int code;
    cl_event gate = clCreateUserEvent(f->context, &code), first, second;
    OK(code);
    assert_int_equal(status_of(gate), CL_SUBMITTED);
    assert_int_equal(ASK(cl_command_type, clGetEventInfo, gate, CL_EVENT_COMMAND_TYPE), CL_COMMAND_USER);
    assert_null(ASK(cl_command_queue, clGetEventInfo, gate, CL_EVENT_COMMAND_QUEUE));
    append(&d, f->queue, 1, 1, &gate, &first);
    append(&d, f->queue, 2, 0, NULL, &second); /* behind it in the queue */
    OK(clFlush(f->queue));
    assert_true(status_of(first) > CL_COMPLETE);
    assert_true(status_of(second) > CL_COMPLETE);
    IS(CL_INVALID_VALUE, clSetUserEventStatus(gate, CL_RUNNING));
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    IS(CL_INVALID_OPERATION, clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clWaitForEvents(1, &second));
    assert_int_equal(value(f, &d), 12);
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(first));
    OK(clReleaseEvent(second));
    if (!f->is_heddle) { /* PoCL 3.1 waits for ever */
        digits_close(&d);
        return;
    }
    /* a gate that fails takes with it what waits for it */
    gate = clCreateUserEvent(f->context, &code);
    append(&d, f->unordered, 3, 1, &gate, &first);
    OK(clSetUserEventStatus(gate, -77));
    IS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, &first));
    assert_true(status_of(first) < 0);
    OK(clFinish(f->unordered));
    assert_int_equal(value(f, &d), 12);
    int out;
    IS(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
       clEnqueueReadBuffer(f->unordered, d.buffer, CL_TRUE, 0, 4, &out, 1, &gate, NULL));
    OK(clReleaseEvent(gate));
    OK(clReleaseEvent(first));
    digits_close(&d);
}

/* Out of order: what waits does not hold up the rest, barriers and markers do what they say. */
static void order(void **state) {
    struct fixture *f = *state;
    struct digits d = digits_open(f);
    cl_int code;
    if (!f->is_heddle) { /* another runtime may take its own time */
        digits_close(&d);
        return;
    }
    cl_event gate = clCreateUserEvent(f->context, &code), late, marker, free_marker, barrier;
    append(&d, f->unordered, 1, 1, &gate, &late);
    OK(clEnqueueMarkerWithWaitList(f->unordered, 0, NULL, &marker));
    append(&d, f->unordered, 2, 0, NULL, &free_marker);
    OK(clWaitForEvents(1, &free_marker));
    assert_int_equal(value(f, &d), 2);
    assert_true(status_of(marker) > CL_COMPLETE); /* it waits for all before it */
    OK(clReleaseEvent(free_marker));
    OK(clEnqueueBarrierWithWaitList(f->unordered, 0, NULL, &barrier));
    append(&d, f->unordered, 3, 0, NULL, NULL);
    OK(clFlush(f->unordered));
    assert_true(status_of(barrier) > CL_COMPLETE);
    assert_int_equal(value(f, &d), 2);
    OK(clSetUserEventStatus(gate, CL_COMPLETE));
    OK(clFinish(f->unordered));
    assert_int_equal(value(f, &d), 213);
    IS(CL_INVALID_VALUE, clEnqueueMarker(f->queue, NULL));
    cl_event old;
    OK(clEnqueueMarker(f->queue, &old));
    OK(clEnqueueBarrier(f->queue));
    OK(clEnqueueWaitForEvents(f->queue, 1, &late));
    IS(CL_INVALID_VALUE, clEnqueueWaitForEvents(f->queue, 0, NULL));
    OK(clFinish(f->queue));
    cl_event all[] = {gate, late, marker, barrier, old};
    for (unsigned i = 0; i < 5; i++)
        OK(clReleaseEvent(all[i]));
    digits_close(&d);
}

/* A command of one queue waits for one of another. */
static void queues_wait_for_each_other(void **state) {
    struct fixture *f = *state;
    struct digits d = digits_open(f);
    cl_int code;
    cl_command_queue other = clCreateCommandQueue(f->context, f->device, 0, &code);
    OK(code);
    cl_event step = NULL;
    for (int i = 1; i <= 8; i++) {
        cl_event next;
        append(&d, i % 2 ? other : f->queue, i, step ? 1 : 0, step ? &step : NULL, &next);
        OK(clFlush(i % 2 ? other : f->queue));
        if (step)
            OK(clReleaseEvent(step));
        step = next;
    }
    OK(clWaitForEvents(1, &step));
    OK(clReleaseEvent(step));
    assert_int_equal(value(f, &d), 12345678);
    OK(clReleaseCommandQueue(other));
    digits_close(&d);
}

static atomic_uint called;
static atomic_int last_status;
static void CL_CALLBACK on_event(cl_event event, cl_int status, void *user) {
    (void)event;
    atomic_store(&last_status, status);
    atomic_fetch_add(&called, *(unsigned *)user);
}

static void wait_until_called(unsigned expected) {
    for (unsigned i = 0; i < 5000 && atomic_load(&called) != expected; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(atomic_load(&called), expected);
}

static void callbacks(void **state) {
    struct fixture *f = *state;
    struct digits d = digits_open(f);
    cl_int code;
    static unsigned one = 1, ten = 10, hundred = 100;
    cl_event gate = clCreateUserEvent(f->context, &code), event;
    OK(code);
    append(&d, f->queue, 1, 1, &gate, &event);
    atomic_store(&called, 0);
    OK(clSetEventCallback(event, CL_COMPLETE, on_event, &one));
    OK(clSetEventCallback(event, CL_RUNNING, on_event, &ten));
    OK(clSetEventCallback(event, CL_SUBMITTED, on_event, &hundred));
    IS(CL_INVALID_VALUE, clSetEventCallback(event, CL_COMPLETE, NULL, NULL));
    IS(CL_INVALID_VALUE, clSetEventCallback(event, 12, on_event, &one));
    OK(clSetUserEventStatus(gate, CL_COMPLETE)); /* nobody waits: it must come by itself */
    wait_until_called(111);
    OK(clSetEventCallback(event, CL_COMPLETE, on_event, &one)); /* of one that has ended */
    wait_until_called(112);
    assert_int_equal(atomic_load(&last_status), CL_COMPLETE);
    OK(clReleaseEvent(event));
    OK(clReleaseEvent(gate));
    if (!f->is_heddle) { /* PoCL 3.1 does not call back */
        digits_close(&d);
        return;
    }
    gate = clCreateUserEvent(f->context, &code);
    OK(clSetEventCallback(gate, CL_COMPLETE, on_event, &one));
    OK(clSetUserEventStatus(gate, -5));
    wait_until_called(113);
    assert_int_equal(atomic_load(&last_status), -5);
    OK(clReleaseEvent(gate));
    digits_close(&d);
}

struct chain {
    struct fixture *fixture;
    cl_mem buffer;
    cl_kernel kernel;
    atomic_int left;
};

/* A callback that enqueues more and releases what it was given. */
static void CL_CALLBACK on_link(cl_event event, cl_int status, void *user) {
    struct chain *chain = user;
    (void)event, (void)status;
    if (atomic_fetch_sub(&chain->left, 1) <= 1)
        return;
    cl_event next;
    const size_t one = 1;
    clEnqueueNDRangeKernel(chain->fixture->queue, chain->kernel, 1, NULL, &one, NULL, 0, NULL, &next);
    clSetEventCallback(next, CL_COMPLETE, on_link, chain);
    clReleaseEvent(next);
    clFlush(chain->fixture->queue);
}

static void callbacks_enqueue(void **state) {
    struct fixture *f = *state;
    struct digits d = digits_open(f);
    const int digit = 1;
    OK(clSetKernelArg(d.kernel, 1, sizeof digit, &digit));
    struct chain chain = {.fixture = f, .kernel = d.kernel, .left = 6};
    on_link(NULL, CL_COMPLETE, &chain);
    for (unsigned i = 0; i < 5000 && atomic_load(&chain.left) > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_int_equal(value(f, &d), 11111);
    digits_close(&d);
}

/* The last reference to everything may go in a callback. */
static void CL_CALLBACK on_last(cl_event event, cl_int status, void *user) {
    (void)status;
    atomic_store((atomic_int *)user, 1);
    clReleaseEvent(event);
}

static void context_ends_in_a_callback(void **state) {
    struct fixture *f = *state;
    cl_int code;
    for (unsigned i = 0; i < 20 && f->is_heddle; i++) { /* PoCL 3.1 ends the process */
        cl_context context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &code);
        OK(code);
        cl_event gate = clCreateUserEvent(context, &code);
        OK(code);
        static atomic_int ended;
        atomic_store(&ended, 0);
        OK(clSetEventCallback(gate, CL_COMPLETE, on_last, &ended));
        OK(clReleaseContext(context));
        OK(clSetUserEventStatus(gate, CL_COMPLETE));
        for (unsigned k = 0; k < 5000 && !atomic_load(&ended); k++)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        assert_int_equal(atomic_load(&ended), 1);
    }
}

enum { THREADS = 16, ROUNDS = 20 };

struct worker {
    struct fixture *fixture;
    cl_program program; /* NULL: it builds its own, as others do at the same time */
    cl_mem shared;
    bool failed;
};

static void *work(void *argument) {
    struct worker *w = argument;
    cl_int code;
    cl_command_queue queue = clCreateCommandQueue(w->fixture->context, w->fixture->device, 0, &code);
    const char *text = source;
    cl_program own_program = w->program ? NULL : clCreateProgramWithSource(w->fixture->context, 1, &text, NULL, &code);
    if (own_program)
        w->failed |= clBuildProgram(own_program, 1, &w->fixture->device, "-D OWN", NULL, NULL) != CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(own_program ? own_program : w->program, "count", &code);
    for (int round = 0; round < ROUNDS && !w->failed; round++) {
        cl_mem own = clCreateBuffer(w->fixture->context, CL_MEM_READ_WRITE, 64, NULL, &code);
        const int zeros[16] = {0}, times = round + 1;
        int out[16];
        const size_t threads = 64;
        cl_event event;
        w->failed |= clEnqueueWriteBuffer(queue, own, CL_FALSE, 0, 64, zeros, 0, NULL, NULL) != CL_SUCCESS;
        clSetKernelArg(kernel, 1, sizeof times, &times);
        clSetKernelArg(kernel, 0, sizeof own, &own);
        w->failed |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, NULL, 0, NULL, &event) != CL_SUCCESS;
        clSetKernelArg(kernel, 0, sizeof w->shared, &w->shared);
        w->failed |= clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, NULL, 1, &event, NULL) != CL_SUCCESS;
        if (round % 3 == 0)
            clFlush(queue);
        w->failed |= clEnqueueReadBuffer(queue, own, CL_TRUE, 0, 64, out, 0, NULL, NULL) != CL_SUCCESS;
        for (unsigned i = 0; i < 16; i++)
            w->failed |= out[i] != 4 * times;
        clReleaseEvent(event);
        clReleaseMemObject(own);
    }
    clFinish(queue);
    clReleaseKernel(kernel);
    if (own_program)
        clReleaseProgram(own_program);
    clReleaseCommandQueue(queue);
    return NULL;
}

static void threads(void **state) {
    struct fixture *f = *state;
    pthread_t handles[THREADS];
    struct worker workers[THREADS];
    cl_program program = fixture_build(f, source, NULL);
    cl_mem shared = fixture_buffer(f, 64);
    OK(clEnqueueFillBuffer(f->queue, shared, "\0", 1, 0, 64, 0, NULL, NULL));
    OK(clFinish(f->queue));
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){f, i % 4 ? program : NULL, shared, false};
        assert_int_equal(pthread_create(&handles[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(handles[i], NULL);
        assert_false(workers[i].failed);
    }
    int out[16];
    OK(clEnqueueReadBuffer(f->queue, shared, CL_TRUE, 0, 64, out, 0, NULL, NULL));
    for (unsigned i = 0; i < 16; i++)
        assert_int_equal(out[i], THREADS * 4 * ROUNDS * (ROUNDS + 1) / 2);
    OK(clReleaseMemObject(shared));
    OK(clReleaseProgram(program));
}

/* Handles of one kind are not taken for another. */
static void wrong_handles(void **state) {
    struct fixture *f = *state;
    if (!f->is_heddle)
        return;
    struct digits d = digits_open(f);
    cl_int code;
    IS(CL_INVALID_COMMAND_QUEUE, clFinish((cl_command_queue)d.buffer));
    IS(CL_INVALID_COMMAND_QUEUE, clFlush((cl_command_queue)d.kernel));
    IS(CL_INVALID_COMMAND_QUEUE, clRetainCommandQueue((cl_command_queue)f->context));
    IS(CL_INVALID_CONTEXT, clRetainContext((cl_context)f->queue));
    IS(CL_INVALID_MEM_OBJECT, clRetainMemObject((cl_mem)f->queue));
    IS(CL_INVALID_PROGRAM, clRetainProgram((cl_program)f->queue));
    IS(CL_INVALID_KERNEL, clRetainKernel((cl_kernel)f->queue));
    IS(CL_INVALID_EVENT, clRetainEvent((cl_event)f->queue));
    IS(CL_INVALID_DEVICE, clRetainDevice((cl_device_id)f->queue));
    IS(CL_INVALID_SAMPLER, clRetainSampler((cl_sampler)f->queue));
    IS(CL_INVALID_SAMPLER, clReleaseSampler((cl_sampler)f->queue));
    IS(CL_INVALID_SAMPLER, clGetSamplerInfo((cl_sampler)f->queue, 0, 0, NULL, NULL));
    REFUSED(CL_INVALID_CONTEXT, clCreateBuffer((cl_context)f->queue, 0, 4, NULL, &code));
    REFUSED(CL_INVALID_CONTEXT, clCreateUserEvent((cl_context)f->queue, &code));
    IS(CL_INVALID_KERNEL, clSetKernelArg((cl_kernel)f->queue, 0, 4, NULL));
    const size_t one = 1;
    IS(CL_INVALID_KERNEL, clEnqueueNDRangeKernel(f->queue, (cl_kernel)f->context, 1, NULL, &one, NULL, 0, NULL, NULL));
    IS(CL_INVALID_MEM_OBJECT, clEnqueueReadBuffer(f->queue, (cl_mem)f->context, CL_TRUE, 0, 4, &code, 0, NULL, NULL));
    digits_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),
        cmocka_unit_test(user_events),
        cmocka_unit_test(order),
        cmocka_unit_test(queues_wait_for_each_other),
        cmocka_unit_test(callbacks),
        cmocka_unit_test(callbacks_enqueue),
        cmocka_unit_test(context_ends_in_a_callback),
        cmocka_unit_test(threads),
        cmocka_unit_test(wrong_handles),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
