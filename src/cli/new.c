/* SPDX-License-Identifier: Apache-2.0 */
/* heddle new: a folder with a plug-in that works, to be changed into one's own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands.h"
#include "machine/plugin.h"

enum { TEMPLATE_LIMIT_BYTES = 1 << 20 };

static const struct option options[] = {
    {"output", 'o', "FOLDER", "where to write it; default: the name"},
    OPTION_END,
};

static const struct verb verbs[] = {
    {"mechanism", "NAME", "a divergence mechanism: every thread has a PC, and the lanes at the lowest PC issue"},
    {"scheduler", "NAME", "a warp scheduler: the ready warp that started last issues"},
    {"predictor", "NAME", "a branch predictor: predicts that a branch goes where it went last"},
    {"replacement", "NAME", "a cache replacement policy: evicts the line that was used last"},
    {NULL, NULL, NULL},
};

/* What a plug-in of each kind begins as, a file of examples/plugin, and how a machine gets it; in the order of verbs. */
static const struct {
    const char *example, *option, *key;
} kinds[] = {
    {"minpc", "--divergence ", "divergence.mechanism"},
    {"youngest", "--set sm.scheduler=", "sm.scheduler"},
    {"onebit", "--set sm.predictor=", "sm.predictor"},
    {"mru", "--set l1.replacement=", "l1.replacement"},
};

/* Is there a part of that kind and name? Then a machine can have it. */
static bool is_taken(struct arena *arena, const char *key, const char *name) {
    struct machine machine = {0};
    struct report report = {0};
    const char *setting = arena_printf(arena, "%s=%s", key, name);
    const bool taken = machine_open(&machine, NULL, &report) == STATUS_OK &&
                       machine_set(&machine, setting, "new", &report) == STATUS_OK &&
                       machine_check(&machine, &report) == STATUS_OK;
    machine_close(&machine);
    report_free(&report);
    return taken;
}

/* The example under another name. Where C needs an identifier, '-' becomes '_'. */
static const char *renamed(struct arena *arena, const char *text, const char *old, const char *name) {
    char *identifier = arena_strdup(arena, name);
    for (char *c = identifier; *c; c++)
        *c = *c == '-' ? '_' : *c;
    const char *all = "";
    for (const char *at; (at = strstr(text, old)); text = at + strlen(old))
        all = arena_printf(arena, "%s%.*s%s", all, (int)(at - text), text, at[-1] == '"' ? name : identifier);
    return arena_printf(arena, "%s%s", all, text);
}

static const char *makefile(struct arena *arena, const char *name, const char *option) {
    return arena_printf(arena,
                        "# %s.so, a plug-in of Heddle. `make check` holds it against the laws of runs in time.\n"
                        "CFLAGS ?= -O2 -g -Wall -Wextra\n"
                        "HEDDLE ?= heddle\n"
                        "\n"
                        "%s.so: %s.c\n"
                        "\t$(CC) -std=c17 $(CFLAGS) $(shell pkg-config --cflags heddle-plugin) -fPIC -shared "
                        "-Wl,-z,defs $< -o $@\n"
                        "\n"
                        "check: %s.so\n"
                        "\t$(HEDDLE) laws --plugin ./%s.so %s%s --gpu gtx480,qv100\n"
                        "\n"
                        ".PHONY: check\n",
                        name, name, name, name, name, option, name);
}

static enum status write_folder(struct arguments *arguments, unsigned kind, const char *folder, struct report *report) {
    struct arena *arena = &arguments->arena;
    const char *name = arguments->operands[1];
    const char *path = file_beside_program(arena, arena_printf(arena, "/examples/plugin/%s.c", kinds[kind].example));
    char *text = NULL;
    size_t length;
    if (!path)
        return report_add(report, STATUS_SYSTEM, "the folder share/heddle with the examples is not found");
    const enum status status = file_read(path, TEMPLATE_LIMIT_BYTES, arena, &text, &length, report);
    if (status)
        return status;
    const char *code = renamed(arena, text, kinds[kind].example, name);
    const char *rules = makefile(arena, name, kinds[kind].option);
    if (mkdir(folder, 0777) != 0)
        return report_add(report, STATUS_INVALID, "%s: the folder cannot be made: %s", folder, strerror(errno));
    const enum status first = file_write(arena_printf(arena, "%s/%s.c", folder, name), code, strlen(code), report);
    return first ? first : file_write(file_join(arena, folder, "Makefile"), rules, strlen(rules), report);
}

static int new_main(struct arguments *arguments) {
    struct report report = {0};
    unsigned kind = 0;
    while (verbs[kind].name && strcmp(verbs[kind].name, arguments->operands[0]) != 0)
        kind++;
    if (!verbs[kind].name)
        return finish(arguments_usage(arguments, &report), &report);
    const char *name = arguments->operands[1], *chosen = arguments_value(arguments, "output");
    const char *folder = chosen ? chosen : name;
    if (!plugin_is_name(name))
        return finish(
            report_add(
                &report, STATUS_INVALID,
                "'%s' cannot be a name: begin with a letter from a to z; then letters, digits and '-' may follow",
                name),
            &report);
    if (is_taken(&arguments->arena, kinds[kind].key, name))
        return finish(report_add(&report, STATUS_INVALID, "there is a %s '%s' already; choose another name",
                                 verbs[kind].name, name),
                      &report);
    const enum status status = write_folder(arguments, kind, folder, &report);
    if (!status)
        print(stdout,
              "%s/%s.c is a %s that works. Next:\n"
              "  cd %s && make && make check\n"
              "  heddle run LAUNCH --plugin %s/%s.so %s%s\n",
              folder, name, verbs[kind].name, folder, folder, name, kinds[kind].option, name);
    return finish(status, &report);
}

const struct command command_new = {
    .name = "new",
    .summary = "Begin a plug-in: a divergence mechanism, scheduler, predictor or replacement policy of your own",
    .verbs = verbs,
    .text = "Writes a folder with a plug-in that works, and a Makefile. 'make' builds it with nothing but an installed "
            "Heddle and pkg-config; 'make check' runs 'heddle laws' on it. docs/plugins.md goes on from there.",
    .examples = "heddle new mechanism mine\n"
                "heddle run examples/collatz --plugin mine/mine.so --divergence mine,pdom",
    .options = options,
    .operands_min = 2,
    .operands_max = 2,
    .main = new_main,
};
