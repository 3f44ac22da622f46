/* SPDX-License-Identifier: Apache-2.0 */
/* An argument that is a tensor map: {tensor: x, type: f16, sizes: [64, 64], box: [64, 8], swizzle: 128}. */
#ifndef HEDDLE_LAUNCH_TENSOR_ARG_H
#define HEDDLE_LAUNCH_TENSOR_ARG_H

#include "launch/launch_file.h"

/* Fills in everything but the buffer, which the caller finds, and the address, which nobody knows yet. */
enum status tensor_arg_read(const struct yaml *yaml, const struct yaml_node *node, struct arena *arena,
                            struct launch_arg *out, struct report *report);
/* The map of a tensor at that address; false: CUDA would not take it, and `why` says so. */
bool tensor_arg_map(const struct launch_arg *arg, uint64_t address, void *map, const char **why);

#endif
