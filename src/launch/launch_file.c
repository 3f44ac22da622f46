/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch_file.h"
#include "base/file.h"
#include "compile/compile.h"
#include "launch/tensor_arg.h"
#include "base/words.h"
#include <string.h>
#include <xxhash.h>

struct launch_parser {
    struct arena *arena;
    struct report *report;
    struct launch_file *file;
    const struct yaml *yaml;
    const char **buffer_names; /* NULL-terminated, for suggestions */
};

/* Reading goes on after an error so that a user sees all of them; the first one is what is returned. */
static void keep(enum status *status, enum status one) { *status = *status ? *status : one; }

static enum status need(const struct launch_parser *p, const struct yaml_node *map, const char *what, const char *key,
                        const struct yaml_node **out) {
    *out = yaml_get(map, key);
    return *out ? STATUS_OK : yaml_error(p->yaml, map, p->report, "%s needs the key '%s'", what, key);
}

static enum status read_word(const struct launch_parser *p, const struct yaml_node *node, const char *what,
                             const char **out) {
    if (node->kind != YAML_SCALAR || !*node->text || yaml_is_null(node))
        return yaml_error(p->yaml, node, p->report, "%s has to be a word", what);
    *out = node->text;
    return STATUS_OK;
}

static enum status read_element(const struct launch_parser *p, const struct yaml_node *node, enum element *out) {
    const char *name = "";
    enum status status = read_word(p, node, "a type", &name);
    const enum element found = element_find(name);
    *out = found == ELEMENT_COUNT ? ELEMENT_U8 : found; /* reading goes on after an error */
    if (!status && found == ELEMENT_COUNT)
        status = yaml_error(p->yaml, node, p->report, "there is no type '%.40s'; types are %s", name,
                            words_join(p->arena, element_names));
    return status;
}

/* Of device memory: not 0, which is no address. */
static enum status read_address(const struct launch_parser *p, const struct yaml_node *node, uint64_t *out) {
    const enum status status = yaml_unsigned(p->yaml, node, "an address", UINT64_C(1) << 48, out, p->report);
    return status || *out ? status : yaml_error(p->yaml, node, p->report, "an address must not be 0");
}

static enum status read_buffer(const struct launch_parser *p, const struct yaml_node *key, const struct yaml_node *node,
                               struct launch_buffer *out) {
    static const char *const keys[] = {"type", "count", "fill", "address", NULL};
    out->name = key->text;
    out->at = key;
    enum status status = yaml_known_keys(p->yaml, node, "a buffer", keys, p->report);
    if (status)
        return status;
    const struct yaml_node *type, *count = yaml_get(node, "count"), *fill = yaml_get(node, "fill");
    const struct yaml_node *address = yaml_get(node, "address");
    status = need(p, node, "a buffer", "type", &type);
    if (status)
        return status;
    status = read_element(p, type, &out->element);
    if (address)
        keep(&status, read_address(p, address, &out->address));
    if (count)
        keep(&status, yaml_unsigned(p->yaml, count, "count", UINT64_C(1) << 40, &out->count, p->report));
    if (!status && count && out->count == 0)
        keep(&status, yaml_error(p->yaml, count, p->report, "count has to be at least 1"));
    if (!status && fill)
        keep(&status, fill_parse(p->yaml, fill, out->element, p->arena, &out->fill, p->report));
    if (!status && !count && out->fill.kind != FILL_FILE && out->fill.kind != FILL_VALUES)
        keep(&status, yaml_error(p->yaml, node, p->report,
                                 "a buffer needs the key 'count', unless its fill is a file or a list of values"));
    return status;
}

