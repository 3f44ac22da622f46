/* SPDX-License-Identifier: Apache-2.0 */
#include "compile/fatbin.h"

#include <string.h>

char *fatbin_write(struct arena *arena, const char *ptx, unsigned arch, size_t *bytes) {
    enum { ALIGNMENT = 8, FLAGS_64_BIT_LINUX = 0x11, PTX_MAJOR = 8, PTX_MINOR = 5 };
    const size_t length = strlen(ptx) + 1, padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const struct fatbin_entry entry = {.kind = FATBIN_PTX,
                                       .version = 0x101,
                                       .header_bytes = sizeof entry,
                                       .bytes = padded,
                                       .minor = PTX_MINOR,
                                       .major = PTX_MAJOR,
                                       .arch = arch,
                                       .flags = FLAGS_64_BIT_LINUX};
    const struct fatbin_header header = {
        .magic = FATBIN_MAGIC, .version = 1, .header_bytes = sizeof header, .bytes = sizeof entry + padded};
    *bytes = sizeof header + sizeof entry + padded;
    char *out = arena_alloc(arena, *bytes);
    memset(out, 0, *bytes);
    memcpy(out, &header, sizeof header);
    memcpy(out + sizeof header, &entry, sizeof entry);
    memcpy(out + sizeof header + sizeof entry, ptx, length);
    return out;
}
