// SPDX-License-Identifier: Apache-2.0
// A program that can draw and also has a mode without a window compiles; calls that share with graphics get an error of their own.
#include <cuda.h>
#include <cuda_gl_interop.h>
#include <string.h>

#include "check.h"
#include "launch_marks.h"

#ifndef __cuda_cuda_h__ // by which the headers of CUDA's samples ask
#error "cuda.h does not say that it was included"
#endif

// clang-format off
#define STEP "+"
#define JOINED "3"STEP"4" // a blank is missing since C++11
// clang-format on

int main()
{
    struct cudaGraphicsResource *resource = nullptr;
    void *pointer = nullptr;
    size_t bytes = 0;
    int sum = 0, *data = nullptr;
    EXPECT(cudaGraphicsGLRegisterBuffer(&resource, 1u, cudaGraphicsMapFlagsWriteDiscard) == cudaErrorNotSupported);
    EXPECT(cudaGraphicsMapResources(1, &resource) == cudaErrorNotSupported);
    EXPECT(cudaGraphicsResourceGetMappedPointer(&pointer, &bytes, resource) == cudaErrorNotSupported);
    EXPECT(cudaGraphicsUnmapResources(1, &resource, 0) == cudaErrorNotSupported);
    EXPECT(cudaGraphicsUnregisterResource(resource) == cudaErrorNotSupported);
    (void)cudaGetLastError();
    CHECK(cudaMalloc(&data, sizeof sum));
    CHECK(cudaMemset(data, 0, sizeof sum));
    // clang-format off
    count << < 3, 5 >> > (data); // as formatters that do not know CUDA leave it
    // clang-format on
    count_from_header(data);
    CHECK(cudaMemcpy(&sum, data, sizeof sum, cudaMemcpyDeviceToHost));
    EXPECT(sum == 3 * 5 + 2 * 7);
    EXPECT(strcmp(JOINED, "3+4") == 0);
    CHECK(cudaFree(data));
    return finish();
}
