/* SPDX-License-Identifier: Apache-2.0 */
/* A foreign trace as a launch file, a listing of its kernels and a trace of Heddle's own. Every file is read twice: for the kernels'
 * instructions, and for what warps did with them.
 * The lanes of a warp go together all the way, for where they diverged is not recorded: a warp does one instruction after the other, each for
 * the lanes of its mask, as Accel-Sim has it, and ends with the last. */
#include "trace/accel_importer.h"

#include <string.h>

#include "base/bits.h"
#include "base/file.h"

enum { LIST_BYTES_MAX = 64 << 20, LAUNCHES_MAX = 1 << 20 };
#define LOCAL_AT UINT64_C(0x400000000000) /* where local memory lies, out of the way of what GPUs give out */
#define ADDRESS_MAX (UINT64_C(1) << 47)

/* A file while it is read. */
struct import_pass {
    struct importer *importer;
    struct accel_reader reader;
    struct imported_kernel *kernel;
    struct recording *recording; /* NULL: of the first pass */
    struct track *track;
    struct track_place place;
    struct accel_inst last; /* which the next instruction of the warp says more of */
    uint32_t last_line;
    bool has_last, has_begun; /* the warp: an instruction that is not given yet, and any */
    uint32_t lanes, ended;    /* of the warp: all, and those that have come to their EXIT */
    uint64_t block, warp, seen_warps;
};

/* ---- kernels ---- */

static bool same(const struct traced_inst *a, const struct traced_inst *b) {
    return a->destination == b->destination && a->source_count == b->source_count &&
           memcmp(a->sources, b->sources, a->source_count) == 0 && strcmp(a->mnemonic, b->mnemonic) == 0;
}

/* The instruction of the kernel at that place, which is this one. NULL: it is not, or nobody knows it. */
static struct seen *see(struct import_pass *pass) {
    struct imported_kernel *kernel = pass->kernel;
    const struct accel_inst *inst = &pass->reader.inst;
    const uint32_t index = inst->inst.index;
    if (index >= kernel->count) {
        const uint32_t count = index + 1 > 2 * kernel->count ? index + 1 : 2 * kernel->count;
        struct seen *more = ARENA_ARRAY(pass->importer->out->arena, struct seen, count);
        if (kernel->count)
            memcpy(more, kernel->seen, kernel->count * sizeof *more);
        kernel->seen = more, kernel->count = count;
    }
    struct seen *seen = &kernel->seen[index];
    if (seen->is_there) {
        if (same(&seen->inst, &inst->inst))
            return seen;
        accel_fail(&pass->reader, "0x%llx of kernel '%s' is %s here, and was %s with other registers or another name",
                   (unsigned long long)traced_byte(kernel->sm, index), kernel->name, inst->inst.mnemonic,
                   seen->inst.mnemonic);
        return NULL;
    }
    const char *why = traced_opcode(inst->inst.mnemonic, kernel->sm, &seen->opcode);
    if (why) {
        accel_fail(&pass->reader, "opcode '%s' of sm_%u: %s", inst->inst.mnemonic, kernel->sm, why);
        return NULL;
    }
    seen->inst = inst->inst, seen->is_there = true;
    return seen;
}

static struct imported_kernel *kernel_of(struct importer *importer, const struct accel_reader *reader,
                                         unsigned *number) {
    const struct accel_header *header = &reader->header;
    for (*number = 0; *number < importer->kernels.count; ++*number) {
        struct imported_kernel *kernel = &importer->kernels.items[*number];
        if (strcmp(kernel->name, header->name) != 0)
            continue;
        if (kernel->sm != header->sm) {
            accel_fail(reader, "kernel '%s' is of sm_%u here, and was of sm_%u", kernel->name, header->sm, kernel->sm);
            return NULL;
        }
        kernel->registers = header->registers > kernel->registers ? header->registers : kernel->registers;
        return kernel;
    }
    struct imported_kernel *kernel = ARENA_PUSH(importer->out->arena, &importer->kernels);
    *kernel = (struct imported_kernel){
        .name = header->name, .sm = header->sm, .registers = header->registers, .local_first = UINT64_MAX};
    return kernel;
}

