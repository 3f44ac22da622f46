/* SPDX-License-Identifier: Apache-2.0 */
/* Native programs as the files that compilers leave (cubin): ELF for machine 190, both ways. What stands where is
 * in docs/native.md, with how it is known. */
#ifndef HEDDLE_SASS_CUBIN_H
#define HEDDLE_SASS_CUBIN_H

#include "sass/native.h"
#include <stdint.h>

/* A file to a program, which has no text; *out is empty but may have its arena. Refusals name the file, the section and the
 * byte in it. */
enum status cubin_read(const char *name, const uint8_t *bytes, size_t length, struct native_program *out,
                       struct report *report);
/* The program as a file, in the arena: what is read from it is the program again. Refused: an instruction without an
 * encoding, and what the file has no room for. */
enum status cubin_write(const struct native_program *program, struct arena *arena, uint8_t **bytes, size_t *length,
                        struct report *report);
/* The number of sm in a file's header; 0: it is no cubin. */
unsigned cubin_sm(const uint8_t *bytes, size_t length);

/* ---- what both ways share ---- */

enum {
    CUBIN_MACHINE = 190,
    CUBIN_OS_ABI = 0x33,
    CUBIN_ABI_VERSION = 4,
    CUBIN_TEXTURE_MODE = 0x100, /* flags of the file: textures and samplers are one */
    CUBIN_WIDE = 0x400,         /* addresses of 64 bits */
    CUBIN_ENTRY = 0x10,         /* in st_other: a kernel */
    CUBIN_BARRIER_SHIFT = 20,   /* in flags of .text.K: barriers that are used */
    CUBIN_BARRIER_MASK = 127,
    CUBIN_REGISTER_SHIFT = 24, /* in info of .text.K: registers; below, the symbol of the section */
    CUBIN_R_32 = 1,
    CUBIN_R_64 = 2,
    CUBIN_R_ABS32_26 = 5, /* 32 bits of an instruction from bit 26 on: the address, its lower, its upper half */
    CUBIN_R_ABS32_LO_26 = 10,
    CUBIN_R_ABS32_HI_26 = 11,
    /* of sm_75 to sm_90 */
    CUBIN_R_G64 = 4,     /* a generic address */
    CUBIN_R_TEXTURE = 6, /* the handle of a texture, of a surface */
    CUBIN_R_SURFACE = 52,
    CUBIN_R_ABS32_LO_32 = 56, /* bits 32 to 63 of an instruction */
    CUBIN_R_ABS32_HI_32 = 57,
    CUBIN_R_ABS47_34 = 58,    /* where it calls: bits 34 to 81, in words of four bytes */
    CUBIN_R_ABS55_16_34 = 75, /* the same of sm_90, with eight lower bits at 16 */
    CUBIN_SECTION_INFO = 0x70000000,
    CUBIN_SYMBOL_TEXTURE = 10, /* types of symbols that are no variables: .texref and .surfref of PTX */
    CUBIN_SYMBOL_SURFACE = 12,
};

/* Records of .nv.info: a byte each for format and attribute, then two of value or length. */
enum { INFO_NONE = 1, INFO_BYTE = 2, INFO_SHORT = 3, INFO_SIZED = 4 };
enum {
    INFO_MAX_THREADS = 0x05,
    INFO_PARAM_BANK = 0x0a,
    INFO_SHARED_PARAM_OFFSETS = 0x0b, /* Tesla */
    INFO_PARAM_OFFSETS = 0x0c,
    INFO_REQUIRED_THREADS = 0x10,
    INFO_FRAME_BYTES = 0x11,
    INFO_MIN_STACK_BYTES = 0x12,
    INFO_PARAM = 0x17,
    INFO_SHARED_PARAM_BYTES = 0x18, /* Tesla */
    INFO_PARAM_BYTES = 0x19,
    INFO_MAX_STACK_BYTES = 0x23,
    INFO_MEETINGS = 0x28, /* operations of a warp that have a mask, and */
    INFO_MEETING_MASKS = 0x29,
    INFO_REGISTERS = 0x2f,
    INFO_INDIRECT_TARGETS = 0x34,
    INFO_CLUSTER = 0x3d,
    INFO_BARRIERS = 0x4c,
};

#endif
