/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor maps: what cuTensorMapEncodeTiled takes and refuses, and kernels that copy boxes of matrices by maps that are their parameters. */
#include "driver.h"

/* Each block brings its box of the first matrix, adds its number to it, stores it into the second, and adds it to one box that all have. The
 * boxes begin 5 columns and 3 rows before the matrix. */
static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .align 64 .b8 "
    "all[128])\n{\n"
    ".shared .align 128 .b8 area[512]; .shared .align 8 .b8 bar[8];\n"
    ".reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p, %q;\n"
    "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 16, -5; mov.u32 %r3, %ctaid.y; mad.lo.u32 %r4, %r3, 8, -3;\n"
    "mov.b64 %rd1, from; cvta.param.u64 %rd1, %rd1; mov.b64 %rd2, to; cvta.param.u64 %rd2, %rd2;\n"
    "mov.b64 %rd3, all; cvta.param.u64 %rd3, %rd3;\n"
    "mov.u32 %r5, %tid.x; setp.ne.u32 %q, %r5, 0; @%q bra WAIT;\n"
    "mbarrier.init.shared::cta.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [area], [%rd1, {%r2, %r4}], "
    "[bar];\n"
    "WAIT: bar.sync 0;\n"
    "L: mbarrier.try_wait.parity.shared::cta.b64 %p, [bar], 0; @!%p bra L;\n"
    "mov.u32 %r6, area; mad.lo.u32 %r6, %r5, 4, %r6; mov.u32 %r8, %nctaid.x; mad.lo.u32 %r9, %r3, %r8, %r1;\n"
    "ld.shared.u32 %r7, [%r6]; add.u32 %r7, %r7, %r9; st.shared.u32 [%r6], %r7;\n"
    "fence.proxy.async.shared::cta; bar.sync 0; @%q bra END;\n"
    "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {%r2, %r4}], [area];\n"
    "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd3, {0, 0}], [area];\n"
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\nEND: ret;\n}\n";

enum { COLUMNS = 50, ROWS = 21, PITCH = 52, ACROSS = 16, DOWN = 8, BEFORE = 5, ABOVE = 3 };

/* What a map is made of. */
static struct arguments {
    CUtensorMapDataType type;
    cuuint32_t rank;
    void *address;
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
} good = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
          .rank = 2,
          .size = {COLUMNS, ROWS, 1, 1, 1},
          .stride = {PITCH * 4, 4096, 4096, 4096},
          .box = {ACROSS, DOWN, 1, 1, 1},
          .step = {1, 1, 1, 1, 1}};

static CUresult encode(CUtensorMap *map, const struct arguments *a) {
    return cuTensorMapEncodeTiled(map, a->type, a->rank, a->address, a->size, a->stride, a->box, a->step, a->interleave,
                                  a->swizzle, a->promotion, a->fill);
}

/* A change of what is good, and what comes of it. */
#define TRY(expected, ...)                                                                                             \
    do {                                                                                                               \
        struct arguments a = good;                                                                                     \
        __VA_ARGS__;                                                                                                   \
        IS(encode(&map, &a), expected);                                                                                \
    } while (0)
#define WRONG(...) TRY(CUDA_ERROR_INVALID_VALUE, __VA_ARGS__)
#define RIGHT(...) TRY(CUDA_SUCCESS, __VA_ARGS__)
#define ABSENT(...) TRY(CUDA_ERROR_NOT_SUPPORTED, __VA_ARGS__)

static void rules_of_sides(void) {
    static CUtensorMap map;
    RIGHT(a.rank = 5);
    WRONG(a.rank = 6);
    WRONG(a.rank = 0);
    WRONG(a.size[1] = 0);
    RIGHT(a.size[1] = (cuuint64_t)1 << 32);
    WRONG(a.size[1] = ((cuuint64_t)1 << 32) + 1);
    WRONG(a.box[1] = 0);
    RIGHT(a.box[1] = 256);
    WRONG(a.box[1] = 257);
    WRONG(a.box[1] = 65536 + 8);
    RIGHT(a.box[2] = 0); /* beyond the rank */
    WRONG(a.box[0] = 6); /* 24 bytes */
    RIGHT(a.step[1] = 8);
    WRONG(a.step[1] = 9);
    WRONG(a.step[1] = 0);
    WRONG(a.step[1] = 256 + 1);
    RIGHT(a.step[0] = 0); /* has no meaning */
    WRONG(a.stride[0] = 200);
    RIGHT(a.stride[0] = ((cuuint64_t)1 << 40) - 16);
    WRONG(a.stride[0] = (cuuint64_t)1 << 40);
    WRONG(a.address = (char *)a.address + 8);
    RIGHT(a.address = (char *)a.address + 16);
    RIGHT(a.address = NULL); /* which nobody copies from yet */
}

