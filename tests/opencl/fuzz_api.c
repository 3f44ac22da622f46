/* SPDX-License-Identifier: Apache-2.0 */
/* Random calls of every entry point, from many threads that share contexts, queues, buffers, programs, kernels and events.
 *
 *   opencl_fuzz_api [--calls N] [--threads T] [--seed S]
 *
 * Arguments are right, wrong, NULL, of another kind, of another context, far too large; handles are kept by one thread and
 * released by another. Commands wait for user events, which end well, end badly, or end only when everything else has.
 * Nothing may crash, and what ends last must leave every context with one reference.
 *
 * The program waits for nothing that only it could end: a command waits only for events that were there before it, so there
 * is no circle; every user event that a blocking call could depend on is ended by a thread that never blocks; those that end last
 * are waited for by commands of queues on which nobody blocks. So where calls stop, the library is at fault: a
 * watchdog then says which thread is in which call, and the exit code is 2. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "opencl/cl.h"

enum { CONTEXTS = 3, SLOTS = 24, THREADS_MAX = 64, HOST_BYTES = 64 << 10, LATE_MAX = 128, USERS_MAX = 4096 };
enum { EPOCH_CALLS = 200000 }; /* then all objects end and new ones are made */
enum { WATCHDOG_SECONDS = 120 };
enum kind { CONTEXT, QUEUE, MEMORY, PROGRAM, KERNEL, EVENT, KINDS };

static const char source[] = "kernel void copy(global int *p, global int *q, int n, local int *l) {\n"
                             "  int i = get_global_id(0);\n"
                             "  l[get_local_id(0)] = i; barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "  if (p && q && n > 0 && i < 8) p[i] = q[i] + l[0] + n; }\n"
                             "kernel void empty(void) {}\n"
                             "kernel void count(global uint *p, ulong4 v) { if (p) atomic_inc(p + (v.x & 7)); }\n";
static const char pieces[] = "int twice(int x) { return 2 * x; }\n";

struct thread {
    unsigned number;
    uint64_t random;
    const char *_Atomic in; /* the call it is in; NULL: none */
    atomic_ullong calls;
    size_t answer[128];
    struct {
        cl_mem buffer;
        void *pointer;
    } mapped;
};

static struct {
    cl_platform_id platform;
    cl_device_id device;
    uint64_t calls, seed, epoch_calls; /* epoch_calls: of one thread */
    unsigned threads;
    struct thread thread[THREADS_MAX + 2]; /* two more: who ends user events, who opens and closes */
    struct {
        pthread_mutex_t lock;
        void *slot[SLOTS];
    } pool[KINDS];
    cl_context context[CONTEXTS];
    cl_command_queue late[CONTEXTS]; /* nobody blocks on them */
    unsigned char host[CONTEXTS][HOST_BYTES];
    unsigned char *binary;
    size_t binary_bytes;
    pthread_mutex_t users_lock;
    cl_event users[USERS_MAX]; /* to be ended soon */
    unsigned user_count;
    cl_event lates[LATE_MAX]; /* to be ended last */
    unsigned late_count;
    atomic_bool ends;
    atomic_uint callbacks, commands;
} all;

/* A thing that the loader takes for an object of ours, and that is none. */
static struct {
    void *dispatch;
    unsigned char rest[1024];
} impostor;