/* ---- what one issue does ---- */

static bool has_addresses(const struct traced_opcode *opcode) {
    return opcode->shape == TRACED_LOAD || opcode->shape == TRACED_STORE || opcode->shape == TRACED_ATOMIC;
}

/* The space of a generic address: what its first lane's lies in. */
static enum space space_of(const struct import_pass *pass, const struct traced_opcode *opcode, uint64_t address) {
    enum { WINDOW = 1 << 24 };
    const struct accel_header *header = &pass->reader.header;
    if (opcode->space != SPACE_GENERIC)
        return (enum space)opcode->space;
    if (address - header->shared_base < WINDOW)
        return SPACE_SHARED;
    return header->local_base && address - header->local_base < WINDOW ? SPACE_LOCAL : SPACE_GLOBAL;
}

static uint64_t offset_in(const struct import_pass *pass, enum space space, uint64_t address) {
    const uint64_t base = space == SPACE_SHARED  ? pass->reader.header.shared_base
                          : space == SPACE_LOCAL ? pass->reader.header.local_base
                                                 : 0;
    return base && address >= base ? address - base : address;
}

/* Word k of all threads of a warp side by side, warp behind warp. */
static uint64_t local_place(const struct import_pass *pass, unsigned lane, uint64_t offset) {
    const uint64_t first = pass->kernel->local_first & ~UINT64_C(3);
    const uint64_t thread_bytes = bits_round_up(pass->kernel->local_end - first, 4);
    const uint64_t warp = pass->block * pass->recording->warps + pass->warp;
    return LOCAL_AT + (warp * thread_bytes + ((offset - first) & ~UINT64_C(3))) * LANES_MAX + 4ull * lane + offset % 4;
}

/* Whether the lanes' addresses can be. */
static bool check_access(const struct import_pass *pass, const struct accel_inst *inst, enum space space) {
    for (BITS_EACH(lane, inst->lanes)) {
        const uint64_t offset = offset_in(pass, space, inst->address[lane]);
        if (offset >= (space == SPACE_GLOBAL ? ADDRESS_MAX : WINDOW_BYTES) - 16) {
            accel_fail(&pass->reader, "lane %u accesses 0x%llx, where no %s memory is", (unsigned)lane,
                       (unsigned long long)inst->address[lane], space_name(space));
            return false;
        }
        if (space == SPACE_LOCAL && !pass->recording) {
            struct imported_kernel *kernel = pass->kernel;
            kernel->local_first = offset < kernel->local_first ? offset : kernel->local_first;
            kernel->local_end = offset + inst->bytes > kernel->local_end ? offset + inst->bytes : kernel->local_end;
        }
    }
    return true;
}

static bool give_access(const struct import_pass *pass, const struct accel_inst *inst,
                        const struct traced_opcode *opcode, struct access *access) {
    access->kind = ACCESS_NONE;
    if (!inst->bytes || !inst->lanes || !has_addresses(opcode))
        return true;
    const enum space space = space_of(pass, opcode, inst->address[bits_first(inst->lanes)]);
    if (!check_access(pass, inst, space))
        return false;
    access->kind = opcode->shape == TRACED_LOAD    ? ACCESS_LOAD
                   : opcode->shape == TRACED_STORE ? ACCESS_STORE
                                                   : ACCESS_ATOMIC;
    access->space = (uint8_t)space, access->bytes = (uint8_t)inst->bytes, access->lanes = inst->lanes;
    access->packed = false, access->missed = 0;
    access->ticket = access->kind == ACCESS_ATOMIC && space == SPACE_GLOBAL ? 0 : NO_TICKET;
    for (BITS_EACH(lane, inst->lanes)) {
        const uint64_t offset = offset_in(pass, space, inst->address[lane]);
        access->address[lane] = space == SPACE_LOCAL && pass->recording ? local_place(pass, lane, offset) : offset;
    }
    return true;
}

/* ---- warps ---- */

