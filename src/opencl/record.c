/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl/record.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "launch/run.h"
#include "opencl/context.h"
#include "opencl/program.h"

struct recorder {
    struct arena arena;
    const struct settings *settings;
    regex_t kernels;
    bool has_regex;
    atomic_ullong matched; /* launches of kernels that are to be timed, so far */
    pthread_mutex_t lock;  /* guards what follows */
    unsigned logs;
    struct session_recording *first;
};

struct session_recording {
    struct session_log log;
    struct arena arena; /* holds this and the entries of programs */
    struct recorder *recorder;
    cl_context context;
    pid_t process;      /* a fork takes the records along, but they are its parent's */
    const char *kernel; /* of the launch under way */
    time_t told;        /* when its progress was last written down */
    struct session_recording *next;
};

struct recorder *record_create(cl_platform_id platform) {
    struct arena arena = {0};
    struct recorder *recorder = ARENA_NEW(&arena, struct recorder);
    recorder->arena = arena;
    recorder->settings = &platform->settings;
    pthread_mutex_init(&recorder->lock, NULL);
    const char *kernels = platform->settings.kernels;
    recorder->has_regex = kernels && regcomp(&recorder->kernels, kernels, REG_EXTENDED | REG_NOSUB) == 0;
    return recorder;
}

bool record_chooses_time(struct recorder *recorder, const char *kernel) {
    const struct settings *settings = recorder->settings;
    if (settings->functional || (recorder->has_regex && regexec(&recorder->kernels, kernel, 0, NULL, 0) != 0))
        return false;
    const uint64_t number = atomic_fetch_add(&recorder->matched, 1);
    return number >= settings->skip && number - settings->skip < settings->launches;
}

struct session_recording *record_context(cl_context context) {
    struct recorder *recorder = context->device->platform->recorder;
    if (!recorder->settings->results)
        return NULL;
    struct arena arena = {0};
    struct session_recording *recording = ARENA_NEW(&arena, struct session_recording);
    recording->recorder = recorder;
    recording->context = context;
    recording->process = getpid();
    pthread_mutex_lock(&recorder->lock);
    const unsigned number = recorder->logs++;
    recording->next = recorder->first;
    recorder->first = recording;
    pthread_mutex_unlock(&recorder->lock);
    recording->log =
        (struct session_log){.in_time = !recorder->settings->functional,
                             .path = arena_printf(&arena, "%s/%010ld-%06u" SESSION_LOG, recorder->settings->results,
                                                  (long)recording->process, number)};
    recording->arena = arena;
    return recording;
}

static bool is_own(const struct session_recording *recording) { return recording && recording->process == getpid(); }

void record_context_end(cl_context context) {
    struct recorder *recorder = context->device->platform->recorder;
    struct session_recording *recording = context->recording;
    pthread_mutex_lock(&recorder->lock);
    struct session_recording **at = &recorder->first;
    while (*at && *at != recording)
        at = &(*at)->next;
    if (*at)
        *at = recording->next;
    pthread_mutex_unlock(&recorder->lock);
    context->recording = NULL;
    if (recording) {
        struct arena arena = recording->arena; /* it holds the recording */
        arena_free(&arena);
    }
}

void record_end(struct recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    for (struct session_recording *recording = recorder->first; recording; recording = recording->next)
        if (is_own(recording))
            engine_acquire(&recording->context->engine); /* for good: the process is ending */
    pthread_mutex_unlock(&recorder->lock);
}

struct session_entry *record_program(cl_program program, struct program *loaded) {
    struct session_recording *recording = program->context->recording;
    if (!recording)
        return NULL;
    struct session_entry *entry = ARENA_NEW(&recording->arena, struct session_entry);
    *entry = (struct session_entry){.program = loaded,
                                    .source = arena_strdup(&recording->arena, program->source ? program->source : "")};
    return entry;
}

/* A line in a file of its own, once a second, for who waits for the program. */
static bool write_progress(void *watcher, const struct launch_progress *progress) {
    struct session_recording *recording = watcher;
    const time_t now = time(NULL);
    if (now == recording->told)
        return true;
    recording->told = now;
    struct report report = {0};
    char path[4096], line[256];
    snprintf(path, sizeof path, "%s/" SESSION_PROGRESS, recording->recorder->settings->results);
    const int length =
        snprintf(line, sizeof line, "%.80s: %.1f million cycles, %llu of %llu blocks, %.1f million warp instructions\n",
                 recording->kernel, (double)progress->cycles * 1e-6, (unsigned long long)progress->blocks_done,
                 (unsigned long long)progress->blocks, (double)progress->warp_instructions * 1e-6);
    file_write(path, line, (size_t)length, &report); /* what cannot be written is not shown */
    report_free(&report);
    return true;
}

void record_watch(cl_context context, struct launch *launch) {
    struct session_recording *recording = context->recording;
    if (!is_own(recording) || !launch->in_time)
        return;
    recording->kernel = launch->kernel->name;
    recording->told = time(NULL);
    launch->watch = write_progress;
    launch->watcher = recording;
}

void record_launch(cl_context context, struct session_entry *record, const struct launch *launch,
                   const struct launch_result *result) {
    struct session_recording *recording = context->recording;
    if (is_own(recording))
        session_log_launch(&recording->log, record, launch, result, device_host_threads(context->engine.device));
}

void record_remark(cl_context context, const char *message) {
    if (is_own(context->recording))
        session_log_remark(&context->recording->log, message);
}

void record_fault(cl_context context, const char *message) {
    if (is_own(context->recording))
        session_log_fault(&context->recording->log, message);
}