static void rules_of_kinds(void) {
    static CUtensorMap map;
    RIGHT(a.swizzle = CU_TENSOR_MAP_SWIZZLE_64B);
    WRONG(a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B);
    RIGHT((a.swizzle = CU_TENSOR_MAP_SWIZZLE_32B, a.box[0] = 8));
    RIGHT((a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, a.box[0] = 32));
    WRONG((a.swizzle = CU_TENSOR_MAP_SWIZZLE_128B, a.box[0] = 36));
    WRONG(a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
    RIGHT((a.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, a.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
    WRONG(a.fill = (CUtensorMapFloatOOBfill)2);
    RIGHT(a.promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
    WRONG(a.promotion = (CUtensorMapL2promotion)4);
    WRONG(a.swizzle = (CUtensorMapSwizzle)7);
    WRONG(a.type = (CUtensorMapDataType)16);
    WRONG(a.type = (CUtensorMapDataType)(256 + 2));
    ABSENT((a.rank = 3, a.interleave = CU_TENSOR_MAP_INTERLEAVE_16B));
    ABSENT((a.rank = 3, a.interleave = CU_TENSOR_MAP_INTERLEAVE_32B));
    ABSENT(a.type = (CUtensorMapDataType)13); /* of 4 bits */
    ABSENT(a.swizzle = (CUtensorMapSwizzle)4);
    IS(encode(NULL, &good), CUDA_ERROR_INVALID_VALUE);
    IS(encode((CUtensorMap *)((char *)&map + 8), &good), CUDA_ERROR_INVALID_VALUE);
    IS(cuTensorMapEncodeTiled(&map, good.type, 2, good.address, good.size, NULL, good.box, good.step, 0, 0, 0, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuTensorMapEncodeTiled(&map, good.type, 1, good.address, good.size, NULL, good.box, good.step, 0, 0, 0, 0),
       CUDA_SUCCESS);
}

/* Elements beyond the matrices are neither read nor written: words between rows stay. */
static void boxes_of_matrices(CUfunction kernel) {
    static unsigned from[ROWS * PITCH], to[ROWS * PITCH], all[ACROSS * DOWN], sums[ACROSS * DOWN];
    const unsigned wide = (COLUMNS + BEFORE + ACROSS - 1) / ACROSS, high = (ROWS + ABOVE + DOWN - 1) / DOWN;
    const unsigned blocks = wide * high;
    CUdeviceptr memory, second, third;
    CUtensorMap maps[3];
    for (unsigned i = 0; i < ROWS * PITCH; i++)
        from[i] = i * 2654435761u, to[i] = i;
    OK(cuMemAlloc(&memory, sizeof from));
    OK(cuMemAlloc(&second, sizeof to));
    OK(cuMemAlloc(&third, sizeof all));
    OK(cuMemcpyHtoD(memory, from, sizeof from));
    OK(cuMemcpyHtoD(second, to, sizeof to));
    OK(cuMemcpyHtoD(third, all, sizeof all));
    struct arguments a = good;
    a.address = (void *)(uintptr_t)memory;
    OK(encode(&maps[0], &a));
    maps[1] = maps[0];
    OK(cuTensorMapReplaceAddress(&maps[1], (void *)(uintptr_t)second));
    IS(cuTensorMapReplaceAddress(&maps[0], (void *)(uintptr_t)(memory + 4)), CUDA_ERROR_INVALID_VALUE);
    a.address = (void *)(uintptr_t)third, a.size[0] = ACROSS, a.size[1] = DOWN, a.stride[0] = ACROSS * 4;
    OK(encode(&maps[2], &a));
    void *arguments[] = {&maps[0], &maps[1], &maps[2]};
    OK(cuLaunchKernel(kernel, wide, high, 1, ACROSS * DOWN, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH(to, second, sizeof to));
    OK(cuMemcpyDtoH(all, third, sizeof all));
    for (unsigned i = 0; i < ACROSS * DOWN; i++)
        sums[i] = blocks * (blocks - 1) / 2;
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned column = 0; column < PITCH; column++) {
            const unsigned i = row * PITCH + column, x = column + BEFORE, y = row + ABOVE;
            const unsigned is_in = column < COLUMNS;
            IS(to[i], is_in ? from[i] + y / DOWN * wide + x / ACROSS : i);
            sums[y % DOWN * ACROSS + x % ACROSS] += is_in ? from[i] : 0;
        }
    for (unsigned i = 0; i < ACROSS * DOWN; i++)
        IS(all[i], sums[i]);
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr some;
    CUtensorMap none;
    void *found;
    memset(&none, 0, sizeof none);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&context, 0));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "k"));
    OK(cuMemAlloc(&some, 65536));
    good.address = (void *)(uintptr_t)some;
    OK(cuGetProcAddress("cuTensorMapEncodeTiled", &found, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    IS(found == (void *)(uintptr_t)cuTensorMapEncodeTiled, 1);
    rules_of_sides();
    rules_of_kinds();
    boxes_of_matrices(kernel);
    IS(cuTensorMapReplaceAddress(&none, good.address), CUDA_ERROR_INVALID_VALUE);
    OK(cuDevicePrimaryCtxRelease(0));
    puts("right");
    return 0;
}
