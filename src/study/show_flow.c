/* SPDX-License-Identifier: Apache-2.0 */
/* The listing and the control-flow graph, as text and for Graphviz. */
#include <string.h>

#include "study/show_print.h"

enum { ANNOTATION_COLUMN = 56, CONTROL_WIDTH = 23, TEXT_BYTES = 1024, DOT_SOURCE_LINES = 6, DOT_SOURCE_WIDTH = 60 };

static const char *skip_blanks(const char *text) { return text + strspn(text, " \t"); }

/* "loop head, depth 2" and the like; "" for plain blocks. */
static const char *describe(struct show *show, const struct cfg *cfg, uint32_t b) {
    const struct block *block = &cfg->blocks[b];
    if (!block->reachable)
        return "unreachable";
    const char *loop = "";
    if (block->loop_head == b)
        loop = arena_printf(&show->arena, "loop head, depth %u", block->loop_depth);
    else if (block->loop_head != NO_PC)
        loop = arena_printf(&show->arena, "in the loop of B%u", block->loop_head);
    if (b == 0)
        return *loop ? arena_printf(&show->arena, "entry, %s", loop) : "entry";
    return loop;
}

static void print_block_list(struct show *show, const char *arrow, const uint32_t *blocks, unsigned count) {
    enum { MOST = 12 };
    if (!count)
        return;
    fprintf(show->out, "  %s", arrow);
    for (unsigned i = 0; i < count && i < MOST; i++)
        fprintf(show->out, " B%u", blocks[i]);
    if (count > MOST)
        fprintf(show->out, " and %u more", count - MOST);
}

static void print_block_head(struct show *show, const struct cfg *cfg, uint32_t b) {
    const struct block *block = &cfg->blocks[b];
    const char *what = describe(show, cfg, b);
    fprintf(show->out, "B%u", b);
    if (*what)
        fprintf(show->out, "  %s", what);
    print_block_list(show, "<-", block->predecessors, block->predecessor_count);
    fputc('\n', show->out);
}

void show_listing(struct show *show, const struct function *function) {
    const struct cfg *cfg = function->cfg;
    uint16_t file = 0;
    uint32_t line = 0;
    fprintf(show->out, "%s\n", show_title(show, function));
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        print_block_head(show, cfg, b);
        for (uint32_t pc = block->first_pc; pc < block->end_pc; pc++) {
            const struct inst *inst = &show->module->code[pc];
            char text[TEXT_BYTES];
            if (inst->line && (inst->file != file || inst->line != line)) {
                const char *source = skip_blanks(source_line(&show->sources, inst->file, inst->line));
                file = inst->file;
                line = inst->line;
                fprintf(show->out, "        | %s%s%s\n", show_where(show, inst), *source ? "  " : "", source);
            }
            inst_text(show->module, inst, text, sizeof text);
            const char *note = "";
            if (pc + 1 == block->end_pc && show_branch(show, block))
                note = show_branch_text(show, cfg, block);
            else if (inst_jumps(inst))
                note = arena_printf(&show->arena, "-> %s", show_block_name(show, cfg, block->successors[0]));
            const char *control = show->module->controls ? show->module->controls[pc] : NULL;
            const int blanks = show->module->controls ? CONTROL_WIDTH : 0;
            if (*note)
                fprintf(show->out, "  %5u   %-*s%-*s %s\n", pc, blanks, control ? control : "", ANNOTATION_COLUMN - 10,
                        text, note);
            else
                fprintf(show->out, "  %5u   %-*s%s\n", pc, blanks, control ? control : "", text);
        }
    }
}

/* First and last source line of the block's instructions in its first file: "saxpy.cl:5-7". */
static const char *source_range(struct show *show, const struct block *block) {
    const struct inst *first = NULL;
    uint32_t low = 0, high = 0;
    for (uint32_t pc = block->first_pc; pc < block->end_pc; pc++) {
        const struct inst *inst = &show->module->code[pc];
        if (!inst->line || !inst->file || (first && inst->file != first->file))
            continue;
        if (!first || inst->line < low)
            low = inst->line;
        if (!first || inst->line > high)
            high = inst->line;
        first = first ? first : inst;
    }
    if (!first)
        return "";
    struct inst lowest = *first;
    lowest.line = low;
    const char *where = show_where(show, &lowest);
    return high > low ? arena_printf(&show->arena, "%s-%u", where, high) : where;
}

