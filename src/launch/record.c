/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/record.h"

#include <string.h>
#include <xxhash.h>

#include "base/bits.h"
#include "base/file.h"
#include "base/yaml.h"
#include "device/kept.h"
#include "device/load.h"
#include "launch/checkpoint.h"
#include "launch/npy.h"

static bool is_zero(const uint8_t *bytes, uint64_t count) {
    return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

static const uint8_t *contents(const struct launch_record *record, const struct host_range *range) {
    return device_memory(record->order.device, range->start, range->bytes);
}

static uint64_t hash_of(const struct launch_record *record, const struct record_buffer *buffer) {
    return XXH64(contents(record, &buffer->range), buffer->range.bytes, 0);
}

static bool holds(const struct host_range *range, uint64_t address) { return address - range->start < range->bytes; }

/* ---- what is there ---- */

static const struct module *module_of(const struct launch_record *record) {
    return program_source(record->order.launch->program);
}

/* A parameter that may be an address: its value, else 0. */
static uint64_t address_of(const struct launch_record *record, const struct symbol *param) {
    uint64_t value = 0;
    if (type_is_float(param->type) || param->bytes != type_bytes(param->type) ||
        param->bytes != module_of(record)->address_bytes || (param->is_pointer && param->pointer_space == SPACE_SHARED))
        return 0;
    memcpy(&value, (const uint8_t *)record->order.launch->params + param->offset, param->bytes);
    return value;
}

static const char *name_of(struct launch_record *record, const struct host_range *range) {
    const struct launch *launch = record->order.launch;
    if (launch->workspace && holds(range, launch->workspace))
        return "workspace";
    for (unsigned i = 0; i < launch->kernel->param_count; i++)
        if (holds(range, address_of(record, launch->kernel->params[i])))
            return arena_printf(&record->arena, "arg%u", i);
    return arena_printf(&record->arena, "other%u", record->buffers.count);
}

static bool is_variable(const struct symbol *symbol) { return symbol_is_placed(symbol) && symbol->bytes; }

static struct host_range variable_range(const struct launch_record *record, const struct symbol *symbol) {
    return (struct host_range){program_image(record->order.launch->program) + symbol->offset, symbol->bytes,
                               symbol->name};
}

/* Whether a variable has another value than the module gives it. */
static bool is_changed(const struct launch_record *record, const struct symbol *symbol) {
    const struct host_range range = variable_range(record, symbol);
    return is_variable(symbol) && memcmp(contents(record, &range), record->initial + symbol->offset, range.bytes) != 0;
}

/* Variables are told by their names. */
static enum status check_variables(const struct launch_record *record, uint64_t *bytes, struct report *report) {
    const struct module *module = module_of(record);
    for (unsigned i = 0; i < module->variable_count; i++) {
        const struct symbol *symbol = module->variables[i];
        if (program_lies_elsewhere(record->order.launch->program, symbol))
            return report_add(report, STATUS_INVALID,
                              "the managed variable '%s' of its module lies in the program's own memory", symbol->name);
        if (record->order.checkpoints || !is_changed(record, symbol))
            continue;
        *bytes += symbol->bytes;
        for (unsigned k = 0; k < module->variable_count; k++)
            if (k != i && is_variable(module->variables[k]) && strcmp(module->variables[k]->name, symbol->name) == 0)
                return report_add(report, STATUS_INVALID, "two variables of its module are called '%s'", symbol->name);
    }
    return STATUS_OK;
}

/* The first access of an image in a module; NULL: there is none. */
static const struct inst *image_access_of(const struct module *module) {
    for (uint32_t pc = 0; pc < module->code_count; pc++)
        if (inst_is_of_images(&module->code[pc]))
            return &module->code[pc];
    return NULL;
}

enum status record_begin(struct launch_record *record, const struct record_order *order, uint64_t *bytes,
                         struct report *report) {
    *record = (struct launch_record){.order = *order};
    if (host_has_heap(order->device) && !order->checkpoints)
        return report_add(report, STATUS_INVALID,
                          "kernels before it have used malloc, and a launch file has no such heap");
    const struct inst *of_images = image_access_of(module_of(record));
    if (of_images)
        return report_add(report, STATUS_INVALID, "line %u of its module accesses an image, and a launch file has none",
                          (unsigned)of_images->text_line);
    const uint64_t image = program_image(order->launch->program), image_bytes = module_of(record)->image_bytes;
    uint8_t *initial = arena_alloc(&record->arena, image_bytes + 1);
    program_initial(order->launch->program, initial);
    record->initial = initial;
    *bytes = strlen(module_of(record)->text);
    for (unsigned i = 0; i < host_allocation_count(order->device); i++) {
        const struct host_range range = host_allocation_at(order->device, i);
        if (!range.bytes || (image_bytes && range.start - image < image_bytes) ||
            range.start == device_heap_address(order->device))
            continue;
        if (record->buffers.count == LAUNCH_BUFFERS_MAX)
            return report_add(report, STATUS_INVALID,
                              "the device has more allocations than a launch file has buffers, %d", LAUNCH_BUFFERS_MAX);
        const char *name = name_of(record, &range);
        struct record_buffer *buffer = ARENA_PUSH(&record->arena, &record->buffers);
        *buffer = (struct record_buffer){.name = name, .range = range};
        buffer->is_zero = is_zero(contents(record, &range), range.bytes);
        buffer->hash = hash_of(record, buffer);
        *bytes += buffer->is_zero || order->checkpoints ? 0 : range.bytes;
    }
    return check_variables(record, bytes, report);
}

/* ---- the launch file ---- */

static const char *bytes_text(struct arena *arena, const uint8_t *bytes, uint64_t count) {
    static const char digits[] = "0123456789abcdef";
    char *text = arena_alloc(arena, 2 * count + 1);
    for (uint64_t i = 0; i < count; i++)
        text[2 * i] = digits[bytes[i] >> 4], text[2 * i + 1] = digits[bytes[i] & 15];
    return arena_printf(arena, "{bytes: \"%s\"}", text);
}

static const char *number_of(struct arena *arena, const struct symbol *param, const uint8_t *bytes) {
    static const enum element integers[] = {[1] = ELEMENT_I8, [2] = ELEMENT_I16, [4] = ELEMENT_I32, [8] = ELEMENT_I64};
    const bool is_plain = param->bytes == type_bytes(param->type) && param->bytes <= 8;
    const enum element element = !is_plain                     ? ELEMENT_COUNT
                                 : !type_is_float(param->type) ? integers[param->bytes]
                                 : param->bytes == 4           ? ELEMENT_F32
                                 : param->bytes == 8           ? ELEMENT_F64
                                                               : ELEMENT_COUNT;
    char text[64];
    uint8_t again[8];
    struct number number;
    if (element == ELEMENT_COUNT || !number_parse(element_text(element, bytes, text, sizeof text), &number) ||
        !element_store(element, &number, again) || memcmp(again, bytes, param->bytes) != 0) /* NaN has many forms */
        return bytes_text(arena, bytes, param->bytes);
    return arena_printf(arena, "{%s: %s}", element_names[element], text);
}

static const char *address_text(struct launch_record *record, uint64_t address) {
    for (unsigned i = 0; i < record->buffers.count; i++) {
        const struct record_buffer *buffer = &record->buffers.items[i];
        if (!holds(&buffer->range, address))
            continue;
        const uint64_t offset = address - buffer->range.start;
        return offset ? arena_printf(&record->arena, "{buffer: %s, offset: %llu}", buffer->name,
                                     (unsigned long long)offset)
                      : buffer->name;
    }
    return NULL;
}

/* Where the shared memory of an argument begins. */
static bool is_local(const struct launch_record *record, unsigned param, uint64_t *start) {
    const struct symbol *symbol = record->order.launch->kernel->params[param];
    *start = 0;
    if (!symbol->is_pointer || symbol->pointer_space != SPACE_SHARED)
        return false;
    memcpy(start, (const uint8_t *)record->order.launch->params + symbol->offset,
           symbol->bytes < 8 ? symbol->bytes : 8);
    *start -= function_shared_address(record->order.launch->kernel, 0);
    return true;
}

static uint64_t shared_end(const struct launch *launch) {
    return bits_round_up(launch->kernel->shared_bytes, 16) + launch->dynamic_shared_bytes;
}

/* Local arguments follow each other; each reaches to the next, the last to the end. */
static uint64_t local_end(const struct launch_record *record, unsigned from) {
    const struct launch *launch = record->order.launch;
    uint64_t start;
    for (unsigned i = from; i < launch->kernel->param_count; i++)
        if (is_local(record, i, &start))
            return start;
    return shared_end(launch);
}

static const char *argument(struct launch_record *record, unsigned i) {
    const struct launch *launch = record->order.launch;
    const struct symbol *param = launch->kernel->params[i];
    uint64_t start;
    if (is_local(record, i, &start))
        return arena_printf(&record->arena, "{local: %llu}", (unsigned long long)(local_end(record, i + 1) - start));
    const char *buffer = address_text(record, address_of(record, param));
    return buffer ? buffer : number_of(&record->arena, param, (const uint8_t *)launch->params + param->offset);
}

static const char *launch_text(struct launch_record *record) {
    const struct launch *launch = record->order.launch;
    struct arena *arena = &record->arena;
    const unsigned dimensions = launch->work_dim ? launch->work_dim : 3;
    const uint64_t start = bits_round_up(launch->kernel->shared_bytes, 16);
    const char *text = arena_printf(arena, "launches:\n  - kernel: %s\n    grid: %s\n    block: %s\n",
                                    yaml_word(arena, launch->kernel->name), yaml_sizes(arena, launch->grid, dimensions),
                                    yaml_sizes(arena, launch->block, dimensions));
    if (launch->cluster[0])
        text = arena_printf(arena, "%s    cluster: %s\n", text, yaml_sizes(arena, launch->cluster, dimensions));
    if (launch->global_offset[0] || launch->global_offset[1] || launch->global_offset[2])
        text = arena_printf(arena, "%s    global_offset: %s\n", text,
                            yaml_sizes(arena, launch->global_offset, dimensions));
    if (local_end(record, 0) > start)
        text = arena_printf(arena, "%s    dynamic_shared: %llu\n", text,
                            (unsigned long long)(local_end(record, 0) - start));
    if (launch->workspace)
        text = arena_printf(arena, "%s    workspace: workspace\n", text);
    text = arena_printf(arena, "%s    args: [", text);
    for (unsigned i = 0; i < launch->kernel->param_count; i++)
        text = arena_printf(arena, "%s%s%s", text, i ? ", " : "", argument(record, i));
    return arena_printf(arena, "%s]\n", text);
}

static const char *variables_text(struct launch_record *record) {
    const struct module *module = module_of(record);
    struct arena *arena = &record->arena;
    const char *text = "";
    if (module->image_bytes)
        text = arena_printf(arena, "variables_at: 0x%llx\n",
                            (unsigned long long)program_image(record->order.launch->program));
    bool any = false;
    for (unsigned i = 0; i < module->variable_count; i++) {
        if (record->order.checkpoints || !is_changed(record, module->variables[i]))
            continue;
        text = arena_printf(arena, "%s%s  %s: {type: u8, fill: {file: variable%u.bin}}\n", text,
                            any ? "" : "variables:\n", yaml_word(arena, module->variables[i]->name), i);
        any = true;
    }
    return text;
}

static const char *buffers_text(struct launch_record *record) {
    struct arena *arena = &record->arena;
    struct output all;
    output_begin(&all);
    for (unsigned i = 0; i < record->buffers.count && all.to; i++) {
        const struct record_buffer *buffer = &record->buffers.items[i];
        fprintf(all.to, "%s  %s: {type: u8, count: %llu, address: 0x%llx", i ? "" : "buffers:\n", buffer->name,
                (unsigned long long)buffer->range.bytes, (unsigned long long)buffer->range.start);
        if (!buffer->is_zero && !record->order.checkpoints)
            fprintf(all.to, ", fill: {file: %s.bin}", buffer->name);
        fputs("}\n", all.to);
    }
    const char *text = output_close(&all) ? arena_strdup(arena, all.text ? all.text : "") : "";
    output_free(&all);
    return text;
}

/* ---- writing ---- */

static enum status write_bytes(struct launch_record *record, const char *name, const struct host_range *range,
                               struct report *report) {
    const char *path = file_join(&record->arena, record->order.folder, name);
    const uint8_t *bytes = contents(record, range);
    if (!npy_is(bytes, range->bytes))
        return file_write(path, bytes, range->bytes, report);
    /* raw bytes that look like a file of NumPy's are told as the contents of one */
    struct arena scratch = {0};
    char *whole = arena_alloc_unset(&scratch, range->bytes + NPY_HEADER_BYTES);
    npy_header(ELEMENT_U8, range->bytes, whole);
    memcpy(whole + NPY_HEADER_BYTES, bytes, range->bytes);
    const enum status status = file_write(path, whole, range->bytes + NPY_HEADER_BYTES, report);
    arena_free(&scratch);
    return status;
}

/* The module's name is that of its first kernel, or the program's; a path it is not. */
static const char *module_path(struct launch_record *record) {
    const char *name = load_text_name(&record->arena, file_name(module_of(record)->name));
    return file_ends_in(name, ".ptx") || load_is_native(name) ? name : "module.ptx";
}

static enum status write_text(struct launch_record *record, const char *rest, struct report *report) {
    const char *text = arena_printf(&record->arena, "%s%s", record->text, rest);
    return file_write(file_join(&record->arena, record->order.folder, "launch.yaml"), text, strlen(text), report);
}

/* Memory in files beside the launch file. */
static enum status write_memory(struct launch_record *record, struct report *report) {
    struct arena *arena = &record->arena;
    const struct module *module = module_of(record);
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < record->buffers.count; i++) {
        const struct record_buffer *buffer = &record->buffers.items[i];
        if (!buffer->is_zero)
            status = write_bytes(record, arena_printf(arena, "%s.bin", buffer->name), &buffer->range, report);
    }
    for (unsigned i = 0; !status && i < module->variable_count; i++) {
        const struct host_range range = variable_range(record, module->variables[i]);
        if (is_changed(record, module->variables[i]))
            status = write_bytes(record, arena_printf(arena, "variable%u.bin", i), &range, report);
    }
    return status;
}

