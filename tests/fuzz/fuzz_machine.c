/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over machine files: any bytes describe a machine that passes its checks, or are refused with a message. */
#include <string.h>

#include "machine/machine.h"
#include "memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report report = {0};
    struct machine machine = {0};
    struct memory_file file;
    memory_file_make(&file, data, size);
    enum status status = machine_open(&machine, file.path, &report);
    if (!status)
        status = machine_check(&machine, &report);
    if (!status) {
        machine_check_timed(&machine, &report);
        machine_check_functional(&machine, &report);
        for (const struct param_description *param = machine.params.table; param->key; param++)
            machine_is_idle_key(&machine, param);
    } else if (!report.messages) {
        abort(); /* refused without a word */
    }
    machine_close(&machine);
    close(file.fd);
    report_free(&report);
    return 0;
}
