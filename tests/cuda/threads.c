/* SPDX-License-Identifier: Apache-2.0 */
/* Sixteen host threads that use the device at once, each with its stream, memory and last error. */
#include "program.h"

#include <pthread.h>

enum { THREADS = 16, TURNS = 20, N = 256 };

static void *work(void *argument) {
    const unsigned number = *(unsigned *)argument;
    unsigned values[N], n = N;
    void *stream, *device, *event, *arguments[] = {&device, &n};
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    for (unsigned turn = 0; turn < TURNS; turn++) {
        OK(cudaMalloc(&device, sizeof values));
        for (unsigned i = 0; i < N; i++)
            values[i] = number * i;
        OK(cudaMemcpyAsync(device, values, sizeof values, 1, stream));
        OK(launch(add_step, 2, 128, arguments, stream));
        OK(cudaEventRecord(event, stream));
        OK(cudaMemcpyAsync(values, device, sizeof values, 2, stream));
        OK(cudaStreamSynchronize(stream));
        for (unsigned i = 0; i < N; i++)
            IS(values[i], number * i + 1);
        if (number % 2) {
            IS(launch(add_step, 0, 1, arguments, stream), 9);
            IS(cudaGetLastError(), 9);
        }
        OK(cudaGetLastError());
        OK(cudaFree(device));
    }
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    unsigned numbers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        numbers[i] = i;
        OK(pthread_create(&threads[i], NULL, work, &numbers[i]));
    }
    for (unsigned i = 0; i < THREADS; i++)
        OK(pthread_join(threads[i], NULL));
    puts("right");
    return 0;
}
