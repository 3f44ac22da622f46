#include "opencl/record.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "opencl/context.h"
#include "opencl/program.h"

struct recorder {
    struct arena arena;
    const struct settings *settings;
    regex_t kernels;
    bool has_regex;
    atomic_ullong matched; /* launches of kernels that are to be timed, so far */
    pthread_mutex_t lock;  /* guards what follows, and is held while a part is written: the process may be ending */
    unsigned parts;
    struct recording *first;
};

struct recording {
    struct session session;
    struct recorder *recorder;
    cl_context context;
    pid_t process; /* a fork takes the records along, but they are its parent's */
    unsigned part;
    struct recording *next;
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

struct recording *record_context(cl_context context) {
    struct recorder *recorder = context->device->platform->recorder;
    if (!recorder->settings->results)
        return NULL;
    struct arena arena = {0};
    struct recording *recording = ARENA_NEW(&arena, struct recording);
    recording->session = (struct session){.arena = arena,
                                          .machine = &context->device->machine,
                                          .in_time = !recorder->settings->functional};
    recording->recorder = recorder;
    recording->context = context;
    recording->process = getpid();
    pthread_mutex_lock(&recorder->lock);
    recording->part = recorder->parts++;
    recording->next = recorder->first;
    recorder->first = recording;
    pthread_mutex_unlock(&recorder->lock);
    return recording;
}

static void write_part(struct recording *recording) {
    struct session *session = &recording->session;
    if (recording->process == getpid() && (session->launches.count || session->untimed || session->faults)) {
        char name[40];
        snprintf(name, sizeof name, "%010ld-%06u", (long)recording->process, recording->part);
        session_write(session, recording->recorder->settings->results, name, NULL);
    }
    struct session ended = *session; /* its arena holds the recording */
    session_close(&ended);
}

void record_context_end(cl_context context) {
    struct recorder *recorder = context->device->platform->recorder;
    pthread_mutex_lock(&recorder->lock);
    struct recording **at = &recorder->first;
    while (*at && *at != context->recording)
        at = &(*at)->next;
    struct recording *recording = context->recording ? *at : NULL;
    if (recording) {
        *at = recording->next;
        context->recording = NULL;
        write_part(recording);
    }
    pthread_mutex_unlock(&recorder->lock);
}

void record_end(struct recorder *recorder) {
    pthread_mutex_lock(&recorder->lock);
    while (recorder->first) {
        struct recording *recording = recorder->first;
        recorder->first = recording->next;
        if (recording->process == getpid())
            engine_acquire(&recording->context->engine); /* for good: the process is ending */
        recording->context->recording = NULL;
        write_part(recording);
    }
    pthread_mutex_unlock(&recorder->lock);
}

struct session_module *record_program(cl_program program) {
    struct recording *recording = program->context->recording;
    if (!recording)
        return NULL;
    struct session *session = &recording->session;
    return session_add(session, program->context->engine.device, program->loaded,
                       arena_strdup(&session->arena, program->source ? program->source : ""));
}

void record_launch(cl_program program, const struct launch *launch, struct launch_result *result) {
    struct recording *recording = program->context->recording;
    if (recording)
        session_keep(&recording->session, program->record, launch, result);
    else
        launch_result_free(result);
}

void record_fault(cl_context context, const char *message) {
    if (context->recording)
        session_fault(&context->recording->session, message);
}
