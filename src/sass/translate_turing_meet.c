/* SPDX-License-Identifier: Apache-2.0 */
/* Which lanes take part in an operation among the lanes of a warp of sm_75 to sm_90. */
#include "sass/translate_turing.h"

struct inst *turing_put_meeting(struct translation *t, struct operation operation, const struct operand *targets,
                                unsigned target_count, struct operand *sources, unsigned source_count) {
    return translate_put(t, &operation, targets, target_count, sources, source_count);
}
