/* SPDX-License-Identifier: Apache-2.0 */
/* What depends on the processor's architecture: its name, how it waits and rounds, and what its lane code may use. No other file
 * of src/ asks for it, but for one function each of base/bits.h and simt/threads.h. Results depend on none of it: docs/hosts.md. */
#ifndef HEDDLE_BASE_CPU_H
#define HEDDLE_BASE_CPU_H

#include <stdbool.h>

/* CPU_LEVELS(LEVEL): LEVEL(name, is there on this CPU, auto may take it) for each level that exec/lanes.c is compiled for
 * (cmake/rooms.cmake), the slowest first. CPU_LEAST_LEVEL is the one that every CPU has. */
#if defined(__x86_64__)

#define CPU_NAME "x86-64"
#define CPU_LEAST_LEVEL "v1"
/* v4 brings nothing over v3 and lowers the clock of some hosts */
#define CPU_LEVELS(LEVEL)                                                                                              \
    LEVEL(v1, true, true)                                                                                              \
    LEVEL(v3, cpu_has_v3(), true)                                                                                      \
    LEVEL(v4, cpu_has_v4(), false)

static inline bool cpu_has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}
static inline bool cpu_has_v4(void) {
    return cpu_has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
/* In a loop that waits for another thread. */
static inline void cpu_pause(void) { __builtin_ia32_pause(); }
/* Floating point rounds to nearest, keeps subnormals and stops for nothing. Returns how it was, for cpu_float_restore. */
static inline unsigned cpu_float_default(void) {
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x1f80);
    return before;
}
static inline void cpu_float_restore(unsigned before) { __builtin_ia32_ldmxcsr(before); }

#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__)

#define CPU_NAME "aarch64"
#define CPU_LEAST_LEVEL "neon"
/* Vectors and fused operations are part of the architecture. */
#define CPU_LEVELS(LEVEL) LEVEL(neon, true, true)

/* isb and not yield, which most cores finish at once: a loop of yields asks memory as often as one without. */
static inline void cpu_pause(void) { __asm__ volatile("isb" ::: "memory"); }
static inline void cpu_float_restore(unsigned before) {
    __asm__ volatile("msr fpcr, %0" ::"r"((unsigned long)before) : "memory");
}
static inline unsigned cpu_float_default(void) {
    unsigned long before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before)::"memory");
    cpu_float_restore(0);
    return (unsigned)before;
}

#elif defined(__wasm__)

#define CPU_NAME "wasm32"
#define CPU_LEAST_LEVEL "wasm"
#define CPU_LEVELS(LEVEL) LEVEL(wasm, true, true)

static inline void cpu_pause(void) {}
/* There is no other way to round. */
static inline unsigned cpu_float_default(void) { return 0; }
static inline void cpu_float_restore(unsigned before) { (void)before; }

#else
/* Another one needs its part here and in cmake/rooms.cmake. */
#error "Heddle runs on x86-64, little-endian aarch64 and WebAssembly (docs/hosts.md)"
#endif

/* What the code being compiled may use: it differs by level. */
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define CPU_FUSES /* fma in one instruction */
#endif
#if defined(__AVX2__)
#define CPU_GATHERS /* vector loads from an address for each lane: immintrin.h */
#endif

#endif
