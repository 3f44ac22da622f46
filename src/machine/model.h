/* SPDX-License-Identifier: Apache-2.0 */
/* Which model this is: a hash over the sources that decide results, 32 hexadecimal digits (cmake/model_hash.cmake), and over
 * plug-ins that are loaded. Two builds with the same give the same results; what the command line or a document says does not
 * enter. */
#ifndef HEDDLE_MACHINE_MODEL_H
#define HEDDLE_MACHINE_MODEL_H

#include "base/digest.h"

enum { MODEL_HASH_BYTES = DIGEST_BYTES };
const char *model_hash(void);
/* From now on it is another: what has this digest is part of it. */
void model_add(const char *digest);

#endif
