/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints read, and a device put where one was made. What is in a file is hostile until it has been looked at. */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/file.h"
#include "device/kept.h"
#include "launch/checkpoint_form.h"
#include "machine/model.h"

enum { KEYS_SHOWN = 4 };

static enum status damaged(const struct checkpoint *checkpoint, const char *what, struct report *report) {
    return report_add(report, STATUS_INVALID, "%s: damaged: %s cannot be read", checkpoint->path, what);
}

static uint64_t take_length(const uint8_t *from) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* The next frame unpacked, of at most so many bytes, in the arena; NULL: it is damaged. */
static uint8_t *unpack(struct checkpoint *checkpoint, uint64_t most, uint64_t *bytes, struct arena *arena) {
    if (checkpoint->bytes - checkpoint->at < CHECKPOINT_FRAME_BYTES)
        return NULL;
    const uint8_t *from = checkpoint->data + checkpoint->at;
    const uint64_t raw = take_length(from), packed = take_length(from + 8);
    if (raw > most || packed > checkpoint->bytes - checkpoint->at - CHECKPOINT_FRAME_BYTES ||
        checkpoint_frame_hash(from + CHECKPOINT_FRAME_BYTES, packed) != take_length(from + 16) ||
        ZSTD_getFrameContentSize(from + CHECKPOINT_FRAME_BYTES, packed) != raw)
        return NULL;
    uint8_t *whole = arena_alloc_unset(arena, raw + 1);
    checkpoint->at += CHECKPOINT_FRAME_BYTES + packed;
    *bytes = raw;
    return ZSTD_decompress(whole, raw, from + CHECKPOINT_FRAME_BYTES, packed) == raw ? whole : NULL;
}

/* A name of a file beside this one, and nothing else. */
static bool is_plain_name(const char *name) {
    return *name && *name != '.' && !strchr(name, '/') && file_ends_in(name, ".checkpoint");
}

enum status checkpoint_open(struct checkpoint *checkpoint, const char *path, const struct file_access *files,
                            struct arena *arena, struct report *report) {
    enum { MAGIC_BYTES = sizeof CHECKPOINT_MAGIC - 1 };
    struct file_contents contents = {0};
    *checkpoint = (struct checkpoint){.path = arena_strdup(arena, path), .files = files};
    checkpoint->folder = file_dir(arena, path);
    const enum status status = files->read(files->context, path, CHECKPOINT_FILE_BYTES_MAX, arena, &contents, report);
    if (status)
        return status;
    if (contents.bytes < MAGIC_BYTES || memcmp(contents.data, CHECKPOINT_MAGIC, MAGIC_BYTES) != 0)
        return report_add(
            report, STATUS_INVALID,
            "%s: not a checkpoint of this version of Heddle ('heddle run --checkpoint-every' writes them)", path);
    checkpoint->data = (const uint8_t *)contents.data;
    checkpoint->bytes = contents.bytes, checkpoint->at = MAGIC_BYTES;
    struct keep keep;
    uint64_t bytes = 0;
    const uint8_t *head = unpack(checkpoint, CHECKPOINT_HEAD_BYTES_MAX, &bytes, arena);
    if (!head)
        return damaged(checkpoint, "its head", report);
    keep_to_read(&keep, head, bytes);
    checkpoint_keep_head(checkpoint, &keep, arena);
    for (uint32_t i = 0; i < checkpoint->other_count && keep.good; i++)
        keep_check(&keep, is_plain_name(checkpoint->others[i]));
    return keep.good ? STATUS_OK : damaged(checkpoint, "its head", report);
}

/* ---- does it fit? ---- */

/* Whether these lines have that one. */
static bool has_line(const char *lines, const char *line, size_t length) {
    for (const char *at = lines; (at = strstr(at, "\n")) || at; at++)
        if (strncmp(at + 1, line, length) == 0 && (at[1 + length] == '\n'))
            return true;
    return strncmp(lines, line, length) == 0 && lines[length] == '\n';
}

