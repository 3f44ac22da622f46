// SPDX-License-Identifier: Apache-2.0
// link: -lcublasLt
// What heddle cc has of cuBLASLt, against loops on the host: types, batches, C apart from D, bias and functions behind a product; and
// what is refused. Sums are exact, so only the functions have a tolerance.
#include "check.h"
#include <cublasLt.h>
#include <vector>

static unsigned seed = 1;
static double number() { // small multiples of 1/8: sums of products are exact in float too
    seed = seed * 1664525u + 1013904223u;
    return static_cast<int>(seed >> 24) % 17 / 8.0 - 1;
}

static double behind(cublasLtEpilogue_t epilogue, double x) {
    if (epilogue & CUBLASLT_EPILOGUE_RELU)
        return x > 0 ? x : 0;
    if (epilogue & CUBLASLT_EPILOGUE_GELU)
        return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    return x;
}

template <class T, class Scale>
static void product(cublasLtHandle_t handle, cudaDataType type, cublasComputeType_t compute, cudaDataType scale,
                    cublasLtEpilogue_t epilogue, bool is_left_turned, bool is_right_turned) {
    const int m = 19, n = 18, k = 17, ld = 20, count = 2, size = ld * ld;
    const int64_t stride = size;
    Managed<T> a(size * count), b(size * count), c(size * count), d(size * count), bias(m);
    for (int i = 0; i < size * count; i++)
        a[i] = T(number()), b[i] = T(number()), c[i] = T(number()), d[i] = T(number());
    for (int i = 0; i < m; i++)
        bias[i] = T(number());
    const T kept = d[size - 1];
    const cublasOperation_t turned = CUBLAS_OP_T;
    const T *const bias_data = bias.data;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layouts[4];
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int results = 0;
    EXPECT(cublasLtMatmulDescCreate(&desc, compute, scale) == CUBLAS_STATUS_SUCCESS);
    if (is_left_turned)
        EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &turned, sizeof turned) == CUBLAS_STATUS_SUCCESS);
    if (is_right_turned)
        EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &turned, sizeof turned) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias_data, sizeof bias_data) ==
           CUBLAS_STATUS_SUCCESS);
    const int sizes[4][2] = {{is_left_turned ? k : m, is_left_turned ? m : k}, {is_right_turned ? n : k, is_right_turned ? k : n}, {m, n}, {m, n}};
    for (int i = 0; i < 4; i++) {
        EXPECT(cublasLtMatrixLayoutCreate(&layouts[i], type, sizes[i][0], sizes[i][1], ld) == CUBLAS_STATUS_SUCCESS);
        EXPECT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count) == 0);
        EXPECT(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride) == 0);
    }
    EXPECT(cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, desc, layouts[0], layouts[1], layouts[2], layouts[3], preference, 1, &found, &results) ==
               CUBLAS_STATUS_SUCCESS &&
           results == 1 && found.workspaceSize == 0);
    const Scale alpha = Scale(0.5), beta = Scale(2);
    EXPECT(cublasLtMatmul(handle, desc, &alpha, a.data, layouts[0], b.data, layouts[1], &beta, c.data, layouts[2], d.data, layouts[3],
                          &found.algo, nullptr, 0, nullptr) == CUBLAS_STATUS_SUCCESS);
    CHECK(cudaDeviceSynchronize());
    for (int z = 0; z < count; z++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0;
                for (int l = 0; l < k; l++)
                    sum += double(float(a[z * size + (is_left_turned ? l + i * ld : i + l * ld)])) *
                           float(b[z * size + (is_right_turned ? j + l * ld : l + j * ld)]);
                sum = 0.5 * sum + 2 * double(float(c[z * size + i + j * ld]));
                if (epilogue & CUBLASLT_EPILOGUE_BIAS)
                    sum += double(float(bias[i]));
                const double expected = behind(epilogue, sum), off = float(d[z * size + i + j * ld]) - double(float(T(expected)));
                // a unit or two of float inside, and one of a half where it is stored
                EXPECT(std::fabs(off) <= (epilogue & CUBLASLT_EPILOGUE_GELU ? (sizeof(T) == 2 ? 1e-3 : 1e-6) * (1 + std::fabs(expected)) : 0));
            }
    EXPECT(float(d[size - 1]) == float(kept)); // beside the matrix
    EXPECT(cublasLtMatmulPreferenceDestroy(preference) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulDescDestroy(desc) == CUBLAS_STATUS_SUCCESS);
    for (auto layout : layouts)
        EXPECT(cublasLtMatrixLayoutDestroy(layout) == CUBLAS_STATUS_SUCCESS);
}

