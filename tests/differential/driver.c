/* SPDX-License-Identifier: Apache-2.0 */
/* Runs test cases on Heddle, many per process: driver TAG[,TAG...] NAME... (case.h). Where TAG is MECHANISM[+KEY=VALUE...]@GPU they run
 * in time, on that machine with that divergence mechanism; else functionally, where TAG is heddle[+KEY=VALUE...] with the
 * default one; text+isa=ISA runs the listing of the native code. */
#include "case.h"

#include "base/bits.h"
#include "compile/compile.h"
#include "device/device.h"
#include "device/lowered.h"
#include "machine/machine.h"
#include "isa/analysis.h"
#include "ptx/ptx.h"

/* One machine of the command line. */
struct tagged {
    const char *tag;
    struct machine machine;
};

struct bound {
    uint64_t address[CASE_ARGUMENTS_MAX];
    struct launch launch;
};

/* Arguments as a host would lay them out: buffers by address, local memory one after the other behind the kernel's. */
static enum status arguments_bind(struct device *device, struct test_case *c, struct bound *b, struct arena *arena,
                                  struct report *report) {
    const struct function *kernel = b->launch.kernel;
    if (kernel->param_count != c->argument_count)
        return report_add(report, STATUS_INVALID, "the kernel has %u parameters, the case %u", kernel->param_count,
                          c->argument_count);
    unsigned char *params = arena_alloc(arena, kernel->param_bytes + 1);
    uint64_t start = bits_round_up(kernel->shared_bytes, 16), end = start;
    for (unsigned i = 0; i < c->argument_count; i++) {
        struct case_argument *a = &c->arguments[i];
        const struct symbol *param = kernel->params[i];
        if (a->kind == CASE_BUFFER) {
            enum status status = device_alloc(device, "buffer", a->bytes, &b->address[i], report);
            if (status != STATUS_OK)
                return status;
            memcpy(device_memory(device, b->address[i], a->bytes), a->data, a->bytes);
            memcpy(params + param->offset, &b->address[i], sizeof(uint64_t));
        } else if (a->kind == CASE_LOCAL) {
            end = bits_round_up(end, 16);
            memcpy(params + param->offset, &end, sizeof(uint64_t));
            end += a->bytes;
        } else {
            memcpy(params + param->offset, a->data, a->bytes < param->bytes ? a->bytes : param->bytes);
        }
    }
    b->launch.params = params;
    b->launch.dynamic_shared_bytes = (uint32_t)(end - start);
    return STATUS_OK;
}

/* The listing of the native code that the program becomes, in its place. Its variables are those of the program. */
static enum status load_listing(struct device *device, const struct machine *machine, const char *base,
                                const struct compiled *compiled, struct program **program, struct arena *arena,
                                struct report *report) {
    struct module *module = NULL;
    const char *text;
    const struct lowered_options options = lowered_options_of(machine, program_image(*program));
    enum status status = ptx_load(base, compiled->ptx, compiled->ptx_bytes, &module, report);
    if (status == STATUS_OK)
        status = analyse(module, report);
    if (status == STATUS_OK)
        status = lowered_text(module, &options, arena, &text, report);
    if (module)
        module_free(module);
    if (status == STATUS_OK)
        status = device_load(device, "listing.sass", text, strlen(text), program, report);
    return status;
}

static enum status case_launch(struct device *device, const struct compiled *compiled, const char *base,
                               struct test_case *c, const struct tagged *on, struct arena *arena,
                               struct report *report) {
    struct program *program = NULL;
    const bool in_time = strchr(on->tag, '@') != NULL;
    enum status status = device_load(device, base, compiled->ptx, compiled->ptx_bytes, &program, report);
    if (status == STATUS_OK && strncmp(on->tag, "text", 4) == 0)
        status = load_listing(device, &on->machine, base, compiled, &program, arena, report);
    if (status != STATUS_OK)
        return status;
    const struct module *module = program_module(program);
    struct bound b = {.launch = {.program = program,
                                 .kernel = module_find(module, c->kernel),
                                 .work_dim = c->dims,
                                 .in_time = in_time}};
    if (!b.launch.kernel)
        return report_add(report, STATUS_INVALID, "no kernel %s", c->kernel);
    for (unsigned d = 0; d < 3; d++) {
        b.launch.block[d] = (uint32_t)c->local[d];
        b.launch.grid[d] = (uint32_t)(c->global[d] / c->local[d]);
        b.launch.global_offset[d] = (uint32_t)c->offset[d];
    }
    status = arguments_bind(device, c, &b, arena, report);
    if (status != STATUS_OK)
        return status;
    struct launch_result result = {0};
    status = device_launch(device, &b.launch, &result, report);
    if (status == STATUS_OK)
        for (unsigned i = 0; i < c->argument_count; i++)
            if (c->arguments[i].kind == CASE_BUFFER)
                memcpy(c->arguments[i].data, device_memory(device, b.address[i], c->arguments[i].bytes),
                       c->arguments[i].bytes);
    launch_result_free(&result);
    return status;
}

