/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that measure a GPU, for OpenCL C and CUDA alike. All have the same parameters: data, where to leave a result, how often to
 * go round, and two numbers that mean something else in each. Chains are dependent operations, 64 in a
 * round, those of memory 16. */
#ifdef __OPENCL_VERSION__
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define HAS_DOUBLES
#endif
#define KERNEL(name) __kernel void name(__global uint *data, __global uint *out, uint n, uint a, uint b)
#define SHARED __local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define THREAD ((uint)get_local_id(0))
#define THREADS ((uint)get_local_size(0))
#define BLOCK ((uint)get_group_id(0))
#define BLOCKS ((uint)get_num_groups(0))
#define RSQRT(x) native_rsqrt(x)
typedef uint word;
#else
#define HAS_DOUBLES
#define KERNEL(name) extern "C" __global__ void name(unsigned *data, unsigned *out, unsigned n, unsigned a, unsigned b)
#define SHARED __shared__
#define BARRIER() __syncthreads()
#define THREAD threadIdx.x
#define THREADS blockDim.x
#define BLOCK blockIdx.x
#define BLOCKS gridDim.x
typedef unsigned word;
static __device__ float rsqrt_of(float x) {
    float y;
    asm volatile("rsqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#define RSQRT(x) rsqrt_of(x)
#endif
#define TWICE(x) x x
#define TIMES_16(x) TWICE(TWICE(TWICE(TWICE(x))))
#define TIMES_64(x) TWICE(TWICE(TIMES_16(x)))
/* A result that nobody asks for, but no compiler can know that. */
#define KEEP(x) if ((x) == (word)0xdeadbeef) out[BLOCK * THREADS + THREAD] = (word)(x)

KERNEL(empty) { KEEP(n + a + b + data[0]); }

KERNEL(chain_fma) {
    float x = (float)THREAD, m = (float)a * 0.5f, c = (float)b;
    for (word i = 0; i < n; i++) { TIMES_64(x = fma(x, m, c);) }
    KEEP((word)x);
}

KERNEL(chain_mad) {
    word x = THREAD;
    for (word i = 0; i < n; i++) { TIMES_64(x = x * a + b;) }
    KEEP(x);
}

/* An addition and an exclusive or, which no compiler makes one of. */
KERNEL(chain_add_logic) {
    word x = THREAD;
    for (word i = 0; i < n; i++) { TIMES_64(x = (x + a) ^ b;) }
    KEEP(x);
}

KERNEL(chain_sfu) {
    float x = (float)(THREAD + a);
    for (word i = 0; i < n; i++) { TIMES_64(x = RSQRT(x);) }
    KEEP((word)x);
}

#ifdef HAS_DOUBLES
KERNEL(chain_dp) {
    double x = (double)THREAD, m = (double)a * 0.5, c = (double)b;
    for (word i = 0; i < n; i++) { TIMES_64(x = fma(x, m, c);) }
    KEEP((word)x);
}
#else
KERNEL(chain_dp) { KEEP(n); }
#endif

KERNEL(chain_shared) {
    SHARED word next[1024];
    for (word i = THREAD; i < 1024; i += THREADS)
        next[i] = (i + a) & 1023;
    BARRIER();
    word p = THREAD & 1023;
    for (word i = 0; i < n; i++) { TIMES_64(p = next[p];) }
    KEEP(p);
}

/* a: where to begin. */
KERNEL(chase) {
    word p = a;
    for (word i = 0; i < n; i++) { TIMES_16(p = data[p];) }
    KEEP(p);
}

/* Eight chains side by side, so that units and not latencies decide; two of each in a round. */
#define EIGHT(step) TWICE(step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7))

KERNEL(rate_fma) {
    float x[8], m = (float)a * 0.5f, c = (float)b;
    for (int k = 0; k < 8; k++)
        x[k] = (float)(THREAD + k);
#define STEP(k) x[k] = fma(x[k], m, c);
    for (word i = 0; i < n; i++) { EIGHT(STEP) }
#undef STEP
    KEEP((word)(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]));
}

KERNEL(rate_mad) {
    word x[8];
    for (int k = 0; k < 8; k++)
        x[k] = THREAD + (word)k;
#define STEP(k) x[k] = x[k] * a + b;
    for (word i = 0; i < n; i++) { EIGHT(STEP) }
#undef STEP
    KEEP(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]);
}

KERNEL(rate_sfu) {
    float x[8];
    for (int k = 0; k < 8; k++)
        x[k] = (float)(THREAD + k + a);
#define STEP(k) x[k] = RSQRT(x[k]);
    for (word i = 0; i < n; i++) { EIGHT(STEP) }
#undef STEP
    KEEP((word)(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]));
}

