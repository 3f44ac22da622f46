/* SPDX-License-Identifier: Apache-2.0 */
/* The summary and the register table of a function. */
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "launch/bind.h"
#include "study/show_print.h"

enum { BRANCHES_SHOWN = 32, BLOCK_THREADS_DEFAULT = 256, BAR_WIDTH = 32 };

static const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }

/* ---- occupancy ---- */

static uint32_t product(const uint32_t size[3]) { return size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1); }

static uint32_t block_threads(const struct show *show, const struct function *kernel, const char **why) {
    const struct compile_kernel *source = show->compiled ? compiled_find(show->compiled, kernel->name) : NULL;
    *why = "the size the kernel asks for";
    if (show->options->block_threads) {
        *why = "";
        return show->options->block_threads;
    }
    if (kernel->required_ntid[0])
        return product(kernel->required_ntid);
    if (source && source->reqd_work_group_size[0])
        return product(source->reqd_work_group_size);
    if (kernel->max_ntid[0]) {
        *why = "the largest the kernel allows";
        return product(kernel->max_ntid);
    }
    *why = "choose with --block";
    return BLOCK_THREADS_DEFAULT;
}

static void print_occupancy(struct show *show, const struct function *kernel, uint32_t threads, uint64_t shared,
                            const char *why) {
    const struct machine *machine = show->options->machine;
    struct occupancy_limits limits = machine_occupancy_limits(machine);
    uint32_t registers = kernel->live_registers, most = limits.registers_per_thread;
    if (kernel->max_nreg && kernel->max_nreg < most)
        most = kernel->max_nreg;
    bool spills = most && registers > most;
    struct occupancy_kernel load = {threads, spills ? most : registers,
                                    (uint32_t)(shared < UINT32_MAX ? shared : UINT32_MAX)};
    struct occupancy occupancy = occupancy_compute(&limits, &load);
    fprintf(show->out, "  occupancy     %s, blocks of %u thread%s%s%s%s: ", machine->name, threads, plural(threads),
            *why ? " (" : "", why, *why ? ")" : "");
    if (!occupancy.blocks)
        fprintf(show->out, "does not fit, for %s\n", occupancy_limit_name(occupancy.limit));
    else
        fprintf(show->out, "%u block%s, %u of %u warps per SM (%.0f %%), limited by %s\n", occupancy.blocks,
                plural(occupancy.blocks), occupancy.warps, occupancy.warps_max,
                occupancy.warps_max ? 100.0 * occupancy.warps / occupancy.warps_max : 0.0,
                occupancy_limit_name(occupancy.limit));
    if (spills)
        fprintf(
            show->out,
            "                counted with %u registers, the most a thread may have: a compiler would spill the rest\n",
            most);
}

static void print_occupancies(struct show *show, const struct function *kernel, uint64_t own_shared) {
    if (!show->options->machine)
        return;
    unsigned printed = 0;
    for (unsigned i = 0; i < show->launch_count && !show->options->block_threads; i++) {
        const struct show_launch *launch = &show->launches[i];
        if (bind_find_kernel(show->module, launch->kernel) != kernel)
            continue;
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= strcmp(show->launches[k].kernel, launch->kernel) == 0 &&
                     show->launches[k].block_threads == launch->block_threads &&
                     show->launches[k].dynamic_shared_bytes == launch->dynamic_shared_bytes;
        if (!again)
            print_occupancy(show, kernel, launch->block_threads, own_shared + launch->dynamic_shared_bytes,
                            "from the launch file");
        printed++;
    }
    if (printed)
        return;
    const char *why;
    uint32_t threads = block_threads(show, kernel, &why);
    print_occupancy(show, kernel, threads, own_shared + show->options->dynamic_shared_bytes, why);
}

/* ---- the summary ---- */

