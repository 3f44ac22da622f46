/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/machine.h"
#include "base/added.h"
#include "base/bits.h"
#include "base/file.h"
#include "base/words.h"
#include "base/yaml.h"
#include "divergence/divergence.h"
#include "machine/check.h"
#include "machine/own.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT_BYTES = 1 << 20, BASE_DEPTH_MAX = 8 };

static const struct param_description fixed_params[] = {
#define PARAM(field, ...) PARAM_ENTRY(struct machine, field, __VA_ARGS__)
#include "machine/machine_params.def"
#undef PARAM
#define PARAM(field, ...) PARAM_ENTRY(struct machine, sm.field, __VA_ARGS__)
#include "sm/sm_params.def"
#undef PARAM
#define PARAM(field, key, ...) PARAM_ENTRY(struct machine, l1.field, "l1." key, __VA_ARGS__)
#include "mem/cache_params.def"
#undef PARAM
#define PARAM(field, key, ...) PARAM_ENTRY(struct machine, instruction.field, "instruction_cache." key, __VA_ARGS__)
#include "mem/cache_params.def"
#undef PARAM
#define PARAM(field, key, ...) PARAM_ENTRY(struct machine, constant.field, "constant_cache." key, __VA_ARGS__)
#include "mem/cache_params.def"
#undef PARAM
#define PARAM(field, ...) PARAM_ENTRY(struct machine, gpu.field, __VA_ARGS__)
#include "gpu/gpu_params.def"
#undef PARAM
#define PARAM(field, ...) PARAM_ENTRY(struct machine, crossbar.field, __VA_ARGS__)
#include "mem/crossbar_params.def"
#undef PARAM
#define PARAM(field, key, ...) PARAM_ENTRY(struct machine, l2.field, "l2." key, __VA_ARGS__)
#include "mem/cache_params.def"
#undef PARAM
#define PARAM(field, ...) PARAM_ENTRY(struct machine, dram.field, __VA_ARGS__)
#include "mem/dram_params.def"
#undef PARAM
#define EVENT(name, count, unit, help)                                                                                 \
    PARAM_ENTRY(struct machine, energy.each[ENERGY_##name], "energy." #name, F64, "0", "0", "1000000", unit, help)
#include "energy/energy_events.def"
#undef EVENT
#define PARAM(field, ...) PARAM_ENTRY(struct machine, energy.field, __VA_ARGS__)
#include "energy/energy_params.def"
#undef PARAM
    PARAM_END,
};

/* The folder with the shipped machines; NULL when there is none. */
static const char *configs_folder(struct arena *arena) {
    const char *const candidates[] = {
        file_beside_program(arena, "/configs"),
#ifdef HEDDLE_CONFIGS_INSTALLED
        HEDDLE_CONFIGS_INSTALLED,
#endif
    };
    const char *chosen = getenv("HEDDLE_CONFIGS");
    if (chosen && *chosen)
        return chosen;
    for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] && access(candidates[i], R_OK | X_OK) == 0)
            return candidates[i];
    return NULL;
}

const char *const *machine_list(struct arena *arena) {
    const char *folder = configs_folder(arena);
    unsigned count;
    return file_list(arena, folder ? folder : "", ".yaml", &count);
}

static enum status read_machine(struct machine *machine, const char *gpu, unsigned depth, struct report *report);

/* A file with keys: a machine's, or a DRAM standard's. */
struct key_file {
    const struct yaml *yaml;
    const char *name;   /* what begins the origins of its values */
    const char *origin; /* of values that name none */
};

static struct key_file key_file_of(const struct yaml *yaml, const char *name) {
    const struct yaml_node *origin = yaml_get(yaml->root, "origin");
    return (struct key_file){yaml, name, origin ? origin->text : "no origin given"};
}

