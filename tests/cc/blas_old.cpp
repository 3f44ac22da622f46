// SPDX-License-Identifier: Apache-2.0
// cuBLAS as it was before handles (cublas.h), in a source of the host's: blas.cu calls it.
#include <cublas.h>
#include <cuda_runtime.h>

bool old_functions() {
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, x[2] = {3, -4};
    float c[4] = {}, back[2] = {}, *device = nullptr;
    bool is_right = cublasInit() == CUBLAS_STATUS_SUCCESS && cublasAlloc(14, sizeof(float), (void **)&device) == CUBLAS_STATUS_SUCCESS;
    is_right = is_right && cublasSetMatrix(2, 2, sizeof(float), a, 2, device, 2) == CUBLAS_STATUS_SUCCESS;
    is_right = is_right && cublasSetMatrix(2, 2, sizeof(float), b, 2, device + 4, 2) == CUBLAS_STATUS_SUCCESS;
    is_right = is_right && cublasSetVector(2, sizeof(float), x, 1, device + 12, 1) == CUBLAS_STATUS_SUCCESS;
    cublasSgemm('t', 'n', 2, 2, 2, 2, device, 2, device + 4, 2, 0, device + 8, 2);
    is_right = is_right && cublasGetMatrix(2, 2, sizeof(float), device + 8, 2, c, 2) == CUBLAS_STATUS_SUCCESS;
    is_right = is_right && c[0] == 34 && c[1] == 78 && c[2] == 46 && c[3] == 106; // 2 times columns of a by columns of b
    is_right = is_right && cublasSdot(2, device, 1, device + 12, 1) == -5 && cublasSnrm2(2, device + 12, 1) == 5;
    is_right = is_right && cublasSasum(2, device + 12, 1) == 7 && cublasIsamax(2, device + 12, 1) == 2;
    cublasSaxpy(2, 2, device, 1, device + 12, 1);
    is_right = is_right && cublasGetVector(2, sizeof(float), device + 12, 1, back, 1) == CUBLAS_STATUS_SUCCESS;
    is_right = is_right && back[0] == 5 && back[1] == 0 && cublasGetError() == CUBLAS_STATUS_SUCCESS;
    cublasSgemm('n', 'n', 2, 2, 2, 1, device, 1, device, 2, 0, device, 2); // rows that do not fit
    is_right = is_right && cublasGetError() == CUBLAS_STATUS_INVALID_VALUE && cublasGetError() == CUBLAS_STATUS_SUCCESS;
    return is_right && cublasFree(device) == CUBLAS_STATUS_SUCCESS && cublasShutdown() == CUBLAS_STATUS_SUCCESS;
}
