/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries that programs load themselves: both are images of src/cuda, and their kernels and functions are one. */
#include <string.h>

#include "base/file.h"
#include "cuda/image.h"
#include "driver/driver.h"
#include "driver/read.h"
#include "driver/texture.h"

/* ---- images that programs load themselves ---- */

/* What launches are told by: the first kernel of the text; "": it has none. */
static const char *module_name(struct arena *arena, const char *ptx) {
    static const char word[] = ".entry";
    const char *at = strstr(ptx, word);
    if (!at)
        return "";
    at += sizeof word - 1;
    at += strspn(at, " \t\r\n");
    const size_t length = strcspn(at, " \t\r\n(");
    return length ? arena_strndup(arena, at, length) : "";
}

static struct image *image_add(struct runtime *cuda, const struct fatbin *ptx, struct report *report) {
    struct image *image = image_new();
    image->module = ptx && !ptx->is_native ? module_name(&image->arena, ptx->ptx) : "";
    image->is_tried = true;
    if (image_load(cuda, image, ptx, report)) {
        struct arena arena = image->arena;
        arena_free(&arena);
        return NULL;
    }
    image->arch = program_module(image->program)->sm;
    image->next = cuda->images;
    cuda->images = image;
    return image;
}

/* By handle, in the list; NULL there: it is none, or the program has given it back. */
static struct image **image_at(struct runtime *cuda, const void *handle) {
    struct image **at = &cuda->images;
    while (*at && (*at != handle || !(*at)->module))
        at = &(*at)->next;
    return at;
}

static struct image *image_find(struct runtime *cuda, const void *handle) { return *image_at(cuda, handle); }

static struct kernel *image_kernel(struct image *image, const struct function *function) {
    struct kernel *kernel = image->kernels;
    while (kernel && kernel->function != function)
        kernel = kernel->next;
    if (kernel)
        return kernel;
    kernel = ARENA_NEW(&image->arena, struct kernel);
    *kernel = (struct kernel){.kind = KERNEL_KIND,
                              .host = kernel,
                              .name = arena_strdup(&image->arena, function->name),
                              .image = image,
                              .function = function,
                              .next = image->kernels};
    image->kernels = kernel;
    return kernel;
}

/* Code stays with the device, as launches are told by it. */
static void free_variables(struct runtime *cuda, const struct image *image) {
    const struct module *module = program_module(image->program);
    for (unsigned i = 0; i < module->variable_count; i++)
        if (symbol_is_placed(module->variables[i]))
            device_free(cuda->device, program_image(image->program) + module->variables[i]->offset);
}

/* ---- entry points: loading ---- */

/* From memory, or from the file of that path. */
static enum cuda_error load(struct image **out, const void *data, const char *path, const struct jit_options *options) {
    struct report report = {0};
    struct fatbin ptx = {0};
    char *file = NULL;
    size_t bytes = 0;
    BEGIN_LOCKED(cuda);
    if (!out || (!data && !path) || (options->count && (!options->keys || !options->values)))
        return driver_leave(cuda, cudaErrorInvalidValue);
    enum cuda_error error = cudaSuccess;
    const struct fatbin_wish wish = image_wish(cuda);
    if (path && file_read(path, MODULE_BYTES_MAX, &cuda->scratch, &file, &bytes, &report))
        error = cudaErrorFileNotFound;
    else if (path && bytes < MODULE_BYTES_MIN)
        error = cudaErrorInvalidKernelImage;
    if (!error)
        error = module_read(path ? file : data, bytes, &wish, &cuda->scratch, &ptx, &report);
    struct image *image = error == cudaErrorFileNotFound ? NULL : image_add(cuda, error ? NULL : &ptx, &report);
    if (image)
        *out = image;
    else if (!error)
        error = cudaErrorInvalidPtx;
    module_tell(options, report_text(&report));
    report_free(&report);
    arena_reset(&cuda->scratch);
    return driver_leave(cuda, error);
}

static const struct jit_options no_options = {0};

API_CU(cuModuleLoad, struct image **out, const char *path) {
    return path ? load(out, NULL, path, &no_options) : cudaErrorInvalidValue;
}
API_CU(cuModuleLoadData, struct image **out, const void *data) { return load(out, data, NULL, &no_options); }
API_CU(cuModuleLoadFatBinary, struct image **out, const void *data) { return load(out, data, NULL, &no_options); }
API_CU(cuModuleLoadDataEx, struct image **out, const void *data, unsigned count, const int *keys, void **values) {
    return load(out, data, NULL, &(struct jit_options){count, keys, values});
}

API_CU(cuLibraryLoadData, struct image **out, const void *data, const int *keys, void **values, unsigned count,
       const int *library_keys, void **library_values, unsigned library_count) {
    (void)library_keys, (void)library_values, (void)library_count; /* whether the data will stay: it was read */
    return load(out, data, NULL, &(struct jit_options){count, keys, values});
}
API_CU(cuLibraryLoadFromFile, struct image **out, const char *path, const int *keys, void **values, unsigned count,
       const int *library_keys, void **library_values, unsigned library_count) {
    (void)library_keys, (void)library_values, (void)library_count;
    return path ? load(out, NULL, path, &(struct jit_options){count, keys, values}) : cudaErrorInvalidValue;
}

