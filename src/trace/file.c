/* SPDX-License-Identifier: Apache-2.0 */
/* A file is MAGIC, then for each launch its bytes unpacked and packed, 8 bytes each, and one frame of zstd. In that, as numbers of
 * trace/bytes.h: what struct trace_launch has, then lanes, length and bytes of every track, blocks first. */
#include "trace/file.h"

#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/file.h"
#include "trace/bytes.h"

#define MAGIC "heddle trace 1\n"
#define TRACE_MECHANISM "pdom"               /* of launches that replay what was recorded on a GPU */
#define LAUNCH_BYTES_MAX (UINT64_C(5) << 30) /* above what a recording keeps */
#define FILE_BYTES_MAX (UINT64_C(4) << 30)

enum { MAGIC_BYTES = sizeof MAGIC - 1, LENGTH_BYTES = 16, LEVEL = 3 };

uint64_t trace_code_hash(const struct module *module) {
    uint64_t hash = 0;
    char text[512];
    for (uint32_t pc = 0; pc < module->code_count; pc++) {
        inst_text(module, &module->code[pc], text, sizeof text);
        hash = XXH64(text, strlen(text), hash);
    }
    return hash;
}

/* ---- writing ---- */

static void put_bytes(struct bytes_writer *out, const void *data, uint64_t bytes) {
    memcpy(out->to + out->at, data, bytes);
    out->at += bytes;
}

static void put_text(struct bytes_writer *out, const char *text) {
    number_put(out, strlen(text));
    put_bytes(out, text, strlen(text));
}

