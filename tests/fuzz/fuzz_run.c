/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a program that is not only loaded but launched: every kernel of it, with small limits, functionally and in
 * time, under the machine that the last byte chooses. A cubin where it is an ELF file, PTX where the text has .version, else a listing of
 * native code. Whatever it does, it ends, and what does not run says why. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "machine/machine.h"
#include "exec/exec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { KERNELS_MAX = 4, REGISTERS_MAX = 4096, LOCAL_BYTES_MAX = 1 << 14, BUFFERS = 3, WORDS = 64 };

/* What all of them are: two small SMs, and limits that no program lives long with. */
#define SMALL                                                                                                          \
    "sm.count: 2\nsm.max_threads: 128\nsm.max_block_threads: 128\nsm.max_warps: 4\nsm.max_blocks: "                    \
    "2\nmemory.capacity_bytes: 1 MiB\n"                                                                                \
    "l1.size_bytes: 1 KiB\nl1.ways: 2\nl2.size_bytes: 4 KiB\nl2.ways: 4\nlocal.stack_bytes: 512\n"                     \
    "functional.turn_issues: 200\nfunctional.warp_issues: 50\nfunctional.livelock_turns: 20\n"                         \
    "functional.max_instructions: 5000\nlimits.max_cycles: 4000\nprintf.buffer_bytes: 4096\n"

static const char *const choices[] = {
    SMALL "host.lanes: v1\n",
    SMALL "host.lanes: v3\n",
    SMALL "host.lanes: v4\n",
    SMALL "memory.out_of_bounds: warn\nhost.lanes: v1\n",
    SMALL "memory.out_of_bounds: warn\nhost.lanes: v3\n",
    SMALL "memory.out_of_bounds: warn\nhost.lanes: v4\n",
    SMALL "divergence.mechanism: dwf\nmemory.out_of_bounds: warn\n",
    SMALL "divergence.mechanism: tbc\n",
    SMALL "divergence.mechanism: lwm\n",
    SMALL "divergence.mechanism: barriers\nmemory.out_of_bounds: warn\n",
    SMALL "divergence.mechanism: mimd\n",
    SMALL "divergence.mechanism: frontiers\n",
    SMALL "divergence.mechanism: diverge-on-miss\n",
    SMALL "divergence.mechanism: tokens\n",
    SMALL "divergence.mechanism: hanoi\n",
    SMALL "divergence.mechanism: dual-path\nsm.pipeline: scoreboard\n",
    SMALL "divergence.mechanism: multi-path\nsm.pipeline: scoreboard\n",
    SMALL "divergence.mechanism: dws\nsm.pipeline: scoreboard\n",
    SMALL "divergence.mechanism: subwarp\nsm.pipeline: scoreboard\n",
    SMALL "divergence.mechanism: sbi\nsm.pipeline: scoreboard\n",
    SMALL "divergence.mechanism: sbi\nsbi.second: either\nsm.pipeline: scoreboard\n",
    SMALL "divergence.mechanism: vws\nvws.memory: group\nvws.reform: elastic\nsm.pipeline: scoreboard\n",
    SMALL "isa: fermi\n",
    SMALL "isa: tesla\nmemory.out_of_bounds: warn\n",
};
enum { MACHINES = sizeof choices / sizeof *choices };
static struct machine machines[MACHINES];

static void make_machines(void) {
    for (unsigned i = 0; i < MACHINES; i++) {
        struct report report = {0};
        if (machine_open_text(&machines[i], "fuzz.yaml", choices[i], strlen(choices[i]), &report) != STATUS_OK ||
            machine_check(&machines[i], &report) != STATUS_OK) {
            fputs(report_text(&report), stderr);
            abort();
        }
        if ((machines[i].host_lanes == MACHINE_LANES_V4 && !lanes_find("v4")) ||
            (machines[i].host_lanes == MACHINE_LANES_V3 && !lanes_find("v3")) ||
            (machines[i].host_lanes == MACHINE_LANES_V1 && !lanes_find("v1")))
            machines[i].host_lanes = MACHINE_LANES_AUTO;
        report_free(&report);
    }
}

/* Parameters of the width of an address are buffers in turn, others small numbers. */
static void fill_params(const struct function *kernel, unsigned address_bytes, const uint64_t *buffers, uint8_t *out) {
    for (unsigned i = 0; i < kernel->param_count; i++) {
        const struct symbol *param = kernel->params[i];
        const uint64_t number = param->bytes == address_bytes ? buffers[i % BUFFERS] : 3 * i + 1;
        memcpy(out + param->offset, &number, param->bytes < 8 ? param->bytes : 8);
    }
}

static void expect_reason(enum status status, const struct report *report) {
    if (status != STATUS_OK && report->messages == 0)
        abort();
}

/* One kernel on a device of its own; false: there is none of that number. */
static bool run_kernel(const struct machine *machine, const char *name, const uint8_t *data, size_t size,
                       unsigned number, bool in_time) {
    struct report report = {0};
    struct device *device = NULL;
    struct program *program = NULL;
    const struct function *kernel = NULL;
    uint64_t buffers[BUFFERS];
    unsigned entries = 0;
    if (device_create(&device, machine, &report) != STATUS_OK)
        abort();
    for (unsigned i = 0; i < BUFFERS; i++)
        if (device_alloc(device, "buffer", WORDS * sizeof(uint32_t), &buffers[i], &report) != STATUS_OK)
            abort();
    enum status status = device_load(device, name, (const char *)data, size, &program, &report);
    expect_reason(status, &report);
    const struct module *module = status == STATUS_OK ? program_module(program) : NULL;
    for (unsigned i = 0; module && i < module->function_count; i++)
        if (module->functions[i]->is_entry && module->functions[i]->is_defined && entries++ == number)
            kernel = module->functions[i];
    if (kernel && kernel->reg_count <= REGISTERS_MAX && kernel->local_bytes <= LOCAL_BYTES_MAX) {
        uint8_t *params = calloc(1, kernel->param_bytes + 8u);
        struct launch_result result;
        fill_params(kernel, module->address_bytes, buffers, params);
        struct launch launch = {.program = program,
                                .kernel = kernel,
                                .grid = {2, 1, 1},
                                .block = {48, 1, 1},
                                .params = params,
                                .work_dim = 1,
                                .in_time = in_time};
        for (unsigned i = 0; i < 3; i++)
            if (kernel->required_ntid[i])
                launch.block[i] = kernel->required_ntid[i];
        status = device_launch(device, &launch, &result, &report);
        expect_reason(status, &report);
        launch_result_free(&result);
        free(params);
    }
    device_destroy(device);
    report_free(&report);
    return kernel != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!machines[0].name)
        make_machines();
    if (!size--)
        return 0;
    /* The last byte says the machine; what stands before it is the program. */
    const struct machine *machine = &machines[data[size] % MACHINES];
    const bool is_elf = size > 4 && memcmp(data,
                                           "\x7f"
                                           "ELF",
                                           4) == 0;
    const char *name = is_elf                                               ? "fuzz.cubin"
                       : memmem(data, size, ".version", strlen(".version")) ? "fuzz.ptx"
                                                                            : "fuzz.sass";
    for (unsigned i = 0; i < KERNELS_MAX && run_kernel(machine, name, data, size, i, false); i++)
        run_kernel(machine, name, data, size, i, true);
    return 0;
}
