/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of the program share: their descriptions, options, exit status. */
#ifndef HEDDLE_CLI_COMMANDS_H
#define HEDDLE_CLI_COMMANDS_H

#include "base/arena.h"
#include "base/file.h"
#include "base/status.h"
#include "launch/launch_file.h"
#include "machine/machine.h"
#include <stdint.h>
#include <stdio.h>

struct option {
    const char *name;     /* "gpu" for --gpu; NULL ends the table */
    char letter;          /* 'o' for -o; 0: none */
    const char *argument; /* "NAME|FILE"; NULL: takes none */
    const char *help;
};

struct arguments;
struct text_nearest; /* base/text.h */

/* What the first operand of a command may be, where it says what to do. */
struct verb {
    const char *name, *operands, *help; /* name NULL ends the table */
};

/* Help, manual pages and completion are made of this. In texts, 'quoted' is what is typed or printed as it stands, and a
 * newline ends a paragraph. */
struct command {
    const char *name, *summary;
    const char *operands;                             /* NULL: those of its verbs */
    const struct verb *verbs;                         /* NULL: it has none */
    const char *text;                                 /* what it does; may be "" */
    const char *manual;                               /* paragraphs that only the manual page has; may be NULL */
    const char *examples;                             /* command lines, one on a line; may be NULL */
    const char *const *(*names)(struct arena *arena); /* what operands may be called; NULL: they are files */
    const struct option *options;
    unsigned operands_min, operands_max;
    bool reads_words; /* all behind its name are operands, options among them: it reads them itself */
    int (*main)(struct arguments *arguments); /* returns the exit status */
};

#define COMMAND(name) extern const struct command command_##name;
#include "cli/commands.def"
#undef COMMAND
extern const struct command *const commands[]; /* all of them, NULL at the end */
extern const struct option common_options[];   /* that every command has */
/* Those of them that this one has: of what reads its words itself only help. */
const struct option *command_common_options(const struct command *command);
/* NULL: there is none of that name. */
const struct command *find_command(const char *name);
/* The option of that name, or letter where name is NULL; NULL: the command has none. */
const struct option *find_option(const struct command *command, const char *name, size_t length, char letter);

/* The command line of one command, parsed. */
struct arguments {
    struct arena arena; /* for whatever the command needs until it ends */
    const struct command *command;
    const char **operands;
    unsigned operand_count;
    struct {
        struct argument {
            const struct option *option;
            const char *value; /* "" for an option without argument */
        } * items;
        unsigned count, capacity;
    } given;
};

/* The last value given for an option, NULL when it was not given. */
const char *arguments_value(const struct arguments *arguments, const char *option);
bool arguments_has(const struct arguments *arguments, const char *option);
/* The option's value as a number up to max. STATUS_INVALID with a message when it is none. */
enum status arguments_number(const struct arguments *arguments, const char *option, uint64_t fallback, uint64_t max,
                             uint64_t *out, struct report *report);
/* The same of something that there is at least one of. */
enum status arguments_count(const struct arguments *arguments, const char *option, uint64_t fallback, uint64_t max,
                            uint64_t *out, struct report *report);

/* What stands behind the command's name: "list | run NAME...". */
const char *command_operands(const struct command *command, struct arena *arena);
/* Says how the command is called. */
enum status arguments_usage(struct arguments *arguments, struct report *report);
/* The key of the machine that an option is short for; NULL: none. */
const char *option_key(const struct option *option);
/* The machine named gpu, NULL: that of --gpu, with every --set and every option that is short for one (--divergence,
 * limits), checked. */
enum status arguments_machine(const struct arguments *arguments, const char *gpu, struct machine *machine,
                              struct report *report);
/* Several values, separated by commas, for --gpu, keys of --set or options short for one: every combination is a
 * variant, the last one given changing fastest. Counts them, 1 when there is no such list; STATUS_INVALID: too many. */
enum status arguments_variants(struct arguments *arguments, unsigned *count, struct report *report);
/* The machine of one of them, checked, and its values in the lists ("gtx480, rr"). */
enum status arguments_variant(struct arguments *arguments, unsigned variant, struct machine *machine,
                              const char **label, struct report *report);
/* What the lists are of: "gpu, sm.scheduler". */
const char *arguments_lists(struct arguments *arguments);
/* For the tables of commands that have these. */
#define OPTION_GPU                                                                                                     \
    { "gpu", 0, "NAME|FILE", "machine: a shipped one ('heddle config list') or a file; default " MACHINE_DEFAULT }
#define OPTION_SET                                                                                                     \
    { "set", 0, "KEY=VALUE", "change one key of the machine; may be given several times" }
#define OPTION_DIVERGENCE                                                                                              \
    {                                                                                                                  \
        "divergence", 0, "NAME",                                                                                       \
            "the divergence mechanism: which threads issue together; short for --set divergence.mechanism=NAME"        \
    }
#define OPTION_END                                                                                                     \
    { NULL, 0, NULL, NULL }

/* printf for all that the program says. Names, messages and lines of others' files may hold anything: what a terminal would
 * act on is written as \x1b. What kernels print, and files on standard output, go their own way, byte by byte. */
void print(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void print_text(FILE *to, const char *text);
/* Prints the report on standard error and turns the status into the program's: 0 done, 1 wrong results, 2 usage or
 * bad input, 3 the model stopped. */
int finish(enum status status, struct report *report);
/* STATUS_INVALID: there is no such thing; the nearest name, where one is near, and what lists them. */
enum status refuse_name(const char *what, const char *name, const struct text_nearest *nearest, const char *list,
                        struct report *report);
/* The launch file meant by what the user typed: a file, a name without .yaml, a folder. */
enum status find_launch_file(struct arena *arena, const char *typed, const char **path, struct report *report);
/* The file of an experiment: a shipped one by its name, in small letters too, or a file. */
enum status find_experiment(struct arena *arena, const char *typed, const char **path, struct report *report);
/* The host program and the kernels of a workload of the suite. */
enum status find_workload(struct arena *arena, const char *name, const char **program, const char **kernel,
                          struct report *report);
/* Warp instructions of a workload at size test; 0: nobody has counted them. */
uint64_t workload_instructions(const char *name);
/* The launch file that is the first operand, read. */
enum status arguments_launch_file(struct arguments *arguments, struct launch_file *out, struct report *report);
/* Whether a file can be written there is asked before the run, not after it; "-" always can. */
enum status check_writable(struct arena *arena, const char *option, const char *path, struct report *report);
/* Into the file, or on standard output for "-"; `what` it is, where that fails. */
enum status write_output(const char *path, const char *text, size_t length, const char *what, struct report *report);
/* The same for what is printed piece by piece: it is gathered first, so that there is the whole file or none. Writes it,
 * unless the status says that something went wrong; that status, or what went wrong here. */
enum status output_end(struct output *output, enum status status, const char *path, const char *what,
                       struct report *report);
/* "12,345,678" in the arena. */
const char *with_commas(struct arena *arena, uint64_t value);
/* How wide a text is on a terminal, its UTF-8 characters counted once each. */
unsigned text_width(const char *text);

#endif
