// SPDX-License-Identifier: Apache-2.0
// cuBLASLt as far as cublasLt.h has it: descriptions of products, which blas.h computes. `heddle cc -lcublasLt` compiles it into the
// program. What is not built is refused with CUBLAS_STATUS_NOT_SUPPORTED and a line with its name.
#include "../cublasLt.h"
#include "blas.h"
#include <cstdio>
#include <cstring>

struct cublasLtContext {
    int unused;
};

namespace {

// What the opaque structures hold.
struct product {
    cublasComputeType_t compute;
    cudaDataType scale, bias_type;
    cublasLtPointerMode_t mode;
    cublasOperation_t transa, transb;
    cublasLtEpilogue_t epilogue;
    bool has_bias_type;
    const void *bias;
    int64_t bias_stride;
};
struct shape {
    cudaDataType type;
    int32_t count;
    uint64_t rows, columns;
    int64_t ld, stride;
};
static_assert(sizeof(product) <= sizeof(cublasLtMatmulDescOpaque_t) && sizeof(shape) <= sizeof(cublasLtMatrixLayoutOpaque_t), "");

template <class T, class Opaque> T read(const Opaque *from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <class T, class Opaque> void write(Opaque *to, const T &value) {
    *to = Opaque{};
    std::memcpy(to, &value, sizeof value);
}

cublasStatus_t refuse(const char *what) {
    std::fprintf(stderr, "heddle: cuBLASLt: %s is not built\n", what);
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t refuse_number(const char *what, int number) {
    char text[64];
    std::snprintf(text, sizeof text, "%s %d", what, number);
    return refuse(text);
}

#define NAMED(name)                                                                                                    \
    case name: return refuse(#name)

cublasStatus_t take_epilogue(product *p, cublasLtEpilogue_t epilogue) {
    switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT:
    case CUBLASLT_EPILOGUE_RELU:
    case CUBLASLT_EPILOGUE_BIAS:
    case CUBLASLT_EPILOGUE_RELU_BIAS:
    case CUBLASLT_EPILOGUE_GELU:
    case CUBLASLT_EPILOGUE_GELU_BIAS: p->epilogue = epilogue; return CUBLAS_STATUS_SUCCESS;
        NAMED(CUBLASLT_EPILOGUE_RELU_AUX);
        NAMED(CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
        NAMED(CUBLASLT_EPILOGUE_DRELU);
        NAMED(CUBLASLT_EPILOGUE_DRELU_BGRAD);
        NAMED(CUBLASLT_EPILOGUE_GELU_AUX);
        NAMED(CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
        NAMED(CUBLASLT_EPILOGUE_DGELU);
        NAMED(CUBLASLT_EPILOGUE_DGELU_BGRAD);
        NAMED(CUBLASLT_EPILOGUE_BGRADA);
        NAMED(CUBLASLT_EPILOGUE_BGRADB);
    default: return refuse_number("epilogue", epilogue);
    }
}

// A value of the size that it must have.
template <class T> cublasStatus_t take(T *to, const void *value, size_t bytes) {
    if (!value || bytes != sizeof *to)
        return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(to, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t take_attribute(product *p, cublasLtMatmulDescAttributes_t attribute, const void *value, size_t bytes) {
    cublasLtEpilogue_t epilogue;
    int8_t is_fast;
    cublasStatus_t status;
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return take(&p->compute, value, bytes);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return take(&p->scale, value, bytes);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return take(&p->mode, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSA: return take(&p->transa, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return take(&p->transb, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return take(&p->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE: return take(&p->bias_stride, value, bytes);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM: return take(&is_fast, value, bytes); // sums are as they are
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: p->has_bias_type = true; return take(&p->bias_type, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
        status = take(&epilogue, value, bytes);
        return status ? status : take_epilogue(p, epilogue);
        NAMED(CUBLASLT_MATMUL_DESC_TRANSC);
        NAMED(CUBLASLT_MATMUL_DESC_FILL_MODE);
        NAMED(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER);
        NAMED(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD);
        NAMED(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE);
        NAMED(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER);
        NAMED(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER);
        NAMED(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER);
        NAMED(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER);
        NAMED(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER);
    default: return refuse_number("attribute of a product", attribute);
    }
}

cublasStatus_t take_layout(shape *s, cublasLtMatrixLayoutAttribute_t attribute, const void *value, size_t bytes) {
    cublasLtOrder_t order;
    cublasStatus_t status;
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return take(&s->type, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return take(&s->rows, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return take(&s->columns, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_LD: return take(&s->ld, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return take(&s->count, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return take(&s->stride, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
        status = take(&order, value, bytes);
        if (status || order == CUBLASLT_ORDER_COL)
            return status;
        return order == CUBLASLT_ORDER_ROW ? refuse("CUBLASLT_ORDER_ROW") : refuse_number("order", order);
    default: return refuse_number("attribute of a layout", attribute);
    }
}
#undef NAMED

const char *type_name(cudaDataType type) {
    switch (type) {
    case CUDA_R_32F: return "CUDA_R_32F";
    case CUDA_R_64F: return "CUDA_R_64F";
    case CUDA_R_16F: return "CUDA_R_16F";
    case CUDA_R_16BF: return "CUDA_R_16BF";
    case CUDA_R_8I: return "CUDA_R_8I";
    case CUDA_R_32I: return "CUDA_R_32I";
    case CUDA_R_8F_E4M3: return "CUDA_R_8F_E4M3";
    case CUDA_R_8F_E5M2: return "CUDA_R_8F_E5M2";
    default: return "another type";
    }
}

cublasStatus_t refuse_types(const product &p, const gemm_call &call) {
    char text[160];
    std::snprintf(text, sizeof text, "a product of %s and %s, with C %s, D %s, factors %s and computation %d", type_name(call.a.type),
                  type_name(call.b.type), type_name(call.c.type), type_name(call.d.type), type_name(p.scale), p.compute);
    return refuse(text);
}

gemm_matrix matrix(const void *data, const shape &s, cublasOperation_t trans) {
    return {data, s.type, s.ld, s.stride, trans != CUBLAS_OP_N, false};
}

// The product that descriptions say, without factors; sizes must go together.
cublasStatus_t describe(const product &p, const shape &a, const shape &b, const shape &c, const shape &d, gemm_call *call) {
    const bool has_bias = p.epilogue & CUBLASLT_EPILOGUE_BIAS;
    call->m = static_cast<long long>(d.rows), call->n = static_cast<long long>(d.columns);
    call->k = static_cast<long long>(p.transa ? a.rows : a.columns);
    call->count = d.count;
    call->a.type = a.type, call->b.type = b.type, call->c.type = c.type, call->d.type = d.type;
    call->bias = has_bias ? p.bias : nullptr, call->bias_stride = p.bias_stride;
    call->function = p.epilogue & CUBLASLT_EPILOGUE_RELU ? RELU : p.epilogue & CUBLASLT_EPILOGUE_GELU ? GELU : AS_IT_IS;
    cudaDataType scale;
    if ((p.transa ? a.columns : a.rows) != d.rows || (p.transb ? b.rows : b.columns) != d.columns ||
        static_cast<long long>(p.transb ? b.columns : b.rows) != call->k || c.rows != d.rows || c.columns != d.columns ||
        a.count != d.count || b.count != d.count || c.count != d.count || (has_bias && !p.bias))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!gemm_of(*call) || !scale_of(p.compute, &scale) || (p.scale == CUDA_R_64F) != (d.type == CUDA_R_64F) ||
        (p.scale == CUDA_R_32I) != (d.type == CUDA_R_32I) || (scale == CUDA_R_64F) != (d.type == CUDA_R_64F) ||
        (scale == CUDA_R_32I) != (d.type == CUDA_R_32I))
        return refuse_types(p, *call);
    if (has_bias && p.has_bias_type && p.bias_type != d.type)
        return refuse("a bias of another type than D");
    if (call->function != AS_IT_IS && (d.type == CUDA_R_32I || (d.type == CUDA_R_64F && call->function == GELU)))
        return refuse(call->function == GELU ? "CUBLASLT_EPILOGUE_GELU of this type" : "CUBLASLT_EPILOGUE_RELU of this type");
    return CUBLAS_STATUS_SUCCESS;
}

template <class Opaque> cublasStatus_t destroy(Opaque *desc) {
    delete desc;
    return CUBLAS_STATUS_SUCCESS;
}

} // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!handle)
        return CUBLAS_STATUS_INVALID_VALUE;
    *handle = new cublasLtContext();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return destroy(handle); }

size_t cublasLtGetVersion(void) { return 120300; }

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType scale) {
    if (!desc)
        return CUBLAS_STATUS_INVALID_VALUE;
    product p{};
    p.compute = compute, p.scale = scale, p.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    write(desc, p);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType scale) {
    if (!desc)
        return CUBLAS_STATUS_INVALID_VALUE;
    *desc = new cublasLtMatmulDescOpaque_t();
    return cublasLtMatmulDescInit(*desc, compute, scale);
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return destroy(desc); }

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute, const void *value,
                                              size_t bytes) {
    if (!desc)
        return CUBLAS_STATUS_INVALID_VALUE;
    product p = read<product>(desc);
    const cublasStatus_t status = take_attribute(&p, attribute, value, bytes);
    if (!status)
        write(desc, p);
    return status;
}

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
    if (!layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    write(layout, shape{type, 1, rows, cols, ld, 0});
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, uint64_t rows, uint64_t cols, int64_t ld) {
    if (!layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    *layout = new cublasLtMatrixLayoutOpaque_t();
    return cublasLtMatrixLayoutInit(*layout, type, rows, cols, ld);
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) { return destroy(layout); }

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes) {
    if (!layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    shape s = read<shape>(layout);
    const cublasStatus_t status = take_layout(&s, attribute, value, bytes);
    if (!status)
        write(layout, s);
    return status;
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
    if (!preference)
        return CUBLAS_STATUS_INVALID_VALUE;
    *preference = cublasLtMatmulPreferenceOpaque_t{};
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) {
    if (!preference)
        return CUBLAS_STATUS_INVALID_VALUE;
    *preference = new cublasLtMatmulPreferenceOpaque_t();
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) { return destroy(preference); }

// The one algorithm needs no memory, whatever is wished for.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t,
                                                    const void *value, size_t) {
    return preference && value ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int wanted, cublasLtMatmulHeuristicResult_t *results,
                                              int *count) {
    gemm_call call{};
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a || !b || !c || !d || wanted < 1 || !results || !count)
        return CUBLAS_STATUS_INVALID_VALUE;
    product p = read<product>(desc);
    if (!p.bias)
        p.bias = desc; // may be set later
    const cublasStatus_t status = describe(p, read<shape>(a), read<shape>(b), read<shape>(c), read<shape>(d), &call);
    *count = status ? 0 : 1;
    results[0] = cublasLtMatmulHeuristicResult_t{};
    results[0].state = status;
    return status;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t a_layout, const void *b, cublasLtMatrixLayout_t b_layout, const void *beta,
                              const void *c, cublasLtMatrixLayout_t c_layout, void *d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream) {
    gemm_call call{};
    if (!handle)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (!desc || !a_layout || !b_layout || !c_layout || !d_layout)
        return CUBLAS_STATUS_INVALID_VALUE;
    const product p = read<product>(desc);
    const shape left = read<shape>(a_layout), right = read<shape>(b_layout), before = read<shape>(c_layout), after = read<shape>(d_layout);
    cublasStatus_t status = describe(p, left, right, before, after, &call);
    if (status)
        return status;
    const bool is_on_device = p.mode == CUBLASLT_POINTER_MODE_DEVICE;
    status = factor_of(p.scale, is_on_device, alpha, &call.alpha);
    if (!status)
        status = factor_of(p.scale, is_on_device, beta, &call.beta);
    call.a = matrix(a, left, p.transa), call.b = matrix(b, right, p.transb);
    call.c = matrix(c, before, CUBLAS_OP_N), call.d = matrix(d, after, CUBLAS_OP_N);
    call.stream = stream;
    return status ? status : gemm_run(call);
}

} // extern "C"
