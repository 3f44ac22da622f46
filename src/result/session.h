/* SPDX-License-Identifier: Apache-2.0 */
/* The launches of a program that has its own way of asking for them: several modules, several processes. Each process
 * leaves logs (result/session_log.h) in a folder, whoever started them puts these together. */
#ifndef HEDDLE_RESULT_SESSION_H
#define HEDDLE_RESULT_SESSION_H

#include "launch/run.h"

/* A module of the program and what its launches did. */
struct session_module {
    struct run run;
    unsigned capacity;       /* of run.launches and run.results */
    const char *given_name;  /* of the program's file */
    const char *source_name; /* that, or with a number where another program has it */
    const char *source;
    uint64_t source_hash;
    struct session_module *next;
};

/* Zero-initialise; `machine` and `in_time` are the caller's to set. */
struct session {
    struct arena arena;
    const struct machine *machine;
    bool in_time;
    uint64_t untimed; /* if in_time: launches without time, which are not kept */
    struct session_module *modules, *last;
    struct {
        struct session_launch {
            struct session_module *module;
            unsigned index;
        } * items;
        unsigned count, capacity;
    } launches;          /* in the order they were done */
    const char *faults;  /* what stopped launches */
    const char *remarks; /* on what launches were let do */
    unsigned host_threads;
    bool is_cut; /* a process ended while it wrote a launch, or could not write it */
};

/* The text of a program's lines: it may begin with a directive that names its file and calls the next line the first. */
const char *session_source(const char *source);
/* `source` is the text behind the file that the module's positions name, in the session's arena or longer-lived. */
struct session_module *session_add(struct session *session, struct device *device, struct program *program,
                                   const char *source);
/* Takes the result over. */
void session_keep(struct session *session, struct session_module *module, const struct launch *launch,
                  struct launch_result *result);
void session_fault(struct session *session, const char *message);
void session_remark(struct session *session, const char *message);
void session_close(struct session *session);

/* A new folder for the logs, NULL: the host refused; and its end, with all that is in it. */
char *session_folder_make(struct arena *arena);
void session_folder_remove(struct arena *arena, const char *folder);

/* All launches together. */
struct session_sum {
    unsigned launches;
    uint64_t untimed;
    struct run_stats stats;
    struct gpu_stats timed;
    bool in_time;
    const char *faults, *remarks;
    bool is_cut;             /* as in struct session */
    struct json_t *document; /* the result file; json_decref it */
};
void session_sum_up(struct session *session, const char *program, double wall_seconds, struct arena *arena,
                    struct session_sum *sum);
/* What a program left that has run in processes of its own. */
struct session_logs {
    const char *folder; /* of the logs */
    const char *program;
    const struct machine *machine;
    bool in_time;
    double wall_seconds;
};
/* The same of all logs of a folder. */
enum status session_fold(const struct session_logs *logs, struct arena *arena, struct session_sum *sum,
                         struct report *report);

/* The launches themselves, in the order they were done: those in time where logs->in_time. */
struct session_list {
    struct session_done {
        const char *kernel;
        uint32_t block[3], shared_bytes;
        struct run_stats stats;
        uint64_t footprint_bytes, cycles;
    } * items;
    unsigned count, logs; /* logs: devices of processes that launched */
    uint64_t untimed;
};
/* `check` is asked of every module, and refuses. */
enum status session_list(const struct session_logs *logs,
                         enum status (*check)(const struct module *module, struct report *report), struct arena *arena,
                         struct session_list *out, struct report *report);

/* Programs that are not written for a simulator are not stopped by hand: launches that never end are given up after
 * very many cycles, where the machine has no limit of its own. */
enum status session_set_limits(struct machine *machine, struct report *report);

#endif
