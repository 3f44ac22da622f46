/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of CUDA's driver API that is there, as a program calls it; in order, each leaves what the next ones find. Those whose
 * interface changed are called by the interface of the header's version. */
#include "driver.h"

#include <unistd.h>

enum { N = 1000, BYTES = N * 4 };

static unsigned host[N], back[N];
static CUdevice device;
static CUcontext context;

/* ---- the driver, the device ---- */

static void check_device(void) {
    CUdevice same = 7;
    CUuuid uuid;
    CUdevprop properties;
    CUmemoryPool pool;
    char text[64];
    const char *words;
    size_t bytes;
    int number = 0, minor;
    OK(cuDriverGetVersion(&number));
    IS(number >= 12000, 1);
    IS(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuMemAlloc((CUdeviceptr *)text, 4), CUDA_ERROR_NOT_INITIALIZED);
    IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&number));
    IS(number, 1);
    OK(cuDeviceGet(&device, 0));
    IS(cuDeviceGet(&same, 1), CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetName(text, sizeof text, device));
    IS(memcmp(text, "Heddle ", 7), 0);
    OK(cuDeviceGetName(text, 4, device));
    IS(strcmp(text, "Hed"), 0);
    OK(cuDeviceGetUuid(&uuid, device));
    OK(cuDeviceTotalMem(&bytes, device));
    IS(bytes > 1 << 20, 1);
    OK(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    IS(number, 32);
    OK(cuDeviceComputeCapability(&number, &minor, device));
    IS(number * 10 + minor, 75);
    OK(cuDeviceGetProperties(&properties, device));
    IS(properties.SIMDWidth, 32);
    OK(cuDeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
    IS(properties.clockRate, number);
    OK(cuDeviceGetPCIBusId(text, sizeof text, device));
    OK(cuDeviceGetByPCIBusId(&same, text));
    IS(same, device);
    OK(cuDeviceCanAccessPeer(&number, device, device));
    IS(cuDeviceGetP2PAttribute(&number, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK, device, 1),
       CUDA_ERROR_INVALID_DEVICE);
    OK(cuDeviceGetDefaultMemPool(&pool, device));
    OK(cuDeviceGetMemPool(&pool, device));
    OK(cuDeviceSetMemPool(device, pool));
    OK(cuDeviceGetExecAffinitySupport(&number, CU_EXEC_AFFINITY_TYPE_SM_COUNT, device));
    IS(number, 0);
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &words));
    IS(strcmp(words, "CUDA_ERROR_ILLEGAL_ADDRESS"), 0);
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &words));
    IS(strcmp(words, "out of memory"), 0);
    IS(cuGetErrorName((CUresult)12345, &words), CUDA_ERROR_INVALID_VALUE);
}

