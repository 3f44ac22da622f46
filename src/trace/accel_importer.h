/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign trace while it is imported, for the files that do it. */
#ifndef HEDDLE_TRACE_ACCEL_IMPORTER_H
#define HEDDLE_TRACE_ACCEL_IMPORTER_H

#include "trace/accel.h"

/* A kernel, of whatever launches have its name. */
struct imported_kernel {
    const char *name;
    unsigned sm, registers;
    struct seen {
        struct traced_inst inst;
        struct traced_opcode opcode;
        bool is_there;
    } * seen; /* by index */
    uint32_t count;
    uint64_t local_first, local_end; /* bytes of local memory that its threads access */
    uint32_t first_pc;
};

struct one_launch {
    const char *path;
    struct scan_word text; /* of the file, where that was read already */
    unsigned kernel;
    struct accel_header header;
};

struct importer {
    struct accel_import *out;
    struct report *report;
    struct {
        struct imported_kernel *items;
        unsigned count, capacity;
    } kernels;
    struct {
        struct one_launch *items;
        unsigned count, capacity;
    } launches;
    struct module *module; /* of the listing, once that is there */
    struct arena scratch;  /* of one file after the other */
};

/* The listing of all kernels, and its module. */
enum status importer_list_kernels(struct importer *importer);
/* The launch file. */
enum status importer_list_launches(struct importer *importer);

#endif
