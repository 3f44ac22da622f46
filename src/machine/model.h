/* SPDX-License-Identifier: Apache-2.0 */
/* Which model this is: a hash over the sources that decide results, 32 hexadecimal digits (cmake/model_hash.cmake). Two
 * builds with the same give the same results; what the command line or a document says does not enter. */
#ifndef HEDDLE_MACHINE_MODEL_H
#define HEDDLE_MACHINE_MODEL_H

enum { MODEL_HASH_BYTES = 33 }; /* with the NUL */
const char *model_hash(void);

#endif
