/* SPDX-License-Identifier: Apache-2.0 */
/* What outlives a launch on a device, but for the contents of memory: for checkpoints (launch/checkpoint.h). */
#ifndef HEDDLE_DEVICE_KEPT_H
#define HEDDLE_DEVICE_KEPT_H

#include "base/keep.h"
#include "device/device.h"

/* Between launches; `next` is the program of the launch that comes. Launches so far, the books of kernels' heap, and of the machine
 * in time, if there is one yet, all that lives in caches and DRAM. Read into a device without a launch, on the same machine;
 * `cold`: what is of the machine in time is left out. STATUS_INVALID with a report: damaged, or a part that cannot be kept. */
enum status device_keep(struct device *device, const struct program *next, bool cold, struct keep *keep,
                        struct report *report);
/* Where the heap of kernels' malloc lies, which device_keep makes again; 0: there is none. */
uint64_t device_heap_address(const struct device *device);
const struct machine *device_machine(const struct device *device);
/* Of the instructions of a program. */
uint64_t device_code_hash(const struct program *program);

#endif
