/* SPDX-License-Identifier: Apache-2.0 */
/* Two files of device code that were compiled to be linked: a kernel of one calls a function and reads a variable of the other. Both
 * have a $str of their own. */
#include "program.h"

#define HEADER ".version 7.5\n.target sm_75\n.address_size 64\n"
#define FIRST                                                                                                          \
    HEADER                                                                                                             \
    ".global .align 1 .b8 $str[4] = {1, 0, 0, 0};\n"                                                                   \
    ".extern .func (.param .b32 r) twice(.param .b32 a);\n.extern .global .align 4 .u32 other;\n"                      \
    ".visible .entry joined(.param .u64 p)\n{\n.reg .b32 %r<5>; .reg .b64 %rd<3>;\n"                                   \
    "{ .param .b32 a; st.param.b32 [a], 21; .param .b32 r; call.uni (r), twice, (a); ld.param.b32 %r1, [r]; }\n"       \
    "ld.global.u32 %r2, [other]; add.u32 %r1, %r1, %r2; mov.u64 %rd2, $str; ld.global.u8 %r3, [%rd2];\n"               \
    "add.u32 %r1, %r1, %r3; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r1; ret;\n}\n"
#define SECOND                                                                                                         \
    HEADER ".global .align 1 .b8 $str[4] = {100, 0, 0, 0};\n.visible .global .align 4 .u32 other = 5;\n"               \
           ".visible .func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %r<3>; .reg .b64 %rd; .reg .pred %q;\n"  \
           "ld.param.b32 %r1, [a]; setp.eq.u32 %q, %r1, 0; @%q bra $L__BB0_1; add.u32 %r1, %r1, %r1;\n"                \
           "mov.u64 %rd, $str; ld.global.u8 %r2, [%rd]; add.u32 %r1, %r1, %r2;\n"                                      \
           "$L__BB0_1: st.param.b32 [r], %r1; ret;\n}\n"

static struct fat_binary files[2] = {FAT_BINARY(1), FAT_BINARY(1)};

static void *fat_binary_of(unsigned index, const char *ptx) {
    memset(files[index].text, 0, sizeof files[index].text);
    memcpy(files[index].text, ptx, strlen(ptx)); /* shorter than the program's own */
    return &files[index];
}

int main(void) {
    void *list[] = {fat_binary_of(0, FIRST), fat_binary_of(1, SECOND), NULL};
    struct wrapper linked = {0x466243b1, 2, &fat_binary, list};
    unsigned value = 0, got = 0;
    void *p, *arguments[] = {&p};
    void **handle = __cudaRegisterFatBinary(&linked);
    __cudaRegisterFunction(handle, (const char *)list, (char *)"joined", "joined", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)&value, (char *)"other", "other", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
    OK(cudaMalloc(&p, sizeof got));
    OK(cudaLaunchKernel(list, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, arguments, 0, NULL));
    OK(cudaMemcpy(&got, p, sizeof got, 2));
    IS(got, 42 + 100 + 5 + 1);
    OK(cudaMemcpyFromSymbol(&got, &value, 4, 0, 2));
    IS(got, 5);
    puts("right");
    return 0;
}
