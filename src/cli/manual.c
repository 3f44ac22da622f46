/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages in the language of man(7). Texts are plain: what stands for itself is found in them and set in bold, what
 * stands for something else in italics. */
#include "cli/help.h"

#include <ctype.h>
#include <string.h>

static const char about[] =
    "Heddle runs OpenCL C, PTX and CUDA kernels, and native code of Tesla, Fermi and sm_75 to sm_90, on a simulated "
    "GPU and shows what "
    "each line of them does: how many instructions its threads execute, how many lanes of a warp are busy, where the "
    "lanes diverge, what its warps wait for. No GPU is needed.\n"
    "Kernels run in time, cycle by cycle on the machine chosen, or functionally, which is faster and tells nothing of "
    "time.";

static const struct said environment[] = {
    {"HEDDLE_CONFIGS", "The folder with the shipped machines, when it is not where Heddle was built or installed"},
    {"HEDDLE_SHARE", "The folder with Heddle's own builtins for OpenCL C and CUDA, likewise"},
    {"HEDDLE_OPENCL", "The OpenCL driver libheddle_opencl.so, for heddle-exec(1), likewise"},
    {"HEDDLE_CLANG, HEDDLE_LIBCLC, HEDDLE_NVCC, HEDDLE_LLVM_SPIRV",
     "The clang, the folder with libclc's libraries, the nvcc and the llvm-spirv to use instead of those found"},
    {"HEDDLE_PLUGINS",
     "Plug-ins to load, paths one on a line, before those of --plugin; programs under heddle-exec(1) get them so"},
    {"HEDDLE_COMPILE_SECONDS", "Time limit of one run of a compiler, in seconds; default 300"},
    {"HEDDLE_STORE, XDG_DATA_HOME",
     "Where results of sweeps are kept: the first, else the folder heddle/store of the second, else "
     "~/.local/share/heddle/store"},
    {"HEDDLE_LIVE, XDG_RUNTIME_DIR",
     "Where runs listen for heddle-top(1): the first, or not at all where it is 'off'; else the folder heddle of the "
     "second, else /tmp/heddle-UID"},
    {"XDG_CACHE_HOME", "Compiled kernels are kept in its folder heddle, else in ~/.cache/heddle"},
    {NULL, NULL},
};

static const struct said files[] = {
    {"share/heddle/configs", "The shipped machines, one file each. This and the next are below the folder where Heddle "
                             "is installed, /usr or /usr/local"},
    {"share/heddle/examples", "Launch files and kernels to begin with; 'heddle run examples/saxpy' finds them there"},
    {"share/heddle/suite", "The kernels of the workloads"},
    {"share/heddle/repro", "The published experiments"},
    {"share/doc/heddle", "The documents that these pages name as docs/NAME.md"},
    {"~/.cache/heddle", "Compiled kernels; may be removed"},
    {"~/.local/share/heddle/store", "Results of sweeps and experiments"},
    {NULL, NULL},
};

/* ---- text ---- */

static void put_char(char c, FILE *to) {
    if (c == '\\')
        fputs("\\e", to);
    else if (c == '-')
        fputs("\\-", to);
    else if (c == '\'')
        fputs("\\(aq", to);
    else if (c == '~')
        fputs("\\(ti", to);
    else
        fputc(c, to);
}

static void put(const char *text, size_t length, char font, FILE *to) {
    if (font)
        fprintf(to, "\\f%c", font);
    for (size_t i = 0; i < length; i++)
        put_char(text[i], to);
    if (font)
        fputs("\\fR", to);
}

/* Words in capitals stand for something: of operands all of them do. */
static void put_operands(const char *text, FILE *to) {
    while (*text) {
        const size_t other = strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        put(text, other, 0, to);
        text += other;
        const size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (length)
            put(text, length, 'I', to);
        text += length;
    }
}

static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

static bool holds_word(const char *text, const char *word, size_t length) {
    for (const char *c = text; c && (c = strchr(c, word[0])); c++)
        if (strncmp(c, word, length) == 0 && !is_capital(c[length]) && (c == text || !is_capital(c[-1])))
            return true;
    return false;
}

