/* SPDX-License-Identifier: Apache-2.0 */
#include "repro/experiment.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "base/words.h"

struct experiment_parser {
    struct experiment *e;
    const char *size;
    struct report *report;
    enum status status; /* of all so far: parsing goes on, so that all mistakes are said at once */
};

static void fail(struct experiment_parser *p, const struct yaml_node *at, const char *message) {
    p->status = yaml_error(&p->e->yaml, at, p->report, "%s", message);
}

static void check_keys(struct experiment_parser *p, const struct yaml_node *map, const char *what,
                       const char *const *known) {
    const enum status status = yaml_known_keys(&p->e->yaml, map, what, known, p->report);
    p->status = p->status ? p->status : status;
}

/* A text that the map has; missing ones are said, unless there is a fallback. */
static const struct yaml_node *scalar(struct experiment_parser *p, const struct yaml_node *map, const char *key,
                                      bool needed) {
    const struct yaml_node *node = yaml_get(map, key);
    if (!node && needed && map->kind == YAML_MAP)
        p->status = yaml_error(&p->e->yaml, map, p->report, "'%s' is missing", key);
    if (node && node->kind == YAML_SCALAR && (*node->text || !needed))
        return node;
    if (node)
        p->status = yaml_error(&p->e->yaml, node, p->report, "'%s' is a text%s", key, needed ? ", not empty" : "");
    return NULL;
}

static const char *text(struct experiment_parser *p, const struct yaml_node *map, const char *key,
                        const char *fallback) {
    const struct yaml_node *node = scalar(p, map, key, fallback == NULL);
    return node ? node->text : fallback;
}

/* The items of a list or a map under a key; none where there is no such key. */
static const struct yaml_node *items(struct experiment_parser *p, const char *key, enum yaml_kind kind) {
    static const struct yaml_node none = {.kind = YAML_LIST};
    const struct yaml_node *node = yaml_get(p->e->yaml.root, key);
    if (node && node->kind == kind)
        return node;
    if (node)
        p->status =
            yaml_error(&p->e->yaml, node, p->report,
                       kind == YAML_LIST ? "'%s' is a list" : "'%s' is a map: a name, and what it stands for", key);
    return &none;
}

static bool number(struct experiment_parser *p, const struct yaml_node *node, const char *what, double *out) {
    if (text_to_f64(node->text, out) && *out - *out == 0)
        return true;
    p->status = yaml_error(&p->e->yaml, node, p->report, "%s, not '%.60s'", what, node->text);
    return false;
}

/* ---- questions ---- */

/* 20 is in the value's unit, "30 %" is of what was published. */
static void read_tolerance(struct experiment_parser *p, const struct yaml_node *node, struct experiment_value *value) {
    struct yaml_node plain = *node;
    size_t length = strlen(node->text);
    value->kind = TOLERANCE_ABSOLUTE;
    value->tolerance = 0;
    if (length && node->text[length - 1] == '%') {
        value->kind = TOLERANCE_PERCENT;
        for (length--; length && node->text[length - 1] == ' '; length--)
            ;
        plain.text = arena_strndup(p->e->arena, node->text, length);
    }
    if (!value->is_published && !value->is_each)
        fail(p, node, "a tolerance needs a published value, which is missing");
    if (value->unjudged)
        fail(p, node, "a value that is not judged has no tolerance");
    if (number(p, &plain, "a tolerance is a number, or one with % of the published value", &value->tolerance) &&
        value->tolerance < 0)
        fail(p, node, "a tolerance must be 0 or more");
}

/* What is left to the file's author is said in the file; every other published number has this tolerance. */
static void default_tolerance(struct experiment_value *value) {
    const bool is_percentage = strcmp(value->unit, "%") == 0;
    value->kind = is_percentage ? TOLERANCE_ABSOLUTE : TOLERANCE_PERCENT;
    value->tolerance = is_percentage ? 10 : 20;
}

