/* SPDX-License-Identifier: Apache-2.0 */
/* heddle top: what runs on this computer, and how far it is. */
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/points.h"
#include "cli/table.h"
#include "cli/top.h"

static const struct option options[] = {
    {"once", 0, NULL, "show the table once, as when standard output is no terminal"},
    {"json", 0, NULL,
     "one JSON object per run and line; without --once also at every update, until the runs of now have ended"},
    {"report", 0, "RUN", "write a result file of this run's work so far; the run continues"},
    {"output", 'o', "FILE", "for --report and the key r; default heddle-PID.json; '-' is standard output"},
    OPTION_END,
};

/* Seconds: for an answer, between two looks at a terminal. */
static const double answer_seconds = 3, look_seconds = 1;

struct top {
    struct arguments *arguments;
    struct top_runs runs;
    unsigned selected;
    const char *note; /* below the table */
};

/* ---- which ---- */

static const char *text_of(const json_t *state, const char *key) {
    const char *text = json_string_value(json_object_get(state, key));
    return text ? text : "";
}

static bool is_called(const struct top_run *run, const char *typed) {
    uint64_t pid;
    const char *name = text_of(run->state, "name");
    if (text_to_u64(typed, &pid))
        return (uint64_t)run->pid == pid;
    return strcmp(name, typed) == 0 || strcmp(file_name(name), typed) == 0;
}

/* That has said something, and is among the operands, if there are any. */
static bool is_shown(const struct top *top, const struct top_run *run) {
    bool is_wanted = !top->arguments->operand_count;
    for (unsigned i = 0; i < top->arguments->operand_count; i++)
        is_wanted |= is_called(run, top->arguments->operands[i]);
    return run->state && is_wanted;
}

static unsigned shown_count(const struct top *top) {
    unsigned count = 0;
    for (unsigned i = 0; i < top->runs.count; i++)
        count += is_shown(top, &top->runs.items[i]);
    return count;
}

/* ---- the table ---- */

static const char *count_of(const json_t *state, const char *key, struct arena *arena) {
    const json_t *value = json_object_get(state, key);
    return json_is_integer(value) && json_integer_value(value) >= 0
               ? with_commas(arena, (uint64_t)json_integer_value(value))
               : "";
}

static const char *seconds_of(const json_t *state, const char *key, struct arena *arena) {
    const json_t *value = json_object_get(state, key);
    return json_is_number(value) ? points_duration(arena, json_number_value(value)) : "";
}

static const char *done_of(const json_t *state, struct arena *arena) {
    const char *out = "", *all = count_of(state, "launches", arena);
    if (json_object_get(state, "points"))
        return arena_printf(arena, "%s of %s points, %s failed, %s running", count_of(state, "kept", arena),
                            count_of(state, "points", arena), count_of(state, "failed", arena),
                            count_of(state, "running", arena));
    out = arena_printf(arena, "%s%s%s launches", count_of(state, "launches_done", arena), *all ? " of " : "", all);
    return json_object_get(state, "kernel")
               ? arena_printf(arena, "%s, %s: %s of %s blocks", out, text_of(state, "kernel"),
                              count_of(state, "blocks_done", arena), count_of(state, "blocks", arena))
               : out;
}

static const char *rate_of(const json_t *state, struct arena *arena) {
    const json_t *count = json_object_get(state, "warp_instructions");
    const double seconds = json_number_value(json_object_get(state, "seconds"));
    return count && seconds > 0 ? arena_printf(arena, "%.2f", json_number_value(count) / seconds * 1e-6) : "";
}

