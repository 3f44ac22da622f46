/* SPDX-License-Identifier: Apache-2.0 */
#include "result/guest.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "launch/run.h"
#include "machine/plugin.h"
#include "result/guest_check.h"
#include "result/guest_live.h"
#include "result/guest_record.h"
#include "result/guest_sample.h"

struct recorder {
    struct arena arena;
    struct guest_settings settings;
    regex_t kernels;
    bool has_regex;
    atomic_ullong matched;             /* launches of kernels that are to be timed, so far */
    const struct guest_sample *sample; /* NULL: nobody samples */
    bool is_opencl;
    struct guest_records *records; /* NULL: no launch is kept as a launch file */
    pthread_mutex_t lock;          /* guards what follows */
    unsigned logs;
    struct session_recording *first;
};

struct session_recording {
    struct session_log log;
    struct arena arena; /* holds this and the entries of programs */
    struct recorder *recorder;
    void (*hold)(void *owner);
    void *owner;
    struct guest_check *check; /* NULL: nobody asked */
    struct guest_live *live;   /* NULL: the host refused */
    pid_t process;             /* a fork takes the records along, but they are its parent's */
    const char *kernel;        /* of the launch under way */
    time_t told;               /* when its progress was last written down */
    struct session_recording *next;
};

bool guest_is_functional(const struct recorder *recorder) { return recorder->settings.functional; }

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static uint64_t environment_number(const char *name, uint64_t fallback) {
    uint64_t value;
    const char *text = environment(name);
    return text && text_to_u64(text, &value) ? value : fallback;
}

struct guest_settings guest_settings_read(void) {
    return (struct guest_settings){.functional = environment("HEDDLE_FUNCTIONAL") != NULL,
                                   .kernels = environment("HEDDLE_KERNELS"),
                                   .skip = environment_number("HEDDLE_SKIP", 0),
                                   .launches = environment_number("HEDDLE_LAUNCHES", UINT64_MAX),
                                   .sample = environment("HEDDLE_SAMPLE"),
                                   .results = environment("HEDDLE_RESULTS")};
}

enum status guest_machine(struct machine *machine, struct report *report) {
    enum status status = plugin_load_environment(report);
    if (!status)
        status = machine_open(machine, environment("HEDDLE_GPU"), report);
    const char *settings = environment("HEDDLE_SET"); /* KEY=VALUE, one on a line */
    while (!status && settings && *settings) {
        const size_t length = strcspn(settings, "\n");
        if (length)
            status = machine_set(machine, arena_strndup(&machine->arena, settings, length), "--set", report);
        settings += length + (settings[length] == '\n');
    }
    if (!status)
        status = session_set_limits(machine, report);
    return status ? status : machine_check(machine, report);
}

/* ---- records ---- */

/* An empty file, for who started the process. */
static void leave_mark(const struct guest_settings *settings, const char *name) {
    char path[4096];
    if (settings->results && snprintf(path, sizeof path, "%s/%s", settings->results, name) < (int)sizeof path)
        file_append(path, "", 0);
}

struct recorder *recorder_create(const struct guest_settings *settings, const char *found) {
    struct arena arena = {0};
    struct recorder *recorder = ARENA_NEW(&arena, struct recorder);
    recorder->arena = arena;
    recorder->settings = *settings;
    recorder->is_opencl = strcmp(found, SESSION_FOUND_OPENCL) == 0;
    leave_mark(settings, found);
    pthread_mutex_init(&recorder->lock, NULL);
    const char *kernels = settings->kernels;
    recorder->sample = guest_sample_read(settings->sample, &recorder->arena);
    recorder->records = guest_records_create(&recorder->arena);
    recorder->has_regex = kernels && regcomp(&recorder->kernels, kernels, REG_EXTENDED | REG_NOSUB) == 0;
    return recorder;
}