/* One key of the file: a value, or {value, origin}. */
static enum status read_key(struct machine *machine, const struct key_file *file, const struct yaml_node *key,
                            const struct yaml_node *node, struct report *report) {
    static const char *const keys[] = {"value", "origin", NULL};
    const struct yaml *yaml = file->yaml;
    const char *origin = file->origin;
    const struct yaml_node *value = node;
    if (node->kind == YAML_MAP) {
        if (node->count && !yaml_get(node, "value") && !words_suggest(node->keys[0]->text, keys))
            return yaml_error(yaml, node, report,
                              "'%s' is not a group of keys; keys are written in full, such as 'l1.size_bytes: 16384'",
                              key->text);
        enum status status = yaml_known_keys(yaml, node, "a value with its origin", keys, report);
        if (status)
            return status;
        value = yaml_get(node, "value");
        const struct yaml_node *own = yaml_get(node, "origin");
        if (!value || (own && own->kind != YAML_SCALAR))
            return yaml_error(yaml, node, report, "'%s' needs {value: ..., origin: \"...\"}", key->text);
        origin = own ? own->text : file->origin;
    }
    if (value->kind != YAML_SCALAR)
        return yaml_error(yaml, value, report, "'%s' takes one value, not a list", key->text);
    struct report inner = {0};
    const char *full = arena_printf(&machine->arena, "%s: %s", file->name, origin);
    enum status status = param_assign(&machine->params, key->text, value->text, full, "", &inner);
    if (status)
        report_add(report, status, "%s:%u:%u: %s", yaml->name, value->line, value->column, report_text(&inner));
    report_free(&inner);
    return status;
}

/* A part of a machine that has files of its own, which the machine's names: `dram: NAME` are the keys of configs/dram/NAME.yaml. */
struct part_file {
    const char *word, *what; /* "dram"; as messages call it */
    const char *keys[2];     /* what its keys begin with; NULL: no second */
};

static const struct part_file energy_table = {"energy", "table of energies", {"energy.", NULL}};
static const struct part_file dram_standard = {"dram", "DRAM standard", {"dram.", "energy.dram"}};

static bool has_key(const struct part_file *part, const char *key) {
    bool found = false;
    for (unsigned i = 0; i < 2; i++)
        found |= part->keys[i] && strncmp(key, part->keys[i], strlen(part->keys[i])) == 0;
    return found;
}

/* It has no keys of other parts, and stands alone. */
static enum status read_part_keys(struct machine *machine, const struct part_file *part, const char *name,
                                  const struct yaml *yaml, struct report *report) {
    if (yaml->root->kind != YAML_MAP)
        return yaml_error(yaml, yaml->root, report, "a %s is written as lines of '%skey: value'", part->what,
                          part->keys[0]);
    const struct yaml_node *origin = yaml_get(yaml->root, "origin"), *about = yaml_get(yaml->root, "about");
    const struct yaml_node *words[] = {origin, about};
    for (unsigned i = 0; i < 2; i++)
        if (words[i] && words[i]->kind != YAML_SCALAR)
            return yaml_error(yaml, words[i], report, "origin and about are plain text");
    const struct key_file file = key_file_of(yaml, name);
    enum status status = STATUS_OK;
    for (unsigned i = 0; i < yaml->root->count; i++) {
        const struct yaml_node *key = yaml->root->keys[i], *node = yaml->root->items[i];
        if (node == origin || node == about)
            continue;
        enum status one = has_key(part, key->text)
                              ? read_key(machine, &file, key, node, report)
                              : yaml_error(yaml, key, report, "'%s': a %s has origin, about and keys %s*%s%s%s",
                                           key->text, part->what, part->keys[0], part->keys[1] ? ", " : "",
                                           part->keys[1] ? part->keys[1] : "", part->keys[1] ? "*" : "");
        status = one ? one : status;
    }
    return status;
}

static enum status read_part(struct machine *machine, const struct part_file *part, const struct yaml *by,
                             const struct yaml_node *word, struct report *report) {
    struct arena *arena = &machine->arena;
    const char *configs = configs_folder(arena), *folder = configs ? file_join(arena, configs, part->word) : "";
    unsigned count;
    const char *const *known = file_list(arena, folder, ".yaml", &count);
    bool found = false;
    for (unsigned i = 0; i < count; i++)
        found |= strcmp(known[i], word->text) == 0;
    if (!count)
        return report_add(report, STATUS_SYSTEM,
                          "%s '%s': the folder %s of the shipped machines is not found; set HEDDLE_CONFIGS to theirs",
                          part->word, word->text, part->word);
    if (strchr(word->text, '/'))
        return yaml_error(by, word, report, "a %s is a name, not a path: %s", part->what, words_join(arena, known));
    const char *near = found ? NULL : words_suggest(word->text, known);
    if (near)
        return yaml_error(by, word, report, "there is no %s '%s'; did you mean '%s'?", part->what, word->text, near);
    if (!found)
        return yaml_error(by, word, report, "there is no %s '%s'; there are %s", part->what, word->text,
                          words_join(arena, known));
    char *text = NULL;
    size_t length = 0;
    const char *name = arena_printf(arena, "%s/%s", part->word, word->text);
    const char *path = arena_printf(arena, "%s/%s.yaml", folder, word->text);
    enum status status = file_read(path, FILE_LIMIT_BYTES, arena, &text, &length, report);
    struct yaml yaml;
    if (!status)
        status = yaml_parse(arena, arena_printf(arena, "%s.yaml", name), text, length, &yaml, report);
    return status ? status : read_part_keys(machine, part, name, &yaml, report);
}

