/* SPDX-License-Identifier: Apache-2.0 */
/* Between show.c and the files that write each form. */
#ifndef HEDDLE_STUDY_SHOW_PRINT_H
#define HEDDLE_STUDY_SHOW_PRINT_H

#include "study/show.h"
#include "device/lowered.h"
#include "isa/source.h"
#include "isa/analysis.h"

/* A launch of a launch file, as far as occupancy is concerned. */
struct show_launch {
    const char *kernel;
    uint32_t block_threads, dynamic_shared_bytes;
};

struct show {
    struct arena arena;
    const struct module *module;
    const struct compiled *compiled; /* NULL: the file was PTX */
    const char *folder;
    const struct show_options *options;
    const struct show_launch *launches;
    unsigned launch_count;
    struct sources sources;
    FILE *out;
};

/* The kernels in native code, as a disassembler would write them, or as a file; `only` NULL: all. */
enum status show_native(struct show *show, const struct function *only, struct report *report);
/* What `isa` of the options names. */
enum isa_choice show_isa(const struct show_options *options);

void show_summary(struct show *show, const struct function *function);
void show_registers(struct show *show, const struct function *function);
void show_listing(struct show *show, const struct function *function);
void show_cfg(struct show *show, const struct function *function);
void show_dot_start(struct show *show);
void show_dot(struct show *show, const struct function *function);
void show_dot_end(struct show *show);

/* "saxpy.cl:5" of the instruction, "" when it has no source position; without the folder. */
const char *show_where(struct show *show, const struct inst *inst);
/* "kernel saxpy(global float* y, ...)" or "function f". */
const char *show_title(struct show *show, const struct function *function);
/* "B4" of a block index, "exit" of the virtual exit, "nowhere" of NO_PC. */
const char *show_block_name(struct show *show, const struct cfg *cfg, uint32_t block);
/* The last instruction of the block, where it may send lanes two ways or more; else NULL. */
const struct inst *show_branch(const struct show *show, const struct block *block);
/* "-> B4, else B2; meet at B7" of a block that ends in such an instruction. */
const char *show_branch_text(struct show *show, const struct cfg *cfg, const struct block *block);

#endif
