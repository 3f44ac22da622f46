/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a listing of code of sm_75 to sm_90; the first byte says which. */
#include "native_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const headers[] = {"code for sm_75\n", "code for sm_80\n", "code for sm_86\n",
                                          "code for sm_89\n", "code for sm_90\n"};
    if (size)
        fuzz_text(headers[data[0] % 5], data + 1, size - 1);
    return 0;
}
