/* SPDX-License-Identifier: Apache-2.0 */
/* Every function of CUDA's runtime for arrays, textures and surfaces, with references and objects as nvcc compiles them. What samples
 * are worth is checked in tests/cuda/programs/samples.cu. */
#define PTX                                                                                                            \
    ".version 7.5\n.target sm_75\n.address_size 64\n"                                                                  \
    ".global .texref sheet;\n.global .texref line;\n.global .surfref board;\n"                                         \
    ".visible .entry by_reference(.param .u64 p)\n{\n"                                                                 \
    ".reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<4>;\n"                                                            \
    "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 8;\n"               \
    "add.u64 %rd1, %rd1, %rd2; mov.f32 %f2, 0f3f800000;\n"                                                             \
    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [sheet, {%f1, %f2}]; st.global.f32 [%rd1], %f3;\n"                        \
    "tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [line, {%r1}]; st.global.u32 [%rd1+4], %r4; ret;\n}\n"                    \
    ".visible .entry by_object(.param .u64 p, .param .u64 t)\n{\n"                                                     \
    ".reg .b32 %r<8>; .reg .f32 %f<8>; .reg .b64 %rd<4>;\n"                                                            \
    "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; ld.param.u64 %rd1, [p]; ld.param.u64 %rd3, [t];\n"                  \
    "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2; mov.f32 %f2, 0f3f800000;\n"                                  \
    "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd3, {%f1, %f2}]; st.global.f32 [%rd1], %f3; ret;\n}\n"                 \
    ".visible .entry draw(.param .u32 by)\n{\n.reg .b32 %r<4>;\n"                                                      \
    "mov.u32 %r1, %tid.x; ld.param.u32 %r3, [by]; shl.b32 %r2, %r1, 2;\n"                                              \
    "add.u32 %r1, %r1, %r3; sust.b.1d.b32.trap [board, {%r2}], {%r1}; ret;\n}\n"

#include "program.h"

enum { W = 16, H = 3, HTOD = 1, DTOH = 2, DTOD = 3, INVALID = 1, HANDLE = 400, FLOATS = 2, UNSIGNED = 1 };

static void by_reference(void) {}
static void by_object(void) {}
static void draw(void) {}
static struct texture_reference sheet = {.addressing = {1, 1, 1}}, line;
static int board;
static float values[H][W], back[H][W];
static const struct format floats = {32, 0, 0, 0, FLOATS};

static void register_more(void) {
    register_kernel(by_reference, "by_reference");
    register_kernel(by_object, "by_object");
    register_kernel(draw, "draw");
    __cudaRegisterTexture(module_handle, &sheet, NULL, "sheet", 2, 0, 0);
    __cudaRegisterTexture(module_handle, &line, NULL, "line", 1, 0, 0);
    __cudaRegisterSurface(module_handle, &board, NULL, "board", 1, 0);
}

/* ---- arrays ---- */

