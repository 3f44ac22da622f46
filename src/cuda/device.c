/* SPDX-License-Identifier: Apache-2.0 */
/* The device as programs ask about it: properties, attributes, limits, peers, versions; and errors. */
#include <stdio.h>
#include <string.h>

#include "cuda/image.h"
#include "cuda/memory.h"

enum { DEVICES = 1, LIMITS = 7 };

/* What properties.def says beside the machine. */
struct device_facts {
    uint64_t memory_bytes, shared_bytes, l2_bytes;
    unsigned arch, bus_bits;
    bool is_unified;
    bool has_clusters; /* of several blocks */
};

#define ALL(...) __VA_ARGS__
#define NUMBER(versions, type, name, value, attribute) versions(type name;)
#define LIST(versions, type, name, count, values, attribute) versions(type name[count];)
#define OLD(...) __VA_ARGS__
#define NEW(...)
#define LAST(...)
#define ONLY12(...)
struct properties_11 {
#include "cuda/properties.def"
};
#undef NEW
#undef ONLY12
#define NEW(...) __VA_ARGS__
#define ONLY12(...) __VA_ARGS__
struct properties_12 {
#include "cuda/properties.def"
};
#undef OLD
#undef LAST
#undef ONLY12
#define OLD(...)
#define LAST(...) __VA_ARGS__
#define ONLY12(...)
struct properties_13 {
#include "cuda/properties.def"
};
#undef NUMBER
#undef LIST
_Static_assert(sizeof(struct properties_11) == 728, "cudaDeviceProp of CUDA 11");
_Static_assert(sizeof(struct properties_12) == 1032, "cudaDeviceProp of CUDA 12");
_Static_assert(sizeof(struct properties_13) == 1008, "cudaDeviceProp of CUDA 13");

static struct device_facts facts(struct runtime *cuda) {
    const struct machine *machine = &cuda->machine;
    return (struct device_facts){.memory_bytes = host_capacity_bytes(cuda->device),
                                 .shared_bytes = machine_shared_bytes(machine),
                                 .l2_bytes = host_l2_bytes(machine),
                                 .arch = images_arch(cuda),
                                 .bus_bits = machine->dram.chips * 64,
                                 .is_unified = cuda->is_unified,
                                 .has_clusters = images_arch(cuda) >= 90};
}

#define D3(a, b, c)                                                                                                    \
    { (int)(a), (int)(b), (int)(c) }
#define NUMBER(versions, type, member, value, attribute) versions(out->member = (type)(value);)
#define LIST(versions, type, member, count, list, attribute)                                                           \
    versions({                                                                                                         \
        const type values[count] = list;                                                                               \
        memcpy(out->member, values, sizeof values);                                                                    \
    })

static void fill_13(struct properties_13 *out, const struct machine *m, const struct device_facts *d) {
#include "cuda/properties.def"
    snprintf(out->name, sizeof out->name, "Heddle %s", m->name);
}
#undef OLD
#undef LAST
#undef ONLY12
#define OLD(...) __VA_ARGS__
#define LAST(...)
#define ONLY12(...) __VA_ARGS__
static void fill_12(struct properties_12 *out, const struct machine *m, const struct device_facts *d) {
#include "cuda/properties.def"
    snprintf(out->name, sizeof out->name, "Heddle %s", m->name);
}
#undef NEW
#undef ONLY12
#define NEW(...)
#define ONLY12(...)
static void fill_11(struct properties_11 *out, const struct machine *m, const struct device_facts *d) {
#include "cuda/properties.def"
    snprintf(out->name, sizeof out->name, "Heddle %s", m->name);
}

/* ---- attributes ---- */

#undef NUMBER
#undef LIST
#define NUMBER(versions, type, member, value, attribute)                                                               \
    if ((attribute) && (attribute) == wanted)                                                                          \
        return (int)(value);
#define LIST(versions, type, member, count, list, attribute)                                                           \
    if ((attribute) && wanted >= (attribute) && wanted - (attribute) < (count)) {                                      \
        const type values[count] = list;                                                                               \
        return (int)values[wanted - (attribute)];                                                                      \
    }

/* 0 for what CUDA can ask and the table does not have: capabilities that the device lacks. */
static int attribute_of(int wanted, const struct machine *m, const struct device_facts *d) {
#include "cuda/properties.def"
    return 0;
}

static enum cuda_error check_device(int device) { return device < 0 || device >= DEVICES ? cudaErrorInvalidDevice : 0; }

