/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of the driver API in this folder share: kernels as PTX, and what is expected. cuda.h is Heddle's own, or where nvcc is
 * found NVIDIA's, which must give the same. */
#ifndef HEDDLE_TESTS_CUDA_DRIVER_H
#define HEDDLE_TESTS_CUDA_DRIVER_H

#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define DRIVER_PTX                                                                                                     \
    ".version 7.5\n.target sm_75\n.address_size 64\n"                                                                  \
    ".visible .global .align 4 .b8 table[64];\n"                                                                       \
    ".visible .const .align 4 .u32 step = 3;\n"                                                                        \
    ".visible .entry add_step(.param .u64 p, .param .u32 n)\n{\n"                                                      \
    ".reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %q;\n"                                                              \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"                                              \
    "mad.lo.u32 %r4, %r1, %r2, %r3; ld.param.u32 %r5, [n]; setp.ge.u32 %q, %r4, %r5; @%q bra END;\n"                   \
    "ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd1, %rd2;\n"                                   \
    "ld.global.u32 %r6, [%rd3]; ld.const.u32 %r7, [step]; add.u32 %r6, %r6, %r7; st.global.u32 [%rd3], %r6;\n"         \
    "END: ret;\n}\n"                                                                                                   \
    ".visible .entry mark(.param .u32 by)\n{\n.reg .b32 %r<3>; .reg .b64 %rd;\n"                                       \
    "ld.param.u32 %r1, [by]; mov.u64 %rd, table; atom.global.add.u32 %r2, [%rd+4], %r1; ret;\n}\n"                     \
    ".visible .entry wild(.param .u64 p)\n{\n.reg .b64 %rd; ld.param.u64 %rd, [p]; st.global.u32 [%rd], 1; ret;\n}\n"  \
    ".visible .entry meet(.param .u64 p)\n{\n.reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %q;\n"                      \
    "mov.u32 %r1, %envreg1; mov.u32 %r2, %envreg2; mov.b64 %rd1, {%r2, %r1}; mov.u32 %r4, %nctaid.x;\n"                \
    "atom.global.add.u32 %r3, [%rd1], 1;\n"                                                                            \
    "L: ld.volatile.global.u32 %r5, [%rd1]; setp.lt.u32 %q, %r5, %r4; @%q bra L;\n"                                    \
    "ld.param.u64 %rd2, [p]; atom.global.add.u32 %r3, [%rd2], 1; ret;\n}\n"

#define OK(call) IS(call, CUDA_SUCCESS)

#endif
