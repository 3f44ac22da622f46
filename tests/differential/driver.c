/* Runs test cases on Heddle, many per process: driver TAG NAME... (case.h). */
#include "case.h"

#include "base/bits.h"
#include "device/compile.h"
#include "device/device.h"
#include "device/machine.h"

struct bound {
    uint64_t address[CASE_ARGUMENTS_MAX];
    struct launch launch;
};

/* Arguments as a host would lay them out: buffers by address, local memory one after the other behind the module's. */
static enum status arguments_bind(struct device *device, const struct module *module, struct test_case *c,
                                  struct bound *b, struct arena *arena, struct report *report) {
    const struct function *kernel = b->launch.kernel;
    if (kernel->param_count != c->argument_count)
        return report_add(report, STATUS_INVALID, "the kernel has %u parameters, the case %u", kernel->param_count,
                          c->argument_count);
    unsigned char *params = arena_alloc(arena, kernel->param_bytes + 1);
    uint64_t start = bits_round_up(module->shared_bytes, 16), end = start;
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

static enum status case_launch(struct device *device, const struct compiled *compiled, const char *base,
                               struct test_case *c, struct arena *arena, struct report *report) {
    struct program *program = NULL;
    enum status status = device_load(device, base, compiled->ptx, compiled->ptx_bytes, &program, report);
    if (status != STATUS_OK)
        return status;
    const struct module *module = program_module(program);
    struct bound b = {.launch = {.program = program, .kernel = module_find(module, c->kernel), .work_dim = c->dims}};
    if (!b.launch.kernel)
        return report_add(report, STATUS_INVALID, "no kernel %s", c->kernel);
    for (unsigned d = 0; d < 3; d++) {
        b.launch.block[d] = (uint32_t)c->local[d];
        b.launch.grid[d] = (uint32_t)(c->global[d] / c->local[d]);
        b.launch.global_offset[d] = (uint32_t)c->offset[d];
    }
    status = arguments_bind(device, module, c, &b, arena, report);
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

static enum status case_run(const struct machine *machine, const char *base, const char *tag, struct report *report) {
    char path[4096];
    struct test_case c;
    snprintf(path, sizeof path, "%s.spec", base);
    if (!case_read(path, &c))
        return report_add(report, STATUS_INVALID, "%s: not a case", path);
    snprintf(path, sizeof path, "%s.cl", base);
    struct arena arena = {0};
    struct compiled compiled;
    const char *const quiet[] = {"-w"};
    const struct compile_options options = {
        .no_cache = true, .extra = quiet, .extra_count = 1, .standard = getenv("HEDDLE_TEST_STANDARD")};
    enum status status = compile_file(path, &options, &arena, &compiled, report);
    struct device *device = NULL;
    if (status == STATUS_OK)
        status = device_create(&device, machine, report);
    if (status == STATUS_OK)
        status = case_launch(device, &compiled, base, &c, &arena, report);
    if (device)
        device_destroy(device);
    if (status == STATUS_OK && !case_write(&c, base, tag))
        status = report_add(report, STATUS_SYSTEM, "%s: the result cannot be written", base);
    arena_free(&arena);
    case_free(&c);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return fprintf(stderr, "driver TAG NAME...\n"), 2;
    struct machine machine = {0};
    struct report report = {0};
    if (machine_open(&machine, NULL, &report) != STATUS_OK)
        return fputs(report_text(&report), stderr), 2;
    int failures = 0;
    for (int i = 2; i < argc; i++) {
        struct report one = {0};
        if (case_run(&machine, argv[i], argv[1], &one) != STATUS_OK) {
            case_fail(argv[i], argv[1], report_text(&one));
            failures++;
        }
        report_free(&one);
    }
    machine_close(&machine);
    report_free(&report);
    return failures != 0;
}