static void *check_arrays(void) {
    void *array = NULL, *other = NULL;
    struct format format = {0};
    struct extent extent;
    unsigned flags = 9;
    const struct format made = cudaCreateChannelDesc(32, 0, 0, 0, FLOATS), wrong = {7, 0, 0, 0, FLOATS};
    IS(memcmp(&made, &floats, sizeof made), 0);
    OK(cudaMallocArray(&array, &floats, W, H, 0));
    OK(cudaMalloc3DArray(&other, &floats, (struct extent){W, H, 2}, 1));
    IS(cudaMallocArray(&array, &wrong, W, H, 0), 20);
    IS(cudaMallocArray(&array, &floats, W, H, 0x40), 801);
    OK(cudaArrayGetInfo(&format, &extent, &flags, other));
    IS(extent.width == W && extent.height == H && extent.depth == 2 && flags == 1, 1);
    OK(cudaGetChannelDesc(&format, array));
    IS(memcmp(&format, &floats, sizeof format), 0);
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            values[y][x] = (float)(100 * y + x);
    OK(cudaMemcpy2DToArray(array, 0, 0, values, sizeof values[0], sizeof values[0], H, HTOD));
    OK(cudaMemcpy2DFromArray(back, sizeof back[0], array, 8, 1, 16, 2, DTOH));
    IS(back[0][0] == 102 && back[1][3] == 205, 1);
    OK(cudaMemcpy2DToArrayAsync(other, 0, 0, values, sizeof values[0], sizeof values[0], H, HTOD, NULL));
    OK(cudaMemcpy2DFromArrayAsync(back, sizeof back[0], other, 0, 2, 8, 1, DTOH, NULL));
    IS(back[0][1] == 201, 1);
    OK(cudaMemcpy2DArrayToArray(other, 0, 0, array, 0, 1, 64, 1, DTOD));
    OK(cudaMemcpyArrayToArray(other, 4, 1, array, 8, 0, 64, DTOD));
    OK(cudaMemcpyFromArray(back, other, 0, 0, 2 * sizeof back[0], DTOH));
    IS(back[0][3] == 103 && back[1][1] == 2 && back[1][14] == 15 && back[1][15] == 100, 1);
    OK(cudaMemcpyToArray(other, 60, 0, values, 68, HTOD));
    OK(cudaMemcpyToArrayAsync(other, 0, 2, values, 64, HTOD, NULL));
    OK(cudaMemcpyFromArrayAsync(back, other, 0, 0, sizeof back, DTOH, NULL));
    IS(back[0][15] == 0 && back[1][0] == 1 && back[1][15] == 100 && back[2][5] == 5, 1);
    IS(cudaMemcpyToArray(array, 0, 0, values, sizeof values + 4, HTOD), INVALID);
    IS(cudaMemcpy2DToArray(array, 4, 0, values, 64, 64, H, HTOD), INVALID);
    IS(cudaMemcpyFromArray(back, back, 0, 0, 4, DTOH), INVALID);
    OK(cudaFreeArray(other));
    IS(cudaFreeArray(other), INVALID);
    IS(cudaArrayGetInfo(&format, NULL, NULL, other), HANDLE);
    OK(cudaMemcpyToArray(array, 0, 0, values, sizeof values, HTOD));
    return array;
}

/* ---- references ---- */

static void check_references(void *array) {
    enum { COUNT = 8, ROOM = 32 };
    static unsigned words[COUNT][2];
    struct {
        float height;
        unsigned word;
    } out[ROOM];
    void *data, *memory, *arguments[1] = {&data};
    size_t offset = 1;
    const void *same;
    const struct format pairs = {32, 32, 0, 0, UNSIGNED};
    for (unsigned i = 0; i < COUNT; i++)
        words[i][1] = 7 * i + 1;
    OK(cudaMalloc(&data, sizeof out));
    OK(cudaMalloc(&memory, sizeof words));
    OK(cudaMemcpy(memory, words, sizeof words, HTOD));
    OK(cudaGetTextureReference(&same, &sheet));
    IS(same == &sheet, 1);
    IS(cudaGetTextureReference(&same, &data), 18);
    OK(cudaBindTextureToArray(&sheet, array, &floats));
    OK(cudaBindTexture(&offset, &line, memory, &pairs, sizeof words));
    IS(offset, 0);
    offset = 1;
    OK(cudaGetTextureAlignmentOffset(&offset, &line));
    IS(offset, 0);
    OK(launch(by_reference, 1, ROOM, arguments, NULL));
    OK(cudaMemcpy(out, data, sizeof out, DTOH));
    for (unsigned i = 0; i < ROOM; i++) {
        IS(out[i].height == values[1][i < W ? i : W - 1], 1);
        IS(out[i].word, i < COUNT ? 7 * i + 1 : 0);
    }
    sheet.addressing[0] = 3; /* a border of 0, from the next binding on */
    OK(cudaBindTexture2D(&offset, &sheet, memory, &floats, 2, 2, 8));
    IS(cudaBindTexture2D(&offset, &sheet, memory, &floats, 2, 200, 8), INVALID);
    OK(launch(by_reference, 1, ROOM, arguments, NULL));
    OK(cudaMemcpy(out, data, sizeof out, DTOH));
    IS(memcmp(&out[1].height, &words[1][1], 4), 0);
    IS(out[2].height == 0, 1);
    OK(cudaUnbindTexture(&sheet));
    IS(cudaUnbindTexture((struct texture_reference *)&data), 18);
    OK(cudaFree(data));
    OK(cudaFree(memory));
}

