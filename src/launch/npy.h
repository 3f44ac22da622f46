/* SPDX-License-Identifier: Apache-2.0 */
/* NumPy's .npy files: one array of numbers with its type and shape. */
#ifndef HEDDLE_LAUNCH_NPY_H
#define HEDDLE_LAUNCH_NPY_H

#include "base/status.h"
#include "launch/element.h"

enum { NPY_DIMENSIONS_MAX = 8, NPY_HEADER_BYTES = 128 };

struct npy {
    char descr[8]; /* as written: "<f4" */
    unsigned dimensions;
    uint64_t shape[NPY_DIMENSIONS_MAX];
    uint64_t count;   /* product of the shape */
    const void *data; /* inside the bytes given, no alignment promised */
    size_t data_bytes;
};

bool npy_is(const void *bytes, size_t length);
/* Reads versions 1 to 3 in C order; `name` is what messages call the file. */
enum status npy_parse(const char *name, const void *bytes, size_t length, struct npy *out, struct report *report);
/* Whether the array holds elements of this type. bf16, which NumPy lacks, is read from <u2 and |V2. */
bool npy_matches(const struct npy *npy, enum element element);
/* How NumPy names the type. */
const char *npy_descr(enum element element);
/* The header of a one-dimensional array; the elements follow it in the file. */
void npy_header(enum element element, uint64_t count, char header[NPY_HEADER_BYTES]);

#endif
