/* SPDX-License-Identifier: Apache-2.0 */
/* Registration, as the code that nvcc adds to a program calls it, and loading. */
#include "cuda/image.h"

#include <string.h>

#include "compile/fatbin.h"
#include "device/lowered.h"

enum { WRAPPER_MAGIC = 0x466243b1 };

struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *linked; /* version 2: the files that nvlink put together */
};

struct image *image_new(void) {
    struct arena arena = {0};
    struct image *image = ARENA_NEW(&arena, struct image);
    image->arena = arena;
    return image;
}

/* ---- loading ---- */

static bool is_managed(const struct runtime *cuda, const struct variable *one) {
    return (const char *)one->host >= cuda->managed && (const char *)one->host < cuda->managed_end;
}

/* Managed variables of programs that heddle cc compiled are the program's own: the device reaches them there. */
static enum status load_text(struct runtime *cuda, struct image *image, const struct module_text *text,
                             struct report *report) {
    unsigned count = 0;
    for (const struct variable *one = image->variables; one; one = one->next)
        count += is_managed(cuda, one);
    struct variable_place *places = ARENA_ARRAY(&image->arena, struct variable_place, count + 1u);
    const size_t bytes = (size_t)(cuda->managed_end - cuda->managed);
    if (count && !host_share(cuda->device, (uint64_t)(uintptr_t)cuda->managed, bytes))
        return report_add(report, STATUS_SYSTEM, "managed variables need a device that has the host's addresses");
    count = 0;
    for (const struct variable *one = image->variables; one; one = one->next)
        if (is_managed(cuda, one))
            places[count++] = (struct variable_place){one->name, (uint64_t)(uintptr_t)one->host};
    return host_load(cuda->device, text, places, count, &image->program, report);
}

enum status image_load(struct runtime *cuda, struct image *image, const struct fatbin *ptx, struct report *report) {
    const char *first = image->module ? image->module : image->kernels ? image->kernels->name : "";
    const char *name =
        arena_printf(&image->arena, "%.100s.%s", *first ? first : "module", ptx && ptx->is_native ? "cubin" : "ptx");
    const enum status status =
        ptx ? load_text(cuda, image, &(struct module_text){name, ptx->ptx, ptx->bytes}, report) : STATUS_INVALID;
    if (status) {
        image->program = NULL;
        runtime_say(cuda, "a CUDA module%s%s cannot be loaded:\n%s", *first ? " with the kernel " : "", first,
                    report_text(report));
    } else {
        image->entry = guest_recording_module(cuda->recording, image->program, NULL);
    }
    return status;
}

struct fatbin_wish image_wish(const struct runtime *cuda) {
    return (struct fatbin_wish){.sm = isa_sm((enum isa_choice)cuda->machine.isa)};
}

/* What was linked is complete; its files have native code that is not. */
static enum status read_fatbins(const struct runtime *cuda, struct image *image, struct fatbin *out,
                                struct report *report) {
    struct fatbin_wish wish = image_wish(cuda);
    if (!image->fatbins[0])
        return report_add(report, STATUS_INVALID, "the program registers data that is not a fat binary");
    if (image->linked && wish.sm && fatbin_bytes(image->linked) &&
        !fatbin_read(image->linked, fatbin_bytes(image->linked), &wish, &image->arena, out, NULL))
        return STATUS_OK;
    wish.ptx_only = image->linked != NULL;
    return fatbin_join(image->fatbins, &wish, &image->arena, out, report);
}

static void load_image(struct runtime *cuda, struct image *image) {
    struct report report = {0};
    struct fatbin fatbin = {0};
    image->is_tried = true;
    const enum status status = read_fatbins(cuda, image, &fatbin, &report);
    if (!status && fatbin.is_native)
        image->arch = fatbin.arch;
    image_load(cuda, image, status ? NULL : &fatbin, &report);
    report_free(&report);
}

static bool is_loaded(struct runtime *cuda, struct image *image) {
    if (!image->is_tried)
        load_image(cuda, image);
    return image->program != NULL;
}

static struct kernel *kernel_registered(struct runtime *cuda, const void *function) {
    for (struct image *image = cuda->images; image; image = image->next)
        for (struct kernel *kernel = image->kernels; kernel; kernel = kernel->next)
            if (kernel->host == function || (const void *)kernel == function)
                return kernel;
    return NULL;
}

struct kernel *kernel_find(struct runtime *cuda, const void *function, enum cuda_error *error) {
    struct kernel *kernel = kernel_registered(cuda, function);
    *error = cudaErrorInvalidDeviceFunction;
    if (!kernel)
        return NULL;
    *error = cudaErrorNoKernelImageForDevice;
    if (!is_loaded(cuda, kernel->image))
        return NULL;
    if (!kernel->function)
        kernel->function = module_find(program_module(kernel->image->program), kernel->name);
    *error = kernel->function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    return kernel->function ? kernel : NULL;
}

