/* SPDX-License-Identifier: Apache-2.0 */
/* heddle config: a machine with every key, its unit, help and origin. */
#include "cli/commands.h"
#include "cli/table.h"
#include "machine/grade.h"
#include <stdio.h>
#include <string.h>

static const struct option options[] = {OPTION_GPU, OPTION_SET, OPTION_END};

static const struct verb verbs[] = {
    {"list", "", "the shipped machines"},
    {"show", "[NAME|FILE]",
     "show every key of the machine named, or chosen by --gpu and --set, with its value, range, unit and origin; for "
     "cards also how many values are measured, the vendor's, derived and assumed"},
    {"check", "NAME|FILE", "check whether a machine can be built"},
    {NULL, NULL, NULL},
};

static void list_one(struct arena *arena, const char *name, const struct machine *machine) {
    const char *mark = strcmp(name, MACHINE_DEFAULT) == 0 ? " [default]" : "";
    print(stdout, "%-16s ", name);
    text_wrap(arena_printf(arena, "%s%s", machine->about, mark), 17, stdout);
}

static enum status list_machines(struct arguments *arguments, struct report *report) {
    const char *const *names = machine_list(&arguments->arena);
    if (!names[0])
        return report_add(report, STATUS_SYSTEM,
                          "the folder with the shipped machines is not found; set HEDDLE_CONFIGS to it");
    for (unsigned i = 0; names[i]; i++) {
        struct machine machine = {0};
        enum status status = machine_open(&machine, names[i], report);
        if (!status)
            list_one(&arguments->arena, names[i], &machine);
        machine_close(&machine);
        if (status)
            return status;
    }
    text_wrap("\nheddle config show NAME lists a machine's keys; heddle run --gpu NAME runs on it.", 0, stdout);
    return STATUS_OK;
}

/* How many of a card's values were measured, and so on; nothing of machines whose files have no grades. */
static void show_grades(const struct machine *machine) {
    unsigned counts[GRADE_COUNT] = {0}, graded = 0;
    for (const struct param_description *param = machine->params.table; param->key; param++)
        if (machine_is_of_hardware(param))
            counts[machine_grade(machine, param)]++;
    for (unsigned grade = GRADE_MEASURED; grade <= GRADE_ASSUMED; grade++)
        graded += counts[grade];
    if (graded <= counts[GRADE_NONE])
        return;
    print(stdout, "# values: %u measured, %u vendor, %u derived, %u assumed", counts[GRADE_MEASURED],
          counts[GRADE_VENDOR], counts[GRADE_DERIVED], counts[GRADE_ASSUMED] + counts[GRADE_INHERITED]);
    if (counts[GRADE_INHERITED])
        print(stdout, ", of these %u of its base or by default", counts[GRADE_INHERITED]);
    if (counts[GRADE_NONE])
        print(stdout, "; %u without a grade", counts[GRADE_NONE]);
    print(stdout, "\n");
}

/* The unit is part of the value; a key's help stands under it. */
static enum status show_machine(struct arguments *arguments, const char *gpu, struct report *report) {
    struct machine machine = {0};
    enum status status = arguments_machine(arguments, gpu, &machine, report);
    if (!status) {
        print(stdout, "# %s: %s\n", machine.name, machine.about);
        show_grades(&machine);
        for (const struct param_description *param = machine.params.table; param->key; param++) {
            const char *value = machine_value(&machine, param);
            print(stdout, "\n# %s\n# takes %s; from %s\n%s: %s%s%s\n", param->help,
                  param_range(param, &arguments->arena), machine_origin(&machine, param), param->key, value,
                  param->unit[0] ? "  # " : "", param->unit);
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
    if (!status)
        status = machine_check_timed(&machine, report);
    if (!status) {
        unsigned given = 0, all = 0;
        for (const struct param_description *param = machine.params.table; param->key; param++, all++)
            given += strcmp(param_origin(&machine.params, param), "default") != 0;
        print(stdout, "%s: good; %u of %u keys given, the others keep their defaults\n", path, given, all);
    }
    machine_close(&machine);
    return status;
}

static int config_main(struct arguments *arguments) {
    struct report report = {0};
    const char *verb = arguments->operands[0];
    const char *name = arguments->operand_count == 2 ? arguments->operands[1] : NULL;
    enum status status;
    if (strcmp(verb, "list") == 0 && !name)
        status = list_machines(arguments, &report);
    else if (strcmp(verb, "show") == 0 && !(name && arguments_has(arguments, "gpu")))
        status = show_machine(arguments, name, &report);
    else if (strcmp(verb, "check") == 0 && name)
        status = check_machine(name, &report);
    else
        status = arguments_usage(arguments, &report);
    return finish(status, &report);
}

const struct command command_config = {
    .name = "config",
    .summary = "List machines, show a machine's keys with units and origins, check a file",
    .text =
        "Save the output of 'show' as a file, change it, and give it to --gpu. A file needs only the keys that differ: "
        "'base: gtx480' takes the rest from another machine.",
    .verbs = verbs,
    .names = machine_list,
    .examples = "heddle config show qv100 > mine.yaml\n"
                "heddle config check mine.yaml",
    .options = options,
    .operands_min = 1,
    .operands_max = 2,
    .main = config_main,
};