static enum status read_yaml(struct machine *machine, const char *name, const struct yaml *yaml, unsigned depth,
                             struct report *report) {
    if (yaml->root->kind != YAML_MAP)
        return yaml_error(yaml, yaml->root, report, "a machine is written as lines of 'key: value'");
    const struct yaml_node *base = yaml_get(yaml->root, "base"), *dram = yaml_get(yaml->root, "dram");
    const struct yaml_node *energy = yaml_get(yaml->root, "energy");
    const struct yaml_node *origin = yaml_get(yaml->root, "origin"), *about = yaml_get(yaml->root, "about");
    const struct yaml_node *words[] = {base, energy, dram, origin, about};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i] && words[i]->kind != YAML_SCALAR)
            return yaml_error(yaml, words[i], report, "base, energy, dram, origin and about are plain text");
    if (base && depth == BASE_DEPTH_MAX)
        return yaml_error(yaml, base, report,
                          "the 'base' keys of these machines form a circle, or a chain that is too long");
    enum status status = base ? read_machine(machine, base->text, depth + 1, report) : STATUS_OK;
    if (!status && energy)
        status = read_part(machine, &energy_table, yaml, energy, report);
    if (!status && dram)
        status = read_part(machine, &dram_standard, yaml, dram, report);
    if (status)
        return status;
    machine->name = name;
    machine->about = about ? about->text : "";
    const struct key_file file = key_file_of(yaml, name);
    for (unsigned i = 0; i < yaml->root->count; i++) {
        const struct yaml_node *key = yaml->root->keys[i], *node = yaml->root->items[i];
        if (node == base || node == energy || node == dram || node == origin || node == about)
            continue;
        enum status one = read_key(machine, &file, key, node, report);
        status = one ? one : status;
    }
    return status;
}

static enum status read_machine(struct machine *machine, const char *gpu, unsigned depth, struct report *report) {
    const char *path = gpu, *folder = configs_folder(&machine->arena);
    if (!strchr(gpu, '/') && !file_ends_in(gpu, ".yaml")) {
        const char *const *known = machine_list(&machine->arena);
        bool found = false;
        for (unsigned i = 0; known[i]; i++)
            found |= strcmp(known[i], gpu) == 0;
        if (!folder || !known[0])
            return report_add(
                report, STATUS_SYSTEM,
                "machine '%s': the folder with the shipped machines is not found; set HEDDLE_CONFIGS to it", gpu);
        const char *near = found ? NULL : words_suggest(gpu, known);
        if (near)
            return report_add(report, STATUS_INVALID, "there is no machine '%s'; did you mean '%s'?", gpu, near);
        if (!found)
            return report_add(report, STATUS_INVALID, "there is no machine '%s'; shipped are %s, or give a .yaml file",
                              gpu, words_join(&machine->arena, known));
        path = arena_printf(&machine->arena, "%s/%s.yaml", folder, gpu);
    }
    char *text = NULL;
    size_t length = 0;
    enum status status = file_read(path, FILE_LIMIT_BYTES, &machine->arena, &text, &length, report);
    if (status)
        return status;
    const char *last = file_name(path);
    size_t name_length = file_ends_in(last, ".yaml") ? strlen(last) - 5 : strlen(last);
    const char *name = arena_strndup(&machine->arena, last, name_length);
    if (depth == 0 && path == gpu)
        machine->file = arena_strdup(&machine->arena, path);
    struct yaml yaml;
    status = yaml_parse(&machine->arena, path == gpu ? gpu : last, text, length, &yaml, report);
    return status ? status : read_yaml(machine, name, &yaml, depth, report);
}

/* ---- keys ---- */

const char *machine_needs_time(const struct machine *machine) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    return divergence_needs_time(mechanism, machine_own_params(machine, OWN_MECHANISM));
}

