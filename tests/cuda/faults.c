/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that stop: CUDA's codes, from every call after them; a reset makes the device anew. */
#include "program.h"

static void check_lost(int code) {
    void *p = NULL;
    IS(cudaDeviceSynchronize(), code);
    IS(cudaMalloc(&p, 4), code);
    IS(cudaGetLastError(), code);
    IS(launch(empty, 1, 1, NULL, NULL), code);
    OK(cudaDeviceReset());
    cudaGetLastError();
    OK(launch(empty, 1, 1, NULL, NULL));
    OK(cudaDeviceSynchronize());
}

int main(void) {
    uint64_t at = 64;
    void *p = NULL, *arguments[] = {&at};
    OK(launch(wild, 1, 1, arguments, NULL)); /* told by the next call, as a GPU would */
    check_lost(700);
    OK(cudaMalloc(&p, 64));
    at = (uint64_t)(uintptr_t)p + 2;
    OK(launch(wild, 1, 1, arguments, NULL));
    check_lost(716);
    OK(launch(stop, 1, 1, NULL, NULL));
    check_lost(719);
    OK(launch(spin, 1, 1, NULL, NULL));
    check_lost(702);
    puts("right");
    return 0;
}
