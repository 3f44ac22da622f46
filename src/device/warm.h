/* SPDX-License-Identifier: Apache-2.0 */
/* Functional launches of which something is to be known beside what they compute: how much memory they touch, and what they leave in
 * the caches of the machine in time. */
#ifndef HEDDLE_DEVICE_WARM_H
#define HEDDLE_DEVICE_WARM_H

#include "device/launch.h"

/* Around a launch: what it accesses is noted, as launch->footprint asks. STATUS_SYSTEM: the host has no room. */
enum status warm_begin(struct device *device, const struct launch *launch, struct report *report);
/* result->footprint_bytes is there, and with FOOTPRINT_WARMS the caches have what it accessed and issued. */
enum status warm_end(struct device *device, const struct launch *launch, struct launch_result *result,
                     struct report *report);
/* With the device. */
void warm_destroy(struct device *device);

#endif