/* Functions by their names, in the interface of a version. */
static void *named(const char *name, int version) {
    CUdriverProcAddressQueryResult status;
    void *found = NULL;
    OK(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    IS(status, CU_GET_PROC_ADDRESS_SUCCESS);
    return found;
}

static void check_names(void) {
    CUresult (*old)(const char *, void **, int, cuuint64_t);
    CUresult (*absent)(void);
    void *found = named("cuGetProcAddress", 11030);
    memcpy(&old, &found, sizeof old);
    OK(old("cuMemAlloc", &found, 12000, 0));
    IS(found == (void *)named("cuMemAlloc_v2", 12000), 1);
    IS(found == named("cuMemAlloc", 12000), 1);
    IS(old("cuNone", &found, 12000, 0), CUDA_ERROR_NOT_FOUND);
    IS(named("cuCtxCreate", 11000) == named("cuCtxCreate_v2", 12000), 1);
    IS(named("cuCtxCreate", 11040) != named("cuCtxCreate", 11000), 1);
    IS(named("cuCtxCreate", 12050) != named("cuCtxCreate", 11040), 1);
    IS(named("cuStreamSynchronize", 12000) == named("cuStreamSynchronize_ptsz", 12000), 1);
    found = named("cuTensorMapEncodeIm2col", 12000); /* is there, and says that it is not */
    memcpy(&absent, &found, sizeof absent);
    IS(absent(), CUDA_ERROR_NOT_SUPPORTED);
    IS(absent(), CUDA_ERROR_NOT_SUPPORTED);
}

/* ---- contexts ---- */

static CUresult create(CUcontext *out, unsigned flags) {
#if CUDA_VERSION >= 13000
    return cuCtxCreate(out, NULL, flags, device);
#else
    return cuCtxCreate(out, flags, device);
#endif
}

static void check_made_contexts(void) {
    CUcontext first, second, got;
    CUdeviceptr memory;
    CUresult (*create_share)(CUcontext *, void *, int, unsigned, CUdevice);
    void *found = named("cuCtxCreate", 11040);
    unsigned flags;
    memcpy(&create_share, &found, sizeof found);
    IS(cuMemAlloc(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
    OK(create(&first, CU_CTX_SCHED_SPIN));
    OK(cuCtxGetCurrent(&got));
    IS(got == first, 1);
    OK(cuCtxGetFlags(&flags));
    IS(flags, CU_CTX_SCHED_SPIN);
    OK(cuMemAlloc(&memory, 4));
    OK(create_share(&second, NULL, 0, 0, device));
    IS(create_share(&got, &found, 1, 0, device), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemFree(memory)); /* all contexts have one memory */
    OK(cuMemAlloc(&memory, 4));
    OK(cuCtxDestroy(second));
    OK(cuCtxGetCurrent(&got));
    IS(got == first, 1);
    OK(cuCtxAttach(&got, 0));
    OK(cuCtxDetach(got));
    OK(cuMemcpyHtoD(memory, &flags, 4));
    OK(cuCtxDestroy(first)); /* the last one: what it had goes with it */
    IS(cuCtxDestroy(first), CUDA_ERROR_INVALID_CONTEXT);
    OK(create(&first, 0));
    IS(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxPushCurrent(first));
    OK(cuCtxDestroy(first));
    IS(cuMemAlloc(&memory, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxPopCurrent(&got));
}

static void check_contexts(void) {
    CUcontext got;
    CUfunc_cache cache;
    CUsharedconfig banks;
    CUdevice of;
    CUresult (*of_context)(void *, CUcontext), (*wait_for)(CUcontext);
    size_t bytes;
    unsigned long long id;
    unsigned flags = 0;
    int active = 5, least, greatest;
    check_made_contexts();
    OK(cuCtxGetCurrent(&got));
    IS(got == NULL, 1);
    OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    IS(active, 0);
    OK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_YIELD));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    IS(active == 1 && flags == CU_CTX_SCHED_YIELD, 1);
    OK(cuCtxSetCurrent(context));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxPopCurrent(&got));
    IS(got == context, 1);
    IS(cuCtxPushCurrent((CUcontext)&got), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetFlags(CU_CTX_SCHED_AUTO));
    OK(cuCtxGetId(context, &id));
    OK(cuCtxGetApiVersion(context, &flags));
    IS(flags, 3020);
    void *found = named("cuCtxGetDevice", 12000);
    CUresult (*of_current)(CUdevice *);
    memcpy(&of_current, &found, sizeof found);
    OK(of_current(&of));
    IS(of, device);
    found = named("cuCtxGetDevice", 13000);
    memcpy(&of_context, &found, sizeof found);
    OK(of_context(&of, context));
    found = named("cuCtxSynchronize", 13000);
    memcpy(&wait_for, &found, sizeof found);
    OK(wait_for(context));
    OK(cuCtxGetLimit(&bytes, CU_LIMIT_PRINTF_FIFO_SIZE));
    OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, bytes));
    OK(cuCtxGetCacheConfig(&cache));
    OK(cuCtxSetCacheConfig(cache));
    OK(cuCtxGetSharedMemConfig(&banks));
    OK(cuCtxSetSharedMemConfig(banks));
    OK(cuCtxGetStreamPriorityRange(&least, &greatest));
    IS(least >= greatest, 1);
    OK(cuCtxResetPersistingL2Cache());
    IS(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    IS(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

/* ---- memory ---- */

static void check_pointers(CUdeviceptr memory) {
    CUdeviceptr start = 0;
    CUcontext of = NULL;
    CUpointer_attribute list[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER};
    void *values[2];
    unsigned type = 0, is = 9;
    size_t bytes = 0;
    int ordinal = 5;
    OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
    IS(of == context, 1);
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
    IS(type, CU_MEMORYTYPE_DEVICE);
    OK(cuPointerGetAttribute(&is, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
    IS(is, 0);
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    IS(ordinal, 0);
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, memory + 8));
    IS(start, memory);
    OK(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, memory));
    IS(bytes, BYTES);
    IS(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory), CUDA_ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&start, (CUpointer_attribute)99, memory), CUDA_ERROR_INVALID_VALUE);
    values[0] = &type;
    values[1] = &start;
    OK(cuPointerGetAttributes(2, list, values, memory + 8));
    IS(type == CU_MEMORYTYPE_DEVICE && start == memory + 8, 1);
    OK(cuPointerGetAttributes(2, list, values, (CUdeviceptr)(uintptr_t)host));
    IS(type == 0 && start == 0, 1);
    is = 1;
    OK(cuPointerSetAttribute(&is, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
    OK(cuMemGetAddressRange(&start, &bytes, memory + 100));
    IS(start == memory && bytes == BYTES, 1);
    IS(cuMemGetAddressRange(&start, &bytes, 4096), CUDA_ERROR_NOT_FOUND);
}

static void check_host_memory(CUdeviceptr memory) {
    void *p;
    CUdeviceptr q;
    unsigned flags, type;
    OK(cuMemAllocHost(&p, 100));
    memset(p, 1, 100);
    OK(cuMemcpyHtoD(memory, p, 100));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)p));
    IS(type, CU_MEMORYTYPE_HOST);
    OK(cuMemFreeHost(p));
    OK(cuMemHostAlloc(&p, 100, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&q, p, 0));
    OK(cuMemHostGetFlags(&flags, p));
    IS(flags, CU_MEMHOSTALLOC_DEVICEMAP);
    OK(cuMemFreeHost(p));
    OK(cuMemHostRegister(host, BYTES, CU_MEMHOSTREGISTER_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&q, host, 0));
    OK(cuMemHostUnregister(host));
    OK(cuMemAllocManaged(&q, BYTES, CU_MEM_ATTACH_GLOBAL));
    ((unsigned *)(uintptr_t)q)[3] = 8;
    OK(cuMemcpyDtoH(back, q, BYTES));
    IS(back[3], 8);
