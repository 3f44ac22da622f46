/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of CUDA's runtime that is there, as a program calls it; in order, each leaves what the next ones find. */
#include "program.h"

enum { N = 1000, BYTES = N * 4, HTOH = 0, HTOD = 1, DTOH = 2, DTOD = 3, DEFAULT = 4, INVALID = 1 };

static unsigned host[N], back[N];

/* ---- the device ---- */

static void check_properties(void) {
    enum { SIZE_11 = 728, SIZE_12 = 1032, SIZE_13 = 1008, ROOM = 2048 };
    static unsigned char about[ROOM];
    const size_t bytes = CUDA == 13 ? SIZE_13 : SIZE_11;
    int sms = 0, warp;
    memset(about, 0xee, sizeof about);
    OK(cudaGetDeviceProperties(about, 0));
    IS(about[bytes - 1] != 0xee, 1); /* all of it, and nothing behind it */
    IS(about[bytes], 0xee);
    IS(memcmp(about, "Heddle ", 7), 0);
#if CUDA == 12
    memset(about, 0xee, sizeof about);
    OK(cudaGetDeviceProperties_v2(about, 0));
    IS(about[SIZE_12 - 1] != 0xee, 1);
    IS(about[SIZE_12], 0xee);
#endif
    memcpy(&warp, about + 308, 4); /* behind the name, two identifiers, a mask, two sizes and a number */
    IS(warp, 32);
    memcpy(&sms, about + (CUDA == 13 ? 384 : 388), 4);
    OK(cudaDeviceGetAttribute(&warp, 16, 0));
    IS(sms, warp);
    OK(cudaDeviceGetAttribute(&warp, 10, 0));
    IS(warp, 32);
    OK(cudaDeviceGetAttribute(&warp, 5, 0));
    IS(warp, 0x7fffffff);
    IS(cudaDeviceGetAttribute(&warp, 5, 1), 101);
    IS(cudaDeviceGetAttribute(&warp, 100000, 0), INVALID);
    IS(cudaGetDeviceProperties(about, 7), 101);
}

static void check_device(void) {
    int number = -1, greatest = 1;
    unsigned flags;
    size_t bytes;
    char text[64];
    OK(cudaGetDeviceCount(&number));
    IS(number, 1);
    OK(cudaSetDevice(0));
    IS(cudaSetDevice(1), 101);
    IS(cudaPeekAtLastError(), 101);
    IS(cudaGetLastError(), 101);
    OK(cudaGetLastError());
    OK(cudaGetDevice(&number));
    IS(number, 0);
    OK(cudaInitDevice(0, 0, 0));
    OK(cudaSetValidDevices(&number, 1));
    OK(cudaChooseDevice(&number, text));
    OK(cudaSetDeviceFlags(8));
    OK(cudaGetDeviceFlags(&flags));
    IS(flags, 8);
    OK(cudaDeviceSynchronize());
#if CUDA <= 12
    OK(cudaThreadSynchronize());
#endif
    OK(cudaCtxResetPersistingL2Cache());
    OK(cudaProfilerStart());
    OK(cudaProfilerStop());
    OK(cudaDeviceGetLimit(&bytes, 0));
    OK(cudaDeviceSetLimit(0, bytes));
    IS(cudaDeviceSetLimit(0, bytes << 20), INVALID);
    IS(cudaDeviceGetLimit(&bytes, 99), 215);
    OK(cudaDeviceGetCacheConfig(&number));
    OK(cudaDeviceSetCacheConfig(1));
    OK(cudaDeviceGetSharedMemConfig(&number));
    OK(cudaDeviceSetSharedMemConfig(1));
    OK(cudaDeviceGetStreamPriorityRange(&number, &greatest));
    IS(greatest <= number, 1);
    OK(cudaDeviceCanAccessPeer(&number, 0, 0));
    IS(number, 0);
    IS(cudaDeviceCanAccessPeer(&number, 0, 1), 101);
    IS(cudaDeviceEnablePeerAccess(1, 0), 101);
    IS(cudaDeviceDisablePeerAccess(1), 705);
    IS(cudaDeviceGetP2PAttribute(&number, 1, 0, 1), 101);
    IS(cudaIpcGetMemHandle(text, NULL), 801);
    IS(cudaIpcGetEventHandle(text, NULL), 801);
    IS(cudaIpcCloseMemHandle(NULL), 801);
    OK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
    OK(cudaDeviceGetByPCIBusId(&number, text));
    OK(cudaRuntimeGetVersion(&number));
    IS(number / 1000, CUDA);
    OK(cudaDriverGetVersion(&number));
    IS(number >= CUDA * 1000, 1);
    IS(strcmp(cudaGetErrorName(700), "cudaErrorIllegalAddress"), 0);
    IS(strcmp(cudaGetErrorString(2), "out of memory"), 0);
    IS(strcmp(cudaGetErrorString(12345), "unrecognized error code"), 0);
    cudaGetLastError();
}

