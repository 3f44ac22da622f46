/* SPDX-License-Identifier: Apache-2.0 */
/* What is measured and how, over the few functions that calibrate.cu and calibrate.c have each of their own. Times of launches are all
 * there is: what one more operation takes is the difference of two lengths. Writes rows of NAME,VALUE,SPREAD,UNIT,HOW. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kernel {
    EMPTY, CHAIN_FMA, CHAIN_MAD, CHAIN_ADD_LOGIC, CHAIN_SFU, CHAIN_DP, CHAIN_SHARED, CHASE,
    RATE_FMA, RATE_MAD, RATE_SFU, RATE_DP, RATE_SHARED, STREAM, STREAM_ALL,
    COLLECT_SAXPY, COLLECT_SUM, COLLECT_TRANSPOSE, COLLECT_MATMUL, COLLECT_STENCIL, COLLECT_GATHER, COLLECT_COLLATZ, KERNELS
};
static const char *const kernel_names[KERNELS] = {
    "empty", "chain_fma", "chain_mad", "chain_add_logic", "chain_sfu", "chain_dp", "chain_shared", "chase",
    "rate_fma", "rate_mad", "rate_sfu", "rate_dp", "rate_shared", "stream", "stream_all",
    "collect_saxpy", "collect_sum", "collect_transpose", "collect_matmul", "collect_stencil", "collect_gather", "collect_collatz"};

struct gpu_facts { /* as the driver tells them */
    char name[256];
    unsigned sms, clock_mhz, block_threads;
    unsigned long long l2_bytes;
    int has_doubles;
};

/* Of calibrate.cu and calibrate.c. run: nanoseconds of one launch. */
static void gpu_open(struct gpu_facts *facts);
static void gpu_allocate(size_t bytes);
static void gpu_write(const unsigned *words, size_t first, size_t count);
static double gpu_run(enum kernel kernel, unsigned blocks, unsigned threads, unsigned n, unsigned a, unsigned b);

static struct gpu_facts facts;
static int is_exact;     /* simulated: the same every time, and short is enough */
static double clock_ghz; /* that turns times into cycles */
static size_t buffer_words;

static void row(const char *name, double value, double spread, const char *unit, const char *how) {
    printf("%s,%.9g,%.3g,%s,\"%s\"\n", name, value, spread, unit, how);
    fflush(stdout);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { REPEATS = 7 };

struct value {
    double middle, spread; /* spread: (largest - smallest) / middle */
};

static struct value middle_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    struct value out = {values[count / 2], 0};
    out.spread = out.middle > 0 ? (values[count - 1] - values[0]) / out.middle : 0;
    return out;
}

/* Nanoseconds that one more round takes; rounds are doubled until the difference is far above what a clock's steps are. */
static struct value slope(enum kernel kernel, unsigned blocks, unsigned threads, unsigned a, unsigned b, unsigned rounds) {
    const double enough = is_exact ? 1500 : 300000;
    const int repeats = is_exact ? 1 : REPEATS;
    double values[REPEATS], shorter, longer;
    unsigned n = rounds;
    if (!is_exact || kernel == CHASE) /* an L2 of two halves keeps copies of what the other half has: the first launch makes them */
        gpu_run(kernel, blocks, threads, n, a, b);
    shorter = gpu_run(kernel, blocks, threads, n, a, b);
    while ((longer = gpu_run(kernel, blocks, threads, 2 * n, a, b)) - shorter < enough && n < 1u << 26)
        shorter = longer, n *= 2;
    values[0] = (longer - shorter) / n;
    for (int i = 1; i < repeats; i++)
        values[i] = (gpu_run(kernel, blocks, threads, 2 * n, a, b) - gpu_run(kernel, blocks, threads, n, a, b)) / n;
    return middle_of(values, repeats);
}

static void chain(const char *name, enum kernel kernel, unsigned operations, const char *how) {
    const struct value one = slope(kernel, 1, 32, 3, 5, 8);
    row(name, one.middle * clock_ghz / operations, one.spread, "cycles", how);
}

/* Warp instructions of an SM in a cycle, with as many threads as a block may have on every SM. */
static void rate(const char *name, enum kernel kernel) {
    const unsigned threads = facts.block_threads < 512 ? facts.block_threads : 512;
    const struct value one = slope(kernel, facts.sms, threads, 3, 5, 4);
    row(name, 16.0 * threads / 32 / (one.middle * clock_ghz), one.spread, "warp instructions a cycle and SM", "difference of two lengths, all SMs");
}

/* ---- pointer chases ---- */

static unsigned lcg(unsigned *state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }

