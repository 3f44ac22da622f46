/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of CUDA's driver that are not there: each says so by name, once, and answers that it is not supported. */
#include "driver/driver.h"

#define ABSENT(name)                                                                                                   \
    API_CU(name, void) {                                                                                               \
        driver_begin(NEEDS_NOTHING);                                                                                   \
        return driver_end(runtime_absent(#name, "CUDA_ERROR_NOT_SUPPORTED"));                                          \
    }
#define ABSENT_STREAM(name) ABSENT(name) CU_ALSO(name, name##_ptsz)
#define ABSENT_BLOCKING(name) ABSENT(name) CU_ALSO(name, name##_ptds)
#include "driver/absent.def"