/* ---- objects ---- */

static void check_objects(void *array) {
    struct resource resource = {.type = 0, .array = array}, about;
    struct texture_settings settings = {.addressing = {1, 1, 1}}, told;
    uint64_t texture = 0, surface = 0;
    unsigned by = 5;
    float out[2 * W];
    void *data, *arguments[2] = {&data, &texture}, *drawing[1] = {&by}, *strip;
    const void *same;
    OK(cudaMalloc(&data, sizeof out));
    OK(cudaCreateTextureObject(&texture, &resource, &settings, NULL));
    IS(cudaCreateTextureObject(&texture, &resource, &settings, &settings), 801); /* a view */
    OK(launch(by_object, 1, W, arguments, NULL));
    OK(cudaMemcpy(out, data, sizeof out, DTOH));
    for (int i = 0; i < W; i++)
        IS(out[2 * i] == values[1][i], 1);
    memset(&told, 0xee, sizeof told);
    OK(cudaGetTextureObjectResourceDesc(&about, texture));
    OK(cudaGetTextureObjectTextureDesc(&told, texture));
    IS(about.array == array && told.addressing[2] == 1, 1);
    IS(told.others[1], CUDA == 11 ? (int)0xeeeeeeee : 0); /* nothing behind what the version has */
    OK(cudaDestroyTextureObject(texture));
    IS(cudaGetTextureObjectResourceDesc(&about, texture), INVALID);
    OK(cudaMallocArray(&strip, &floats, W, 0, 2));
    resource.array = strip;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    OK(cudaGetSurfaceObjectResourceDesc(&about, surface));
    IS(about.array == strip, 1);
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaGetSurfaceReference(&same, &board));
    IS(same == &board, 1);
    OK(cudaBindSurfaceToArray(&board, strip, &floats));
    OK(launch(draw, 1, W, drawing, NULL));
    OK(cudaMemcpyFromArray(out, strip, 0, 0, W * 4, DTOH));
    IS(memcmp(&out[3], &(unsigned){8}, 4), 0);
    OK(cudaFree(data));
    OK(cudaFreeArray(strip));
}

/* ---- mipmaps ---- */

/* Levels are arrays; what textures read of them is checked in tests/cuda/programs/levels.cu. */
static void check_mipmaps(void) {
    void *all = NULL, *level = NULL, *whole = NULL;
    struct extent extent;
    OK(cudaMallocMipmappedArray(&all, &floats, (struct extent){W, 4, 0}, 3, 0));
    OK(cudaGetMipmappedArrayLevel(&whole, all, 0));
    OK(cudaGetMipmappedArrayLevel(&level, all, 2));
    IS(cudaGetMipmappedArrayLevel(&level, all, 3), INVALID);
    IS(cudaGetMipmappedArrayLevel(&level, whole, 0), HANDLE);
    OK(cudaArrayGetInfo(NULL, &extent, NULL, level));
    IS(extent.width == W / 4 && extent.height == 1 && extent.depth == 0, 1);
    OK(cudaMemcpy2DToArray(level, 0, 0, values, W, W, 1, HTOD));
    OK(cudaMemcpy2DFromArray(back, W, level, 0, 0, W, 1, DTOH));
    IS(memcmp(back, values, W), 0);
    struct resource resource = {.type = 1, .array = all}, about;
    const struct texture_settings settings = {.addressing = {1, 1, 1}, .is_normalised = 1};
    uint64_t texture;
    OK(cudaCreateTextureObject(&texture, &resource, &settings, NULL));
    OK(cudaGetTextureObjectResourceDesc(&about, texture));
    IS(about.type == 1 && about.array == all, 1);
    OK(cudaDestroyTextureObject(texture));
    IS(cudaFreeArray(level), INVALID); /* it is no array of its own */
    OK(cudaFreeMipmappedArray(all));
    IS(cudaFreeMipmappedArray(all), INVALID);
    IS(cudaArrayGetInfo(NULL, &extent, NULL, level), HANDLE);
}

int main(void) {
    register_more();
    void *array = check_arrays();
    check_references(array);
    check_objects(array);
    check_mipmaps();
    OK(cudaFreeArray(array));
    puts("right");
    return 0;
}