static enum status write_checkpoint(struct launch_record *record, struct report *report) {
    const struct record_order *order = &record->order;
    const struct checkpoint_order of = {.device = order->device,
                                        .machine = device_machine(order->device),
                                        .next = order->launch->program,
                                        .in_time = order->launch->in_time,
                                        .launches = order->launches};
    return checkpoint_write(order->checkpoints, &of, order->checkpoint, report);
}

static const char *checkpoint_text(const struct launch_record *record, struct arena *arena) {
    const struct record_order *order = &record->order;
    if (!order->checkpoints)
        return "";
    return arena_printf(arena, "checkpoint: ../%s\n%s", order->checkpoint,
                        order->launch->in_time ? "" : "caches: cold # a functional launch has none\n");
}

enum status record_write(struct launch_record *record, struct report *report) {
    struct arena *arena = &record->arena;
    enum status status = record_module(&record->order, arena, module_path(record), report);
    if (!status)
        status = record->order.checkpoints ? write_checkpoint(record, report) : write_memory(record, report);
    record->text =
        arena_printf(arena, "%smodule: %s\n%s%s%s%s", record->order.about, yaml_word(arena, module_path(record)),
                     checkpoint_text(record, arena), variables_text(record), buffers_text(record), launch_text(record));
    return status ? status : write_text(record, "", report);
}

