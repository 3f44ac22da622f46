/* SPDX-License-Identifier: Apache-2.0 */
/* Files of device code that programs link themselves (cuLink...): PTX and fat binaries become one text of PTX. */
#include <string.h>

#include "base/file.h"
#include "cuda/image.h"
#include "compile/fatbin.h"
#include "device/load.h"
#include "driver/driver.h"
#include "driver/read.h"

struct link_job {
    struct arena arena; /* holds this and its texts */
    struct fatbin all;
    unsigned count; /* of files in it */
    struct jit_options options;
    struct link_job *next;
};

static struct link_job **link_find(struct runtime *cuda, const void *handle) {
    struct link_job **at = &driver_of(cuda)->links;
    while (*at && *at != handle)
        at = &(*at)->next;
    return at;
}

/* Says why not, where the program wants to read it and to the user. */
static enum cuda_error give_up(struct runtime *cuda, const struct link_job *job, enum cuda_error error,
                               struct report *report) {
    if (error) {
        module_tell(&job->options, report_text(report));
        runtime_say(cuda, "CUDA modules cannot be linked:\n%s", report_text(report));
    }
    report_free(report);
    return driver_leave(cuda, error);
}

API_CU(cuLinkCreate, unsigned count, const int *keys, void **values, struct link_job **out) {
    BEGIN_LOCKED(cuda);
    if (!out || (count && (!keys || !values)))
        return driver_leave(cuda, cudaErrorInvalidValue);
    struct arena arena = {0};
    struct link_job *job = ARENA_NEW(&arena, struct link_job);
    *job = (struct link_job){.options = {count, arena_copy(&arena, keys, count * sizeof *keys),
                                         arena_copy(&arena, values, count * sizeof *values)},
                             .next = driver_of(cuda)->links};
    job->arena = arena;
    driver_of(cuda)->links = job;
    *out = job;
    return driver_leave(cuda, cudaSuccess);
}
CU_ALSO(cuLinkCreate, cuLinkCreate_v2)

/* From memory, or from the file of that path. */
struct link_part {
    int type;
    const void *data;
    size_t bytes;
    const char *path;
};

static enum cuda_error read_part(struct link_job *job, const struct link_part *part, unsigned sm, struct fatbin *out,
                                 struct report *report) {
    static const char *const types[] = {"a cubin", NULL, NULL, "an object of the host", "a library of the host",
                                        "NVVM IR"};
    char *file = NULL;
    size_t bytes = part->bytes;
    if (part->type < 0 || part->type >= (int)(sizeof types / sizeof *types))
        return cudaErrorInvalidValue;
    if (types[part->type]) {
        report_add(report, STATUS_INVALID, "%s is %s, and only PTX and fat binaries with PTX can be linked",
                   part->path ? part->path : "a part", types[part->type]);
        return cudaErrorNotSupported;
    }
    if (part->path && file_read(part->path, MODULE_BYTES_MAX, &job->arena, &file, &bytes, report))
        return cudaErrorFileNotFound;
    if (bytes < MODULE_BYTES_MIN)
        return cudaErrorInvalidKernelImage;
    const struct fatbin_wish wish = {.sm = sm, .ptx_only = true};
    return module_read(arena_copy(&job->arena, part->path ? file : part->data, bytes), bytes, &wish, &job->arena, out,
                       report);
}

static enum cuda_error add_part(const void *handle, const struct link_part *part) {
    struct report report = {0};
    struct fatbin next = {0};
    BEGIN_LOCKED(cuda);
    struct link_job *job = *link_find(cuda, handle);
    if (!job || (!part->path && !part->data))
        return driver_leave(cuda, job ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    enum cuda_error error = read_part(job, part, image_wish(cuda).sm, &next, &report);
    if (!error && fatbin_add(&job->all, job->count, &next, &job->arena, &report))
        error = cudaErrorInvalidPtx;
    if (!error)
        job->count++;
    return give_up(cuda, job, error, &report);
}

API_CU(cuLinkAddData, const void *job, int type, const void *data, size_t bytes, const char *name, unsigned count,
       const int *keys, void **values) {
    (void)name, (void)count, (void)keys, (void)values;
    return add_part(job, &(struct link_part){type, data, bytes, NULL});
}
CU_ALSO(cuLinkAddData, cuLinkAddData_v2)

API_CU(cuLinkAddFile, const void *job, int type, const char *path, unsigned count, const int *keys, void **values) {
    (void)count, (void)keys, (void)values;
    return add_part(job, &(struct link_part){type, NULL, 0, path});
}
CU_ALSO(cuLinkAddFile, cuLinkAddFile_v2)

/* What comes out is text with its NUL, for cuModuleLoadData; it is loaded once here to see whether it can be. */
API_CU(cuLinkComplete, const void *handle, const void **out, size_t *bytes) {
    struct report report = {0};
    struct module *module = NULL;
    BEGIN_LOCKED(cuda);
    struct link_job *job = *link_find(cuda, handle);
    if (!job || !out || !job->count)
        return driver_leave(cuda, job ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    const enum status status = load_text("linked.ptx", job->all.ptx, job->all.bytes, &module, &report);
    if (!status) {
        module_free(module);
        *out = job->all.ptx;
        if (bytes)
            *bytes = job->all.bytes + 1;
    }
    return give_up(cuda, job, status ? cudaErrorInvalidPtx : cudaSuccess, &report);
}

API_CU(cuLinkDestroy, const void *handle) {
    BEGIN_LOCKED(cuda);
    struct link_job **at = link_find(cuda, handle), *job = *at;
    if (job) {
        struct arena arena = job->arena;
        *at = job->next;
        arena_free(&arena);
    }
    return driver_leave(cuda, job ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
