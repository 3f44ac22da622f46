/* SPDX-License-Identifier: Apache-2.0 */
/* What test programs of this folder expect of a call: they end at the first that gives something else. */
#ifndef HEDDLE_TESTS_CUDA_EXPECT_H
#define HEDDLE_TESTS_CUDA_EXPECT_H

#include <stdio.h>
#include <stdlib.h>

#define IS(call, expected)                                                                                             \
    do {                                                                                                               \
        const long long got_ = (long long)(call), wanted_ = (long long)(expected);                                     \
        if (got_ != wanted_) {                                                                                         \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #call, got_, wanted_);                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