API(cudaDeviceGetAttribute, int *out, int attribute, int device) {
    enum { LAST_ATTRIBUTE = 147 };
    ENTER(cuda);
    const enum cuda_error error = check_device(device);
    if (error)
        return runtime_leave(cuda, error);
    if (!out || attribute < 1 || attribute > LAST_ATTRIBUTE)
        return runtime_leave(cuda, cudaErrorInvalidValue);
    const struct device_facts d = facts(cuda);
    *out = attribute_of(attribute, &cuda->machine, &d);
    return runtime_leave(cuda, cudaSuccess);
}

#define PROPERTIES(version)                                                                                            \
    ENTER(cuda);                                                                                                       \
    const enum cuda_error error = out ? check_device(device) : cudaErrorInvalidValue;                                  \
    if (!error) {                                                                                                      \
        const struct device_facts d = facts(cuda);                                                                     \
        fill_##version(out, &cuda->machine, &d);                                                                       \
    }                                                                                                                  \
    return runtime_leave(cuda, error)

API_IN(11, cudaGetDeviceProperties, struct properties_11 *out, int device) { PROPERTIES(11); }
API_IN(12, cudaGetDeviceProperties_v2, struct properties_12 *out, int device) { PROPERTIES(12); }
API_IN(13, cudaGetDeviceProperties, struct properties_13 *out, int device) { PROPERTIES(13); }
EXPORT_12(entry_11_cudaGetDeviceProperties, cudaGetDeviceProperties)

/* ---- which device ---- */

API(cudaGetDeviceCount, int *out) {
    struct runtime *cuda = runtime_enter();
    const bool none = cuda->lost == cudaErrorNoDevice;
    if (out)
        *out = none ? 0 : DEVICES;
    return runtime_leave(cuda, !out ? cudaErrorInvalidValue : none ? cudaErrorNoDevice : cudaSuccess);
}

API(cudaGetDevice, int *out) {
    ENTER(cuda);
    if (out)
        *out = 0;
    return runtime_leave(cuda, out ? cudaSuccess : cudaErrorInvalidValue);
}

static enum cuda_error choose(int device) {
    ENTER(cuda);
    return runtime_leave(cuda, check_device(device));
}

API(cudaSetDevice, int device) { return choose(device); }
API(cudaInitDevice, int device, unsigned flags, unsigned also) {
    (void)flags, (void)also;
    return choose(device);
}
API(cudaSetValidDevices, int *list, int count) {
    (void)list, (void)count;
    return choose(0);
}
API(cudaChooseDevice, int *out, const void *properties) {
    (void)properties;
    if (out)
        *out = 0;
    return out ? choose(0) : runtime_note(cudaErrorInvalidValue);
}

API(cudaSetDeviceFlags, unsigned flags) {
    ENTER(cuda);
    cuda->flags = flags;
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaGetDeviceFlags, unsigned *out) {
    enum { MAPS_HOST = 8 };
    ENTER(cuda);
    if (out)
        *out = cuda->flags | MAPS_HOST;
    return runtime_leave(cuda, out ? cudaSuccess : cudaErrorInvalidValue);
}

API(cudaDeviceSynchronize, void) { return choose(0); }
API(cudaThreadSynchronize, void) { return choose(0); }
API(cudaCtxResetPersistingL2Cache, void) { return choose(0); }
API(cudaProfilerStart, void) { return choose(0); }
API(cudaProfilerStop, void) { return choose(0); }

static enum cuda_error reset(void) {
    struct runtime *cuda = runtime_enter();
    if (cuda->lost != cudaErrorNoDevice)
        runtime_reset(cuda);
    return runtime_leave(cuda, cuda->lost);
}

API(cudaDeviceReset, void) { return reset(); }
API(cudaThreadExit, void) { return reset(); }

/* ---- limits and wishes ---- */

API(cudaDeviceGetLimit, size_t *out, int limit) {
    ENTER(cuda);
    const size_t heap = host_heap_bytes(cuda->device);
    const size_t values[LIMITS] = {cuda->machine.stack_bytes, cuda->machine.print_bytes, heap, 0, 0, 128, 0};
    if (!out || limit < 0 || limit >= LIMITS)
        return runtime_leave(cuda, out ? cudaErrorUnsupportedLimit : cudaErrorInvalidValue);
    *out = values[limit];
    return runtime_leave(cuda, cudaSuccess);
}

/* The machine's keys say what there is (local.stack_bytes, printf.buffer_bytes); asking for more than that is refused. The
 * heap of kernels is as large as the program says before the first of them has use for it. */
