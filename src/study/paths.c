/* SPDX-License-Identifier: Apache-2.0 */
#include "study/paths.h"

#include <string.h>

#include "base/bits.h"
#include "exec/step.h"
#include "result/checked_run.h"

enum { EVENTS = 24 };

/* A thread of a finding, and what it did last. */
struct path {
    uint64_t launch, block;
    unsigned warp, lane;
    const struct finding_access *access;
    uint64_t count; /* of its events; the last EVENTS of them are kept */
    uint32_t pcs[EVENTS];
    const struct module *module;
    bool is_done;
};

struct paths {
    struct arena arena;
    struct exec_watch watch;
    struct check *check;
    const struct exec_watch *inner; /* the check's */
    struct path *items;             /* two for each finding: `at`, `other` */
    unsigned findings, seen;
};

/* ---- what is heard ---- */

/* Findings that are new since the last call: their threads' paths end here. */
static void end_found(struct paths *paths) {
    unsigned count;
    check_findings(paths->check, &count);
    for (; paths->seen < count && paths->seen < paths->findings; paths->seen++)
        paths->items[2 * paths->seen].is_done = paths->items[2 * paths->seen + 1].is_done = true;
}

static void note(struct paths *paths, const struct watch_issue *issue, uint32_t lanes) {
    const uint64_t launch = check_launches(paths->check);
    for (unsigned i = 2 * paths->seen; i < 2 * paths->findings; i++) {
        struct path *path = &paths->items[i];
        if (!path->access || path->launch != launch || path->is_done || path->block != issue->block ||
            path->warp != issue->warp || !(lanes >> path->lane & 1))
            continue;
        path->module = issue->linked->module;
        path->pcs[path->count++ % EVENTS] = issue->pc;
    }
}

static void on_access(void *self, const struct watch_issue *issue, const struct watch_access *access) {
    struct paths *paths = self;
    note(paths, issue, access->lanes);
    paths->inner->access(paths->inner->self, issue, access);
    end_found(paths);
}

static void on_meet(void *self, const struct watch_issue *issue, uint32_t lanes) {
    struct paths *paths = self;
    note(paths, issue, lanes);
    paths->inner->meet(paths->inner->self, issue, lanes);
}

static void on_fence(void *self, const struct watch_issue *issue) {
    struct paths *paths = self;
    note(paths, issue, issue->lanes);
    paths->inner->fence(paths->inner->self, issue);
}

static void on_arrive(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t absent) {
    struct paths *paths = self;
    note(paths, issue, issue->lanes);
    paths->inner->arrive(paths->inner->self, issue, barrier, absent);
    end_found(paths);
}

static void on_leave(void *self, const struct watch_issue *issue, unsigned barrier, uint32_t alive) {
    struct paths *paths = self;
    paths->inner->leave(paths->inner->self, issue, barrier, alive);
    end_found(paths);
}

static void on_refuse(void *self, const struct watch_issue *issue, unsigned lane, enum watch_refusal why,
                      const char *message) {
    struct paths *paths = self;
    note(paths, issue, UINT32_C(1) << lane);
    paths->inner->refuse(paths->inner->self, issue, lane, why, message);
    end_found(paths);
}

static void on_unwritten(void *self, const struct watch_issue *issue, unsigned lane, enum watch_use use) {
    struct paths *paths = self;
    note(paths, issue, UINT32_C(1) << lane);
    paths->inner->unwritten(paths->inner->self, issue, lane, use);
    end_found(paths);
}

/* ---- what is wanted, and told ---- */

static void want(struct path *path, const struct finding *finding, const struct finding_access *access,
                 unsigned warp_size) {
    *path = (struct path){.launch = finding->launch,
                          .block = access->block,
                          .warp = access->thread / warp_size,
                          .lane = access->thread % warp_size,
                          .access = access};
}

static const char *does(const struct inst *inst) {
    if (inst->op == OP_BAR)
        return "barrier";
    if (inst->op == OP_MEMBAR)
        return "fence";
    if (inst_is_of_warps(inst))
        return "warp";
    if (inst_is_atomic(inst))
        return "atomic";
    return inst_only_loads(inst) ? "load" : inst_only_stores(inst) ? "store" : op_name((enum op)inst->op);
}

/* Its last event at the access's own instruction is where the finding is. */
static json_t *path_json(const struct path *path) {
    json_t *list = json_array();
    const uint64_t first = path->count > EVENTS ? path->count - EVENTS : 0;
    uint64_t here = path->count;
    while (here > first && path->pcs[(here - 1) % EVENTS] != path->access->pc)
        here--;
    for (uint64_t i = first; i < path->count; i++) {
        const struct inst *inst = &path->module->code[path->pcs[i % EVENTS]];
        const bool has_source = inst->line && inst->file < path->module->file_count && *path->module->files[inst->file];
        json_t *event =
            json_pack("{s: s, s: I, s: s}", "file", has_source ? path->module->files[inst->file] : path->module->name,
                      "line", (json_int_t)(has_source ? inst->line : inst->text_line), "does", does(inst));
        if (!event)
            continue;
        if (i + 1 == here)
            json_object_set_new(event, "here", json_true());
        json_array_append_new(list, event);
    }
    return list;
}

static void tell(const struct paths *paths, json_t *document) {
    json_t *findings = json_object_get(document, "findings");
    for (unsigned i = 0; i < 2 * paths->findings; i++) {
        json_t *side = json_object_get(json_array_get(findings, i / 2), i % 2 ? "other" : "at");
        if (side && paths->items[i].count)
            json_object_set_new(side, "path", path_json(&paths->items[i]));
    }
}

static void prepare(struct paths *paths, const struct paths_order *order) {
    const struct finding *found = check_findings(order->check, &paths->findings);
    paths->check = checked_run_create(order->file, order->kinds);
    paths->inner = check_watch(paths->check);
    paths->items = ARENA_ARRAY(&paths->arena, struct path, 2 * (size_t)paths->findings + 1);
    for (unsigned i = 0; i < paths->findings; i++) {
        if (found[i].kind == FINDING_ORDER) /* of another order of the threads */
            continue;
        if (found[i].has_thread && found[i].at.pc != NO_PC)
            want(&paths->items[2 * i], &found[i], &found[i].at, order->machine->warp_size);
        if (found[i].has_other)
            want(&paths->items[2 * i + 1], &found[i], &found[i].other, order->machine->warp_size);
    }
    paths->watch = *paths->inner;
    paths->watch.self = paths;
    paths->watch.access = on_access, paths->watch.meet = on_meet, paths->watch.fence = on_fence;
    paths->watch.arrive = on_arrive, paths->watch.leave = on_leave;
    paths->watch.refuse = on_refuse, paths->watch.unwritten = on_unwritten;
}

enum status paths_add(const struct paths_order *order, json_t *document, struct report *report) {
    struct paths paths = {0};
    struct run run = {0};
    enum status status = run_open(&run, order->file, order->machine, order->options, report);
    if (!status) {
        prepare(&paths, order);
        status = checked_run_by(&run, paths.check, &paths.watch, report);
        if (!status)
            tell(&paths, document);
        check_free(paths.check);
    }
    run_close(&run);
    arena_free(&paths.arena);
    return status;
}
