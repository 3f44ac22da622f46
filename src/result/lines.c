/* SPDX-License-Identifier: Apache-2.0 */
#include "result/lines.h"
#include <stdlib.h>
#include <string.h>

static int compare_lines(const void *a, const void *b) {
    const struct line_stats *left = a, *right = b;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return (left->line > right->line) - (left->line < right->line);
}

void lines_of(const struct module *module, uint32_t pc, unsigned *file, uint32_t *line) {
    const struct function *function = module_function_at(module, pc);
    uint32_t first = function ? function->first_pc : pc;
    for (uint32_t at = pc;; at--) {
        const struct inst *inst = &module->code[at];
        if (inst->file && inst->line) {
            *file = inst->file;
            *line = inst->line;
            return;
        }
        if (at == first)
            break;
    }
    *file = 0;
    *line = module->code[pc].text_line;
}

bool lines_counted(const struct inst_stats *instruction, const struct sm_inst_stats *timed) {
    if (instruction->issues)
        return true;
    static const struct sm_inst_stats none;
    return timed && memcmp(timed, &none, sizeof none) != 0;
}

struct line_stats *lines_collect(const struct module *module, const struct inst_stats *instructions,
                                 const struct sm_inst_stats *timed, struct arena *arena, unsigned *count) {
    struct line_stats *lines = ARENA_ARRAY(arena, struct line_stats, module->code_count);
    unsigned used = 0;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        if (!lines_counted(&instructions[pc], timed ? &timed[pc] : NULL))
            continue;
        struct line_stats *entry = &lines[used++];
        lines_of(module, pc, &entry->file, &entry->line);
        if (!(module->code[pc].flags & FLAG_PART)) { /* of what is counted behind it */
            entry->instructions = 1;
            entry->sum = instructions[pc];
        }
        if (timed)
            entry->timed = timed[pc];
    }
    if (used)
        qsort(lines, used, sizeof *lines, compare_lines);
    *count = 0;
    for (unsigned i = 0; i < used; i++) {
        struct line_stats *last = *count ? &lines[*count - 1] : NULL;
        if (!last || compare_lines(last, &lines[i]) != 0) {
            lines[(*count)++] = lines[i];
            continue;
        }
        last->instructions += lines[i].instructions;
        inst_stats_add(&last->sum, &lines[i].sum);
        sm_inst_stats_add(&last->timed, &lines[i].timed);
    }
    return lines;
}

const char *lines_file_name(const struct module *module, unsigned file) {
    const char *name = file && file < module->file_count ? module->files[file] : module->name;
    const char *slash = *name == '/' ? strrchr(name, '/') : NULL;
    return slash ? slash + 1 : name;
}

uint64_t lines_slots(const struct sm_inst_stats *stats) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < SLOT_COUNT; i++)
        sum += stats->slots[i];
    return sum;
}

unsigned lines_main_wait(const struct sm_inst_stats *stats) {
    unsigned most = 0;
    for (unsigned i = 1; i < WAIT_COUNT; i++)
        most = stats->waits[i] > stats->waits[most] ? i : most;
    return most;
}