/* Whether a word in capitals is what the command, or one of its options, calls something that is to be filled in. */
static bool stands_for(const char *word, size_t length, const struct command *command, const struct option *option) {
    for (size_t i = 0; i < length; i++)
        if (!is_capital(word[i]))
            return false;
    if (option && holds_word(option->argument, word, length))
        return true;
    for (const struct verb *verb = command ? command->verbs : NULL; verb && verb->name; verb++)
        if (holds_word(verb->operands, word, length))
            return true;
    return command && holds_word(command->operands, word, length);
}

/* The end of what begins with a quote here; NULL: it is an apostrophe. */
static const char *quote_end(const char *text) {
    for (const char *c = text + 1; *c && *c != '\n'; c++)
        if (*c == '\'' && !isalnum((unsigned char)c[1]))
            return c;
    return NULL;
}

/* One paragraph, up to its newline or end, which is returned, and what ends it. */
static const char *put_paragraph(const char *text, const char *stop, const struct command *command,
                                 const struct option *option, FILE *to) {
    fputs(*text == '.' ? "\\&" : "", to);
    for (bool begins = true; *text && *text != '\n';) {
        const size_t length = strspn(text, "-_=.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
        const char *end = begins && *text == '\'' ? quote_end(text) : NULL;
        if (end) {
            put(text + 1, (size_t)(end - text) - 1, 'B', to);
            text = end + 1;
            continue;
        }
        begins = !isalnum((unsigned char)*text);
        if (!length) {
            put_char(*text++, to);
            continue;
        }
        size_t word = length;
        while (word > 1 && text[word - 1] == '.') /* the sentence's */
            word--;
        if (word > 1 && text[0] == '-' && text[1] != '.')
            put(text, word, 'B', to);
        else if (stands_for(text, word, command, option))
            put(text, word, 'I', to);
        else
            fprintf(to, "%.*s", (int)word, text);
        text += word;
        begins = false;
    }
    fprintf(to, "%s\n", stop);
    return text;
}

/* Help of a line begins small and ends without a stop. */
static void put_sentence(const char *text, const struct command *command, const struct option *option, FILE *to) {
    if (islower((unsigned char)*text))
        fputc(toupper((unsigned char)*text++), to);
    put_paragraph(text, ".", command, option, to);
}

static void put_text(const char *text, const struct command *command, FILE *to) {
    while (text && *text) {
        fputs(".PP\n", to);
        text = put_paragraph(text, "", command, NULL, to);
        text += *text == '\n';
    }
}

static void put_examples(const struct command *command, FILE *to) {
    fputs(".SH EXAMPLES\n.EX\n", to);
    put(command->examples, strlen(command->examples), 0, to);
    fputs("\n.EE\n", to);
}

/* Of every command the first. */
static void put_first_examples(FILE *to) {
    fputs(".SH EXAMPLES\n.EX\n", to);
    for (unsigned i = 0; commands[i]; i++)
        if (commands[i]->examples) {
            put(commands[i]->examples, strcspn(commands[i]->examples, "\n"), 0, to);
            fputc('\n', to);
        }
    fputs(".EE\n", to);
}

static void put_said(const char *heading, const struct said *said, FILE *to) {
    fprintf(to, ".SH %s\n", heading);
    for (; said->name; said++) {
        fputs(".TP\n", to);
        put(said->name, strlen(said->name), 'B', to);
        fputc('\n', to);
        put_sentence(said->text, NULL, NULL, to);
    }
}

/* ---- pages ---- */

static void put_title(const char *name, const char *what, FILE *to) {
    fputs(".TH ", to);
    for (const char *c = name; *c; c++)
        fputc(toupper((unsigned char)*c), to);
    fputs(" 1 \"\" \"Heddle " HEDDLE_VERSION "\" \"Heddle\"\n.nh\n.ad l\n.SH NAME\n", to);
    put(name, strlen(name), 0, to);
    fprintf(to, " \\- %c", tolower((unsigned char)what[0]));
    put(what + 1, strlen(what + 1), 0, to);
    fputc('\n', to);
}

static void put_option(const struct option *option, const struct command *command, FILE *to) {
    fputs(".TP\n", to);
    if (option->letter)
        fprintf(to, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", to);
    put(option->name, strlen(option->name), 0, to);
    fputs("\\fR", to);
    if (option->argument)
        fputc(' ', to), put_operands(option->argument, to);
    fputc('\n', to);
    put_sentence(option->help, command, option, to);
}

static void put_synopsis(const struct command *command, FILE *to) {
    static const struct verb none[] = {{"", "", ""}, {NULL, NULL, NULL}};
    fputs(".SH SYNOPSIS\n", to);
    for (const struct verb *verb = command->verbs ? command->verbs : none; verb->name; verb++) {
        const char *operands = command->verbs ? verb->operands : command->operands;
        fprintf(to, "%s\\fBheddle %s%s%s\\fR [\\fIoptions\\fR]%s",
                verb == command->verbs || verb == none ? "" : ".br\n", command->name, verb->name[0] ? " " : "",
                verb->name, operands[0] ? " " : "");
        put_operands(operands, to);
        fputc('\n', to);
    }
}

static bool names_command(const struct command *command, const char *called) {
    const char *const texts[] = {command->text, command->manual};
    char words[32];
    snprintf(words, sizeof words, "heddle %s", called);
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] && strstr(texts[i], words))
            return true;
    for (const struct option *option = command->options; option->name; option++)
        if (strstr(option->help, words))
            return true;
    return false;
}