// Descriptions that the caller keeps, as suites have them; what is not built, and what does not go together.
static void refusals(cublasLtHandle_t handle) {
    cublasLtMatmulDescOpaque_t desc = {};
    cublasLtMatrixLayoutOpaque_t a = {}, b = {}, c = {};
    cublasLtMatmulPreferenceOpaque_t preference = {};
    cublasLtMatmulHeuristicResult_t found;
    const cublasLtEpilogue_t gradient = CUBLASLT_EPILOGUE_DGELU;
    const cublasLtOrder_t rows = CUBLASLT_ORDER_ROW;
    const size_t bytes = 1 << 20;
    const float one = 1;
    const void *none = nullptr;
    int results = 7;
    Managed<float> data(16);
    EXPECT(cublasLtMatmulDescInit(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &gradient, sizeof gradient) == CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &none, sizeof none) == CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT(cublasLtMatmulDescSetAttribute(&desc, CUBLASLT_MATMUL_DESC_TRANSA, &none, sizeof none) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasLtMatrixLayoutInit(&a, CUDA_R_32F, 2, 3, 2) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatrixLayoutInit(&b, CUDA_R_32F, 3, 2, 3) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatrixLayoutInit(&c, CUDA_R_32F, 2, 2, 2) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatrixLayoutSetAttribute(&a, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof rows) == CUBLAS_STATUS_NOT_SUPPORTED);
    EXPECT(cublasLtMatmulPreferenceInit(&preference) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, sizeof bytes) == 0);
    EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, &desc, &a, &b, &c, &c, &preference, 1, &found, &results) == 0 && results == 1);
    EXPECT(cublasLtMatmul(handle, &desc, &one, data.data, &a, data.data, &c, &one, data.data, &c, data.data, &c, nullptr, nullptr, 0,
                          nullptr) == CUBLAS_STATUS_INVALID_VALUE);
    EXPECT(cublasLtMatmul(nullptr, &desc, &one, data.data, &a, data.data, &b, &one, data.data, &c, data.data, &c, nullptr, nullptr, 0,
                          nullptr) == CUBLAS_STATUS_NOT_INITIALIZED);
    EXPECT(cublasLtMatrixLayoutInit(&a, CUDA_R_8F_E4M3, 2, 3, 2) == CUBLAS_STATUS_SUCCESS);
    EXPECT(cublasLtMatmulAlgoGetHeuristic(handle, &desc, &a, &b, &c, &c, &preference, 1, &found, &results) == CUBLAS_STATUS_NOT_SUPPORTED &&
           results == 0);
}

int main() {
    cublasLtHandle_t handle;
    EXPECT(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    const cublasLtEpilogue_t epilogues[] = {CUBLASLT_EPILOGUE_DEFAULT, CUBLASLT_EPILOGUE_BIAS,      CUBLASLT_EPILOGUE_RELU,
                                            CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS};
    int how = 0;
    for (auto epilogue : epilogues) {
        product<float, float>(handle, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, epilogue, how & 1, how & 2);
        product<__half, float>(handle, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, epilogue, how & 2, how & 1);
        how++;
    }
    for (how = 0; how < 4; how++)
        product<double, double>(handle, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, epilogues[how], how & 1, how & 2);
    product<__half, __half>(handle, CUDA_R_16F, CUBLAS_COMPUTE_16F, CUDA_R_16F, CUBLASLT_EPILOGUE_BIAS, true, false);
    refusals(handle);
    EXPECT(cublasLtDestroy(handle) == CUBLAS_STATUS_SUCCESS);
    return finish();
}
