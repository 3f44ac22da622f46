/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/checkpoint_form.h"

#include <string.h>
#include <xxhash.h>

#include "base/file.h"
#include "device/host.h"

struct checkpoint_digest checkpoint_digest(const void *page) {
    const XXH128_hash_t hash = XXH3_128bits(page, CHECKPOINT_PAGE_BYTES);
    return (struct checkpoint_digest){hash.low64, hash.high64};
}

uint64_t checkpoint_frame_hash(const void *packed, size_t bytes) { return XXH3_64bits(packed, bytes); }

struct checkpoint_range *checkpoint_ranges(const struct device *device, uint32_t *count, struct arena *arena) {
    const unsigned all = host_allocation_count(device);
    struct checkpoint_range *ranges = ARENA_ARRAY(arena, struct checkpoint_range, all);
    *count = 0;
    for (unsigned i = 0; i < all; i++) {
        const struct host_range range = host_allocation_at(device, i);
        if (range.bytes)
            ranges[(*count)++] = (struct checkpoint_range){range.start, range.bytes};
    }
    return ranges;
}

/* What cannot change a result, and what only says when to stop. */
static bool is_left_out(const struct machine *machine, const struct param_description *param) {
    return strncmp(param->key, "energy.", 7) == 0 || strncmp(param->key, "limits.", 7) == 0 ||
           strcmp(param->key, "functional.max_instructions") == 0 || machine_is_idle_key(machine, param);
}

const char *checkpoint_machine(const struct machine *machine, struct arena *arena) {
    struct output all;
    output_begin(&all);
    for (const struct param_description *param = machine->params.table; all.to && param->key; param++)
        if (!is_left_out(machine, param))
            fprintf(all.to, "%s=%s\n", param->key, machine_value(machine, param));
    const char *text = output_close(&all) && all.text ? arena_strdup(arena, all.text) : "";
    output_free(&all);
    return text;
}

/* ---- the head ---- */

static void keep_text(const char **text, struct keep *keep, struct arena *arena) {
    uint64_t length = keep->writes ? strlen(*text) : 0;
    keep_u64(keep, &length, keep->writes ? length : keep->end - keep->at);
    if (keep->writes) {
        keep_bytes(keep, (char *)(uintptr_t)*text, length);
        return;
    }
    char *read = arena_alloc(arena, length + 1);
    keep_bytes(keep, read, length);
    *text = read;
}

/* A count of items that take so many bytes each: there can be no more than bytes are left. */
static void keep_count(uint64_t *count, unsigned bytes, struct keep *keep) {
    keep_u64(keep, count, keep->writes ? *count : (keep->end - keep->at) / bytes);
}

static void keep_digests(struct checkpoint_digest **digests, uint64_t count, struct keep *keep, struct arena *arena) {
    if (!keep->writes)
        *digests = ARENA_ARRAY(arena, struct checkpoint_digest, count);
    for (uint64_t i = 0; i < count && keep->good; i++) {
        uint8_t bytes[16];
        struct checkpoint_digest *digest = &(*digests)[i];
        for (unsigned k = 0; k < 8; k++)
            bytes[k] = (uint8_t)(digest->low >> 8 * k), bytes[8 + k] = (uint8_t)(digest->high >> 8 * k);
        keep_bytes(keep, bytes, sizeof bytes);
        *digest = (struct checkpoint_digest){0};
        for (unsigned k = 0; k < 8; k++)
            digest->low |= (uint64_t)bytes[k] << 8 * k, digest->high |= (uint64_t)bytes[8 + k] << 8 * k;
    }
}

/* By address, none over another, and as many pages as digests say. */
static void keep_ranges(struct checkpoint *head, struct keep *keep, struct arena *arena) {
    uint64_t count = head->range_count, pages = 0, end = 0;
    keep_count(&count, 2, keep);
    keep_check(keep, count <= UINT32_MAX);
    head->range_count = keep->good ? (uint32_t)count : 0;
    if (!keep->writes)
        head->ranges = ARENA_ARRAY(arena, struct checkpoint_range, head->range_count);
    for (uint32_t i = 0; i < head->range_count && keep->good; i++) {
        struct checkpoint_range *range = &head->ranges[i];
        keep_u64(keep, &range->start, UINT64_C(1) << 48);
        keep_u64(keep, &range->bytes, UINT64_C(1) << 48);
        keep_check(keep, range->bytes && range->start >= end);
        end = range->start + range->bytes;
        pages += checkpoint_pages_of(range->bytes);
    }
    head->page_count = pages;
    keep_count(&head->page_count, 16, keep);
    keep_check(keep, head->page_count == pages);
}

void checkpoint_keep_head(struct checkpoint *head, struct keep *keep, struct arena *arena) {
    keep_text(&head->model, keep, arena);
    keep_text(&head->machine, keep, arena);
    keep_bool(keep, &head->in_time);
    keep_u64(keep, &head->launches, INT64_MAX);
    keep_u64(keep, &head->file_hash, UINT64_MAX);
    keep_u64(keep, &head->code_hash, UINT64_MAX);
    keep_ranges(head, keep, arena);
    keep_digests(&head->pages, keep->good ? head->page_count : 0, keep, arena);
    keep_count(&head->own_count, 16, keep);
    keep_digests(&head->own, keep->good ? head->own_count : 0, keep, arena);
    uint64_t others = head->other_count;
    keep_count(&others, 1, keep);
    keep_check(keep, others <= UINT32_MAX);
    head->other_count = keep->good ? (uint32_t)others : 0;
    if (!keep->writes)
        head->others = ARENA_ARRAY(arena, const char *, head->other_count);
    for (uint32_t i = 0; i < head->other_count && keep->good; i++)
        keep_text(&head->others[i], keep, arena);
    keep_count(&head->state_bytes, 1, keep);
    if (!keep->writes)
        head->state = keep->data + keep->at;
    if (keep->writes)
        keep_bytes(keep, (uint8_t *)(uintptr_t)head->state, head->state_bytes);
    else
        keep_check(keep, head->state_bytes == keep->end - keep->at);
}
