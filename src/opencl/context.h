/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's contexts. */
#ifndef HEDDLE_OPENCL_CONTEXT_H
#define HEDDLE_OPENCL_CONTEXT_H

#include "opencl/engine.h"
#include "opencl/platform.h"

typedef void(CL_CALLBACK *context_notify)(const char *message, const void *data, size_t bytes, void *user);
typedef void(CL_CALLBACK *context_destructor)(cl_context context, void *user);

struct destructor {
    context_destructor function;
    void *user;
    struct destructor *next;
};

struct _cl_context {
    struct object object;
    cl_device_id device;
    struct engine engine;
    cl_context_properties *properties;
    size_t property_count; /* with the zero at their end */
    context_notify notify;
    void *notify_user;
    struct destructor *destructors;
    struct session_recording *recording; /* NULL: nobody asked for results */
    atomic_uint buffers;                 /* made so far: their names */
    bool is_unified; /* addresses of the device are the program's own: there is shared virtual memory */
    /* under the engine's lock: opencl/svm.h */
    struct svm_range *svm, *unused_svm;
    struct svm_mapping *unused_svm_mappings;
};

void context_retain(cl_context context);
void context_release(cl_context context);
/* The end of one that nobody refers to. */
void context_destroy(cl_context context);
/* Tells the program's callback. Not under the engine's lock. */
void context_tell(cl_context context, const char *message);

#endif
