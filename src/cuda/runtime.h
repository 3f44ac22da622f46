/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA in this process, for the runtime's functions and the driver's (src/driver): its one device, the lock that all entry points
 * take, the simulated clock and errors.
 *
 * The device does one thing at a time, and does it when it is asked: an entry point returns when what it stands for has been done.
 * So streams are always empty, and a program that makes the same calls gets the same results. */
#ifndef HEDDLE_CUDA_RUNTIME_H
#define HEDDLE_CUDA_RUNTIME_H

#include <pthread.h>

#include "cuda/cuda.h"
#include "device/host.h"
#include "machine/machine.h"
#include "result/guest.h"

struct image;  /* cuda/image.h */
struct stream; /* cuda/stream.h */
struct cuda_event;
struct pinned;      /* cuda/memory.c */
struct cuda_array;  /* cuda/array.h */
struct texture;     /* cuda/texture.h */
struct absent_name; /* cuda/absent.c */
struct driver;      /* driver/driver.h */

struct runtime {
    pthread_mutex_t lock;
    struct machine machine;
    struct recorder *recorder;
    struct device *device;
    struct session_recording *recording;
    bool is_unified; /* host and device have the same addresses */
    enum cuda_error
        lost; /* what every call answers: there is no device, or a kernel stopped; cudaSuccess: nothing is wrong */
    uint64_t now_ns;
    uint64_t allocations; /* how many there have been, where they are counted */
    uint64_t workspace;   /* device memory of cooperative launches; 0: not needed yet */
    struct image *images;
    struct image *parts;   /* of images, the one that device code compiled in parts goes to; NULL: there is none */
    struct image *dropped; /* modules that the program has given back */
    const char *managed, *managed_end; /* where managed variables of heddle cc's programs are; NULL: there are none */
    struct pinned *pinned;             /* ranges of host memory that the program told us about */
    struct cuda_array *arrays;
    struct mipmapped_array *mipmapped;
    struct texture *textures;    /* and surfaces */
    struct stream *first_stream; /* the default one first */
    uint64_t streams;            /* made so far */
    struct cuda_event *ended_events;
    struct arena scratch;     /* of one entry point */
    struct absent_name *said; /* functions that were called and are not there */
    unsigned flags;           /* of cudaSetDeviceFlags */
    bool is_used;             /* by the runtime's functions, and not by the driver's alone */
    struct driver *driver;    /* what the driver's functions keep; NULL: none was called */
    struct arena arena;       /* what lives as long as the process */
};

/* The runtime, whose lock is held until runtime_leave; made when first asked for. With a device, unless `lost` says why not. */
struct runtime *runtime_enter(void);
/* Gives the lock back; the error is the thread's last one, and what is returned. */
enum cuda_error runtime_leave(struct runtime *cuda, enum cuda_error error);
/* The lock without a device: for registration, before the program has begun. */
struct runtime *runtime_enter_early(void);
void runtime_leave_early(struct runtime *cuda);
/* The lock is held: ends the device and makes a new one. */
void runtime_reset(struct runtime *cuda);
/* Words for the user: `heddle exec` shows them, without it they go to standard error. The lock is held. */
void runtime_say(struct runtime *cuda, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A function that is not there: says so by name, once, with what it answers (the name of an error). */
enum cuda_error runtime_absent(const char *name, const char *answer);

enum { CONTEXTS_MAX = 16 };
/* What CUDA keeps for every thread. */
struct runtime_thread {
    enum cuda_error last_error;
    int capture_mode;
    struct launch_configuration pushed[16]; /* of kernel<<<...>>> */
    unsigned pushed_count;
    unsigned driver_calls;                         /* functions of the driver's that are under way */
    bool uses_runtime;                             /* it has called a function of the runtime's */
    struct driver_context *contexts[CONTEXTS_MAX]; /* of the driver's functions; the last is current */
    unsigned context_count;
};
struct runtime_thread *runtime_thread(void);
/* For an entry point that answers without the device. */
enum cuda_error runtime_note(enum cuda_error error);

/* `cuda` is the runtime with its lock; where there is no device to go on with, the entry point ends here. */
#define ENTER(cuda)                                                                                                    \
    struct runtime *cuda = runtime_enter();                                                                            \
    if (cuda->lost)                                                                                                    \
    return runtime_leave(cuda, cuda->lost)

#endif
