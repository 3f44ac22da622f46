/* SPDX-License-Identifier: Apache-2.0 */
/* What Heddle's CUDA does not have, refused by name where a program is compiled: a use of one of these names is an error that
 * says so, instead of a name that nobody knows. */
#ifndef HEDDLE_CUDA_REFUSED_H
#define HEDDLE_CUDA_REFUSED_H
#pragma GCC system_header

#include "driver_types.h"

#ifdef __cplusplus
#define HEDDLE_REFUSED(name)                                                                                           \
    template <typename... Types> int name(Types...)                                                                    \
    {                                                                                                                  \
        static_assert(sizeof...(Types) > 100, "heddle cc: " #name " is not built");                                    \
        return 0;                                                                                                      \
    }
HEDDLE_REFUSED(cudaIpcOpenMemHandle)
#undef HEDDLE_REFUSED
#endif

#endif
