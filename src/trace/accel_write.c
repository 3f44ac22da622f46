/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded launch of native code as the text of a kernel in Accel-Sim's format, version 5 of its tracer. */
#include <stdlib.h>
#include <string.h>

#include "isa/address.h"
#include "sass/turing.h"
#include "trace/accel.h"

#define SHARED_AT UINT64_C(0x7f0000000000) /* where generic addresses of shared and of local memory begin */
#define LOCAL_AT UINT64_C(0x7e0000000000)
#define WINDOW_END UINT64_C(0xfffd00) /* local memory is written as ending here, in its window of 16 MiB */

/* A launch while it is written. */
struct writing {
    const struct accel_launch *launch;
    FILE *to;
    struct report *report;
    struct arena arena;
    struct traced_inst *insts; /* of the module, by PC; without a mnemonic: nobody came to it yet */
    unsigned sm;
    uint64_t local_first,
        local_end; /* bytes of a thread's local memory that the warp accesses, from wherever that begins */
};

static enum status refuse(const struct writing *w, uint32_t pc, const char *why) {
    char where[256], text[256];
    const struct module *module = w->launch->module;
    return report_add(w->report, STATUS_INVALID, "%s: error: '%s': %s", module_where(module, pc, where, sizeof where),
                      inst_text(module, &module->code[pc], text, sizeof text), why);
}

/* ---- instructions ---- */

static void add_source(struct traced_inst *out, unsigned reg) {
    if (out->source_count < TRACED_SOURCES)
        out->sources[out->source_count++] = (uint8_t)reg;
}

/* Opcode and registers of native text: destinations stand at bit 16 of the word. */
static bool take_native(const char *text, unsigned sm, uint32_t index, struct traced_inst *out) {
    enum { DESTINATION_BIT = 16 };
    struct turing_inst inst;
    const char *at = strstr(text, "*/");
    if (!at || strncmp(text, "/*", 2) != 0)
        return false;
    struct turing_text parsed = {.text = at + 2, .sm = sm, .address = (uint32_t)strtoul(text + 2, NULL, 16)};
    at += 2;
    if (!turing_parse(&parsed, &inst))
        return false;
    at += strspn(at, " ");
    if (*at == '@')
        at += strcspn(at, " "), at += strspn(at, " ");
    const size_t length = strcspn(at, " ;");
    if (length >= TRACED_OPCODE_BYTES)
        return false;
    *out = (struct traced_inst){.index = index, .destination = TRACED_NO_REGISTER};
    memcpy(out->mnemonic, at, length);
    const struct turing_row *row = turing_row(inst.row);
    for (unsigned i = 0; row->operands[i].shape != TURING_SHAPE_END; i++) {
        const struct turing_operand *operand = &inst.operands[i];
        const bool is_register = operand->kind == TURING_REGISTER || operand->kind == TURING_MEMORY;
        if (!is_register || operand->hidden)
            continue;
        if (operand->kind == TURING_REGISTER && row->operands[i].at == DESTINATION_BIT &&
            out->destination == TRACED_NO_REGISTER)
            out->destination = operand->reg;
        else
            add_source(out, operand->reg);
    }
    return true;
}

/* Of a module that was imported: its text has them. */
static enum status take_traced(struct writing *w) {
    const struct module *module = w->launch->module;
    const struct function *kernel = w->launch->kernel;
    struct scan scan = {.next = module->text, .end = module->text + strlen(module->text)};
    uint64_t sm = 0;
    while (scan.line < kernel->text_line && scan_line(&scan))
        continue;
    scan_word(&scan);
    scan_take(&scan, 10, 1000, &sm);
    w->sm = (unsigned)sm;
    for (uint32_t pc = kernel->first_pc; pc < kernel->end_pc; pc++) {
        const uint32_t line = module->code[pc].text_line;
        if (line == kernel->text_line) /* nobody saw it */
            continue;
        while (scan.line < line && scan_line(&scan))
            continue;
        if (!traced_scan(&scan, w->sm, &w->insts[pc]))
            return refuse(w, pc, "is not as its listing has it");
    }
    return STATUS_OK;
}

static enum status take_insts(struct writing *w) {
    const struct module *module = w->launch->module;
    const struct function *kernel = w->launch->kernel;
    w->insts = ARENA_ARRAY(&w->arena, struct traced_inst, module->code_count);
    w->sm = module->sm;
    if (module->is_traced)
        return take_traced(w);
    if (!module->mnemonics || module->sm < 75)
        return report_add(w->report, STATUS_INVALID,
                          "kernel '%s' is %s, which has no opcodes of Accel-Sim's format: export a run of native code "
                          "of sm_75 to sm_90 (--set isa=native)",
                          kernel->name, module->mnemonics ? "native code of an older GPU" : "PTX");
    /* the kernel first, and behind it what it may call */
    const uint32_t count = module->code_count;
    for (uint32_t i = 0, index = 0; i < count; i++) {
        const uint32_t pc = (kernel->first_pc + i) % count;
        w->insts[pc].index = index;
        index += !(module->code[pc].flags & FLAG_PART);
    }
    return STATUS_OK;
}