/* Of the last instruction of the warp it is known now where it went; NO_PC: nowhere. */
static bool give_flow(const struct import_pass *pass, const struct seen *seen, uint32_t next, struct executed *out) {
    const uint32_t first = pass->kernel->first_pc;
    const bool is_control =
        seen->opcode.shape == TRACED_JUMP || seen->opcode.shape == TRACED_END || seen->inst.goes_elsewhere;
    *out = (struct executed){.pc = first + seen->inst.index, .lanes = pass->lanes, .issues = 1};
    if (next == NO_PC) {
        out->flow = FLOW_EXIT, out->taken = pass->lanes;
        return seen->opcode.shape == TRACED_END;
    }
    if (seen->opcode.shape == TRACED_BARRIER && pass->last.lanes) {
        out->flow = FLOW_BARRIER, out->taken = pass->lanes;
        return next == seen->inst.index + 1;
    }
    /* a branch for which all lanes stand says so, even to the next instruction: replays know of no other */
    if (next != seen->inst.index + 1 || (is_control && pass->last.lanes == UINT32_MAX))
        out->flow = FLOW_BRANCH, out->taken = pass->lanes, out->target = first + next;
    return true;
}

static bool fail_at_last(struct import_pass *pass, const char *what) {
    pass->reader.scan.line = pass->last_line;
    accel_fail(&pass->reader, "%s: %s", pass->last.inst.mnemonic, what);
    return false;
}

static bool finish_last(struct import_pass *pass, uint32_t next) {
    struct seen *seen = &pass->kernel->seen[pass->last.inst.index];
    const uint32_t lanes = pass->last.lanes, alive = pass->lanes & ~pass->ended;
    struct executed executed;
    struct access access;
    pass->has_last = false;
    if (lanes & ~pass->lanes)
        return fail_at_last(pass, "its mask has lanes without a thread");
    if (seen->opcode.shape == TRACED_BARRIER && lanes && (lanes & alive) != alive)
        return fail_at_last(pass, "a barrier of the block for a part of the warp is not replayed");
    if (!give_flow(pass, seen, next, &executed))
        return fail_at_last(pass, next == NO_PC ? "a warp ends with EXIT"
                                                : "behind a barrier a warp goes on with the next instruction");
    if (!give_access(pass, &pass->last, &seen->opcode, &access))
        return false;
    pass->ended |= seen->opcode.shape == TRACED_END ? lanes : 0;
    if (!pass->recording) {
        seen->inst.is_guarded |= lanes != pass->lanes;
        seen->inst.goes_elsewhere |= executed.flow == FLOW_BRANCH && next != seen->inst.index + 1;
        return true;
    }
    const struct track_issue issue = {.guard = lanes == pass->lanes && lanes == UINT32_MAX ? UINT32_MAX : lanes};
    const unsigned before = pass->track->count;
    track_put(pass->recording->arena, pass->track, &pass->place, &issue, &executed, &access);
    pass->recording->bytes += pass->track->count - before;
    return true;
}

static uint32_t warp_lanes(const struct accel_header *header, uint64_t warp) {
    const uint64_t threads = (uint64_t)header->block[0] * header->block[1] * header->block[2];
    return bits_low((unsigned)(threads - warp * LANES_MAX < LANES_MAX ? threads - warp * LANES_MAX : LANES_MAX));
}

static unsigned warps_of(const struct accel_header *header) {
    return (unsigned)(((uint64_t)header->block[0] * header->block[1] * header->block[2] + LANES_MAX - 1) / LANES_MAX);
}

static bool begin_warp(struct import_pass *pass) {
    const unsigned warp = pass->reader.warp;
    if (pass->has_last && !finish_last(pass, NO_PC))
        return false;
    if (pass->seen_warps >> warp & 1 || !pass->reader.remaining) {
        accel_fail(&pass->reader, pass->reader.remaining ? "warp %u stands twice in its block" : "warp %u does nothing",
                   warp);
        return false;
    }
    pass->seen_warps |= UINT64_C(1) << warp;
    pass->warp = warp, pass->ended = 0, pass->has_begun = false, pass->lanes = warp_lanes(&pass->reader.header, warp);
    if (pass->recording) {
        pass->track = &pass->recording->tracks[pass->block * pass->recording->warps + warp];
        pass->place = (struct track_place){0};
        pass->track->lanes = pass->lanes;
    }
    return true;
}