/* One of two keys says what is asked. */
static const struct yaml_node *question(struct experiment_parser *p, const struct yaml_node *map, const char *other,
                                        bool *is_other) {
    const struct yaml_node *node = yaml_get(map, other);
    *is_other = node != NULL;
    if (node && yaml_get(map, "sql"))
        p->status = yaml_error(&p->e->yaml, node, p->report, "'sql' or '%s', not both", other);
    return scalar(p, map, node ? other : "sql", true);
}

static void read_value(struct experiment_parser *p, const struct yaml_node *map, struct experiment_value *value) {
    const struct yaml_node *published = scalar(p, map, "published", false);
    const struct yaml_node *tolerance = scalar(p, map, "tolerance", false);
    value->unit = text(p, map, "unit", "");
    value->absent = yaml_get(map, "absent") ? text(p, map, "absent", NULL) : NULL;
    value->sql = value->absent ? map : question(p, map, "each", &value->is_each);
    value->name = text(p, map, "name", value->is_each ? "" : NULL);
    value->unjudged = yaml_get(map, "unjudged") ? text(p, map, "unjudged", NULL) : NULL;
    value->fit = yaml_get(map, "fit") ? text(p, map, "fit", NULL) : NULL;
    default_tolerance(value);
    if (published)
        value->is_published = number(p, published, "what was published is a number", &value->published);
    if (published && value->is_each)
        fail(p, published, "what was published is a column of 'each'");
    if (tolerance)
        read_tolerance(p, tolerance, value);
    if (!value->is_published && !value->is_each && (value->unjudged || value->fit || value->absent))
        fail(p, map, "'unjudged', 'fit' and 'absent' need a published value, which is missing");
    if (value->absent && (value->unjudged || value->fit || yaml_get(map, "sql") || yaml_get(map, "each")))
        fail(p, map,
             "a value with 'absent' has no question and counts as outside; leave out 'sql', 'each', 'unjudged' and "
             "'fit'");
}

static void read_values(struct experiment_parser *p) {
    static const char *const known[] = {"name",      "unit",     "sql", "each",   "published",
                                        "tolerance", "unjudged", "fit", "absent", NULL};
    const struct yaml_node *list = items(p, "values", YAML_LIST);
    p->e->value_count = list->count;
    p->e->values = ARENA_ARRAY(p->e->arena, struct experiment_value, list->count);
    for (unsigned i = 0; i < list->count; i++) {
        check_keys(p, list->items[i], "a value", known);
        if (list->items[i]->kind == YAML_MAP)
            read_value(p, list->items[i], &p->e->values[i]);
    }
}

static void read_checks(struct experiment_parser *p) {
    static const char *const known[] = {"name", "sql", "order", NULL};
    const struct yaml_node *list = items(p, "checks", YAML_LIST);
    p->e->check_count = list->count;
    p->e->checks = ARENA_ARRAY(p->e->arena, struct experiment_check, list->count);
    for (unsigned i = 0; i < list->count; i++) {
        check_keys(p, list->items[i], "a check", known);
        p->e->checks[i].name = text(p, list->items[i], "name", NULL);
        p->e->checks[i].sql = question(p, list->items[i], "order", &p->e->checks[i].is_order);
    }
}

/* What gains and losses lie on either side of. */
static void read_centre(struct experiment_parser *p, const struct yaml_node *map, struct experiment_figure *figure) {
    const struct yaml_node *node = scalar(p, map, "centre", false);
    if (node && number(p, node, "the centre of a map is a number", &figure->centre) && figure->centre <= 0)
        fail(p, node, "the centre of a map of ratios must be above 0");
}

