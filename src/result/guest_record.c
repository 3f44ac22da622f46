/* SPDX-License-Identifier: Apache-2.0 */
#include "result/guest_record.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"
#include "launch/bind.h"
#include "launch/checkpoint.h"

enum { TARGETS = 3, LAUNCHES_MAX = 1000, NAME_BYTES = 60 };

/* A folder that takes launches. */
struct target {
    const char *folder;
    bool keeps_longest;
    uint64_t every;   /* launches: checkpoints are kept; 0: files with what memory held */
    uint64_t kept_ns; /* of the one that is kept */
    const char *kept;
};

struct guest_records {
    struct record_settings settings;
    struct arena arena;
    pthread_mutex_t lock; /* guards what follows: contexts of OpenCL have threads of their own */
    struct target targets[TARGETS];
    unsigned target_count;
    struct checkpoint_writer checkpoints;
    uint64_t launches, bytes, kept;
    bool said_bytes, said_count;
};

struct guest_record_under {
    struct guest_records *records;
    struct session_log *log;
    struct arena arena;
    uint64_t number;
    const char *kernel; /* as the source has it, of plain characters */
    struct launch_record parts[TARGETS];
    const char *paths[TARGETS]; /* NULL: this target does not take it */
};

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void add_checkpoints(struct guest_records *records) {
    const char *every = environment("HEDDLE_CHECKPOINT_EVERY");
    struct target target = {.folder = records->settings.checkpoints};
    if (!every || !text_to_u64(every, &target.every) || !target.every)
        target.every = 1;
    records->checkpoints.folder = target.folder;
    records->targets[records->target_count++] = target;
}

struct guest_records *guest_records_create(struct arena *arena) {
    const struct record_settings settings = {.folder = environment("HEDDLE_RECORD"),
                                             .longest = environment("HEDDLE_WHY"),
                                             .checkpoints = environment("HEDDLE_CHECKPOINTS"),
                                             .kernel = environment("HEDDLE_RECORD_KERNEL")};
    if (!settings.folder && !settings.longest && !settings.checkpoints)
        return NULL;
    struct guest_records *records = ARENA_NEW(arena, struct guest_records);
    records->settings = settings;
    const char *launch = environment("HEDDLE_RECORD_LAUNCH"), *bytes = environment("HEDDLE_RECORD_BYTES");
    if (!launch || !text_to_u64(launch, &records->settings.launch))
        records->settings.launch = 0;
    if (!bytes || !text_to_u64(bytes, &records->settings.bytes))
        records->settings.bytes = UINT64_MAX;
    pthread_mutex_init(&records->lock, NULL);
    if (settings.folder)
        records->targets[records->target_count++] = (struct target){.folder = settings.folder};
    if (settings.longest)
        records->targets[records->target_count++] = (struct target){.folder = settings.longest, .keeps_longest = true};
    if (settings.checkpoints)
        add_checkpoints(records);
    return records;
}

/* ---- names ---- */

static const char *plain_name(struct arena *arena, const char *name) {
    char *plain = arena_strndup(arena, name, strnlen(name, NAME_BYTES));
    for (char *c = plain; *c; c++)
        *c = isalnum((unsigned char)*c) || *c == '_' ? *c : '-';
    return plain;
}

/* On one line, for a comment. */
static const char *one_line(struct arena *arena, const char *text) {
    char *line = arena_strdup(arena, text);
    for (char *c = line; *c; c++)
        *c = (unsigned char)*c < ' ' ? ' ' : *c;
    return line;
}

/* What the launch is, and how it is run again as it was. */
static const char *about(struct guest_record_under *under, const struct launch *launch) {
    struct arena *arena = &under->arena;
    const char *gpu = environment("HEDDLE_GPU"), *settings = environment("HEDDLE_SET"), *options = "";
    if (gpu)
        options = arena_printf(arena, " --gpu %s", gpu);
    for (const char *line = settings; line && *line;) {
        const size_t length = strcspn(line, "\n");
        if (length)
            options = arena_printf(arena, "%s --set %.*s", options, (int)length, line);
        line += length + (line[length] == '\n');
    }
    return arena_printf(arena,
                        "# Launch %llu of %s, kernel %s: what memory held when it began, every allocation at its "
                        "address.\n# As it ran: heddle run launch.yaml%s%s\n",
                        (unsigned long long)under->number, one_line(arena, program_invocation_short_name),
                        one_line(arena, launch->kernel->name), one_line(arena, options),
                        environment("HEDDLE_FUNCTIONAL") ? " --functional" : "");
}

/* The folder gets the first name that nobody has: another process of the program may have a launch of that number too. */
static const char *give_name(struct arena *arena, const char *from, const char *wanted) {
    for (unsigned i = 1; i < LAUNCHES_MAX; i++) {
        const char *to = i == 1 ? wanted : arena_printf(arena, "%s-%u", wanted, i);
        if (rename(from, to) == 0)
            return to;
        if (errno != ENOTEMPTY && errno != EEXIST)
            break;
    }
    return from;
}

/* ---- before ---- */

static bool is_chosen(const struct guest_records *records, uint64_t number, const char *kernel, struct arena *arena) {
    const struct record_settings *settings = &records->settings;
    if (settings->launch && settings->launch != number)
        return false;
    return !settings->kernel || strcmp(settings->kernel, kernel) == 0 ||
           strcmp(settings->kernel, bind_source_name(arena, kernel)) == 0;
}

