/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a trace that is replayed: as a file, as the tracks of two warps, and as changes of tracks that were recorded. Whatever
 * they say, the launch ends, and what does not fit says why. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "machine/machine.h"
#include "trace/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char settings[] = "base: gtx480\nsm.count: 1\nlimits.max_cycles: 20000\nmemory.capacity_bytes: 1 MiB\n";

/* Branches, a barrier, memory of three kinds, a shuffle, a call. */
static const char text[] = ".version 7.8\n.target sm_70\n.address_size 64\n"
                           ".func f() { ret; }\n"
                           ".visible .entry k(.param .u64 p) {\n"
                           "  .reg .pred %c; .reg .b32 %a, %b; .reg .b64 %d; .shared .b32 s[64];\n"
                           "  ld.param.u64 %d, [p]; mov.u32 %a, %tid.x; setp.lt.u32 %c, %a, 40;\n"
                           "  @%c bra L; add.u32 %a, %a, 1; st.shared.b32 [s+4], %a;\n"
                           "L: bar.sync 0; ld.global.b32 %b, [%d]; @%c st.global.b32 [%d+4], %b;\n"
                           "  atom.global.add.u32 %b, [%d+8], 1; shfl.sync.bfly.b32 %b, %b, 1, 31, -1;\n"
                           "  call f; @%c exit; bar.red.popc.u32 %b, 0, %c; exit;\n}\n";

enum { WARPS = 2 };

struct input {
    const uint8_t *bytes;
    size_t count;
};

static struct machine machine;
static struct arena kept;
static struct track recorded[WARPS]; /* of a run that nobody touched */

struct target {
    struct device *device;
    struct program *program;
    uint64_t buffer;
};

static void open_target(struct target *target) {
    struct report report = {0};
    if (device_create(&target->device, &machine, &report) ||
        device_load(target->device, "fuzz.ptx", text, sizeof text - 1, &target->program, &report) ||
        device_alloc(target->device, "buffer", 256, &target->buffer, &report)) {
        fputs(report_text(&report), stderr);
        abort();
    }
}

static enum status launch(const struct target *target, struct trace_writer *to, struct trace_reader *from,
                          struct report *report) {
    struct launch_result result;
    const struct launch launch = {.program = target->program,
                                  .kernel = module_find(program_module(target->program), "k"),
                                  .grid = {1, 1, 1},
                                  .block = {32 * WARPS, 1, 1},
                                  .params = &target->buffer,
                                  .work_dim = 1,
                                  .in_time = true,
                                  .trace_to = to,
                                  .trace_from = from};
    const enum status status = device_launch(target->device, &launch, &result, report);
    launch_result_free(&result);
    return status;
}

static struct trace_launch describe(const struct target *target) {
    return (struct trace_launch){.kernel = "k",
                                 .mechanism = "pdom",
                                 .code_hash = trace_code_hash(program_module(target->program)),
                                 .blocks = 1,
                                 .block_threads = 32 * WARPS,
                                 .warp_size = 32};
}

/* What the kernel does, once. */
static void record(void) {
    struct report report = {0};
    struct target target;
    struct trace_writer writer = {.arena = &kept};
    struct recording *recording = NULL;
    if (machine_open_text(&machine, "fuzz.yaml", settings, sizeof settings - 1, &report))
        abort();
    open_target(&target);
    const struct trace_launch wanted = describe(&target);
    struct trace_reader reader = {.name = "fuzz.trace"};
    enum status status = launch(&target, &writer, NULL, &report);
    reader.data = writer.items, reader.bytes = writer.count;
    if (!status)
        status = trace_next(&reader, &wanted, program_module(target.program), &kept, &recording, &report);
    if (status) {
        fputs(report_text(&report), stderr);
        abort();
    }
    memcpy(recorded, recording->tracks, sizeof recorded);
    device_destroy(target.device);
}

/* The recorded tracks with some bytes changed, three of the input each; or tracks of the input's bytes. */
static void make_tracks(struct arena *arena, struct input in, bool edits, struct track tracks[WARPS]) {
    for (unsigned w = 0; w < WARPS; w++) {
        const unsigned half = (unsigned)in.count / WARPS;
        const uint8_t *from = edits ? recorded[w].items : in.bytes + w * half;
        const unsigned count = edits ? recorded[w].count : half;
        tracks[w] = (struct track){
            .items = arena_copy(arena, from, count), .count = count, .capacity = count, .lanes = UINT32_MAX};
    }
    for (size_t i = 0; edits && i + 2 < in.count; i += 3) {
        struct track *track = &tracks[in.bytes[i] % WARPS];
        track->items[(in.bytes[i] / WARPS + 128u * in.bytes[i + 1]) % track->count] = in.bytes[i + 2];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct arena arena = {0};
    struct target target;
    if (size < 2 || size > 4096)
        return 0;
    if (!machine.arena.blocks)
        record();
    open_target(&target);
    struct trace_reader reader = {.name = "fuzz.trace", .data = data + 1, .bytes = size - 1};
    struct trace_writer writer = {.arena = &arena};
    if (data[0] % 4) { /* else a file */
        struct recording *recording = recording_create(&arena, program_module(target.program), 1, WARPS);
        const struct trace_launch about = describe(&target);
        make_tracks(&arena, (struct input){data + 1, size - 1}, data[0] % 4 > 1, recording->tracks);
        for (unsigned w = 0; w < WARPS; w++)
            recording->bytes += recording->tracks[w].count;
        if (trace_add(&writer, &about, recording, &report))
            abort();
        reader.data = writer.items, reader.bytes = writer.count;
    }
    if (launch(&target, NULL, &reader, &report) && !report.messages)
        abort();
    arena_free(&arena);
    device_destroy(target.device);
    report_free(&report);
    return 0;
}
