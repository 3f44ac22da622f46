/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes: the device has none, and says so the way the specification asks. */
#include "opencl/object.h"

static void *no_object(cl_context context, cl_int *code) {
    return object_refuse(code, object_is(context, OBJECT_CONTEXT) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT);
}

#define UNUSED6(a, b, c, d, e, f) (void)(a), (void)(b), (void)(c), (void)(d), (void)(e), (void)(f)

cl_mem CL_API_CALL clCreatePipe(cl_context context, cl_mem_flags flags, cl_uint packet, cl_uint packets,
                                const cl_pipe_properties *properties, cl_int *code) {
    UNUSED6(flags, packet, packets, properties, 0, 0);
    return no_object(context, code);
}

cl_int CL_API_CALL clGetPipeInfo(cl_mem pipe, cl_pipe_info name, size_t size, void *value, size_t *size_ret) {
    UNUSED6(pipe, name, size, value, size_ret, 0);
    return CL_INVALID_MEM_OBJECT;
}