static void print_branches(struct show *show, const struct cfg *cfg) {
    unsigned count = 0, at_exit = 0, shown = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].reachable && show_branch(show, &cfg->blocks[b])) {
            count++;
            at_exit += cfg->blocks[b].post_dominator >= cfg->block_count;
        }
    fprintf(show->out, "  branches      %u where threads may diverge", count);
    if (at_exit)
        fprintf(show->out, ", %u of them reconverge only at the exit", at_exit);
    fputc('\n', show->out);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        const struct inst *inst = block->reachable ? show_branch(show, block) : NULL;
        if (!inst)
            continue;
        if (shown++ == BRANCHES_SHOWN) {
            fprintf(show->out, "                and %u more, see --cfg\n", count - BRANCHES_SHOWN);
            break;
        }
        const char *where = show_where(show, inst);
        fprintf(show->out, "                %-5s pc %-5u %-*s%s\n", show_block_name(show, cfg, b), block->end_pc - 1,
                *where ? 18 : 0, where, show_branch_text(show, cfg, block));
    }
}

static void print_live(struct show *show, const struct cfg *cfg) {
    const struct register_need *need = &cfg->registers;
    const char *comma = "";
    for (unsigned type = TYPE_PRED + 1; type < TYPE_COUNT; type++)
        if (need->live[type]) {
            fprintf(show->out, "%s%u %s", comma, need->live[type], type_name((enum type)type));
            comma = ", ";
        }
}

static void print_register_line(struct show *show, const struct function *function) {
    const struct register_need *need = &function->cfg->registers;
    fprintf(show->out, "  registers     %u a thread, %s", function->live_registers,
            function->given_registers ? "as the file says" : "estimated");
    if (!function->given_registers && function->live_registers != need->coloured)
        fprintf(show->out, "; %u without the functions it calls", need->coloured);
    if (need->live_units) {
        const char *where = show_where(show, &show->module->code[need->peak_pc]);
        fprintf(show->out, "; at most %u live, at pc %u%s%s (", need->live_units, need->peak_pc, *where ? " " : "",
                where);
        print_live(show, function->cfg);
        fputc(')', show->out);
    }
    fprintf(show->out, "; %u predicate%s\n", need->predicates, plural(need->predicates));
}

static uint32_t deepest_loop(const struct cfg *cfg) {
    uint32_t depth = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        depth = cfg->blocks[b].loop_depth > depth ? cfg->blocks[b].loop_depth : depth;
    return depth;
}

static uint32_t unreachable_blocks(const struct cfg *cfg) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < cfg->block_count; b++)
        count += !cfg->blocks[b].reachable;
    return count;
}

/* Parts of an instruction count with its last. */
static uint32_t whole_instructions(const struct module *module, const struct function *function) {
    uint32_t count = 0;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        count += !(module->code[pc].flags & FLAG_PART);
    return count;
}

/* The first of the instructions that it cannot be run with. */
static void print_refused(struct show *show, const char *refused) {
    unsigned count = 0;
    for (const char *at = refused; (at = strstr(at, ": error: ")); at++)
        count++;
    const char *inst = strchr(refused, '\n'), *end = inst ? strchr(inst + 1, '\n') : NULL;
    inst = inst ? inst + strspn(inst, "\n ") : refused;
    fprintf(show->out, "  not run       %u instruction%s that nothing executes; the first: %.*s\n", count,
            plural(count), (int)(end ? end - inst : (long)strlen(inst)), inst);
}

/* ---- images ---- */

enum { IMAGE_STEPS = 8 }; /* copies that a handle is followed through */

static const char *const image_words[] = {[GEOMETRY_1D] = "1D",
                                          [GEOMETRY_2D] = "2D",
                                          [GEOMETRY_3D] = "3D",
                                          [GEOMETRY_A1D] = "1D array",
                                          [GEOMETRY_A2D] = "2D array",
                                          [GEOMETRY_CUBE] = "cube map",
                                          [GEOMETRY_ACUBE] = "cube map array",
                                          [GEOMETRY_FLAT] = "1D or 2D"};

/* The only instruction of the function that writes a register; NULL: there are none, or several. */
static const struct inst *writer_of(const struct show *show, const struct function *function, uint32_t reg) {
    const struct inst *found = NULL;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct inst *inst = &show->module->code[pc];
        for (unsigned i = 0; i < inst->dst_count; i++) {
            if (inst->dst[i].kind != OPERAND_REG || inst->dst[i].reg != reg)
                continue;
            if (found)
                return NULL;
            found = inst;
        }
    }
    return found;
}

