/* SPDX-License-Identifier: Apache-2.0 */
#include "device/load.h"

#include "base/file.h"
#include "exec/exec.h"
#include "isa/analysis.h"
#include "ptx/ptx.h"
#include "sass/cubin.h"

bool load_is_text(const char *name) {
    return file_ends_in(name, ".ptx") || file_ends_in(name, ".sass") || file_ends_in(name, ".cubin");
}

enum status load_text(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    struct module *module = NULL;
    enum status status = (file_ends_in(name, ".sass")    ? native_load
                          : file_ends_in(name, ".cubin") ? cubin_load
                                                         : ptx_load)(name, text, length, &module, report);
    if (status)
        return status;
    status = exec_check(module, report);
    if (!status)
        status = analyse(module, report);
    if (status)
        module_free(module);
    else
        *out = module;
    return status;
}
