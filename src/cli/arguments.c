/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines read by the tables of commands.h. */
#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "device/load.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *arguments_value(const struct arguments *arguments, const char *option) {
    for (unsigned i = arguments->given.count; i-- > 0;)
        if (strcmp(arguments->given.items[i].option->name, option) == 0)
            return arguments->given.items[i].value;
    return NULL;
}

bool arguments_has(const struct arguments *arguments, const char *option) {
    return arguments_value(arguments, option) != NULL;
}

enum status arguments_number(const struct arguments *arguments, const char *option, uint64_t fallback, uint64_t max,
                             uint64_t *out, struct report *report) {
    const char *value = arguments_value(arguments, option);
    *out = fallback;
    if (value && (!text_to_u64(value, out) || *out > max))
        return report_add(report, STATUS_INVALID, "--%s takes a whole number from 0 to %llu, not '%s'", option,
                          (unsigned long long)max, value);
    return STATUS_OK;
}

enum status arguments_count(const struct arguments *arguments, const char *option, uint64_t fallback, uint64_t max,
                            uint64_t *out, struct report *report) {
    const enum status status = arguments_number(arguments, option, fallback, max, out, report);
    if (!status && !*out)
        return report_add(report, STATUS_INVALID, "--%s takes a whole number from 1 to %llu, not 0", option,
                          (unsigned long long)max);
    return status;
}

const char *command_operands(const struct command *command, struct arena *arena) {
    const char *all = command->operands ? command->operands : "";
    for (const struct verb *verb = command->verbs; verb && verb->name; verb++)
        all = arena_printf(arena, "%s%s%s%s%s", all, all[0] ? " | " : "", verb->name, verb->operands[0] ? " " : "",
                           verb->operands);
    return all;
}

enum status arguments_usage(struct arguments *arguments, struct report *report) {
    const char *name = arguments->command->name, *operands = command_operands(arguments->command, &arguments->arena);
    bool is_known = !arguments->command->verbs || !arguments->operand_count;
    for (const struct verb *verb = arguments->command->verbs; verb && verb->name; verb++)
        is_known |= arguments->operand_count && strcmp(arguments->operands[0], verb->name) == 0;
    if (!is_known)
        report_add(report, STATUS_INVALID, "there is no 'heddle %s %s'", name, arguments->operands[0]);
    return report_add(report, STATUS_INVALID, "usage: heddle %s%s%s; 'heddle help %s' says more", name,
                      operands[0] ? " " : "", operands, name);
}

/* Options that are short for a key of the machine. */
static const char *const short_keys[][2] = {{"divergence", "divergence.mechanism"},
                                            {"max-cycles", "limits.max_cycles"},
                                            {"max-instructions", "functional.max_instructions"}};

const char *option_key(const struct option *option) {
    for (unsigned i = 0; i < sizeof short_keys / sizeof *short_keys; i++)
        if (strcmp(option->name, short_keys[i][0]) == 0)
            return short_keys[i][1];
    return NULL;
}

/* The key that an option sets; "": it is in the value, KEY=VALUE; NULL: it sets none. */
static const char *key_of(const struct argument *given) {
    return strcmp(given->option->name, "set") == 0 ? "" : option_key(given->option);
}

static enum status set_one(const struct argument *given, const char *value, struct machine *machine,
                           struct report *report) {
    const char *key = key_of(given);
    if (key[0])
        value = arena_printf(&machine->arena, "%s=%s", key, value);
    return machine_set(machine, value, arena_printf(&machine->arena, "--%s", given->option->name), report);
}

enum status arguments_machine(const struct arguments *arguments, const char *gpu, struct machine *machine,
                              struct report *report) {
    enum status status = machine_open(machine, gpu ? gpu : arguments_value(arguments, "gpu"), report);
    for (unsigned i = 0; !status && i < arguments->given.count; i++) {
        const struct argument *given = &arguments->given.items[i];
        if (key_of(given))
            status = set_one(given, given->value, machine, report);
    }
    return status ? status : machine_check(machine, report);
}