static enum status read_buffers(struct launch_parser *p, const struct yaml_node *node) {
    if (yaml_is_null(node))
        return STATUS_OK;
    if (node->kind != YAML_MAP)
        return yaml_error(p->yaml, node, p->report, "buffers are written as 'name: {type: f32, count: 1024}'");
    if (node->count > LAUNCH_BUFFERS_MAX)
        return yaml_error(p->yaml, node, p->report, "a launch file has at most %d buffers", LAUNCH_BUFFERS_MAX);
    struct launch_file *file = p->file;
    enum status status = STATUS_OK;
    file->buffers = ARENA_ARRAY(p->arena, struct launch_buffer, node->count);
    file->buffer_count = node->count;
    p->buffer_names = ARENA_ARRAY(p->arena, const char *, (size_t)node->count + 1);
    for (unsigned i = 0; i < node->count; i++) {
        p->buffer_names[i] = node->keys[i]->text;
        keep(&status, read_buffer(p, node->keys[i], node->items[i], &file->buffers[i]));
    }
    return status;
}

static enum status read_variable(const struct launch_parser *p, const struct yaml_node *key,
                                 const struct yaml_node *node, struct launch_variable *out) {
    static const char *const keys[] = {"type", "fill", NULL};
    const struct yaml_node *type, *fill;
    *out = (struct launch_variable){.name = key->text, .at = key};
    enum status status = yaml_known_keys(p->yaml, node, "a variable", keys, p->report);
    if (!status)
        status = need(p, node, "a variable", "type", &type);
    if (!status)
        status = need(p, node, "a variable", "fill", &fill);
    if (!status)
        status = read_element(p, type, &out->element);
    return status ? status : fill_parse(p->yaml, fill, out->element, p->arena, &out->fill, p->report);
}

static enum status read_variables(const struct launch_parser *p, const struct yaml_node *node) {
    if (yaml_is_null(node))
        return STATUS_OK;
    if (node->kind != YAML_MAP || node->count > LAUNCH_BUFFERS_MAX)
        return yaml_error(p->yaml, node, p->report,
                          "variables are written as 'name: {type: f32, fill: {value: 1}}', at most %d of them",
                          LAUNCH_BUFFERS_MAX);
    enum status status = STATUS_OK;
    p->file->variables = ARENA_ARRAY(p->arena, struct launch_variable, node->count);
    p->file->variable_count = node->count;
    for (unsigned i = 0; i < node->count; i++)
        keep(&status, read_variable(p, node->keys[i], node->items[i], &p->file->variables[i]));
    return status;
}

unsigned launch_file_buffer(const struct launch_file *file, const char *name) {
    unsigned i = 0;
    while (i < file->buffer_count && strcmp(file->buffers[i].name, name) != 0)
        i++;
    return i;
}

static enum status find_buffer(const struct launch_parser *p, const struct yaml_node *node, unsigned *out) {
    const char *name = "";
    enum status status = read_word(p, node, "the name of a buffer", &name);
    if (status)
        return status;
    *out = launch_file_buffer(p->file, name);
    if (*out < p->file->buffer_count)
        return STATUS_OK;
    *out = 0;
    struct number number;
    if (number_parse(name, &number))
        return yaml_error(p->yaml, node, p->report, "a number needs its type: {i32: %.30s} or {f32: %.30s}", name,
                          name);
    const char *near = words_suggest(name, p->buffer_names);
    if (near)
        return yaml_error(p->yaml, node, p->report, "there is no buffer '%.60s'; did you mean '%s'?", name, near);
    return yaml_error(p->yaml, node, p->report, "there is no buffer '%.60s'; %s%s", name,
                      p->file->buffer_count ? "buffers are " : "the file defines none",
                      words_join(p->arena, p->buffer_names));
}