#if CUDA_VERSION >= 13000
    CUmemLocation there = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    OK(cuMemPrefetchAsync(q, BYTES, there, 0, NULL));
    OK(cuMemAdvise(q, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, there));
#else
    CUmemLocation there = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    OK(cuMemPrefetchAsync(q, BYTES, device, NULL));
    OK(cuMemAdvise(q, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    OK(cuMemPrefetchAsync_v2(q, BYTES, there, 0, NULL));
    OK(cuMemAdvise_v2(q, BYTES, CU_MEM_ADVISE_SET_READ_MOSTLY, there));
#endif
    OK(cuStreamAttachMemAsync(NULL, q, 0, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemFree(q));
}

static void check_pools(void) {
    CUmemPoolProps properties;
    CUmemoryPool pool;
    CUmemAccessDesc access;
    CUdeviceptr p;
    CUipcMemHandle handle;
    CUipcEventHandle event_handle;
    cuuint64_t threshold = 0;
    memset(&properties, 0, sizeof properties);
    memset(&access, 0, sizeof access);
    OK(cuMemPoolCreate(&pool, &properties));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemPoolSetAccess(pool, &access, 1));
    OK(cuMemAllocAsync(&p, 64, NULL));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemAllocFromPoolAsync(&p, 64, pool, NULL));
    IS(cuIpcGetMemHandle(&handle, p), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuIpcGetEventHandle(&event_handle, NULL), CUDA_ERROR_NOT_SUPPORTED);
    IS(cuIpcCloseMemHandle(p), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemPoolTrimTo(pool, 0));
    OK(cuMemPoolDestroy(pool));
}

/* ---- bytes moved and filled ---- */

static void expect(CUdeviceptr memory, unsigned first, unsigned last) {
    OK(cuMemcpyDtoH(back, memory, BYTES));
    IS(back[0], first);
    IS(back[N - 1], last);
}

static void check_copies(CUdeviceptr a, CUdeviceptr b) {
    for (unsigned i = 0; i < N; i++)
        host[i] = i + 1;
    OK(cuMemcpyHtoD(a, host, BYTES));
    OK(cuMemcpyDtoD(b, a, BYTES));
    expect(b, 1, N);
    OK(cuMemsetD8(b, 0, BYTES));
    OK(cuMemcpyDtoDAsync(b, a, BYTES, NULL));
    memset(back, 0, BYTES);
    OK(cuMemcpyDtoHAsync(back, b, BYTES, NULL));
    IS(back[N - 1], N);
    OK(cuMemcpyHtoDAsync(b, host, 4, NULL));
    OK(cuMemcpy(b, a + 4, 4)); /* which side is whose is seen from the pointer */
    expect(b, 2, N);
    OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)back, a, BYTES, NULL));
    IS(back[0], 1);
    OK(cuMemcpyPeer(b, context, a, context, BYTES));
    expect(b, 1, N);
    OK(cuMemcpyPeerAsync(b, context, a + 4, context, 4, NULL));
    expect(b, 2, N);
    IS(cuMemcpyHtoD(a, host, BYTES + 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(back, 64, 4), CUDA_ERROR_INVALID_VALUE);
}

static void check_boxes(CUdeviceptr a, CUdeviceptr b) {
    enum { ROW = 40, X = 8, Y = 2, WIDTH = 12, HEIGHT = 3 };
    CUDA_MEMCPY2D flat;
    CUDA_MEMCPY3D deep;
    CUDA_MEMCPY3D_PEER peer;
    OK(cuMemsetD32(b, 0, N));
    memset(&flat, 0, sizeof flat);
    flat.srcMemoryType = CU_MEMORYTYPE_HOST;
    flat.srcHost = host;
    flat.srcPitch = ROW;
    flat.srcXInBytes = X;
    flat.srcY = Y;
    flat.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    flat.dstDevice = b;
    flat.dstPitch = WIDTH;
    flat.WidthInBytes = WIDTH;
    flat.Height = HEIGHT;
    OK(cuMemcpy2D(&flat));
    OK(cuMemcpy2DUnaligned(&flat));
    OK(cuMemcpy2DAsync(&flat, NULL));
    OK(cuMemcpyDtoH(back, b, BYTES));
    for (unsigned y = 0; y < HEIGHT; y++)
        for (unsigned x = 0; x < WIDTH / 4; x++)
            IS(back[y * (WIDTH / 4) + x], host[(Y + y) * (ROW / 4) + X / 4 + x]);
    IS(back[HEIGHT * WIDTH / 4], 0);
    flat.dstPitch = WIDTH - 4;
    IS(cuMemcpy2D(&flat), CUDA_ERROR_INVALID_VALUE);
    flat.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    flat.dstArray = (CUarray)&flat;
    IS(cuMemcpy2D(&flat), CUDA_ERROR_INVALID_HANDLE);
    memset(&deep, 0, sizeof deep);
    deep.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    deep.srcDevice = a;
    deep.srcPitch = 20;
    deep.srcHeight = 5;
    deep.srcXInBytes = 4;
    deep.srcY = 1;
    deep.srcZ = 1;
    deep.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    deep.dstDevice = b;
    deep.dstPitch = 8;
    deep.dstHeight = 2;
    deep.WidthInBytes = 8;
    deep.Height = 2;
    deep.Depth = 2;
    OK(cuMemcpy3D(&deep));
    OK(cuMemcpy3DAsync(&deep, NULL));
    OK(cuMemcpyDtoH(back, b, BYTES));
    for (unsigned z = 0; z < 2; z++)
        for (unsigned y = 0; y < 2; y++)
            for (unsigned x = 0; x < 2; x++)
                IS(back[(z * 2 + y) * 2 + x], host[((z + 1) * 5 + y + 1) * 5 + x + 1]);
    memset(&peer, 0, sizeof peer);
    memcpy(&peer, &deep, sizeof deep);
    peer.srcContext = peer.dstContext = context;
    peer.srcXInBytes = 0;
    OK(cuMemcpy3DPeer(&peer));
    OK(cuMemcpy3DPeerAsync(&peer, NULL));
    OK(cuMemcpyDtoH(back, b, 4));
    IS(back[0], host[30]);
}