static uint64_t draw(struct thread *t) { /* splitmix64 */
    uint64_t z = (t->random += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static unsigned below(struct thread *t, unsigned n) { return (unsigned)(draw(t) % n); }
static bool once_in(struct thread *t, unsigned n) { return below(t, n) == 0; }

/* Counts a call and says where the thread is. */
#define CALL(function, ...)                                                                                            \
    __extension__({                                                                                                    \
        atomic_store_explicit(&t->in, #function, memory_order_relaxed);                                                \
        __typeof__(function(__VA_ARGS__)) result_ = function(__VA_ARGS__);                                             \
        atomic_store_explicit(&t->in, NULL, memory_order_relaxed);                                                     \
        atomic_fetch_add_explicit(&t->calls, 1, memory_order_relaxed);                                                 \
        result_;                                                                                                       \
    })

static void retain(struct thread *t, enum kind kind, void *handle) {
    switch (kind) {
    case CONTEXT: CALL(clRetainContext, handle); break;
    case QUEUE: CALL(clRetainCommandQueue, handle); break;
    case MEMORY: CALL(clRetainMemObject, handle); break;
    case PROGRAM: CALL(clRetainProgram, handle); break;
    case KERNEL: CALL(clRetainKernel, handle); break;
    default: CALL(clRetainEvent, handle); break;
    }
}

static void release(struct thread *t, enum kind kind, void *handle) {
    if (!handle)
        return;
    switch (kind) {
    case CONTEXT: CALL(clReleaseContext, handle); break;
    case QUEUE: CALL(clReleaseCommandQueue, handle); break;
    case MEMORY: CALL(clReleaseMemObject, handle); break;
    case PROGRAM: CALL(clReleaseProgram, handle); break;
    case KERNEL: CALL(clReleaseKernel, handle); break;
    default: CALL(clReleaseEvent, handle); break;
    }
}

/* ---- handles that threads share ---- */

/* A handle with a reference of the borrower's own. wrong: not one of this kind, to be given to a call and not given back. */
struct borrowed {
    void *handle;
    unsigned context;
    enum kind kind;
    bool wrong;
};

/* Every context has its own part of a pool's places. */
static unsigned place_of(struct thread *t, unsigned context) { return below(t, SLOTS / CONTEXTS) * CONTEXTS + context; }

static struct borrowed take(struct thread *t, enum kind kind, unsigned context) {
    struct borrowed out = {.kind = kind, .context = context};
    const unsigned at = place_of(t, context);
    pthread_mutex_lock(&all.pool[kind].lock);
    out.handle = all.pool[kind].slot[at];
    if (out.handle)
        retain(t, kind, out.handle);
    pthread_mutex_unlock(&all.pool[kind].lock);
    return out;
}

/* Mostly one of this kind and context. */
static struct borrowed borrow_near(struct thread *t, enum kind kind, unsigned context) {
    const unsigned choice = below(t, 100);
    if (choice == 0)
        return (struct borrowed){.kind = kind, .wrong = true};
    if (choice == 1)
        return (struct borrowed){.handle = &impostor, .kind = kind, .wrong = true};
    if (choice == 2)
        return take(t, (enum kind)below(t, KINDS), context); /* of any kind */
    if (choice < 6)
        context = below(t, CONTEXTS);
    struct borrowed out = take(t, kind, context);
    for (unsigned i = 0; !out.handle && i < 4; i++)
        out = take(t, kind, context);
    return out;
}

static struct borrowed borrow(struct thread *t, enum kind kind) { return borrow_near(t, kind, below(t, CONTEXTS)); }

static void give_back(struct thread *t, struct borrowed b) {
    if (!b.wrong)
        release(t, b.kind, b.handle);
}

/* The pool has the reference from here on; what was in the place goes. */
static void keep(struct thread *t, enum kind kind, void *handle, unsigned context) {
    if (!handle)
        return;
    const unsigned at = place_of(t, context);
    pthread_mutex_lock(&all.pool[kind].lock);
    void *old = all.pool[kind].slot[at];
    all.pool[kind].slot[at] = handle;
    pthread_mutex_unlock(&all.pool[kind].lock);
    release(t, kind, old);
}

/* ---- user events ---- */

/* One that whoever ends user events will end. NULL: there are enough. */
static cl_event user_event(struct thread *t, cl_context context, bool is_late) {
    cl_int code;
    cl_event event = CALL(clCreateUserEvent, context, &code);
    if (!event)
        return NULL;
    retain(t, EVENT, event);
    pthread_mutex_lock(&all.users_lock);
    const bool fits = is_late ? all.late_count < LATE_MAX : all.user_count < USERS_MAX;
    if (fits && is_late)
        all.lates[all.late_count++] = event;
    else if (fits)
        all.users[all.user_count++] = event;
    pthread_mutex_unlock(&all.users_lock);
    if (fits)
        return event;
    CALL(clSetUserEventStatus, event, CL_COMPLETE);
    release(t, EVENT, event);
    release(t, EVENT, event);
    return NULL;
}

/* False where there were none. */
static bool end_users(struct thread *t, cl_event *events, unsigned *count) {
    cl_event taken[64];
    unsigned n = 0;
    pthread_mutex_lock(&all.users_lock);
    while (*count && n < sizeof taken / sizeof *taken)
        taken[n++] = events[--*count];
    pthread_mutex_unlock(&all.users_lock);
    for (unsigned i = 0; i < n; i++) {
        CALL(clSetUserEventStatus, taken[i], once_in(t, 8) ? -(cl_int)below(t, 100) - 1 : CL_COMPLETE);
        release(t, EVENT, taken[i]);
    }
    return n > 0;
}

static void *end_user_events(void *argument) {
    struct thread *t = argument;
    while (!atomic_load(&all.ends)) {
        end_users(t, all.users, &all.user_count);
        nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    return NULL;
}

/* ---- arguments ---- */

static size_t any_size(struct thread *t) {
    static const size_t sizes[] = {0, 1, 3, 4, 16, 64, 128, 256, 4096, 1 << 14};
    /* larger than every buffer: what the host must have is never more than it has */
    static const size_t odd[] = {SIZE_MAX, SIZE_MAX / 2 + 1, (size_t)1 << 60, SIZE_MAX / 4, SIZE_MAX - 127};
    return once_in(t, 12) ? odd[below(t, 5)] : sizes[below(t, 10)];
}

static size_t small(struct thread *t) { return below(t, 6); }

struct list {
    cl_event events[4];
    struct borrowed borrowed[4];
    const cl_event *pointer;
    cl_uint count;
};

static void list_take(struct thread *t, struct list *list, unsigned context) {
    *list = (struct list){0};
    for (unsigned n = below(t, 3); list->count < n; list->count++) {
        list->borrowed[list->count] = borrow_near(t, EVENT, context);
        list->events[list->count] = list->borrowed[list->count].handle;
    }
    list->pointer = list->count ? list->events : NULL;
    if (once_in(t, 60))
        list->pointer = list->pointer ? NULL : list->events;
}

static void list_give_back(struct thread *t, struct list *list, cl_uint count) {
    for (cl_uint i = 0; i < count; i++)
        give_back(t, list->borrowed[i]);
}

/* What all enqueue functions end with: LIST for the call, then what becomes of its event. */
#define LIST list.count, list.pointer, once_in(t, 2) ? &event : NULL
#define ENQUEUE(function, ...)                                                                                         \
    do {                                                                                                               \
        struct list list;                                                                                              \
        cl_event event = NULL;                                                                                         \
        list_take(t, &list, q.context);                                                                                \
        if (CALL(function, __VA_ARGS__) == CL_SUCCESS)                                                                 \
            atomic_fetch_add_explicit(&all.commands, 1, memory_order_relaxed);                                         \
        list_give_back(t, &list, list.count);                                                                          \
        keep(t, EVENT, event, q.context);                                                                              \
    } while (0)

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data) {
    cl_int got;
    (void)status, (void)data;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof got, &got, NULL);
    atomic_fetch_add_explicit(&all.callbacks, 1, memory_order_relaxed);
}

static void CL_CALLBACK on_memory_end(cl_mem memory, void *data) {
    (void)memory, (void)data;
    atomic_fetch_add_explicit(&all.callbacks, 1, memory_order_relaxed);
}

static void CL_CALLBACK on_context_end(cl_context context, void *data) {
    (void)context, (void)data;
    atomic_fetch_add_explicit(&all.callbacks, 1, memory_order_relaxed);
}

static void CL_CALLBACK on_program(cl_program program, void *data) { (void)program, (void)data; }

/* ---- what threads do ---- */

/* A question about one of its kind. */
#define ASK(kind, function, ...)                                                                                       \
    do {                                                                                                               \
        struct borrowed b = borrow(t, kind);                                                                           \
        CALL(function, b.handle, __VA_ARGS__, size, value, size_ret);                                                  \
        give_back(t, b);                                                                                               \
    } while (0)

static void queries(struct thread *t) {
    const size_t size = once_in(t, 3) ? below(t, 16) : sizeof t->answer;
    void *value = once_in(t, 5) ? NULL : t->answer;
    size_t got, *size_ret = once_in(t, 3) ? NULL : &got;
    memset(t->answer, 0, sizeof t->answer); /* CL_PROGRAM_BINARIES takes pointers from it */
    const cl_uint low = below(t, 40);
    switch (below(t, 13)) {
    case 0:
        CALL(clGetPlatformInfo, once_in(t, 9) ? NULL : all.platform, 0x900 + low % 10, size, value, size_ret);
        break;
    case 1:
        CALL(clGetDeviceInfo, once_in(t, 9) ? NULL : all.device, 0x1000 + below(t, 0x80), size, value, size_ret);
        break;
    case 2: ASK(CONTEXT, clGetContextInfo, 0x1080 + low % 6); break;
    case 3: ASK(QUEUE, clGetCommandQueueInfo, 0x1090 + low % 10); break;
    case 4: ASK(MEMORY, clGetMemObjectInfo, 0x1100 + low % 12); break;
    case 5: ASK(PROGRAM, clGetProgramInfo, 0x1160 + low % 14); break;
    case 6: ASK(PROGRAM, clGetProgramBuildInfo, once_in(t, 9) ? NULL : all.device, 0x1181 + low % 8); break;
    case 7: ASK(KERNEL, clGetKernelInfo, 0x1190 + low % 8); break;
    case 8: ASK(KERNEL, clGetKernelArgInfo, below(t, 6), 0x1196 + low % 8); break;
    case 9: ASK(KERNEL, clGetKernelWorkGroupInfo, once_in(t, 2) ? NULL : all.device, 0x11b0 + low % 7); break;
    case 10:
        ASK(KERNEL, clGetKernelSubGroupInfo, all.device, once_in(t, 2) ? 0x2033 + low % 2 : 0x11b8 + low % 4,
            below(t, 5) * 8, once_in(t, 5) ? NULL : t->answer + 64);
        break;
    case 11: ASK(EVENT, clGetEventInfo, 0x11d0 + low % 7); break;
    default: ASK(EVENT, clGetEventProfilingInfo, 0x1280 + low % 6);
    }
}

static void create_buffer(struct thread *t) {
    static const cl_mem_flags flags[] = {0,
                                         CL_MEM_READ_WRITE,
                                         CL_MEM_READ_ONLY,
                                         CL_MEM_WRITE_ONLY,
                                         CL_MEM_COPY_HOST_PTR,
                                         CL_MEM_USE_HOST_PTR,
                                         CL_MEM_ALLOC_HOST_PTR,
                                         CL_MEM_HOST_NO_ACCESS,
                                         CL_MEM_HOST_READ_ONLY,
                                         CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                                         ~(cl_mem_flags)0};
    static const cl_mem_properties odd[] = {77, 1, 0}, none[] = {0};
    struct borrowed c = borrow(t, CONTEXT);
    const cl_mem_flags flag = flags[below(t, 11)];
    const bool host = flag & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) ? !once_in(t, 20) : once_in(t, 20);
    const size_t size = once_in(t, 10) ? any_size(t) : 64u << below(t, 5);
    cl_int code, *out = once_in(t, 8) ? NULL : &code;
    cl_mem memory = once_in(t, 6) ? CALL(clCreateBufferWithProperties, c.handle,
                                         once_in(t, 3)   ? odd
                                         : once_in(t, 2) ? none
                                                         : NULL,
                                         flag, size, host ? all.host[c.context] : NULL, out)
                                  : CALL(clCreateBuffer, c.handle, flag, size, host ? all.host[c.context] : NULL, out);
    if (memory && once_in(t, 20))
        CALL(clSetMemObjectDestructorCallback, memory, once_in(t, 4) ? NULL : on_memory_end, NULL);
    keep(t, MEMORY, memory, c.context);
    give_back(t, c);
}

static void create_part(struct thread *t) {
    struct borrowed m = borrow(t, MEMORY);
    const cl_buffer_region region = {once_in(t, 4) ? any_size(t) : 128 * small(t), once_in(t, 4) ? any_size(t) : 128};
    cl_int code;
    cl_mem part = CALL(clCreateSubBuffer, m.handle, once_in(t, 3) ? CL_MEM_READ_ONLY : 0,
                       once_in(t, 20) ? 7 : CL_BUFFER_CREATE_TYPE_REGION, once_in(t, 20) ? NULL : &region, &code);
    keep(t, MEMORY, part, m.context);
    give_back(t, m);
}

static void create_queue(struct thread *t) {
    struct borrowed c = borrow(t, CONTEXT);
    const cl_queue_properties lists[][5] = {{CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
                                            {CL_QUEUE_PROPERTIES, below(t, 16), 0},
                                            {CL_QUEUE_SIZE, 1024, CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0},
                                            {12345, 1, 0}};
    cl_int code;
    cl_command_queue queue =
        once_in(t, 2) ? CALL(clCreateCommandQueue, c.handle, once_in(t, 20) ? NULL : all.device, below(t, 4), &code)
                      : CALL(clCreateCommandQueueWithProperties, c.handle, once_in(t, 20) ? NULL : all.device,
                             lists[below(t, 4)], once_in(t, 8) ? NULL : &code);
    keep(t, QUEUE, queue, c.context);
    give_back(t, c);
}

static void programs(struct thread *t) {
    static const char *const options[] = {"",           "-D X=1", "-D @evil.rsp", "-I @evil.rsp",
                                          "-fplugin=x", "-D",     "-cl-std=CL9"};
    static const char *const texts[] = {source, pieces, ""};
    struct borrowed c = borrow(t, CONTEXT), p = borrow(t, PROGRAM);
    cl_int code, status;
    const char *text = texts[below(t, 3)];
    const unsigned char *binary = all.binary;
    cl_program made = NULL;
    switch (below(t, 16)) {
    case 0: {
        const size_t lengths[] = {once_in(t, 2) ? 0 : strlen(text), 0};
        const char *strings[] = {text, once_in(t, 8) ? NULL : text};
        made = CALL(clCreateProgramWithSource, c.handle, below(t, 3), once_in(t, 20) ? NULL : strings,
                    once_in(t, 2) ? NULL : lengths, &code);
        break;
    }
    case 1:
    case 2: {
        unsigned char damaged[4096];
        size_t bytes = all.binary_bytes;
        if (once_in(t, 2)) {
            bytes = bytes < sizeof damaged ? bytes : sizeof damaged;
            memcpy(damaged, binary, bytes);
            damaged[draw(t) % bytes] ^= (unsigned char)(1u << below(t, 8));
            binary = damaged;
        }
        if (once_in(t, 6))
            bytes = (size_t)(draw(t) % (bytes + 1));
        made = CALL(clCreateProgramWithBinary, c.handle, once_in(t, 20) ? 0 : 1, &all.device, &bytes, &binary,
                    once_in(t, 3) ? NULL : &status, &code);
        break;
    }
    case 3: made = CALL(clCreateProgramWithIL, c.handle, "", 1, &code); break;
    case 4: made = CALL(clCreateProgramWithBuiltInKernels, c.handle, 1, &all.device, "x", &code); break;
    case 5: /* wrong options cost nothing; right ones are compiled, or come from the cache, and are loaded */
        if (once_in(t, 40))
            CALL(clBuildProgram, p.handle, 0, NULL, "", once_in(t, 2) ? on_program : NULL, NULL);
        else
            CALL(clBuildProgram, p.handle, 1, &all.device, options[2 + below(t, 5)], NULL, NULL);
        break;
    case 6: CALL(clBuildProgram, p.handle, once_in(t, 2), once_in(t, 2) ? &all.device : NULL, NULL, NULL, t); break;
    case 7: {
        cl_program header = p.handle;
        const char *name = once_in(t, 2) ? "../x.h" : "x.h";
        if (once_in(t, 3000))
            CALL(clCompileProgram, p.handle, 0, NULL, "", 1, &header, &name, NULL, NULL);
        else
            CALL(clCompileProgram, p.handle, 0, NULL, options[2 + below(t, 5)], 1, &header, &name, NULL, NULL);
        break;
    }
    case 8:
        made = CALL(clLinkProgram, c.handle, 0, NULL, once_in(t, 2) ? "-x" : "-create-library", 1,
                    (cl_program *)&p.handle, NULL, NULL, &code);
        break;
    case 9: CALL(clSetProgramReleaseCallback, p.handle, once_in(t, 2) ? NULL : on_program, NULL); break;
    case 10: CALL(clSetProgramSpecializationConstant, p.handle, 0, 4, t->answer); break;
    case 11: CALL(clUnloadPlatformCompiler, once_in(t, 2) ? NULL : all.platform); break;
    case 12: clUnloadCompiler(); break;
    default: break;
    }
    keep(t, PROGRAM, made, c.context);
    give_back(t, p);
    give_back(t, c);
}

static void kernels(struct thread *t) {
    static const char *const names[] = {"copy", "empty", "count", "nothing", ""};
    struct borrowed p = borrow(t, PROGRAM);
    cl_int code;
    if (once_in(t, 4)) {
        struct borrowed k = borrow(t, KERNEL);
        keep(t, KERNEL, CALL(clCloneKernel, k.handle, &code), k.context);
        give_back(t, k);
    } else if (once_in(t, 4)) {
        cl_kernel got[4] = {0};
        cl_uint count = 0;
        CALL(clCreateKernelsInProgram, p.handle, below(t, 5), once_in(t, 5) ? NULL : got,
             once_in(t, 5) ? NULL : &count);
        for (unsigned i = 0; i < 4; i++)
            keep(t, KERNEL, got[i], p.context);
    } else {
        keep(t, KERNEL, CALL(clCreateKernel, p.handle, once_in(t, 20) ? NULL : names[below(t, 5)], &code), p.context);
    }
    give_back(t, p);
}

static void arguments(struct thread *t) {
    struct borrowed k = borrow(t, KERNEL);
    for (cl_uint i = 0; i < 4; i++) { /* mostly as `copy` has them: two buffers, a number, local memory */
        struct borrowed m = borrow_near(t, MEMORY, k.context);
        cl_mem handle = m.handle;
        const unsigned char value[64] = {1};
        const cl_uint index = once_in(t, 12) ? below(t, 9) : i;
        const size_t size = i < 2 ? sizeof handle : i == 2 ? 4 : 256;
        const void *pointer = i < 2 ? (const void *)&handle : i == 2 ? value : NULL;
        CALL(clSetKernelArg, k.handle, index, once_in(t, 12) ? any_size(t) : size, once_in(t, 12) ? NULL : pointer);
        if (once_in(t, 4))
            CALL(clSetKernelArg, k.handle, 1, 32, value);
        give_back(t, m);
    }
    if (once_in(t, 20))
        CALL(clSetKernelExecInfo, k.handle, 0, 0, NULL);
    if (once_in(t, 20))
        CALL(clSetKernelArgSVMPointer, k.handle, 0, NULL);
    give_back(t, k);
}

static void transfers(struct thread *t) {
    static const unsigned char pattern[256] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct borrowed q = borrow(t, QUEUE), a = borrow_near(t, MEMORY, q.context), b = borrow_near(t, MEMORY, q.context);
    unsigned char *host = once_in(t, 30) ? NULL : all.host[q.context];
    const cl_bool blocking = once_in(t, 8);
    const size_t offset = once_in(t, 3) ? any_size(t) : 0, size = any_size(t);
    const size_t origin[] = {small(t), small(t), small(t)}, other[] = {once_in(t, 20) ? any_size(t) : small(t), 0, 0};
    const size_t region[] = {small(t), small(t), small(t)};
    const size_t row = once_in(t, 2) ? 0 : small(t), slice = once_in(t, 2) ? 0 : row * small(t);
    const cl_mem list_of[] = {a.handle, b.handle};
    switch (below(t, 8)) {
    case 0: ENQUEUE(clEnqueueReadBuffer, q.handle, a.handle, blocking, offset, size, host, LIST); break;
    case 1: ENQUEUE(clEnqueueWriteBuffer, q.handle, a.handle, blocking, offset, size, host, LIST); break;
    case 2:
        ENQUEUE(clEnqueueReadBufferRect, q.handle, a.handle, blocking, other, origin, region, row, slice, 0, 0, host,
                LIST);
        break;
    case 3:
        ENQUEUE(clEnqueueWriteBufferRect, q.handle, a.handle, blocking, other, origin, region, 0, 0, row, slice, host,
                LIST);
        break;
    case 4: ENQUEUE(clEnqueueCopyBuffer, q.handle, a.handle, b.handle, offset, small(t), size, LIST); break;
    case 5:
        ENQUEUE(clEnqueueCopyBufferRect, q.handle, a.handle, b.handle, origin, other, region, row, slice, 0, 0, LIST);
        break;
    case 6:
        ENQUEUE(clEnqueueFillBuffer, q.handle, a.handle, host ? pattern : NULL, 1u << below(t, 9), offset, size, LIST);
        break;
    default:
        ENQUEUE(clEnqueueMigrateMemObjects, q.handle, below(t, 3), once_in(t, 20) ? NULL : list_of, below(t, 4), LIST);
    }
    give_back(t, b);
    give_back(t, a);
    give_back(t, q);
}

static void mappings(struct thread *t) {
    struct borrowed q = borrow(t, QUEUE);
    if (t->mapped.buffer) {
        ENQUEUE(clEnqueueUnmapMemObject, q.handle, t->mapped.buffer, once_in(t, 9) ? t : t->mapped.pointer, LIST);
        release(t, MEMORY, t->mapped.buffer);
        t->mapped.buffer = NULL;
    } else {
        struct borrowed m = borrow_near(t, MEMORY, q.context);
        cl_int code;
        struct list list;
        cl_event event = NULL;
        list_take(t, &list, q.context);
        t->mapped.pointer = CALL(clEnqueueMapBuffer, q.handle, m.handle, once_in(t, 8), below(t, 8), any_size(t),
                                 any_size(t), LIST, &code);
        list_give_back(t, &list, list.count);
        keep(t, EVENT, event, q.context);
        if (t->mapped.pointer) {
            t->mapped.buffer = m.handle;
            retain(t, MEMORY, m.handle);
        }
        give_back(t, m);
    }
    give_back(t, q);
}

static void launches(struct thread *t) {
    struct borrowed q = borrow(t, QUEUE), k = borrow_near(t, KERNEL, q.context);
    const size_t global[] = {once_in(t, 30) ? any_size(t) : 8 * small(t), 1 + small(t), 1};
    const size_t local[] = {once_in(t, 30) ? any_size(t) : 8, 1, 1},
                 offset[] = {once_in(t, 30) ? any_size(t) : 0, 0, 0};
    const bool large = global[0] > 4096;
    if (once_in(t, 6))
        ENQUEUE(clEnqueueTask, q.handle, k.handle, LIST);
    else /* one that is right and huge would run for ever: its blocks are too large */
        ENQUEUE(clEnqueueNDRangeKernel, q.handle, k.handle, once_in(t, 30) ? below(t, 9) : 1 + below(t, 2),
                once_in(t, 4) ? offset : NULL, once_in(t, 30) ? NULL : global,
                large           ? (const size_t[]){SIZE_MAX, 1, 1}
                : once_in(t, 3) ? NULL
                                : local,
                LIST);
    give_back(t, k);
    give_back(t, q);
}

static void markers(struct thread *t) {
    struct borrowed q = borrow(t, QUEUE);
    cl_event made = NULL;
    switch (below(t, 7)) {
    case 0: ENQUEUE(clEnqueueMarkerWithWaitList, q.handle, LIST); break;
    case 1: ENQUEUE(clEnqueueBarrierWithWaitList, q.handle, LIST); break;
    case 2: CALL(clEnqueueMarker, q.handle, once_in(t, 9) ? NULL : &made); break;
    case 3: CALL(clEnqueueBarrier, q.handle); break;
    case 4: {
        struct borrowed e = borrow(t, EVENT);
        CALL(clEnqueueWaitForEvents, q.handle, below(t, 2), (cl_event *)&e.handle);
        give_back(t, e);
        break;
    }
    case 5: ENQUEUE(clEnqueueNativeKernel, q.handle, NULL, NULL, 0, 0, NULL, NULL, LIST); break;
    default: CALL(clSetCommandQueueProperty, q.handle, 0, CL_TRUE, NULL);
    }
    keep(t, EVENT, made, q.context);
    give_back(t, q);
}

static void waits(struct thread *t) {
    struct borrowed q = borrow(t, QUEUE), e = borrow(t, EVENT), f = borrow(t, EVENT);
    const cl_event events[] = {e.handle, f.handle};
    switch (below(t, 4)) {
    case 0: CALL(clFlush, q.handle); break;
    case 1: CALL(clFinish, q.handle); break;
    default: CALL(clWaitForEvents, below(t, 3), once_in(t, 20) ? NULL : events);
    }
    give_back(t, f);
    give_back(t, e);
    give_back(t, q);
}

static void user_events(struct thread *t) {
    struct borrowed c = take(t, CONTEXT, below(t, CONTEXTS)), e = borrow(t, EVENT);
    switch (below(t, 4)) {
    case 0:
    case 1: keep(t, EVENT, c.handle ? user_event(t, c.handle, false) : NULL, c.context); break;
    case 2: CALL(clSetUserEventStatus, e.handle, (cl_int)below(t, 5) - 3); break;
    default: CALL(clSetEventCallback, e.handle, (cl_int)below(t, 5), once_in(t, 20) ? NULL : on_event, NULL);
    }
    give_back(t, e);
    give_back(t, c);
}

/* A command whose event ends after everything else, behind it one that nobody waits for. */
static void late_commands(struct thread *t) {
    const unsigned at = below(t, CONTEXTS);
    cl_event late = user_event(t, all.context[at], true), event = NULL;
    if (!late)
        return;
    CALL(clEnqueueMarkerWithWaitList, all.late[at], 1, &late, &event);
    if (event)
        CALL(clSetEventCallback, event, CL_COMPLETE, on_event, NULL);
    struct borrowed m = borrow(t, MEMORY);
    CALL(clEnqueueFillBuffer, all.late[at], m.handle, "abcd", 4, 0, 64, 1, &late, NULL);
    give_back(t, m);
    release(t, EVENT, event);
    release(t, EVENT, late);
}

/* A context that lives for a moment, also one that its own callback sees end. */
static void short_contexts(struct thread *t) {
    const cl_context_properties platform = (cl_context_properties)all.platform;
    const cl_context_properties lists[][6] = {{CL_CONTEXT_PLATFORM, platform, 0},
                                              {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_INTEROP_USER_SYNC, -1, 0},
                                              {CL_CONTEXT_PLATFORM, platform, CL_CONTEXT_INTEROP_USER_SYNC, 1, 0},
                                              {CL_CONTEXT_PLATFORM, platform, 4711, 1, 0}};
    cl_int code;
    const cl_context_properties *list = lists[below(t, 4)];
    cl_context context =
        once_in(t, 2)
            ? CALL(clCreateContext, once_in(t, 2) ? NULL : list, below(t, 2), &all.device, NULL, NULL, &code)
            : CALL(clCreateContextFromType, list, once_in(t, 2) ? CL_DEVICE_TYPE_ALL : below(t, 40), NULL, NULL, &code);
    if (!context)
        return;
    if (once_in(t, 2))
        CALL(clSetContextDestructorCallback, context, once_in(t, 9) ? NULL : on_context_end, NULL);
    cl_command_queue queue = CALL(clCreateCommandQueue, context, all.device, 0, &code);
    cl_mem memory = CALL(clCreateBuffer, context, 0, 256, NULL, &code);
    cl_event user = CALL(clCreateUserEvent, context, &code), event = NULL;
    if (queue && memory && user) {
        CALL(clEnqueueFillBuffer, queue, memory, "x", 1, 0, 256, 1, &user, &event);
        CALL(clSetEventCallback, event, CL_COMPLETE, on_event, NULL);
        release(t, MEMORY, memory), release(t, QUEUE, queue), release(t, CONTEXT, context);
        CALL(clSetUserEventStatus, user, once_in(t, 2) ? -5 : CL_COMPLETE);
        if (once_in(t, 2))
            CALL(clWaitForEvents, 1, &event);
        release(t, EVENT, event), release(t, EVENT, user);
        return;
    }
    release(t, EVENT, user), release(t, MEMORY, memory), release(t, QUEUE, queue), release(t, CONTEXT, context);
}

/* An image and a sampler of this thread alone; sizes, origins and regions may be wrong. */
static void images(struct thread *t) {
    struct borrowed c = borrow(t, CONTEXT), q = borrow(t, QUEUE), m = borrow(t, MEMORY);
    const cl_image_format format = {once_in(t, 9) ? CL_R : CL_RGBA, once_in(t, 9) ? below(t, 1 << 16) : CL_UNORM_INT8};
    const cl_image_desc shape = {.image_type = once_in(t, 9) ? below(t, 1 << 16) : CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = below(t, 6),
                                 .image_height = below(t, 6)};
    const size_t origin[] = {below(t, 3), below(t, 3), 0}, region[] = {below(t, 4), below(t, 4), !once_in(t, 9)};
    const cl_uint colour[4] = {1, 2, 3, 4};
    cl_int code;
    cl_mem image = CALL(clCreateImage, c.handle, 0, &format, &shape, NULL, &code);
    cl_sampler sampler = CALL(clCreateSampler, c.handle, below(t, 2), CL_ADDRESS_NONE + below(t, 6),
                              CL_FILTER_NEAREST + below(t, 3), &code);
    CALL(clEnqueueFillImage, q.handle, image, colour, origin, region, 0, NULL, NULL);
    CALL(clEnqueueCopyImageToBuffer, q.handle, image, m.handle, origin, region, below(t, 64), 0, NULL, NULL);
    CALL(clEnqueueCopyBufferToImage, q.handle, m.handle, image, below(t, 64), origin, region, 0, NULL, NULL);
    CALL(clEnqueueCopyImage, q.handle, image, image, origin, region, region, 0, NULL, NULL);
    CALL(clEnqueueReadImage, q.handle, image, CL_TRUE, origin, region, 0, 0, t->answer, 0, NULL, NULL);
    CALL(clGetImageInfo, image, CL_IMAGE_WIDTH, sizeof t->answer, t->answer, NULL);
    if (sampler)
        CALL(clReleaseSampler, sampler);
    if (image)
        CALL(clReleaseMemObject, image);
    give_back(t, m);
    give_back(t, q);
    give_back(t, c);
}

/* Allocated, used, given back at once or by a command; now and then pointers that are none of the context's. */
static void shared_memory(struct thread *t) {
    struct borrowed c = borrow(t, CONTEXT), q = borrow_near(t, QUEUE, c.context), k = borrow_near(t, KERNEL, c.context);
    unsigned char *memory = CALL(clSVMAlloc, c.handle, once_in(t, 2) ? CL_MEM_SVM_FINE_GRAIN_BUFFER : 0, 256, 0);
    unsigned char *other = once_in(t, 8) || !memory ? (unsigned char *)t->answer : memory + below(t, 200);
    void *pointers[] = {memory};
    const void *same[] = {other};
    CALL(clEnqueueSVMMap, q.handle, 0, CL_MAP_WRITE, other, 8, 0, NULL, NULL);
    CALL(clEnqueueSVMUnmap, q.handle, other, 0, NULL, NULL);
    if (memory) {
        CALL(clEnqueueSVMMemFill, q.handle, memory, "abcdefgh", 1u << below(t, 4), 8u * below(t, 64), 0, NULL, NULL);
        CALL(clEnqueueSVMMemcpy, q.handle, once_in(t, 20), memory, memory + below(t, 100), below(t, 200), 0, NULL,
             NULL);
    }
    CALL(clEnqueueSVMMigrateMem, q.handle, 1, same, NULL, 0, 0, NULL, NULL);
    CALL(clSetKernelExecInfo, k.handle, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof same, same);
    if (once_in(t, 4))
        CALL(clEnqueueSVMFree, q.handle, 1, pointers, NULL, NULL, 0, NULL, NULL);
    else
        clSVMFree(c.wrong ? NULL : c.handle, memory);
    give_back(t, k);
    give_back(t, q);
    give_back(t, c);
}

/* What the device does not have, or with objects of other kinds: each must say so. */
static void absent(struct thread *t) {
    struct borrowed c = borrow(t, CONTEXT), q = borrow(t, QUEUE), m = borrow(t, MEMORY);
    const size_t three[] = {1, 1, 1};
    cl_int code;
    cl_uint count;
    switch (below(t, 20)) {
    case 0: CALL(clCreateImage, c.handle, 0, NULL, NULL, NULL, &code); break;
    case 1: CALL(clCreateImageWithProperties, c.handle, NULL, 0, NULL, NULL, NULL, &code); break;
    case 2: CALL(clCreateImage2D, c.handle, 0, NULL, 1, 1, 0, NULL, &code); break;
    case 3: CALL(clCreateImage3D, c.handle, 0, NULL, 1, 1, 1, 0, 0, NULL, &code); break;
    case 4: CALL(clGetSupportedImageFormats, c.handle, 0, CL_MEM_OBJECT_IMAGE2D, 0, NULL, &count); break;
    case 5: CALL(clGetImageInfo, m.handle, CL_IMAGE_WIDTH, 0, NULL, NULL); break;
    case 6: CALL(clCreateSampler, c.handle, 0, 0, 0, &code); break;
    case 7: {
        cl_sampler sampler = CALL(clCreateSamplerWithProperties, c.handle, NULL, &code);
        if (sampler)
            CALL(clReleaseSampler, sampler);
        break;
    }
    case 8: CALL(clEnqueueReadImage, q.handle, m.handle, 0, three, three, 0, 0, t->answer, 0, NULL, NULL); break;
    case 9: CALL(clEnqueueWriteImage, q.handle, m.handle, 0, three, three, 0, 0, t->answer, 0, NULL, NULL); break;
    case 10: CALL(clEnqueueFillImage, q.handle, m.handle, t->answer, three, three, 0, NULL, NULL); break;
    case 11: CALL(clEnqueueCopyImage, q.handle, m.handle, m.handle, three, three, three, 0, NULL, NULL); break;
    case 12: CALL(clEnqueueCopyImageToBuffer, q.handle, m.handle, m.handle, three, three, 0, 0, NULL, NULL); break;
    case 13: CALL(clEnqueueCopyBufferToImage, q.handle, m.handle, m.handle, 0, three, three, 0, NULL, NULL); break;
    case 14: CALL(clEnqueueMapImage, q.handle, m.handle, 0, 0, three, three, NULL, NULL, 0, NULL, NULL, &code); break;
    case 15: CALL(clCreatePipe, c.handle, 0, 4, 4, NULL, &code); break;
    case 16: CALL(clGetPipeInfo, m.handle, CL_PIPE_PACKET_SIZE, 0, NULL, NULL); break;
    case 17: shared_memory(t); break;
    case 18: CALL(clCreateSubDevices, all.device, NULL, 0, NULL, &count); break;
    default: CALL(clSetDefaultDeviceCommandQueue, c.handle, all.device, q.handle);
    }
    give_back(t, m);
    give_back(t, q);
    give_back(t, c);
}

static void platform_calls(struct thread *t) {
    cl_platform_id platform;
    cl_device_id device;
    cl_uint count;
    cl_ulong a, b;
    switch (below(t, 7)) {
    case 0: CALL(clGetPlatformIDs, below(t, 2), once_in(t, 4) ? NULL : &platform, once_in(t, 4) ? NULL : &count); break;
    case 1:
        CALL(clGetDeviceIDs, once_in(t, 9) ? NULL : all.platform, once_in(t, 3) ? below(t, 64) : CL_DEVICE_TYPE_ALL,
             below(t, 2), once_in(t, 4) ? NULL : &device, once_in(t, 4) ? NULL : &count);
        break;
    case 2: CALL(clGetDeviceAndHostTimer, all.device, &a, once_in(t, 9) ? NULL : &b); break;
    case 3: CALL(clGetHostTimer, all.device, &a); break;
    case 4: CALL(clRetainDevice, all.device); break;
    case 5: CALL(clReleaseDevice, all.device); break;
    default: CALL(clGetExtensionFunctionAddressForPlatform, all.platform, once_in(t, 2) ? "clFinish" : "x");
    }
}

static const struct {
    void (*function)(struct thread *t);
    unsigned weight;
} actions[] = {{queries, 20}, {create_buffer, 6}, {create_part, 4},   {create_queue, 2},  {programs, 4},
               {kernels, 3},  {arguments, 4},     {transfers, 16},    {mappings, 5},      {launches, 8},
               {markers, 5},  {waits, 4},         {user_events, 8},   {late_commands, 1}, {short_contexts, 1},
               {absent, 3},   {images, 3},        {platform_calls, 2}};

static void *run_thread(void *argument) {
    struct thread *t = argument;
    const uint64_t end = atomic_load(&t->calls) + all.epoch_calls;
    unsigned weights = 0;
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        weights += actions[i].weight;
    while (atomic_load_explicit(&t->calls, memory_order_relaxed) < end) {
        unsigned choice = below(t, weights), i = 0;
        while (choice >= actions[i].weight)
            choice -= actions[i++].weight;
        actions[i].function(t);
    }
    release(t, MEMORY, t->mapped.buffer);
    t->mapped.buffer = NULL;
    return NULL;
}

/* ---- an epoch ---- */

static void fail(const char *what, cl_int code) {
    printf("%s: %d; seed %llu\n", what, code, (unsigned long long)all.seed);
    exit(1);
}

static void open_epoch(struct thread *t) {
    cl_int code;
    for (unsigned i = 0; i < CONTEXTS; i++) {
        all.context[i] = CALL(clCreateContext, NULL, 1, &all.device, NULL, NULL, &code);
        if (code)
            fail("clCreateContext", code);
        all.late[i] =
            CALL(clCreateCommandQueue, all.context[i], all.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
        const char *text = source;
        cl_program program = CALL(clCreateProgramWithSource, all.context[i], 1, &text, NULL, &code);
        if ((code = CALL(clBuildProgram, program, 1, &all.device, "", NULL, NULL)))
            fail("clBuildProgram", code);
        if (!all.binary) {
            CALL(clGetProgramInfo, program, CL_PROGRAM_BINARY_SIZES, sizeof all.binary_bytes, &all.binary_bytes, NULL);
            all.binary = malloc(all.binary_bytes);
            CALL(clGetProgramInfo, program, CL_PROGRAM_BINARIES, sizeof all.binary, &all.binary, NULL);
        }
        for (unsigned n = 0; n < 4; n++) {
            retain(t, CONTEXT, all.context[i]);
            keep(t, CONTEXT, all.context[i], i);
            retain(t, PROGRAM, program);
            keep(t, PROGRAM, program, i);
            keep(t, QUEUE, CALL(clCreateCommandQueue, all.context[i], all.device, n, &code), i);
            keep(t, KERNEL, CALL(clCreateKernel, program, "copy", &code), i);
        }
        release(t, PROGRAM, program);
        impostor.dispatch = *(void **)(void *)all.context[i];
    }
}

/* Ends what is left, in an order that has every command end, and looks for references that nobody gave back. */
static void close_epoch(struct thread *t) {
    while (end_users(t, all.users, &all.user_count))
        ;
    while (end_users(t, all.lates, &all.late_count))
        ;
    for (unsigned i = 0; i < CONTEXTS; i++)
        CALL(clFinish, all.late[i]);
    for (enum kind kind = CONTEXT; kind < KINDS; kind++)
        for (unsigned at = 0; at < SLOTS; at++) {
            if (kind == QUEUE && all.pool[kind].slot[at])
                CALL(clFinish, all.pool[kind].slot[at]);
            release(t, kind, all.pool[kind].slot[at]);
            all.pool[kind].slot[at] = NULL;
        }
    for (unsigned i = 0; i < CONTEXTS; i++) {
        CALL(clReleaseCommandQueue, all.late[i]);
        cl_uint references = 0;
        for (unsigned wait = 0; wait < 3000; wait++) { /* commands of queues that nobody has any more, callbacks */
            CALL(clGetContextInfo, all.context[i], CL_CONTEXT_REFERENCE_COUNT, sizeof references, &references, NULL);
            if (references == 1)
                break;
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        }
        if (references != 1)
            fail("references that nobody gave back", (cl_int)references);
        CALL(clReleaseContext, all.context[i]);
    }
}

static uint64_t all_calls(void) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < all.threads + 2; i++)
        sum += atomic_load_explicit(&all.thread[i].calls, memory_order_relaxed);
    return sum;
}

/* Calls must go on. */
static void *watch(void *argument) {
    (void)argument;
    uint64_t last = UINT64_MAX;
    for (unsigned still = 0; !atomic_load(&all.ends) || still < WATCHDOG_SECONDS;) {
        const uint64_t now = all_calls();
        still = now == last ? still + 1 : 0;
        last = now;
        if (still >= WATCHDOG_SECONDS) {
            printf("no call has ended for %u s; seed %llu\n", still, (unsigned long long)all.seed);
            for (unsigned i = 0; i < all.threads + 2; i++) {
                const char *in = atomic_load(&all.thread[i].in);
                printf("  thread %u: %s\n", i, in ? in : "-");
            }
            fflush(stdout);
            _exit(2);
        }
        sleep(1);
    }
    return NULL;
}

static uint64_t number(const char *text) {
    char *end;
    const double value = strtod(text, &end); /* 1e6 is a number too */
    if (*end || value < 1 || value > 1e12) {
        fprintf(stderr, "'%s' is no number; usage: opencl_fuzz_api [--calls N] [--threads T] [--seed S]\n", text);
        exit(1);
    }
    return (uint64_t)value;
}

int main(int argc, char **argv) {
    all.calls = 20000, all.threads = 4, all.seed = 1;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--calls") == 0)
            all.calls = number(value);
        else if (strcmp(argv[i], "--threads") == 0)
            all.threads = (unsigned)number(value);
        else if (strcmp(argv[i], "--seed") == 0)
            all.seed = number(value);
        else
            number("");
    }
    all.threads = all.threads < THREADS_MAX ? all.threads : THREADS_MAX;
    pthread_mutex_init(&all.users_lock, NULL);
    for (unsigned i = 0; i < KINDS; i++)
        pthread_mutex_init(&all.pool[i].lock, NULL);
    for (unsigned i = 0; i < all.threads + 2; i++) {
        all.thread[i].number = i;
        all.thread[i].random = all.seed * 1000003 + i;
    }
    if (clGetPlatformIDs(1, &all.platform, NULL) ||
        clGetDeviceIDs(all.platform, CL_DEVICE_TYPE_ALL, 1, &all.device, NULL))
        fail("there is no device", 0);
    pthread_t threads[THREADS_MAX], ender, watcher;
    struct thread *own = &all.thread[all.threads + 1];
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_detach(watcher);
    pthread_create(&ender, NULL, end_user_events, &all.thread[all.threads]);
    while (all_calls() < all.calls) {
        const uint64_t left = all.calls - all_calls(), some = left < EPOCH_CALLS ? left : EPOCH_CALLS;
        all.epoch_calls = some / all.threads + 1;
        open_epoch(own);
        for (unsigned i = 0; i < all.threads; i++)
            pthread_create(&threads[i], NULL, run_thread, &all.thread[i]);
        for (unsigned i = 0; i < all.threads; i++)
            pthread_join(threads[i], NULL);
        close_epoch(own);
    }
    atomic_store(&all.ends, true);
    pthread_join(ender, NULL);
    free(all.binary);
    printf("RESULT: %llu calls from %u threads, %u commands, %u callbacks; seed %llu\n",
           (unsigned long long)all_calls(), all.threads, atomic_load(&all.commands), atomic_load(&all.callbacks),
           (unsigned long long)all.seed);
    return 0;
}