#ifdef HAS_DOUBLES
KERNEL(rate_dp) {
    double x[8], m = (double)a * 0.5, c = (double)b;
    for (int k = 0; k < 8; k++)
        x[k] = (double)(THREAD + k);
#define STEP(k) x[k] = fma(x[k], m, c);
    for (word i = 0; i < n; i++) { EIGHT(STEP) }
#undef STEP
    KEEP((word)(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7]));
}
#else
KERNEL(rate_dp) { KEEP(n); }
#endif

/* Loads of shared memory, lanes a words apart. */
KERNEL(rate_shared) {
    SHARED volatile word rows[4096];
    for (word i = THREAD; i < 4096; i += THREADS)
        rows[i] = i;
    BARRIER();
    const word at = THREAD % 32 * a & 4095;
    word sum = 0;
    for (word i = 0; i < n; i++) { TIMES_16(sum += rows[at];) }
    KEEP(sum);
}

/* All blocks together read a words, from word b on, every thread four at a time; a is a multiple of four times the threads. */
KERNEL(stream) {
    const word threads = BLOCKS * THREADS;
    word sum = 0;
    for (word i = 0; i < n; i++)
        for (word at = BLOCK * THREADS + THREAD; at < a; at += 4 * threads)
            sum += data[b + at] + data[b + at + threads] + data[b + at + 2 * threads] + data[b + at + 3 * threads];
    KEEP(sum);
}

/* Each block reads all a words the same way, beginning elsewhere. */
KERNEL(stream_all) {
    const word step = 4 * THREADS;
    word sum = 0, at = BLOCK * 4 % (a / step) * step + THREAD;
    for (word i = 0; i < n; i++)
        for (word k = 0; k < a; k += step) {
            sum += data[at] + data[at + THREADS] + data[at + 2 * THREADS] + data[at + 3 * THREADS];
            at = at + step < a ? at + step : THREAD;
        }
    KEEP(sum);
}

/* ---- kernels that are only timed: heddle collect. data holds a words; results go behind them. ---- */

KERNEL(collect_saxpy) {
    const word i = BLOCK * THREADS + THREAD;
    if (i < a)
        data[a + i] = data[i] * 3 + data[a + i];
}

KERNEL(collect_sum) {
    SHARED word part[256];
    word sum = 0;
    for (word i = BLOCK * THREADS + THREAD; i < a; i += BLOCKS * THREADS)
        sum += data[i];
    part[THREAD] = sum;
    for (word left = THREADS / 2; left; left /= 2) {
        BARRIER();
        if (THREAD < left)
            part[THREAD] += part[THREAD + left];
    }
    if (THREAD == 0)
        out[BLOCK] = part[0];
}

/* b x b words in tiles of 16 x 16, a block of 256 threads each. */
KERNEL(collect_transpose) {
    SHARED word tile[16 * 17];
    const word tiles = b / 16, x = THREAD % 16, y = THREAD / 16, tx = BLOCK % tiles, ty = BLOCK / tiles;
    tile[y * 17 + x] = data[(ty * 16 + y) * b + tx * 16 + x];
    BARRIER();
    data[a + (tx * 16 + y) * b + ty * 16 + x] = tile[x * 17 + y];
}

KERNEL(collect_matmul) {
    SHARED float left[256], right[256];
    const word tiles = b / 16, x = THREAD % 16, y = THREAD / 16, row = BLOCK / tiles * 16 + y, column = BLOCK % tiles * 16 + x;
    float sum = 0;
    for (word t = 0; t < tiles; t++) {
        left[THREAD] = (float)(data[row * b + t * 16 + x] & 15);
        right[THREAD] = (float)(data[(t * 16 + y) * b + column] & 15);
        BARRIER();
        for (word k = 0; k < 16; k++)
            sum = fma(left[y * 16 + k], right[k * 16 + x], sum);
        BARRIER();
    }
    data[a + row * b + column] = (word)sum;
}

KERNEL(collect_stencil) {
    const word i = BLOCK * THREADS + THREAD, x = i % b, y = i / b;
    if (x > 0 && x + 1 < b && y > 0 && i + b < a)
        data[a + i] = (data[i - 1] + data[i + 1] + data[i - b] + data[i + b] + 4 * data[i]) / 8;
}

/* Words scattered over all of them. */
KERNEL(collect_gather) {
    const word i = BLOCK * THREADS + THREAD;
    if (i < a)
        data[a + i] = data[i * 40503u % a];
}

/* Loops of different length in one warp. */
KERNEL(collect_collatz) {
    const word i = BLOCK * THREADS + THREAD;
    word v = i + 1, c = 0;
    while (v > 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        c++;
    }
    if (i < a)
        data[a + i] = c;
}