/* The first keys of `lines` that the others have not with that value. */
static const char *differences(const char *lines, const char *others, struct arena *arena) {
    const char *list = "";
    unsigned count = 0;
    for (const char *line = lines; *line; line += line[0] == '\n') {
        const size_t length = strcspn(line, "\n");
        if (!has_line(others, line, length) && ++count <= KEYS_SHOWN)
            list = arena_printf(arena, "%s%s%.*s", list, *list ? ", " : "", (int)(length < 80 ? length : 80), line);
        line += length;
    }
    return count > KEYS_SHOWN ? arena_printf(arena, "%s and %u more", list, count - KEYS_SHOWN) : list;
}

static enum status check_machine(const struct checkpoint *checkpoint, const struct checkpoint_target *target,
                                 struct report *report) {
    struct arena scratch = {0};
    const char *now = checkpoint_machine(target->machine, &scratch);
    enum status status = STATUS_OK;
    if (strcmp(now, checkpoint->machine) != 0) {
        const char *list = differences(checkpoint->machine, now, &scratch);
        status = report_add(report, STATUS_INVALID,
                            "%s: of another machine: it was made with %s; use that one, or begin with empty caches "
                            "(--cold, or 'caches: cold' in the launch file)",
                            checkpoint->path, *list ? list : "fewer keys");
    }
    arena_free(&scratch);
    return status;
}

static enum status check(const struct checkpoint *checkpoint, const struct checkpoint_target *target,
                         struct report *report) {
    if (checkpoint->code_hash != device_code_hash(target->next))
        return report_add(report, STATUS_INVALID,
                          "%s: of another program: its instructions are not those of this module", checkpoint->path);
    if (target->cold || !target->in_time) /* memory is what it is on any machine */
        return STATUS_OK;
    if (strcmp(checkpoint->model, model_hash()) != 0)
        return report_add(report, STATUS_INVALID,
                          "%s: of another model: Heddle was changed since it was made; make it anew, or begin with "
                          "empty caches (--cold, or 'caches: cold' in the launch file)",
                          checkpoint->path);
    if (!checkpoint->in_time)
        return report_add(report, STATUS_INVALID,
                          "%s: made by a functional run, which has no caches; make it in time, or begin with empty "
                          "caches (--cold, or 'caches: cold' in the launch file)",
                          checkpoint->path);
    return check_machine(checkpoint, target, report);
}

static enum status check_ranges(const struct checkpoint *checkpoint, const struct device *device,
                                struct report *report) {
    struct arena scratch = {0};
    uint32_t count = 0;
    const struct checkpoint_range *ranges = checkpoint_ranges(device, &count, &scratch);
    bool same = count == checkpoint->range_count;
    for (uint32_t i = 0; i < count && same; i++)
        same = ranges[i].start == checkpoint->ranges[i].start && ranges[i].bytes == checkpoint->ranges[i].bytes;
    arena_free(&scratch);
    return same ? STATUS_OK
                : report_add(report, STATUS_INVALID,
                             "%s: of other memory: its %u allocations are not those of this launch file, %u",
                             checkpoint->path, (unsigned)checkpoint->range_count, (unsigned)count);
}

/* ---- memory ---- */

/* Where a page belongs. */
struct want {
    struct checkpoint_digest digest;
    uint8_t *to;
    uint32_t bytes;
    bool done;
};

struct wants {
    struct want *items;
    uint64_t count, done;
};

static int compare_wants(const void *a, const void *b) {
    return checkpoint_compare(((const struct want *)a)->digest, ((const struct want *)b)->digest);
}

static void clear(uint8_t *to, uint32_t bytes) {
    if (to[0] || memcmp(to, to + 1, bytes - 1) != 0) /* what was never touched stays so */
        memset(to, 0, bytes);
}

