/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that stand in sections of their own, of code for sm_75 to sm_90 that was compiled to be linked: each kernel gets a
 * copy of those that it comes to call, behind its own code, and addresses of code count from its first instruction on. */
#include <string.h>

#include "translate/turing.h"

enum { PIECES_MAX = 256, WORDS_MAX = 1 << 20 };

struct code_piece {
    const struct native_kernel *from;
    uint32_t base; /* word */
};

struct code_linker {
    const struct native_program *program;
    const struct native_kernel *kernel;
    struct arena *scratch;
    struct code_piece pieces[PIECES_MAX]; /* the kernel first */
    unsigned count;
    uint32_t words;
    struct native_kernel *out;
};

/* ---- which functions ---- */

static const struct native_kernel *function_named(const struct code_linker *l, const char *name) {
    const struct native_program *program = l->program;
    for (unsigned i = 0; i < program->kernel_count; i++)
        if (strcmp(program->kernels[i].name, name) == 0 &&
            (program->kernels[i].is_function || &program->kernels[i] == l->kernel))
            return &program->kernels[i];
    return NULL;
}

static bool names_code(const struct native_link *link) {
    return link->bank >= NATIVE_CODE && link->variable == NATIVE_NO_VARIABLE && link->symbol;
}

static const struct native_bank *bank_numbered(const struct native_kernel *kernel, uint32_t number) {
    for (unsigned i = 0; i < kernel->bank_count; i++)
        if (kernel->banks[i].number == number)
            return &kernel->banks[i];
    return NULL;
}

/* Numbers that a function's own bank has go with its section; a kernel has one such bank. */
static bool has_other_banks(const struct native_kernel *kernel, const struct native_kernel *from) {
    for (unsigned i = 0; i < from->bank_count; i++) {
        const struct native_bank *bank = &from->banks[i], *own = bank_numbered(kernel, bank->number);
        if (!own || own->byte_count != bank->byte_count || memcmp(own->bytes, bank->bytes, bank->byte_count) != 0)
            return true;
    }
    return false;
}

/* The piece that a name belongs to, new or not; NULL: the file has no such function, or it cannot be copied: the call is then refused. */
static const struct code_piece *piece_named(struct code_linker *l, const char *name) {
    for (unsigned i = 0; i < l->count; i++)
        if (strcmp(l->pieces[i].from->name, name) == 0)
            return &l->pieces[i];
    const struct native_kernel *from = function_named(l, name);
    if (!from || l->count == PIECES_MAX || from->code_count > WORDS_MAX - l->words || has_other_banks(l->kernel, from))
        return NULL;
    l->pieces[l->count] = (struct code_piece){from, l->words};
    l->words += from->code_count;
    return &l->pieces[l->count++];
}

static void find_pieces(struct code_linker *l) {
    piece_named(l, l->kernel->name);
    for (unsigned i = 0; i < l->count; i++) {
        const struct native_kernel *from = l->pieces[i].from;
        for (unsigned n = 0; n < from->link_count; n++)
            if (names_code(&from->links[n]))
                piece_named(l, from->links[n].symbol);
    }
}

/* ---- one code of all ---- */

/* The address goes into the word: where a call leads, or a half of it as a number. */
static void patch(const struct code_linker *l, struct turing_word *word, const struct native_link *link,
                  uint64_t address) {
    struct turing_inst inst;
    if (!turing_decode(*word, l->program->sm, link->offset, &inst, NULL))
        return;
    const int place = turing_linked(&inst, link->bank == NATIVE_CODE);
    if (place >= 0)
        inst.operands[place].value = (int64_t)(link->bank == NATIVE_CODE_HIGH ? address >> 32 : address);
    turing_encode(&inst, l->program->sm, word, NULL);
}

