/* SPDX-License-Identifier: Apache-2.0 */
/* What host programs need beside launches: boxes of bytes moved to and from a device, the simulated time that things take,
 * addresses that host and device share, and why a launch stopped. */
#ifndef HEDDLE_DEVICE_HOST_H
#define HEDDLE_DEVICE_HOST_H

#include "device/device.h"

struct box_side {
    uint8_t *data;
    size_t row, slice; /* bytes from a row to the next, from a slice to the next */
};

/* Bytes that are moved row by row; a plain range is a box of one row. */
struct box {
    struct box_side to, from;
    size_t bytes, rows, slices;
    uint64_t written; /* device address of to.data where the host wrote it; 0: it did not */
};

/* Returns the bytes moved. */
uint64_t host_move(struct device *device, const struct box *box);

/* The device itself has filled this range, of which the caller has the view. */
void host_filled(struct device *device, const uint8_t *data, uint64_t bytes);

/* Moving data between host and device is not modelled: it takes as long as the DRAM at its best. */
uint64_t host_move_ns(const struct device *device, uint64_t bytes);
/* Simulated time of a launch. Without time it is what the SMs need at least: one issue each per cycle. */
uint64_t host_launch_ns(const struct device *device, const struct launch_result *result);

/* Moves a device's memory, of which nothing is allocated yet, to where the host's addresses are the device's own; where the host
 * has less room there, to less of it. False: those addresses are taken, and all is as it was. */
bool host_unify(struct device *device);
/* The first address that can be allocated, and whether this is one of them. */
uint64_t host_first_address(void);
bool host_is_address(const struct device *device, uint64_t address);
/* What can be allocated at all. */
uint64_t host_capacity_bytes(const struct device *device);
/* What is allocated now, with what is kept free behind it. */
uint64_t host_used_bytes(const struct device *device);
/* The heap of kernels' malloc. It is made for the first kernel that has use for it; false: it has been, or there are not so many. */
uint64_t host_heap_bytes(const struct device *device);
bool host_has_heap(const struct device *device);
bool host_set_heap(struct device *device, uint64_t bytes);
/* The allocation that holds the address; false: none does. */
bool host_allocation(const struct device *device, uint64_t address, uint64_t *start, uint64_t *bytes);

/* Allocations by address, variables of modules among them, each with the room from its first byte to its last. */
unsigned host_allocation_count(const struct device *device);
struct host_range {
    uint64_t start, bytes;
    const char *name;
};
struct host_range host_allocation_at(const struct device *device, unsigned index);

/* Kernels reach this memory of the host at its own addresses. False: host and device have addresses of their own, or there is such a
 * range already. */
bool host_share(struct device *device, uint64_t address, uint64_t bytes);
/* A variable of a module that lies in such memory. */
struct variable_place {
    const char *name;
    uint64_t address;
};
struct module_text {
    const char *name, *text;
    size_t length;
};
/* device_load of a module with such variables. */
enum status host_load(struct device *device, const struct module_text *text, const struct variable_place *places,
                      unsigned count, struct program **out, struct report *report);

/* Whether kernels with images run on the machine: not as native code, and in time not where lanes of an issue come back apart. */
bool host_has_images(const struct machine *machine, bool in_time);

/* The key that makes caches keep what launches without time do not bring there; NULL: none does. */
const char *host_cannot_warm(const struct machine *machine);

/* All slices of the L2 together; 0: there is none. */
uint64_t host_l2_bytes(const struct machine *machine);
/* Blocks of so many threads that an SM holds at a time; 0: it cannot hold any. */
uint32_t host_blocks_per_sm(const struct device *device, const struct function *kernel, uint32_t threads,
                            uint32_t dynamic_shared_bytes);

enum host_stop { STOP_OTHER, STOP_ADDRESS, STOP_ALIGNMENT, STOP_TRAP, STOP_ASSERT, STOP_LIMIT };
/* What a launch that stopped says in its report. */
enum host_stop host_stop_of(const struct report *report);

#endif