/* Whether the next launch of this kernel runs in time. */
static bool chooses_time(struct recorder *recorder, const char *kernel) {
    const struct guest_settings *settings = &recorder->settings;
    if (settings->functional || (recorder->has_regex && regexec(&recorder->kernels, kernel, 0, NULL, 0) != 0))
        return false;
    const uint64_t number = atomic_fetch_add(&recorder->matched, 1);
    return number >= settings->skip && number - settings->skip < settings->launches;
}

struct session_recording *guest_recording_create(struct recorder *recorder, void (*hold)(void *owner), void *owner) {
    if (!recorder->settings.results)
        return NULL;
    leave_mark(&recorder->settings, SESSION_OPENED);
    struct arena arena = {0};
    struct session_recording *recording = ARENA_NEW(&arena, struct session_recording);
    recording->recorder = recorder;
    recording->hold = hold;
    recording->owner = owner;
    recording->process = getpid();
    pthread_mutex_lock(&recorder->lock);
    const unsigned number = recorder->logs++;
    recording->next = recorder->first;
    recorder->first = recording;
    pthread_mutex_unlock(&recorder->lock);
    const char *name =
        arena_printf(&arena, "%s/%010ld-%06u", recorder->settings.results, (long)recording->process, number);
    recording->log = (struct session_log){.in_time = !recorder->settings.functional,
                                          .path = arena_printf(&arena, "%s" SESSION_LOG, name)};
    recording->check = guest_check_create(arena_printf(&arena, "%s" SESSION_CHECK, name), recorder->is_opencl);
    recording->live = guest_live_create(arena_printf(&arena, "%s" GUEST_LIVE, name), &arena);
    recording->arena = arena;
    return recording;
}

static bool is_own(const struct session_recording *recording) { return recording && recording->process == getpid(); }

void guest_recording_destroy(struct session_recording *recording) {
    if (!recording)
        return;
    struct recorder *recorder = recording->recorder;
    pthread_mutex_lock(&recorder->lock);
    struct session_recording **at = &recorder->first;
    while (*at && *at != recording)
        at = &(*at)->next;
    if (*at)
        *at = recording->next;
    pthread_mutex_unlock(&recorder->lock);
    if (is_own(recording))
        guest_check_free(recording->check);
    guest_live_destroy(recording->live);
    struct arena arena = recording->arena; /* it holds the recording */
    arena_free(&arena);
}

void recorder_end(struct recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    for (struct session_recording *recording = recorder->first; recording; recording = recording->next)
        if (is_own(recording)) {
            recording->hold(recording->owner); /* for good: the process is ending */
            guest_check_leaks(recording->check);
        }
    pthread_mutex_unlock(&recorder->lock);
}

struct session_entry *guest_recording_module(struct session_recording *recording, const struct program *loaded,
                                             const char *source) {
    if (!recording)
        return NULL;
    struct session_entry *entry = ARENA_NEW(&recording->arena, struct session_entry);
    *entry = (struct session_entry){.program = loaded, .source = arena_strdup(&recording->arena, source ? source : "")};
    return entry;
}

void guest_recording_fault(struct session_recording *recording, const char *message) {
    if (is_own(recording))
        session_log_fault(&recording->log, message);
}

/* ---- memory ---- */

void guest_device(struct session_recording *recording, struct device *device, const struct machine *machine) {
    if (is_own(recording))
        guest_check_device(recording->check, device, machine->warp_size);
}

void guest_device_end(struct session_recording *recording) {
    if (is_own(recording))
        guest_check_device_end(recording->check);
}

void guest_allocated(struct session_recording *recording, const struct host_range *range, bool is_written) {
    if (is_own(recording))
        guest_check_allocated(recording->check, range, is_written);
}

void guest_freed(struct session_recording *recording, uint64_t start) {
    if (is_own(recording))
        guest_check_freed(recording->check, start);
}

bool guest_is_checked(const struct session_recording *recording) { return is_own(recording) && recording->check; }

/* ---- launches ---- */

