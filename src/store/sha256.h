/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) in hexadecimal: what others can compute too, and what holds against change by intent. */
#ifndef HEDDLE_STORE_SHA256_H
#define HEDDLE_STORE_SHA256_H

#include <stddef.h>

enum { SHA256_TEXT_BYTES = 65 }; /* with the NUL */
void sha256_text(const void *data, size_t bytes, char out[SHA256_TEXT_BYTES]);

#endif
