/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over NumPy files. */
#include "launch/npy.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy npy;
    struct report report = {0};
    enum status status = npy_parse("fuzz.npy", data, size, &npy, &report);
    if (status ? !report.messages : (const uint8_t *)npy.data + npy.data_bytes != data + size)
        abort();
    report_free(&report);
    return 0;
}
