/* SPDX-License-Identifier: Apache-2.0 */
#include "result/session_log.h"

#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "base/file.h"
#include "device/load.h"
#include "machine/model.h"
#include "gpu/gpu.h"

enum { SERIES_LAUNCHES = 64 }; /* later ones go without their series, which would be most of the file */

enum record { RECORD_MODULE, RECORD_LAUNCH, RECORD_UNTIMED, RECORD_FAULT, RECORD_REMARK };

/* In front of every record. */
struct head {
    char model[8];         /* the beginning of its hash */
    uint32_t kind, module; /* enum record; of the module or launch */
    uint64_t bytes;        /* that follow */
};

/* A launch: these, then what there is of the mechanism's counters, the series, the printed text, and a struct inst_stats
 * and in time a struct sm_inst_stats for every instruction that has any, behind its PC. */
struct launch_head {
    uint32_t function, host_threads;
    uint32_t has_tables, is_timed, instructions, own_bytes[OWN_PARTS];
    uint64_t output_bytes, footprint_bytes;
    struct launch launch;
    struct run_stats stats;
};

/* ---- writing ---- */

struct log_bytes {
    char *items;
    size_t count, capacity;
};

static void add(struct arena *arena, struct log_bytes *out, const void *data, size_t bytes) {
    if (out->count + bytes > out->capacity) {
        const size_t capacity = 2 * (out->count + bytes);
        char *items = arena_alloc(arena, capacity);
        if (out->count)
            memcpy(items, out->items, out->count);
        out->items = items, out->capacity = capacity;
    }
    if (bytes)
        memcpy(out->items + out->count, data, bytes);
    out->count += bytes;
}

static void begin(struct arena *arena, struct log_bytes *out, enum record kind, unsigned module) {
    struct head head = {.kind = kind, .module = module};
    memcpy(head.model, model_hash(), sizeof head.model);
    add(arena, out, &head, sizeof head);
}

/* One write for the whole record: a process that is killed leaves it or does not. */
static void end(struct session_log *log, struct log_bytes *record) {
    struct head head;
    memcpy(&head, record->items, sizeof head);
    head.bytes = record->count - sizeof head;
    memcpy(record->items, &head, sizeof head);
    if (!log->is_cut && !file_append(log->path, record->items, record->count)) {
        log->is_cut = true;
        chmod(log->path, S_IRUSR); /* tells the reader, and takes no room on a full disk */
    }
}

static void add_text(struct arena *arena, struct log_bytes *out, const char *text) {
    add(arena, out, text, strlen(text) + 1);
}

static void add_module(struct session_log *log, struct arena *arena, struct session_entry *entry) {
    const struct module *module = program_module(entry->program);
    struct log_bytes record = {0};
    entry->number = ++log->modules;
    begin(arena, &record, RECORD_MODULE, entry->number);
    add_text(arena, &record, load_text_name(arena, module->name));
    add_text(arena, &record, entry->source);
    add_text(arena, &record, module->text);
    end(log, &record);
}

static bool has_counts(const void *counts, size_t bytes) {
    const uint64_t *words = counts;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        if (words[i])
            return true;
    return false;
}

static uint32_t add_tables(struct arena *arena, struct log_bytes *out, const struct launch_result *result,
                           uint32_t code) {
    uint32_t count = 0;
    for (uint32_t pc = 0; result->instructions && pc < code; pc++) {
        const struct inst_stats *counts = &result->instructions[pc];
        const struct sm_inst_stats *timed = result->timed ? &result->timed->instructions[pc] : NULL;
        if (!has_counts(counts, sizeof *counts) && !(timed && has_counts(timed, sizeof *timed)))
            continue;
        add(arena, out, &pc, sizeof pc);
        add(arena, out, counts, sizeof *counts);
        if (timed)
            add(arena, out, timed, sizeof *timed);
        count++;
    }
    return count;
}

static void add_series(struct arena *arena, struct log_bytes *out, const struct series *series) {
    for (unsigned i = 0; i < series->columns && series->count; i++)
        if (series->values[i])
            add(arena, out, series->values[i], series->count * sizeof *series->values[i]);
}

static void add_timed(struct session_log *log, struct arena *arena, struct log_bytes *out,
                      const struct gpu_stats *stats, const uint32_t *own_bytes) {
    struct gpu_stats timed = *stats;
    if (log->launches >= SERIES_LAUNCHES)
        timed.series.count = timed.sms.count = 0;
    add(arena, out, &timed, sizeof timed);
    for (unsigned part = 0; part < OWN_PARTS; part++)
        add(arena, out, timed.own_stats[part], own_bytes[part]);
    add_series(arena, out, &timed.series);
    add_series(arena, out, &timed.sms);
}

