/* SPDX-License-Identifier: Apache-2.0 */
/* The program: finds the command, reads its options. The C locale is never left, so that files read and
 * written are the same for everyone. */
#include "base/text.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "compile/compile.h"
#include "machine/model.h"
#include "machine/plugin.h"
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        option = find_option(command, word + 2, length, 0);
        if (!option)
            return unknown_option(command, word + 2, length, report);
        attached = word[2 + length] ? word + 3 + length : NULL;
    } else {
        option = find_option(command, NULL, 0, word[1]);
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
    const bool asks_help = argc == 1 && (strcmp(argv[0], "--help") == 0 || strcmp(argv[0], "-h") == 0);
    bool only_operands = out->command->reads_words && !asks_help;
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
        report_add(report, STATUS_INVALID, "heddle %s: unexpected argument '%s'", out->command->name,
                   out->operands[out->command->operands_max]);
    if (out->operand_count < out->command->operands_min || out->operand_count > out->command->operands_max)
        return arguments_usage(out, report);
    return STATUS_OK;
}

/* What the environment names, as it does for processes that this one starts, and what the user does. */
static enum status load_plugins(struct arguments *arguments, struct report *report) {
    enum status status = plugin_load_environment(report);
    for (unsigned i = 0; i < arguments->given.count && !status; i++)
        if (strcmp(arguments->given.items[i].option->name, "plugin") == 0)
            status = plugin_load(arguments->given.items[i].value, report);
    const char *paths = plugin_paths(&arguments->arena);
    if (!status && paths && setenv(PLUGIN_VARIABLE, paths, 1) != 0)
        return report_add(report, STATUS_SYSTEM, "the host has no memory for the environment");
    return status;
}

/* Compiling for seconds says so, to who looks. */
static void say_slow(void *self, const char *name, bool has_ended) {
    (void)self;
    if (!has_ended)
        print(stderr, "heddle: compiling %s takes a while; the result is kept for the next time\n", name);
}

static void watch_compiler(const struct arguments *arguments) {
    if (arguments_has(arguments, "verbose") || (isatty(STDERR_FILENO) && !arguments_has(arguments, "quiet")))
        compile_set_watch(say_slow, NULL);
}

static int run(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (argc < 2) {
        help_welcome(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("heddle " HEDDLE_VERSION ", model %s\n", model_hash());
        return 0;
    }
    if (strcmp(name, "help") == 0)
        return help_main(argc - 2, argv + 2);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        return help_main(0, NULL);
    const struct command *command = find_command(name);
    if (!command)
        return unknown_command(name);
    struct arguments arguments = {.command = command};
    struct report report = {0};
    enum status status = read_arguments(&arguments, argc - 2, argv + 2, &report);
    int code = 0;
    if (!status && !arguments_has(&arguments, "help"))
        status = load_plugins(&arguments, &report);
    if (status)
        code = finish(status, &report);
    else if (arguments_has(&arguments, "help"))
        help_show_command(command, stdout);
    else {
        watch_compiler(&arguments);
        code = command->main(&arguments);
    }
    arena_free(&arguments.arena);
    return code;
}

/* Whoever needs memory and cannot go on without. What is under way is lost; files are whole or not there. */
static void out_of_memory(void) {
    static const char said[] = "heddle: out of memory: the host gives no more\n";
    if (write(STDERR_FILENO, said, sizeof said - 1) < 0)
        _exit(STATUS_INVALID);
    _exit(STATUS_INVALID);
}

/* For documents: Jansson would go on without the member that did not fit. */
static void *document_memory(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory && bytes)
        out_of_memory();
    return memory;
}

int main(int argc, char **argv) {
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 64 << 10); /* large blocks are the host's zero pages: what is not touched costs nothing */
#endif
    arena_set_last_resort(out_of_memory);
    json_set_alloc_funcs(document_memory, free);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is refused with a message, as a full disk is */
    int code = run(argc, argv);
    /* a full disk or a closed pipe must not look like success */
    if ((fflush(stdout) || ferror(stdout)) && code == 0) {
        perror("heddle: standard output");
        code = 2;
    }
    return code;
}
