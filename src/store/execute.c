/* SPDX-License-Identifier: Apache-2.0 */
#include "store/execute.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "base/file.h"
#include "machine/model.h"
#include "result/parts.h"
#include "result/read.h"
#include "store/child.h"

#define FAILURE_SCHEMA "heddle-failure-1"
enum { LOG_TAIL_BYTES = 4096 };

/* ---- one point ---- */

struct execution {
    const struct store *store;
    const struct point *point;
    struct arena arena;
    char *scratch;
    const char *result, *log;
    int state; /* as wait(2) gives it */
    uint64_t memory_bytes;
};

static void touch(const void *scratch) { store_touch(scratch); }

/* The document with "point" before "host", which comes last. */
static json_t *with_point(const struct execution *e, json_t *root) {
    char gpu[PATH_MAX];
    json_t *out = json_object(), *host = json_object_get(root, "host"), *value;
    const char *key;
    json_object_foreach (root, key, value)
        if (value != host)
            json_object_set(out, key, value);
    json_object_set_new(out, "point", point_json(e->point));
    if (strchr(e->point->gpu, '/') && realpath(e->point->gpu, gpu))
        json_object_set_new(host, "gpu", json_string(gpu));
    json_object_set(out, "host", host);
    return out;
}

static const char *read_tail(struct execution *e) {
    char *text = NULL;
    size_t length = 0;
    if (file_read(e->log, INT_MAX, &e->arena, &text, &length, NULL) != STATUS_OK)
        return "";
    return length > LOG_TAIL_BYTES ? text + length - LOG_TAIL_BYTES : text;
}

/* By what Heddle and OpenCL call it. */
static bool is_out_of_memory(const char *said) {
    static const char *const words[] = {"out of memory", "the host has no ", "CL_OUT_OF_HOST_MEMORY",
                                        "CL_MEM_OBJECT_ALLOCATION_FAILURE"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(said, words[i]))
            return true;
    return false;
}

static const char *cause_of(struct execution *e, const char *said) {
    if (is_out_of_memory(said))
        return e->memory_bytes ? arena_printf(&e->arena, "out of memory: it may have %llu MiB (--memory)",
                                              (unsigned long long)e->memory_bytes >> 20)
                               : "out of memory";
    if (WIFEXITED(e->state))
        return WEXITSTATUS(e->state) == STATUS_WRONG     ? "the results were wrong"
               : WEXITSTATUS(e->state) == STATUS_STOPPED ? "the run was stopped"
                                                         : EXECUTE_REFUSED;
    return arena_printf(&e->arena, "killed by signal %d (%s)%s", WTERMSIG(e->state), strsignal(WTERMSIG(e->state)),
                        WTERMSIG(e->state) == SIGKILL ? ": the host may have run out of memory" : "");
}

/* The host's trouble, not the point's: it says nothing of the point, and passes. NULL: none. A run that was refused and could
 * not even say why had nowhere to write. */
static const char *host_trouble(const struct execution *e, const char *said) {
    static const int causes[] = {ENOSPC, EDQUOT, EIO, EFBIG, EMFILE, ENFILE, EROFS};
    struct statvfs disk;
    for (unsigned i = 0; i < sizeof causes / sizeof *causes; i++)
        if (strstr(said, strerror(causes[i])))
            return strerror(causes[i]);
    if (WIFEXITED(e->state) && statvfs(e->scratch, &disk) == 0 && !disk.f_bavail)
        return strerror(ENOSPC);
    return WIFEXITED(e->state) && WEXITSTATUS(e->state) && !*said ? "it could not even say why" : NULL;
}

static enum status keep_failure(struct execution *e, const char *why, struct report *report) {
    const bool exited = WIFEXITED(e->state);
    const char *said = read_tail(e), *cause = why ? why : cause_of(e, said), *trouble = host_trouble(e, said);
    if (trouble)
        return report_add(report, STATUS_SYSTEM,
                          "point %s: the host refused (%s); the point has not failed and stays to be run",
                          e->point->key, trouble);
    json_t *root = json_object();
    json_object_set_new(root, "schema", json_string(FAILURE_SCHEMA));
    json_object_set_new(root, "model", json_string(model_hash()));
    json_object_set_new(root, "point", point_json(e->point));
    json_object_set_new(root, "status", exited ? json_integer(WEXITSTATUS(e->state)) : json_null());
    json_object_set_new(root, "cause", json_string(cause));
    json_object_set_new(root, "message", result_text(&e->arena, said));
    const enum status status = store_keep(e->store, e->scratch, e->point->key, STORE_FAILED, root, report);
    json_decref(root);
    return status;
}

static enum status keep_outcome(struct execution *e, enum execute_outcome *outcome, struct report *report) {
    json_t *root = NULL;
    const char *why = NULL;
    *outcome = EXECUTE_FAILED;
    if (!WIFEXITED(e->state) || WEXITSTATUS(e->state) != 0)
        return keep_failure(e, NULL, report);
    if (result_read(&e->arena, e->result, &root, NULL) != STATUS_OK)
        why = "it ended well but wrote no result";
    else if (!json_is_true(json_object_get(root, "complete")))
        why = "a launch was stopped";
    else if (strcmp(json_string_value(json_object_get(root, "model")), model_hash()) != 0)
        why = "the result is of another model";
    enum status status;
    if (why) {
        status = keep_failure(e, why, report);
    } else {
        json_t *whole = with_point(e, root);
        *outcome = EXECUTE_KEPT;
        status = store_keep(e->store, e->scratch, e->point->key, STORE_DONE, whole, report);
        json_decref(whole);
    }
    json_decref(root);
    return status;
}

/* Runs it in its scratch folder. */
static enum status execute(struct execution *e, enum store_state state, const struct child_watch *watch,
                           enum execute_outcome *outcome, struct report *report) {
    if (state == STORE_FAILED)
        store_forget_failure(e->store, e->point->key);
    e->result = arena_printf(&e->arena, "%s/result.json", e->scratch);
    e->log = arena_printf(&e->arena, "%s/log", e->scratch);
    switch (child_run(watch, point_command(e->point, e->result, &e->arena), e->scratch, touch, e->scratch, &e->state)) {
    case CHILD_REFUSED: return report_add(report, STATUS_SYSTEM, "no process can be started: %s", strerror(errno));
    case CHILD_INTERRUPTED: *outcome = EXECUTE_INTERRUPTED; return STATUS_OK;
    case CHILD_ENDED: break;
    }
    return keep_outcome(e, outcome, report);
}

enum status execute_point(const struct store *store, const struct point *point, const struct execute_options *options,
                          enum execute_outcome *outcome, struct report *report) {
    struct execution e = {.store = store, .point = point, .memory_bytes = options->memory_bytes};
    const enum store_state state = store_find(store, point->key);
    *outcome = state == STORE_DONE ? EXECUTE_KEPT : EXECUTE_FAILED;
    if (state == STORE_DONE || (state == STORE_FAILED && !options->retry))
        return STATUS_OK;
    struct child_watch watch;
    child_watch(&watch); /* signals wait until the folder is gone again */
    watch.memory_bytes = options->memory_bytes;
    enum status status = store_scratch(store, point->key, &e.scratch, report);
    if (!status)
        status = execute(&e, state, &watch, outcome, report);
    if (e.scratch)
        store_scratch_remove(store, e.scratch);
    child_unwatch(&watch);
    arena_free(&e.arena);
    return status;
}
