/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/model.h"

#include <heddle_model.h>
#include <stdio.h>

_Static_assert(sizeof HEDDLE_MODEL == MODEL_HASH_BYTES, "cmake/model_hash.cmake writes 32 digits");

static char hash[MODEL_HASH_BYTES] = HEDDLE_MODEL; /* of the sources, then of what was added to them */

const char *model_hash(void) { return hash; }

void model_add(const char *digest) {
    char both[2 * MODEL_HASH_BYTES];
    const int length = snprintf(both, sizeof both, "%s %s", hash, digest);
    digest_text(both, (size_t)length, hash);
}
