/* SPDX-License-Identifier: Apache-2.0 */
/* Something lies where device memory would: it is said, what both would reach is refused, and all else works. */
#include "program.h"

#include <sys/mman.h>

__attribute__((constructor(101))) static void take_addresses(void) {
    if (mmap((void *)0x10000000, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
        MAP_FAILED)
        exit(77);
}

int main(void) {
    enum { N = 500, BYTES = N * 4 };
    unsigned values[N], n = N, five = 5;
    void *device, *p = NULL, *arguments[] = {&device, &n};
    int unified = -1;
    for (unsigned i = 0; i < N; i++)
        values[i] = i;
    OK(cudaDeviceGetAttribute(&unified, 41, 0));
    IS(unified, 0);
    OK(cudaMalloc(&device, BYTES));
    OK(cudaMemcpy(device, values, BYTES, 1));
    OK(cudaMemcpyToSymbol(step, &five, 4, 0, 1));
    OK(launch(add_step, 4, 128, arguments, NULL));
    OK(cudaMemcpy(values, device, BYTES, 2));
    for (unsigned i = 0; i < N; i++)
        IS(values[i], i + 5);
    OK(cudaMemset(device, 0, BYTES));
    OK(cudaMemcpy(values, device, BYTES, 4)); /* which side is whose is seen from what was allocated */
    IS(values[7], 0);
    IS(cudaMallocManaged(&p, 100, 1), 801);
    IS(counter == NULL, 1);
    OK(cudaMallocHost(&p, 100));
    memset(p, 1, 100);
    OK(cudaMemcpy(device, p, 100, 1));
    OK(cudaFreeHost(p));
    OK(cudaHostRegister(values, BYTES, 0));
    OK(cudaHostGetDevicePointer(&p, values, 0));
    arguments[0] = &p;
    OK(launch(add_step, 4, 128, arguments, NULL));
    IS(values[7], 5);
    OK(cudaHostUnregister(values));
    OK(cudaFree(device));
    puts("right");
    return 0;
}
