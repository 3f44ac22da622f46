/* SPDX-License-Identifier: Apache-2.0 */
/* The one public API above the model: load, allocate, copy, launch, result.
 * Single-threaded for the caller; two devices in one process know nothing of each other. */
#ifndef HEDDLE_DEVICE_DEVICE_H
#define HEDDLE_DEVICE_DEVICE_H

#include "base/stat.h"
#include "base/status.h"
#include "emulate/run_stats.h"
#include "isa/module.h"

struct image_view; /* image/image.h */
struct machine;    /* machine/machine.h: the parameters of a machine */
struct device;
struct program;         /* a module on a device */
struct launch_progress; /* gpu/gpu.h */
struct sm_observer;     /* sm/sm.h */
struct issue_listener;  /* emulate/emulate.h */
struct exec_watch;      /* exec/watch.h */
struct trace_reader;    /* trace/file.h */
struct trace_writer;
struct meter;         /* base/meter.h */
struct emulate_order; /* emulate/emulate.h */

enum status device_create(struct device **out, const struct machine *machine, struct report *report);
void device_destroy(struct device *device);
/* Level of the lane code in use: "v1", "v3", "v4". */
const char *device_lanes(const struct device *device);
/* Host threads that its launches in time are spread over; 1 before the first of them. */
unsigned device_host_threads(const struct device *device);
/* Functional launches of which blocks ran side by side on several host threads. */
uint64_t device_parallel_launches(const struct device *device);

/* Parses, analyses, places the module's variables. `name` is what messages and results call it.
 * Lives until the device is destroyed. */
enum status device_load(struct device *device, const char *name, const char *text, size_t length, struct program **out,
                        struct report *report);
/* The same with its variables at an address that the caller chooses; STATUS_INVALID: something is there, or the module has none. */
struct device_module {
    const char *name, *text;
    size_t length;
    uint64_t variables_at; /* 0: wherever there is room */
    bool is_misplaced;     /* out: they cannot be there */
};
enum status device_load_at(struct device *device, struct device_module *order, struct program **out,
                           struct report *report);
const struct module *program_module(const struct program *program);
/* What that was lowered from; itself where it was not. */
const struct module *program_source(const struct program *program);
/* Where its variables lie; 0: it has none. */
uint64_t program_image(const struct program *program);
/* Whether a variable of its source lies in memory that the host shares instead (host_load). */
bool program_lies_elsewhere(const struct program *program, const struct symbol *symbol);
/* Initial values of its other variables, the addresses among them too, into program_source(program)->image_bytes bytes of zero. */
void program_initial(const struct program *program, uint8_t *image);
/* What its variables in global memory take. */
uint64_t program_global_bytes(const struct program *program);

/* Device memory; addresses are deterministic and 256-byte aligned. Contents start at zero. */
enum status device_alloc(struct device *device, const char *name, uint64_t bytes, uint64_t *address,
                         struct report *report);
/* The same at an address that the caller chooses, where nothing may be. */
enum status device_alloc_at(struct device *device, const char *name, uint64_t bytes, uint64_t address,
                            struct report *report);
/* Gives an allocation back, by its first address. */
void device_free(struct device *device, uint64_t address);
/* The host has put data into this range since it was allocated: part of them are in the L2 (l2.holds_host_copies). */
void device_written(struct device *device, uint64_t address, uint64_t bytes);
/* From now on `listener` hears what the host puts into memory, and what is given back is not given out again while there is other
 * room: heddle exec --check. */
struct memory_listener; /* exec/memory.h */
void device_listen(struct device *device, const struct memory_listener *listener);
/* Direct view of an allocated range, NULL when it is not inside one allocation. */
void *device_memory(struct device *device, uint64_t address, uint64_t bytes);

/* An image over memory of the device; kernels know it by its handle, which is never 0. */
enum status device_image(struct device *device, const struct image_view *view, uint64_t *handle, struct report *report);
void device_image_end(struct device *device, uint64_t handle);

/* Functionally: the memory that the launch touches is counted; and it and the code that issued come to the caches of the machine in time. */
enum launch_footprint { FOOTPRINT_NONE, FOOTPRINT_COUNTED, FOOTPRINT_WARMS };

struct launch {
    const struct program *program;
    const struct function *kernel;
    uint32_t grid[3], block[3];          /* blocks, threads; every entry at least 1 */
    uint32_t cluster[3];                 /* blocks of a cluster; 0: as the kernel says (launch_cluster_side) */
    uint32_t dynamic_shared_bytes;       /* beyond the module's own */
    const void *params;                  /* kernel->param_bytes bytes, laid out as kernel->params say */
    uint32_t global_offset[3], work_dim; /* OpenCL's %envreg3..5, %envreg9 */
    uint64_t workspace; /* CUDA's %envreg1 (high) and 2: where blocks that wait for each other meet; 0: nowhere */
    bool in_time;       /* on the machine in time; else functionally */
    /* In time: called now and then; false stops the launch (STATUS_STOPPED). NULL: nobody looks. */
    bool (*watch)(void *watcher, const struct launch_progress *progress);
    void *watcher;
    const struct sm_observer *issues; /* in time: hears of every issue; NULL: nobody */
    struct meter *meter; /* in time: what parts of the machine take of the host, base/meter.h; NULL: nobody asks */
    const struct issue_listener *listener; /* functionally: the same */
    const struct emulate_order *order;     /* functionally, on one host thread: another order of threads; NULL: none */
    const struct exec_watch *checker;      /* functionally, on one host thread: hears of accesses and barriers */
    enum launch_footprint footprint;       /* functionally */
    struct trace_writer *trace_to;         /* in time: what its warps do goes there; NULL: nowhere */
    struct trace_reader *trace_from; /* in time: they do what was recorded, and compute nothing; NULL: they execute */
};

/* Blocks of a cluster of the launch, in that dimension. */
static inline uint32_t launch_cluster_side(const struct launch *launch, unsigned dimension) {
    const uint32_t required = launch->kernel->required_cluster[dimension];
    return launch->cluster[dimension] ? launch->cluster[dimension] : required ? required : 1;
}

extern const struct stat_description run_stats_table[];

/* Per static instruction, index = PC. */
struct inst_stats {
    uint64_t issues;    /* groups issued */
    uint64_t lanes;     /* active lanes before the guard */
    uint64_t threads;   /* thread instructions */
    uint64_t divergent; /* issues at which the group's lanes diverged */
};

static inline void inst_stats_add(struct inst_stats *into, const struct inst_stats *from) {
    into->issues += from->issues;
    into->lanes += from->lanes;
    into->threads += from->threads;
    into->divergent += from->divergent;
}

struct gpu_stats; /* gpu/gpu.h */

struct launch_result {
    const char *kernel;
    struct run_stats stats;
    struct inst_stats *instructions; /* module->code_count of them */
    char *output;                    /* what printf wrote, in order of block, thread, sequence; NULL: nothing */
    size_t output_bytes;
    char *remarks;            /* on what was let pass (memory.out_of_bounds, printf.buffer_bytes); NULL: nothing */
    uint64_t footprint_bytes; /* sectors that it touched, where that was wanted */
    struct gpu_stats *timed;  /* NULL: the run was functional */
    struct arena arena;       /* holds all of these */
};

/* STATUS_STOPPED with a report when a thread faults, deadlocks, or a limit is met; the device then refuses more work. */
enum status device_launch(struct device *device, const struct launch *launch, struct launch_result *result,
                          struct report *report);
void launch_result_free(struct launch_result *result);

#endif
