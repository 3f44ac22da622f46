// SPDX-License-Identifier: Apache-2.0
// The C file of the program of several files.
#include "parts.h"
#include <cuda_runtime_api.h>

int parts_expected(int i) {
    const dim3 one = {1, 1, 1};
    return (i + STEP) * 2 + (int)one.x - (cudaSuccess == 0);
}
