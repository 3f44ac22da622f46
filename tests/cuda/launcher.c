/* SPDX-License-Identifier: Apache-2.0 */
/* Does what Triton's launcher does: the driver by dlopen and cuGetProcAddress, PTX through ptxas (TRITON_PTXAS_PATH), the outcome by
 * cuModuleLoadData in the primary context, shared memory by cuFuncSetAttribute, the launch by cuLaunchKernelEx with attributes. The
 * kernel sums rows in shared memory that is sized at the launch; the host sums them too. */
#include "driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The names that it asks for, each with the version whose interface it knows. */
#define NAMES(DO)                                                                                                      \
    DO(cuInit, 2000)                                                                                                   \
    DO(cuDeviceGet, 2000)                                                                                              \
    DO(cuDeviceGetAttribute, 2000)                                                                                     \
    DO(cuCtxGetCurrent, 4000)                                                                                          \
    DO(cuCtxSetCurrent, 4000)                                                                                          \
    DO(cuDevicePrimaryCtxRetain, 7000)                                                                                 \
    DO(cuModuleLoadData, 2000)                                                                                         \
    DO(cuModuleGetFunction, 2000)                                                                                      \
    DO(cuFuncGetAttribute, 2020)                                                                                       \
    DO(cuFuncSetAttribute, 9000)                                                                                       \
    DO(cuFuncSetCacheConfig, 3000)                                                                                     \
    DO(cuMemAlloc, 3020)                                                                                               \
    DO(cuMemcpyHtoD, 3020)                                                                                             \
    DO(cuMemcpyDtoH, 3020)                                                                                             \
    DO(cuPointerGetAttribute, 4000)                                                                                    \
    DO(cuStreamCreate, 2000)                                                                                           \
    DO(cuStreamSynchronize, 2000)                                                                                      \
    DO(cuLaunchKernelEx, 11060)                                                                                        \
    DO(cuGetErrorString, 6000)
#define DECLARE(name, version) static __typeof__(&name) p_##name;
NAMES(DECLARE)

static void find_names(void) {
    CUresult (*find)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
    CUdriverProcAddressQueryResult status;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY), *found;
    if (!library) {
        printf("%s\n", dlerror());
        exit(1);
    }
    *(void **)&find = dlsym(library, "cuGetProcAddress_v2");
    IS(find != NULL, 1);
