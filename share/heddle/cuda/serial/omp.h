/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP's functions for programs that are compiled without OpenMP: one thread. Found only where the compiler has no omp.h of its
 * own. */
#ifndef HEDDLE_SERIAL_OMP_H
#define HEDDLE_SERIAL_OMP_H
#pragma GCC system_header
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif
static inline void omp_set_num_threads(int threads) { (void)threads; }
static inline int omp_get_num_threads(void) { return 1; }
static inline int omp_get_max_threads(void) { return 1; }
static inline int omp_get_thread_num(void) { return 0; }
static inline int omp_get_num_procs(void) { return 1; }
static inline int omp_in_parallel(void) { return 0; }
static inline double omp_get_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
typedef struct {
    int unused;
} omp_lock_t;
static inline void omp_init_lock(omp_lock_t *lock) { (void)lock; }
static inline void omp_destroy_lock(omp_lock_t *lock) { (void)lock; }
static inline void omp_set_lock(omp_lock_t *lock) { (void)lock; }
static inline void omp_unset_lock(omp_lock_t *lock) { (void)lock; }
#ifdef __cplusplus
}
#endif

#endif