/* The parameter or variable that a handle comes from. */
static const char *image_name(const struct show *show, const struct function *function, const struct operand *handle) {
    for (unsigned steps = 0; steps < IMAGE_STEPS; steps++) {
        if (handle->symbol)
            return handle->symbol->name;
        const struct inst *from =
            handle->kind == OPERAND_REG || handle->has_reg ? writer_of(show, function, handle->reg) : NULL;
        if (!from || (from->op != OP_LD && from->op != OP_MOV && from->op != OP_CVTA))
            break;
        handle = &from->src[0];
    }
    return "a handle that is computed";
}

/* Which images are read and written where, and as what. */
static void print_images(struct show *show, const struct function *function) {
    unsigned count = 0;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++)
        count += inst_accesses_image(&show->module->code[pc]);
    if (!count)
        return;
    fprintf(show->out, "  images        read or written by %u instruction%s\n", count, plural(count));
    unsigned shown = 0;
    for (uint32_t pc = function->first_pc; pc < function->end_pc; pc++) {
        const struct inst *inst = &show->module->code[pc];
        if (!inst_accesses_image(inst))
            continue;
        if (shown++ == BRANCHES_SHOWN) {
            fprintf(show->out, "                and %u more, see --listing\n", count - BRANCHES_SHOWN);
            break;
        }
        const char *where = show_where(show, inst);
        fprintf(show->out, "                pc %-5u %-*s %s of %s (%s)\n", pc, *where ? 18 : 0, where,
                op_name((enum op)inst->op), image_name(show, function, &inst->src[IMAGE_SOURCE_IMAGE]),
                image_words[inst->geometry]);
    }
}

void show_summary(struct show *show, const struct function *function) {
    const struct cfg *cfg = function->cfg;
    const uint32_t instructions = whole_instructions(show->module, function), unreachable = unreachable_blocks(cfg);
    FILE *out = show->out;
    fprintf(out, "%s\n", show_title(show, function));
    fprintf(out, "  instructions  %u in %u block%s", instructions, cfg->block_count, plural(cfg->block_count));
    if (unreachable)
        fprintf(out, ", %u of them unreachable", unreachable);
    fprintf(out, "; %u loop%s", cfg->loop_count, plural(cfg->loop_count));
    if (deepest_loop(cfg) > 1)
        fprintf(out, ", %u deep", deepest_loop(cfg));
    fprintf(out, "%s\n", cfg->irreducible ? ", one or more with several entries" : "");
    print_branches(show, cfg);
    print_register_line(show, function);
    fprintf(out, "  memory        shared %u bytes, local %u bytes", function->shared_bytes, function->local_bytes);
    if (function->is_entry)
        fprintf(out, ", parameters %u bytes", function->param_bytes);
    fputc('\n', out);
    print_images(show, function);
    if (function->is_entry)
        print_occupancies(show, function, function->shared_bytes);
    if (function->refused)
        print_refused(show, function->refused);
}

/* ---- registers ---- */

void show_registers(struct show *show, const struct function *function) {
    const struct cfg *cfg = function->cfg;
    const struct register_need *need = &cfg->registers;
    FILE *out = show->out;
    uint32_t declared[TYPE_COUNT] = {0};
    for (uint32_t r = 0; r < function->reg_count; r++)
        declared[function->reg_types[r]]++;
    fprintf(out, "%s\n", show_title(show, function));
    print_register_line(show, function);
    fprintf(out, "  %-8s %9s %13s\n", "type", "declared", "live at peak");
    for (unsigned type = 0; type < TYPE_COUNT; type++)
        if (declared[type])
            fprintf(out, "  %-8s %9u %13u\n", type_name((enum type)type), declared[type], need->live[type]);
    if (need->spills)
        fprintf(out, "  too many to colour; a compiler would spill to local memory\n");
    fprintf(out, "  %-6s %-13s %5s\n", "block", "pc", "live");
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        char bar[BAR_WIDTH + 1] = {0};
        uint64_t width = need->live_units ? (uint64_t)block->live_peak * BAR_WIDTH / need->live_units : 0;
        memset(bar, '#', width);
        const char *range = arena_printf(&show->arena, "%u..%u", block->first_pc, block->end_pc - 1);
        fprintf(out, "  %-6s %-13s %5u%s%s%s\n", show_block_name(show, cfg, b), range, block->live_peak,
                width ? " " : "", bar, block->reachable ? "" : "  unreachable");
    }
}