static void say(struct guest_record_under *under, const char *why) {
    struct report words = {0};
    report_add(&words, STATUS_OK, "heddle exec: launch %llu (%s) was not recorded: %s",
               (unsigned long long)under->number, under->kernel, why);
    session_log_remark(under->log, report_text(&words));
    report_free(&words);
}

/* Within the limits? Each is told once. */
static bool has_room(struct guest_record_under *under, const struct target *target, uint64_t bytes) {
    struct guest_records *records = under->records;
    if (target->every)
        bytes = records->checkpoints.bytes;
    const uint64_t left =
        target->keeps_longest || target->every ? records->settings.bytes : records->settings.bytes - records->bytes;
    if (bytes > left) {
        if (!records->said_bytes)
            say(under, arena_printf(&under->arena,
                                    "it takes %llu bytes, and %llu are left of --record-bytes; later ones that are "
                                    "too large are left out without a word",
                                    (unsigned long long)bytes, (unsigned long long)left));
        records->said_bytes = true;
        return false;
    }
    if (!target->keeps_longest && !target->every && records->kept == LAUNCHES_MAX) {
        if (!records->said_count)
            say(under, arena_printf(&under->arena,
                                    "%d launches of this process were, and no more are; choose with --launch or "
                                    "--kernel",
                                    LAUNCHES_MAX));
        records->said_count = true;
        return false;
    }
    return true;
}

static void begin_part(struct guest_record_under *under, unsigned i, const struct record_order *like) {
    struct guest_records *records = under->records;
    struct target *target = &records->targets[i];
    struct launch_record *record = &under->parts[i];
    struct report report = {0};
    struct record_order order = *like;
    uint64_t bytes = 0;
    if (target->every && (under->number - 1) % target->every)
        return;
    if (target->every) {
        order.checkpoints = &records->checkpoints;
        order.checkpoint = arena_printf(&under->arena, "launch-%ld-%06llu.checkpoint", (long)getpid(),
                                        (unsigned long long)under->number);
        order.launches = under->number - 1;
    }
    order.folder =
        arena_printf(&under->arena, "%s/.%ld-%llu", target->folder, (long)getpid(), (unsigned long long)under->number);
    enum status status = record_begin(record, &order, &bytes, &report);
    if (!status && !has_room(under, target, bytes)) {
        record_free(record);
        return;
    }
    if (!status && mkdir(order.folder, 0777) != 0)
        status = report_add(&report, STATUS_SYSTEM, "%s: %s", order.folder, strerror(errno));
    if (!status)
        status = record_write(record, &report);
    if (status) {
        say(under, report_text(&report));
        folder_remove(&under->arena, order.folder);
        record_free(record);
    } else {
        const char *name = arena_printf(&under->arena, "%s/%04llu-%s", target->folder,
                                        (unsigned long long)under->number, under->kernel);
        under->paths[i] = target->keeps_longest ? order.folder : give_name(&under->arena, order.folder, name);
        record->order.folder = under->paths[i];
        records->bytes += target->keeps_longest || target->every ? 0 : bytes;
        records->kept += !target->keeps_longest && !target->every;
    }
    report_free(&report);
}

struct guest_record_under *guest_record_begin(struct guest_records *records, struct device *device,
                                              const struct session_entry *entry, const struct launch *launch,
                                              struct session_log *log) {
    if (!records)
        return NULL;
    struct arena arena = {0};
    pthread_mutex_lock(&records->lock);
    const uint64_t number = ++records->launches;
    struct guest_record_under *under = NULL;
    if (is_chosen(records, number, launch->kernel->name, &arena)) {
        under = ARENA_NEW(&arena, struct guest_record_under);
        *under = (struct guest_record_under){.records = records, .log = log, .number = number, .arena = arena};
        under->kernel = plain_name(&under->arena, bind_source_name(&under->arena, launch->kernel->name));
        const struct record_order order = {
            .device = device, .launch = launch, .about = about(under, launch), .source = session_source(entry->source)};
        for (unsigned i = 0; i < records->target_count; i++)
            begin_part(under, i, &order);
    } else {
        arena_free(&arena);
    }
    pthread_mutex_unlock(&records->lock);
    return under;
}

/* ---- after ---- */

/* Of two that are kept by time, the longer; one that stopped is longer than any. */
static void end_longest(struct guest_record_under *under, struct target *target, const char *path, uint64_t ns) {
    if (target->kept && ns <= target->kept_ns) {
        folder_remove(&under->arena, path);
        return;
    }
    if (target->kept)
        folder_remove(&under->arena, target->kept);
    target->kept_ns = ns;
    /* by name the last of all processes is the longest of all */
    target->kept =
        arena_strdup(&under->records->arena,
                     give_name(&under->arena, path,
                               arena_printf(&under->arena, "%s/%020llu-%llu-%s", target->folder, (unsigned long long)ns,
                                            (unsigned long long)under->number, under->kernel)));
}

void guest_record_end(struct guest_record_under *under, const char *stopped, uint64_t ns) {
    if (!under)
        return;
    struct guest_records *records = under->records;
    pthread_mutex_lock(&records->lock);
    for (unsigned i = 0; i < records->target_count; i++) {
        struct report report = {0};
        if (!under->paths[i])
            continue;
        if (record_end(&under->parts[i], stopped, &report))
            say(under, report_text(&report));
        if (records->targets[i].keeps_longest)
            end_longest(under, &records->targets[i], under->paths[i], stopped ? UINT64_MAX : ns);
        record_free(&under->parts[i]);
        report_free(&report);
    }
    pthread_mutex_unlock(&records->lock);
    struct arena arena = under->arena; /* it holds this */
    arena_free(&arena);
}
