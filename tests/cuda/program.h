/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program without nvcc: a fat binary of PTX, registered as the code does that nvcc adds to a program, and CUDA's functions
 * as libcudart.so.11.0, .12 and .13 have them (CUDA is 11, 12 or 13). Written from the published interface. */
#ifndef HEDDLE_TESTS_CUDA_PROGRAM_H
#define HEDDLE_TESTS_CUDA_PROGRAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#ifndef CUDA
#error "CUDA: the version of the runtime, 11, 12 or 13"
#endif

struct dim3 {
    unsigned x, y, z;
};
struct pitched {
    void *data;
    size_t pitch, width, height;
};
struct extent {
    size_t width, height, depth;
};
struct copy3d_side {
    void *array;
    size_t x, y, z;
    struct pitched memory;
};
struct copy3d {
    struct copy3d_side from, to;
    struct extent extent;
    int kind;
};
struct copy3d_peer {
    struct copy3d_side from;
    int from_device;
    struct copy3d_side to;
    int to_device;
    struct extent extent;
};
struct location {
    int type, id;
};
struct kernel_params {
    void *function;
    struct dim3 grid, block;
    unsigned shared_bytes;
    void **arguments, **extra;
};
struct fill_params {
    void *to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
struct call_params {
    void (*function)(void *);
    void *data;
};
struct attribute {
    int id, unused;
    char value[64];
};
struct configuration {
    struct dim3 grid, block;
    size_t shared_bytes;
    void *stream;
    const struct attribute *attributes;
    unsigned attribute_count;
};

struct format {
    int x, y, z, w, kind;
};
struct resource {
    int type;
    union {
        void *array;
        struct {
            void *data;
            struct format format;
            size_t bytes;
        } linear;
        struct {
            void *data;
            struct format format;
            size_t width, height, pitch;
        } pitched;
        int room[32];
    };
};
struct texture_settings {
    int addressing[3], filter, read_mode, is_srgb;
    float border[4];
    int is_normalised, anisotropy, level_filter;
    float levels[3];
    int others[2];
};
struct texture_reference {
    int is_normalised, filter, addressing[3];
    struct format format;
    int others[21];
};

#define FUNCTION(name, ...) int name(__VA_ARGS__);
#define OTHER(type, name, ...) type name(__VA_ARGS__);
#include "functions.def"
#undef FUNCTION
#undef OTHER

/* ---- the program's kernels and variables ---- */

#ifndef PTX /* a program may bring its own */
#define PTX                                                                                                            \
    ".version 7.5\n.target sm_75\n.address_size 64\n"                                                                  \
    ".visible .global .align 4 .b8 table[64];\n"                                                                       \
    ".visible .const .align 4 .u32 step = 1;\n"                                                                        \
    ".visible .global .attribute(.managed) .align 4 .u32 counter = 5;\n"                                               \
    ".visible .entry add_step(.param .u64 p, .param .u32 n)\n{\n"                                                      \
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %q;\n"                                                              \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"                                              \
    "mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %q, %r4, %r5; @%q bra END;\n"                   \
    "ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n"                                   \
    "ld.global.u32 %r6, [%rd3]; ld.const.u32 %r7, [step]; add.u32 %r6, %r6, %r7; st.global.u32 [%rd3], %r6;\n"         \
    "END: ret;\n}\n"                                                                                                   \
    ".visible .entry count(.param .u32 by)\n{\n.reg .b32 %r<3>; .reg .b64 %rd;\n"                                      \
    "ld.param.u32 %r1, [by]; mov.u64 %rd, counter; atom.global.add.u32 %r2, [%rd], %r1;\n"                             \
    "mov.u64 %rd, table; atom.global.add.u32 %r2, [%rd+4], %r1; ret;\n}\n"                                             \
    ".visible .entry wild(.param .u64 p)\n{\n.reg .b64 %rd; ld.param.u64 %rd, [p]; st.global.u32 [%rd], 1; ret;\n}\n"  \
    ".visible .entry stop()\n{\ntrap;\nret;\n}\n"                                                                      \
    ".visible .entry spin()\n{\nL: bra L;\n}\n"                                                                        \
    ".visible .entry meet(.param .u64 p)\n{\n.reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %q;\n"                      \
    "mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd1, {%r2, %r1}; mov.u32 %r4, %nctaid.x;\n"                \
    "atom.global.add.u32 %r3, [%rd1], 1;\n"                                                                            \
    "L: ld.volatile.global.u32 %r5, [%rd1]; setp.lt.u32 %q, %r5, %r4; @%q bra L;\n"                                    \
    "ld.param.u64 %rd2, [p]; atom.global.add.u32 %r3, [%rd2], 1; ret;\n}\n"                                            \
    ".visible .entry empty()\n{\nret;\n}\n"
#endif

struct fat_binary {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_header_bytes;
    uint64_t entry_bytes;
    uint32_t packed_bytes, unused;
    uint16_t minor, major;
    uint32_t arch, name_offset, name_bytes;
    uint64_t flags, unused_too, raw_bytes;
    char text[(sizeof PTX + 7) / 8 * 8];
};

#define FAT_BINARY(of_kind)                                                                                            \
    {                                                                                                                  \
        .magic = 0xba55ed50, .version = 1, .header_bytes = 16, .bytes = sizeof(struct fat_binary) - 16,                \
        .kind = of_kind, .entry_version = 0x101, .entry_header_bytes = 64, .entry_bytes = (sizeof PTX + 7) / 8 * 8,    \
        .major = 7, .minor = 5, .arch = 75, .flags = 0x11, .text = PTX                                                 \
    }

static const struct fat_binary fat_binary __attribute__((section(".nv_fatbin"), aligned(8))) = FAT_BINARY(1);

struct wrapper {
    uint32_t magic, version;
    const void *data;
    void *unused;
};

static struct wrapper wrapper
    __attribute__((section(".nvFatBinSegment"), aligned(8))) = {0x466243b1, 1, &fat_binary, NULL};

/* Host functions and variables stand for those of the device by their addresses. */
static void add_step(void) {}
static void count(void) {}
static void wild(void) {}
static void stop(void) {}
static void spin(void) {}
static void meet(void) {}
static void empty(void) {}
static char table[64], step[4];
static unsigned *counter;

static void **module_handle;

static inline void *address(void (*function)(void)) {
    void *out;
    memcpy(&out, &function, sizeof out);
    return out;
}

static void unregister(void) { __cudaUnregisterFatBinary(module_handle); }

static inline void register_kernel(void (*function)(void), const char *name) {
    __cudaRegisterFunction(module_handle, address(function), (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL,
                           NULL);
}

__attribute__((constructor)) static void register_all(void) {
    module_handle = __cudaRegisterFatBinary(&wrapper);
    register_kernel(add_step, "add_step");
    register_kernel(count, "count");
    register_kernel(wild, "wild");
    register_kernel(stop, "stop");
    register_kernel(spin, "spin");
    register_kernel(meet, "meet");
    register_kernel(empty, "empty");
    __cudaRegisterVar(module_handle, table, (char *)"table", "table", 0, sizeof table, 0, 0);
    __cudaRegisterVar(module_handle, step, (char *)"step", "step", 0, sizeof step, 1, 0);
    __cudaRegisterManagedVar(module_handle, (void **)&counter, (char *)"counter", "counter", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(module_handle);
    __cudaInitModule(module_handle);
    atexit(unregister);
}

/* kernel<<<grid, block, shared, stream>>>(arguments), as nvcc writes it. */
static inline int launch(void (*kernel)(void), unsigned grid, unsigned block, void **arguments, void *stream) {
    struct dim3 popped_grid, popped_block;
    size_t shared;
    void *popped_stream;
    __cudaPushCallConfiguration((struct dim3){grid, 1, 1}, (struct dim3){block, 1, 1}, 0, stream);
    __cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &popped_stream);
#if CUDA >= 13
    void *handle = NULL;
    __cudaGetKernel(&handle, address(kernel));
    return __cudaLaunchKernel(handle, popped_grid, popped_block, arguments, shared, popped_stream);
#else
    return cudaLaunchKernel(address(kernel), popped_grid, popped_block, arguments, shared, popped_stream);
#endif
}

/* ---- what is expected ---- */

#define OK(call) IS(call, 0)

#endif