/* ---- memory ---- */

static void check_memory(unsigned *device) {
    struct {
        int type, device;
        void *on_device, *on_host;
        long more[16];
    } about;
    size_t left, all, pitch;
    unsigned flags;
    void *pool, *p, *q;
    IS(cudaMalloc(NULL, 4), INVALID);
    IS(cudaMalloc(&p, (size_t)1 << 60), 2);
    OK(cudaMemGetInfo(&left, &all));
    IS(left < all, 1);
    OK(cudaMallocPitch(&p, &pitch, 100, 7));
    IS(pitch >= 100 && pitch % 256 == 0, 1);
    OK(cudaFree(p));
    IS(cudaFree(p), INVALID);
    OK(cudaFree(NULL));
    OK(cudaMallocHost(&p, 100));
    memset(p, 1, 100);
    OK(cudaHostGetFlags(&flags, p));
    OK(cudaHostGetDevicePointer(&q, p, 0));
    IS(p == q, 1);
    OK(cudaFreeHost(p));
    OK(cudaHostAlloc(&p, 100, 2));
    OK(cudaPointerGetAttributes(&about, p));
    IS(about.type, 1);
    OK(cudaFreeHost(p));
    OK(cudaHostRegister(host, BYTES, 0));
    IS(cudaHostRegister(host, BYTES, 0), 712);
    OK(cudaHostGetDevicePointer(&q, host + 5, 0));
    OK(cudaPointerGetAttributes(&about, host + 5));
    IS(about.on_device == q && about.on_host == host + 5, 1);
    OK(cudaHostUnregister(host));
    IS(cudaHostUnregister(host), 713);
    OK(cudaPointerGetAttributes(&about, device));
    IS(about.type == 2 && about.device == 0 && about.on_device == device, 1);
    OK(cudaPointerGetAttributes(&about, host));
    IS(about.type, 0);
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaDeviceGetMemPool(&pool, 0));
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaMemPoolCreate(&pool, &about));
    OK(cudaMemPoolSetAttribute(pool, 4, &left));
    OK(cudaMemPoolSetAccess(pool, &about, 1));
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaMallocFromPoolAsync(&p, 100, pool, NULL));
    OK(cudaFreeAsync(p, NULL));
    OK(cudaMallocAsync(&p, 100, NULL));
    OK(cudaFree(p));
    OK(cudaMemPoolDestroy(pool));
    IS(cudaMemPoolDestroy(&left), INVALID);
    OK(cudaMallocManaged(&p, 400, 1));
    OK(cudaPointerGetAttributes(&about, p));
    IS(about.type, 3);
#if CUDA == 13
    OK(cudaMemPrefetchAsync(p, 400, (struct location){1, 0}, 0, NULL));
    OK(cudaMemAdvise(p, 400, 1, (struct location){1, 0}));
    IS(cudaMemAdvise(host, 400, 1, (struct location){1, 0}), INVALID);
#else
    OK(cudaMemPrefetchAsync(p, 400, 0, NULL));
    OK(cudaMemAdvise(p, 400, 1, 0));
    IS(cudaMemPrefetchAsync(host, 400, 0, NULL), INVALID);
#endif
#if CUDA == 12
    OK(cudaMemPrefetchAsync_v2(p, 400, (struct location){1, 0}, 0, NULL));
    OK(cudaMemAdvise_v2(p, 400, 1, (struct location){1, 0}));