static struct wants make_wants(const struct checkpoint *checkpoint, struct device *device, struct arena *arena) {
    struct wants wants = {.items = ARENA_ARRAY(arena, struct want, checkpoint->page_count)};
    const struct checkpoint_digest *digest = checkpoint->pages;
    for (uint32_t i = 0; i < checkpoint->range_count; i++) {
        const struct checkpoint_range *range = &checkpoint->ranges[i];
        uint8_t *data = device_memory(device, range->start, range->bytes);
        for (uint64_t at = 0; at < range->bytes; at += CHECKPOINT_PAGE_BYTES, digest++) {
            const uint64_t left = range->bytes - at;
            const uint32_t bytes = left < CHECKPOINT_PAGE_BYTES ? (uint32_t)left : CHECKPOINT_PAGE_BYTES;
            if (checkpoint_is_zero(*digest))
                clear(data + at, bytes);
            else
                wants.items[wants.count++] = (struct want){*digest, data + at, bytes, false};
        }
    }
    if (wants.count)
        qsort(wants.items, wants.count, sizeof *wants.items, compare_wants);
    return wants;
}

/* The page goes wherever it is wanted. */
static void deliver(struct wants *wants, struct checkpoint_digest digest, const uint8_t *page) {
    uint64_t low = 0, high = wants->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (checkpoint_compare(wants->items[middle].digest, digest) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < wants->count && checkpoint_compare(wants->items[low].digest, digest) == 0; low++) {
        struct want *want = &wants->items[low];
        memcpy(want->to, page, want->bytes);
        wants->done += !want->done;
        want->done = true;
    }
}

static enum status deliver_own(const struct checkpoint *checkpoint, struct wants *wants, struct report *report) {
    enum { GROUP = CHECKPOINT_GROUP_PAGES };
    struct checkpoint reader = *checkpoint;
    struct arena scratch = {0};
    enum status status = STATUS_OK;
    for (uint64_t first = 0; first < reader.own_count && !status; first += GROUP) {
        const uint64_t left = reader.own_count - first, count = left < GROUP ? left : GROUP;
        uint64_t bytes = 0;
        const uint8_t *group = unpack(&reader, (uint64_t)GROUP * CHECKPOINT_PAGE_BYTES, &bytes, &scratch);
        if (!group || bytes != count * CHECKPOINT_PAGE_BYTES)
            status = damaged(checkpoint, "its pages", report);
        for (uint64_t i = 0; i < count && !status; i++) {
            const uint8_t *page = group + i * CHECKPOINT_PAGE_BYTES;
            if (checkpoint_compare(checkpoint_digest(page), reader.own[first + i]) != 0)
                status = damaged(checkpoint, "a page", report);
            else
                deliver(wants, reader.own[first + i], page);
        }
        arena_reset(&scratch);
    }
    arena_free(&scratch);
    return status;
}

static enum status fill(const struct checkpoint *checkpoint, struct device *device, struct report *report) {
    struct arena scratch = {0};
    struct wants wants = make_wants(checkpoint, device, &scratch);
    enum status status = deliver_own(checkpoint, &wants, report);
    for (uint32_t i = 0; i < checkpoint->other_count && !status && wants.done < wants.count; i++) {
        struct arena arena = {0};
        struct checkpoint other;
        const char *path = file_join(&arena, checkpoint->folder, checkpoint->others[i]);
        status = checkpoint_open(&other, path, checkpoint->files, &arena, report);
        if (!status)
            status = deliver_own(&other, &wants, report);
        arena_free(&arena);
    }
    if (!status && wants.done < wants.count)
        status = report_add(report, STATUS_INVALID,
                            "%s: %llu of its pages are in none of the files that it names; keep all files of a folder "
                            "of checkpoints together",
                            checkpoint->path, (unsigned long long)(wants.count - wants.done));
    arena_free(&scratch);
    return status;
}

enum status checkpoint_restore(const struct checkpoint *checkpoint, const struct checkpoint_target *target,
                               struct report *report) {
    struct keep state;
    struct report inner = {0};
    enum status status = check(checkpoint, target, report);
    if (status)
        return status;
    keep_to_read(&state, checkpoint->state, checkpoint->state_bytes);
    status = device_keep(target->device, target->next, target->cold || !target->in_time, &state, &inner);
    if (status)
        report_add(report, status, "%s: %s", checkpoint->path, report_text(&inner));
    report_free(&inner);
    if (!status)
        status = check_ranges(checkpoint, target->device, report);
    return status ? status : fill(checkpoint, target->device, report);
}