/* {f32: 2.5}, or {f32: [1, 2, 3, 4]} for a vector. */
static enum status read_values(const struct launch_parser *p, const struct yaml_node *node, struct launch_arg *out) {
    unsigned count = node->kind == YAML_LIST ? node->count : 1;
    if (node->kind == YAML_MAP || count == 0 || count > 16)
        return yaml_error(p->yaml, node, p->report, "a scalar is one number, a vector a list of 2 to 16");
    unsigned size = element_bytes(out->element);
    unsigned char *bytes = arena_alloc(p->arena, (size_t)count * size);
    for (unsigned i = 0; i < count; i++) {
        const struct yaml_node *item = node->kind == YAML_LIST ? node->items[i] : node;
        struct number number;
        if (item->kind != YAML_SCALAR || item->quoted || !number_parse(item->text, &number))
            return yaml_error(p->yaml, item, p->report, "a number is expected here");
        if (!element_store(out->element, &number, bytes + (size_t)i * size))
            return yaml_error(p->yaml, item, p->report, "%s does not fit the type %s", item->text,
                              element_names[out->element]);
    }
    out->bytes = bytes;
    out->byte_count = (uint64_t)count * size;
    return STATUS_OK;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

static enum status read_bytes(const struct launch_parser *p, const struct yaml_node *node, struct launch_arg *out) {
    const char *text = node->kind == YAML_SCALAR ? node->text : "?";
    unsigned char *bytes = arena_alloc(p->arena, strlen(text) / 2 + 1);
    uint64_t count = 0;
    for (; *text; text++) {
        if (*text == ' ' || *text == '_')
            continue;
        int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0)
            return yaml_error(p->yaml, node, p->report,
                              "bytes are pairs of hexadecimal digits, lowest address first, in quotes: \"00ff 3c\"");
        bytes[count++] = (unsigned char)(high * 16 + low);
        text++;
    }
    out->bytes = bytes;
    out->byte_count = count;
    return STATUS_OK;
}

static enum status read_arg(const struct launch_parser *p, const struct yaml_node *node, struct launch_arg *out) {
    out->at = node;
    if (node->kind == YAML_SCALAR) {
        out->kind = LAUNCH_ARG_BUFFER;
        return find_buffer(p, node, &out->buffer);
    }
    static const char *const with_offset[] = {"buffer", "offset", NULL};
    const struct yaml_node *buffer = yaml_get(node, "buffer"), *offset = yaml_get(node, "offset");
    if (buffer) {
        out->kind = LAUNCH_ARG_BUFFER;
        enum status status = yaml_known_keys(p->yaml, node, "a buffer argument", with_offset, p->report);
        keep(&status, find_buffer(p, buffer, &out->buffer));
        if (!status && offset)
            keep(&status, yaml_unsigned(p->yaml, offset, "offset", UINT64_C(1) << 40, &out->offset, p->report));
        return status;
    }
    if (yaml_get(node, "tensor")) {
        enum status status = tensor_arg_read(p->yaml, node, p->arena, out, p->report);
        return status ? status : find_buffer(p, yaml_get(node, "tensor"), &out->buffer);
    }
    if (node->kind != YAML_MAP || node->count != 1)
        return yaml_error(p->yaml, node, p->report,
                          "an argument is the name of a buffer, {i32: 5}, {local: BYTES} or {bytes: \"HEX\"}");
    const struct yaml_node *key = node->keys[0], *value = node->items[0];
    if (strcmp(key->text, "local") == 0) {
        out->kind = LAUNCH_ARG_LOCAL;
        return yaml_unsigned(p->yaml, value, "local", UINT32_MAX, &out->byte_count, p->report);
    }
    if (strcmp(key->text, "bytes") == 0) {
        out->kind = LAUNCH_ARG_BYTES;
        return read_bytes(p, value, out);
    }
    out->kind = LAUNCH_ARG_VALUES;
    enum status status = read_element(p, key, &out->element);
    return status ? status : read_values(p, value, out);
}

/* A list of one to three sizes, or one number. Absent dimensions keep what `out` holds. */
static enum status read_sizes(const struct launch_parser *p, const struct yaml_node *node, const char *what,
                              uint32_t min, uint32_t out[3], uint32_t *dimensions) {
    unsigned count = node->kind == YAML_LIST ? node->count : 1;
    if (node->kind == YAML_MAP || count == 0 || count > 3)
        return yaml_error(p->yaml, node, p->report, "%s is a list of one to three numbers: [x, y, z]", what);
    for (unsigned i = 0; i < count; i++) {
        const struct yaml_node *item = node->kind == YAML_LIST ? node->items[i] : node;
        uint64_t value;
        enum status status = yaml_unsigned(p->yaml, item, what, INT32_MAX, &value, p->report);
        if (!status && value < min)
            status = yaml_error(p->yaml, item, p->report, "%s has to be at least %u", what, min);
        if (status)
            return status;
        out[i] = (uint32_t)value;
    }
    if (count > *dimensions)
        *dimensions = count;
    return STATUS_OK;
}

