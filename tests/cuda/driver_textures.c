/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of CUDA's driver API for arrays, textures and surfaces. What samples are worth is checked in
 * tests/cuda/programs/samples.cu. */
#include "driver.h"

#define TEXTURES                                                                                                       \
    ".version 7.5\n.target sm_75\n.address_size 64\n.global .texref sheet;\n.global .surfref board;\n"                 \
    ".visible .entry fetch(.param .u64 p, .param .u64 t)\n{\n"                                                         \
    ".reg .b32 %r<8>; .reg .f32 %f<12>; .reg .b64 %rd<4>;\n"                                                           \
    "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; ld.param.u64 %rd1, [p]; ld.param.u64 %rd3, [t];\n"                  \
    "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2; mov.f32 %f2, 0f3fc00000;\n"                                  \
    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [sheet, {%f1, %f2}]; st.global.f32 [%rd1], %f3;\n"                        \
    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd3, {%f1, %f2}]; st.global.f32 [%rd1+4], %f3; ret;\n}\n"               \
    ".visible .entry draw()\n{\n.reg .b32 %r<3>;\n"                                                                    \
    "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; sust.b.2d.b32.trap [board, {%r2, 0}], {%r1}; ret;\n}\n"

enum { W = 16, H = 4 };

static float values[H][W], back[H][W];
static unsigned char shades[H][W];

static void check_arrays(CUarray *floats, CUarray *bytes) {
    const CUDA_ARRAY_DESCRIPTOR about = {W, H, CU_AD_FORMAT_FLOAT, 1}, wrong = {W, H, CU_AD_FORMAT_FLOAT, 3};
    const CUDA_ARRAY3D_DESCRIPTOR solid = {W, H, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1, CUDA_ARRAY3D_LAYERED};
    CUDA_ARRAY_DESCRIPTOR told;
    CUDA_ARRAY3D_DESCRIPTOR told_solid;
    CUarray layers, line;
    CUdeviceptr memory;
    OK(cuArrayCreate(floats, &about));
    IS(cuArrayCreate(bytes, &wrong), CUDA_ERROR_INVALID_VALUE);
    OK(cuArrayCreate(bytes, &(CUDA_ARRAY_DESCRIPTOR){W, H, CU_AD_FORMAT_UNSIGNED_INT8, 1}));
    OK(cuArray3DCreate(&layers, &solid));
    OK(cuArrayGetDescriptor(&told, *floats));
    IS(memcmp(&told, &about, sizeof told), 0);
    OK(cuArray3DGetDescriptor(&told_solid, layers));
    IS(told_solid.Depth == 2 && told_solid.Format == CU_AD_FORMAT_UNSIGNED_INT8 && told_solid.Flags == 1, 1);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            values[y][x] = (float)(100 * y + x), shades[y][x] = (unsigned char)(16 * y + x);
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = values,
                          .srcPitch = sizeof values[0],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .dstArray = *floats,
                          .WidthInBytes = sizeof values[0],
                          .Height = H};
    OK(cuMemcpy2D(&copy));
    copy.WidthInBytes = 6; /* no whole texels */
    IS(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    const CUDA_MEMCPY3D fetch = {.srcXInBytes = 8,
                                 .srcY = 1,
                                 .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .srcArray = *floats,
                                 .dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = back,
                                 .dstPitch = sizeof back[0],
                                 .dstHeight = H,
                                 .WidthInBytes = 12,
                                 .Height = 2,
                                 .Depth = 1};
    OK(cuMemcpy3D(&fetch));
    IS(back[0][0] == 102 && back[1][2] == 204, 1);
    OK(cuArrayCreate(&line, &(CUDA_ARRAY_DESCRIPTOR){W, 0, CU_AD_FORMAT_FLOAT, 1}));
    OK(cuMemAlloc(&memory, sizeof values));
    OK(cuMemcpyHtoA(line, 0, values[1], sizeof values[1]));
    OK(cuMemcpyHtoAAsync(line, 4, values[2], 4, NULL));
    OK(cuMemcpyAtoD(memory, line, 0, 16));
    OK(cuMemcpyDtoA(line, 32, memory, 16));
    OK(cuMemcpyAtoA(line, 60, line, 4, 4));
    OK(cuMemcpyAtoH(back, line, 0, sizeof back[0]));
    OK(cuMemcpyAtoHAsync(back[1], line, 60, 4, NULL));
    IS(back[0][0] == 100 && back[0][1] == 200 && back[0][9] == 200 && back[0][10] == 102 && back[1][0] == 200, 1);
    IS(cuMemcpyAtoH(back, line, 32, sizeof back[0]), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoA(*bytes, 0, shades, sizeof shades));
    OK(cuMemFree(memory));
    OK(cuArrayDestroy(line));
    OK(cuArrayDestroy(layers));
    IS(cuArrayDestroy(layers), CUDA_ERROR_INVALID_VALUE);
}