/* The list in an option's value: its first entry, and how many there are. */
static const char *values_of(const struct argument *given, unsigned *count) {
    const char *values = given->value, *equals = strchr(values, '=');
    if (strcmp(given->option->name, "set") == 0 && equals)
        values = equals + 1;
    *count = 1;
    for (const char *c = values; *c; c++)
        *count += *c == ',';
    return values;
}

static bool chooses_machine(const struct arguments *arguments, unsigned i) {
    const struct argument *given = &arguments->given.items[i];
    if (key_of(given))
        return true;
    return strcmp(given->option->name, "gpu") == 0 && given->value == arguments_value(arguments, "gpu");
}

enum status arguments_variants(struct arguments *arguments, unsigned *count, struct report *report) {
    enum { VARIANTS_MAX = 1000 };
    uint64_t all = 1;
    for (unsigned i = 0; i < arguments->given.count && all <= VARIANTS_MAX; i++) {
        unsigned values = 1;
        if (chooses_machine(arguments, i))
            values_of(&arguments->given.items[i], &values);
        all *= values;
    }
    *count = (unsigned)all;
    if (all > VARIANTS_MAX)
        return report_add(report, STATUS_INVALID,
                          "%s: the lists of values make more than %d machines; 'heddle sweep' runs that many",
                          arguments_lists(arguments), VARIANTS_MAX);
    return STATUS_OK;
}

/* The value that `variant` takes from a list; the lists after it in the command line change faster. */
static const char *choose(struct arguments *arguments, unsigned at, unsigned variant, bool *is_list) {
    unsigned below = 1, count;
    for (unsigned i = at + 1; i < arguments->given.count; i++)
        if (chooses_machine(arguments, i)) {
            values_of(&arguments->given.items[i], &count);
            below *= count;
        }
    const struct argument *given = &arguments->given.items[at];
    const char *value = values_of(given, &count);
    const int key = (int)(value - given->value);
    *is_list = count > 1;
    for (unsigned skip = variant / below % count; skip; skip--)
        value = strchr(value, ',') + 1;
    return arena_printf(&arguments->arena, "%.*s%.*s", key, given->value, (int)strcspn(value, ","), value);
}

enum status arguments_variant(struct arguments *arguments, unsigned variant, struct machine *machine,
                              const char **label, struct report *report) {
    struct arena *arena = &arguments->arena;
    const char *gpu = NULL;
    const char **values = ARENA_ARRAY(arena, const char *, arguments->given.count);
    *label = "";
    for (unsigned i = 0; i < arguments->given.count; i++) {
        bool is_list;
        if (!chooses_machine(arguments, i))
            continue;
        const char *value = choose(arguments, i, variant, &is_list);
        if (is_list)
            *label = arena_printf(arena, "%s%s%s", *label, **label ? ", " : "",
                                  strchr(value, '=') ? strchr(value, '=') + 1 : value);
        if (key_of(&arguments->given.items[i]))
            values[i] = value;
        else
            gpu = value;
    }
    enum status status = machine_open(machine, gpu, report);
    for (unsigned i = 0; !status && i < arguments->given.count; i++)
        if (values[i])
            status = set_one(&arguments->given.items[i], values[i], machine, report);
    return status ? status : machine_check(machine, report);
}

const char *arguments_lists(struct arguments *arguments) {
    const char *all = "";
    for (unsigned i = 0; i < arguments->given.count; i++) {
        const struct argument *given = &arguments->given.items[i];
        unsigned count = 0;
        if (chooses_machine(arguments, i))
            values_of(given, &count);
        if (count < 2)
            continue;
        const bool is_key = strcmp(given->option->name, "set") == 0;
        const char *name = is_key ? given->value : given->option->name;
        all = arena_printf(&arguments->arena, "%s%s%.*s", all, *all ? ", " : "", (int)strcspn(name, "="), name);
    }
    return all;
}

