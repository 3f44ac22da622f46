/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a listing of Fermi code. */
#include "native_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_text("code for sm_20\n", data, size);
    return 0;
}