static void take_links(struct code_linker *l, const struct code_piece *piece, struct turing_word *words) {
    const struct native_kernel *from = piece->from;
    for (unsigned i = 0; i < from->link_count; i++) {
        struct native_link link = from->links[i];
        const struct code_piece *to = names_code(&link) ? piece_named(l, link.symbol) : NULL;
        if (to) {
            patch(l, &words[piece->base + link.offset / TURING_INST_BYTES], &link,
                  (uint64_t)((int64_t)to->base * TURING_INST_BYTES + link.addend));
            continue;
        }
        if (link.bank < NATIVE_CODE && piece->base)
            continue; /* the kernel has the bank, with its own */
        link.offset += link.bank >= NATIVE_CODE ? piece->base * TURING_INST_BYTES : 0;
        l->out->links[l->out->link_count++] = link;
    }
}

static void take_places(struct code_linker *l, const struct code_piece *piece, struct turing_word *words) {
    const struct native_kernel *from = piece->from;
    struct native_kernel *out = l->out;
    const uint32_t bytes = piece->base * TURING_INST_BYTES;
    memcpy(words + piece->base, from->words, from->code_count * sizeof *words);
    if (from->lines)
        memcpy(out->lines + piece->base, from->lines, from->code_count * sizeof *out->lines);
    if (from->places)
        memcpy(out->places + piece->base, from->places, from->code_count * sizeof *out->places);
    if (piece->base)
        out->labels[out->label_count++] = (struct native_label){from->name, bytes};
    for (unsigned i = 0; i < from->label_count; i++)
        out->labels[out->label_count++] = (struct native_label){from->labels[i].name, from->labels[i].address + bytes};
    for (unsigned i = 0; i < from->way_count; i++)
        out->ways[out->way_count++] = (struct native_way){from->ways[i].from + bytes, from->ways[i].to + bytes};
    for (unsigned i = 0; i < from->meeting_count; i++) {
        out->meetings[out->meeting_count] = from->meetings[i];
        out->meetings[out->meeting_count++].address += bytes;
    }
    if (from->register_count > out->register_count)
        out->register_count = from->register_count;
}

static bool refers_to_itself(const struct native_kernel *kernel) {
    for (unsigned i = 0; i < kernel->link_count; i++)
        if (names_code(&kernel->links[i]) && strcmp(kernel->links[i].symbol, kernel->name) == 0)
            return true;
    return false;
}

static void make_room(struct code_linker *l) {
    struct native_kernel *out = l->out;
    unsigned labels = 0, ways = 0, meetings = 0, links = 0;
    for (unsigned i = 0; i < l->count; i++) {
        const struct native_kernel *from = l->pieces[i].from;
        labels += from->label_count + 1, ways += from->way_count, meetings += from->meeting_count;
        links += from->link_count;
    }
    out->lines = ARENA_ARRAY(l->scratch, uint32_t, l->words);
    out->places = l->kernel->places ? ARENA_ARRAY(l->scratch, struct native_place, l->words) : NULL;
    out->labels = ARENA_ARRAY(l->scratch, struct native_label, labels);
    out->ways = ARENA_ARRAY(l->scratch, struct native_way, ways);
    out->meetings = ARENA_ARRAY(l->scratch, struct native_meeting, meetings);
    out->links = ARENA_ARRAY(l->scratch, struct native_link, links);
    out->label_count = out->way_count = out->meeting_count = out->link_count = 0;
    out->code_count = l->words;
}

const struct native_kernel *turing_link(const struct translation *t, const struct native_kernel *kernel,
                                        struct arena *scratch) {
    struct code_linker *l = ARENA_NEW(scratch, struct code_linker);
    l->program = t->program, l->kernel = kernel, l->scratch = scratch;
    find_pieces(l);
    const bool is_alone = l->count == 1;
    if (is_alone && !refers_to_itself(kernel))
        return kernel;
    struct turing_word *words = ARENA_ARRAY(scratch, struct turing_word, l->words);
    l->out = arena_copy(scratch, kernel, sizeof *kernel);
    make_room(l);
    for (unsigned i = 0; i < l->count; i++)
        take_places(l, &l->pieces[i], words);
    for (unsigned i = 0; i < l->count; i++)
        take_links(l, &l->pieces[i], words);
    l->out->words = words;
    return l->out;
}
