/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of the library: made, written, read, released. */
#include <string.h>

#include "api/api.h"

enum heddle_status heddle_buffer_create(struct heddle_device *device, const char *name, uint64_t bytes,
                                        struct heddle_buffer **out, struct heddle_text *errors) {
    if (!device || !out)
        return api_no_handle(errors, __func__, device ? "place for the buffer" : "device");
    const unsigned number = ++device->buffers;
    struct heddle_buffer *buffer = ARENA_NEW(&device->arena, struct heddle_buffer);
    buffer->device = device;
    buffer->name = name ? arena_strdup(&device->arena, name) : arena_printf(&device->arena, "buffer %u", number);
    if (!bytes)
        return api_refuse(errors, "'%s' has 0 bytes; a buffer needs at least one", buffer->name);
    struct report report = {0};
    const enum status status = device_alloc(device->device, buffer->name, bytes, &buffer->address, &report);
    if (!status) {
        buffer->bytes = bytes;
        *out = buffer;
    }
    return api_end(status, &report, errors);
}

/* The bytes in question on the host; NULL: refused. */
static void *view(const char *function, const struct heddle_buffer *buffer, uint64_t offset, const void *data,
                  uint64_t bytes, struct heddle_text *errors) {
    if (!buffer || (!data && bytes)) {
        api_no_handle(errors, function, buffer ? "data" : "buffer");
        return NULL;
    }
    if (!buffer->bytes) {
        api_refuse(errors, "'%s' was freed", buffer->name);
        return NULL;
    }
    if (offset > buffer->bytes || bytes > buffer->bytes - offset) {
        api_refuse(errors, "%llu bytes from byte %llu on reach beyond the end of '%s', which has %llu",
                   (unsigned long long)bytes, (unsigned long long)offset, buffer->name,
                   (unsigned long long)buffer->bytes);
        return NULL;
    }
    return (char *)device_memory(buffer->device->device, buffer->address, buffer->bytes) + offset;
}

enum heddle_status heddle_buffer_write(struct heddle_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes,
                                       struct heddle_text *errors) {
    void *at = view(__func__, buffer, offset, data, bytes, errors);
    if (!at)
        return HEDDLE_REFUSED;
    if (bytes) {
        memcpy(at, data, bytes);
        device_written(buffer->device->device, buffer->address + offset, bytes);
    }
    return HEDDLE_OK;
}

enum heddle_status heddle_buffer_read(struct heddle_buffer *buffer, uint64_t offset, void *data, uint64_t bytes,
                                      struct heddle_text *errors) {
    const void *at = view(__func__, buffer, offset, data, bytes, errors);
    if (!at)
        return HEDDLE_REFUSED;
    if (bytes)
        memcpy(data, at, bytes);
    return HEDDLE_OK;
}

uint64_t heddle_buffer_bytes(const struct heddle_buffer *buffer) { return buffer ? buffer->bytes : 0; }

void heddle_buffer_free(struct heddle_buffer *buffer) {
    if (!buffer || !buffer->bytes)
        return;
    device_free(buffer->device->device, buffer->address);
    buffer->bytes = 0;
}