bool machine_repeats(const struct machine *machine) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    return !mechanism->forming && !mechanism->slipping && !mechanism->paths;
}

unsigned machine_warp_threads(const struct machine *machine) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    const unsigned threads = mechanism->forming && mechanism->forming->warp_threads
                                 ? mechanism->forming->warp_threads(machine_own_params(machine, OWN_MECHANISM))
                                 : machine->warp_size;
    return threads < machine->max_block_threads ? threads : machine->max_block_threads;
}

/* The machine's keys and those that parts chosen by name have of their own. */
static const struct param_description *all_params(struct arena *arena) {
    struct {
        struct param_description *items;
        unsigned count, capacity;
    } all = {0};
    for (const struct param_description *param = fixed_params; param->key; param++)
        *ARENA_PUSH(arena, &all) = *param;
    const struct own *own;
    for (unsigned i = 0; (own = machine_own_at(i)); i++)
        for (const struct param_description *param = own->params; param && param->key; param++) {
            struct param_description *copy = ARENA_PUSH(arena, &all);
            *copy = *param;
            copy->offset += offsetof(struct machine, own) + machine_own_offset(own);
        }
    *ARENA_PUSH(arena, &all) = (struct param_description)PARAM_END;
    return all.items;
}

bool machine_has_keys_of(const char *group) {
    const size_t length = strlen(group);
    for (const struct param_description *param = fixed_params; param->key; param++)
        if (strncmp(param->key, group, length) == 0 && param->key[length] == '.')
            return true;
    const struct own *own;
    for (unsigned i = 0; (own = machine_own_at(i)); i++)
        for (const struct param_description *param = own->params; param && param->key; param++)
            if (strncmp(param->key, group, length) == 0 && param->key[length] == '.')
                return true;
    return false;
}

bool machine_has_room(size_t key_bytes) {
    enum { ALIGNED_MORE = ADDED_MAX * 8 };
    return key_bytes + ALIGNED_MORE <= MACHINE_OWN_BYTES - machine_own_offset(NULL);
}

static enum status start(struct machine *machine, struct report *report) {
    *machine = (struct machine){.name = "default", .about = ""};
    if (machine_own_offset(NULL) > MACHINE_OWN_BYTES)
        return report_add(report, STATUS_INVALID,
                          "the own keys of mechanisms and other parts need %zu bytes, a machine has %u for them",
                          machine_own_offset(NULL), (unsigned)MACHINE_OWN_BYTES);
    return param_create(&machine->params, all_params(&machine->arena), machine, &machine->arena, report);
}

enum status machine_open(struct machine *machine, const char *gpu, struct report *report) {
    enum status status = start(machine, report);
    return status ? status : read_machine(machine, gpu ? gpu : MACHINE_DEFAULT, 0, report);
}

enum status machine_open_text(struct machine *machine, const char *name, const char *text, size_t length,
                              struct report *report) {
    struct yaml yaml;
    enum status status = start(machine, report);
    if (!status)
        status = yaml_parse(&machine->arena, name, text, length, &yaml, report);
    return status ? status : read_yaml(machine, name, &yaml, 0, report);
}

enum status machine_set(struct machine *machine, const char *setting, const char *origin, struct report *report) {
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting)
        return report_add(report, STATUS_INVALID, "%s: '%s' is not KEY=VALUE; 'heddle config show' lists the keys",
                          origin, setting);
    const char *key = arena_strndup(&machine->arena, setting, (size_t)(equals - setting));
    return param_assign(&machine->params, key, equals + 1, origin, origin, report);
}

/* ---- the data cache and what it shares its memory with ---- */

bool machine_next_carve_out(const char **list, uint64_t *bytes) {
    const char *at = *list + strspn(*list, " ,");
    char *end = NULL;
    if (*at < '0' || *at > '9')
        return false;
    *bytes = strtoull(at, &end, 10) * 1024;
    *list = end;
    return true;
}

uint64_t machine_shared_bytes(const struct machine *machine) {
    return machine->l1_prefer == MACHINE_PREFER_L1 ? machine->l1_small_shared_bytes : machine->shared_bytes;
}

/* The parameters of a cache, with the values of its policy's own keys. */
static struct cache_params with_policy(const struct machine *machine, const struct cache_params *params,
                                       enum own_part which) {
    struct cache_params with = *params;
    with.policy = machine_own_params(machine, which);
    return with;
}

