/* SPDX-License-Identifier: Apache-2.0 */
/* The same as cutil.h. */
#ifndef HEDDLE_CUDA_CUTIL_INLINE_H
#define HEDDLE_CUDA_CUTIL_INLINE_H
#pragma GCC system_header
#include "cutil.h"
#endif
