/* SPDX-License-Identifier: Apache-2.0 */
/* What the host sides of the workloads share. A workload is an ordinary OpenCL program: it generates its input, runs its
 * kernels on the first device there is, computes the result once more on the host, and compares. */
#ifndef SUITE_WORKLOAD_H
#define SUITE_WORKLOAD_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* test: well under a second in time; medium: a minute at most; paper: what the document ran. */
enum size { SIZE_TEST, SIZE_MEDIUM, SIZE_PAPER, SIZE_COUNT };

enum { WORKLOAD_OBJECTS = 64 };

struct workload {
    enum size size;
    uint64_t seed;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_program program; /* of NAME.cl */
    const char *name, *path;
    bool wrong; /* a comparison failed */
    cl_mem buffers[WORKLOAD_OBJECTS];
    void *memory[WORKLOAD_OBJECTS]; /* both given back when the body has ended */
    size_t buffer_count, memory_count;
};

/* The main program of a workload: `body` does all of it on the size asked for. Returns the exit status: 0 right, 1 wrong,
 * 2 bad usage or a call that failed.
 * --seed N, 1 unless given: N = 1 is the input that the documents' numbers are held against; any other draws the input anew, and
 * puts all buffers at another place of memory, for programs whose time does not depend on values.
 * options: of the compiler, NULL: none. */
int workload_main(int argc, char **argv, const char *name, const char *options, void (*body)(struct workload *w));

/* Ends the program with a message when an OpenCL call fails. */
#define CL(call) workload_check((call), #call)
void workload_check(cl_int code, const char *call);
/* Zeroed memory until the workload's end; ends the program when there is none. WORKLOAD_NEW(w, uint32_t, n): an array. */
void *workload_alloc(struct workload *w, size_t count, size_t bytes);
#define WORKLOAD_NEW(w, type, count) ((type *)workload_alloc((w), (count), sizeof(type)))

/* ---- on the device ---- */

/* A buffer until the workload's end, with a copy of what is there; NULL: zeroes. */
cl_mem workload_buffer(struct workload *w, size_t bytes, const void *from);
/* The same of a buffer of which only what is written is read: it takes memory where it is touched. */
cl_mem workload_untouched_buffer(struct workload *w, size_t bytes);
void workload_write_at(struct workload *w, cl_mem buffer, size_t offset, size_t bytes, const void *from);
void workload_write(struct workload *w, cl_mem buffer, size_t bytes, const void *from);
void workload_read(struct workload *w, cl_mem buffer, size_t bytes, void *to);

struct argument {
    size_t bytes;
    const void *value;
};
#define ARGUMENT(variable)                                                                                             \
    { sizeof(variable), &(variable) }
#define LOCAL_BYTES(bytes)                                                                                             \
    { (bytes), NULL }
/* workload_launch(w, "kernel", 1, (size_t[]){n}, (size_t[]){256}, ARGUMENT(a), ARGUMENT(n)) */
#define workload_launch(w, kernel, dimensions, global, local, ...)                                                     \
    workload_enqueue((w), (kernel), (dimensions), (global), (local), (const struct argument[]){__VA_ARGS__},           \
                     sizeof((const struct argument[]){__VA_ARGS__}) / sizeof(struct argument))
void workload_enqueue(struct workload *w, const char *kernel, cl_uint dimensions, const size_t *global,
                      const size_t *local, const struct argument *arguments, size_t count);

/* Threads of a block so that blocks can fill an SM: the largest block of the device, in the fewest equal parts of at most
 * `most` threads. */
size_t workload_block(struct workload *w, size_t most);
/* Threads of a block of the kernel: `block`, or as many as its warps need to be whole where the device has warps that are
 * larger than that, if the kernel may have so many and `threads` are a multiple of them. */
size_t workload_warp_block(struct workload *w, const char *kernel, size_t block, size_t threads);
/* SMs of the device. */
uint32_t workload_sms(struct workload *w);
/* Builds NAME.cl again, with these options of the compiler. */
void workload_rebuild(struct workload *w, const char *options);
/* Elements from a row to the next where threads walk down the columns of a table: an odd number of the spans of 128 bytes, so
 * that the rows of a column do not fall into few sets of a cache. */
#define WORKLOAD_PITCH(count, bytes) ((uint32_t)((((count) * (bytes) + 127) / 128 | 1) * 128 / (bytes)))
static inline size_t workload_round_up(size_t threads, size_t block) { return (threads + block - 1) / block * block; }

/* ---- right or wrong ---- */

/* Every element the same; the first that is not is shown. */
void workload_equal_u32(struct workload *w, const char *what, const uint32_t *got, const uint32_t *expected,
                        size_t count);
/* |got - expected| <= tolerance * max(1, |expected|), and neither is a NaN. */
void workload_close_f32(struct workload *w, const char *what, const float *got, const float *expected, size_t count,
                        double tolerance);
/* Anything else that must hold. */
void workload_expect(struct workload *w, bool holds, const char *what);

/* ---- inputs: the same bits on every host ---- */

/* Added to every generator's state, so that --seed N draws another input of the same kind; 0 for seed 1. Set before the body runs. */
extern uint64_t random_start;

struct random {
    uint64_t state;
};
static inline uint64_t random_u64(struct random *r) { /* SplitMix64 (Steele, Lea, Flood 2014) */
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15)) + random_start;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}
/* [0, below). */
static inline uint32_t random_below(struct random *r, uint32_t below) {
    return (uint32_t)((random_u64(r) >> 32) * below >> 32);
}
/* [0, 1), a multiple of 2^-24. */
static inline float random_unit(struct random *r) { return (float)(random_u64(r) >> 40) * 0x1p-24f; }

#endif