static bool take_inst(struct import_pass *pass) {
    if (pass->has_last && !finish_last(pass, pass->reader.inst.inst.index))
        return false;
    if (!pass->has_begun && pass->reader.inst.inst.index) {
        accel_fail(&pass->reader, "a warp begins with the kernel's first instruction");
        return false;
    }
    if (!see(pass))
        return false;
    pass->has_begun = true;
    pass->last = pass->reader.inst, pass->has_last = true, pass->last_line = pass->reader.scan.line;
    pass->importer->out->instructions += !pass->recording;
    return true;
}

static bool end_block(struct import_pass *pass) {
    const unsigned warps = warps_of(&pass->reader.header);
    if (pass->has_last && !finish_last(pass, NO_PC))
        return false;
    if (pass->seen_warps != bits_low64(warps)) {
        accel_fail(&pass->reader, "the block has %u of its %u warps", bits_count64(pass->seen_warps), warps);
        return false;
    }
    pass->seen_warps = 0, pass->block++;
    return true;
}

static enum status run_pass(struct import_pass *pass) {
    const struct accel_header *header = &pass->reader.header;
    const uint64_t blocks = (uint64_t)header->grid[0] * header->grid[1];
    for (bool good = true;;) {
        const enum accel_event event = accel_next(&pass->reader);
        switch (event) {
        case ACCEL_BLOCK:
            if (pass->block / header->grid[2] >= blocks)
                accel_fail(&pass->reader, "more blocks than the grid has"), good = false;
            break;
        case ACCEL_WARP: good = begin_warp(pass); break;
        case ACCEL_INST: good = take_inst(pass); break;
        case ACCEL_BLOCK_END: good = end_block(pass); break;
        case ACCEL_END:
            if (pass->block / header->grid[2] != blocks || pass->block % header->grid[2])
                accel_fail(&pass->reader, "%llu blocks, and the grid has %llu x %u", (unsigned long long)pass->block,
                           (unsigned long long)blocks, (unsigned)header->grid[2]),
                    good = false;
            return good ? STATUS_OK : STATUS_INVALID;
        default: good = false;
        }
        if (!good)
            return STATUS_INVALID;
    }
}

/* ---- files ---- */

static enum status open_launch(struct importer *importer, const struct one_launch *launch,
                               struct accel_reader *reader) {
    if (launch->text.text)
        return accel_open_text(reader, launch->path, launch->text, &importer->scratch, importer->report);
    return accel_open(reader, launch->path, &importer->scratch, importer->report);
}

static enum status first_pass(struct importer *importer, struct one_launch *launch) {
    struct import_pass pass = {.importer = importer};
    enum status status = open_launch(importer, launch, &pass.reader);
    if (status)
        return status;
    pass.reader.header.name = arena_strdup(importer->out->arena, pass.reader.header.name);
    launch->header = pass.reader.header;
    pass.kernel = kernel_of(importer, &pass.reader, &launch->kernel);
    if (!pass.kernel)
        return STATUS_INVALID;
    status = run_pass(&pass);
    importer->out->blocks += pass.block, importer->out->warps += pass.block * warps_of(&launch->header);
    arena_reset(&importer->scratch);
    return status;
}

