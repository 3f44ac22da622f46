/* SPDX-License-Identifier: Apache-2.0 */
/* What test programs are linked with in the place of libcudart.so.NN: its names under its version, and nothing behind them. Under
 * -DSTATIC the same inside the program, as CUDA's static runtime is; without a GPU it would answer so. */
#include <stddef.h>

#ifdef STATIC
#define ANSWER 35 /* cudaErrorInsufficientDriver */
#else
#define ANSWER 0
#endif
/* As long as functions of the static runtime are; no compiler sees that they are all the same. */
#define BODY(name)                                                                                                     \
    __attribute__((noinline, used)) int name(void) {                                                                   \
        static volatile int calls;                                                                                     \
        calls++;                                                                                                       \
        return ANSWER;                                                                                                 \
    }
#define FUNCTION(name, ...) BODY(name)
#define OTHER(type, name, ...) BODY(name)
#include "functions.def"