int finish(enum status status, struct report *report) {
    print_text(stderr, report_text(report));
    report_free(report);
    return status == STATUS_SYSTEM ? 2 : (int)status;
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

enum status refuse_name(const char *what, const char *name, const struct text_nearest *nearest, const char *list,
                        struct report *report) {
    if (nearest->best)
        return report_add(report, STATUS_INVALID, "there is no %s '%s' (did you mean '%s'?); '%s' names them", what,
                          name, nearest->best, list);
    return report_add(report, STATUS_INVALID, "there is no %s '%s'; '%s' names them", what, name, list);
}

enum status find_launch_file(struct arena *arena, const char *typed, const char **path, struct report *report) {
    size_t length = strlen(typed);
    while (length > 1 && typed[length - 1] == '/')
        length--;
    const char *name = arena_strndup(arena, typed, length);
    const char *candidates[] = {
        name,
        arena_printf(arena, "%s.yaml", name),
        arena_printf(arena, "%s/%s.yaml", name, file_name(name)),
        arena_printf(arena, "%s/launch.yaml", name),
    };
    if (is_file(name) && load_is_module(name))
        return report_add(report, STATUS_INVALID,
                          "%s is a module, not a launch file; 'heddle init %s' writes one for it", name, name);
    for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (is_file(candidates[i])) {
            *path = candidates[i];
            return STATUS_OK;
        }
    const char *plain = strncmp(name, "./", 2) == 0 ? name + 2 : name;
    if (strncmp(plain, "examples/", 9) == 0) {
        const char *shipped =
            file_beside_program(arena, arena_printf(arena, "/%s%s", plain, file_ends_in(name, ".yaml") ? "" : ".yaml"));
        if (shipped && is_file(shipped)) {
            *path = shipped;
            return STATUS_OK;
        }
    }
    struct stat info;
    if (stat(name, &info) == 0)
        return report_add(report, STATUS_INVALID,
                          "%s is a folder without a launch file of its name; name one of the files in it: %s/NAME.yaml",
                          typed, name);
    const char *others = "";
    if (!file_ends_in(name, ".yaml"))
        others = arena_printf(arena, " (nor %s, nor %s)", candidates[1], candidates[2]);
    return report_add(report, STATUS_INVALID, "there is no launch file '%s'%s; 'heddle init KERNEL.cl' writes one",
                      typed, others);
}

enum status arguments_launch_file(struct arguments *arguments, struct launch_file *out, struct report *report) {
    const char *path = NULL;
    const enum status status = find_launch_file(&arguments->arena, arguments->operands[0], &path, report);
    return status ? status : launch_file_read(&arguments->arena, path, out, report);
}

enum status check_writable(struct arena *arena, const char *option, const char *path, struct report *report) {
    const char *folder = file_dir(arena, path);
    if (strcmp(path, "-") == 0 || access(folder[0] ? folder : ".", W_OK | X_OK) == 0)
        return STATUS_OK;
    return report_add(report, STATUS_INVALID, "--%s: '%s' cannot be written: %s", option, path, strerror(errno));
}

enum status write_output(const char *path, const char *text, size_t length, const char *what, struct report *report) {
    if (strcmp(path, "-") != 0)
        return file_write(path, text, length, report);
    return fwrite(text, 1, length, stdout) == length
               ? STATUS_OK
               : report_add(report, STATUS_SYSTEM, "%s could not be written to standard output", what);
}

enum status output_end(struct output *output, enum status status, const char *path, const char *what,
                       struct report *report) {
    if (!output_close(output) && !status)
        status = report_add(report, STATUS_SYSTEM, "%s: the host has no memory for %s", path, what);
    if (!status)
        status = write_output(path, output->text, output->length, what, report);
    output_free(output);
    return status;
}

const char *with_commas(struct arena *arena, uint64_t value) {
    char digits[24], text[32];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    unsigned used = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    return arena_strndup(arena, text, used);
}

unsigned text_width(const char *text) {
    unsigned width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}
