// SPDX-License-Identifier: Apache-2.0
// Streams, events between them, callbacks; graphs by capture and by hand, changed and launched again.
#include "check.h"

__global__ void scale(int *p, int n, int by) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = p[i] * by + 1;
}

static void CUDART_CB count(void *data) { ++*(int *)data; }
static void CUDART_CB called(cudaStream_t stream, cudaError_t status, void *data) {
    *(int *)data += stream != NULL && status == cudaSuccess;
}

int main() {
    enum { N = 1000 };
    static int a[N], b[N];
    int *da, *db, calls = 0;
    cudaStream_t one, two;
    cudaEvent_t event, joined;
    CHECK(cudaMalloc(&da, sizeof a));
    CHECK(cudaMalloc(&db, sizeof b));
    CHECK(cudaStreamCreate(&one));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&joined));
    for (int i = 0; i < N; i++)
        a[i] = i;
    CHECK(cudaMemcpyAsync(da, a, sizeof a, cudaMemcpyHostToDevice, one));
    scale<<<8, 128, 0, one>>>(da, N, 3);
    CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    CHECK(cudaMemcpyAsync(db, da, sizeof a, cudaMemcpyDeviceToDevice, two));
    CHECK(cudaLaunchHostFunc(two, count, &calls));
    CHECK(cudaStreamAddCallback(two, called, &calls, 0));
    CHECK(cudaMemcpyAsync(b, db, sizeof b, cudaMemcpyDeviceToHost, two));
    CHECK(cudaStreamSynchronize(two));
    CHECK(cudaStreamQuery(one));
    EXPECT(calls == 2);
    for (int i = 0; i < N; i++)
        EXPECT(b[i] == 3 * i + 1);

    cudaGraph_t graph;
    cudaGraphExec_t program;
    cudaGraphNode_t nodes[8];
    size_t node_count = 8;
    calls = 0;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemcpyAsync(da, a, sizeof a, cudaMemcpyHostToDevice, one));
    CHECK(cudaEventRecord(event, one));
    CHECK(cudaStreamWaitEvent(two, event, 0));
    CHECK(cudaMemsetAsync(db, 0, sizeof b, two));
    scale<<<8, 128, 0, one>>>(da, N, 2);
    scale<<<8, 128, 0, two>>>(db, N, 2);
    CHECK(cudaEventRecord(joined, two));
    CHECK(cudaStreamWaitEvent(one, joined, 0));
    CHECK(cudaLaunchHostFunc(one, count, &calls));
    CHECK(cudaMemcpyAsync(b, da, sizeof b, cudaMemcpyDeviceToHost, one));
    CHECK(cudaStreamEndCapture(one, &graph));
    EXPECT(calls == 0);
    CHECK(cudaGraphInstantiate(&program, graph, 0));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < N; k++)
            a[k] = k + i;
        CHECK(cudaGraphLaunch(program, one));
        CHECK(cudaStreamSynchronize(one));
        for (int k = 0; k < N; k++)
            EXPECT(b[k] == 2 * (k + i) + 1);
    }
    EXPECT(calls == 3);
    CHECK(cudaGraphExecDestroy(program));
    CHECK(cudaGraphDestroy(graph));

    cudaGraphNode_t copy, kernel, back;
    cudaKernelNodeParams how = {0};
    int n = N, by = 5;
    void *arguments[] = {&da, &n, &by};
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, da, a, sizeof a, cudaMemcpyHostToDevice));
    how.func = (void *)scale;
    how.gridDim = dim3(8);
    how.blockDim = dim3(128);
    how.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernel, graph, &copy, 1, &how));
    CHECK(cudaGraphAddMemcpyNode1D(&back, graph, &kernel, 1, b, da, sizeof b, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphGetNodes(graph, nodes, &node_count));
    EXPECT(node_count == 3);
    CHECK(cudaGraphInstantiate(&program, graph, 0));
    CHECK(cudaGraphLaunch(program, one));
    EXPECT(b[7] == 5 * a[7] + 1);
    by = 9;
    CHECK(cudaGraphExecKernelNodeSetParams(program, kernel, &how));
    CHECK(cudaGraphLaunch(program, one));
    EXPECT(b[7] == 9 * a[7] + 1);
    CHECK(cudaStreamDestroy(one));
    CHECK(cudaEventDestroy(event));
    puts("right");
    return 0;
}
