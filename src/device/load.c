#include "device/load.h"

#include "base/file.h"
#include "ptx/ptx.h"
#include "sass/native.h"

bool load_is_text(const char *name) { return file_ends_in(name, ".ptx") || file_ends_in(name, ".sass"); }

enum status load_text(const char *name, const char *text, size_t length, struct module **out, struct report *report) {
    return (file_ends_in(name, ".sass") ? native_load : ptx_load)(name, text, length, out, report);
}