static void tell_compile(void *self, const char *name, bool has_ended) {
    const struct recorder *recorder = self;
    char path[4096], line[256];
    struct report report = {0};
    snprintf(path, sizeof path, "%s/" SESSION_PROGRESS, recorder->settings.results);
    const int length = snprintf(line, sizeof line, SESSION_COMPILING "%.80s\n", name);
    if (has_ended)
        unlink(path);
    else
        file_write(path, line, (size_t)length, &report); /* what cannot be written is not shown */
    report_free(&report);
}

void guest_watch_compiler(struct recorder *recorder) {
    if (recorder->settings.results)
        compile_set_watch(tell_compile, recorder);
}

/* A line in a file of its own, once a second, for who waits for the program. */
static bool write_progress(void *watcher, const struct launch_progress *progress) {
    struct session_recording *recording = watcher;
    const time_t now = time(NULL);
    guest_live_progress(recording->live, progress);
    if (now == recording->told)
        return true;
    recording->told = now;
    struct report report = {0};
    char path[4096], line[256];
    snprintf(path, sizeof path, "%s/" SESSION_PROGRESS, recording->recorder->settings.results);
    const int length =
        snprintf(line, sizeof line, "%.80s: %.1f million cycles, %llu of %llu blocks, %.1f million warp instructions\n",
                 recording->kernel, (double)progress->cycles * 1e-6, (unsigned long long)progress->blocks_done,
                 (unsigned long long)progress->blocks, (double)progress->warp_instructions * 1e-6);
    file_write(path, line, (size_t)length, &report); /* what cannot be written is not shown */
    report_free(&report);
    return true;
}

static void watch(struct session_recording *recording, struct launch *launch) {
    if (is_own(recording))
        guest_live_begin(recording->live, launch->kernel->name);
    if (!is_own(recording) || !launch->in_time)
        return;
    recording->kernel = launch->kernel->name;
    recording->told = time(NULL);
    launch->watch = write_progress;
    launch->watcher = recording;
}

/* The text with the files of a module called as the user sees them, from the folder at hand. */
static const char *with_names_here(struct arena *arena, const struct module *module, const char *text) {
    for (unsigned i = 1; i < module->file_count; i++) {
        const char *path = module->files[i], *found;
        const size_t length = strlen(path);
        while (*path == '/' && length > 1 && (found = strstr(text, path)))
            text = arena_printf(arena, "%.*s%s%s", (int)(found - text), text, source_name_here(arena, path),
                                found + length);
    }
    return text;
}

enum status guest_launch(struct device *device, struct guest_launch *run, struct report *report) {
    struct launch_result result;
    struct session_recording *recording = run->recording;
    if (run->recorder->sample)
        guest_sample_choose(run->recorder->sample, atomic_fetch_add(&run->recorder->matched, 1), run->launch);
    else
        run->launch->in_time = chooses_time(run->recorder, run->launch->kernel->name);
    watch(recording, run->launch);
    struct guest_record_under *kept =
        is_own(recording) && run->entry
            ? guest_record_begin(run->recorder->records, device, run->entry, run->launch, &recording->log)
            : NULL;
    if (is_own(recording))
        guest_check_begin(recording->check, run->launch, &recording->log);
    const enum status status = device_launch(device, run->launch, &result, report);
    if (is_own(recording))
        guest_check_end(recording->check, run->launch, status, report);
    run->ns = host_launch_ns(device, &result);
    struct arena arena = {0};
    const char *stopped =
        status ? with_names_here(&arena, program_module(run->launch->program), report_text(report)) : NULL;
    guest_record_end(kept, stopped, run->ns);
    if (result.output) { /* what the kernel prints is output of the program */
        fwrite(result.output, 1, result.output_bytes, stdout);
        fflush(stdout);
    }
    if (is_own(recording)) {
        if (result.remarks)
            session_log_remark(&recording->log, result.remarks);
        if (stopped)
            session_log_fault(&recording->log, stopped);
        guest_live_end(recording->live, &result, recording->log.in_time);
        session_log_launch(&recording->log, run->entry, run->launch, &result, device_host_threads(device));
    }
    arena_free(&arena);
    launch_result_free(&result);
    return status;
}