static void check_mipmaps(void) {
    const CUDA_ARRAY3D_DESCRIPTOR about = {W, W, 0, CU_AD_FORMAT_FLOAT, 1, 0},
                                  wrong = {W, W, 0, CU_AD_FORMAT_FLOAT, 3, 0};
    CUmipmappedArray all;
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR told;
    OK(cuMipmappedArrayCreate(&all, &about, 4));
    IS(cuMipmappedArrayCreate(&all, &wrong, 4), CUDA_ERROR_INVALID_VALUE);
    OK(cuMipmappedArrayGetLevel(&level, all, 2));
    OK(cuArray3DGetDescriptor(&told, level));
    IS(told.Width == W / 4 && told.Height == W / 4 && told.Depth == 0, 1);
    IS(cuMipmappedArrayGetLevel(&level, all, 4), CUDA_ERROR_INVALID_VALUE);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = all},
                       same;
    CUDA_TEXTURE_DESC how = {.flags = CU_TRSF_NORMALIZED_COORDINATES, .maxMipmapLevelClamp = 3};
    CUtexObject object;
    OK(cuTexObjectCreate(&object, &resource, &how, NULL));
    OK(cuTexObjectGetResourceDesc(&same, object));
    IS(same.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY && same.res.mipmap.hMipmappedArray == all, 1);
    OK(cuTexObjectDestroy(object));
    OK(cuMipmappedArrayDestroy(all));
    IS(cuMipmappedArrayDestroy(all), CUDA_ERROR_INVALID_VALUE);
}

static CUtexObject check_objects(CUarray floats) {
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = floats}, told;
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_BORDER, CU_TR_ADDRESS_MODE_CLAMP}, .borderColor = {-1}},
                      same;
    CUtexObject object, other;
    CUsurfObject surface;
    CUdeviceptr memory;
    OK(cuTexObjectCreate(&object, &resource, &how, NULL));
    OK(cuTexObjectGetResourceDesc(&told, object));
    IS(told.res.array.hArray == floats, 1);
    OK(cuTexObjectGetTextureDesc(&same, object));
    IS(same.borderColor[0] == -1 && same.addressMode[0] == CU_TR_ADDRESS_MODE_BORDER, 1);
    OK(cuSurfObjectCreate(&surface, &resource));
    OK(cuSurfObjectGetResourceDesc(&told, surface));
    OK(cuSurfObjectDestroy(surface));
    OK(cuMemAlloc(&memory, 4096));
    resource = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D,
                                    .res.pitch2D = {memory, CU_AD_FORMAT_SIGNED_INT16, 2, 8, 8, 64}};
    OK(cuTexObjectCreate(&other, &resource, &how, NULL));
    OK(cuTexObjectGetResourceDesc(&told, other));
    IS(told.res.pitch2D.pitchInBytes == 64 && told.res.pitch2D.format == CU_AD_FORMAT_SIGNED_INT16, 1);
    OK(cuTexObjectDestroy(other));
    resource =
        (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR, .res.linear = {memory, CU_AD_FORMAT_FLOAT, 4, 8192}};
    IS(cuTexObjectCreate(&other, &resource, &how, NULL), CUDA_ERROR_INVALID_VALUE); /* beyond its end */
    OK(cuMemFree(memory));
    return object;
}

static void run(CUfunction function, CUdeviceptr out, CUtexObject object, float (*got)[2]) {
    void *arguments[] = {&out, &object};
    OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    OK(cuMemcpyDtoH(got, out, 32 * sizeof *got));
}

