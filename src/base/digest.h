/* SPDX-License-Identifier: Apache-2.0 */
/* What names contents: 128-bit XXH3 in hexadecimal. Against change by accident, not by intent. */
#ifndef HEDDLE_BASE_DIGEST_H
#define HEDDLE_BASE_DIGEST_H

#include <stddef.h>

enum { DIGEST_BYTES = 33 }; /* with the NUL */
void digest_text(const void *data, size_t bytes, char out[DIGEST_BYTES]);

#endif
