/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/plugin_check.h"

#include <string.h>

#define HEDDLE_PLUGIN_HOST
#include <heddle-plugin.h>

#include "base/added.h"
#include "machine/machine.h"
#include "machine/plugin.h"

/* A plug-in under test. */
struct examined {
    const char *path;
    struct report *report;
    unsigned parts;
    struct {
        const char *kind, *name;
        const struct own *own;
    } seen[ADDED_MAX];
    size_t key_bytes;
    enum status status;
};

#define REFUSE(e, ...) ((e)->status = report_add((e)->report, STATUS_INVALID, __VA_ARGS__))

bool plugin_is_name(const char *name) {
    const size_t length = name ? strlen(name) : 0;
    return length && length < 64 && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

/* False: there is nothing more to ask of the part. */
static bool begin(struct examined *e, const char *kind, const char *name, const char *help) {
    if (e->parts == ADDED_MAX) {
        REFUSE(e, "%s: more than %u parts of plug-ins", e->path, (unsigned)ADDED_MAX);
        return false;
    }
    for (unsigned i = 0; i < e->parts && name; i++)
        if (strcmp(e->seen[i].kind, kind) == 0 && strcmp(e->seen[i].name, name) == 0)
            REFUSE(e, "%s: it has two %ss '%s'", e->path, kind, name);
    if (!plugin_is_name(name)) {
        REFUSE(e, "%s: a %s without a name of a to z, 0 to 9 and '-'", e->path, kind);
        return false;
    }
    if (!help)
        REFUSE(e, "%s: %s '%s' has no line of help", e->path, kind, name);
    e->seen[e->parts].kind = kind, e->seen[e->parts++].name = name;
    return true;
}

static void need(struct examined *e, const char *name, const char *member, bool there) {
    if (!there)
        REFUSE(e, "%s: '%s' lacks %s", e->path, name, member);
}
#define NEED(e, ops, member) need(e, (ops)->name, #member, (ops)->member != NULL)

static void refuse_taken(struct examined *e, const char *kind, const char *name) {
    REFUSE(e, "%s: there is a %s '%s' already", e->path, kind, name);
}

/* ---- keys and counters ---- */

static size_t value_bytes(enum param_kind kind) {
    static const size_t bytes[] = {
        [PARAM_U32] = sizeof(uint32_t), [PARAM_U64] = sizeof(uint64_t),      [PARAM_BOOL] = sizeof(bool),
        [PARAM_F64] = sizeof(double),   [PARAM_TEXT] = sizeof(const char *), [PARAM_CHOICE] = sizeof(uint32_t)};
    return (size_t)kind < sizeof bytes / sizeof bytes[0] ? bytes[kind] : SIZE_MAX / 2;
}

static void check_keys(struct examined *e, const char *name, const struct own *own) {
    const size_t length = strlen(name);
    for (const struct param_description *param = own->params; param && param->key; param++) {
        if (strncmp(param->key, name, length) != 0 || param->key[length] != '.' || !param->key[length + 1])
            REFUSE(e, "%s: the key '%s' of '%s' does not begin with '%s.'", e->path, param->key, name, name);
        if (param->offset > own->params_bytes || value_bytes(param->kind) > own->params_bytes - param->offset) {
            REFUSE(e, "%s: the key '%s' lies outside of params_bytes", e->path, param->key);
            return;
        }
    }
    struct arena arena = {0};
    struct param_set set;
    if (own->params && param_create(&set, own->params, arena_alloc(&arena, own->params_bytes), &arena, e->report))
        REFUSE(e, "%s: the keys of '%s' contradict themselves", e->path, name);
    arena_free(&arena);
}

static void check_counters(struct examined *e, const char *name, const struct own *own) {
    need(e, name, "statistics", own->statistics != NULL);
    for (const struct stat_description *stat = own->stats; stat->name; stat++)
        if (!stat->is_ratio && (stat->offset > own->stats_bytes || sizeof(uint64_t) > own->stats_bytes - stat->offset))
            REFUSE(e, "%s: the counter '%s' of '%s' lies outside of stats_bytes", e->path, stat->name, name);
}

/* Of what it has of its own; its name begins its keys. */
static void check_own(struct examined *e, const char *name, const struct own *own) {
    if (own->params && machine_has_keys_of(name))
        refuse_taken(e, "group of keys", name);
    for (unsigned i = 0; i + 1 < e->parts && own->params; i++)
        if (strcmp(e->seen[i].name, name) == 0 && e->seen[i].own && e->seen[i].own->params)
            REFUSE(e, "%s: two parts '%s' have keys", e->path, name);
    e->seen[e->parts - 1].own = own;
    e->key_bytes += own->params_bytes;
    check_keys(e, name, own);
    if (own->stats)
        check_counters(e, name, own);
}

/* ---- mechanisms ---- */

static void check_mechanism(struct examined *e, const struct divergence_ops *ops) {
    if (!begin(e, "mechanism", ops->name, ops->help))
        return;
    if (divergence_find(ops->name))
        refuse_taken(e, "mechanism", ops->name);
    NEED(e, ops, create);
    NEED(e, ops, start);
    NEED(e, ops, offer);
    NEED(e, ops, issued);
    NEED(e, ops, alive);
    NEED(e, ops, where);
    if (ops->forming && (ops->waiting || ops->slipping))
        REFUSE(e, "%s: '%s' forms groups anew, and then its lanes neither wait nor slip", e->path, ops->name);
    need(e, ops->name, "forming->returned", !ops->forming || ops->forming->returned);
    need(e, ops->name, "waiting->wait or go_on", !ops->waiting || (ops->waiting->wait && ops->waiting->go_on));
    need(e, ops->name, "slipping->looked_up or arrived",
         !ops->slipping || (ops->slipping->looked_up && ops->slipping->arrived));
    if (ops->paths && (ops->slipping || ops->forming || !ops->waiting))
        REFUSE(e, "%s: '%s' has several paths of a warp, which neither slip nor form anew and wait each on its own",
               e->path, ops->name);
    need(e, ops->name, "paths->most or moved", !ops->paths || (ops->paths->most && ops->paths->moved));
    const struct divergence_dividing *dividing = ops->paths ? ops->paths->dividing : NULL;
    need(e, ops->name, "paths->dividing->when or divide", !dividing || (dividing->when && dividing->divide));
    const struct divergence_turning *turning = ops->paths ? ops->paths->turning : NULL;
    need(e, ops->name, "paths->pick, turning->turns or gave_way",
         !turning || (ops->paths->pick && turning->turns && turning->gave_way));
    const struct divergence_beside *beside = ops->paths ? ops->paths->beside : NULL;
    need(e, ops->name, "paths->beside->seconds or issued", !beside || (beside->seconds && beside->issued));
    if (beside && turning)
        REFUSE(e, "%s: '%s' issues paths beside each other, which do not take turns", e->path, ops->name);
    check_own(e, ops->name, &ops->own);
}

/* ---- the others ---- */

static void check_scheduler(struct examined *e, const struct scheduler_ops *ops) {
    if (!begin(e, "scheduler", ops->name, ops->help))
        return;
    if (scheduler_find(ops->name, NULL))
        refuse_taken(e, "scheduler", ops->name);
    NEED(e, ops, create);
    NEED(e, ops, pick);
    need(e, ops->name, "heard", !ops->hears || ops->heard);
    check_own(e, ops->name, &ops->own);
}

static void check_predictor(struct examined *e, const struct predictor_ops *ops) {
    const struct predictor_ops *found;
    if (!begin(e, "predictor", ops->name, ops->help))
        return;
    if (predictor_find(ops->name, &found, NULL) == STATUS_OK)
        refuse_taken(e, "predictor", ops->name);
    check_own(e, ops->name, &ops->own);
    for (const struct stat_description *stat = ops->own.stats; stat && stat->name; stat++)
        for (const struct stat_description *all = predictor_stats_table; all->name; all++)
            if (strcmp(stat->name, all->name) == 0)
                REFUSE(e, "%s: every predictor counts '%s' already", e->path, stat->name);
    need(e, ops->name, "create, which counters need", !ops->own.stats || (ops->create && !ops->knows));
    if (ops->knows)
        return;
    NEED(e, ops, predict);
    NEED(e, ops, learn);
    need(e, ops->name, "bytes", !ops->create || ops->bytes);
}

static void check_replacement(struct examined *e, const struct replacement_ops *ops) {
    if (!begin(e, "replacement policy", ops->name, ops->help))
        return;
    if (replacement_find(ops->name, "", NULL))
        refuse_taken(e, "replacement policy", ops->name);
    check_own(e, ops->name, &ops->own);
    const bool any = ops->create || ops->victim || ops->filled || ops->hit || ops->own.params || ops->own.stats;
    need(e, ops->name, "create, victim or filled", !any || (ops->create && ops->victim && ops->filled));
}

enum status plugin_check(const struct plugin *plugin, const char *path, unsigned *parts, struct report *report) {
    struct examined e = {.path = path, .report = report};
    for (unsigned i = 0; plugin->mechanisms && plugin->mechanisms[i] && i <= ADDED_MAX; i++)
        check_mechanism(&e, plugin->mechanisms[i]);
    for (unsigned i = 0; plugin->schedulers && plugin->schedulers[i] && i <= ADDED_MAX; i++)
        check_scheduler(&e, plugin->schedulers[i]);
    for (unsigned i = 0; plugin->predictors && plugin->predictors[i] && i <= ADDED_MAX; i++)
        check_predictor(&e, plugin->predictors[i]);
    for (unsigned i = 0; plugin->replacements && plugin->replacements[i] && i <= ADDED_MAX; i++)
        check_replacement(&e, plugin->replacements[i]);
    if (!e.parts && !e.status)
        REFUSE(&e, "%s: it has no mechanism, scheduler, predictor or replacement policy", path);
    if (*parts + e.parts > ADDED_MAX)
        REFUSE(&e, "%s: plug-ins have more than %u parts together", path, (unsigned)ADDED_MAX);
    if (!e.status && !machine_has_room(e.key_bytes))
        REFUSE(&e, "%s: its keys need %zu bytes, more than a machine has left", path, e.key_bytes);
    *parts += e.status ? 0 : e.parts;
    return e.status;
}
