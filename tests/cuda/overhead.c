/* SPDX-License-Identifier: Apache-2.0 */
/* Processor time of an empty launch, the median of many. */
#include "program.h"

#include <time.h>

static double now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    enum { MOST = 100000 };
    static double times[MOST];
    const int launches = argc > 1 ? atoi(argv[1]) : 1000;
    for (int i = 0; i < launches && i < MOST; i++) {
        const double begin = now_us();
        OK(launch(empty, 1, 32, NULL, NULL));
        times[i] = now_us() - begin;
    }
    OK(cudaDeviceSynchronize());
    qsort(times, (size_t)launches, sizeof *times, compare);
    printf("launch of an empty CUDA kernel, median of %d: %.1f us\n", launches, times[launches / 2]);
    return 0;
}
