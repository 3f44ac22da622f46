/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA has types of the driver's functions here, by version. Here are those of tensor maps, which programs look for by cudaGetDriverEntryPoint;
 * libraries include the file and do without the rest. */
#ifndef HEDDLE_CUDA_TYPEDEFS_H
#define HEDDLE_CUDA_TYPEDEFS_H

#include "cuda.h"

typedef CUresult(CUDAAPI *PFN_cuTensorMapEncodeTiled_v12000)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                                             const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                                             CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult(CUDAAPI *PFN_cuTensorMapReplaceAddress_v12000)(CUtensorMap *, void *);
#define PFN_cuTensorMapEncodeTiled PFN_cuTensorMapEncodeTiled_v12000
#define PFN_cuTensorMapReplaceAddress PFN_cuTensorMapReplaceAddress_v12000

#endif
