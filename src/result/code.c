/* SPDX-License-Identifier: Apache-2.0 */
/* What a result file says of the code that ran: its control flow and its text. */
#include <string.h>
#include <xxhash.h>

#include "result/lines.h"
#include "result/parts.h"
#include "result/timed.h"
#include "isa/analysis.h"

static json_t *block_pc(const struct cfg *cfg, uint32_t block) {
    return block < cfg->block_count ? result_count(cfg->blocks[block].first_pc) : json_null();
}

static void add_blocks(json_t *list, const struct function *function) {
    const struct cfg *cfg = function->cfg;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        json_t *out = json_object(), *next = json_array();
        if (!block->reachable) {
            json_decref(out), json_decref(next);
            continue;
        }
        json_object_set_new(out, "first", result_count(block->first_pc));
        json_object_set_new(out, "end", result_count(block->end_pc));
        json_object_set_new(out, "loop_depth", result_count(block->loop_depth));
        json_object_set_new(out, "post_dominator", block_pc(cfg, block->post_dominator));
        for (unsigned i = 0; i < block->successor_count; i++)
            json_array_append_new(next, block_pc(cfg, block->successors[i]));
        json_object_set_new(out, "next", next);
        json_array_append_new(list, out);
    }
}

json_t *result_flow(const struct module *module, const struct inst_stats *instructions) {
    json_t *list = json_array();
    for (unsigned f = 0; f < module->function_count; f++) {
        const struct function *function = module->functions[f];
        uint32_t pc = function->first_pc;
        const uint32_t end = function->cfg ? function->end_pc : pc;
        while (pc < end && !instructions[pc].issues)
            pc++;
        if (pc < end)
            add_blocks(list, function);
    }
    return list;
}

json_t *result_sources(struct run *run, struct arena *arena) {
    json_t *out = json_object();
    for (unsigned i = 0; i < run->module->file_count; i++) {
        const char *text = source_text(&run->sources, i, arena);
        if (!text)
            continue;
        json_t *hash = result_hash(XXH64(text, strlen(text), 0)), *entry = json_object();
        json_object_set_new(entry, "name", result_text(arena, lines_file_name(run->module, i)));
        json_object_set_new(entry, "text", result_text(arena, text));
        json_object_set_new(entry, "module_hash", result_hash(run->module_hash));
        json_object_set_new(out, json_string_value(hash), entry);
        json_decref(hash);
    }
    return out;
}
