/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/library.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

const char *library_find(struct arena *arena, const char *name, const char *variable) {
    const char *chosen = getenv(variable);
    const char *folder = file_program_folder(arena), *here = folder ? folder : "";
    char path[PATH_MAX];
    const char *const candidates[] = {chosen && *chosen ? chosen : NULL, file_join(arena, here, name),
                                      arena_printf(arena, "%s/../" HEDDLE_LIBRARY_FOLDER "/%s", here, name)};
    for (unsigned i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        char *whole = candidates[i] ? realpath(candidates[i], path) : NULL;
        if (whole && access(whole, R_OK) == 0)
            return arena_strdup(arena, whole);
    }
    return NULL;
}