void session_log_launch(struct session_log *log, struct session_entry *entry, const struct launch *launch,
                        const struct launch_result *result, unsigned host_threads) {
    struct arena arena = {0};
    struct log_bytes record = {0};
    if (!entry->number)
        add_module(log, &arena, entry);
    if (log->in_time && !result->timed) {
        begin(&arena, &record, RECORD_UNTIMED, entry->number);
    } else {
        const struct gpu_stats *timed = result->timed;
        struct launch_head head = {.function = launch->kernel->index,
                                   .host_threads = host_threads,
                                   .has_tables = result->instructions && (!timed || timed->instructions),
                                   .is_timed = timed != NULL,
                                   .output_bytes = result->output ? result->output_bytes : 0,
                                   .footprint_bytes = result->footprint_bytes,
                                   .launch = *launch,
                                   .stats = result->stats};
        for (unsigned part = 0; timed && part < OWN_PARTS; part++)
            head.own_bytes[part] = timed->own_stats[part] ? (uint32_t)timed->own[part]->stats_bytes : 0;
        begin(&arena, &record, RECORD_LAUNCH, entry->number);
        const size_t at = record.count;
        add(&arena, &record, &head, sizeof head);
        if (timed)
            add_timed(log, &arena, &record, timed, head.own_bytes);
        add(&arena, &record, result->output, head.output_bytes);
        if (head.has_tables)
            head.instructions = add_tables(&arena, &record, result, program_module(entry->program)->code_count);
        memcpy(record.items + at, &head, sizeof head);
        log->launches++;
    }
    end(log, &record);
    arena_free(&arena);
}

static void log_message(struct session_log *log, enum record kind, const char *message) {
    struct arena arena = {0};
    struct log_bytes record = {0};
    begin(&arena, &record, kind, 0);
    add_text(&arena, &record, message);
    end(log, &record);
    arena_free(&arena);
}

void session_log_fault(struct session_log *log, const char *message) { log_message(log, RECORD_FAULT, message); }

void session_log_remark(struct session_log *log, const char *message) {
    enum { REMARKS_MAX = 16 }; /* a program may launch the same kernel without end; counters tell all of it */
    if (log->remarks++ < REMARKS_MAX)
        log_message(log, RECORD_REMARK, message);
}

/* ---- reading ---- */

struct log_reader {
    const char *at, *end;
    bool is_short; /* something was asked for that is not there */
};

static const void *take(struct log_reader *reader, size_t bytes) {
    if (reader->is_short || bytes > (size_t)(reader->end - reader->at)) {
        reader->is_short = true;
        return NULL;
    }
    const void *data = reader->at;
    reader->at += bytes;
    return data;
}

static void read_into(struct log_reader *reader, void *to, size_t bytes) {
    const void *from = take(reader, bytes);
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}

static const char *read_text(struct log_reader *reader) {
    const size_t left = (size_t)(reader->end - reader->at), length = strnlen(reader->at, left);
    const char *text = take(reader, length + 1);
    return text ? text : "";
}

static void *read_copy(struct log_reader *reader, struct arena *arena, size_t bytes) {
    void *copy = arena_alloc(arena, bytes + 1);
    read_into(reader, copy, bytes);
    return copy;
}

static enum status read_module(struct log_reader *reader, struct session *session, struct device *device,
                               struct session_module **out, struct report *report) {
    const char *name = read_text(reader), *source = read_text(reader), *text = read_text(reader);
    const uint64_t source_hash = XXH64(source, strlen(source), 0), module_hash = XXH64(text, strlen(text), 0);
    if (reader->is_short)
        return STATUS_INVALID;
    for (struct session_module *module = session->modules; module; module = module->next)
        if (module->source_hash == source_hash && module->run.module_hash == module_hash) {
            *out = module;
            return STATUS_OK;
        }
    struct program *program = NULL;
    const enum status status = device_load(device, arena_strdup(&session->arena, name),
                                           arena_strdup(&session->arena, text), strlen(text), &program, report);
    if (!status)
        *out = session_add(session, device, program, arena_strdup(&session->arena, source));
    return status;
}

static void read_series(struct log_reader *reader, struct arena *arena, struct series *series, bool by_sm) {
    const size_t bytes = series->count * sizeof *series->values[0];
    if (series->columns < SERIES_COUNT || series->columns > SERIES_COLUMNS) {
        reader->is_short = true;
        series->columns = SERIES_COUNT;
    }
    for (unsigned i = 0; i < series->columns; i++)
        series->values[i] = series->count && (!by_sm || series_is_of_sm(i)) ? read_copy(reader, arena, bytes) : NULL;
}

