/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of plug-ins, beside those that the lists of a room name (mechanisms.def and the like). They belong to the process, as the
 * libraries do that they came with. Nobody is in here while one is added. */
#ifndef HEDDLE_BASE_ADDED_H
#define HEDDLE_BASE_ADDED_H

#include <stdbool.h>

enum added_kind { ADDED_MECHANISM, ADDED_SCHEDULER, ADDED_PREDICTOR, ADDED_REPLACEMENT, ADDED_KINDS };
enum { ADDED_MAX = 16 }; /* of each kind */

/* The operations of a part; false: there are too many. */
bool added_put(enum added_kind kind, const void *ops);
/* NULL: there are not so many. */
const void *added_at(enum added_kind kind, unsigned number);

#endif