/* The instruction at pc is known. */
static enum status know_inst(const struct writing *w, uint32_t pc) {
    const struct module *module = w->launch->module;
    struct traced_inst *inst = &w->insts[pc];
    if (inst->mnemonic[0])
        return STATUS_OK;
    const uint32_t index = inst->index;
    if (index >= TRACED_INDEX_MAX || !module->texts || !module->texts[pc] ||
        !take_native(module->texts[pc], w->sm, index, inst))
        return refuse(w, pc, "cannot be written as an instruction of its own");
    return STATUS_OK;
}

/* ---- accesses ---- */

/* Bytes of a thread's local memory, from wherever that of the machine begins: word k of all lanes lie side by side. */
static uint64_t local_offset(uint64_t address, unsigned lane) {
    return (address - 4ull * lane) / LANES_MAX / 4 * 4 + address % 4;
}

/* As the program says it. */
static uint64_t address_of(const struct writing *w, const struct access *access, bool is_generic, unsigned lane) {
    const uint64_t address = access->address[lane];
    if (access->space == SPACE_SHARED)
        return address + (is_generic ? SHARED_AT : 0);
    if (access->space == SPACE_LOCAL)
        return local_offset(address, lane) + WINDOW_END - w->local_end + (is_generic ? LOCAL_AT : 0);
    return address;
}

static void write_addresses(const struct writing *w, const struct access *access, bool is_generic) {
    uint64_t first = 0, stride = 0, before = 0;
    unsigned seen = 0;
    bool is_even = true;
    uint32_t expected = access->lanes;
    for (BITS_EACH(lane, access->lanes)) {
        const uint64_t address = address_of(w, access, is_generic, lane);
        if (seen == 1)
            stride = address - before;
        first = seen ? first : address;
        is_even &= seen < 2 || address - before == stride;
        before = address, seen++;
    }
    expected >>= bits_first(access->lanes);
    is_even &= seen > 1 && !(expected & (expected + 1)); /* lanes side by side */
    fprintf(w->to, " %u %u 0x%llx", access->bytes, is_even ? 1u : 2u, (unsigned long long)first);
    if (is_even)
        fprintf(w->to, " %lld", (long long)stride);
    before = first;
    for (BITS_EACH(lane, is_even ? 0 : access->lanes & (access->lanes - 1))) {
        const uint64_t address = address_of(w, access, is_generic, lane);
        fprintf(w->to, " %lld", (long long)(address - before));
        before = address;
    }
}

static bool is_generic(const char *mnemonic) {
    return strncmp(mnemonic, "LD.", 3) == 0 || strncmp(mnemonic, "ST.", 3) == 0 || strncmp(mnemonic, "ATOM.", 5) == 0;
}

/* ---- warps ---- */

/* One issue, and what parts of its instruction before it accessed. */
struct issue {
    struct track_issue issue;
    struct executed executed;
    struct access access;
};

static enum status check_issue(const struct writing *w, const struct issue *issue) {
    const struct executed *executed = &issue->executed;
    if (executed->flow == FLOW_BARRIER && (executed->barrier || executed->expected))
        return refuse(w, executed->pc, "the format has one barrier, of all warps of a block");
    if (issue->access.kind > ACCESS_ATOMIC)
        return refuse(w, executed->pc, "the format has loads, stores and atomics alone");
    return STATUS_OK;
}

static void write_issue(const struct writing *w, const struct issue *issue) {
    const struct traced_inst *inst = &w->insts[issue->executed.pc];
    const bool accesses =
        issue->access.kind != ACCESS_NONE && issue->access.lanes && issue->access.space != SPACE_CONST;
    const uint32_t lanes = accesses ? issue->access.lanes : issue->executed.lanes & issue->issue.guard;
    fprintf(w->to, "%04llx %08x ", (unsigned long long)traced_byte(w->sm, inst->index), (unsigned)lanes);
    if (inst->destination == TRACED_NO_REGISTER)
        fprintf(w->to, "0 ");
    else
        fprintf(w->to, "1 R%u ", (unsigned)inst->destination);
    fprintf(w->to, "%s %u", inst->mnemonic, (unsigned)inst->source_count);
    for (unsigned i = 0; i < inst->source_count; i++)
        fprintf(w->to, " R%u", (unsigned)inst->sources[i]);
    if (accesses)
        write_addresses(w, &issue->access, is_generic(inst->mnemonic));
    else
        fprintf(w->to, " 0");
    fprintf(w->to, " 0\n");
}