static enum status read_args(const struct launch_parser *p, const struct yaml_node *node, struct launch_step *out) {
    if (node->kind != YAML_LIST)
        return yaml_error(p->yaml, node, p->report, "args is a list, one entry for each argument of the kernel");
    enum status status = STATUS_OK;
    out->args_at = node;
    out->arg_count = node->count;
    out->args = ARENA_ARRAY(p->arena, struct launch_arg, node->count);
    for (unsigned i = 0; i < node->count; i++)
        keep(&status, read_arg(p, node->items[i], &out->args[i]));
    return status;
}

static enum status read_launch(const struct launch_parser *p, const struct yaml_node *node, struct launch_step *out) {
    static const char *const keys[] = {"kernel",        "grid",      "block",   "args", "dynamic_shared",
                                       "global_offset", "workspace", "cluster", NULL};
    *out = (struct launch_step){.at = node, .args_at = node, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    enum status status = yaml_known_keys(p->yaml, node, "a launch", keys, p->report);
    if (node->kind != YAML_MAP)
        return status;
    const struct yaml_node *grid, *block, *args = yaml_get(node, "args");
    const struct yaml_node *shared = yaml_get(node, "dynamic_shared"), *offset = yaml_get(node, "global_offset");
    const struct yaml_node *workspace = yaml_get(node, "workspace"), *cluster = yaml_get(node, "cluster");
    enum status missing = need(p, node, "a launch", "kernel", &out->kernel_at);
    keep(&missing, need(p, node, "a launch", "grid", &grid));
    keep(&missing, need(p, node, "a launch", "block", &block));
    keep(&status, missing);
    if (missing)
        return status;
    keep(&status, read_word(p, out->kernel_at, "kernel", &out->kernel));
    keep(&status, read_sizes(p, grid, "grid", 1, out->grid, &out->dimensions));
    keep(&status, read_sizes(p, block, "block", 1, out->block, &out->dimensions));
    if (offset)
        keep(&status, read_sizes(p, offset, "global_offset", 0, out->global_offset, &out->dimensions));
    if (cluster) {
        out->cluster[0] = out->cluster[1] = out->cluster[2] = 1;
        keep(&status, read_sizes(p, cluster, "cluster", 1, out->cluster, &out->dimensions));
    }
    uint64_t bytes = 0;
    if (shared)
        keep(&status, yaml_unsigned(p->yaml, shared, "dynamic_shared", UINT32_MAX, &bytes, p->report));
    out->dynamic_shared_bytes = (uint32_t)bytes;
    out->has_workspace = workspace != NULL;
    if (workspace)
        keep(&status, find_buffer(p, workspace, &out->workspace));
    if (args)
        keep(&status, read_args(p, args, out));
    return status;
}

static enum status read_launches(const struct launch_parser *p, const struct yaml_node *node) {
    if (node->kind != YAML_LIST || node->count == 0)
        return yaml_error(p->yaml, node, p->report,
                          "launches is a list: '- {kernel: name, grid: [256], block: [256], args: [...]}'");
    enum status status = STATUS_OK;
    p->file->launch_count = node->count;
    p->file->launches = ARENA_ARRAY(p->arena, struct launch_step, node->count);
    for (unsigned i = 0; i < node->count; i++)
        keep(&status, read_launch(p, node->items[i], &p->file->launches[i]));
    return status;
}

static enum status read_tolerance(const struct launch_parser *p, const struct yaml_node *node, double *out) {
    struct number number;
    if (node->kind != YAML_SCALAR || node->quoted || !number_parse(node->text, &number) || !(number.real >= 0))
        return yaml_error(p->yaml, node, p->report, "tolerance has to be a number of at least 0");
    *out = number.real;
    return STATUS_OK;
}

static enum status read_hash(const struct launch_parser *p, const struct yaml_node *node, uint64_t *out) {
    const char *text = node->kind == YAML_SCALAR ? node->text : "";
    *out = 0;
    bool valid = strlen(text) == 16;
    for (unsigned i = 0; valid && i < 16; i++) {
        int digit = hex_digit(text[i]);
        valid = digit >= 0;
        *out = *out << 4 | (uint64_t)(digit & 15);
    }
    return valid ? STATUS_OK
                 : yaml_error(p->yaml, node, p->report,
                              "hash is the xxHash64 of the bytes: 16 hexadecimal digits in quotes");
}

/* What is compared: exactly one of equals, hash, sum. */
static enum status read_expectation(const struct launch_parser *p, const struct yaml_node *node,
                                    struct launch_check *out) {
    const struct yaml_node *equals = yaml_get(node, "equals"), *hash = yaml_get(node, "hash");
    const struct yaml_node *sum = yaml_get(node, "sum");
    if ((equals != NULL) + (hash != NULL) + (sum != NULL) != 1)
        return yaml_error(p->yaml, node, p->report, "a check has exactly one of the keys equals, hash and sum");
    if (equals) {
        out->kind = LAUNCH_CHECK_EQUALS;
        return fill_parse(p->yaml, equals, p->file->buffers[out->buffer].element, p->arena, &out->equals, p->report);
    }
    if (hash) {
        out->kind = LAUNCH_CHECK_HASH;
        return read_hash(p, hash, &out->hash);
    }
    out->kind = LAUNCH_CHECK_SUM;
    if (sum->kind != YAML_SCALAR || sum->quoted || !number_parse(sum->text, &out->sum))
        return yaml_error(p->yaml, sum, p->report, "sum has to be a number");
    return STATUS_OK;
}

static enum status read_check(const struct launch_parser *p, const struct yaml_node *node, struct launch_check *out) {
    static const char *const keys[] = {"buffer", "equals", "hash", "sum", "tolerance", "first", "count", NULL};
    out->at = node;
    enum status status = yaml_known_keys(p->yaml, node, "a check", keys, p->report);
    if (status)
        return status;
    const struct yaml_node *buffer, *tolerance = yaml_get(node, "tolerance");
    const struct yaml_node *first = yaml_get(node, "first"), *count = yaml_get(node, "count");
    status = need(p, node, "a check", "buffer", &buffer);
    if (!status)
        status = find_buffer(p, buffer, &out->buffer);
    if (status)
        return status;
    if (tolerance)
        keep(&status, read_tolerance(p, tolerance, &out->tolerance));
    if (first)
        keep(&status, yaml_unsigned(p->yaml, first, "first", UINT64_C(1) << 40, &out->first, p->report));
    if (count)
        keep(&status, yaml_unsigned(p->yaml, count, "count", UINT64_C(1) << 40, &out->count, p->report));
    if (!status && count && out->count == 0)
        keep(&status, yaml_error(p->yaml, count, p->report, "count has to be at least 1"));
    keep(&status, read_expectation(p, node, out));
    return status;
}

static enum status read_checks(const struct launch_parser *p, const struct yaml_node *node) {
    if (yaml_is_null(node))
        return STATUS_OK;
    if (node->kind != YAML_LIST)
        return yaml_error(p->yaml, node, p->report, "check is a list: '- {buffer: y, equals: {value: 1.0}}'");
    enum status status = STATUS_OK;
    p->file->check_count = node->count;
    p->file->checks = ARENA_ARRAY(p->arena, struct launch_check, node->count);
    for (unsigned i = 0; i < node->count; i++)
        keep(&status, read_check(p, node->items[i], &p->file->checks[i]));
    return status;
}

static enum status read_words(const struct launch_parser *p, const struct yaml_node *node, const char *what,
                              const char ***out, unsigned *count) {
    if (node->kind != YAML_LIST)
        return yaml_error(p->yaml, node, p->report, "%s is a list of words", what);
    *out = ARENA_ARRAY(p->arena, const char *, node->count);
    *count = node->count;
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < node->count; i++)
        keep(&status, read_word(p, node->items[i], what, &(*out)[i]));
    return status;
}

