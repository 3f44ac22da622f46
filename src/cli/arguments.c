#include "base/text.h"
#include "cli/commands.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

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

enum status arguments_machine(const struct arguments *arguments, struct machine *machine, struct report *report) {
    enum status status = machine_open(machine, arguments_value(arguments, "gpu"), report);
    for (unsigned i = 0; !status && i < arguments->given.count; i++)
        if (strcmp(arguments->given.items[i].option->name, "set") == 0)
            status = machine_set(machine, arguments->given.items[i].value, "--set", report);
    return status ? status : machine_check(machine, report);
}

int finish(enum status status, struct report *report) {
    fputs(report_text(report), stderr);
    report_free(report);
    return status == STATUS_SYSTEM ? 2 : (int)status;
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

enum status find_launch_file(struct arena *arena, const char *typed, const char **path, struct report *report) {
    size_t length = strlen(typed);
    while (length > 1 && typed[length - 1] == '/')
        length--;
    const char *name = arena_strndup(arena, typed, length);
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    const char *candidates[] = {
        name,
        arena_printf(arena, "%s.yaml", name),
        arena_printf(arena, "%s/%s.yaml", name, last),
        arena_printf(arena, "%s/launch.yaml", name),
    };
    for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (is_file(candidates[i])) {
            *path = candidates[i];
            return STATUS_OK;
        }
    return report_add(report, STATUS_INVALID,
                      "there is no launch file '%s' (nor %s, nor %s); 'heddle init KERNEL.cl' writes one", typed,
                      candidates[1], candidates[2]);
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