struct cache_params machine_l1(const struct machine *machine, uint64_t shared_in_use) {
    struct cache_params l1 = with_policy(machine, &machine->l1, OWN_L1_POLICY);
    const char *list = machine->l1_carve_out;
    if (machine->l1_prefer == MACHINE_PREFER_L1) {
        l1.size_bytes = machine->l1_large_bytes, l1.ways = machine->l1_large_ways;
        return l1;
    }
    const uint64_t way_bytes = l1.size_bytes / l1.ways;
    const bool is_endless = machine->ideal_warps || machine->ideal_resident == MACHINE_WITHOUT_SHARED;
    if (is_endless && shared_in_use > machine->shared_bytes)
        shared_in_use = machine->shared_bytes;
    for (uint64_t bytes; machine_next_carve_out(&list, &bytes);)
        if (bytes >= shared_in_use) {
            l1.size_bytes -= bytes;
            l1.ways -= (uint32_t)(bytes / way_bytes);
            break;
        }
    return l1;
}

enum sm_pipeline machine_pipeline(const struct machine *machine) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    return mechanism ? sm_pipeline(&machine->sm, mechanism, machine_own_params(machine, OWN_MECHANISM))
                     : (enum sm_pipeline)machine->sm.pipeline;
}

bool machine_pipeline_is_replaced(const struct machine *machine) {
    return machine_pipeline(machine) != (enum sm_pipeline)machine->sm.pipeline;
}

static bool is_replaced(const struct machine *machine, const struct param_description *param) {
    return param->offset == offsetof(struct machine, sm.pipeline) && machine_pipeline_is_replaced(machine);
}

const char *machine_value(const struct machine *machine, const struct param_description *param) {
    if (!is_replaced(machine, param))
        return param_text(&machine->params, param);
    return param_choice(param, machine_pipeline(machine), machine->params.arena);
}

const char *machine_origin(const struct machine *machine, const struct param_description *param) {
    return is_replaced(machine, param)
               ? arena_printf(machine->params.arena, "needed by %s", machine->divergence_mechanism)
               : param_origin(&machine->params, param);
}

const char *machine_note(const struct machine *machine, struct arena *arena) {
    const struct param_description *param = param_find(&machine->params, "sm.pipeline");
    if (!machine_pipeline_is_replaced(machine))
        return NULL;
    return arena_printf(arena,
                        "%s: sm.pipeline is %s here, not %s: a group that may dissolve has one instruction in flight. "
                        "With --set sm.pipeline=%s mechanisms that keep their warps run like that too.",
                        machine->divergence_mechanism, machine_value(machine, param),
                        param_text(&machine->params, param), machine_value(machine, param));
}

/* Does a part that the machine asks read the key? Keys of parts lie in machine->own. */
static bool is_read(const struct machine *machine, const struct param_description *param) {
    bool read = false;
    for (unsigned part = 0; part < OWN_PARTS; part++) {
        const struct own *own = machine_own(machine, (enum own_part)part);
        const size_t begin = offsetof(struct machine, own) + (own ? machine_own_offset(own) : 0);
        read |= own && param->offset >= begin && param->offset < begin + own->params_bytes;
    }
    return read;
}

bool machine_is_idle_key(const struct machine *machine, const struct param_description *param) {
    const struct divergence_ops *mechanism = divergence_find(machine->divergence_mechanism);
    const size_t own = offsetof(struct machine, own);
    if (param->offset >= own && param->offset < own + MACHINE_OWN_BYTES)
        return !is_read(machine, param);
    if (param->offset == offsetof(struct machine, ideal_resident))
        return machine->ideal_resident == MACHINE_LIMITED; /* results from before it was there stay the same */
    return strncmp(param->key, "host.", 5) == 0 || (mechanism && sm_ignores(mechanism, param->key));
}

void machine_close(struct machine *machine) { arena_free(&machine->arena); }

struct gpu_config machine_gpu_config(const struct machine *machine) {
    return (struct gpu_config){.sm_count = machine->sm_count,
                               .sm = &machine->sm,
                               .instruction = with_policy(machine, &machine->instruction, OWN_INSTRUCTION_POLICY),
                               .constant = with_policy(machine, &machine->constant, OWN_CONSTANT_POLICY),
                               .l2 = with_policy(machine, &machine->l2, OWN_L2_POLICY),
                               .crossbar = &machine->crossbar,
                               .dram = &machine->dram,
                               .gpu = &machine->gpu};
}