/* A ring through every stride-th byte from the first word on, in random order, or in order. */
static unsigned ring(size_t first, size_t bytes, size_t stride, int in_order) {
    const size_t step = stride / 4, count = bytes / stride;
    unsigned *places = (unsigned *)malloc(count * sizeof *places), *words = (unsigned *)calloc(bytes / 4, 4), state = 7;
    for (size_t i = 0; i < count; i++)
        places[i] = (unsigned)i;
    for (size_t i = count - 1; i > 0 && !in_order; i--) {
        const size_t k = lcg(&state) % (i + 1);
        const unsigned held = places[i];
        places[i] = places[k], places[k] = held;
    }
    for (size_t i = 0; i < count; i++)
        words[places[i] * step] = (unsigned)(first + places[(i + 1) % count] * step);
    gpu_write(words, first, bytes / 4);
    const unsigned start = (unsigned)(first + places[0] * step);
    free(places);
    free(words);
    return start;
}

/* Cycles of a step of a ring that has been gone round once before. Every SM goes round it. A single block would run on another SM in each
 * launch, at another distance from the L2, and the difference of two launches would contain that distance. */
static struct value ring_latency(size_t bytes, size_t stride, int in_order) {
    const unsigned start = ring(0, bytes, stride, in_order);
    unsigned rounds = (unsigned)(bytes / stride / 16);
    struct value one = slope(CHASE, facts.sms, 1, start, 0, rounds < 4 ? 4 : rounds);
    one.middle *= clock_ghz / 16;
    return one;
}

static size_t fresh_words; /* of the buffer's first half, that have been read */

/* Cycles of a step through lines that nobody has read: those of the first run, and others of the second. */
static double fresh_latency(size_t stride) {
    enum { ROUNDS = 32 };
    const size_t words = stride / 4 * 16 * ROUNDS;
    const unsigned one = ring(fresh_words, 4 * words, stride, 1), other = ring(fresh_words + words, 8 * words, stride, 1);
    fresh_words += 3 * words + 1024;
    ring(buffer_words / 2, 2 * facts.l2_bytes, 128, 1); /* what was written is pushed out of the L2 */
    const double shorter = gpu_run(CHASE, 1, 1, ROUNDS, one, 0);
    const double longer = gpu_run(CHASE, 1, 1, 2 * ROUNDS, other, 0);
    return (longer - shorter) / ROUNDS * clock_ghz / 16;
}

/* The largest ring that stays as near as the smallest, to a sixteenth. */
static size_t near_bytes(double near, size_t most) {
    size_t low = 2048, high = 4096;
    while (high <= most && ring_latency(high, 128, 0).middle < 1.15 * near)
        low = high, high *= 2;
    if (high > most)
        return 0;
    for (size_t step = low / 2; step >= low / 16 && step >= 128; step /= 2)
        if (ring_latency(low + step, 128, 0).middle < 1.15 * near)
            low += step;
    return low;
}

/* Bytes that come with the one asked for: the stride from which on every step costs the same. */
static size_t fetched_bytes(double (*latency)(size_t stride)) {
    size_t stride = 16;
    double before = latency(stride);
    for (; stride < 512; stride *= 2) {
        const double next = latency(2 * stride);
        if (next < 1.1 * before)
            return stride;
        before = next;
    }
    return 0;
}

static size_t near_ring, far_ring; /* the largest that the L1 holds; one that it does not */
static double from_l2(size_t stride) { return ring_latency(far_ring, stride, 1).middle; }

static void memory_rows(void) {
    struct value one = ring_latency(2048, 128, 0);
    const double near = one.middle;
    row("latency_l1", near, one.spread, "cycles", "pointer chase through 2 KiB; instructions of the address are in it");
    size_t l1 = near_bytes(near, facts.l2_bytes / 4 < 1 << 20 ? facts.l2_bytes / 4 : 1 << 20);
    if (l1)
        row("l1_bytes", (double)l1, 0.0625, "bytes", "largest ring that stays as near; to a sixteenth");
    else
        row("l1_bytes", NAN, 0, "bytes", "not seen: rings of all sizes are equally near");
    near_ring = l1;
    far_ring = l1 && 4 * l1 <= facts.l2_bytes / 2 ? 4 * l1 : facts.l2_bytes / 2;
    one = ring_latency(far_ring, 128, 0);
    row("latency_l2", one.middle, one.spread, "cycles", "the same beyond the L1 and within the L2");
    row("l1_fetch_bytes", (double)fetched_bytes(from_l2), 0, "bytes", "stride from which on every step of a ring beyond the L1 is as far");
    fresh_words = (facts.l2_bytes + (2 << 20)) / 4; /* what was gone round lies before */
    row("l2_fetch_bytes", (double)fetched_bytes(fresh_latency), 0, "bytes", "the same of lines that nobody has read");
    row("latency_dram", fresh_latency(512), 0, "cycles", "pointer chase through lines that nobody has read");
}

