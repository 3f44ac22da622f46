/* SPDX-License-Identifier: Apache-2.0 */
/* What a device runs of a fat binary: entries, what suits best, unpacked. */
#include "compile/fatbin.h"

#include <lz4.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

enum { ENTRIES_MAX = 4096, PTX_BYTES_MAX = 1 << 30 };

static const uint8_t *bytes_at(const void *data, size_t offset) { return (const uint8_t *)data + offset; }

static bool read_header(const void *data, struct fatbin_header *header) {
    memcpy(header, data, sizeof *header);
    return header->magic == FATBIN_MAGIC && header->header_bytes >= sizeof *header;
}

size_t fatbin_bytes(const void *data) {
    struct fatbin_header header;
    return read_header(data, &header) && header.bytes <= SIZE_MAX - header.header_bytes
               ? (size_t)(header.header_bytes + header.bytes)
               : 0;
}

static enum status damaged(struct report *report, const char *what) {
    return report_add(report, STATUS_INVALID, "the program's fat binary is damaged: %s", what);
}

/* Is the PTX of the first better than that of the second? */
static bool suits_better(unsigned arch, unsigned than) {
    if (arch <= FATBIN_ARCH)
        return than > FATBIN_ARCH || arch > than;
    return than > FATBIN_ARCH && arch < than;
}

/* The payload of an entry, whose size is checked, with a NUL behind it in the arena. */
static enum status unpack(const struct fatbin_entry *entry, const uint8_t *payload, struct arena *arena,
                          struct fatbin *out, struct report *report) {
    const bool is_packed = entry->flags & (FATBIN_LZ4 | FATBIN_ZSTD);
    const uint64_t packed = entry->packed_bytes ? entry->packed_bytes : entry->bytes;
    const uint64_t raw = is_packed ? entry->raw_bytes : entry->bytes;
    if (packed > entry->bytes || raw > PTX_BYTES_MAX || packed > PTX_BYTES_MAX)
        return damaged(report, "code is larger than its entry, or than 1 GiB");
    char *text = arena_alloc(arena, (size_t)raw + 1);
    bool is_right = true;
    if (entry->flags & FATBIN_ZSTD)
        is_right = ZSTD_decompress(text, (size_t)raw, payload, (size_t)packed) == raw;
    else if (entry->flags & FATBIN_LZ4)
        is_right = LZ4_decompress_safe((const char *)payload, text, (int)packed, (int)raw) == (int)raw;
    else
        memcpy(text, payload, (size_t)raw);
    if (!is_right)
        return damaged(report, "compressed code cannot be unpacked");
    const bool is_native = entry->kind == FATBIN_CUBIN;
    *out = (struct fatbin){.ptx = text,
                           .bytes = is_native ? (size_t)raw : strnlen(text, (size_t)raw),
                           .arch = entry->arch,
                           .is_native = is_native};
    return STATUS_OK;
}

/* What is in a fat binary, entry by entry. */
struct fatbin_scan {
    struct fatbin_wish wish;
    struct fatbin_entry best;
    const uint8_t *payload; /* of the best; NULL: nothing suits */
    char found[256];        /* "PTX for sm_75, native code for sm_80" */
};

static void note(struct fatbin_scan *scan, const struct fatbin_entry *entry) {
    const size_t used = strlen(scan->found);
    snprintf(scan->found + used, sizeof scan->found - used, "%s%s for sm_%u", used ? ", " : "",
             entry->kind == FATBIN_PTX ? "PTX" : "native code", entry->arch);
}

/* Better than what was found before? */
static bool is_better(const struct fatbin_scan *scan, const struct fatbin_entry *entry) {
    const unsigned sm = scan->wish.sm;
    const bool is_native = entry->kind == FATBIN_CUBIN;
    if (!sm)
        return !is_native && (!scan->payload || suits_better(entry->arch, scan->best.arch));
    if (is_native ? scan->wish.ptx_only || !sm_runs(sm, entry->arch) : entry->arch > sm)
        return false;
    if (!scan->payload || scan->best.kind != entry->kind)
        return !scan->payload || is_native;
    return entry->arch > scan->best.arch;
}

static enum status scan_entries(const void *data, size_t at, size_t end, struct fatbin_scan *scan,
                                struct report *report) {
    for (unsigned count = 0; at < end; count++) {
        struct fatbin_entry entry;
        if (count == ENTRIES_MAX || end - at < sizeof entry)
            return damaged(report, "an entry does not end");
        memcpy(&entry, bytes_at(data, at), sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > end - at ||
            entry.bytes > end - at - entry.header_bytes)
            return damaged(report, "an entry is larger than the whole");
        if (entry.kind == FATBIN_PTX || entry.kind == FATBIN_CUBIN) {
            note(scan, &entry);
            if (is_better(scan, &entry)) {
                scan->best = entry;
                scan->payload = bytes_at(data, at + entry.header_bytes);
            }
        }
        at += entry.header_bytes + (size_t)entry.bytes;
    }
    return STATUS_OK;
}

static enum status scan(const void *data, size_t bytes, struct fatbin_scan *out, struct report *report) {
    struct fatbin_header header;
    if (bytes < sizeof header || !read_header(data, &header))
        return damaged(report, "it does not begin as one");
    if (header.header_bytes > bytes || header.bytes > bytes - header.header_bytes)
        return damaged(report, "it is shorter than it says");
    return scan_entries(data, header.header_bytes, header.header_bytes + (size_t)header.bytes, out, report);
}

unsigned fatbin_arch(const void *data, size_t bytes) {
    struct fatbin_scan found = {0};
    return scan(data, bytes, &found, NULL) == STATUS_OK && found.payload ? found.best.arch : 0;
}

enum status fatbin_read(const void *data, size_t bytes, const struct fatbin_wish *wish, struct arena *arena,
                        struct fatbin *out, struct report *report) {
    struct fatbin_scan found = {.wish = *wish};
    const enum status status = scan(data, bytes, &found, report);
    if (status)
        return status;
    if (found.payload)
        return unpack(&found.best, found.payload, arena, out, report);
    const char *has = found.found[0] ? found.found : "nothing";
    if (wish->sm)
        return report_add(report, STATUS_INVALID,
                          "the program has %s, and nothing of it runs on sm_%u: native code does on the same major and "
                          "the same or a higher minor number, PTX is assembled for the same or a higher number",
                          has, wish->sm);
    return report_add(report, STATUS_INVALID,
                      "the program has %s only; compile it with PTX too (nvcc -arch=sm_75, or -gencode "
                      "arch=compute_75,code=compute_75), or have native code run (isa=sm_86 and the like)",
                      has);
}