#endif
    OK(cudaStreamAttachMemAsync(NULL, p, 400, 4));
    OK(cudaFree(p));
}

static void expect(unsigned first, unsigned value) { IS(back[first], value); }

static void check_copies(unsigned *device) {
    struct pitched cube;
    const struct extent extent = {40, 5, 4};
    for (unsigned i = 0; i < N; i++)
        host[i] = i;
    OK(cudaMemcpy(device, host, BYTES, HTOD));
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    IS(memcmp(host, back, BYTES), 0);
    OK(cudaMemcpy_ptds(back, device, BYTES, DEFAULT));
    OK(cudaMemcpyAsync(device + 10, device, 40, DTOD, NULL));
    OK(cudaMemcpyPeer(device + 20, 0, device, 0, 40));
    OK(cudaMemcpyPeerAsync(device + 30, 0, device, 0, 40, NULL));
    IS(cudaMemcpyPeer(device, 1, device, 0, 40), 101);
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    expect(13, 3), expect(24, 4), expect(35, 5), expect(45, 45);
    IS(cudaMemcpy(device, host, BYTES, 9), 21);
    IS(cudaMemcpy(device, host, BYTES + 4, HTOD), INVALID);
    IS(cudaMemcpy(host, back, BYTES, DTOH), INVALID);
    OK(cudaMemcpy(host, host, 0, HTOH));
    OK(cudaMemcpy2D(device, 40, host, 80, 20, 10, HTOD));
    IS(cudaMemcpy2D(device, 10, host, 80, 20, 10, HTOD), 12);
    OK(cudaMemcpy2DAsync(back, 20, device, 40, 20, 10, DTOH, NULL));
    expect(5, 20), expect(49, 184);
    OK(cudaMalloc3D(&cube, extent));
    struct copy3d how = {.from = {.memory = {host, 40, 10, 5}}, .to = {.memory = cube}, .extent = extent, .kind = HTOD};
    OK(cudaMemcpy3D(&how));
    how = (struct copy3d){.from = {.x = 4, .y = 1, .z = 2, .memory = cube},
                          .to = {.memory = {back, 36, 9, 4}},
                          .extent = {36, 4, 2},
                          .kind = DTOH};
    OK(cudaMemcpy3DAsync(&how, NULL));
    expect(0, 2 * 50 + 10 + 1), expect(9 * 4 + 9 * 3 + 8, 3 * 50 + 40 + 9);
    struct copy3d_peer peer = {.from = {.memory = cube}, .to = {.memory = cube}, .extent = {4, 1, 1}};
    OK(cudaMemcpy3DPeer(&peer));
    OK(cudaMemcpy3DPeerAsync(&peer, NULL));
    OK(cudaMemset3D(cube, 1, (struct extent){40, 5, 2}));
    OK(cudaMemset3DAsync(cube, 2, (struct extent){4, 1, 1}, NULL));
    OK(cudaMemcpy2D(back, 40, cube.data, cube.pitch, 40, 20, DTOH));
    expect(0, 0x02020202), expect(1, 0x01010101), expect(99, 0x01010101), expect(100, host[100]);
    OK(cudaFree(cube.data));
    OK(cudaMemset(device, 255, BYTES));
    OK(cudaMemsetAsync(device, 0, 4, NULL));
    OK(cudaMemset2D(device + 10, 40, 3, 4, 5));
    OK(cudaMemset2DAsync(device + 11, 40, 4, 4, 5, NULL));
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    expect(0, 0), expect(1, ~0u), expect(50, 0x03030303), expect(51, 0x04040404), expect(60, ~0u);
    IS(cudaMemset(host, 0, 4), INVALID);
}

