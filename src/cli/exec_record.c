/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_record.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/team.h"
#include "cli/run_checkpoints.h"
#include "cli/why_print.h"

/* Names in a folder, hidden ones too. */
struct kept_names {
    const char **items;
    unsigned count, capacity;
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void list_names(const char *folder, struct arena *arena, struct kept_names *out) {
    DIR *opened = opendir(folder);
    for (struct dirent *entry; opened && (entry = readdir(opened));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            *ARENA_PUSH(arena, out) = arena_strdup(arena, entry->d_name);
    if (opened)
        closedir(opened);
    if (out->count)
        qsort(out->items, out->count, sizeof *out->items, compare_names);
}

static enum status read_checkpoints(struct arguments *arguments, struct exec_record *record, struct report *report) {
    struct run_checkpoints checkpoints;
    const enum status status = run_checkpoints_read(arguments, &checkpoints, report);
    if (status || !checkpoints.every)
        return status;
    record->every = checkpoints.every;
    record->checkpoints_typed = checkpoints.typed;
    record->checkpoints = checkpoints.writer.folder;
    return STATUS_OK;
}

enum status exec_record_read(struct arguments *arguments, struct exec_record *record, struct report *report) {
    static const char *const only[] = {"launch", "kernel", "record-bytes"};
    enum { BYTES_DEFAULT = 1 << 30 };
    const bool asked = arguments_has(arguments, "record") || arguments_has(arguments, "why") ||
                       arguments_has(arguments, "checkpoint-every");
    for (unsigned i = 0; !asked && i < sizeof only / sizeof *only; i++)
        if (arguments_has(arguments, only[i]))
            return report_add(report, STATUS_INVALID,
                              "--%s needs --record, --checkpoint-every or --why; --kernels, --skip and --launches "
                              "choose what is timed",
                              only[i]);
    *record = (struct exec_record){.typed = arguments_value(arguments, "record"),
                                   .kernel = arguments_value(arguments, "kernel")};
    enum status status = arguments_number(arguments, "launch", 0, INT64_MAX, &record->launch, report);
    if (!status)
        status = arguments_number(arguments, "record-bytes", BYTES_DEFAULT, INT64_MAX, &record->bytes, report);
    if (!status)
        status = read_checkpoints(arguments, record, report);
    if (status || !record->typed)
        return status;
    struct kept_names names = {0};
    record->folder = path_absolute(&arguments->arena, record->typed);
    if (!*record->typed || !folder_make(&arguments->arena, record->folder))
        return report_add(report, STATUS_SYSTEM, "--record: the folder '%s' cannot be made: %s", record->typed,
                          *record->typed ? strerror(errno) : "it has no name");
    if (access(record->folder, W_OK | X_OK) != 0)
        return report_add(report, STATUS_INVALID, "--record: %s: %s", record->typed, strerror(errno));
    list_names(record->folder, &arguments->arena, &names);
    if (names.count)
        return report_add(report, STATUS_INVALID,
                          "--record: '%s' is not empty; name a folder that is not there yet, so that launches of two "
                          "runs do not mix",
                          record->typed);
    return STATUS_OK;
}

enum status exec_record_prepare(struct arguments *arguments, struct exec_record *record, const char *session,
                                struct report *report) {
    if (!arguments_has(arguments, "why"))
        return STATUS_OK;
    record->why = arena_printf(&arguments->arena, "%s/why", session);
    return folder_make(&arguments->arena, record->why)
               ? STATUS_OK
               : report_add(report, STATUS_SYSTEM, "no folder for temporary files can be made: %s", strerror(errno));
}

static void give(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

void exec_record_give(struct arguments *arguments, const struct exec_record *record) {
    struct arena *arena = &arguments->arena;
    give("HEDDLE_RECORD", record->folder);
    give("HEDDLE_WHY", record->why);
    give("HEDDLE_CHECKPOINTS", record->checkpoints);
    give("HEDDLE_CHECKPOINT_EVERY",
         record->every ? arena_printf(arena, "%llu", (unsigned long long)record->every) : NULL);
    give("HEDDLE_RECORD_KERNEL", record->kernel);
    give("HEDDLE_RECORD_LAUNCH",
         record->launch ? arena_printf(arena, "%llu", (unsigned long long)record->launch) : NULL);
    give("HEDDLE_RECORD_BYTES", arena_printf(arena, "%llu", (unsigned long long)record->bytes));
}

/* ---- after ---- */

/* What a process had begun when it was killed is no record. */
static void show_kept(struct arguments *arguments, const struct exec_record *record) {
    struct kept_names names = {0};
    struct arena *arena = &arguments->arena;
    unsigned count = 0;
    const char *first = NULL;
    list_names(record->folder, arena, &names);
    for (unsigned i = 0; i < names.count; i++) {
        if (names.items[i][0] == '.') {
            folder_remove(arena, file_join(arena, record->folder, names.items[i]));
            continue;
        }
        first = first ? first : names.items[i];
        count++;
    }
    if (!count)
        print(stderr, "heddle exec: no launch was recorded in %s%s\n", record->typed,
              record->kernel || record->launch ? ": none is of that number or kernel" : "");
    else if (!arguments_has(arguments, "quiet"))
        print(stderr, "\n  %u launch%s recorded in %s: heddle run %s\n", count, count == 1 ? "" : "es", record->typed,
              file_join(arena, record->typed, first));
}

/* A sweep of all launches that were kept. */
static enum status end_checkpoints(struct arguments *arguments, const struct exec_record *record,
                                   struct report *report) {
    struct kept_names names = {0};
    struct arena *arena = &arguments->arena;
    unsigned count = 0;
    list_names(record->checkpoints, arena, &names);
    const char **files = ARENA_ARRAY(arena, const char *, names.count);
    for (unsigned i = 0; i < names.count; i++) {
        const char *path = file_join(arena, record->checkpoints, names.items[i]);
        if (names.items[i][0] == '.')
            folder_remove(arena, path);
        else if (file_exists(file_join(arena, path, "launch.yaml")))
            files[count++] = arena_printf(arena, "%s/launch.yaml", names.items[i]);
    }
    if (!count) {
        print(stderr, "heddle exec: no checkpoint was made in %s\n", record->checkpoints_typed);
        return STATUS_OK;
    }
    const char *functional = arguments_has(arguments, "functional") ? "functional: true\n" : "";
    const char *text = arena_printf(arena, "# Launches of a program, each a point: heddle sweep run parts.yaml\n%s%s%s",
                                    run_checkpoints_machine(arguments, &record->machine->params), functional,
                                    run_checkpoints_list(arena, files, count));
    if (!arguments_has(arguments, "quiet"))
        print(stderr, "\n  %u launches with checkpoints in %s; all at once: heddle sweep run %s\n", count,
              record->checkpoints_typed, file_join(arena, record->checkpoints_typed, "parts.yaml"));
    return file_write(file_join(arena, record->checkpoints, "parts.yaml"), text, strlen(text), report);
}

/* "00000000000000000042-3-saxpy" -> "launch 3, saxpy"; whether it stopped. */
static const char *title_of(struct arena *arena, const char *name, bool *stopped) {
    const char *number = strchr(name, '-'), *kernel = number ? strchr(number + 1, '-') : NULL;
    *stopped = strncmp(name, "18446744073709551615-", 21) == 0;
    return kernel ? arena_printf(arena, "launch %.*s, %s", (int)(kernel - number - 1), number + 1, kernel + 1) : name;
}

static enum status explain(struct arguments *arguments, const char *path, const char *title, struct report *report) {
    struct launch_file file = {0};
    struct why why = {0};
    struct report inner = {0};
    enum { LINES = 3 };
    struct why_session session = {arguments, !arguments_has(arguments, "quiet") && isatty(STDERR_FILENO)};
    const struct why_options options = {.seed = 1,
                                        .files = &file_access_host,
                                        .threads = team_processors(),
                                        .open = why_open_machine,
                                        .done = why_show_progress,
                                        .self = &session};
    enum status status = launch_file_read(&arguments->arena, path, &file, &inner);
    if (!status) {
        file.name = title;
        file.check_count = 0; /* what it left was seen in the program */
        status = why_run(&why, &file, &options, &inner);
    }
    if (!status) {
        fputc('\n', stderr);
        why_print(&why, LINES, &arguments->arena, stderr);
    } else {
        report_add(report, status, "--why: %s cannot be explained: %s", title, report_text(&inner));
    }
    report_free(&inner);
    why_close(&why);
    return status;
}

static enum status show_why(struct arguments *arguments, const struct exec_record *record, struct report *report) {
    struct kept_names names = {0};
    struct arena *arena = &arguments->arena;
    bool stopped = false;
    list_names(record->why, arena, &names);
    const char *last = names.count ? names.items[names.count - 1] : ".";
    if (last[0] == '.') {
        print(stderr, "heddle exec: --why: no launch %s\n",
              record->kernel || record->launch ? "is of that number or kernel" : "was there to explain");
        return STATUS_OK;
    }
    const char *title = title_of(arena, last, &stopped);
    if (stopped) { /* its words were shown: they are all that heddle why says of such a launch */
        print(
            stderr,
            "\n%s stopped, as said above: of a launch that does not end there is no time to explain. With --record DIR "
            "it is kept, and 'heddle step DIR/...' shows what it issued.\n",
            title);
        return STATUS_OK;
    }
    return explain(arguments, arena_printf(arena, "%s/%s/launch.yaml", record->why, last), title, report);
}

enum status exec_record_show(struct arguments *arguments, const struct exec_record *record, struct report *report) {
    if (record->folder)
        show_kept(arguments, record);
    if (record->checkpoints) {
        const enum status status = end_checkpoints(arguments, record, report);
        if (status)
            return status;
    }
    return record->why ? show_why(arguments, record, report) : STATUS_OK;
}
