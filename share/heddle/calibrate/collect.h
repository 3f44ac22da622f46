/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of Heddle's own, timed on the GPU at hand: rows of GPU,PROGRAM,ARGUMENTS,KERNEL,MICROSECONDS,SPREAD,CLOCK_MHZ,SOURCE. */
struct collected {
    enum kernel kernel;
    unsigned elements, width; /* a and b of the kernel */
};

static const struct collected collected[] = {
    {COLLECT_SAXPY, 1u << 16, 0},     {COLLECT_SAXPY, 1u << 19, 0},    {COLLECT_SUM, 1u << 18, 0},
    {COLLECT_TRANSPOSE, 1u << 16, 256}, {COLLECT_MATMUL, 1u << 14, 128}, {COLLECT_MATMUL, 1u << 16, 256},
    {COLLECT_STENCIL, 1u << 18, 512}, {COLLECT_GATHER, 1u << 17, 0},   {COLLECT_COLLATZ, 1u << 14, 0},
};

static void collect(void) {
    printf("gpu,program,arguments,kernel,microseconds,spread,clock_mhz,source\n");
    for (unsigned i = 0; i < sizeof collected / sizeof *collected; i++) {
        const struct collected *one = &collected[i];
        const int repeats = is_exact ? 2 : REPEATS;
        const unsigned blocks = one->kernel == COLLECT_SUM ? 64 : one->elements / 256;
        double times[REPEATS];
        for (int k = 0; k < repeats; k++)
            times[k] = gpu_run(one->kernel, blocks, 256, 1, one->elements, one->width);
        /* The first finds caches as they are; it is not counted. */
        const struct value time = middle_of(times + 1, repeats - 1);
        printf("\"%s\",calibrate,%u %u,%s,%.9g,%.3g,%u,%s\n", facts.name, one->elements, one->width, kernel_names[one->kernel],
               time.middle * 1e-3, time.spread, facts.clock_mhz, "events of heddle collect's program");
        fflush(stdout);
    }
}