static enum status second_pass(struct importer *importer, const struct one_launch *launch) {
    struct import_pass pass = {.importer = importer, .kernel = &importer->kernels.items[launch->kernel]};
    enum status status = open_launch(importer, launch, &pass.reader);
    if (status)
        return status;
    if (memcmp(pass.reader.header.grid, launch->header.grid, sizeof launch->header.grid) != 0 ||
        memcmp(pass.reader.header.block, launch->header.block, sizeof launch->header.block) != 0)
        return report_add(importer->report, STATUS_INVALID, "%s: changed while it was read", launch->path);
    const uint64_t blocks = (uint64_t)launch->header.grid[0] * launch->header.grid[1] * launch->header.grid[2];
    pass.recording = recording_create(&importer->scratch, importer->module, blocks, warps_of(&launch->header));
    status = run_pass(&pass);
    const struct trace_launch about = {.kernel = pass.kernel->name,
                                       .mechanism = TRACE_OF_HARDWARE,
                                       .code_hash = trace_code_hash(importer->module),
                                       .blocks = blocks,
                                       .block_threads =
                                           launch->header.block[0] * launch->header.block[1] * launch->header.block[2],
                                       .warp_size = LANES_MAX};
    if (!status)
        status = recording_check(pass.recording, launch->path, importer->report);
    if (!status)
        status = trace_add(&importer->out->trace, &about, pass.recording, importer->report);
    arena_reset(&importer->scratch);
    return status;
}

/* The list: a kernel's file in each line, or a copy. */
static enum status read_list(struct importer *importer, const char *path) {
    struct accel_import *out = importer->out;
    char *data = NULL;
    size_t bytes = 0;
    const enum status status = file_read(path, LIST_BYTES_MAX, out->arena, &data, &bytes, importer->report);
    const char *folder = file_dir(out->arena, path);
    struct scan scan = {.next = data, .end = data + bytes};
    if (status)
        return status;
    while (scan_line(&scan)) {
        const struct scan_word word = scan_rest(&scan);
        if (!word.length)
            continue;
        const bool is_kernel = word.length > 6 && memcmp(word.text, "kernel", 6) == 0;
        const bool is_copy = word.length > 10 && memcmp(word.text, "MemcpyHtoD", 10) == 0;
        out->copies += is_copy, out->ignored += !is_copy && !is_kernel;
        if (!is_kernel)
            continue;
        const char *name = arena_strndup(out->arena, word.text, word.length);
        if (strlen(name) != word.length || strchr(name, '/') || !file_ends_in(name, ".traceg"))
            return report_add(
                importer->report, STATUS_INVALID,
                "%s:%u: error: '%s' is no file NAME.traceg beside the list; what is packed (.xz) is to be "
                "unpacked first, and .trace to be run through Accel-Sim's post-processing",
                path, (unsigned)scan.line, name);
        if (importer->launches.count == LAUNCHES_MAX)
            return report_add(importer->report, STATUS_INVALID, "%s:%u: error: more than %d kernels", path,
                              (unsigned)scan.line, LAUNCHES_MAX);
        ARENA_PUSH(out->arena, &importer->launches)->path = file_join(out->arena, folder, name);
    }
    if (!importer->launches.count)
        return report_add(importer->report, STATUS_INVALID, "%s: names no kernel", path);
    return STATUS_OK;
}

static enum status import_all(struct importer *importer) {
    struct accel_import *import = importer->out;
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < importer->launches.count; i++)
        status = first_pass(importer, &importer->launches.items[i]);
    if (!status)
        status = importer_list_kernels(importer);
    for (unsigned i = 0; !status && i < importer->launches.count; i++)
        status = second_pass(importer, &importer->launches.items[i]);
    if (!status)
        status = importer_list_launches(importer);
    import->kernels = importer->kernels.count, import->launches = importer->launches.count;
    if (importer->module)
        module_free(importer->module);
    arena_free(&importer->scratch);
    return status;
}

enum status accel_import(struct accel_import *import, struct report *report) {
    struct importer importer = {.out = import, .report = report};
    const char *list =
        file_ends_in(import->from, ".g") ? import->from : file_join(import->arena, import->from, "kernelslist.g");
    import->trace.arena = import->arena;
    const enum status status = read_list(&importer, list);
    return status ? status : import_all(&importer);
}

enum status accel_import_text(struct accel_import *import, struct scan_word text, struct report *report) {
    struct importer importer = {.out = import, .report = report};
    import->trace.arena = import->arena;
    *ARENA_PUSH(import->arena, &importer.launches) = (struct one_launch){.path = import->from, .text = text};
    return import_all(&importer);
}