/* What the buffers hold now that hold something else than before. */
static void put_check(const struct launch_record *record, FILE *to) {
    const char *head = "check:\n";
    for (unsigned i = 0; i < record->buffers.count; i++) {
        const struct record_buffer *buffer = &record->buffers.items[i];
        const uint64_t hash = hash_of(record, buffer);
        if (hash == buffer->hash)
            continue;
        fprintf(to, "%s  - {buffer: %s, hash: \"%016llx\"}\n", head, buffer->name, (unsigned long long)hash);
        head = "";
    }
}

static void put_comment(const char *text, FILE *to) {
    for (bool begins = true; *text; begins = *text++ == '\n') {
        if (begins)
            fputs("# ", to);
        fputc((unsigned char)*text < ' ' && *text != '\n' ? '?' : *text, to);
    }
}

enum status record_end(struct launch_record *record, const char *stopped, struct report *report) {
    struct output all;
    enum status status = STATUS_OK;
    output_begin(&all);
    if (all.to && stopped)
        put_comment(stopped, all.to);
    else if (all.to)
        put_check(record, all.to);
    if (output_close(&all))
        status = write_text(record, all.text ? all.text : "", report);
    output_free(&all);
    return status;
}

void record_free(struct launch_record *record) { arena_free(&record->arena); }
