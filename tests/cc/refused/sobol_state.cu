// SPDX-License-Identifier: Apache-2.0
// refused: heddle cc: curandStateSobol32 is not built
#include <curand_kernel.h>
__global__ void kernel(curandStateSobol32 *states) { curandStateSobol32 own = states[threadIdx.x]; }
