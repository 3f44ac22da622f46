/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <string.h>

#include "base/text.h"
#include "cli/table.h"

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "cli/commands.def"
#undef COMMAND
    NULL,
};

const struct option common_options[] = {
    {"help", 'h', NULL, "show what the command takes"},
    {"plugin", 0, "FILE",
     "load mechanisms, schedulers, predictors and replacement policies from a shared library; may be given "
     "several times"},
    OPTION_END,
};

const struct option *command_common_options(const struct command *command) {
    static const struct option only_help[] = {{"help", 'h', NULL, "show what the command takes"}, OPTION_END};
    return command->reads_words ? only_help : common_options;
}

const char help_about[] = "Heddle runs GPU kernels on a simulated GPU and shows what each line of them does.";

const struct said help_first[] = {
    {"heddle run examples/saxpy", "a kernel that comes with Heddle"},
    {"heddle init mine.cl && heddle run mine", "a kernel of your own"},
    {"heddle exec -- python3 your_program.py", "an OpenCL or CUDA program, unchanged"},
    {NULL, NULL},
};

const struct said help_status[] = {
    {"0", "done"},
    {"1", "results were wrong: a check failed"},
    {"2", "usage or bad input, or the host refused"},
    {"3", "the run was stopped: a fault, a deadlock, a limit, an interrupt"},
    {NULL, NULL},
};

const struct command *find_command(const char *name) {
    for (unsigned i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static const struct option *find_in(const struct option *options, const char *name, size_t length, char letter) {
    for (const struct option *option = options; option->name; option++) {
        bool named = name && strlen(option->name) == length && strncmp(option->name, name, length) == 0;
        if (named || (letter && option->letter == letter))
            return option;
    }
    return NULL;
}

const struct option *find_option(const struct command *command, const char *name, size_t length, char letter) {
    const struct option *option = find_in(command->options, name, length, letter);
    return option ? option : find_in(common_options, name, length, letter);
}

static void show_first(FILE *to) {
    for (const struct said *step = help_first; step->name; step++)
        fprintf(to, "  %-38s  %s\n", step->name, step->text);
}

void help_welcome(FILE *to) {
    text_wrap(help_about, 0, to);
    fputs("It needs no GPU.\n\n", to);
    show_first(to);
    fprintf(to, "\nNext: %s\n'heddle help' lists all commands, 'heddle doctor' says what is installed.\n",
            help_first->name);
}

void help_show(FILE *to) {
    text_wrap(help_about, 0, to);
    fputs("\nusage: heddle COMMAND ...\n\n", to);
    for (unsigned i = 0; commands[i]; i++)
        fprintf(to, "  %-8s ", commands[i]->name), text_wrap(commands[i]->summary, 11, to);
    fputs("  help     Show what a command takes: 'heddle help run', or 'man heddle-run'\n\n"
          "  --version  this program's version\n\n"
          "first steps:\n",
          to);
    show_first(to);
    fputs("\nexit status:\n", to);
    for (const struct said *status = help_status; status->name; status++)
        fprintf(to, "  %s  %s\n", status->name, status->text);
}

/* A name, and what it means in the column behind it, or below where the name is too long. */
static void show_item(const char *name, unsigned width, const char *help, FILE *to) {
    if (strlen(name) > width)
        fprintf(to, "  %s\n%*s", name, (int)width + 3, "");
    else
        fprintf(to, "  %-*s ", (int)width, name);
    text_wrap(help, width + 3, to);
}

static void show_options(FILE *to, const struct option *options) {
    for (const struct option *option = options; option->name; option++) {
        char names[80];
        char letter[] = {'-', option->letter, ',', ' ', 0};
        snprintf(names, sizeof names, "%s--%s%s%s", option->letter ? letter : "    ", option->name,
                 option->argument ? " " : "", option->argument ? option->argument : "");
        show_item(names, 26, option->help, to);
    }
}

void help_show_command(const struct command *command, FILE *to) {
    struct arena arena = {0};
    const char *operands = command->operands ? command->operands : "";
    for (const struct verb *verb = command->verbs; verb && verb->name; verb++)
        operands = arena_printf(&arena, "%s%s%s", operands, operands[0] ? "|" : "", verb->name);
    fprintf(to, "usage: heddle %s%s%s%s\n\n", command->name, operands[0] ? " " : "", operands,
            command->verbs ? " ..." : "");
    text_wrap(command->summary, 0, to);
    if (command->text[0])
        fputc('\n', to), text_wrap(command->text, 0, to);
    if (command->verbs)
        fputc('\n', to);
    for (const struct verb *verb = command->verbs; verb && verb->name; verb++)
        show_item(arena_printf(&arena, "%s%s%s", verb->name, verb->operands[0] ? " " : "", verb->operands), 26,
                  verb->help, to);
    fputs("\noptions:\n", to);
    show_options(to, command->options);
    show_options(to, command_common_options(command));
    if (command->examples) {
        fputs("\nexamples:\n  ", to);
        text_wrap(command->examples, 2, to);
    }
    arena_free(&arena);
}

int unknown_command(const char *name) {
    struct text_nearest nearest = {0};
    for (unsigned i = 0; commands[i]; i++)
        text_nearest_try(&nearest, name, commands[i]->name);
    for (const char *const *other = (const char *const[]){"help", "--help", "--version", NULL}; *other; other++)
        text_nearest_try(&nearest, name, *other);
    if (nearest.best)
        print(stderr, "heddle: there is no command '%s'; did you mean '%s'?\n", name, nearest.best);
    else
        print(stderr, "heddle: there is no command '%s'; 'heddle --help' lists them\n", name);
    return 2;
}

int help_main(int count, char **words) {
    if (count && (strcmp(words[0], "--help") == 0 || strcmp(words[0], "-h") == 0))
        count = 0;
    const bool is_manual = count && strcmp(words[0], "--man") == 0;
    const char *name = is_manual ? (count > 1 ? words[1] : NULL) : count ? words[0] : NULL;
    if (name && !is_manual && strcmp(name, "help") == 0)
        name = NULL;
    if (count && strcmp(words[0], "--complete") == 0) {
        complete_write(count - 1, words + 1, stdout);
        return 0;
    }
    const struct command *command = name ? find_command(name) : NULL;
    if (name && !command)
        return unknown_command(name);
    if (is_manual)
        manual_write(command, stdout);
    else if (command)
        help_show_command(command, stdout);
    else
        help_show(stdout);
    return 0;
}
