/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints written. */
#include "launch/checkpoint.h"

#include <string.h>
#include <zstd.h>

#include "base/file.h"
#include "device/host.h"
#include "device/kept.h"
#include "launch/checkpoint_form.h"
#include "machine/model.h"

enum { LEVEL = 3, TABLE_FIRST = 1024 };

struct checkpoint_place {
    struct checkpoint_digest digest; /* zero: nothing is here */
    uint32_t file;                   /* of the names */
};

/* A file under way; all lives in the arena. */
struct checkpoint_draft {
    struct arena arena;
    struct checkpoint head;
    const uint8_t **contents; /* of the pages that are its own */
    unsigned *tails;          /* bytes of each */
    bool *uses;               /* which of the files written before */
    struct {
        uint8_t *items;
        size_t count, capacity;
    } out;
};

/* ---- pages that are known ---- */

static struct checkpoint_place *place_of(struct checkpoint_place *table, uint64_t size,
                                         struct checkpoint_digest digest) {
    uint64_t at = digest.low & (size - 1);
    while (!checkpoint_is_zero(table[at].digest) && checkpoint_compare(table[at].digest, digest) != 0)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void make_room(struct checkpoint_writer *writer) {
    if (2 * (writer->table_used + 1) <= writer->table_size)
        return;
    const uint64_t size = writer->table_size ? 2 * writer->table_size : TABLE_FIRST;
    struct checkpoint_place *table = ARENA_ARRAY(&writer->arena, struct checkpoint_place, size);
    for (uint64_t i = 0; i < writer->table_size; i++)
        if (!checkpoint_is_zero(writer->table[i].digest))
            *place_of(table, size, writer->table[i].digest) = writer->table[i];
    writer->table = table, writer->table_size = size;
}

/* A page that is nowhere yet becomes the new file's own, whose number is `file`. */
static void add_page(struct checkpoint_writer *writer, struct checkpoint_draft *draft, struct checkpoint_digest digest,
                     const uint8_t *data, unsigned bytes) {
    const uint32_t file = writer->names.count;
    make_room(writer);
    struct checkpoint_place *place = place_of(writer->table, writer->table_size, digest);
    writer->pages++;
    if (!checkpoint_is_zero(place->digest)) {
        if (place->file != file)
            draft->uses[place->file] = true;
        return;
    }
    *place = (struct checkpoint_place){digest, file};
    writer->table_used++, writer->new_pages++;
    draft->contents[draft->head.own_count] = data;
    draft->tails[draft->head.own_count] = bytes;
    draft->head.own[draft->head.own_count++] = digest;
}

static bool is_zero(const uint8_t *bytes, uint64_t count) {
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static void add_range(struct checkpoint_writer *writer, struct checkpoint_draft *draft, const uint8_t *data,
                      uint64_t bytes, struct checkpoint_digest *digests) {
    uint8_t last[CHECKPOINT_PAGE_BYTES];
    for (uint64_t at = 0; at < bytes; at += CHECKPOINT_PAGE_BYTES, digests++) {
        const uint8_t *page = data + at;
        const unsigned left = (unsigned)(bytes - at < sizeof last ? bytes - at : sizeof last);
        if (is_zero(page, left))
            continue;
        if (left < sizeof last) {
            memset(last, 0, sizeof last);
            memcpy(last, page, left);
        }
        *digests = checkpoint_digest(left < sizeof last ? last : page);
        add_page(writer, draft, *digests, page, left);
    }
}

/* ---- the file ---- */

static uint8_t *room(struct checkpoint_draft *draft, size_t bytes) {
    if (draft->out.capacity - draft->out.count < bytes) {
        const size_t capacity = 2 * draft->out.capacity + bytes;
        uint8_t *items = arena_alloc_unset(&draft->arena, capacity);
        if (draft->out.count)
            memcpy(items, draft->out.items, draft->out.count);
        draft->out.items = items, draft->out.capacity = capacity;
    }
    return draft->out.items + draft->out.count;
}

static bool put_frame(struct checkpoint_draft *draft, const uint8_t *raw, size_t bytes) {
    const size_t bound = ZSTD_compressBound(bytes);
    uint8_t *to = room(draft, CHECKPOINT_FRAME_BYTES + bound);
    const size_t packed = ZSTD_compress(to + CHECKPOINT_FRAME_BYTES, bound, raw, bytes, LEVEL);
    if (ZSTD_isError(packed))
        return false;
    const uint64_t numbers[] = {bytes, packed, checkpoint_frame_hash(to + CHECKPOINT_FRAME_BYTES, packed)};
    for (unsigned i = 0; i < CHECKPOINT_FRAME_BYTES; i++)
        to[i] = (uint8_t)(numbers[i / 8] >> 8 * (i % 8));
    draft->out.count += CHECKPOINT_FRAME_BYTES + packed;
    return true;
}

static bool put_pages(struct checkpoint_draft *draft) {
    enum { GROUP = CHECKPOINT_GROUP_PAGES };
    uint8_t *group = arena_alloc_unset(&draft->arena, (size_t)GROUP * CHECKPOINT_PAGE_BYTES);
    bool good = true;
    for (uint64_t first = 0; first < draft->head.own_count && good; first += GROUP) {
        const uint64_t left = draft->head.own_count - first, count = left < GROUP ? left : GROUP;
        for (uint64_t i = 0; i < count; i++) {
            uint8_t *page = group + i * CHECKPOINT_PAGE_BYTES;
            memset(page, 0, CHECKPOINT_PAGE_BYTES);
            memcpy(page, draft->contents[first + i], draft->tails[first + i]);
        }
        good = put_frame(draft, group, count * CHECKPOINT_PAGE_BYTES);
    }
    return good;
}

static enum status put_all(struct checkpoint_draft *draft, const char *path, struct report *report) {
    struct keep keep;
    memcpy(room(draft, sizeof CHECKPOINT_MAGIC), CHECKPOINT_MAGIC, sizeof CHECKPOINT_MAGIC - 1);
    draft->out.count += sizeof CHECKPOINT_MAGIC - 1;
    keep_to_write(&keep);
    checkpoint_keep_head(&draft->head, &keep, &draft->arena);
    const bool good = keep.good && keep.count <= CHECKPOINT_HEAD_BYTES_MAX &&
                      put_frame(draft, keep.items, keep.count) && put_pages(draft);
    keep_free(&keep);
    if (!good)
        return report_add(report, STATUS_SYSTEM, "%s: the host has no memory for this checkpoint", path);
    return file_write(path, draft->out.items, draft->out.count, report);
}

/* What memory holds, and which files before have what this one has not. */
static enum status add_memory(struct checkpoint_writer *writer, struct checkpoint_draft *draft, struct device *device,
                              struct report *report) {
    struct checkpoint *head = &draft->head;
    struct arena *arena = &draft->arena;
    head->ranges = checkpoint_ranges(device, &head->range_count, arena);
    for (uint32_t i = 0; i < head->range_count; i++)
        head->page_count += checkpoint_pages_of(head->ranges[i].bytes);
    head->pages = ARENA_ARRAY(arena, struct checkpoint_digest, head->page_count);
    head->own = ARENA_ARRAY(arena, struct checkpoint_digest, head->page_count);
    draft->contents = ARENA_ARRAY(arena, const uint8_t *, head->page_count);
    draft->tails = ARENA_ARRAY(arena, unsigned, head->page_count);
    draft->uses = ARENA_ARRAY(arena, bool, (size_t)writer->names.count + 1);
    uint64_t page = 0;
    for (uint32_t i = 0; i < head->range_count; i++) {
        const struct checkpoint_range *range = &head->ranges[i];
        const uint8_t *data = device_memory(device, range->start, range->bytes);
        if (!data)
            return report_add(report, STATUS_INVALID, "memory at 0x%llx is not the device's own",
                              (unsigned long long)range->start);
        add_range(writer, draft, data, range->bytes, &head->pages[page]);
        page += checkpoint_pages_of(range->bytes);
    }
    head->others = ARENA_ARRAY(arena, const char *, (size_t)writer->names.count + 1);
    for (unsigned i = 0; i < writer->names.count; i++)
        if (draft->uses[i])
            head->others[head->other_count++] = writer->names.items[i];
    return STATUS_OK;
}

enum status checkpoint_write(struct checkpoint_writer *writer, const struct checkpoint_order *order, const char *name,
                             struct report *report) {
    struct checkpoint_draft draft = {.head = {.model = model_hash(),
                                              .in_time = order->in_time,
                                              .launches = order->launches,
                                              .file_hash = order->file_hash}};
    struct keep state;
    keep_to_write(&state);
    draft.head.machine = checkpoint_machine(order->machine, &draft.arena);
    draft.head.code_hash = device_code_hash(order->next);
    const char *path = file_join(&draft.arena, writer->folder, name);
    enum status status = device_keep(order->device, order->next, !order->in_time, &state, report);
    draft.head.state = state.items, draft.head.state_bytes = state.count;
    if (!status)
        status = add_memory(writer, &draft, order->device, report);
    if (!status)
        status = put_all(&draft, path, report);
    *ARENA_PUSH(&writer->arena, &writer->names) = arena_strdup(&writer->arena, name);
    writer->bytes += draft.out.count;
    keep_free(&state);
    arena_free(&draft.arena);
    return status;
}

void checkpoint_writer_free(struct checkpoint_writer *writer) {
    arena_free(&writer->arena);
    *writer = (struct checkpoint_writer){0};
}