static void check_fills(CUdeviceptr b) {
    OK(cuMemsetD8(b, 0x11, BYTES));
    expect(b, 0x11111111, 0x11111111);
    OK(cuMemsetD16(b, 0x2222, N * 2));
    expect(b, 0x22222222, 0x22222222);
    OK(cuMemsetD32(b, 0x33445566, N));
    expect(b, 0x33445566, 0x33445566);
    OK(cuMemsetD8Async(b, 1, 4, NULL));
    OK(cuMemsetD16Async(b + BYTES - 4, 2, 2, NULL));
    expect(b, 0x01010101, 0x00020002);
    OK(cuMemsetD32Async(b, 7, 1, NULL));
    expect(b, 7, 0x00020002);
    IS(cuMemsetD32(b + 2, 7, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemsetD32(b, 0, N));
    OK(cuMemsetD2D8(b, 40, 1, 4, 3));
    OK(cuMemsetD2D8Async(b + 4, 40, 2, 4, 3, NULL));
    OK(cuMemsetD2D16(b + 8, 40, 3, 2, 3));
    OK(cuMemsetD2D16Async(b + 12, 40, 4, 2, 3, NULL));
    OK(cuMemsetD2D32(b + 16, 40, 5, 1, 3));
    OK(cuMemsetD2D32Async(b + 20, 40, 6, 1, 3, NULL));
    OK(cuMemcpyDtoH(back, b, BYTES));
    static const unsigned row[10] = {0x01010101, 0x02020202, 0x00030003, 0x00040004, 5, 6, 0, 0, 0, 0};
    for (unsigned i = 0; i < 40; i++)
        IS(back[i], i < 30 ? row[i % 10] : 0);
}

static void check_memory(CUdeviceptr *a, CUdeviceptr *b) {
    CUdeviceptr p;
    size_t left, all, pitch;
    IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAlloc(&p, (size_t)1 << 60), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc(a, BYTES));
    OK(cuMemAlloc(b, BYTES));
    OK(cuMemGetInfo(&left, &all));
    IS(left < all, 1);
    OK(cuMemAllocPitch(&p, &pitch, 100, 7, 4));
    IS(pitch >= 100 && pitch % 256 == 0, 1);
    OK(cuMemFree(p));
    IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(0));
    check_pointers(*a);
    check_host_memory(*a);
    check_pools();
    check_copies(*a, *b);
    check_boxes(*a, *b);
    check_fills(*b);
}

/* ---- modules ---- */

struct fat {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_header_bytes;
    uint64_t entry_bytes;
    uint32_t packed_bytes, unused;
    uint16_t minor, major;
    uint32_t arch, name_offset, name_bytes;
    uint64_t flags, unused_too, raw_bytes;
    char text[(sizeof DRIVER_PTX + 7) / 8 * 8];
};

static struct fat fat_of(uint16_t kind) {
    struct fat fat = {.magic = 0xba55ed50,
                      .version = 1,
                      .header_bytes = 16,
                      .bytes = sizeof fat - 16,
                      .kind = kind,
                      .entry_version = 0x101,
                      .entry_header_bytes = 64,
                      .entry_bytes = sizeof fat.text,
                      .major = 7,
                      .minor = 5,
                      .arch = 75,
                      .flags = 0x11};
    memcpy(fat.text, DRIVER_PTX, sizeof DRIVER_PTX);
    return fat;
}

