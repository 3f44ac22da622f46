/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/judge.h"

#include <math.h>
#include <string.h>

#include "repro/database.h"
#include "repro/figure.h"

/* What points the store lacks; NULL: none. */
static const char *missing(const struct experiment *e) {
    for (unsigned i = 0; i < e->sweep_count; i++) {
        const struct plan *plan = &e->plans[i];
        uint64_t failed = 0, absent = 0;
        for (uint64_t k = 0; k < plan->count; k++) {
            failed += plan->points[k].state == STORE_FAILED;
            absent += plan->points[k].state == STORE_MISSING;
        }
        if (failed)
            return arena_printf(e->arena,
                                "%llu of %llu points failed; 'heddle sweep status %s --part %u --size %s' says why",
                                (unsigned long long)failed, (unsigned long long)plan->count, e->yaml.name, i + 1,
                                e->sweeps[i].source.size);
        if (absent)
            return arena_printf(e->arena, "%llu of %llu points were not run", (unsigned long long)absent,
                                (unsigned long long)plan->count);
    }
    return NULL;
}

static enum status ask(struct experiment *e, sqlite3 *database, struct report *report) {
    enum status status = STATUS_OK;
    for (unsigned i = 0; !status && i < e->value_count; i++) {
        struct experiment_value *value = &e->values[i];
        status = database_number(database, e, value->sql, &value->ours, report);
        const double allowed =
            value->kind == TOLERANCE_PERCENT ? fabs(value->published) * value->tolerance / 100 : value->tolerance;
        value->is_within = fabs(value->ours - value->published) <= allowed * (1 + 1e-9);
    }
    for (unsigned i = 0; !status && i < e->check_count; i++) {
        double holds = 0;
        status = database_number(database, e, e->checks[i].sql, &holds, report);
        e->checks[i].holds = holds != 0;
    }
    for (unsigned i = 0; !status && i < e->figure_count; i++)
        status = figure_draw(e, &e->figures[i], database, report);
    return status;
}

static enum verdict verdict_of(const struct experiment *e) {
    bool all_hold = true, all_within = true;
    for (unsigned i = 0; i < e->check_count; i++)
        all_hold &= e->checks[i].holds;
    for (unsigned i = 0; i < e->value_count; i++)
        all_within &= e->values[i].kind == TOLERANCE_NONE || e->values[i].is_within;
    if (!e->published)
        return VERDICT_STUDY;
    if (all_hold && all_within)
        return VERDICT_REPRODUCED;
    return all_hold && e->check_count ? VERDICT_ORDER_ONLY : VERDICT_NOT_REPRODUCED;
}

void judge(struct experiment *experiment, const struct store *store) {
    struct report report = {0};
    sqlite3 *database = NULL;
    experiment->verdict = VERDICT_INCOMPLETE;
    experiment->reason = missing(experiment);
    if (!experiment->reason) {
        enum status status = database_open(experiment, store, &database, &report);
        if (!status)
            status = ask(experiment, database, &report);
        if (status)
            experiment->reason =
                arena_strndup(experiment->arena, report_text(&report), strcspn(report_text(&report), "\n"));
        else
            experiment->verdict = verdict_of(experiment);
    }
    sqlite3_close(database);
    report_free(&report);
}