static void check_symbols(void) {
    unsigned values[16], three = 3;
    size_t bytes = 0;
    void *p = NULL;
    for (unsigned i = 0; i < 16; i++)
        values[i] = 100 + i;
    OK(cudaMemcpyToSymbol(table, values, sizeof values, 0, HTOD));
    OK(cudaMemcpyToSymbolAsync(table, &three, 4, 8, HTOD, NULL));
    OK(cudaMemcpyFromSymbol(back, table, 64, 0, DTOH));
    expect(0, 100), expect(2, 3), expect(15, 115);
    OK(cudaMemcpyFromSymbolAsync(back, table, 4, 8, DTOH, NULL));
    expect(0, 3);
    IS(cudaMemcpyToSymbol(table, values, 64, 4, HTOD), INVALID);
    IS(cudaMemcpyToSymbol(host, values, 4, 0, HTOD), 13);
    OK(cudaGetSymbolAddress(&p, table));
    OK(cudaGetSymbolSize(&bytes, table));
    IS(bytes, 64);
    OK(cudaMemcpy(back, p, 4, DTOH));
    expect(0, 100);
    IS(*counter, 5); /* managed: set before main */
}

/* ---- kernels ---- */

static void check_kernels(unsigned *device) {
    struct {
        size_t sizes[3];
        int numbers[7 + 6 + 16 + 1];
        int behind;
    } about = {.behind = 77};
    unsigned n = N, one = 1;
    int blocks = 0;
    size_t bytes = 0, offset;
    const char *name = NULL;
    void *kernel = NULL, *function = address(add_step), *arguments[] = {&device, &n}, *by[] = {&one};
    const struct configuration how = {.grid = {4, 1, 1}, .block = {256, 1, 1}};
    OK(cudaMemset(device, 0, BYTES));
    OK(cudaMemcpyToSymbol(step, &one, 4, 0, HTOD));
    OK(launch(add_step, 4, 256, arguments, NULL));
    OK(cudaLaunchKernel(function, (struct dim3){4, 1, 1}, (struct dim3){256, 1, 1}, arguments, 0, NULL));
    OK(cudaLaunchKernel_ptsz(function, (struct dim3){4, 1, 1}, (struct dim3){256, 1, 1}, arguments, 0, NULL));
    OK(cudaLaunchCooperativeKernel(function, (struct dim3){4, 1, 1}, (struct dim3){256, 1, 1}, arguments, 0, NULL));
    IS(cudaLaunchCooperativeKernel(function, (struct dim3){9999, 1, 1}, (struct dim3){256, 1, 1}, arguments, 0, NULL),
       720);
    OK(cudaLaunchKernelExC(&how, function, arguments));
    const struct attribute cooperative = {.id = 2, .value = {1}},
                           cluster = {.id = 4, .value = {[0] = 2, [4] = 1, [8] = 1}};
    struct configuration together = {
        .grid = {8, 1, 1}, .block = {1, 1, 1}, .attributes = &cooperative, .attribute_count = 1};
    OK(cudaLaunchCooperativeKernel(address(meet), (struct dim3){8, 1, 1}, (struct dim3){1, 1, 1}, arguments, 0, NULL));
    OK(cudaLaunchKernelExC(&together, address(meet), arguments));
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    expect(0, 5 + 16), expect(1, 5);
    OK(cudaMemset(device, 5, 1));
    OK(cudaMemset((char *)device + 1, 0, 3));
    together.attributes = &cluster;
    IS(cudaLaunchKernelExC(&together, address(meet), arguments), 801);
    OK(cudaGetKernel(&kernel, function));
    OK(cudaGetFuncBySymbol(&kernel, function));
    OK(__cudaLaunchKernel(kernel, (struct dim3){4, 1, 1}, (struct dim3){256, 1, 1}, arguments, 0, NULL));
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    expect(0, 6), expect(N - 1, 6);
    OK(launch(count, 3, 2, by, NULL));
    IS(*counter, 5 + 6);
    IS(launch(add_step, 0, 256, arguments, NULL), 9);
    IS(launch(add_step, 1, 2000, arguments, NULL), 9);
    IS(cudaLaunchKernel(function, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, arguments, 1 << 28, NULL), INVALID);
    IS(cudaLaunchKernel(host, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, arguments, 0, NULL), 98);
    OK(cudaFuncGetAttributes(&about, function));
    IS(about.numbers[0] >= 512 && about.numbers[1] > 0, 1);
    IS(about.behind, 77);
    OK(cudaFuncSetAttribute(function, 8, 1024));
    IS(cudaFuncSetAttribute(function, 8, 1 << 28), INVALID);
    OK(cudaFuncSetCacheConfig(function, 1));
    OK(cudaFuncSetSharedMemConfig(function, 1));
    OK(cudaFuncGetName(&name, function));
    IS(strcmp(name, "add_step"), 0);
    OK(cudaFuncGetParamInfo(function, 1, &offset, &bytes));
    IS(offset == 8 && bytes == 4, 1);
    IS(cudaFuncGetParamInfo(function, 2, &offset, &bytes), INVALID);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    IS(blocks >= 1, 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, function, 256, 0, 0));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, function, 1, 256));
    IS(bytes >= 16384, 1);
    __cudaRegisterHostVar(module_handle, "nothing", (char *)host, 4);
    IS(__cudaInitManagedRt(module_handle), 1);
    cudaGetLastError();
}

