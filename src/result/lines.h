/* SPDX-License-Identifier: Apache-2.0 */
/* Counts per static instruction gathered by source line. */
#ifndef HEDDLE_RESULT_LINES_H
#define HEDDLE_RESULT_LINES_H

#include "device/device.h"
#include "gpu/gpu.h"

struct line_stats {
    unsigned file; /* index in module->files; 0: a line of the module's own text */
    uint32_t line;
    uint32_t instructions; /* static ones */
    struct inst_stats sum;
    struct sm_inst_stats timed; /* zero in a functional run */
};

/* Whether anything was counted for an instruction: it issued, or a warp waited for it to. */
bool lines_counted(const struct inst_stats *instruction, const struct sm_inst_stats *timed);
/* The lines for which something was counted, by file and line. An instruction without a position belongs to the line before it
 * in its function; a module without positions is counted by its own lines. `timed` NULL: a functional run. */
struct line_stats *lines_collect(const struct module *module, const struct inst_stats *instructions,
                                 const struct sm_inst_stats *timed, struct arena *arena, unsigned *count);
/* All slots counted for an instruction or a line. */
uint64_t lines_slots(const struct sm_inst_stats *stats);
/* What warps waited for longest before they issued it: a WAIT_...; the first where they never waited. */
unsigned lines_main_wait(const struct sm_inst_stats *stats);
/* The file's name as results show it: without folders of a host. */
const char *lines_file_name(const struct module *module, unsigned file);
/* Position of an instruction by the same rule. */
void lines_of(const struct module *module, uint32_t pc, unsigned *file, uint32_t *line);

#endif