static void read_figures(struct experiment_parser *p) {
    static const char *const known[] = {"title", "kind", "unit", "x", "centre", "sql", NULL};
    static const char *const kinds[] = {"lines", "bars", "stacked", "heat", NULL}; /* as enum plot_kind */
    const struct yaml_node *list = items(p, "figures", YAML_LIST);
    p->e->figure_count = list->count;
    p->e->figures = ARENA_ARRAY(p->e->arena, struct experiment_figure, list->count);
    for (unsigned i = 0; i < list->count; i++) {
        const struct yaml_node *map = list->items[i], *kind = scalar(p, map, "kind", true);
        struct experiment_figure *figure = &p->e->figures[i];
        unsigned k = 0;
        check_keys(p, map, "a figure", known);
        figure->title = text(p, map, "title", NULL);
        figure->unit = text(p, map, "unit", "");
        figure->x_title = text(p, map, "x", "");
        figure->sql = scalar(p, map, "sql", true);
        figure->file =
            i ? arena_printf(p->e->arena, "%s-%u.svg", p->e->id, i + 1) : arena_printf(p->e->arena, "%s.svg", p->e->id);
        read_centre(p, map, figure);
        while (kind && kinds[k] && strcmp(kinds[k], kind->text) != 0)
            k++;
        figure->kind = k;
        if (figure->centre > 0 && k != PLOT_HEAT)
            fail(p, map, "'centre' needs a map (kind: heat)");
        if (kind && !kinds[k])
            p->status = yaml_error(&p->e->yaml, kind, p->report, "a figure's kind is %s, not '%.60s'",
                                   words_join(p->e->arena, kinds), kind->text);
    }
}

/* ---- what is run, and what is counted ---- */

static void read_sweeps(struct experiment_parser *p) {
    const struct yaml_node *list = items(p, "run", YAML_LIST);
    struct experiment *e = p->e;
    e->sweep_count = list->count;
    e->sweeps = ARENA_ARRAY(e->arena, struct sweep, list->count);
    for (unsigned i = 0; i < list->count; i++) {
        const struct sweep_source source = {e->yaml.name, i + 1, p->size};
        const struct yaml_node *size = yaml_get(list->items[i], "size");
        const enum status status = sweep_read(e->arena, &source, &e->yaml, &e->sweeps[i], p->report);
        p->status = p->status ? p->status : status;
        if (size)
            fail(p, size, "--size says how large workloads are, for all experiments alike");
    }
}

/* known: its keys. */
static void read_machine(struct experiment_parser *p, const struct yaml_node *map, const char *what,
                         const char *const *known, struct experiment_machine *out) {
    const struct yaml_node *set = yaml_get(map, "set");
    check_keys(p, map, what, known);
    const unsigned count = set && set->kind == YAML_MAP ? set->count : 0;
    const char **words = ARENA_ARRAY(p->e->arena, const char *, 2 * (size_t)count);
    out->point = (struct point){
        .gpu = text(p, map, "gpu", MACHINE_DEFAULT), .keys = words, .values = words + count, .setting_count = count};
    if (set && set->kind != YAML_MAP)
        fail(p, set, "'set' is a map: keys of the machine, and a value each");
    for (unsigned i = 0; i < count; i++) {
        if (set->items[i]->kind != YAML_SCALAR)
            fail(p, set->items[i], "this is one value of a key, not a list or a map");
        words[i] = set->keys[i]->text;
        words[count + i] = set->items[i]->text;
    }
}

static struct experiment_machine *read_machines(struct experiment_parser *p, const char *key, const char *what,
                                                const char *const *known, unsigned *count) {
    const struct yaml_node *map = items(p, key, YAML_MAP);
    struct experiment_machine *machines = ARENA_ARRAY(p->e->arena, struct experiment_machine, map->count);
    *count = map->count;
    for (unsigned i = 0; i < map->count; i++) {
        machines[i].name = map->keys[i]->text;
        machines[i].at = map->items[i];
        read_machine(p, map->items[i], what, known, &machines[i]);
    }
    return machines;
}

static void read_all_machines(struct experiment_parser *p) {
    static const char *const costs[] = {"gpu", "set", NULL}, *const steps[] = {"launch", "gpu", "set", NULL};
    struct experiment *e = p->e;
    e->machines = read_machines(p, "costs", "a machine whose cost is computed", costs, &e->machine_count);
    e->watched = read_machines(p, "steps", "a launch that is watched", steps, &e->watched_count);
    for (unsigned i = 0; i < e->watched_count; i++)
        e->watched[i].launch = scalar(p, e->watched[i].at, "launch", true);
}