static void write_command(const struct command *command, FILE *to) {
    char name[32];
    snprintf(name, sizeof name, "heddle-%s", command->name);
    put_title(name, command->summary, to);
    put_synopsis(command, to);
    fputs(".SH DESCRIPTION\n", to);
    put_text(command->text[0] ? command->text : command->summary, command, to);
    for (const struct verb *verb = command->verbs; verb && verb->name; verb++) {
        fprintf(to, ".TP\n\\fB%s\\fR%s", verb->name, verb->operands[0] ? " " : "");
        put_operands(verb->operands, to);
        fputc('\n', to);
        put_sentence(verb->help, command, NULL, to);
    }
    put_text(command->manual, command, to);
    fputs(".SH OPTIONS\n", to);
    for (const struct option *option = command->options; option->name; option++)
        put_option(option, command, to);
    for (const struct option *option = command_common_options(command); option->name; option++)
        put_option(option, command, to);
    if (command->examples)
        put_examples(command, to);
    fputs(".SH SEE ALSO\n.BR heddle (1)", to);
    for (unsigned i = 0; commands[i]; i++)
        if (commands[i] != command && names_command(command, commands[i]->name))
            fprintf(to, ",\n.BR heddle\\-%s (1)", commands[i]->name);
    fputc('\n', to);
}

static void write_program(FILE *to) {
    put_title("heddle", "Run GPU kernels on a simulated GPU", to);
    fputs(".SH SYNOPSIS\n\\fBheddle\\fR \\fICOMMAND\\fR [\\fIoptions\\fR] ...\n.SH DESCRIPTION\n", to);
    put_text(about, NULL, to);
    fputs(".PP\nEvery command has a page of its own.\n.SH COMMANDS\n", to);
    for (unsigned i = 0; commands[i]; i++) {
        fprintf(to, ".TP\n.BR heddle\\-%s (1)\n", commands[i]->name);
        put_sentence(commands[i]->summary, NULL, NULL, to);
    }
    fputs(".TP\n\\fBheddle help\\fR [\\fICOMMAND\\fR]\nShow briefly what the program or a command takes.\n", to);
    fputs(".TP\n\\fBheddle help \\-\\-man\\fR [\\fICOMMAND\\fR]\nThis page, or that of a command, for\n.BR man (1).\n",
          to);
    fputs(".SH OPTIONS\n.TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nFor the program and for every command: show what it "
          "takes.\n"
          ".TP\n\\fB\\-V\\fR, \\fB\\-\\-version\\fR\n"
          "Show the version and the model, a hash over the sources that decide results.\n",
          to);
    put_said("EXIT STATUS", help_status, to);
    put_said("ENVIRONMENT", environment, to);
    put_said("FILES", files, to);
    put_first_examples(to);
    fputs(".SH SEE ALSO\nIn share/doc/heddle: README.md, docs/launch\\-files.md, docs/result\\-files.md and the "
          "documents "
          "that pages of commands name.\n",
          to);
}

void manual_write(const struct command *command, FILE *to) {
    if (command)
        write_command(command, to);
    else
        write_program(to);
}
