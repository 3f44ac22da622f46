/* What was measured, kept for `heddle exec`. */
#ifndef HEDDLE_OPENCL_RECORD_H
#define HEDDLE_OPENCL_RECORD_H

#include "device/device.h"
#include "opencl/platform.h"

struct record;

/* Whoever keeps the process's results; NULL: nobody asked for them, and there is nothing to choose by. */
struct recorder *record_create(cl_platform_id platform, struct report *report);
/* Writes what there is. */
void record_end(struct recorder *recorder);
/* Of a program that has been loaded; NULL: nothing is kept. */
struct record *record_program(cl_program program);
/* Whether the next launch of this kernel runs in time. */
bool record_chooses_time(cl_platform_id platform, const char *kernel);
/* Takes the result over. */
void record_launch(struct record *record, const struct launch *launch, struct launch_result *result);
/* A launch stopped: the words for the user. */
void record_fault(cl_platform_id platform, const char *message);

#endif