/* A launch file from someone else must not be able to load a plug-in into the compiler. */
static enum status check_build(const struct launch_parser *p, const struct yaml_node *defines,
                               const struct yaml_node *includes, const struct yaml_node *options) {
    const struct launch_build *build = &p->file->build;
    enum status status = STATUS_OK;
    for (unsigned i = 0; defines && i < build->define_count; i++) {
        const char *why = compile_bad_define(build->defines[i]);
        if (why)
            keep(&status, yaml_error(p->yaml, defines->items[i], p->report, "%s", why));
    }
    for (unsigned i = 0; includes && i < build->include_count; i++) {
        const char *why = compile_bad_path(build->includes[i]);
        if (why)
            keep(&status, yaml_error(p->yaml, includes->items[i], p->report, "%s", why));
    }
    for (unsigned i = 0; options && i < build->option_count; i++)
        if (strncmp(build->options[i], "-cl-", 4) != 0 || !compile_knows_option(COMPILE_OPENCL, build->options[i]))
            keep(&status, yaml_error(p->yaml, options->items[i], p->report,
                                     "only options of OpenCL that begin with -cl- are passed on; use defines and "
                                     "includes for -D and -I"));
    return status;
}

static enum status read_build(const struct launch_parser *p, const struct yaml_node *node) {
    static const char *const keys[] = {"defines", "includes", "standard", "options", NULL};
    struct launch_build *build = &p->file->build;
    enum status status = yaml_known_keys(p->yaml, node, "build", keys, p->report);
    if (status)
        return status;
    const struct yaml_node *defines = yaml_get(node, "defines"), *includes = yaml_get(node, "includes");
    const struct yaml_node *standard = yaml_get(node, "standard"), *options = yaml_get(node, "options");
    if (defines)
        keep(&status, read_words(p, defines, "defines", &build->defines, &build->define_count));
    if (includes)
        keep(&status, read_words(p, includes, "includes", &build->includes, &build->include_count));
    if (standard)
        keep(&status, read_word(p, standard, "standard", &build->standard));
    if (options)
        keep(&status, read_words(p, options, "options", &build->options, &build->option_count));
    return status ? status : check_build(p, defines, includes, options);
}

