/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as Perfetto's trace: TracePacket messages with TrackEvents, one process for each SM, in it a track for each issue
 * slot and as many for memory requests as there are at a time. Slices of a track nest, and its times never fall. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "result/lines.h"
#include "result/timeline.h"

/* Numbers of fields, as perfetto/trace publishes them. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_PARENT = 5,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    INTERNED_NAME = 2,
    INTERNED_ANNOTATION = 3,
    ENTRY_ID = 1,
    ENTRY_TEXT = 2,
    ANNOTATION_NAME = 1,
    ANNOTATION_NUMBER = 3,
    ANNOTATION_TEXT = 6,
};
enum { BEGIN = 1, END = 2 }; /* of a slice */
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };
enum { NOTE_PC = 1, NOTE_SOURCE, NOTE_LANES, NOTE_BLOCK, NOTE_LAUNCH, NOTE_COUNT };
static const char *const note_names[NOTE_COUNT] = {NULL, "pc", "source", "lanes", "block", "launch"};
enum { SM_TRACKS = 1 << 16, MEMORY_TRACKS = 1 << 12 }; /* numbers between those of SMs, and before those of memory */

struct trace_bytes {
    struct arena *arena;
    char *items;
    unsigned count, capacity;
};

static void add(struct trace_bytes *to, const void *data, size_t length) {
    while (to->capacity - to->count < length) {
        const unsigned full = to->capacity;
        to->items = arena_grow(to->arena, to->items, full, &to->capacity, 1);
    }
    memcpy(to->items + to->count, data, length);
    to->count += (unsigned)length;
}

static void add_varint(struct trace_bytes *to, uint64_t value) {
    for (; value >= 128; value >>= 7)
        *ARENA_PUSH(to->arena, to) = (char)(value | 128);
    *ARENA_PUSH(to->arena, to) = (char)value;
}

static void add_number(struct trace_bytes *to, unsigned field, uint64_t value) {
    add_varint(to, (uint64_t)field << 3);
    add_varint(to, value);
}

static void add_text(struct trace_bytes *to, unsigned field, const char *text, size_t length) {
    add_varint(to, (uint64_t)field << 3 | 2);
    add_varint(to, length);
    add(to, text, length);
}

/* A message put together elsewhere; it is empty again. */
static void add_message(struct trace_bytes *to, unsigned field, struct trace_bytes *message) {
    add_text(to, field, message->items, message->count);
    message->count = 0;
}

struct trace_slice {
    uint64_t begin, end;
    uint32_t track, order;
    uint64_t name;
    const struct timeline_issue *issue; /* NULL: a wait */
};

struct slices {
    struct trace_slice *items;
    unsigned count, capacity;
};

struct writer {
    const struct timeline *timeline;
    const struct run *run;
    struct arena scratch;
    struct trace_bytes out, packet, inner, deep;
};

static void end_packet(struct writer *writer, uint64_t flags) {
    add_number(&writer->packet, PACKET_SEQUENCE, 1);
    add_number(&writer->packet, PACKET_FLAGS, flags);
    add_message(&writer->out, TRACE_PACKET, &writer->packet);
}

/* ---- names ---- */

static uint64_t wait_name(const struct writer *writer, enum sm_wait wait) {
    return (uint64_t)writer->run->module->code_count + 1 + wait;
}

static void intern(struct writer *writer, unsigned field, uint64_t id, const char *text) {
    add_number(&writer->deep, ENTRY_ID, id);
    add_text(&writer->deep, ENTRY_TEXT, text, strlen(text));
    add_message(&writer->inner, field, &writer->deep);
}

