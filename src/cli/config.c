#include "cli/commands.h"
#include <stdio.h>
#include <string.h>

static const struct option options[] = {OPTION_GPU, OPTION_SET, OPTION_END};

static enum status list_machines(struct arguments *arguments, struct report *report) {
    const char *const *names = machine_list(&arguments->arena);
    if (!names[0])
        return report_add(report, STATUS_SYSTEM,
                          "the folder with the shipped machines is not found; set HEDDLE_CONFIGS to it");
    for (unsigned i = 0; names[i]; i++) {
        struct machine machine = {0};
        enum status status = machine_open(&machine, names[i], report);
        if (!status)
            printf("%-16s %s%s\n", names[i], machine.about, strcmp(names[i], MACHINE_DEFAULT) == 0 ? " [default]" : "");
        machine_close(&machine);
        if (status)
            return status;
    }
    puts("\nheddle config show --gpu NAME lists a machine's keys; heddle run --gpu NAME runs on it.");
    return STATUS_OK;
}

/* The unit is part of the value; a key's help stands under it. */
static enum status show_machine(struct arguments *arguments, struct report *report) {
    struct machine machine = {0};
    enum status status = arguments_machine(arguments, &machine, report);
    if (!status) {
        printf("# %s: %s\n", machine.name, machine.about);
        for (const struct param_description *param = machine.params.table; param->key; param++) {
            const char *value = param_text(&machine.params, param);
            printf("\n# %s\n# takes %s; from %s\n%s: %s%s%s\n", param->help, param_range(param, &arguments->arena),
                   param_origin(&machine.params, param), param->key, value, param->unit[0] ? "  # " : "", param->unit);
        }
    }
    machine_close(&machine);
    return status;
}

static enum status check_machine(const char *path, struct report *report) {
    struct machine machine = {0};
    enum status status = machine_open(&machine, path, report);
    if (!status)
        status = machine_check(&machine, report);
    if (!status) {
        unsigned given = 0, all = 0;
        for (const struct param_description *param = machine.params.table; param->key; param++, all++)
            given += strcmp(param_origin(&machine.params, param), "default") != 0;
        printf("%s: good; %u of %u keys given, the others keep their defaults\n", path, given, all);
    }
    machine_close(&machine);
    return status;
}

static int config_main(struct arguments *arguments) {
    struct report report = {0};
    const char *verb = arguments->operands[0];
    bool has_file = arguments->operand_count == 2;
    enum status status;
    if (strcmp(verb, "list") == 0 && !has_file)
        status = list_machines(arguments, &report);
    else if (strcmp(verb, "show") == 0 && !has_file)
        status = show_machine(arguments, &report);
    else if (strcmp(verb, "check") == 0 && has_file)
        status = check_machine(arguments->operands[1], &report);
    else
        status = report_add(&report, STATUS_INVALID,
                            "usage: heddle config list, heddle config show [--gpu NAME|FILE], "
                            "heddle config check NAME|FILE");
    return finish(status, &report);
}

const struct command command_config = {
    .name = "config",
    .operands = "list | show | check NAME|FILE",
    .summary = "List machines, show a machine's keys with units and origins, check a file",
    .text = "What 'show' prints can be saved as a file, changed, and given to --gpu. A file needs only what differs:\n"
            "'base: gtx480' takes the rest from another machine.",
    .options = options,
    .operands_min = 1,
    .operands_max = 2,
    .main = config_main,
};