/* So many words, as a multiple of what all threads read at a time. */
static unsigned whole(size_t words, unsigned threads) { return (unsigned)(words / (4 * threads) * (4 * threads)); }

static void bandwidth_rows(void) {
    const unsigned threads = facts.block_threads < 512 ? facts.block_threads : 512, blocks = 4 * facts.sms;
    const unsigned all = whole(buffer_words / 2, blocks * threads), half = (unsigned)(buffer_words / 2);
    const unsigned words = whole(is_exact ? 1u << 19 : 1u << 25, blocks * threads), first = (unsigned)(buffer_words / 4);
    gpu_run(STREAM, blocks, threads, 1, all, half); /* what was read before is pushed out of the L2 */
    const double shorter = gpu_run(STREAM, blocks, threads, 1, words, first);
    gpu_run(STREAM, blocks, threads, 1, all, half);
    const double longer = gpu_run(STREAM, blocks, threads, 1, 2 * words, first);
    row("bandwidth_dram", 4.0 * words / (longer - shorter), 0, "GB/s", "difference of two lengths, all SMs");
    const size_t bytes = 4 * (size_t)whole((far_ring < 4 * near_ring ? far_ring : near_ring + near_ring / 4) / 4, threads);
    const struct value l2 = slope(STREAM_ALL, blocks, threads, (unsigned)(bytes / 4), 0, 1);
    row("bandwidth_l2", (double)bytes * blocks / l2.middle, l2.spread, "GB/s", "every block reads all of a ring's bytes, beyond its L1");
}

static void bank_rows(void) {
    const unsigned threads = facts.block_threads;
    double times[7];
    unsigned banks = 0;
    for (unsigned i = 0; i < 7; i++)
        times[i] = slope(RATE_SHARED, 1, threads, 1u << i, 0, 4).middle;
    for (unsigned i = 0; i < 6 && !banks; i++)
        banks = times[i + 1] < 1.2 * times[i] && times[i] > 1.5 * times[0] ? 1u << i : 0;
    row("shared_rate", 16.0 * threads / 32 / (times[0] * clock_ghz), 0, "warp instructions a cycle and SM", "loads of neighbouring words, one block");
    row("shared_banks", banks ? banks : NAN, 0, "banks", "stride in words from which on conflicts do not grow");
}

#include "collect.h"

/* Without words: rows that heddle calibrate reads. `collect`: rows of kernels that are timed. */
static void measure(int count, char **words) {
    gpu_open(&facts);
    is_exact = strstr(facts.name, "Heddle") != NULL;
    clock_ghz = facts.clock_mhz * 1e-3;
    buffer_words = (facts.l2_bytes * 2 + (is_exact ? 8u << 20 : 512u << 20)) / 4 * 2;
    gpu_allocate(buffer_words * 4);
    if (count > 1 && strcmp(words[1], "collect") == 0) {
        collect();
        return;
    }
    printf("name,value,spread,unit,how\n");
    printf("gpu,nan,0,,\"%s\"\n", facts.name);
    row("sms", facts.sms, 0, "SMs", "the driver says so");
    row("clock_mhz", facts.clock_mhz, 0, "MHz", "the driver says so; lock the clock while measuring");
    row("l2_bytes", (double)facts.l2_bytes, 0, "bytes", "the driver says so");
    double times[REPEATS];
    for (int i = 0; i < REPEATS; i++)
        times[i] = gpu_run(EMPTY, 1, 32, 0, 0, 0);
    const struct value launch = middle_of(times, REPEATS);
    row("launch", launch.middle * clock_ghz, launch.spread, "cycles", "an empty kernel");
    chain("chain_fma", CHAIN_FMA, 64, "dependent f32 fused multiply-adds");
    chain("chain_mad", CHAIN_MAD, 64, "dependent 32-bit integer multiply-adds");
    chain("chain_add_logic", CHAIN_ADD_LOGIC, 64, "dependent integer addition and exclusive or");
    chain("chain_sfu", CHAIN_SFU, 64, "dependent reciprocal square roots");
    if (facts.has_doubles)
        chain("chain_dp", CHAIN_DP, 64, "dependent f64 fused multiply-adds");
    chain("chain_shared", CHAIN_SHARED, 64, "dependent loads of shared memory; instructions of the address are in it");
    rate("rate_fma", RATE_FMA);
    rate("rate_mad", RATE_MAD);
    rate("rate_sfu", RATE_SFU);
    if (facts.has_doubles)
        rate("rate_dp", RATE_DP);
    bank_rows();
    memory_rows();
    bandwidth_rows();
}
