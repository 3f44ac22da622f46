/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer over the options of clBuildProgram and its relatives: what is taken can be no option, response file or second line
 * to a compiler. No compiler runs. */
#include <stdlib.h>
#include <string.h>

#include "opencl/program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_one_line(const char *text) { return !strpbrk(text, "\n\r"); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena = {0};
    struct build_options options;
    const char *text = arena_strndup(&arena, (const char *)data, size);
    for (enum build_stage stage = STAGE_BUILD; stage <= STAGE_LINK; stage++) {
        if (!build_options_read(text, stage, &arena, &options))
            continue;
        const struct compile_options *compile = &options.compile;
        for (unsigned i = 0; i < compile->define_count; i++)
            if (strchr("@-=\\", compile->defines[i][0]) || !is_one_line(compile->defines[i]))
                abort();
        for (unsigned i = 0; i < compile->include_count; i++)
            if (!*compile->includes[i] || !is_one_line(compile->includes[i]))
                abort();
        for (unsigned i = 0; i < compile->extra_count; i++)
            if (!compile_knows_option(COMPILE_OPENCL, compile->extra[i]))
                abort();
        if (compile->standard && strncmp(compile->standard, "CL", 2) != 0)
            abort();
    }
    arena_free(&arena);
    return 0;
}