enum status launch_file_parse(struct arena *arena, const char *name, const char *text, size_t length,
                              struct launch_file *out, struct report *report) {
    static const char *const keys[] = {"module",   "build", "variables_at", "variables", "buffers",
                                       "launches", "check", "checkpoint",   "caches",    NULL};
    static const char *const no_names[] = {NULL};
    *out = (struct launch_file){.name = name, .folder = file_dir(arena, name), .text_hash = XXH64(text, length, 0)};
    enum status status = yaml_parse(arena, name, text, length, &out->yaml, report);
    if (!status)
        status = launch_file_refuse_other(&out->yaml, report);
    if (status)
        return status;
    struct launch_parser p = {.arena = arena, .report = report, .file = out, .yaml = &out->yaml};
    p.buffer_names = arena_copy(arena, no_names, sizeof no_names);
    const struct yaml_node *root = out->yaml.root, *launches = NULL;
    status = yaml_known_keys(p.yaml, root, "a launch file", keys, report);
    if (root->kind != YAML_MAP)
        return status;
    const struct yaml_node *build = yaml_get(root, "build"), *buffers = yaml_get(root, "buffers");
    const struct yaml_node *check = yaml_get(root, "check"), *variables = yaml_get(root, "variables");
    out->variables_at_node = yaml_get(root, "variables_at");
    keep(&status, need(&p, root, "a launch file", "module", &out->module_at));
    keep(&status, need(&p, root, "a launch file", "launches", &launches));
    if (out->module_at)
        keep(&status, read_word(&p, out->module_at, "module", &out->module));
    if (build)
        keep(&status, read_build(&p, build));
    if (out->variables_at_node)
        keep(&status, read_address(&p, out->variables_at_node, &out->variables_at));
    if (variables)
        keep(&status, read_variables(&p, variables));
    if (buffers)
        keep(&status, read_buffers(&p, buffers));
    if (launches)
        keep(&status, read_launches(&p, launches));
    if (check)
        keep(&status, read_checks(&p, check));
    keep(&status, launch_file_parse_checkpoint(out, &out->yaml, arena, report));
    return status;
}