static void write_names(struct writer *writer) {
    static const char *const waits[WAIT_COUNT] = {"waits for its instruction", "waits for a result",
                                                  "waits for memory",          "waits for other threads",
                                                  "waits for a unit",          "waits for its turn"};
    const struct module *module = writer->run->module;
    bool *used = ARENA_ARRAY(&writer->scratch, bool, module->code_count);
    for (uint32_t i = 0; i < writer->timeline->sm_count; i++)
        for (unsigned k = 0; k < writer->timeline->sms[i].issues.count; k++)
            used[writer->timeline->sms[i].issues.items[k].pc] = true;
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        char text[512];
        if (used[pc])
            intern(writer, INTERNED_NAME, pc + UINT64_C(1), inst_text(module, &module->code[pc], text, sizeof text));
    }
    for (unsigned i = 0; i < WAIT_COUNT; i++)
        intern(writer, INTERNED_NAME, wait_name(writer, i), waits[i]);
    for (unsigned i = 1; i < NOTE_COUNT; i++)
        intern(writer, INTERNED_ANNOTATION, i, note_names[i]);
    add_message(&writer->packet, PACKET_INTERNED, &writer->inner);
    end_packet(writer, FLAG_CLEARED);
}

/* ---- tracks ---- */

static uint64_t track_number(uint32_t sm, uint32_t track) { return (uint64_t)(sm + 1) * SM_TRACKS + track; }

static void write_process(struct writer *writer, uint32_t sm) {
    const char *name = arena_printf(&writer->scratch, "SM %u", (unsigned)sm);
    add_number(&writer->deep, PROCESS_PID, sm + 1);
    add_text(&writer->deep, PROCESS_NAME, name, strlen(name));
    add_number(&writer->inner, TRACK_UUID, track_number(sm, 0));
    add_message(&writer->inner, TRACK_PROCESS, &writer->deep);
    add_message(&writer->packet, PACKET_TRACK, &writer->inner);
    end_packet(writer, FLAG_NEEDED);
}

static void write_track(struct writer *writer, uint32_t sm, uint32_t track) {
    const char *name = track > MEMORY_TRACKS
                           ? arena_printf(&writer->scratch, "memory requests %u", (unsigned)(track - MEMORY_TRACKS))
                           : arena_printf(&writer->scratch, "warp slot %u", (unsigned)(track - 1));
    add_number(&writer->inner, TRACK_UUID, track_number(sm, track));
    add_text(&writer->inner, TRACK_NAME, name, strlen(name));
    add_number(&writer->inner, TRACK_PARENT, track_number(sm, 0));
    add_message(&writer->packet, PACKET_TRACK, &writer->inner);
    end_packet(writer, FLAG_NEEDED);
}

/* ---- slices ---- */

static void note_number(struct writer *writer, unsigned name, uint64_t value) {
    add_number(&writer->deep, ANNOTATION_NAME, name);
    add_number(&writer->deep, ANNOTATION_NUMBER, value);
    add_message(&writer->inner, EVENT_ANNOTATION, &writer->deep);
}

static void write_notes(struct writer *writer, const struct timeline_issue *issue) {
    unsigned file;
    uint32_t line;
    char where[512];
    lines_of(writer->run->module, issue->pc, &file, &line);
    const int length =
        snprintf(where, sizeof where, "%.490s:%u", lines_file_name(writer->run->module, file), (unsigned)line);
    note_number(writer, NOTE_PC, issue->pc);
    add_number(&writer->deep, ANNOTATION_NAME, NOTE_SOURCE);
    add_text(&writer->deep, ANNOTATION_TEXT, where, (size_t)length);
    add_message(&writer->inner, EVENT_ANNOTATION, &writer->deep);
    note_number(writer, NOTE_LANES, bits_count(issue->lanes));
    note_number(writer, NOTE_BLOCK, issue->block);
    note_number(writer, NOTE_LAUNCH, issue->launch + UINT64_C(1));
}

static void write_event(struct writer *writer, uint64_t track, unsigned type, uint64_t cycle,
                        const struct trace_slice *slice) {
    if (slice && slice->issue)
        write_notes(writer, slice->issue);
    add_number(&writer->inner, EVENT_TYPE, type);
    if (slice)
        add_number(&writer->inner, EVENT_NAME, slice->name);
    add_number(&writer->inner, EVENT_TRACK, track);
    add_number(&writer->packet, PACKET_TIMESTAMP, cycle);
    add_message(&writer->packet, PACKET_EVENT, &writer->inner);
    end_packet(writer, FLAG_NEEDED);
}

