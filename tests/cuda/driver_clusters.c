/* SPDX-License-Identifier: Apache-2.0 */
/* Launches with clusters, by the launch and by the kernel: each block adds its number to a word of every block of its cluster. */

#include "driver.h"

#define KERNEL(name, header)                                                                                           \
    ".visible .entry " name "(.param .u64 p) " header "\n{\n.shared .align 4 .b8 sum[4];\n"                            \
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %q;\nld.param.u64 %rd1, [p];\n"                                     \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %cluster_nctarank; mov.u32 %r3, 0;\n"                                         \
    "barrier.cluster.arrive; barrier.cluster.wait;\n"                                                                  \
    "L: mapa.shared::cluster.u32 %r4, sum, %r3; red.relaxed.cluster.shared::cluster.add.u32 [%r4], %r1;\n"             \
    "add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, %r2; @%q bra L;\n"                                                      \
    "barrier.cluster.arrive; barrier.cluster.wait;\n"                                                                  \
    "ld.shared.u32 %r5, [sum]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2; st.global.u32 [%rd1], "            \
    "%r5;\nret;\n}\n"

enum { BLOCKS = 8 };

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n" KERNEL("any", "") KERNEL("four", ".reqnctapercluster 4, 1, 1");

/* Words are what a cluster of so many blocks adds up to. */
static void expect(CUdeviceptr memory, unsigned cluster) {
    unsigned words[BLOCKS];
    OK(cuMemcpyDtoH(words, memory, sizeof words));
    for (unsigned block = 0; block < BLOCKS; block++) {
        unsigned sum = 0;
        for (unsigned mate = block / cluster * cluster; mate < (block / cluster + 1) * cluster; mate++)
            sum += mate;
        IS(words[block], sum);
    }
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction any, four;
    CUdeviceptr memory;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&any, module, "any"));
    OK(cuModuleGetFunction(&four, module, "four"));
    OK(cuMemAlloc(&memory, BLOCKS * sizeof(unsigned)));
    void *arguments[] = {&memory};
    CUlaunchAttribute cluster;
    memset(&cluster, 0, sizeof cluster);
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim.y = cluster.value.clusterDim.z = 1;
    CUlaunchConfig how = {
        .gridDimX = BLOCKS, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    how.attrs = &cluster, how.numAttrs = 1;
    for (unsigned side = 1; side <= BLOCKS; side *= 2) {
        cluster.value.clusterDim.x = side;
        OK(cuLaunchKernelEx(&how, any, arguments, NULL));
        expect(memory, side);
    }
    OK(cuLaunchKernel(any, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    expect(memory, 1);
    OK(cuLaunchKernel(four, BLOCKS, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    expect(memory, 4);
    cluster.value.clusterDim.x = 2;
    IS(cuLaunchKernelEx(&how, four, arguments, NULL) != CUDA_SUCCESS, 1);
    OK(cuDevicePrimaryCtxRelease(0));
    puts("right");
    return 0;
}