static void check_refused_modules(void) {
    enum { ROOM = 400 };
    static const char wrong[] = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nfrob;\n}\n";
    static char log[ROOM], info[ROOM];
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER,
                           CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_TARGET_FROM_CUCONTEXT};
    void *values[] = {log, (void *)ROOM, info, (void *)ROOM, NULL};
    CUmodule module;
    unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33, 7, [18] = 190, [48] = 80, [49] = 5, [50] = 80};
    const struct fat native = fat_of(2);
    memset(info, 1, sizeof info);
    IS(cuModuleLoadDataEx(&module, wrong, 5, keys, values), CUDA_ERROR_INVALID_PTX);
    IS(strstr(log, "k.ptx:6") != NULL, 1);
    IS((size_t)values[1], strlen(log) + 1);
    IS(info[0], 0);
    log[0] = 1;
    values[1] = (void *)8; /* no more than there is room for */
    IS(cuModuleLoadDataEx(&module, wrong, 2, keys, values), CUDA_ERROR_INVALID_PTX);
    IS(strlen(log), 7);
    IS(cuModuleLoadData(&module, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(cuModuleLoadData(&module, &native), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_PTX);
    IS(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
    values[1] = (void *)ROOM;
    IS(cuModuleLoadDataEx(&module, cubin, 2, keys, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(strstr(log, "sm_80 only") != NULL, 1);
    cubin[8] = 8, cubin[49] = 90; /* of another ABI, which has the architecture elsewhere */
    values[1] = (void *)ROOM;
    IS(cuModuleLoadDataEx(&module, cubin, 2, keys, values), CUDA_ERROR_NO_BINARY_FOR_GPU);
    IS(strstr(log, "sm_90 only") != NULL, 1);
    cubin[18] = 62;
    IS(cuModuleLoadData(&module, cubin), CUDA_ERROR_INVALID_IMAGE);
    IS(cuModuleLoad(&module, "/no/such/file"), CUDA_ERROR_FILE_NOT_FOUND);
}

static void check_libraries(const char *path) {
    CUlibrary library, of;
    CUmodule module;
    CUkernel kernel, all[9];
    CUfunction function;
    CUdeviceptr p;
    const char *name;
    size_t bytes, offset;
    unsigned count;
    int number;
    OK(cuLibraryLoadData(&library, DRIVER_PTX, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "add_step"));
    IS(cuLibraryGetKernel(&kernel, library, "none"), CUDA_ERROR_NOT_FOUND);
    OK(cuLibraryGetKernelCount(&count, library));
    IS(count, 4);
    OK(cuLibraryEnumerateKernels(all, 9, library));
    OK(cuLibraryGetModule(&module, library));
    OK(cuModuleGetFunction(&function, module, "add_step"));
    OK(cuLibraryGetGlobal(&p, &bytes, library, "table"));
    IS(bytes, 64);
    OK(cuLibraryGetManaged(&p, &bytes, library, "table"));
    OK(cuKernelGetFunction(&function, kernel));
    OK(cuKernelGetLibrary(&of, kernel));
    IS(of == library, 1);
    OK(cuKernelGetName(&name, kernel));
    IS(strcmp(name, "add_step"), 0);
    OK(cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
    IS(offset == 8 && bytes == 4, 1);
    OK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4096, kernel, device));
    OK(cuKernelGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, device));
    IS(number, 4096);
    OK(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, device));
    OK(cuLibraryUnload(library));
    IS(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    IS(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_HANDLE);
    OK(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryUnload(library));
}

static CUmodule check_modules(void) {
    char path[] = "/tmp/driver-XXXXXX";
    const struct fat fat = fat_of(1);
    const struct {
        uint32_t magic, version;
        const void *data;
        void *unused;
    } wrapper = {0x466243b1, 1, &fat, NULL};
    CUmodule module, other;
    CUmoduleLoadingMode mode;
    CUfunction function, all[9];
    CUdeviceptr p;
    size_t bytes, left, then;
    unsigned count;
    FILE *file = fdopen(mkstemp(path), "w");
    IS(file && fputs(DRIVER_PTX, file) >= 0 && fclose(file) == 0, 1);
    check_refused_modules();
    OK(cuMemGetInfo(&left, &bytes));
    OK(cuModuleLoad(&other, path));
    OK(cuModuleUnload(other));
    OK(cuModuleLoadFatBinary(&other, &fat));
    OK(cuModuleUnload(other));
    OK(cuModuleLoadData(&other, &wrapper));
    OK(cuModuleUnload(other));
    OK(cuModuleLoadData(&other, &fat));
    OK(cuModuleUnload(other));
    OK(cuMemGetInfo(&then, &bytes)); /* its variables were given back */
    IS(then, left);
    IS(cuModuleUnload(other), CUDA_ERROR_INVALID_HANDLE);
    check_libraries(path);
    unlink(path);
    OK(cuModuleLoadData(&module, DRIVER_PTX));
    OK(cuModuleGetLoadingMode(&mode));
    OK(cuModuleGetFunction(&function, module, "add_step"));
    OK(cuModuleGetFunctionCount(&count, module));
    IS(count, 4);
    OK(cuModuleEnumerateFunctions(all, 9, module));
    IS(all[0] == function || all[1] == function || all[2] == function || all[3] == function, 1);
    IS(cuModuleGetFunction(&function, module, "none"), CUDA_ERROR_NOT_FOUND);
    IS(cuModuleGetFunction(&function, (CUmodule)&fat, "none"), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleGetGlobal(&p, &bytes, module, "step"));
    IS(bytes, 4);
    OK(cuMemcpyDtoH(back, p, 4));
    IS(back[0], 3);
    IS(cuModuleGetGlobal(&p, &bytes, module, "none"), CUDA_ERROR_NOT_FOUND);
    return module;
}

/* Two files that are one program: a variable of the one is the other's. */
static void check_links(void) {
    static char first[] = ".version 7.5\n.target sm_75\n.address_size 64\n.extern .global .align 4 .u32 shared_one;\n"
                          ".visible .entry set_it(.param .u32 v)\n{\n.reg .b32 %r; .reg .b64 %rd;\n"
                          "ld.param.u32 %r, [v]; mov.u64 %rd, shared_one; st.global.u32 [%rd], %r; ret;\n}\n";
    static char second[] = ".version 7.5\n.target sm_75\n.address_size 64\n.visible .global .align 4 .u32 shared_one;\n"
                           ".visible .entry none()\n{\nret;\n}\n";
    char path[] = "/tmp/driver-XXXXXX", log[200] = "";
    CUjit_option keys[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *out;
    CUlinkState state;
    CUmodule module;
    CUfunction function;
    CUdeviceptr p;
    size_t bytes;
    unsigned value = 77;
    void *arguments[] = {&value};
    FILE *file = fdopen(mkstemp(path), "w");
    IS(file && fputs(second, file) >= 0 && fclose(file) == 0, 1);
    OK(cuLinkCreate(2, keys, values, &state));
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, first, sizeof first, "first", 0, NULL, NULL));
    OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    IS(cuLinkAddFile(state, CU_JIT_INPUT_LIBRARY, path, 0, NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    IS(strstr(log, "a library of the host") != NULL, 1);
    IS(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/no/such", 0, NULL, NULL), CUDA_ERROR_FILE_NOT_FOUND);
    OK(cuLinkComplete(state, &out, &bytes));
    IS(bytes, strlen(out) + 1);
    OK(cuModuleLoadData(&module, out));
    OK(cuLinkDestroy(state));
    IS(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    unlink(path);
    OK(cuModuleGetFunction(&function, module, "set_it"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    OK(cuModuleGetGlobal(&p, &bytes, module, "shared_one"));
    OK(cuMemcpyDtoH(back, p, 4));
    IS(back[0], 77);
    OK(cuModuleUnload(module));
}

/* ---- launches ---- */

static size_t shared_of(int threads) { return (size_t)threads * 4; }

static void check_kernels(CUfunction function, CUmodule module) {
    CUmodule of;
    CUfunctionLoadingState state;
    const char *name;
    size_t offset, bytes;
    int number, grid, block;
    OK(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    IS(number >= 256, 1);
    OK(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
    IS(number, 75);
    IS(cuFuncGetAttribute(&number, (CUfunction_attribute)99, function), CUDA_ERROR_INVALID_VALUE);
    IS(cuFuncGetAttribute(&number, CU_FUNC_ATTRIBUTE_NUM_REGS, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    IS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 30),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE);
    IS(cuFuncSetAttribute(function, (CUfunction_attribute)99, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_SHARED));
    OK(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
    OK(cuFuncGetName(&name, function));
    IS(strcmp(name, "add_step"), 0);
    OK(cuFuncGetParamInfo(function, 0, &offset, &bytes));
    IS(offset == 0 && bytes == 8, 1);
    OK(cuFuncGetModule(&of, function));
    IS(of == module, 1);
    OK(cuFuncLoad(function));
    OK(cuFuncIsLoaded(&state, function));
    IS(state, CU_FUNCTION_LOADING_STATE_LOADED);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&number, function, 128, 0));
    IS(number >= 1, 1);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&number, function, 128, 0, 0));
    OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 128));
    IS(bytes > 0, 1);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
    IS(grid >= 1 && block % 32 == 0 && block >= 32, 1);
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, function, shared_of, 0, 100, 0));
    IS(block <= 100, 1);
}

static void check_launches(CUmodule module, CUdeviceptr a) {
    enum { BLOCKS = 4 };
    CUfunction function, meet;
    unsigned n = N;
    void *arguments[] = {&a, &n};
    struct {
        CUdeviceptr p;
        unsigned n;
    } block = {a, N};
    size_t block_bytes = 12, too_few = 8;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &block_bytes,
                     CU_LAUNCH_PARAM_END};
    OK(cuModuleGetFunction(&function, module, "add_step"));
    OK(cuModuleGetFunction(&meet, module, "meet"));
    check_kernels(function, module);
    OK(cuMemcpyHtoD(a, host, BYTES));
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
    expect(a, 1 + 3, N + 3);
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, 256, 1, 1, 0, CU_STREAM_PER_THREAD, NULL, extra));
    expect(a, 1 + 6, N + 6);
    extra[3] = &too_few;
    IS(cuLaunchKernel(function, BLOCKS, 1, 1, 256, 1, 1, 0, NULL, NULL, extra), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(function, BLOCKS, 1, 1, 256, 1, 1, 0, NULL, arguments, extra), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(function, 0, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(NULL, 1, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    CUlaunchConfig how = {
        .gridDimX = BLOCKS, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1};
    OK(cuLaunchKernelEx(&how, function, arguments, NULL));
    expect(a, 1 + 9, N + 9);
    CUlaunchAttribute cluster;
    memset(&cluster, 0, sizeof cluster);
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.x = 2;
    cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    how.attrs = &cluster;
    how.numAttrs = 1;
    IS(cuLaunchKernelEx(&how, function, arguments, NULL), CUDA_ERROR_NOT_SUPPORTED);
    OK(cuMemsetD32(a, 0, 1));
    OK(cuLaunchCooperativeKernel(meet, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, arguments));
    expect(a, BLOCKS, N + 9);
    IS(cuLaunchCooperativeKernel(meet, 1 << 20, 1, 1, 1, 1, 1, 0, NULL, arguments),
       CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

/* ---- streams, events ---- */

static void called(void *data) { ++*(int *)data; }
static void called_back(CUstream stream, CUresult status, void *data) {
    (void)stream;
    *(int *)data += status == CUDA_SUCCESS ? 10 : 100;
}

static void check_streams(CUmodule module, CUdeviceptr a) {
    CUstream stream, second;
    CUevent from, to;
    CUcontext of;
    CUfunction function;
    CUdevice where;
    unsigned long long id;
    unsigned flags, n = N;
    int number = 0;
    float ms = -1;
    void *arguments[] = {&a, &n}, *found;
    CUresult (*of_both)(CUstream, CUcontext *, void **);
    OK(cuModuleGetFunction(&function, module, "add_step"));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreateWithPriority(&second, CU_STREAM_DEFAULT, -1));
    OK(cuEventCreate(&from, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&to, CU_EVENT_BLOCKING_SYNC));
    OK(cuEventRecord(from, stream));
    OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
    OK(cuEventRecordWithFlags(to, stream, 0));
    OK(cuStreamWaitEvent(second, to, 0));
    OK(cuEventSynchronize(to));
    OK(cuEventQuery(to));
    OK(cuEventElapsedTime(&ms, from, to));
    IS(ms > 0, 1);
    OK(cuLaunchHostFunc(stream, called, &number));
    OK(cuStreamAddCallback(stream, called_back, &number, 0));
    IS(number, 11);
    OK(cuStreamQuery(stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamGetFlags(stream, &flags));
    IS(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetPriority(second, &number));
    IS(number, -1);
    OK(cuStreamGetId(stream, &id));
    OK(cuStreamGetDevice(stream, &where));
    IS(where, device);
    OK(cuStreamGetCtx(stream, &of));
    IS(of == context, 1);
    found = named("cuStreamGetCtx", 12050);
    memcpy(&of_both, &found, sizeof found);
    OK(of_both(stream, &of, &found));
    IS(of == context && found == NULL, 1);
    CUstreamAttrValue priority;
    memset(&priority, 0, sizeof priority);
    OK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority));
    OK(cuStreamCopyAttributes(second, stream));
    OK(cuStreamDestroy(second));
    IS(cuStreamSynchronize(second), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(from));
    OK(cuEventDestroy(to));
    OK(cuStreamDestroy(stream));
    OK(cuProfilerStart());
    OK(cuProfilerStop());
    OK(cuCtxSynchronize());
}

/* ---- graphs ---- */

static void check_capture(CUfunction function, CUdeviceptr a) {
    CUstream stream;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUgraph graph, of;
    CUgraphExec executable;
    cuuint64_t id;
    unsigned n = N;
    void *arguments[] = {&a, &n}, *found = named("cuStreamGetCaptureInfo", 12000);
    CUresult (*info)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *);
    CUresult (*info_1)(CUstream, CUstreamCaptureStatus *, cuuint64_t *);
    CUresult (*info_3)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *, const CUgraphNode **, void *,
                       size_t *);
    const CUgraphNode *nodes;
    size_t count;
    memcpy(&info, &found, sizeof found);
    found = named("cuStreamGetCaptureInfo", 11000);
    memcpy(&info_1, &found, sizeof found);
    found = named("cuStreamGetCaptureInfo", 13000);
    memcpy(&info_3, &found, sizeof found);
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, NULL));
    OK(cuStreamIsCapturing(stream, &status));
    IS(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(info_1(stream, &status, &id));
    OK(info(stream, &status, &id, &of, &nodes, &count));
    IS(count, 1);
    OK(info_3(stream, &status, &id, &of, &nodes, NULL, &count));
    IS(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    OK(cuMemsetD32Async(a, 50, 1, stream));
    OK(cuStreamEndCapture(stream, &graph));
    expect(a, 1, N);
    OK(cuGraphInstantiate(&executable, graph, 0));
    OK(cuGraphUpload(executable, stream));
    OK(cuGraphLaunch(executable, stream));
    expect(a, 50, N + 3);
    OK(cuGraphExecDestroy(executable));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

static void check_nodes(CUfunction function, CUdeviceptr a, CUdeviceptr b) {
    CUgraph graph, clone, child;
    CUgraphNode kernel, fill, copy, call, sub, none, record, wait, nodes[16], from[16], to[16];
    CUgraphNodeType type;
    CUgraphExec executable, second;
    CUevent event;
    unsigned n = N;
    int number = 0, other = 0;
    size_t count = 16;
    void *arguments[] = {&a, &n}, *found;
    CUDA_KERNEL_NODE_PARAMS launch = {.func = function,
                                      .gridDimX = 4,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 256,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = arguments};
    CUDA_MEMSET_NODE_PARAMS set = {.dst = a, .value = 9, .elementSize = 4, .width = N, .height = 1};
    CUDA_HOST_NODE_PARAMS host_call = {called, &number};
    CUDA_MEMCPY3D move;
    CUDA_GRAPH_INSTANTIATE_PARAMS how;
    CUgraphExecUpdateResultInfo update;
    memset(&move, 0, sizeof move);
    move.srcMemoryType = move.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    move.srcDevice = a;
    move.dstDevice = b;
    move.WidthInBytes = BYTES;
    move.Height = move.Depth = 1;
    OK(cuEventCreate(&event, 0));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddEmptyNode(&none, child, NULL, 0));
    OK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, context));
    OK(cuGraphAddKernelNode(&kernel, graph, &fill, 1, &launch));
    OK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &move, context));
    OK(cuGraphAddHostNode(&call, graph, &copy, 1, &host_call));
    OK(cuGraphAddChildGraphNode(&sub, graph, &call, 1, child));
    OK(cuGraphAddEventRecordNode(&record, graph, NULL, 0, event));
    OK(cuGraphAddEventWaitNode(&wait, graph, NULL, 0, event));
