/* What a process leaves beside its document, for the program that started it: both are of one build. */
#ifndef HEDDLE_DEVICE_SESSION_PART_H
#define HEDDLE_DEVICE_SESSION_PART_H

#include "device/device.h"
#include "gpu/gpu.h"

#define SESSION_FORM "heddle part 1"
#define SESSION_TOTALS ".totals"
#define SESSION_DOCUMENT ".json"

struct session_totals {
    char form[16];
    uint64_t mechanism_bytes; /* of the mechanism's own counters, which follow */
    struct run_stats stats;
    struct gpu_stats timed; /* without what it points to */
};

#endif