static void put_length(uint8_t *to, uint64_t value) {
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* All of a launch, unpacked. */
static struct bytes_writer lay_out(const struct trace_launch *launch, const struct recording *recording,
                                   struct arena *arena) {
    const uint64_t tracks = recording->blocks * recording->warps;
    const uint64_t most = recording->bytes + tracks * 2 * NUMBER_BYTES_MAX + strlen(launch->kernel) +
                          strlen(launch->mechanism) + 8 * NUMBER_BYTES_MAX;
    struct bytes_writer out = {.to = arena_alloc_unset(arena, most)};
    put_text(&out, launch->kernel);
    put_text(&out, launch->mechanism);
    number_put(&out, launch->code_hash);
    number_put(&out, launch->blocks);
    number_put(&out, launch->block_threads);
    number_put(&out, launch->warp_size);
    for (uint64_t i = 0; i < tracks; i++) {
        const struct track *track = &recording->tracks[i];
        number_put(&out, track->lanes);
        number_put(&out, track->count);
        put_bytes(&out, track->items, track->count);
    }
    return out;
}

enum status trace_add(struct trace_writer *writer, const struct trace_launch *launch, const struct recording *recording,
                      struct report *report) {
    struct arena arena = {.escape = writer->arena->escape};
    const struct bytes_writer whole = lay_out(launch, recording, &arena);
    const size_t bound = ZSTD_compressBound(whole.at) + LENGTH_BYTES;
    uint8_t *packed = arena_alloc_unset(&arena, bound);
    const size_t bytes = ZSTD_compress(packed + LENGTH_BYTES, bound - LENGTH_BYTES, whole.to, whole.at, LEVEL);
    const bool fits =
        !ZSTD_isError(bytes) && (uint64_t)writer->count + bytes + LENGTH_BYTES + MAGIC_BYTES <= FILE_BYTES_MAX;
    if (fits) {
        put_length(packed, whole.at);
        put_length(packed + 8, bytes);
        const unsigned needed = (unsigned)(bytes + LENGTH_BYTES);
        while (writer->capacity - writer->count < needed)
            writer->items = arena_grow(writer->arena, writer->items, writer->capacity, &writer->capacity, 1);
        memcpy(writer->items + writer->count, packed, needed);
        writer->count += needed, writer->launches++, writer->raw_bytes += whole.at;
    }
    arena_free(&arena);
    return fits ? STATUS_OK
                : report_add(report, STATUS_SYSTEM, "the trace of kernel '%s' does not fit into %llu GiB",
                             launch->kernel, (unsigned long long)(FILE_BYTES_MAX >> 30));
}

enum status trace_write(const struct trace_writer *writer, const char *path, struct report *report) {
    struct arena arena = {0};
    uint8_t *whole = arena_alloc_unset(&arena, MAGIC_BYTES + (size_t)writer->count);
    memcpy(whole, MAGIC, MAGIC_BYTES);
    if (writer->count)
        memcpy(whole + MAGIC_BYTES, writer->items, writer->count);
    const enum status status = file_write(path, whole, MAGIC_BYTES + (size_t)writer->count, report);
    arena_free(&arena);
    return status;
}

/* ---- reading ---- */

enum status trace_open(struct trace_reader *reader, const char *path, struct arena *arena, struct report *report) {
    char *data = NULL;
    *reader = (struct trace_reader){.name = path};
    const enum status status = file_read(path, FILE_BYTES_MAX, arena, &data, &reader->bytes, report);
    if (status)
        return status;
    if (reader->bytes < MAGIC_BYTES || memcmp(data, MAGIC, MAGIC_BYTES) != 0)
        return report_add(report, STATUS_INVALID,
                          "%s: not a trace of this version of Heddle ('heddle run --trace' writes one)", path);
    reader->data = (const uint8_t *)data, reader->at = MAGIC_BYTES;
    reader->hash = XXH64(data, reader->bytes, 0);
    return STATUS_OK;
}

void trace_rewind(struct trace_reader *reader) { reader->at = MAGIC_BYTES, reader->launches = 0; }

static enum status damaged(const struct trace_reader *reader, struct report *report) {
    return report_add(report, STATUS_INVALID, "%s: damaged: launch %u cannot be read", reader->name,
                      reader->launches + 1);
}

static uint64_t take_length(const uint8_t *from) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* The next launch unpacked, in the arena; NULL: it is damaged. */
static uint8_t *unpack(struct trace_reader *reader, struct arena *arena, uint64_t *bytes) {
    if (reader->bytes - reader->at < LENGTH_BYTES)
        return NULL;
    const uint8_t *from = reader->data + reader->at;
    const uint64_t raw = take_length(from), packed = take_length(from + 8);
    if (raw > LAUNCH_BYTES_MAX || packed > reader->bytes - reader->at - LENGTH_BYTES ||
        ZSTD_getFrameContentSize(from + LENGTH_BYTES, packed) != raw)
        return NULL;
    uint8_t *whole = arena_alloc_unset(arena, raw + 1);
    reader->at += LENGTH_BYTES + packed;
    *bytes = raw;
    return ZSTD_decompress(whole, raw, from + LENGTH_BYTES, packed) == raw ? whole : NULL;
}

static const char *take_text(struct bytes_reader *from, struct arena *arena) {
    const uint64_t length = number_take(from);
    from->good &= length <= from->end - from->at;
    const char *text = from->good ? arena_strndup(arena, (const char *)from->data + from->at, length) : "";
    from->at += from->good ? length : 0;
    return text;
}

static bool take_tracks(struct bytes_reader *from, struct recording *recording) {
    for (uint64_t i = 0; i < recording->blocks * recording->warps && from->good; i++) {
        struct track *track = &recording->tracks[i];
        track->lanes = word_take(from);
        const uint32_t count = word_take(from);
        from->good &= count <= from->end - from->at;
        track->items = (uint8_t *)(uintptr_t)(from->data + from->at); /* nobody writes to what was read */
        track->count = track->capacity = from->good ? count : 0;
        from->at += track->count;
        recording->bytes += track->count;
    }
    return from->good && from->at == from->end;
}

static enum status compare(const struct trace_reader *reader, const struct trace_launch *wanted,
                           const struct trace_launch *found, struct report *report) {
    const unsigned number = reader->launches + 1;
    if (strcmp(wanted->kernel, found->kernel) != 0)
        return report_add(report, STATUS_INVALID, "%s: launch %u is of kernel '%s', not of '%s'", reader->name, number,
                          found->kernel, wanted->kernel);
    if (strcmp(found->mechanism, TRACE_OF_HARDWARE) == 0 && strcmp(wanted->mechanism, TRACE_MECHANISM) != 0)
        return report_add(
            report, STATUS_INVALID,
            "%s: recorded on a GPU: a trace has its control flow, and divergence.mechanism=%s would choose "
            "another; use %s, under which warps go as they were recorded",
            reader->name, wanted->mechanism, TRACE_MECHANISM);
    if (strcmp(found->mechanism, TRACE_OF_HARDWARE) != 0 && strcmp(wanted->mechanism, found->mechanism) != 0)
        return report_add(
            report, STATUS_INVALID,
            "%s: recorded under divergence.mechanism=%s: a trace has its control flow, and %s would choose "
            "another; run the kernel itself",
            reader->name, found->mechanism, wanted->mechanism);
    if (wanted->code_hash != found->code_hash)
        return report_add(report, STATUS_INVALID, "%s: launch %u is of other code than kernel '%s' has now",
                          reader->name, number, wanted->kernel);
    if (wanted->blocks != found->blocks || wanted->block_threads != found->block_threads ||
        wanted->warp_size != found->warp_size)
        return report_add(report, STATUS_INVALID,
                          "%s: launch %u has %llu blocks of %u threads in warps of %u, not %llu of %u in warps of %u",
                          reader->name, number, (unsigned long long)found->blocks, (unsigned)found->block_threads,
                          (unsigned)found->warp_size, (unsigned long long)wanted->blocks,
                          (unsigned)wanted->block_threads, (unsigned)wanted->warp_size);
    return STATUS_OK;
}

/* What the next launch is; its tracks stand behind, in `from`. */
static enum status take_launch(struct trace_reader *reader, struct trace_launch *found, struct bytes_reader *from,
                               struct arena *arena, struct report *report) {
    if (trace_at_end(reader))
        return report_add(report, STATUS_INVALID, "%s: has %u launches; the run has more", reader->name,
                          reader->launches);
    *from = (struct bytes_reader){.good = true};
    from->data = unpack(reader, arena, &from->end);
    if (!from->data)
        return damaged(reader, report);
    *found = (struct trace_launch){.kernel = take_text(from, arena)};
    found->mechanism = take_text(from, arena);
    found->code_hash = number_take(from);
    found->blocks = number_take(from);
    found->block_threads = word_take(from);
    found->warp_size = word_take(from);
    return from->good ? STATUS_OK : damaged(reader, report);
}

/* A track has two bytes at least, and so a file as many as it says. */
static enum status take_recording(struct trace_reader *reader, const struct trace_launch *found,
                                  struct bytes_reader *from, struct recording **out, struct report *report) {
    if (!take_tracks(from, *out))
        return damaged(reader, report);
    (*out)->is_of_hardware = strcmp(found->mechanism, TRACE_OF_HARDWARE) == 0;
    reader->launches++;
    return STATUS_OK;
}

static unsigned warps_of(const struct trace_launch *launch) {
    return (launch->block_threads + launch->warp_size - 1) / launch->warp_size;
}

enum status trace_next(struct trace_reader *reader, const struct trace_launch *launch, const struct module *module,
                       struct arena *arena, struct recording **out, struct report *report) {
    struct bytes_reader from;
    struct trace_launch found;
    enum status status = take_launch(reader, &found, &from, arena, report);
    if (!status)
        status = compare(reader, launch, &found, report);
    if (status)
        return status;
    *out = recording_create(arena, module, found.blocks, warps_of(&found));
    return take_recording(reader, &found, &from, out, report);
}

enum status trace_look(struct trace_reader *reader, struct trace_launch *found, struct arena *arena,
                       struct recording **out, struct report *report) {
    struct bytes_reader from;
    const enum status status = take_launch(reader, found, &from, arena, report);
    if (status)
        return status;
    const uint64_t tracks_max = (from.end - from.at) / 2;
    if (!found->warp_size || found->warp_size > LANES_MAX || !found->block_threads ||
        found->block_threads > UINT16_MAX || found->blocks > tracks_max / warps_of(found))
        return damaged(reader, report);
    *out = recording_create(arena, NULL, found->blocks, warps_of(found));
    return take_recording(reader, found, &from, out, report);
}

bool trace_at_end(const struct trace_reader *reader) { return reader->at == reader->bytes; }
