/* SPDX-License-Identifier: Apache-2.0 */
#include "base/digest.h"

#include <stdio.h>
#include <xxhash.h>

void digest_text(const void *data, size_t bytes, char out[DIGEST_BYTES]) {
    const XXH128_hash_t hash = XXH3_128bits(data, bytes);
    snprintf(out, DIGEST_BYTES, "%016llx%016llx", (unsigned long long)hash.high64, (unsigned long long)hash.low64);
}