static enum cuda_error unload(const void *handle) {
    BEGIN_LOCKED(cuda);
    struct image **at = image_at(cuda, handle);
    const bool is_there = *at != NULL;
    if (is_there) {
        free_variables(cuda, *at);
        image_drop(cuda, at);
    }
    return driver_leave(cuda, is_there ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

API_CU(cuModuleUnload, const void *module) { return unload(module); }
API_CU(cuLibraryUnload, const void *library) { return unload(library); }

API_CU(cuModuleGetLoadingMode, int *out) {
    enum { EAGER = 1 };
    BEGIN(NEEDS_DRIVER);
    if (out)
        *out = EAGER;
    return driver_end(out ? cudaSuccess : cudaErrorInvalidValue);
}

uint64_t module_reference(struct runtime *cuda, const void *module, const char *name) {
    const struct image *image = image_find(cuda, module);
    uint64_t address = 0;
    const struct symbol *found = image ? image_variable(image, name, &address) : NULL;
    return found && found->is_reference ? address : 0;
}

/* ---- entry points: kernels ---- */

static enum cuda_error get_kernel(struct kernel **out, const void *handle, const char *name) {
    BEGIN_LOCKED(cuda);
    struct image *image = image_find(cuda, handle);
    if (!out || !name || !image)
        return driver_leave(cuda, image ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    const struct function *function = module_find(program_module(image->program), name);
    const bool is_kernel = function && function->is_entry;
    if (is_kernel)
        *out = image_kernel(image, function);
    return driver_leave(cuda, is_kernel ? cudaSuccess : cudaErrorSymbolNotFound);
}

API_CU(cuModuleGetFunction, struct kernel **out, const void *module, const char *name) {
    return get_kernel(out, module, name);
}
API_CU(cuLibraryGetKernel, struct kernel **out, const void *library, const char *name) {
    return get_kernel(out, library, name);
}

/* All of them, up to `room`; *count: how many there are. */
static enum cuda_error list_kernels(struct kernel **out, unsigned room, unsigned *count, const void *handle) {
    unsigned found = 0;
    BEGIN_LOCKED(cuda);
    struct image *image = image_find(cuda, handle);
    if (!image || (!out && !count))
        return driver_leave(cuda, image ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    const struct module *module = program_module(image->program);
    for (unsigned i = 0; i < module->function_count; i++) {
        const struct function *function = module->functions[i];
        if (!function->is_entry || !function->is_defined)
            continue;
        if (out && found < room)
            out[found] = image_kernel(image, function);
        found++;
    }
    if (count)
        *count = found;
    return driver_leave(cuda, cudaSuccess);
}

API_CU(cuModuleGetFunctionCount, unsigned *out, const void *module) { return list_kernels(NULL, 0, out, module); }
API_CU(cuLibraryGetKernelCount, unsigned *out, const void *library) { return list_kernels(NULL, 0, out, library); }
API_CU(cuModuleEnumerateFunctions, struct kernel **out, unsigned room, const void *module) {
    return list_kernels(out, room, NULL, module);
}
API_CU(cuLibraryEnumerateKernels, struct kernel **out, unsigned room, const void *library) {
    return list_kernels(out, room, NULL, library);
}

/* What a kernel is part of, or that it is one; registered ones are of no module. */
static enum cuda_error of_kernel(const void *handle, struct image **image, const void **same) {
    enum cuda_error error;
    BEGIN_LOCKED(cuda);
    struct kernel *kernel = kernel_find(cuda, handle, &error);
    if (kernel && image)
        *image = kernel->image;
    if (kernel && same)
        *same = kernel;
    return driver_leave(cuda, error);
}

API_CU(cuFuncGetModule, struct image **out, const void *function) {
    return out ? of_kernel(function, out, NULL) : cudaErrorInvalidValue;
}
API_CU(cuKernelGetLibrary, struct image **out, const void *kernel) {
    return out ? of_kernel(kernel, out, NULL) : cudaErrorInvalidValue;
}
API_CU(cuKernelGetFunction, const void **out, const void *kernel) {
    return out ? of_kernel(kernel, NULL, out) : cudaErrorInvalidValue;
}
API_CU(cuFuncLoad, const void *function) { return of_kernel(function, NULL, NULL); }
API_CU(cuFuncIsLoaded, int *out, const void *function) {
    enum { LOADED = 1 };
    if (out)
        *out = LOADED;
    return out ? of_kernel(function, NULL, NULL) : cudaErrorInvalidValue;
}

API_CU(cuLibraryGetModule, const void **out, const void *library) {
    BEGIN_LOCKED(cuda);
    const struct image *image = image_find(cuda, library);
    if (image && out)
        *out = image;
    return driver_leave(cuda, !out ? cudaErrorInvalidValue : image ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

/* ---- entry points: variables ---- */

static enum cuda_error get_variable(uint64_t *out, size_t *bytes, const void *handle, const char *name) {
    uint64_t address = 0;
    BEGIN_LOCKED(cuda);
    const struct image *image = image_find(cuda, handle);
    if (!image || !name || (!out && !bytes))
        return driver_leave(cuda, image ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
    const struct symbol *found = image_variable(image, name, &address);
    if (found && out)
        *out = address;
    if (found && bytes)
        *bytes = (size_t)found->bytes;
    return driver_leave(cuda, found ? cudaSuccess : cudaErrorSymbolNotFound);
}

API_CU(cuModuleGetGlobal_v2, uint64_t *out, size_t *bytes, const void *module, const char *name) {
    return get_variable(out, bytes, module, name);
}
API_CU(cuLibraryGetGlobal, uint64_t *out, size_t *bytes, const void *library, const char *name) {
    return get_variable(out, bytes, library, name);
}
API_CU(cuLibraryGetManaged, uint64_t *out, size_t *bytes, const void *library, const char *name) {
    return get_variable(out, bytes, library, name);
}
