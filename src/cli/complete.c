/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell completes: share/bash-completion hands over the words that were typed. */
#include "cli/help.h"

#include <string.h>

struct completion {
    struct arena arena;
    const char *word;   /* what is there of the last one */
    const char *before; /* what stands before what is completed: "--gpu=", "gtx480," */
    FILE *to;
};

static void offer(struct completion *c, const char *text, size_t length, const char *after) {
    const char *whole = arena_printf(&c->arena, "%s%.*s%s", c->before, (int)length, text, after);
    if (strncmp(whole, c->word, strlen(c->word)) == 0)
        fprintf(c->to, "%s\n", whole);
}

static void offer_names(struct completion *c, const char *const *names) {
    for (; *names; names++)
        offer(c, *names, strlen(*names), "");
}

/* "local|slurm"; what has other letters in it stands for something. */
static void offer_choices(struct completion *c, const char *choices) {
    if (choices[strspn(choices, "abcdefghijklmnopqrstuvwxyz0123456789-_|")])
        return;
    for (size_t length; *choices; choices += length + (choices[length] == '|')) {
        length = strcspn(choices, "|");
        offer(c, choices, length, "");
    }
}

/* Values may be lists: what is completed is behind the last comma. */
static void skip_list(struct completion *c, const char *value) {
    const char *comma = strrchr(value, ',');
    if (comma)
        c->before = arena_strndup(&c->arena, c->word, (size_t)(comma + 1 - c->word));
}

/* A name that there is not lists those that there are, as lines "  name: help". */
static void offer_known(struct completion *c, struct machine *machine, const char *key) {
    struct report report = {0};
    if (machine_set(machine, arena_printf(&c->arena, "%s=?", key), "?", &report) == STATUS_OK)
        machine_check(machine, &report);
    for (const char *line = report_text(&report); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "  ", 2) == 0)
            offer(c, line + 2, strcspn(line + 2, ":"), "");
    }
    report_free(&report);
}

static void offer_values(struct completion *c, struct machine *machine, const char *key, const char *value) {
    const struct param_description *param = param_find(&machine->params, key);
    skip_list(c, value);
    if (param && param->kind == PARAM_CHOICE)
        offer_choices(c, param->min);
    else if (param && param->kind == PARAM_BOOL)
        offer_choices(c, "true|false");
    else if (param && param->kind == PARAM_TEXT)
        offer_known(c, machine, key);
}

/* A key of the machine, or its value behind '='. `key` NULL: it is in the value. */
static void offer_key(struct completion *c, const char *key, const char *value) {
    struct machine machine = {0};
    struct report report = {0};
    const char *equals = strchr(value, '=');
    if (machine_open(&machine, NULL, &report) == STATUS_OK) {
        if (!key && equals) {
            key = arena_strndup(&c->arena, value, (size_t)(equals - value));
            value = equals + 1;
            c->before = arena_strndup(&c->arena, c->word, (size_t)(value - c->word));
        }
        if (key)
            offer_values(c, &machine, key, value);
        for (const struct param_description *param = machine.params.table; !key && param->key; param++)
            offer(c, param->key, strlen(param->key), "=");
    }
    machine_close(&machine);
    report_free(&report);
}

static void offer_value(struct completion *c, const struct option *option, const char *value) {
    c->before = arena_strndup(&c->arena, c->word, (size_t)(value - c->word));
    if (strcmp(option->name, "gpu") == 0) {
        skip_list(c, value);
        offer_names(c, machine_list(&c->arena));
    } else if (strcmp(option->name, "set") == 0)
        offer_key(c, NULL, value);
    else if (option_key(option))
        offer_key(c, option_key(option), value);
    else
        offer_choices(c, option->argument);
}

static void offer_options(struct completion *c, const struct option *options) {
    for (; options->name; options++) {
        c->before = "--";
        offer(c, options->name, strlen(options->name), "");
        c->before = "-";
        if (options->letter && !c->word[1])
            offer(c, &options->letter, 1, "");
    }
}

static void offer_operands(struct completion *c, const struct command *command, const char *verb) {
    const char *operands = command->operands;
    for (const struct verb *known = command->verbs; known && known->name; known++) {
        if (!verb)
            offer(c, known->name, strlen(known->name), "");
        else if (strcmp(known->name, verb) == 0)
            operands = known->operands;
    }
    if (operands && operands[0] && command->names)
        offer_names(c, command->names(&c->arena));
}

/* The words behind the command's name, of which the last is completed. */
static void complete_command(struct completion *c, const struct command *command, int count, char **words) {
    const struct option *open = NULL; /* its value is the next word */
    const char *verb = NULL;
    for (int i = 0; i + 1 < count; i++) {
        const char *word = words[i];
        if (strcmp(word, "--") == 0)
            return;
        if (open)
            open = NULL;
        else if (word[0] == '-' && word[1] == '-' && !strchr(word, '='))
            open = find_option(command, word + 2, strlen(word + 2), 0);
        else if (word[0] == '-' && word[1] && !word[2])
            open = find_option(command, NULL, 0, word[1]);
        else if (word[0] != '-' && !verb)
            verb = word;
        if (open && !open->argument)
            open = NULL;
    }
    const char *equals = strchr(c->word, '=');
    const size_t named = equals && strncmp(c->word, "--", 2) == 0 ? (size_t)(equals - c->word) - 2 : 0;
    const struct option *option = named ? find_option(command, c->word + 2, named, 0) : NULL;
    if (open)
        offer_value(c, open, c->word);
    else if (option && option->argument)
        offer_value(c, option, equals + 1);
    else if (c->word[0] == '-') {
        offer_options(c, command->options);
        offer_options(c, command_common_options(command));
    } else
        offer_operands(c, command, verb);
}

void complete_write(int count, char **words, FILE *to) {
    struct completion c = {.word = count ? words[count - 1] : "", .before = "", .to = to};
    const struct command *command = count > 1 ? find_command(words[0]) : NULL;
    if (command)
        complete_command(&c, command, count - 1, words + 1);
    else if (count <= 1 || (count == 2 && strcmp(words[0], "help") == 0)) {
        for (unsigned i = 0; commands[i]; i++)
            offer(&c, commands[i]->name, strlen(commands[i]->name), "");
        static const char *const others[] = {"help", "--help", "--version", NULL};
        if (count <= 1)
            offer_names(&c, others);
    }
    arena_free(&c.arena);
}