static void read_timed(struct log_reader *reader, const struct session *session, struct launch_result *result,
                       const uint32_t *own_bytes) {
    struct gpu_stats *timed = ARENA_NEW(&result->arena, struct gpu_stats);
    read_into(reader, timed, sizeof *timed);
    timed->instructions = NULL, timed->divergent = NULL;
    for (unsigned part = 0; part < OWN_PARTS; part++) {
        timed->own[part] = machine_own(session->machine, (enum own_part)part);
        timed->own_stats[part] = NULL;
        if (own_bytes[part] && timed->own[part] && own_bytes[part] == timed->own[part]->stats_bytes)
            timed->own_stats[part] = read_copy(reader, &result->arena, own_bytes[part]);
        else if (own_bytes[part])
            reader->is_short = true;
    }
    read_series(reader, &result->arena, &timed->series, false);
    read_series(reader, &result->arena, &timed->sms, true);
    result->timed = timed;
}

static void read_tables(struct log_reader *reader, struct launch_result *result, uint32_t count, uint32_t code) {
    result->instructions = ARENA_ARRAY(&result->arena, struct inst_stats, code);
    if (result->timed)
        result->timed->instructions = ARENA_ARRAY(&result->arena, struct sm_inst_stats, code);
    for (uint32_t i = 0; i < count && !reader->is_short; i++) {
        uint32_t pc;
        read_into(reader, &pc, sizeof pc);
        if (pc >= code) {
            reader->is_short = true;
            return;
        }
        read_into(reader, &result->instructions[pc], sizeof result->instructions[pc]);
        if (result->timed)
            read_into(reader, &result->timed->instructions[pc], sizeof result->timed->instructions[pc]);
    }
}

static enum status read_launch(struct log_reader *reader, struct session *session, struct session_module *module) {
    struct launch_head head;
    struct launch_result result = {0};
    const struct module *code = module->run.module;
    read_into(reader, &head, sizeof head);
    if (head.function >= code->function_count || head.output_bytes > (size_t)(reader->end - reader->at))
        return STATUS_INVALID;
    if (head.is_timed)
        read_timed(reader, session, &result, head.own_bytes);
    if (head.output_bytes)
        result.output = read_copy(reader, &result.arena, head.output_bytes), result.output_bytes = head.output_bytes;
    if (result.output)
        result.output[result.output_bytes] = '\0';
    if (head.has_tables)
        read_tables(reader, &result, head.instructions, code->code_count);
    if (reader->is_short) {
        launch_result_free(&result);
        return STATUS_INVALID;
    }
    struct launch launch = head.launch;
    launch.program = module->run.program;
    launch.kernel = code->functions[head.function];
    launch.params = NULL, launch.watch = NULL, launch.watcher = NULL, launch.issues = NULL, launch.listener = NULL;
    result.kernel = launch.kernel->name;
    result.stats = head.stats;
    result.footprint_bytes = head.footprint_bytes;
    session->host_threads = head.host_threads > session->host_threads ? head.host_threads : session->host_threads;
    session_keep(session, module, &launch, &result);
    return STATUS_OK;
}

struct modules {
    struct session_module **items; /* by number - 1 */
    unsigned count, capacity;
};

static enum status read_record(struct log_reader *reader, const struct head *head, struct session *session,
                               struct device *device, struct modules *modules, struct report *report) {
    struct session_module *module =
        head->module && head->module <= modules->count ? modules->items[head->module - 1] : NULL;
    switch (head->kind) {
    case RECORD_MODULE: {
        const enum status status = read_module(reader, session, device, &module, report);
        if (!status)
            *ARENA_PUSH(&session->arena, modules) = module;
        return status;
    }
    case RECORD_LAUNCH: return module ? read_launch(reader, session, module) : STATUS_INVALID;
    case RECORD_UNTIMED: session->untimed++; return STATUS_OK;
    case RECORD_FAULT: session_fault(session, read_text(reader)); return STATUS_OK;
    case RECORD_REMARK: session_remark(session, read_text(reader)); return STATUS_OK;
    default: return STATUS_INVALID;
    }
}

enum status session_log_read(const char *path, struct session *session, struct device *device, struct report *report) {
    struct arena arena = {0};
    struct modules modules = {0};
    char *data = NULL;
    size_t bytes = 0;
    enum status status = file_read(path, SIZE_MAX >> 1, &arena, &data, &bytes, report);
    struct log_reader all = {.at = data, .end = data + bytes};
    struct stat about;
    session->is_cut |= stat(path, &about) == 0 && !(about.st_mode & S_IWUSR);
    while (!status && all.at < all.end) {
        struct head head;
        read_into(&all, &head, sizeof head);
        const char *payload = all.is_short ? NULL : take(&all, head.bytes);
        if (!payload) { /* its writer ended before the whole was there */
            session->is_cut = true;
            break;
        }
        struct log_reader one = {.at = payload, .end = payload + head.bytes};
        status = memcmp(head.model, model_hash(), sizeof head.model) == 0
                     ? read_record(&one, &head, session, device, &modules, report)
                     : STATUS_INVALID;
        if (status)
            report_add(report, status,
                       "%s: a process wrote results that this program cannot read; are the OpenCL or CUDA library and "
                       "the program of one build?",
                       path);
    }
    arena_free(&arena);
    return status;
}