static int by_track(const void *a, const void *b) {
    const struct trace_slice *left = a, *right = b;
    if (left->track != right->track)
        return left->track < right->track ? -1 : 1;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end) /* the longer one holds the shorter one */
        return left->end > right->end ? -1 : 1;
    return left->order < right->order ? -1 : 1;
}

/* One track's slices, in order. Groups that issue from a slot side by side lie in each other. */
static void write_slices(struct writer *writer, uint32_t sm, const struct trace_slice *slices, unsigned count) {
    enum { DEPTH = 64 };
    const uint64_t track = track_number(sm, slices[0].track);
    uint64_t ends[DEPTH];
    unsigned depth = 0;
    write_track(writer, sm, slices[0].track);
    for (unsigned i = 0; i < count; i++) {
        while (depth && ends[depth - 1] <= slices[i].begin)
            write_event(writer, track, END, ends[--depth], NULL);
        if (depth == DEPTH)
            continue;
        const uint64_t end = depth && ends[depth - 1] < slices[i].end ? ends[depth - 1] : slices[i].end;
        write_event(writer, track, BEGIN, slices[i].begin, &slices[i]);
        ends[depth++] = end;
    }
    while (depth)
        write_event(writer, track, END, ends[--depth], NULL);
}

/* A request goes on the first of the tracks for memory that is free by then; issues are in the order of their cycles, requests
 * need not be, so they are put in order first. */
static void place_requests(struct writer *writer, struct trace_slice *requests, unsigned count) {
    struct {
        uint64_t *items;
        unsigned count, capacity;
    } ends = {0};
    if (count)
        qsort(requests, count, sizeof *requests, by_track);
    for (unsigned i = 0; i < count; i++) {
        unsigned lane = 0;
        while (lane < ends.count && ends.items[lane] > requests[i].begin)
            lane++;
        if (lane == ends.count)
            *ARENA_PUSH(&writer->scratch, &ends) = 0;
        ends.items[lane] = requests[i].end;
        requests[i].track += lane;
    }
}

static void write_sm(struct writer *writer, uint32_t number) {
    const struct timeline_sm *sm = &writer->timeline->sms[number];
    struct slices slices = {0};
    const unsigned wide = writer->timeline->issue_cycles;
    for (unsigned i = 0; i < sm->issues.count; i++) {
        const struct timeline_issue *issue = &sm->issues.items[i];
        if (issue->asked != TIMELINE_NO_ASK && issue->asked < issue->end)
            *ARENA_PUSH(&writer->scratch, &slices) =
                (struct trace_slice){issue->asked, issue->end, MEMORY_TRACKS + 1, i, issue->pc + UINT64_C(1), issue};
    }
    place_requests(writer, slices.items, slices.count);
    for (unsigned i = 0; i < sm->issues.count; i++) {
        const struct timeline_issue *issue = &sm->issues.items[i];
        *ARENA_PUSH(&writer->scratch, &slices) =
            (struct trace_slice){issue->cycle, issue->cycle + wide, issue->slot + 1, i, issue->pc + UINT64_C(1), issue};
    }
    for (unsigned i = 0; i < sm->waits.count; i++) {
        const struct timeline_wait *wait = &sm->waits.items[i];
        *ARENA_PUSH(&writer->scratch, &slices) =
            (struct trace_slice){wait->begin, wait->end, wait->slot + 1, i, wait_name(writer, wait->wait), NULL};
    }
    if (!slices.count)
        return;
    qsort(slices.items, slices.count, sizeof *slices.items, by_track);
    write_process(writer, number);
    for (unsigned first = 0, i = 1; i <= slices.count; i++)
        if (i == slices.count || slices.items[i].track != slices.items[first].track) {
            write_slices(writer, number, &slices.items[first], i - first);
            first = i;
        }
}

char *timeline_perfetto(const struct timeline *timeline, const struct run *run, struct arena *arena, size_t *length) {
    struct writer writer = {.timeline = timeline, .run = run, .out = {.arena = arena}};
    writer.packet.arena = writer.inner.arena = writer.deep.arena = &writer.scratch;
    write_names(&writer);
    for (uint32_t i = 0; i < timeline->sm_count; i++)
        write_sm(&writer, i);
    arena_free(&writer.scratch);
    *length = writer.out.count;
    return writer.out.items;
}
