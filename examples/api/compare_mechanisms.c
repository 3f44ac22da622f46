/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel from a string, run under two divergence mechanisms on the same machine: cycles and SIMD efficiency of each.
 * pdom is a reconvergence stack; mimd lets every thread go its own way, which is as good as it gets.
 *
 *   cc compare_mechanisms.c -o compare_mechanisms $(pkg-config --cflags --libs heddle) && ./compare_mechanisms */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Threads take one side or the other of a branch at random, a new one in every round. */
static const char source[] = "kernel void sides(global uint *out) {\n"
                             "    uint x = get_global_id(0), left = 0, right = 0;\n"
                             "    for (int i = 0; i < 32; i++) {\n"
                             "        x = x * 1664525 + 1013904223;\n"
                             "        if (x >> 31)\n"
                             "            for (int k = 0; k < 8; k++)\n"
                             "                left = left * 31 + (x >> k);\n"
                             "        else\n"
                             "            for (int k = 0; k < 8; k++)\n"
                             "                right = right * 17 ^ (x << k);\n"
                             "    }\n"
                             "    out[get_global_id(0)] = left ^ right;\n"
                             "}\n";

enum { BLOCKS = 16, THREADS = 256, COUNT = BLOCKS * THREADS };

static struct heddle_text *errors;

static void must(enum heddle_status status) {
    if (status == HEDDLE_OK)
        return;
    fputs(heddle_text_get(errors), stderr);
    exit((int)status);
}

/* The first number of that name in a JSON object. A program that wants more of it takes a JSON library. */
static double number(const char *json, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *found = strstr(json, key);
    return found ? strtod(found + strlen(key), NULL) : -1;
}

static void run(const char *mechanism, uint32_t *values) {
    static const uint32_t grid[] = {BLOCKS}, block[] = {THREADS};
    struct heddle_machine *machine;
    struct heddle_device *device;
    struct heddle_module *module;
    struct heddle_kernel *kernel;
    struct heddle_buffer *buffer;
    struct heddle_text *launch = heddle_text_create();
    char setting[64];

    must(heddle_machine_open("fung-8800", &machine, errors));
    snprintf(setting, sizeof setting, "divergence.mechanism=%s", mechanism);
    must(heddle_machine_set(machine, setting, errors));
    must(heddle_device_open(machine, &device, errors));
    heddle_machine_close(machine);

    must(heddle_module_from_text(device, "sides.cl", source, NULL, &module, errors));
    must(heddle_kernel_find(module, "sides", &kernel, errors));
    must(heddle_buffer_create(device, "out", COUNT * sizeof *values, &buffer, errors));
    must(heddle_kernel_set_buffer(kernel, 0, buffer, 0, errors));
    must(heddle_kernel_launch(kernel, 1, grid, block, HEDDLE_IN_TIME, launch, errors));
    must(heddle_buffer_read(buffer, 0, values, COUNT * sizeof *values, errors));
    printf("%-6s %9.0f cycles  SIMD efficiency %4.1f %%\n", mechanism, number(heddle_text_get(launch), "cycles"),
           100 * number(heddle_text_get(launch), "simd_efficiency"));

    heddle_device_close(device);
    heddle_text_free(launch);
}

int main(void) {
    static uint32_t by_stack[COUNT], alone[COUNT];
    errors = heddle_text_create();
    run("pdom", by_stack);
    run("mimd", alone);
    const int differ = memcmp(by_stack, alone, sizeof by_stack);
    printf("results are %s\n", differ ? "different" : "the same");
    heddle_text_free(errors);
    return differ != 0;
}
