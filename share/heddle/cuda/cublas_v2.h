/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of cuBLAS that `heddle cc -lcublas` has, in kernels of Heddle's own (libraries/cublas.cu): vectors and matrices of float
 * and double, products of other types, in columns as CUDA's documents say. Other names are not declared. */
#ifndef HEDDLE_CUBLAS_H
#define HEDDLE_CUBLAS_H
#define CUBLAS_API_H_ /* sources ask by this name whether the file was included */

#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

typedef enum cublasStatus_t {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum cublasMath_t {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
/* What is summed in float, double or int. Those that may be faster are summed like the others, and 16F in float. */
typedef enum cublasComputeType_t {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum cublasGemmAlgo_t { /* there is one */
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;
struct __half; /* complete in device code's sources */

#ifdef __cplusplus
extern "C" {
#endif

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode); /* kept, and changes nothing */
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes); /* is not used */
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *device_y, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void *device_x, int incx, void *y, int incy);
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *device_b, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *device_a, int lda, void *b, int ldb);

/* For float and double, with their letters. */
#define HEDDLE_CUBLAS(X, x_, T)                                                                                           \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t handle, int n, const T *alpha, const T *x, int incx, T *y, int incy); \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t handle, int n, const T *alpha, T *x, int incx);                   \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t handle, int n, const T *x, int incx, T *y, int incy);             \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t handle, int n, T *x, int incx, T *y, int incy);                   \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t handle, int n, const T *x, int incx, const T *y, int incy, T *result); \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t handle, int n, const T *x, int incx, T *result);                  \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t handle, int n, const T *x, int incx, T *result);                  \
    cublasStatus_t cublasI##x_##amax_v2(cublasHandle_t handle, int n, const T *x, int incx, int *result);               \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t handle, int m, int n, const T *alpha, const T *x, int incx, const T *y, \
                                     int incy, T *a, int lda);                                                         \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T *alpha,    \
                                      const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy);       \
    cublasStatus_t cublas##X##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,\
                                   const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc);\
    cublasStatus_t cublas##X##getrfBatched(cublasHandle_t handle, int n, T *const a[], int lda, int *pivots, int *info, int count);
HEDDLE_CUBLAS(S, s, float)
HEDDLE_CUBLAS(D, d, double)
#undef HEDDLE_CUBLAS

/* Products: one, several that are a stride apart, several whose addresses are in lists of the device's. */
#define HEDDLE_CUBLAS_PRODUCTS(X, one, T)                                                                              \
    cublasStatus_t cublas##X##one(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,\
                                  const T *alpha, const T *a, int lda, const T *b, int ldb, const T *beta, T *c, int ldc);\
    cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,\
                                                 int k, const T *alpha, const T *a, int lda, long long int stride_a, const T *b, int ldb,\
                                                 long long int stride_b, const T *beta, T *c, int ldc, long long int stride_c, int count);\
    cublasStatus_t cublas##X##gemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,\
                                          const T *alpha, const T *const a[], int lda, const T *const b[], int ldb, const T *beta,\
                                          T *const c[], int ldc, int count);
HEDDLE_CUBLAS_PRODUCTS(S, gemm_v2, float)
HEDDLE_CUBLAS_PRODUCTS(D, gemm_v2, double)
HEDDLE_CUBLAS_PRODUCTS(H, gemm, struct __half)
#undef HEDDLE_CUBLAS_PRODUCTS

/* Types of A and B, and of C: 32F, 64F, 16F, 16BF each with itself, 16F and 16BF with 32F, 8I with 32I. Others are not supported. */
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b, cudaDataType b_type, int ldb,
                            const void *beta, void *c, cudaDataType c_type, int ldc, cublasComputeType_t compute, cublasGemmAlgo_t algo);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type, int lda, long long int stride_a,
                                          const void *b, cudaDataType b_type, int ldb, long long int stride_b, const void *beta, void *c,
                                          cudaDataType c_type, int ldc, long long int stride_c, int count, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algo);
/* All of one type: 32F, 64F, 16F, 16BF. */
cublasStatus_t cublasDotEx(cublasHandle_t handle, int n, const void *x, cudaDataType x_type, int incx, const void *y, cudaDataType y_type,
                           int incy, void *result, cudaDataType result_type, cudaDataType execution_type);

#ifdef __cplusplus
}

/* As it was before CUDA 11: what is computed in is said like the types of elements. */
static inline cublasComputeType_t heddle_compute_type(cudaDataType type)
{
    return type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
           : type == CUDA_R_32I ? CUBLAS_COMPUTE_32I
           : type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                                : CUBLAS_COMPUTE_32F;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType a_type, int lda, const void *b,
                                          cudaDataType b_type, int ldb, const void *beta, void *c, cudaDataType c_type, int ldc,
                                          cudaDataType compute, cublasGemmAlgo_t algo)
{
    return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, a_type, lda, b, b_type, ldb, beta, c, c_type, ldc,
                        heddle_compute_type(compute), algo);
}
#endif

#ifndef HEDDLE_CUBLAS_NO_NAMES
#define cublasCreate cublasCreate_v2
#define cublasDestroy cublasDestroy_v2
#define cublasGetVersion cublasGetVersion_v2
#define cublasSetStream cublasSetStream_v2
#define cublasGetStream cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetWorkspace cublasSetWorkspace_v2
#define cublasSaxpy cublasSaxpy_v2
#define cublasDaxpy cublasDaxpy_v2
#define cublasSscal cublasSscal_v2
#define cublasDscal cublasDscal_v2
#define cublasScopy cublasScopy_v2
#define cublasDcopy cublasDcopy_v2
#define cublasSswap cublasSswap_v2
#define cublasDswap cublasDswap_v2
#define cublasSdot cublasSdot_v2
#define cublasDdot cublasDdot_v2
#define cublasSnrm2 cublasSnrm2_v2
#define cublasDnrm2 cublasDnrm2_v2
#define cublasSasum cublasSasum_v2
#define cublasDasum cublasDasum_v2
#define cublasIsamax cublasIsamax_v2
#define cublasIdamax cublasIdamax_v2
#define cublasSger cublasSger_v2
#define cublasDger cublasDger_v2
#define cublasSgemv cublasSgemv_v2
#define cublasDgemv cublasDgemv_v2
#define cublasSgemm cublasSgemm_v2
#define cublasDgemm cublasDgemm_v2
#endif

#endif
