/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of other people whose kernels run here, in their own processes (OpenCL, CUDA): what `heddle exec` tells them by the
 * environment, which launches run in time, and what is kept of them: a log for every device, which grows with every launch. */
#ifndef HEDDLE_RESULT_GUEST_H
#define HEDDLE_RESULT_GUEST_H

#include "device/host.h"
#include "result/session_log.h"

/* What `heddle exec` hands to the processes it starts; each is an environment variable of guest.c. */
struct guest_settings {
    bool functional;     /* no launch is timed */
    const char *kernels; /* a regular expression: only launches of kernels that match are timed; NULL: all */
    uint64_t skip;       /* of those, the first so many are not */
    uint64_t launches;   /* and so many are, at most */
    const char *sample;  /* as result/guest_sample.h says; NULL: nobody samples */
    const char *results; /* folder that takes what was measured; NULL: nobody asked */
};

struct recorder;          /* of the process */
struct session_recording; /* of one device */

struct guest_settings guest_settings_read(void);
/* The machine that the environment names. */
enum status guest_machine(struct machine *machine, struct report *report);

/* What is compiled for long is told to who waits for the program. Once for a process. */
void guest_watch_compiler(struct recorder *recorder);
/* The file of the program that this text is, by its last name: one in the folder at hand or in that of the program, or in a folder of
 * these. NULL: none is found, or nobody asked for results. */
const char *guest_source_name(const struct session_recording *recording, const char *text, size_t bytes,
                              struct arena *arena);

/* No launch is timed. */
bool guest_is_functional(const struct recorder *recorder);
/* `found` is the mark that the process leaves for its starter, a SESSION_FOUND_... */
struct recorder *recorder_create(const struct guest_settings *settings, const char *found);
/* The process ends: waits for launches that are under way. */
void recorder_end(struct recorder *recorder);

/* Of a new device; NULL: nobody asked for results. `hold` waits until nobody is at the owner's device, and keeps it. */
struct session_recording *guest_recording_create(struct recorder *recorder, void (*hold)(void *owner), void *owner);
/* NULL is fine here and below. */
void guest_recording_destroy(struct session_recording *recording);
/* Of a program that has been loaded, and the text behind the file that its positions name, or NULL. NULL: nothing is kept.
 * The caller has the device. */
struct session_entry *guest_recording_module(struct session_recording *recording, const struct program *loaded,
                                             const char *source);
/* A launch stopped: the words for the user. */
void guest_recording_fault(struct session_recording *recording, const char *message);

/* A device begins and ends, memory that the program asks for and gives back: heddle exec --check keeps account of it. The caller has the
 * device. `is_written`: the host writes there when it likes. */
void guest_device(struct session_recording *recording, struct device *device, const struct machine *machine);
void guest_device_end(struct session_recording *recording);
void guest_allocated(struct session_recording *recording, const struct host_range *range, bool is_written);
void guest_freed(struct session_recording *recording, uint64_t start);
/* Names of allocations have a number. */
bool guest_is_checked(const struct session_recording *recording);

struct guest_launch {
    struct recorder *recorder;
    struct session_recording *recording;
    struct session_entry *entry; /* of the launch's program */
    struct launch *launch;
    uint64_t ns; /* out: simulated time that it took */
};
/* Runs a launch, in time where that was asked for; what the kernel prints goes to standard output. The caller has the device. */
enum status guest_launch(struct device *device, struct guest_launch *run, struct report *report);

#endif