/* What comes next of the warp, as native instructions; false: nothing does, or *status says why not. */
static bool next_issue(const struct writing *w, const struct track *track, struct track_place *place,
                       struct issue *issue, enum status *status) {
    const struct module *module = w->launch->module;
    struct access kept = {.kind = ACCESS_NONE};
    while (place->gap != UINT32_MAX) {
        if (place->gap || !track_take(track, place, &issue->issue, &issue->executed, &issue->access)) {
            *status = report_add(w->report, STATUS_INVALID, "the trace does not have every issue");
            return false;
        }
        *status = check_issue(w, issue);
        const bool is_part = module->code[issue->executed.pc].flags & FLAG_PART;
        if (!*status && kept.kind != ACCESS_NONE && issue->access.kind != ACCESS_NONE)
            *status = refuse(w, issue->executed.pc, "two accesses in one instruction");
        if (*status)
            return false;
        if (issue->access.kind != ACCESS_NONE)
            kept = issue->access;
        if (is_part)
            continue;
        issue->access = kept;
        *status = know_inst(w, issue->executed.pc);
        return !*status;
    }
    return false;
}

/* Instructions of the warp, and where its local memory is. */
static enum status measure_warp(struct writing *w, const struct track *track, uint64_t *count) {
    struct track_place place;
    struct issue issue;
    enum status status = STATUS_OK;
    w->local_first = UINT64_MAX, w->local_end = 0, *count = 0;
    track_begin(track, &place);
    while (next_issue(w, track, &place, &issue, &status)) {
        ++*count;
        for (BITS_EACH(lane, issue.access.kind != ACCESS_NONE && issue.access.space == SPACE_LOCAL ? issue.access.lanes
                                                                                                   : 0)) {
            const uint64_t offset = local_offset(issue.access.address[lane], lane);
            w->local_first = offset < w->local_first ? offset : w->local_first;
            w->local_end = offset + issue.access.bytes > w->local_end ? offset + issue.access.bytes : w->local_end;
        }
    }
    if (!status && w->local_end && w->local_end - w->local_first > WINDOW_END)
        status = report_add(w->report, STATUS_INVALID, "kernel '%s': a thread has more local memory than 16 MiB",
                            w->launch->kernel->name);
    return status;
}

static enum status write_warp(struct writing *w, const struct track *track, unsigned warp) {
    struct track_place place;
    struct issue issue;
    uint64_t count;
    enum status status = measure_warp(w, track, &count);
    if (status)
        return status;
    fprintf(w->to, "\nwarp = %u\ninsts = %llu\n", warp, (unsigned long long)count);
    track_begin(track, &place);
    while (next_issue(w, track, &place, &issue, &status))
        write_issue(w, &issue);
    return status;
}

static void write_header(const struct writing *w) {
    const struct accel_launch *l = w->launch;
    const uint32_t registers = l->kernel->live_registers;
    fprintf(w->to, "-kernel name = %s\n-kernel id = %u\n-grid dim = (%u,%u,%u)\n-block dim = (%u,%u,%u)\n",
            l->kernel->name, l->number, (unsigned)l->grid[0], (unsigned)l->grid[1], (unsigned)l->grid[2],
            (unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2]);
    fprintf(
        w->to,
        "-shmem = %u\n-nregs = %u\n-binary version = %u\n-cuda stream id = 0\n-shmem base_addr = 0x%016llx\n"
        "-local mem base_addr = 0x%016llx\n-nvbit version = 0\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n"
        "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
        "[mem_addresses] immediate\n\n",
        (unsigned)l->shared_bytes, (unsigned)(registers > 255 ? 255 : registers), w->sm == 89 ? 86 : w->sm,
        (unsigned long long)SHARED_AT, (unsigned long long)LOCAL_AT);
}

enum status accel_write(const struct accel_launch *launch, FILE *to, struct report *report) {
    struct writing w = {.launch = launch, .to = to, .report = report};
    const struct recording *recording = launch->recording;
    enum status status = take_insts(&w);
    if (!status)
        write_header(&w);
    for (uint64_t block = 0; block < recording->blocks && !status; block++) {
        fprintf(to, "#BEGIN_TB\n\nthread block = %u,%u,%u\n", (unsigned)(block % launch->grid[0]),
                (unsigned)(block / launch->grid[0] % launch->grid[1]),
                (unsigned)(block / launch->grid[0] / launch->grid[1]));
        for (unsigned warp = 0; warp < recording->warps && !status; warp++)
            status = write_warp(&w, &recording->tracks[block * recording->warps + warp], warp);
        fprintf(to, "\n#END_TB\n\n");
    }
    arena_free(&w.arena);
    return status;
}