void show_cfg(struct show *show, const struct function *function) {
    const struct cfg *cfg = function->cfg;
    fprintf(show->out, "%s\n", show_title(show, function));
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const struct block *block = &cfg->blocks[b];
        const char *what = describe(show, cfg, b), *where = source_range(show, block);
        const char *name = show_block_name(show, cfg, b);
        const char *range = arena_printf(&show->arena, "pc %u..%u", block->first_pc, block->end_pc - 1);
        int indent = block->loop_depth < 16 ? (int)(2 * block->loop_depth) : 32;
        bool more = *where || *what;
        fprintf(show->out, "  %*s%-5s %-*s%s%s%s%s\n", indent, "", name, more ? 14 : 0, range, more ? " " : "", where,
                *where && *what ? "  " : "", what);
        if (show_branch(show, block)) {
            fprintf(show->out, "  %*s      %s\n", indent, "", show_branch_text(show, cfg, block));
            continue;
        }
        fprintf(show->out, "  %*s      ->", indent, "");
        for (unsigned i = 0; i < block->successor_count; i++)
            fprintf(show->out, "%s %s", i ? "," : "", show_block_name(show, cfg, block->successors[i]));
        fputc('\n', show->out);
    }
}

/* ---- Graphviz ---- */

static void print_escaped(FILE *out, const char *text, size_t most) {
    for (size_t i = 0; text[i] && i < most; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fputc('\\', out);
        /* A cut inside a multi-byte character would make the file invalid UTF-8. */
        fputc(c < 0x20 ? ' ' : c >= 0x80 ? '?' : c, out);
    }
    if (strlen(text) > most)
        fputs("...", out);
}

void show_dot_start(struct show *show) {
    fputs("digraph \"", show->out);
    print_escaped(show->out, show->module->name, SIZE_MAX);
    fputs("\" {\n"
          "  // solid: control flow; dashed: where the lanes that diverge at a branch reconverge\n"
          "  graph [fontname=\"monospace\", fontsize=12, labeljust=l, style=rounded, color=gray];\n"
          "  node [shape=box, fontname=\"monospace\", fontsize=10, style=\"filled,rounded\", fillcolor=white];\n"
          "  edge [fontname=\"monospace\", fontsize=9];\n",
          show->out);
}

void show_dot_end(struct show *show) { fputs("}\n", show->out); }

static void dot_node(struct show *show, const struct function *function, uint32_t b) {
    const struct block *block = &function->cfg->blocks[b];
    uint32_t count = block->end_pc - block->first_pc;
    const char *what = describe(show, function->cfg, b), *where = source_range(show, block);
    fprintf(show->out, "    f%u_b%u [label=\"B%u  pc %u..%u  %u instruction%s\\l", function->index, b, b,
            block->first_pc, block->end_pc - 1, count, count == 1 ? "" : "s");
    if (*what || *where) {
        print_escaped(show->out, where, SIZE_MAX);
        fprintf(show->out, "%s%s\\l", *where && *what ? "  " : "", what);
    }
    uint16_t file = 0;
    uint32_t line = 0, lines = 0;
    for (uint32_t pc = block->first_pc; pc < block->end_pc && lines < DOT_SOURCE_LINES; pc++) {
        const struct inst *inst = &show->module->code[pc];
        if (!inst->line || (inst->file == file && inst->line == line))
            continue;
        file = inst->file;
        line = inst->line;
        const char *source = skip_blanks(source_line(&show->sources, file, line));
        if (!*source)
            continue;
        print_escaped(show->out, source, DOT_SOURCE_WIDTH);
        fputs("\\l", show->out);
        lines++;
    }
    const char *fill = !block->reachable ? "gray90" : block->loop_head == b ? "lightblue" : "white";
    fprintf(show->out, "\", fillcolor=%s%s];\n", fill, show_branch(show, block) ? ", penwidth=2" : "");
}

static void dot_name(struct show *show, const struct function *function, uint32_t b) {
    if (b == function->cfg->block_count)
        fprintf(show->out, "f%u_exit", function->index);
    else
        fprintf(show->out, "f%u_b%u", function->index, b);
}

static void dot_edges(struct show *show, const struct function *function, uint32_t b) {
    const struct block *block = &function->cfg->blocks[b];
    const struct inst *branch = show_branch(show, block);
    for (unsigned i = 0; i < block->successor_count; i++) {
        fputs("    ", show->out);
        dot_name(show, function, b);
        fputs(" -> ", show->out);
        dot_name(show, function, block->successors[i]);
        if (branch && branch->op != OP_BRX && block->successor_count == 2)
            fprintf(show->out, " [label=\"%s\"]", i ? "taken" : "not taken");
        fputs(";\n", show->out);
    }
    if (!branch || block->post_dominator == NO_PC)
        return;
    fputs("    ", show->out);
    dot_name(show, function, b);
    fputs(" -> ", show->out);
    dot_name(show, function, block->post_dominator);
    fputs(" [style=dashed, color=firebrick, constraint=false, arrowhead=open];\n", show->out);
}

void show_dot(struct show *show, const struct function *function) {
    const struct cfg *cfg = function->cfg;
    fprintf(show->out, "  subgraph cluster_%u {\n    label=\"", function->index);
    print_escaped(show->out, show_title(show, function), SIZE_MAX);
    fputs("\";\n", show->out);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        dot_node(show, function, b);
    fprintf(show->out, "    f%u_exit [label=\"exit\", shape=oval];\n", function->index);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        dot_edges(show, function, b);
    fputs("  }\n", show->out);
}