#define FIND(name, version)                                                                                            \
    OK(find(#name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));                                            \
    IS(status, CU_GET_PROC_ADDRESS_SUCCESS);                                                                           \
    memcpy(&p_##name, &found, sizeof found);
    NAMES(FIND)
    OK(find("cuNoSuchName", &found, 12000, 0, &status));
    IS(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    IS(found == NULL, 1);
}

/* A row of `width` numbers for each program; a thread takes every 128th. */
static const char kernel_text[] =
    ".version 8.4\n.target sm_75\n.address_size 64\n"
    ".extern .shared .align 16 .b8 global_smem[];\n"
    ".visible .entry row_sum(.param .u64 .ptr .global .align 1 row_sum_0, .param .u64 .ptr .global .align 1 "
    "row_sum_1,\n"
    " .param .u32 row_sum_2, .param .u64 .ptr .global .align 1 row_sum_3)\n.reqntid 128\n{\n"
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<8>; .reg .b64 %rd<12>;\n"
    ".loc 1 10 0\n"
    "ld.param.b64 %rd1, [row_sum_0]; ld.param.b64 %rd2, [row_sum_1]; ld.param.b32 %r1, [row_sum_2];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mul.lo.s32 %r4, %r2, %r1;\n"
    "mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
    "mov.f32 %f1, 0f00000000; mov.u32 %r5, %r3;\n"
    "$L1: setp.ge.s32 %p1, %r5, %r1; @%p1 bra $L2;\n"
    ".loc 1 12 4\n"
    "mul.wide.s32 %rd5, %r5, 4; add.s64 %rd6, %rd4, %rd5; ld.global.b32 %r6, [%rd6]; mov.b32 %f2, %r6;\n"
    "add.f32 %f1, %f1, %f2; add.s32 %r5, %r5, 128; bra.uni $L1;\n"
    "$L2: shl.b32 %r7, %r3, 2; mov.u32 %r8, global_smem; add.s32 %r9, %r8, %r7;\n"
    "st.shared.f32 [%r9], %f1; bar.sync 0; setp.ne.s32 %p2, %r3, 0; @%p2 bra $L4;\n"
    "mov.f32 %f3, 0f00000000; mov.u32 %r10, 0;\n"
    "$L3: ld.shared.f32 %f4, [%r8]; add.f32 %f3, %f3, %f4; add.s32 %r8, %r8, 4; add.s32 %r10, %r10, 1;\n"
    "setp.lt.s32 %p3, %r10, 128; @%p3 bra $L3;\n"
    "mul.wide.s32 %rd7, %r2, 4; add.s64 %rd8, %rd2, %rd7; st.global.f32 [%rd8], %f3;\n"
    "$L4: ret;\n}\n.file 1 \"row_sum.py\"\n";

static char folder[] = "/tmp/launcher-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][64];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* ptxas -lineinfo -v --gpu-name=sm_75 FILE -o FILE.o; what it says goes to a file. Returns its exit status. */
static int assemble(const char *text, const char *name, const char *out, const char *log) {
    extern char **environ;
    const char *ptxas = getenv("TRITON_PTXAS_PATH");
    char *const words[] = {(char *)(uintptr_t)(ptxas ? ptxas : "ptxas"),
                           (char *)"-lineinfo",
                           (char *)"-v",
                           (char *)"--gpu-name=sm_75",
                           (char *)(uintptr_t)name,
                           (char *)"-o",
                           (char *)(uintptr_t)out,
                           NULL};
    posix_spawn_file_actions_t actions;
    pid_t process;
    int status;
    FILE *file = fopen(name, "w");
    IS(file && fputs(text, file) >= 0 && fclose(file) == 0, 1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    IS(posix_spawnp(&process, words[0], &actions, NULL, words, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    IS(waitpid(process, &status, 0), process);
    return WEXITSTATUS(status);
}

/* Exactly as long as the file is: what reads behind it is seen by sanitizers. */
static char *contents(const char *path, size_t *bytes) {
    struct stat about;
    const int file = open(path, O_RDONLY);
    IS(file >= 0 && fstat(file, &about) == 0, 1);
    *bytes = (size_t)about.st_size;
    char *data = malloc(*bytes ? *bytes : 1);
    IS(data && read(file, data, *bytes) == about.st_size, 1);
    close(file);
    return data;
}

static void check_log(const char *path, const char *words) {
    size_t bytes;
    char *text = contents(path, &bytes);
    IS(memmem(text, bytes, words, strlen(words)) != NULL, 1);
    free(text);
}

/* As Triton's load_binary. */
static CUfunction load(CUdevice device, unsigned shared, int *registers) {
    CUcontext context = NULL;
    CUmodule module;
    CUfunction function;
    int spills, optin, fixed;
    size_t bytes;
    OK(p_cuCtxGetCurrent(&context));
    if (!context) {
        OK(p_cuDevicePrimaryCtxRetain(&context, device));
        OK(p_cuCtxSetCurrent(context));
    }
    char *binary = contents(in_folder("k.cubin"), &bytes);
    OK(p_cuModuleLoadData(&module, binary));
    free(binary);
    OK(p_cuModuleGetFunction(&function, module, "row_sum"));
    OK(p_cuFuncGetAttribute(registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
    OK(p_cuFuncGetAttribute(&spills, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
    OK(p_cuDeviceGetAttribute(&optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device));
    IS(optin >= (int)shared, 1);
    OK(p_cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_SHARED));
    OK(p_cuFuncGetAttribute(&fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    OK(p_cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, optin - fixed));
    return function;
}

enum { ROWS = 24, WIDTH = 500 };

static void sum_rows(CUfunction function, unsigned shared, int is_cooperative) {
    static float in[ROWS][WIDTH], out[ROWS];
    CUdeviceptr from, to, scratch = 0, same;
    CUstream stream;
    int width = WIDTH;
    for (int y = 0; y < ROWS; y++)
        for (int x = 0; x < WIDTH; x++)
            in[y][x] = (float)((x * 7 + y * 13) % 32);
    OK(p_cuMemAlloc(&from, sizeof in));
    OK(p_cuMemAlloc(&to, sizeof out));
    OK(p_cuMemcpyHtoD(from, in, sizeof in));
    OK(p_cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, from + 4));
    IS(same, from + 4);
    IS(p_cuPointerGetAttribute(&same, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr)(uintptr_t)in),
       CUDA_ERROR_INVALID_VALUE); /* a tensor of the host is told by this */
    OK(p_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUlaunchAttribute attributes[2];
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[0].value.programmaticStreamSerializationAllowed = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attributes[1].value.cooperative = is_cooperative;
    CUlaunchConfig how = {.gridDimX = ROWS,
                          .gridDimY = 1,
                          .gridDimZ = 1,
                          .blockDimX = 128,
                          .blockDimY = 1,
                          .blockDimZ = 1,
                          .sharedMemBytes = shared,
                          .hStream = stream,
                          .attrs = attributes,
                          .numAttrs = 2};
    void *arguments[] = {&from, &to, &width, &scratch};
    OK(p_cuLaunchKernelEx(&how, function, arguments, NULL));
    OK(p_cuStreamSynchronize(stream));
    OK(p_cuMemcpyDtoH(out, to, sizeof out));
    for (int y = 0; y < ROWS; y++) {
        float sum = 0; /* whole numbers: any order gives the same */
        for (int x = 0; x < WIDTH; x++)
            sum += in[y][x];
        IS(out[y], sum);
    }
    how.blockDimX = 64; /* .reqntid says 128 */
    IS(p_cuLaunchKernelEx(&how, function, arguments, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(void) {
    CUdevice device;
    int registers = 0;
    char words[64];
    const char *text;
    IS(mkdtemp(folder) != NULL, 1);
    find_names();
    OK(p_cuInit(0));
    OK(p_cuDeviceGet(&device, 0));
    IS(assemble(kernel_text, in_folder("k.ptx"), in_folder("k.cubin"), in_folder("log")), 0);
    CUfunction function = load(device, 1024, &registers);
    snprintf(words, sizeof words, "Used %d registers", registers); /* the assembler and the driver agree */
    check_log(in_folder("log"), words);
    sum_rows(function, 512, 0);
    sum_rows(function, 1024, 1);
    /* What cannot be read is refused by the line. */
    IS(assemble(".version 8.4\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\nfrobnicate.b32;\n}\n",
                in_folder("wrong.ptx"), in_folder("wrong.cubin"), in_folder("log")) != 0,
       1);
    check_log(in_folder("log"), "wrong.ptx:6");
    IS(access(in_folder("wrong.cubin"), F_OK), -1);
    OK(p_cuGetErrorString(CUDA_ERROR_INVALID_PTX, &text));
    IS(strcmp(text, "a PTX JIT compilation failed"), 0);
    for (unsigned i = 0; i < 4; i++) {
        static const char *const files[] = {"k.ptx", "k.cubin", "wrong.ptx", "log"};
        unlink(in_folder(files[i]));
    }
    rmdir(folder);
    puts("right");
    return 0;
}