#if CUDA_VERSION >= 13000
    OK(cuGraphAddDependencies(graph, &record, &wait, NULL, 1));
    OK(cuGraphGetEdges(graph, from, to, NULL, &count));
#else
    OK(cuGraphAddDependencies(graph, &record, &wait, 1));
    OK(cuGraphGetEdges(graph, from, to, &count));
#endif
    IS(count, 5);
    count = 16;
    OK(cuGraphGetNodes(graph, nodes, &count));
    IS(count, 7);
    count = 16;
    OK(cuGraphGetRootNodes(graph, nodes, &count));
    IS(count, 2);
    OK(cuGraphNodeGetType(kernel, &type));
    IS(type, CU_GRAPH_NODE_TYPE_KERNEL);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphNodeFindInClone(&none, kernel, clone));
    OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    OK(cuGraphLaunch(executable, NULL));
    expect(b, 9 + 3, 9 + 3);
    IS(number, 1);
    set.value = 20;
    OK(cuGraphMemsetNodeSetParams(fill, &set));
    host_call.userData = &other;
    OK(cuGraphHostNodeSetParams(call, &host_call));
    OK(cuGraphExecHostNodeSetParams(executable, call, &host_call));
    n = 1;
    OK(cuGraphKernelNodeSetParams(kernel, &launch));
    OK(cuGraphExecKernelNodeSetParams(executable, kernel, &launch));
    OK(cuGraphLaunch(executable, NULL));
    expect(b, 9 + 3, 9);
    IS(number == 1 && other == 1, 1);
    OK(cuGraphExecUpdate(executable, graph, &update));
    OK(cuGraphNodeSetEnabled(executable, kernel, 0));
    OK(cuGraphLaunch(executable, NULL));
    expect(b, 20, 20);
    memset(&how, 0, sizeof how);
    OK(cuGraphInstantiateWithParams(&second, graph, &how));
    OK(cuGraphExecDestroy(second));
    found = named("cuGraphInstantiate", 11000);
    CUresult (*instantiate)(CUgraphExec *, CUgraph, CUgraphNode *, char *, size_t);
    memcpy(&instantiate, &found, sizeof found);
    OK(instantiate(&second, graph, NULL, NULL, 0));
    OK(cuGraphExecDestroy(second));
    OK(cuGraphDestroyNode(wait));
    OK(cuGraphDestroy(clone));
    OK(cuGraphDestroy(child));
    OK(cuGraphExecDestroy(executable));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
}