static void check_references(CUmodule module, CUarray floats, CUarray bytes, CUtexObject object) {
    CUtexref sheet, none;
    CUfunction fetch;
    CUdeviceptr out, address;
    CUarray array;
    CUaddress_mode mode;
    CUfilter_mode filter;
    CUarray_format format;
    float got[32][2], colour[4] = {2, 0, 0, 0};
    unsigned flags;
    int number;
    size_t offset = 1;
    OK(cuModuleGetFunction(&fetch, module, "fetch"));
    OK(cuMemAlloc(&out, sizeof got));
    OK(cuModuleGetTexRef(&sheet, module, "sheet"));
    IS(cuModuleGetTexRef(&none, module, "nothing"), CUDA_ERROR_NOT_FOUND);
    OK(cuTexRefSetArray(sheet, bytes, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefSetFilterMode(sheet, CU_TR_FILTER_MODE_LINEAR));
    OK(cuTexRefSetAddressMode(sheet, 0, CU_TR_ADDRESS_MODE_BORDER));
    OK(cuTexRefSetAddressMode(sheet, 1, CU_TR_ADDRESS_MODE_CLAMP));
    OK(cuTexRefSetBorderColor(sheet, colour));
    OK(cuTexRefSetMaxAnisotropy(sheet, 2));
    run(fetch, out, object, got);
    for (int i = 1; i < W; i++) { /* fractions, halfway between two texels */
        IS(got[i][0] == (float)((shades[1][i - 1] + shades[1][i]) / 510.0), 1);
        IS(got[i][1] == values[1][i], 1);
    }
    IS(got[20][0] == 2 && got[20][1] == -1, 1);
    OK(cuTexRefGetArray(&array, sheet));
    OK(cuTexRefGetAddressMode(&mode, sheet, 1));
    OK(cuTexRefGetFilterMode(&filter, sheet));
    OK(cuTexRefGetFormat(&format, &number, sheet));
    OK(cuTexRefGetBorderColor(colour, sheet));
    IS(array == bytes && mode == CU_TR_ADDRESS_MODE_CLAMP && filter == CU_TR_FILTER_MODE_LINEAR && colour[0] == 2, 1);
    IS(format == CU_AD_FORMAT_UNSIGNED_INT8 && number == 1, 1);
    OK(cuTexRefGetMaxAnisotropy(&number, sheet));
    IS(number, 2);
    IS(cuTexRefSetFlags(sheet, CU_TRSF_READ_AS_INTEGER) != CUDA_SUCCESS, 1); /* integers are not filtered */
    OK(cuTexRefSetFilterMode(sheet, CU_TR_FILTER_MODE_POINT));
    OK(cuTexRefGetFlags(&flags, sheet));
    IS(flags, CU_TRSF_READ_AS_INTEGER);
    IS(cuTexRefGetAddress(&address, sheet), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexRefSetAddress2D(sheet, &(CUDA_ARRAY_DESCRIPTOR){4, 2, CU_AD_FORMAT_FLOAT, 1}, out, 32));
    OK(cuTexRefGetAddress(&address, sheet));
    IS(address == out, 1);
    OK(cuTexRefCreate(&none));
    OK(cuTexRefSetFormat(none, CU_AD_FORMAT_UNSIGNED_INT32, 2));
    OK(cuTexRefSetAddress(&offset, none, out, 64));
    IS(offset, 0);
    OK(cuTexRefDestroy(none));
    IS(cuTexRefSetFlags(none, 0), CUDA_ERROR_INVALID_HANDLE);
    OK(cuTexRefSetArray(sheet, floats, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuMemFree(out));
}

static void check_surfaces(CUmodule module, CUarray floats) {
    CUsurfref board;
    CUarray array;
    CUfunction draw;
    unsigned got[W];
    OK(cuModuleGetSurfRef(&board, module, "board"));
    OK(cuSurfRefSetArray(board, floats, 0));
    OK(cuSurfRefGetArray(&array, board));
    IS(array == floats, 1);
    OK(cuModuleGetFunction(&draw, module, "draw"));
    OK(cuLaunchKernel(draw, 1, 1, 1, W, 1, 1, 0, NULL, NULL, NULL));
    OK(cuMemcpyAtoH(got, floats, 0, sizeof got));
    for (unsigned i = 0; i < W; i++)
        IS(got[i], i);
}

int main(void) {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUarray floats, bytes;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, TEXTURES));
    check_arrays(&floats, &bytes);
    check_mipmaps();
    const CUtexObject object = check_objects(floats);
    check_references(module, floats, bytes, object);
    check_surfaces(module, floats);
    OK(cuTexObjectDestroy(object));
    OK(cuArrayDestroy(floats));
    OK(cuArrayDestroy(bytes));
    OK(cuModuleUnload(module));
    puts("right");
    return 0;
}
