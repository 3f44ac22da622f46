/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/model.h"

#include <heddle_model.h>

_Static_assert(sizeof HEDDLE_MODEL == MODEL_HASH_BYTES, "cmake/model_hash.cmake writes 32 digits");

const char *model_hash(void) { return HEDDLE_MODEL; }
