/* SPDX-License-Identifier: Apache-2.0 */
/* heddle step: what one issue looks like in words, and all of them as plain lines. */
#include <string.h>

#include "base/bits.h"
#include "cli/commands.h"
#include "cli/step.h"
#include "result/lines.h"

enum { INSTRUCTION_CHARS = 160 };

const char *step_lanes(const struct step_view *view, uint32_t lanes, const uint16_t *threads) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    char *text = arena_alloc(view->arena, LANES_MAX * 3 + 1), *at = text;
    const unsigned warp_size = view->steps->items[0].warp_size;
    unsigned warps = 0;
    for (BITS_EACH(lane, lanes))
        warps |= 1u << threads[lane] / warp_size % 32;
    for (unsigned lane = 0; lane < warp_size; lane++) {
        const bool here = lanes >> lane & 1;
        if (here && warps & (warps - 1)) /* of several warps: which */
            *at++ = digits[threads[lane] / warp_size % 32];
        else {
            const char *sign = !view->unicode ? (here ? "#" : ".") : here ? "\u2588" : "\u00b7";
            memcpy(at, sign, strlen(sign));
            at += strlen(sign);
        }
    }
    *at = '\0';
    return text;
}

const char *step_where(const struct step_view *view, uint32_t pc) {
    unsigned file;
    uint32_t line;
    lines_of(view->run->module, pc, &file, &line);
    return arena_printf(view->arena, "%s:%u", lines_file_name(view->run->module, file), (unsigned)line);
}

const char *step_instruction(const struct step_view *view, uint32_t pc) {
    char *text = arena_alloc(view->arena, INSTRUCTION_CHARS);
    return inst_text(view->run->module, &view->run->module->code[pc], text, INSTRUCTION_CHARS);
}

const char *step_outcome(const struct step_view *view, const struct recorded_step *step) {
    const char *text = "";
    bool ordinary = true;
    for (uint32_t rest = step->lanes; rest;) {
        const uint32_t next = step->next[bits_first(rest)];
        uint32_t here = 0;
        for (BITS_EACH(lane, rest))
            here |= (uint32_t)(step->next[lane] == next) << lane;
        const unsigned count = bits_count(here);
        rest &= ~here;
        ordinary &= next == step->pc + 1;
        const char *comma = *text ? ", " : "";
        text = next == NO_PC ? arena_printf(view->arena, "%s%s%u end", text, comma, count)
                             : arena_printf(view->arena, "%s%s%u go to %u", text, comma, count, (unsigned)next);
    }
    return ordinary ? "" : text;
}

const char *step_wait(const struct step_other *other) {
    static const char *const words[] = {"an instruction", "a register", "memory", "a barrier", "a unit", "their turn"};
    _Static_assert(sizeof words / sizeof words[0] == WAIT_COUNT, "a word for each of enum sm_wait");
    return words[other->wait];
}

const char *step_other(const struct step_view *view, const struct recorded_step *step, const struct step_other *other) {
    const char *block =
        other->block == step->block ? "" : arena_printf(view->arena, "block %llu, ", (unsigned long long)other->block);
    return arena_printf(view->arena, "%swarp %u: %u lanes at %u wait for %s", block, other->warp,
                        bits_count(other->lanes), (unsigned)other->pc, step_wait(other));
}

const char *step_row(const struct step_view *view, const struct group_row *row) {
    const char *at = row->pc == NO_PC ? "waits for the function's end" : arena_printf(view->arena, "at %u", row->pc);
    return row->until == NO_PC ? arena_printf(view->arena, "%s: %s", row->what, at)
                               : arena_printf(view->arena, "%s: %s until %u", row->what, at, (unsigned)row->until);
}

static bool same_rows(const struct recorded_step *a, const struct recorded_step *b) {
    if (a->row_count != b->row_count)
        return false;
    for (unsigned i = 1; i < a->row_count; i++) /* the first row moves with every instruction */
        if (a->rows[i].pc != b->rows[i].pc || a->rows[i].lanes != b->rows[i].lanes)
            return false;
    return !a->row_count || a->rows[0].lanes == b->rows[0].lanes;
}

bool step_changed(const struct step_view *view, unsigned at) {
    const struct recorded_step *steps = view->steps->items, *step = &steps[at];
    const unsigned warp = step_warp(step, bits_first(step->lanes));
    for (unsigned i = at; i-- > 0;)
        if (steps[i].block == step->block && step_warp(&steps[i], bits_first(steps[i].lanes)) == warp)
            return !same_rows(&steps[i], step);
    return true;
}

void step_print(struct step_view *view, FILE *to) {
    const struct steps *steps = view->steps;
    const int lanes = LANES_MAX;
    int where = 5;
    for (unsigned i = 0; i < steps->count; i++) {
        const int width = (int)text_width(step_where(view, steps->items[i].pc));
        where = width > where ? width : where;
    }
    print(to, "%s\n\n%10s %5s %5s %5s  %-*s  %-*s  %s\n", view->title, "cycle", "block", "warp", "PC", lanes, "lanes",
          where, "line", "instruction");
    for (unsigned i = 0; i < steps->count; i++) {
        const struct recorded_step *step = &steps->items[i];
        print(to, "%10llu %5llu %5u %5u  %s  %-*s  %s\n", (unsigned long long)step->cycle,
              (unsigned long long)step->block, step_warp(step, bits_first(step->lanes)), (unsigned)step->pc,
              step_lanes(view, step->lanes, step->threads), where, step_where(view, step->pc),
              step_instruction(view, step->pc));
        const char *outcome = step_outcome(view, step);
        if (*outcome)
            print(to, "%30s%s\n", "", outcome);
        for (unsigned k = 0; k < step->row_count && step_changed(view, i); k++)
            print(to, "%30s%s  %s\n", "", step_lanes(view, step->rows[k].lanes, step->rows[k].threads),
                  step_row(view, &step->rows[k]));
        for (unsigned k = 0; k < step->other_count && view->others; k++)
            print(to, "%30s%s\n", "", step_other(view, step, &step->others[k]));
    }
    if (steps->full)
        print(to, "\nThe first %s issues; --limit shows more, --from starts later.\n",
              with_commas(view->arena, steps->count));
}