static void check_graphs(CUmodule module, CUdeviceptr a, CUdeviceptr b) {
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, "add_step"));
    OK(cuMemcpyHtoD(a, host, BYTES));
    check_capture(function, a);
    check_nodes(function, a, b);
}

/* A graph whose module has gone. */
static void check_orphans(CUdeviceptr a) {
    CUmodule module;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec executable;
    unsigned n = 1;
    void *arguments[] = {&a, &n};
    CUDA_KERNEL_NODE_PARAMS launch = {
        .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    launch.kernelParams = arguments;
    OK(cuModuleLoadData(&module, DRIVER_PTX));
    OK(cuModuleGetFunction(&launch.func, module, "add_step"));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &launch));
    OK(cuGraphInstantiate(&executable, graph, 0));
    OK(cuModuleUnload(module));
    IS(cuGraphLaunch(executable, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(cuGraphExecDestroy(executable));
    OK(cuGraphDestroy(graph));
}

/* ---- faults: told by the next call, until the context ends ---- */

static void check_faults(CUmodule module) {
    CUfunction function;
    CUdeviceptr p = 64;
    void *arguments[] = {&p};
    int active;
    unsigned flags;
    OK(cuModuleGetFunction(&function, module, "wild"));
    OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
    OK(cuDevicePrimaryCtxReset(device));
    OK(cuMemAlloc(&p, 4));
    IS(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE); /* it went with its context */
    OK(cuDevicePrimaryCtxRelease(device));
    OK(cuDevicePrimaryCtxGetState(device, &flags, &active));
    IS(active, 0);
    IS(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    IS(cuDevicePrimaryCtxRelease(device), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuMemAlloc(&p, 4));
}

int main(void) {
    CUdeviceptr a, b;
    check_device();
    check_names();
    check_contexts();
    check_memory(&a, &b);
    const CUmodule module = check_modules();
    check_links();
    check_launches(module, a);
    check_streams(module, a);
    check_graphs(module, a, b);
    check_orphans(a);
    check_faults(module);
    puts("right");
    return 0;
}