/* ---- streams and events ---- */

static void called(void *data) { ++*(unsigned *)data; }
static void called_back(void *stream, int status, void *data) {
    (void)stream;
    *(unsigned *)data += status == 0;
}

static void check_streams(unsigned *device) {
    void *stream, *other, *event, *later, *untimed;
    unsigned flags, calls = 0, n = N;
    unsigned long long id = 0, id_too = 0;
    int number;
    float ms = -1;
    void *arguments[] = {&device, &n};
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreateWithFlags(&other, 1));
    OK(cudaStreamGetFlags(other, &flags));
    IS(flags, 1);
    OK(cudaStreamDestroy(other));
    IS(cudaStreamQuery(other), 400);
    OK(cudaStreamCreateWithPriority(&other, 0, -2));
    OK(cudaStreamGetPriority(other, &number));
    IS(number, -2);
    OK(cudaStreamGetId(stream, &id));
    OK(cudaStreamGetId(other, &id_too));
    IS(id != id_too, 1);
    OK(cudaStreamGetDevice(stream, &number));
    OK(cudaStreamSetAttribute(stream, 1, &number));
    OK(cudaStreamCopyAttributes(stream, other));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&later));
    OK(cudaEventCreateWithFlags(&untimed, 2));
    IS(cudaEventElapsedTime(&ms, event, later), 400);
    OK(cudaEventRecord(event, stream));
    OK(launch(add_step, 4, 256, arguments, stream));
    OK(cudaEventRecordWithFlags(later, stream, 0));
    OK(cudaEventRecord(untimed, stream));
    OK(cudaStreamWaitEvent(other, later, 0));
    OK(cudaEventSynchronize(later));
    OK(cudaEventQuery(later));
    OK(cudaEventElapsedTime(&ms, event, later));
    IS(ms > 0 && ms < 1, 1); /* simulated time */
    IS(cudaEventElapsedTime(&ms, event, untimed), 400);
#if CUDA == 12
    OK(cudaEventElapsedTime_v2(&ms, event, later));
#endif
    OK(cudaLaunchHostFunc(stream, called, &calls));
    OK(cudaStreamAddCallback(stream, called_back, &calls, 0));
    OK(cudaStreamSynchronize(stream));
    IS(calls, 2);
    OK(cudaStreamQuery(NULL));
    OK(cudaStreamSynchronize((void *)2));
    OK(cudaEventDestroy(event));
    IS(cudaEventDestroy(event), 400);
    OK(cudaStreamDestroy(stream));
    cudaGetLastError();
}

/* ---- graphs ---- */

static void *instantiate(void *graph) {
    void *out = NULL;
#if CUDA == 11
    OK(cudaGraphInstantiate(&out, graph, NULL, NULL, 0));
#else
    OK(cudaGraphInstantiate(&out, graph, 0));
#endif
    return out;
}