static void read_studies(struct experiment_parser *p) {
    const struct yaml_node *map = items(p, "oracle", YAML_MAP);
    p->e->study_count = map->count;
    p->e->studies = ARENA_ARRAY(p->e->arena, struct experiment_study, map->count);
    for (unsigned i = 0; i < map->count; i++) {
        p->e->studies[i] = (struct experiment_study){map->keys[i]->text, map->items[i]};
        if (map->items[i]->kind != YAML_SCALAR || !*map->items[i]->text)
            fail(p, map->items[i], "this is the path of a launch file");
    }
}

static void read_differences(struct experiment_parser *p) {
    const struct yaml_node *map = items(p, "differs", YAML_MAP);
    p->e->difference_count = map->count;
    p->e->differences = ARENA_ARRAY(p->e->arena, struct experiment_difference, map->count);
    for (unsigned i = 0; i < map->count; i++) {
        p->e->differences[i] = (struct experiment_difference){map->keys[i]->text, map->items[i]->text};
        if (map->items[i]->kind != YAML_SCALAR || !*map->items[i]->text)
            fail(p, map->items[i], "this says why the key differs from other experiments of the document");
    }
}

/* Each row has as many cells as the first, which is the heading. */
static void read_readings(struct experiment_parser *p) {
    const struct yaml_node *rows = items(p, "readings", YAML_LIST);
    p->e->readings = rows;
    for (unsigned i = 0; i < rows->count; i++) {
        const struct yaml_node *row = rows->items[i];
        if (row->kind != YAML_LIST || !row->count || row->count > READING_CELLS_MAX ||
            row->count != rows->items[0]->count) {
            fail(p, row, "a reading is a list of as many texts as the heading, the first reading, and at most eight");
            continue;
        }
        for (unsigned k = 0; k < row->count; k++)
            if (row->items[k]->kind != YAML_SCALAR)
                fail(p, row->items[k], "a cell of a reading is a text");
    }
}

/* ---- the whole ---- */

/* That there is something to judge, and something to judge it by. */
static void check_sense(struct experiment_parser *p) {
    const struct experiment *e = p->e;
    bool judged = e->check_count != 0;
    for (unsigned i = 0; i < e->value_count; i++) {
        const bool numbers = e->values[i].is_published || e->values[i].is_each;
        judged |= numbers && !e->values[i].unjudged;
        if (e->values[i].is_published && !e->published)
            fail(p, e->values[i].sql, "a value was published: 'published' at the top says what is claimed");
    }
    if (!e->sweep_count && !e->machine_count && !e->study_count && !e->watched_count)
        fail(p, e->yaml.root, "an experiment needs 'run', 'costs', 'oracle' or 'steps': where its numbers come from");
    if (e->published && !judged)
        fail(p, e->yaml.root,
             "nothing is judged: it needs checks, or published values; without 'published' it is a study");
    for (unsigned i = 0; e->tables && i < e->tables->count; i++)
        if (e->tables->items[i]->kind != YAML_SCALAR)
            fail(p, e->tables->items[i], "a table is one SELECT");
}

static void read_all(struct experiment_parser *p) {
    static const char *const known[] = {"id",     "title",      "source",  "published", "run",   "print",
                                        "tables", "values",     "checks",  "figures",   "costs", "oracle",
                                        "steps",  "discussion", "differs", "readings",  NULL};
    struct experiment *e = p->e;
    const struct yaml_node *root = e->yaml.root;
    check_keys(p, root, "an experiment", known);
    if (root->kind != YAML_MAP)
        return;
    const char *last = file_name(e->yaml.name);
    const char *named = arena_strndup(e->arena, last, file_ends_in(last, ".yaml") ? strlen(last) - 5 : strlen(last));
    e->id = text(p, root, "id", NULL);
    if (e->id && strcmp(e->id, named) != 0)
        p->status = yaml_error(&e->yaml, yaml_get(root, "id"), p->report, "the id is the file's name, '%s'", named);
    e->title = text(p, root, "title", NULL);
    e->source = text(p, root, "source", "");
    e->published = yaml_get(root, "published") ? text(p, root, "published", NULL) : NULL;
    e->discussion = text(p, root, "discussion", "");
    e->print = scalar(p, root, "print", false);
    e->tables = items(p, "tables", YAML_MAP);
    read_sweeps(p);
    read_all_machines(p);
    read_studies(p);
    read_values(p);
    read_checks(p);
    read_figures(p);
    read_differences(p);
    read_readings(p);
    if (!p->status)
        check_sense(p);
}

