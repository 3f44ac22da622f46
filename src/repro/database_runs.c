/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of launch files that are run here and now: what reconvergence could gain, and what was issued step by step. */
#include <stdio.h>

#include "base/file.h"
#include "repro/filling.h"
#include "repro/question.h"
#include "study/oracle.h"
#include "study/steps.h"

/* ---- what reconvergence could gain ---- */

static enum status add_launches(struct filling *f, const char *name, struct run *run, sqlite3_stmt *insert,
                                struct report *report) {
    enum status status = STATUS_OK;
    while (!status && run->done < run->file->launch_count) {
        struct oracle oracle;
        const unsigned launch = run->done;
        status = oracle_next(run, ORACLE_THREADS, &oracle, report);
        if (status)
            break;
        sqlite3_bind_text(insert, 1, name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 2, launch);
        sqlite3_bind_text(insert, 3, run->results[launch].kernel, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(insert, 4, (int64_t)oracle.threads);
        sqlite3_bind_int64(insert, 5, (int64_t)oracle.thread_instructions);
        sqlite3_bind_int64(insert, 6, (int64_t)oracle.pdom_issues);
        sqlite3_bind_int64(insert, 7, (int64_t)oracle.oracle_issues);
        if (!filling_add_row(insert))
            status = question_error(f->database, f->e, f->e->yaml.root, report);
    }
    return status ? status : run_check(run, report);
}

/* A launch file that is run here and now. */
struct launches {
    struct machine machine;
    struct launch_file file;
    struct run run;
    struct report report;
};

static enum status open_launches(struct filling *f, const struct yaml_node *path, const struct point *point,
                                 struct launches *out) {
    struct arena *arena = f->e->arena;
    const struct run_options options = {.seed = 1, .files = &file_access_host, .in_time = !point->functional};
    const char *whole = file_join(arena, file_dir(arena, f->e->yaml.name), path->text);
    *out = (struct launches){0};
    enum status status = launch_file_read(arena, whole, &out->file, &out->report);
    if (!status)
        status = point_machine(point, &out->machine, &out->report);
    if (!status && point->functional)
        status = oracle_prepare(&out->machine, &out->report);
    if (!status)
        status = run_open(&out->run, &out->file, &out->machine, &options, &out->report);
    return status;
}

static void close_launches(struct filling *f, const struct yaml_node *path, enum status status, struct launches *of) {
    if (status)
        experiment_error(f->e, path, report_text(&of->report), f->report);
    run_close(&of->run);
    machine_close(&of->machine);
    report_free(&of->report);
}

static enum status add_study(struct filling *f, const struct experiment_study *study, sqlite3_stmt *insert) {
    const struct point point = {.gpu = MACHINE_DEFAULT, .functional = true};
    struct launches launches;
    enum status status = open_launches(f, study->at, &point, &launches);
    if (!status)
        status = add_launches(f, study->name, &launches.run, insert, &launches.report);
    close_launches(f, study->at, status, &launches);
    return status;
}

enum status filling_add_studies(struct filling *f) {
    const char *names[] = {"program",     "launch",       "kernel", "threads", "thread_instructions",
                           "pdom_issues", "oracle_issues"};
    const struct columns columns = {names, 7, 7};
    sqlite3_stmt *insert = NULL;
    enum status status = STATUS_OK;
    if (filling_make_table(f, "oracle", &columns, &insert) != SQLITE_OK)
        status = question_error(f->database, f->e, f->e->yaml.root, f->report);
    for (unsigned i = 0; !status && i < f->e->study_count; i++)
        status = add_study(f, &f->e->studies[i], insert);
    sqlite3_finalize(insert);
    return status;
}

/* ---- issue by issue ---- */

enum { STEPS_MAX = 1 << 16 };

struct watching {
    struct filling *f;
    const char *name;
    struct run *run;
    sqlite3_stmt *steps, *held;
};

/* Where an instruction stands in its listing, of one of several operations the whole; its PC where there is no listing. */
static const char *place_of(const struct watching *w, uint32_t pc) {
    const struct module *module = w->run->module;
    uint32_t whole = pc;
    while (module->texts && whole + 1 < module->code_count && module->code[whole].flags & FLAG_PART)
        whole++;
    unsigned address;
    if (module->texts && whole < module->code_count && module->texts[whole] &&
        sscanf(module->texts[whole], "/*%x*/", &address) == 1)
        return arena_printf(w->f->e->arena, "0x%x", address);
    return arena_printf(w->f->e->arena, "%u", (unsigned)pc);
}

static bool add_step(const struct watching *w, unsigned launch, unsigned number, const struct recorded_step *step) {
    const struct module *module = w->run->module;
    char text[256];
    bool done = true;
    const bool is_part = (module->code[step->pc].flags & FLAG_PART) != 0;
    sqlite3_bind_text(w->steps, 1, w->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(w->steps, 2, launch);
    sqlite3_bind_int64(w->steps, 3, number);
    sqlite3_bind_int64(w->steps, 4, step_warp(step, bits_first(step->lanes)));
    if (!is_part)
        sqlite3_bind_text(w->steps, 5, place_of(w, step->pc), -1, SQLITE_STATIC);
    sqlite3_bind_text(w->steps, 6, inst_text(module, &module->code[step->pc], text, sizeof text), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(w->steps, 7, step->lanes);
    done &= filling_add_row(w->steps);
    for (unsigned i = 0; i < step->row_count; i++) {
        sqlite3_bind_text(w->held, 1, w->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(w->held, 2, launch);
        sqlite3_bind_int64(w->held, 3, number);
        sqlite3_bind_int64(w->held, 4, i);
        sqlite3_bind_text(w->held, 5, step->rows[i].what, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(w->held, 6, step->rows[i].lanes);
        if (step->rows[i].pc != NO_PC)
            sqlite3_bind_text(w->held, 7, place_of(w, step->rows[i].pc), -1, SQLITE_STATIC);
        done &= filling_add_row(w->held);
    }
    return done;
}

static enum status watch_launches(const struct watching *w, struct report *report) {
    struct run *run = w->run;
    enum status status = STATUS_OK;
    while (!status && run->done < run->file->launch_count) {
        const unsigned launch = run->done;
        struct steps steps;
        steps_create(&steps, w->f->e->arena, &(struct steps_filter){.one_block = true, .most = STEPS_MAX});
        run->launches[launch].issues = &steps.observer;
        status = run_next(run, report);
        for (unsigned i = 0; !status && i < steps.count; i++)
            if (!add_step(w, launch, i, &steps.items[i]))
                status = question_error(w->f->database, w->f->e, w->f->e->yaml.root, report);
    }
    return status ? status : run_check(run, report);
}

enum status filling_add_watched(struct filling *f) {
    const char *step_names[] = {"program", "launch", "step", "warp", "place", "text", "lanes"};
    const char *held_names[] = {"program", "launch", "step", "row", "what", "lanes", "place"};
    const struct columns step_columns = {step_names, 7, 7}, held_columns = {held_names, 7, 7};
    struct watching w = {.f = f};
    enum status status = STATUS_OK;
    if (filling_make_table(f, "steps", &step_columns, &w.steps) != SQLITE_OK ||
        filling_make_table(f, "held", &held_columns, &w.held) != SQLITE_OK)
        status = question_error(f->database, f->e, f->e->yaml.root, f->report);
    for (unsigned i = 0; !status && i < f->e->watched_count; i++) {
        const struct experiment_machine *watched = &f->e->watched[i];
        struct launches launches;
        status = open_launches(f, watched->launch, &watched->point, &launches);
        w.name = watched->name, w.run = &launches.run;
        if (!status)
            status = watch_launches(&w, &launches.report);
        close_launches(f, watched->launch, status, &launches);
    }
    sqlite3_finalize(w.steps);
    sqlite3_finalize(w.held);
    return status;
}
