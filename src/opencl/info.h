/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to clGet*Info. A query is a line of a list in the body of a switch:
 *   INFO(CL_X, type, value)  INFO_TEXT(CL_X, string)  INFO_LIST(CL_X, type, pointer, count)
 * in a function whose last parameters are `size`, `value`, `size_ret`, as OpenCL has them. */
#ifndef HEDDLE_OPENCL_INFO_H
#define HEDDLE_OPENCL_INFO_H

#include <string.h>

#include "opencl/cl.h"

static inline cl_int info_copy(const void *answer, size_t bytes, size_t size, void *value, size_t *size_ret) {
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value && bytes)
        memcpy(value, answer, bytes);
    if (size_ret)
        *size_ret = bytes;
    return CL_SUCCESS;
}

static inline cl_int info_text(const char *text, size_t size, void *value, size_t *size_ret) {
    return info_copy(text, strlen(text) + 1, size, value, size_ret);
}

/* clang-format off */
#define INFO(name, type, answer) \
    case name: return info_copy(&(const type){answer}, sizeof(type), size, value, size_ret);
#define INFO_TEXT(name, text) \
    case name: return info_text(text, size, value, size_ret);
#define INFO_LIST(name, type, pointer, count) \
    case name: return info_copy(pointer, (count) * sizeof(type), size, value, size_ret);
/* clang-format on */

#endif