enum { TAGS_MAX = 32 };

/* Compiled as the case says. */
static enum status case_compile(const char *base, struct arena *arena, struct compiled *compiled,
                                struct report *report) {
    char path[4096];
    struct test_case c;
    const char *const quiet[] = {"-w"};
    snprintf(path, sizeof path, "%s.spec", base);
    if (!case_read(path, &c))
        return report_add(report, STATUS_INVALID, "%s: not a case", path);
    const struct compile_options options = {.no_cache = true,
                                            .extra = quiet,
                                            .extra_count = 1,
                                            .standard = c.standard[0] ? c.standard : NULL,
                                            .optimisation = c.optimisation};
    snprintf(path, sizeof path, "%s.cl", base);
    const enum status status = compile_file(path, &options, arena, compiled, report);
    case_free(&c);
    return status;
}

/* On one machine, from the case's inputs. */
static enum status case_run_on(const struct tagged *on, const struct compiled *compiled, const char *base,
                               struct report *report) {
    char path[4096];
    struct test_case c;
    struct arena arena = {0};
    struct device *device = NULL;
    snprintf(path, sizeof path, "%s.spec", base);
    if (!case_read(path, &c))
        return report_add(report, STATUS_INVALID, "%s: not a case", path);
    enum status status = device_create(&device, &on->machine, report);
    if (status == STATUS_OK)
        status = case_launch(device, compiled, base, &c, on, &arena, report);
    if (device)
        device_destroy(device);
    if (status == STATUS_OK && !case_write(&c, base, on->tag))
        status = report_add(report, STATUS_SYSTEM, "%s: the result cannot be written", base);
    arena_free(&arena);
    case_free(&c);
    return status;
}

/* Compiled once, run on every machine; the number of failures. */
static int case_run(const struct tagged *machines, unsigned count, const char *base) {
    struct arena arena = {0};
    struct compiled compiled;
    struct report report = {0};
    int failures = 0;
    const enum status status = case_compile(base, &arena, &compiled, &report);
    for (unsigned i = 0; i < count; i++) {
        struct report one = {0};
        if (status != STATUS_OK || case_run_on(&machines[i], &compiled, base, &one) != STATUS_OK) {
            case_fail(base, machines[i].tag, report_text(status != STATUS_OK ? &report : &one));
            failures++;
        }
        report_free(&one);
    }
    report_free(&report);
    arena_free(&arena);
    return failures;
}

static enum status open_machine(struct tagged *to, char *tag, struct report *report) {
    char setting[256];
    const char *at = strchr(tag, '@');
    to->tag = tag;
    const enum status status = machine_open(&to->machine, at ? at + 1 : NULL, report);
    if (status != STATUS_OK)
        return status;
    const char *word = strncmp(tag, "heddle", 6) == 0 || strncmp(tag, "text", 4) == 0 ? tag + strcspn(tag, "+") : tag;
    enum status set = STATUS_OK;
    for (int length; *word && *word != '@' && !set; word += length) {
        word += *word == '+';
        length = (int)strcspn(word, "+@");
        snprintf(setting, sizeof setting, "%s%.*s", word == tag ? "divergence.mechanism=" : "", length, word);
        set = machine_set(&to->machine, setting, "driver", report);
    }
    return set;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return fprintf(stderr, "driver TAG[,TAG...] NAME...\n"), 2;
    struct tagged machines[TAGS_MAX];
    struct report report = {0};
    unsigned count = 0;
    memset(machines, 0, sizeof machines);
    for (char *tag = strtok(argv[1], ","); tag && count < TAGS_MAX; tag = strtok(NULL, ","))
        if (open_machine(&machines[count++], tag, &report) != STATUS_OK)
            return fputs(report_text(&report), stderr), 2;
    int failures = 0;
    for (int i = 2; i < argc; i++)
        failures += case_run(machines, count, argv[i]);
    for (unsigned i = 0; i < count; i++)
        machine_close(&machines[i].machine);
    report_free(&report);
    return failures != 0;
}