enum status experiment_parse(struct experiment *out, const char *path, const char *data, size_t length,
                             struct report *report) {
    *out = (struct experiment){
        .arena = out->arena, .size = out->size, .state = EXPERIMENT_INCOMPLETE, .reason = "it was not run"};
    struct experiment_parser parser = {.e = out, .size = out->size, .report = report};
    parser.status = yaml_parse(out->arena, path, data, length, &out->yaml, report);
    if (!parser.status)
        read_all(&parser);
    return parser.status;
}

enum status experiment_error(const struct experiment *experiment, const struct yaml_node *at, const char *message,
                             struct report *report) {
    return report_add(report, STATUS_INVALID, "%s:%u: %s", experiment->yaml.name, at->line, message);
}

const char *experiment_document(const struct experiment *experiment) {
    return arena_strndup(experiment->arena, experiment->source, strcspn(experiment->source, ","));
}

bool experiment_declares(const struct experiment *experiment, const char *key) {
    for (unsigned i = 0; i < experiment->difference_count; i++) {
        const char *declared = experiment->differences[i].key;
        const size_t length = strlen(declared);
        const bool prefix = length && declared[length - 1] == '*';
        if (prefix ? strncmp(declared, key, length - 1) == 0 : strcmp(declared, key) == 0)
            return true;
    }
    return false;
}

bool experiment_is_judged(const struct experiment_value *value) { return value->is_published && !value->unjudged; }

double experiment_allowed(const struct experiment_value *value) {
    return value->kind == TOLERANCE_PERCENT ? fabs(value->published) * value->tolerance / 100 : value->tolerance;
}

const struct experiment_value *experiment_headline(const struct experiment *experiment) {
    const struct experiment_value *shown = NULL, *first = experiment->numbers.items;
    for (unsigned i = 0; i < experiment->numbers.count; i++) {
        if (experiment_is_judged(&first[i]))
            return &first[i];
        if (!shown && (first[i].is_published || !experiment->published))
            shown = &first[i];
    }
    return shown;
}

/* ---- in words ---- */

static const char *with_unit(struct arena *arena, const char *text, const char *unit) {
    return *unit ? arena_printf(arena, "%s %s", text, unit) : text;
}

const char *experiment_number(struct arena *arena, double number, const char *unit) {
    return with_unit(arena, arena_printf(arena, fabs(number) < 1e4 ? "%.4g" : "%.0f", number), unit);
}

const char *experiment_ours(struct arena *arena, const struct experiment_value *value) {
    if (value->absent)
        return "–";
    const char *mean = experiment_number(arena, value->ours.mean, "");
    if (value->ours.count > 1)
        mean = arena_printf(arena, "%s ± %.2g", mean, value->ours.half);
    return with_unit(arena, mean, value->unit);
}

const char *experiment_deviation(struct arena *arena, const struct experiment_value *value) {
    const double difference = value->ours.mean - value->published;
    if (!value->is_published || value->absent)
        return "";
    if (difference == 0)
        return "none";
    if (strcmp(value->unit, "%") == 0)
        return arena_printf(arena, "%+.1f points", difference);
    if (value->published == 0)
        return arena_printf(arena, "%+.4g", difference);
    return arena_printf(arena, "%+.1f %%", 100 * difference / fabs(value->published));
}

const char *experiment_within(const struct experiment_value *value) {
    return !experiment_is_judged(value) ? "" : value->is_within ? "within" : "outside";
}

const char *experiment_outcome(const struct experiment_check *check) {
    static const char *const names[] = {"no", "yes", "noise"};
    return names[check->outcome];
}

static const char *const marks[] = {"–", "no", "yes"};

const char *experiment_trend(const struct experiment *experiment) { return marks[experiment->trend]; }

const char *experiment_magnitude(const struct experiment *experiment) {
    static const char *const fitted[] = {"–", "no (fit)", "fit"};
    return (experiment->is_fit ? fitted : marks)[experiment->magnitude];
}
