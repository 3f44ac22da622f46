/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA has types of the driver's functions here, by version. There are none; libraries include the file and do without. */
#ifndef HEDDLE_CUDA_TYPEDEFS_H
#define HEDDLE_CUDA_TYPEDEFS_H

#include "cuda.h"

#endif
