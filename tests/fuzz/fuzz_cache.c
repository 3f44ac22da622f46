/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over entries of the compile cache: any bytes are an entry or none. What is one gives the same bytes again. */
#include <stdlib.h>
#include <string.h>

#include "compile/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The checksum would end nearly every try: it is made right, so that what is behind it is reached. */
static char *with_right_sum(struct arena *arena, const uint8_t *data, size_t size) {
    static const char form[] = CACHE_FORM " ";
    char *entry = memcpy(arena_alloc(arena, size + 1), data, size);
    const char *line = memchr(entry, '\n', size);
    if (line && size > sizeof form + 32 && (size_t)(line - entry) > sizeof form + 32)
        memcpy(entry + sizeof form - 1, job_hash(arena, line + 1, size - (size_t)(line + 1 - entry)), 32);
    return entry;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    const char *parts[3];
    char *plain = memcpy(arena_alloc(&arena, size + 1), data, size);
    entry_unpack(&arena, plain, size, parts);
    char *entry = with_right_sum(&arena, data, size);
    if (entry_unpack(&arena, entry, size, parts)) {
        struct compiled compiled;
        size_t bytes = 0;
        compiled_from_text(parts[0], parts[2], &arena, &compiled);
        if (strlen(parts[0]) + strlen(parts[1]) + strlen(parts[2]) > size ||
            !entry_pack(&arena, parts[0], parts[1], parts[2], &bytes) || bytes > size + 8)
            abort();
    }
    arena_free(&arena);
    return 0;
}
