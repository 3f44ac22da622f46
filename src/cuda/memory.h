/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the program that the device reaches too. Where host and device have the same addresses (runtime.h) managed and pinned
 * memory simply is device memory; memory that the program made itself and registers is copied before and after every launch. */
#ifndef HEDDLE_CUDA_MEMORY_H
#define HEDDLE_CUDA_MEMORY_H

#include "cuda/runtime.h"

/* All of them go with their device. */
void pinned_forget(struct runtime *cuda);
void pinned_to_device(struct runtime *cuda);
void pinned_to_host(struct runtime *cuda);

#endif