static void print_runs(const struct top *top, bool marks, FILE *to) {
    enum { COLUMNS = 10 };
    static const char *const heading[COLUMNS] = {
        "", "run", "kind", "name", "done", "cycles", "warp instructions", "million/s", "time", "left"};
    struct arena arena = {0};
    struct table table = {.arena = &arena, .columns = COLUMNS, .left = 0x1d, .elastic = 3, .optional = 1 << 7 | 1 << 5};
    for (unsigned i = 0; i < COLUMNS; i++)
        table_add(&table, heading[i]);
    unsigned row = 0;
    for (unsigned i = 0; i < top->runs.count; i++) {
        const struct top_run *run = &top->runs.items[i];
        if (!is_shown(top, run))
            continue;
        table_add(&table, marks && row++ == top->selected ? ">" : "");
        table_add(&table, arena_printf(&arena, "%ld", (long)run->pid));
        table_add(&table, text_of(run->state, "kind"));
        table_add(&table, file_name(text_of(run->state, "name")));
        table_add(&table, done_of(run->state, &arena));
        table_add(&table, count_of(run->state, "cycles", &arena));
        table_add(&table, count_of(run->state, "warp_instructions", &arena));
        table_add(&table, rate_of(run->state, &arena));
        table_add(&table, seconds_of(run->state, "seconds", &arena));
        table_add(&table, json_is_true(json_object_get(run->state, "ended"))
                              ? "ended"
                              : seconds_of(run->state, "seconds_left", &arena));
    }
    table_print(&table, to);
    arena_free(&arena);
}

/* ---- for scripts ---- */

static void print_json(struct top *top) {
    for (unsigned i = 0; i < top->runs.count; i++) {
        struct top_run *run = &top->runs.items[i];
        if (run->is_new && is_shown(top, run)) {
            json_dumpf(run->state, stdout, JSON_COMPACT);
            putchar('\n');
        }
        run->is_new = false;
    }
    fflush(stdout);
}

static bool any_is_there(const struct top *top) {
    for (unsigned i = 0; i < top->runs.count; i++)
        if (top->runs.items[i].fd >= 0 && is_shown(top, &top->runs.items[i]))
            return true;
    return false;
}

static int follow(struct top *top) {
    top_find(&top->runs, LIVE_WATCH "\n", true);
    top_listen(&top->runs, answer_seconds, true, false);
    do {
        print_json(top);
        top_listen(&top->runs, 0.1, false, false);
    } while (any_is_there(top) && !ferror(stdout));
    print_json(top);
    return 0;
}

static int once(struct top *top, bool json) {
    top_find(&top->runs, LIVE_STATE "\n", true);
    top_listen(&top->runs, answer_seconds, true, false);
    if (json)
        print_json(top);
    else if (shown_count(top))
        print_runs(top, false, stdout);
    else
        puts("no run is under way (one appears half a second after it begins)");
    return 0;
}

/* ---- reports ---- */

static enum status write_report(struct top *top, const struct top_run *run, const char **path, struct report *report) {
    struct arena *arena = &top->arguments->arena;
    char *text = NULL;
    size_t length = 0;
    *path = arguments_value(top->arguments, "output");
    if (!*path)
        *path = arena_printf(arena, "heddle-%ld.json", (long)run->pid);
    const enum status status = top_report(run, arena, &text, &length, report);
    return status ? status : write_output(*path, text, length, "the report", report);
}

static int report_one(struct top *top, const char *typed, struct report *report) {
    const struct top_run *found = NULL;
    const char *path = "";
    enum status status = STATUS_OK;
    top_find(&top->runs, LIVE_STATE "\n", true);
    top_listen(&top->runs, answer_seconds, true, false);
    for (unsigned i = 0; i < top->runs.count && !status; i++) {
        if (!is_called(&top->runs.items[i], typed))
            continue;
        if (found)
            status = report_add(report, STATUS_INVALID, "several runs are called '%s'; 'heddle top' has their numbers",
                                typed);
        found = &top->runs.items[i];
    }
    if (!found)
        status = report_add(report, STATUS_INVALID, "no run has the number or name '%s'; 'heddle top' lists the runs",
                            typed);
    if (!status)
        status = write_report(top, found, &path, report);
    if (!status && strcmp(path, "-") != 0)
        print(stdout, "%s\n", path);
    return finish(status, report);
}

/* ---- a terminal ---- */

static void draw_line(const char *text, size_t length) {
    print(stdout, "%.*s", (int)length, text);
    fputs("\033[K\n", stdout);
}