const struct symbol *image_variable(const struct image *image, const char *name, uint64_t *address) {
    const struct module *module = program_source(image->program);
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *found = module->variables[i];
        if (found->space != SPACE_SHARED && strcmp(found->name, name) == 0) {
            *address = program_image(image->program) + found->offset;
            return found;
        }
    }
    return NULL;
}

const struct variable *variable_find(struct runtime *cuda, const void *symbol, uint64_t *address) {
    for (struct image *image = cuda->images; image; image = image->next)
        for (struct variable *one = image->variables; one; one = one->next) {
            if (one->host != symbol && !(one->managed && *one->managed == symbol))
                continue;
            if (!is_loaded(cuda, image))
                return NULL;
            if (image_variable(image, one->name, address))
                return one;
        }
    return NULL;
}

void images_place_managed(struct runtime *cuda) {
    uint64_t address;
    for (struct image *image = cuda->images; image; image = image->next)
        for (struct variable *one = image->variables; one; one = one->next)
            if (one->managed && cuda->is_unified && variable_find(cuda, one->host, &address))
                *one->managed = (void *)(uintptr_t)address;
}

static void unload(struct image *image) {
    image->is_tried = false;
    image->program = NULL;
    for (struct kernel *kernel = image->kernels; kernel; kernel = kernel->next)
        kernel->function = NULL;
}

void image_drop(struct runtime *cuda, struct image **at) {
    struct image *image = *at;
    unload(image);
    *at = image->next;
    image->next = cuda->dropped;
    cuda->dropped = image;
}

void images_unload(struct runtime *cuda) {
    for (struct image **at = &cuda->images; *at;) {
        if ((*at)->module) {
            image_drop(cuda, at);
        } else {
            unload(*at);
            at = &(*at)->next;
        }
    }
}

unsigned images_arch(const struct runtime *cuda) {
    const unsigned sm = image_wish(cuda).sm;
    unsigned arch = FATBIN_ARCH;
    if (sm)
        return sm;
    for (const struct image *image = cuda->images; image; image = image->next)
        if (image->arch > arch)
            arch = image->arch;
    return arch;
}

/* ---- entry points of the code that compilers write ---- */

/* Those of a wrapper, NULL at their end; none where it is no wrapper. What nvlink made of linked files is native code, but they
 * are there too. */
static const void *const *fatbins_of(const struct fatbin_wrapper *wrapper, struct arena *arena) {
    const void **one = ARENA_ARRAY(arena, const void *, 2);
    if (!wrapper || wrapper->magic != WRAPPER_MAGIC)
        return one;
    const void *const *linked = wrapper->version == 2 ? wrapper->linked : NULL;
    unsigned count = 0;
    while (linked && linked[count] && fatbin_bytes(linked[count]))
        count++;
    if (count && !linked[count])
        return linked;
    if (wrapper->data && fatbin_bytes(wrapper->data))
        one[0] = wrapper->data;
    return one;
}

static struct image *add_image(struct runtime *cuda) {
    struct image *image = image_new();
    image->next = cuda->images;
    cuda->images = image;
    return image;
}

static void set_fatbins(struct image *image, const void *const *fatbins) {
    image->fatbins = fatbins;
    for (unsigned i = 0; fatbins[i]; i++) {
        const unsigned arch = fatbin_arch(fatbins[i], fatbin_bytes(fatbins[i]));
        image->arch = arch > image->arch ? arch : image->arch;
    }
}

API_OF(void **, __cudaRegisterFatBinary, const struct fatbin_wrapper *wrapper) {
    struct runtime *cuda = runtime_enter_early();
    struct image *image = add_image(cuda);
    set_fatbins(image, fatbins_of(wrapper, &image->arena));
    if (image->fatbins[0] && image->fatbins[0] != wrapper->data)
        image->linked = wrapper->data;
    runtime_leave_early(cuda);
    return (void **)image;
}

/* Device code that heddle cc compiled in parts: those that come before the first of them is needed are one image. */
EXPORT_12(register_part, __cudaHeddleRegisterPart)
API_FUNCTION(void, register_part, void (*globals)(void **), const struct fatbin_wrapper *wrapper) {
    struct runtime *cuda = runtime_enter_early();
    struct image *image = cuda->parts && !cuda->parts->is_tried ? cuda->parts : add_image(cuda);
    unsigned count = 0;
    while (image->fatbins && image->fatbins[count])
        count++;
    const void **all = ARENA_ARRAY(&image->arena, const void *, count + 2u);
    for (unsigned i = 0; i < count; i++)
        all[i] = image->fatbins[i];
    all[count] = fatbins_of(wrapper, &image->arena)[0];
    set_fatbins(image, all);
    cuda->parts = image;
    runtime_leave_early(cuda);
    globals((void **)image);
}