static void check_capture(unsigned *device) {
    void *stream, *other, *event, *joined, *graph = NULL, *exec;
    unsigned n = N, calls = 0;
    unsigned long long number;
    int is = -1, mode = 1;
    void *arguments[] = {&device, &n};
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreate(&other));
    OK(cudaEventCreate(&event));
    OK(cudaEventCreate(&joined));
    OK(cudaThreadExchangeStreamCaptureMode(&mode));
    IS(mode, 0);
    IS(cudaStreamBeginCapture(NULL, 0), 900);
    OK(cudaStreamBeginCapture(stream, 0));
    IS(cudaStreamBeginCapture(stream, 0), 401);
    OK(cudaMemsetAsync(device, 0, BYTES, stream));
    OK(cudaEventRecord(event, stream));
    OK(cudaStreamWaitEvent(other, event, 0));
    OK(launch(add_step, 4, 256, arguments, other));
    OK(cudaEventRecord(joined, other));
    OK(cudaLaunchHostFunc(stream, called, &calls));
    OK(cudaStreamWaitEvent(stream, joined, 0));
    OK(launch(add_step, 4, 256, arguments, stream));
    OK(cudaStreamIsCapturing(stream, &is));
    IS(is, 1);
    IS(cudaStreamSynchronize(stream), 900);
    IS(cudaEventQuery(joined), 907);
#if CUDA == 13
    void *in = NULL;
    const void **needs, *edges;
    size_t count_of;
    OK(cudaStreamGetCaptureInfo(stream, &is, &number, &in, &needs, &edges, &count_of));
    IS(in != NULL && count_of >= 1, 1);
#else
    OK(cudaStreamGetCaptureInfo(stream, &is, &number));
    void *in = NULL;
    const void **needs;
    size_t count_of;
    OK(cudaStreamGetCaptureInfo_v2(stream, &is, &number, &in, &needs, &count_of));
    IS(in != NULL && count_of >= 1, 1);
#endif
#if CUDA == 12
    const void *edges;
    OK(cudaStreamGetCaptureInfo_v3(stream, &is, &number, &in, &needs, &edges, &count_of));
#endif
    IS(cudaStreamEndCapture(other, &graph), 903);
    OK(cudaStreamEndCapture(stream, &graph));
    IS(calls, 0);
    OK(cudaGraphGetNodes(graph, NULL, &count_of));
    IS(count_of, 4); /* waiting adds none */
    exec = instantiate(graph);
    OK(cudaGraphUpload(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphLaunch(exec, stream));
    IS(calls, 2);
    OK(cudaMemcpy(back, device, BYTES, DTOH));
    expect(0, 2), expect(N - 1, 2);
#if CUDA == 11
    OK(cudaGraphExecUpdate(exec, graph, NULL, &is));
#else
    struct {
        int result;
        void *node, *from;
    } result;
    OK(cudaGraphExecUpdate(exec, graph, &result));
#endif
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cudaGraphExecDestroy(exec));
    struct {
        unsigned long long flags;
        void *stream, *wrong;
        int result;
    } params = {0};
    OK(cudaGraphInstantiateWithParams(&exec, graph, &params));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    cudaGetLastError();
}

static void check_nodes(unsigned *device) {
    void *graph, *child, *clone, *exec, *event, *fill, *kernel, *copy, *call, *back_node, *node, *nodes[16], *from[16],
        *to[16];
    unsigned n = N, calls = 0, three = 3, five = 5;
    size_t count_of = 16;
    int type = -1;
    void *arguments[] = {&device, &n};
    struct kernel_params launch_it = {
        .function = address(add_step), .grid = {4, 1, 1}, .block = {256, 1, 1}, .arguments = arguments};
    struct fill_params with = {.to = device, .value = 7, .element_bytes = 4, .width = N, .height = 1};
    const struct call_params to_call = {called, &calls};
    struct copy3d box = {.from = {.memory = {device, BYTES, N, 1}},
                         .to = {.memory = {back, BYTES, N, 1}},
                         .extent = {BYTES, 1, 1},
                         .kind = DTOH};
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphCreate(&child, 0));
    OK(cudaEventCreate(&event));
    OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &with));
    OK(cudaGraphAddMemcpyNodeToSymbol(&copy, graph, NULL, 0, step, &three, 4, 0, HTOD));
    OK(cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &launch_it));
#if CUDA == 13
    OK(cudaGraphAddDependencies(graph, (void *[]){fill, copy}, (void *[]){kernel, kernel}, NULL, 2));
