/* The program: finds the command, reads its options, shows help. The C locale is never left, so that files read and
 * written are the same for everyone. */
#include "base/text.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "device/model.h"
#include <stdio.h>
#include <string.h>

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
    NULL,
};

static const struct option common_options[] = {
    {"help", 'h', NULL, "show this"},
    OPTION_END,
};

static const struct command *find_command(const char *name) {
    for (unsigned i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown_command(const char *name) {
    struct text_nearest nearest = {0};
    for (unsigned i = 0; commands[i]; i++)
        text_nearest_try(&nearest, name, commands[i]->name);
    text_nearest_try(&nearest, name, "help");
    if (nearest.best)
        fprintf(stderr, "heddle: there is no command '%s'; did you mean '%s'?\n", name, nearest.best);
    else
        fprintf(stderr, "heddle: there is no command '%s'; 'heddle --help' lists them\n", name);
    return 2;
}

static int show_help(FILE *to) {
    text_wrap("Heddle runs GPU kernels on a simulated GPU and shows what each line of them does.", 0, to);
    fputs("\nusage: heddle COMMAND ...\n\n", to);
    for (unsigned i = 0; commands[i]; i++)
        fprintf(to, "  %-8s ", commands[i]->name), text_wrap(commands[i]->summary, 11, to);
    fputs("  help     what a command takes: 'heddle help run'\n\n"
          "  --version  this program's version\n\n"
          "First steps:  heddle run examples/saxpy\n"
          "              heddle init mine.cl && heddle run mine\n"
          "              heddle exec -- python3 your_program.py\n\n",
          to);
    text_wrap(
        "Exit status: 0 done, 1 results were wrong, 2 usage or bad input or the host refused, 3 the run was stopped.",
        0, to);
    return to == stdout ? 0 : 2;
}

static void show_options(FILE *to, const struct option *options) {
    for (const struct option *option = options; option->name; option++) {
        char names[80];
        char letter[] = {'-', option->letter, ',', ' ', 0};
        snprintf(names, sizeof names, "%s--%s%s%s", option->letter ? letter : "    ", option->name,
                 option->argument ? " " : "", option->argument ? option->argument : "");
        if (strlen(names) > 26)
            fprintf(to, "  %s\n%-29s", names, "");
        else
            fprintf(to, "  %-26s ", names);
        text_wrap(option->help, 29, to);
    }
}

static int show_command(const struct command *command, FILE *to) {
    fprintf(to, "usage: heddle %s%s%s\n\n", command->name, command->operands[0] ? " " : "", command->operands);
    text_wrap(command->summary, 0, to);
    if (command->text[0])
        fputc('\n', to), text_wrap(command->text, 0, to);
    fputs("\noptions:\n", to);
    show_options(to, command->options);
    show_options(to, common_options);
    return 0;
}

static const struct option *find_in(const struct option *options, const char *name, size_t length, char letter) {
    for (const struct option *option = options; option->name; option++) {
        bool named = name && strlen(option->name) == length && strncmp(option->name, name, length) == 0;
        if (named || (letter && option->letter == letter))
            return option;
    }
    return NULL;
}

static enum status unknown_option(const struct command *command, const char *typed, size_t length,
                                  struct report *report) {
    char name[65];
    struct text_nearest nearest = {0};
    snprintf(name, sizeof name, "%.*s", (int)(length < 64 ? length : 64), typed);
    for (const struct option *option = command->options; option->name; option++)
        text_nearest_try(&nearest, name, option->name);
    if (nearest.best)
        return report_add(report, STATUS_INVALID, "heddle %s has no option '--%s'; did you mean '--%s'?", command->name,
                          name, nearest.best);
    return report_add(report, STATUS_INVALID, "heddle %s has no option '--%s'; 'heddle help %s' lists them",
                      command->name, name, command->name);
}

/* One option at argv[*i]; its argument may be the next word. */
static enum status read_option(struct arguments *out, char **argv, int argc, int *i, struct report *report) {
    const struct command *command = out->command;
    const char *word = argv[*i], *attached = NULL;
    const struct option *option;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        option = find_in(command->options, word + 2, length, 0);
        option = option ? option : find_in(common_options, word + 2, length, 0);
        if (!option)
            return unknown_option(command, word + 2, length, report);
        attached = word[2 + length] ? word + 3 + length : NULL;
    } else {
        option = find_in(command->options, NULL, 0, word[1]);
        option = option ? option : find_in(common_options, NULL, 0, word[1]);
        if (!option)
            return report_add(report, STATUS_INVALID, "heddle %s has no option '-%c'; 'heddle help %s' lists them",
                              command->name, word[1], command->name);
        attached = word[2] ? word + 2 : NULL;
    }
    if (!option->argument && attached)
        return report_add(report, STATUS_INVALID, "--%s takes no value", option->name);
    if (option->argument && !attached && *i + 1 >= argc)
        return report_add(report, STATUS_INVALID, "--%s needs %s after it", option->name, option->argument);
    if (option->argument && !attached)
        attached = argv[++*i];
    struct argument *given = ARENA_PUSH(&out->arena, &out->given);
    given->option = option;
    given->value = attached ? attached : "";
    return STATUS_OK;
}

static enum status read_arguments(struct arguments *out, int argc, char **argv, struct report *report) {
    bool only_operands = false;
    out->operands = ARENA_ARRAY(&out->arena, const char *, (size_t)argc + 1);
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (!only_operands && strcmp(word, "--") == 0) {
            only_operands = true;
            continue;
        }
        if (only_operands || word[0] != '-' || !word[1]) {
            out->operands[out->operand_count++] = word;
            continue;
        }
        enum status status = read_option(out, argv, argc, &i, report);
        if (status)
            return status;
    }
    if (arguments_has(out, "help"))
        return STATUS_OK;
    if (out->operand_count > out->command->operands_max)
        report_add(report, STATUS_INVALID, "heddle %s: '%s' is more than it takes", out->command->name,
                   out->operands[out->command->operands_max]);
    if (out->operand_count < out->command->operands_min || out->operand_count > out->command->operands_max)
        return arguments_usage(out->command, report);
    return STATUS_OK;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return show_help(stderr);
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("heddle " HEDDLE_VERSION ", model %s\n", model_hash());
        return 0;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (strcmp(name, "help") == 0 && argc == 2))
        return show_help(stdout);
    bool help = strcmp(name, "help") == 0;
    const struct command *command = find_command(help ? argv[2] : name);
    if (!command)
        return unknown_command(help ? argv[2] : name);
    if (help)
        return show_command(command, stdout);
    struct arguments arguments = {.command = command};
    struct report report = {0};
    enum status status = read_arguments(&arguments, argc - 2, argv + 2, &report);
    int code;
    if (status)
        code = finish(status, &report);
    else if (arguments_has(&arguments, "help"))
        code = show_command(command, stdout);
    else
        code = command->main(&arguments);
    arena_free(&arguments.arena);
    /* a full disk or a closed pipe must not look like success */
    if ((fflush(stdout) || ferror(stdout)) && code == 0) {
        perror("heddle: standard output");
        code = 2;
    }
    return code;
}