/* Managed variables have their first values from here on. */
API_OF(void, __cudaRegisterFatBinaryEnd, void **handle) {
    struct runtime *cuda = runtime_enter_early();
    struct image *image = (struct image *)handle;
    bool has_managed = false;
    for (const struct variable *one = image ? image->variables : NULL; one; one = one->next)
        has_managed |= is_managed(cuda, one);
    runtime_leave_early(cuda);
    if (!has_managed)
        return;
    cuda = runtime_enter();
    if (!cuda->lost)
        is_loaded(cuda, image);
    runtime_leave_early(cuda);
}

/* Where the linker put the program's managed variables: said before any of its other code runs. */
EXPORT_12(managed_range, __cudaHeddleManaged)
API_FUNCTION(void, managed_range, const char *start, const char *end) {
    struct runtime *cuda = runtime_enter_early();
    if (!cuda->managed)
        cuda->managed = start, cuda->managed_end = end;
    runtime_leave_early(cuda);
}

API_OF(void, __cudaUnregisterFatBinary, void **handle) { (void)handle; } /* the process ends: see end_runtime */

API_OF(void, __cudaRegisterFunction, void **handle, const char *host, char *device, const char *name, int threads,
       void *tid, void *bid, void *block, void *grid, int *warp) {
    struct runtime *cuda = runtime_enter_early();
    struct image *image = (struct image *)handle;
    struct kernel *kernel = ARENA_NEW(&image->arena, struct kernel);
    *kernel =
        (struct kernel){.kind = KERNEL_KIND, .host = host, .name = arena_strdup(&image->arena, name), .image = image};
    struct kernel **last = &image->kernels; /* modules are named by their first kernel */
    while (*last)
        last = &(*last)->next;
    *last = kernel;
    runtime_leave_early(cuda);
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
}

void image_register(void **handle, const struct variable *like) {
    struct runtime *cuda = runtime_enter_early();
    struct image *image = (struct image *)handle;
    struct variable *one = ARENA_NEW(&image->arena, struct variable);
    *one = *like;
    one->name = arena_strdup(&image->arena, like->name);
    one->image = image;
    one->next = image->variables;
    image->variables = one;
    runtime_leave_early(cuda);
}

API_OF(void, __cudaRegisterVar, void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
       int is_constant, int is_global) {
    image_register(handle, &(struct variable){.host = host, .name = name, .bytes = bytes});
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
}

API_OF(void, __cudaRegisterManagedVar, void **handle, void **host, char *device, const char *name, int is_extern,
       size_t bytes, int is_constant, int is_global) {
    image_register(handle, &(struct variable){.host = host, .name = name, .bytes = bytes, .managed = host});
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
}

static char init_managed(void) {
    struct runtime *cuda = runtime_enter();
    if (!cuda->lost)
        images_place_managed(cuda);
    runtime_leave_early(cuda);
    return 1;
}

API_OF(char, __cudaInitModule, void **handle) {
    (void)handle;
    return init_managed();
}

API_OF(char, __cudaInitManagedRt, void **handle) {
    (void)handle;
    return init_managed();
}

API_OF(void, __cudaRegisterHostVar, void **handle, const char *name, char *host, size_t bytes) {
    (void)handle, (void)name, (void)host, (void)bytes;
}

API(__cudaGetKernel, struct kernel **out, const void *host) {
    struct runtime *cuda = runtime_enter_early();
    *out = kernel_registered(cuda, host);
    runtime_leave_early(cuda);
    return runtime_note(*out ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

API(cudaGetKernel, struct kernel **out, const void *host) { return entry___cudaGetKernel(out, host); }

API(cudaGetFuncBySymbol, struct kernel **out, const void *host) { return entry___cudaGetKernel(out, host); }

/* ---- symbols ---- */

/* A variable of the program by its name, as CUDA took symbols before version 5: for programs that heddle cc compiles. NULL: none. */
EXPORT_12(symbol_by_name, __cudaHeddleSymbol)
API_FUNCTION(const void *, symbol_by_name, const char *name) {
    struct runtime *cuda = runtime_enter_early();
    const void *found = NULL;
    for (struct image *image = cuda->images; image && !found; image = image->next)
        for (struct variable *one = image->variables; one && !found; one = one->next)
            found = strcmp(one->name, name) == 0 ? one->host : NULL;
    runtime_leave_early(cuda);
    return found;
}

API(cudaGetSymbolAddress, void **out, const void *symbol) {
    uint64_t address = 0;
    ENTER(cuda);
    const struct variable *found = variable_find(cuda, symbol, &address);
    if (found && out)
        *out = (void *)(uintptr_t)address;
    return runtime_leave(cuda, !out ? cudaErrorInvalidValue : found ? cudaSuccess : cudaErrorInvalidSymbol);
}

API(cudaGetSymbolSize, size_t *out, const void *symbol) {
    uint64_t address = 0;
    ENTER(cuda);
    const struct variable *found = variable_find(cuda, symbol, &address);
    if (found && out)
        *out = found->bytes;
    return runtime_leave(cuda, !out ? cudaErrorInvalidValue : found ? cudaSuccess : cudaErrorInvalidSymbol);
}