static void draw(const struct top *top) {
    struct output table;
    fputs("\033[H", stdout);
    output_begin(&table);
    if (table.to)
        print_runs(top, true, table.to);
    const bool is_whole = output_close(&table);
    const char *line =
        is_whole && shown_count(top) ? table.text : "no run is under way (one appears half a second after it begins)";
    for (size_t length; *line; line += length + (line[length] == '\n')) {
        length = strcspn(line, "\n");
        draw_line(line, length);
    }
    draw_line("", 0);
    draw_line(top->note ? top->note : "r report  q quit", strlen(top->note ? top->note : "r report  q quit"));
    fputs("\033[J", stdout);
    output_free(&table);
    fflush(stdout);
}

static void report_selected(struct top *top) {
    struct report report = {0};
    const char *path = "";
    unsigned row = 0;
    for (unsigned i = 0; i < top->runs.count; i++)
        if (is_shown(top, &top->runs.items[i]) && row++ == top->selected) {
            const enum status status = write_report(top, &top->runs.items[i], &path, &report);
            top->note = arena_printf(&top->arguments->arena, "%s", status ? report_text(&report) : path);
            break;
        }
    report_free(&report);
}

/* False: to end. */
static bool press(struct top *top) {
    char keys[8];
    const ssize_t got = read(STDIN_FILENO, keys, sizeof keys);
    const unsigned count = shown_count(top);
    if (got <= 0 || keys[0] == 'q' || keys[0] == 3 || keys[0] == 4)
        return false;
    const bool is_arrow = got >= 3 && keys[0] == 27 && keys[1] == '[';
    if ((is_arrow && keys[2] == 'B') || keys[0] == 'j')
        top->selected += top->selected + 1 < count;
    if ((is_arrow && keys[2] == 'A') || keys[0] == 'k')
        top->selected -= top->selected > 0;
    if (keys[0] == 'r')
        report_selected(top);
    return true;
}

static int screen(struct top *top) {
    struct termios before, raw;
    const bool keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;
    if (keys) {
        raw = before;
        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    fputs("\033[?1049h\033[?25l", stdout);
    for (bool goes_on = true; goes_on && !ferror(stdout);) {
        top_find(&top->runs, LIVE_WATCH "\n", false);
        const unsigned count = shown_count(top);
        top->selected = count && top->selected >= count ? count - 1 : top->selected;
        draw(top);
        if (!top_listen(&top->runs, look_seconds, false, keys))
            goes_on = press(top);
    }
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    if (keys)
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return 0;
}

static int top_main(struct arguments *arguments) {
    struct top top = {.arguments = arguments};
    struct report report = {0};
    const char *typed = arguments_value(arguments, "report"), *output = arguments_value(arguments, "output");
    const bool json = arguments_has(arguments, "json"), is_once = arguments_has(arguments, "once");
    int code = 0;
    if (output && check_writable(&arguments->arena, "output", output, &report) != STATUS_OK)
        return finish(STATUS_INVALID, &report);
    if (typed)
        code = report_one(&top, typed, &report);
    else if (json && !is_once)
        code = follow(&top);
    else if (json || is_once || !isatty(STDOUT_FILENO))
        code = once(&top, json);
    else
        code = screen(&top);
    top_close(&top.runs);
    return code;
}

const struct command command_top = {
    .name = "top",
    .operands = "[RUN...]",
    .summary = "Show the runs on this computer and their progress",
    .text = "Shows every 'heddle run', 'heddle exec' and 'heddle sweep' of yours on this computer that has run for "
            "half a second: launches, blocks or points done, counters, the time left. RUN is the number or the name of "
            "one. On a terminal the table is updated every second; the arrow keys choose a run, r writes a report of "
            "its work so far, q ends.",
    .manual = "A run listens on a socket, PID.sock, in the folder heddle of $XDG_RUNTIME_DIR, or else in "
              "/tmp/heddle-UID, which only you can open; HEDDLE_LIVE=DIR chooses another folder, and HEDDLE_LIVE=off "
              "turns the socket off. docs/top.md describes the requests.\n"
              "The report is the result file that the run would write if it were interrupted now, with \"complete\": "
              "false. A copy of the process makes it, at most every five seconds.",
    .examples = "heddle top\n"
                "heddle top --once --json\n"
                "heddle top --report train.yaml -o so-far.json",
    .options = options,
    .operands_min = 0,
    .operands_max = UINT32_MAX,
    .main = top_main,
};