#elif CUDA == 12
    OK(cudaGraphAddDependencies(graph, &fill, &kernel, 1));
    OK(cudaGraphAddDependencies_v2(graph, &copy, &kernel, NULL, 1));
#else
    OK(cudaGraphAddDependencies(graph, (void *[]){fill, copy}, (void *[]){kernel, kernel}, 2));
#endif
    OK(cudaGraphAddMemcpyNode1D(&back_node, graph, &kernel, 1, back, device, BYTES, DTOH));
    OK(cudaGraphAddHostNode(&call, graph, &back_node, 1, &to_call));
    OK(cudaGraphAddEmptyNode(&node, graph, &call, 1));
    OK(cudaGraphAddEventRecordNode(&node, graph, &node, 1, event));
    OK(cudaGraphAddEventWaitNode(&node, graph, &node, 1, event));
    OK(cudaGraphAddMemcpyNode(&node, child, NULL, 0, &box));
    OK(cudaGraphAddChildGraphNode(&node, graph, &call, 1, child));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, &call, 1, back, step, 4, 0, DTOH));
    OK(cudaGraphDestroyNode(node));
    OK(cudaGraphNodeGetType(kernel, &type));
    IS(type, 0);
    OK(cudaGraphGetNodes(graph, nodes, &count_of));
    IS(count_of, 9);
    count_of = 16;
    OK(cudaGraphGetRootNodes(graph, nodes, &count_of));
    IS(count_of, 2);
    count_of = 16;
#if CUDA == 13
    OK(cudaGraphGetEdges(graph, from, to, NULL, &count_of));
#else
    OK(cudaGraphGetEdges(graph, from, to, &count_of));
#endif
    IS(count_of, 8);
    exec = instantiate(graph);
    OK(cudaGraphLaunch(exec, NULL));
    expect(0, 10), expect(N - 1, 10);
    IS(calls, 1);
    OK(cudaEventQuery(event));
    with.value = 20;
    OK(cudaGraphExecMemsetNodeSetParams(exec, fill, &with));
    launch_it.grid.x = 1;
    OK(cudaGraphExecKernelNodeSetParams(exec, kernel, &launch_it));
    OK(cudaGraphExecMemcpyNodeSetParams1D(exec, back_node, back, device, BYTES, DTOH));
    OK(cudaGraphExecMemcpyNodeSetParams(exec, back_node, &box));
    OK(cudaGraphExecHostNodeSetParams(exec, call, &to_call));
    OK(cudaGraphNodeSetEnabled(exec, call, 0));
    OK(cudaGraphLaunch(exec, NULL));
    expect(0, 23), expect(N - 1, 20);
    IS(calls, 1);
    OK(cudaGraphMemsetNodeSetParams(fill, &with));
    OK(cudaGraphKernelNodeSetParams(kernel, &launch_it));
    OK(cudaGraphMemcpyNodeSetParams(back_node, &box));
    OK(cudaGraphMemcpyNodeSetParams1D(copy, device, &five, 4, HTOD));
    OK(cudaGraphHostNodeSetParams(call, &to_call));
    OK(cudaGraphClone(&clone, graph));
    OK(cudaGraphNodeFindInClone(&node, kernel, clone));
    OK(cudaGraphDestroy(clone));
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(child));
    OK(cudaGraphDestroy(graph));
    OK(cudaMemcpyToSymbol(step, (unsigned[]){1}, 4, 0, HTOD));
}

int main(void) {
    void *device = NULL;
    check_device();
    check_properties();
    OK(cudaMalloc(&device, BYTES));
    check_memory(device);
    check_copies(device);
    check_symbols();
    check_kernels(device);
    check_streams(device);
    check_capture(device);
    check_nodes(device);
    OK(cudaFree(device));
    IS(cudaGraphicsMapResources(0, NULL, NULL), 801); /* not there, and says so */
    IS(cudaGraphicsMapResources(0, NULL, NULL), 801);
    OK(cudaDeviceReset());
#if CUDA <= 12
    OK(cudaThreadExit());
#endif
    IS(*counter, 5); /* as the program begins */
    puts("right");
    return 0;
}
