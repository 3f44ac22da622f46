/* SPDX-License-Identifier: Apache-2.0 */
/* A program of which the fat binary holds native code alone: refused in words, and the process lives. */

#include "program.h"

static const struct fat_binary native = FAT_BINARY(2);

__attribute__((constructor)) static void register_native(void) {
    static struct wrapper own = {0x466243b1, 1, &native, NULL};
    void **handle = __cudaRegisterFatBinary(&own);
    __cudaRegisterFunction(handle, (const char *)&native, (char *)"native", "native", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

int main(void) {
    IS(cudaLaunchKernel(&native, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, NULL, 0, NULL), 209);
    IS(cudaGetLastError(), 209);
    OK(launch(empty, 1, 1, NULL, NULL));
    puts("right");
    return 0;
}