API(cudaDeviceSetLimit, int limit, size_t value) {
    enum { STACK, PRINTF, HEAP };
    ENTER(cuda);
    if (limit < 0 || limit >= LIMITS)
        return runtime_leave(cuda, cudaErrorUnsupportedLimit);
    if ((limit == STACK && value > cuda->machine.stack_bytes) || (limit == HEAP && !host_set_heap(cuda->device, value)))
        return runtime_leave(cuda, cudaErrorInvalidValue);
    return runtime_leave(cuda, cudaSuccess);
}

API(cudaDeviceGetCacheConfig, int *out) {
    if (out)
        *out = 0;
    return out ? choose(0) : runtime_note(cudaErrorInvalidValue);
}
API(cudaDeviceGetSharedMemConfig, int *out) {
    enum { BANKS_OF_4_BYTES = 1 };
    if (out)
        *out = BANKS_OF_4_BYTES;
    return out ? choose(0) : runtime_note(cudaErrorInvalidValue);
}
API(cudaDeviceSetCacheConfig, int config) {
    (void)config;
    return choose(0);
}
API(cudaDeviceSetSharedMemConfig, int config) {
    (void)config;
    return choose(0);
}

API(cudaDeviceGetStreamPriorityRange, int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return choose(0);
}

/* ---- other devices, of which there are none ---- */

API(cudaDeviceCanAccessPeer, int *out, int device, int peer) {
    const enum cuda_error error = check_device(device) ? cudaErrorInvalidDevice : check_device(peer);
    if (out)
        *out = 0;
    return runtime_note(out ? error : cudaErrorInvalidValue);
}
API(cudaDeviceEnablePeerAccess, int peer, unsigned flags) {
    (void)peer, (void)flags;
    return runtime_note(cudaErrorInvalidDevice);
}
API(cudaDeviceDisablePeerAccess, int peer) {
    (void)peer;
    return runtime_note(cudaErrorPeerAccessNotEnabled);
}
API(cudaDeviceGetP2PAttribute, int *out, int attribute, int from, int to) {
    (void)attribute, (void)from, (void)to;
    if (out)
        *out = 0;
    return runtime_note(cudaErrorInvalidDevice);
}

/* Processes have a simulated GPU each: none can open another's memory or events. */
static enum cuda_error no_sharing(void) { return runtime_note(cudaErrorNotSupported); }
API(cudaIpcGetMemHandle, void *out, void *memory) {
    (void)out, (void)memory;
    return no_sharing();
}
API(cudaIpcGetEventHandle, void *out, void *event) {
    (void)out, (void)event;
    return no_sharing();
}
API(cudaIpcCloseMemHandle, void *memory) {
    (void)memory;
    return no_sharing();
}

static const char bus_id[] = "0000:00:00.0";

API(cudaDeviceGetPCIBusId, char *out, int room, int device) {
    if (!out || room < (int)sizeof bus_id)
        return runtime_note(cudaErrorInvalidValue);
    memcpy(out, bus_id, sizeof bus_id);
    return choose(device);
}
API(cudaDeviceGetByPCIBusId, int *out, const char *text) {
    if (!out || !text)
        return runtime_note(cudaErrorInvalidValue);
    *out = 0;
    return choose(strcmp(text, bus_id) == 0 ? 0 : -1);
}

/* ---- versions ---- */

static enum cuda_error version(int *out, int number) {
    if (out)
        *out = number;
    return runtime_note(out ? cudaSuccess : cudaErrorInvalidValue);
}

API_IN(11, cudaRuntimeGetVersion, int *out) { return version(out, 11080); }
API_IN(12, cudaRuntimeGetVersion, int *out) { return version(out, 12080); }
API_IN(13, cudaRuntimeGetVersion, int *out) { return version(out, 13000); }
API(cudaDriverGetVersion, int *out) { return version(out, 13000); }

/* ---- errors ---- */

API(cudaPeekAtLastError, void) { return runtime_thread()->last_error; }
API(cudaGetLastError, void) {
    const enum cuda_error error = runtime_thread()->last_error;
    runtime_thread()->last_error = cudaSuccess;
    return error;
}

API_OF(const char *, cudaGetErrorName, enum cuda_error error) {
    switch (error) {
#define ERROR(name, number, text)                                                                                      \
    case name:                                                                                                         \
        return #name;
#include "cuda/errors.def"
#undef ERROR
    }
    return "unrecognized error code";
}

API_OF(const char *, cudaGetErrorString, enum cuda_error error) {
    switch (error) {
#define ERROR(name, number, text)                                                                                      \
    case name:                                                                                                         \
        return text;
#include "cuda/errors.def"
#undef ERROR
    }
    return "unrecognized error code";
}
