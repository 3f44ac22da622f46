/* SPDX-License-Identifier: Apache-2.0 */
/* The machines of all experiments of one document: a change that one of them makes and another does not is declared, with a reason,
 * by one of the two (`differs`). So no change can be used where it helps and left out where it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "repro/experiment.h"
#include "unit/arena_fixture.h"

struct words {
    const char **items;
    unsigned count, capacity;
};

/* The machines of one experiment with one gpu and one mechanism: every value that each key has. */
struct machines {
    const char *gpu, *mechanism;
    struct {
        struct key {
            const char *name;
            struct words values;
        } * items;
        unsigned count, capacity;
    } keys;
};

struct row {
    struct experiment e;
    struct {
        struct machines *items;
        unsigned count, capacity;
    } groups;
    struct {
        struct program {
            const char *gpu, *name;
        } * items;
        unsigned count, capacity;
    } programs;
    const struct sweep *sweep; /* whose machines are being looked at */
};

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static void add_word(struct words *words, const char *word) {
    for (unsigned i = 0; i < words->count; i++)
        if (strcmp(words->items[i], word) == 0)
            return;
    *ARENA_PUSH(&arena, words) = word;
    qsort(words->items, words->count, sizeof *words->items, by_text);
}

static const char *joined(const struct words *words) {
    const char *out = "";
    for (unsigned i = 0; i < words->count; i++)
        out = arena_printf(&arena, "%s%s%s", out, i ? ", " : "", words->items[i]);
    return out;
}

static struct machines *find_machines(struct row *row, const char *gpu, const char *mechanism) {
    for (unsigned i = 0; i < row->groups.count; i++)
        if (strcmp(row->groups.items[i].gpu, gpu) == 0 && strcmp(row->groups.items[i].mechanism, mechanism) == 0)
            return &row->groups.items[i];
    struct machines *out = ARENA_PUSH(&arena, &row->groups);
    *out = (struct machines){.gpu = gpu, .mechanism = mechanism};
    return out;
}

/* Every key that can matter under the machine's mechanism. */
static void add_machine(struct row *row, const char *gpu, const struct machine *machine) {
    const struct param_description *mechanism = param_find(&machine->params, "divergence.mechanism");
    struct machines *group = find_machines(row, gpu, arena_strdup(&arena, param_text(&machine->params, mechanism)));
    unsigned at = 0;
    for (const char *line = point_machine_text(machine, &arena); *line;
         line += strcspn(line, "\n"), line += *line == '\n') {
        const size_t name = strcspn(line, "="), whole = strcspn(line, "\n");
        if (at == group->keys.count)
            *ARENA_PUSH(&arena, &group->keys) = (struct key){.name = arena_strndup(&arena, line, name)};
        assert_int_equal(strncmp(group->keys.items[at].name, line, name), 0);
        add_word(&group->keys.items[at++].values, arena_strndup(&arena, line + name + 1, whole - name - 1));
    }
}

static void visit(void *context, uint64_t first, const struct machine *machine) {
    struct row *row = context;
    add_machine(row, sweep_value(row->sweep, first, COLUMN_GPU), machine);
}

static void add_programs(struct row *row, const struct sweep *sweep) {
    for (uint64_t i = 0; i < sweep->numbers; i++)
        if (!sweep_is_excluded(sweep, i))
            *ARENA_PUSH(&arena, &row->programs) =
                (struct program){sweep_value(sweep, i, COLUMN_GPU), sweep_value(sweep, i, COLUMN_PROGRAM)};
}

static struct words programs_of(const struct row *row, const char *gpu) {
    struct words out = {0};
    for (unsigned i = 0; i < row->programs.count; i++)
        if (strcmp(row->programs.items[i].gpu, gpu) == 0)
            add_word(&out, row->programs.items[i].name);
    return out;
}

static void read_row(struct row *row, const char *path, const char *text, size_t length) {
    row->e = (struct experiment){.arena = &arena, .size = "test"};
    if (experiment_parse(&row->e, path, text, length, &report))
        fail_msg("%s", report_text(&report));
    for (unsigned i = 0; i < row->e.sweep_count; i++) {
        row->sweep = &row->e.sweeps[i];
        plan_machines(&row->e.sweeps[i], visit, row);
        add_programs(row, row->sweep);
    }
    for (unsigned i = 0; i < row->e.machine_count; i++) {
        struct machine machine = {0};
        const struct point *point = &row->e.machines[i].point;
        if (point_machine(point, &machine, &report))
            fail_msg("%s: %s", path, report_text(&report));
        add_machine(row, point->gpu, &machine);
        machine_close(&machine);
    }
}

/* Two rows, and what is not the same in them. */
struct difference {
    const struct row *one, *other;
    const char *key, *text;
};

struct differences {
    struct difference *items;
    unsigned count, capacity;
};

static void compare_machines(const struct row *a, const struct row *b, const struct machines *one,
                             const struct machines *other, struct differences *out) {
    for (unsigned i = 0; i < one->keys.count; i++) {
        const char *ours = joined(&one->keys.items[i].values), *theirs = joined(&other->keys.items[i].values);
        const char *key = one->keys.items[i].name;
        if (strcmp(ours, theirs) != 0)
            *ARENA_PUSH(&arena, out) =
                (struct difference){a, b, key,
                                    arena_printf(&arena, "%s and %s on %s, %s: %s is %s here and %s there\n", a->e.id,
                                                 b->e.id, one->gpu, one->mechanism, key, ours, theirs)};
    }
}

static void compare_programs(const struct row *a, const struct row *b, struct differences *out) {
    for (unsigned i = 0; i < a->programs.count; i++) {
        const char *gpu = a->programs.items[i].gpu;
        const struct words one = programs_of(a, gpu), other = programs_of(b, gpu);
        if (!other.count || strcmp(joined(&one), joined(&other)) == 0)
            continue;
        *ARENA_PUSH(&arena, out) =
            (struct difference){a, b, "workloads",
                                arena_printf(&arena, "%s and %s on %s: workloads %s here and %s there\n", a->e.id,
                                             b->e.id, gpu, joined(&one), joined(&other))};
        return;
    }
}

static void compare(const struct row *a, const struct row *b, struct differences *out) {
    for (unsigned i = 0; i < a->groups.count; i++)
        for (unsigned k = 0; k < b->groups.count; k++) {
            const struct machines *one = &a->groups.items[i], *other = &b->groups.items[k];
            if (strcmp(one->gpu, other->gpu) == 0 && strcmp(one->mechanism, other->mechanism) == 0)
                compare_machines(a, b, one, other, out);
        }
    compare_programs(a, b, out);
}

/* Those that neither row declares, a line each; "": none. */
static const char *undeclared(const struct differences *all) {
    const char *out = "";
    for (unsigned i = 0; i < all->count; i++) {
        const struct difference *d = &all->items[i];
        if (!experiment_declares(&d->one->e, d->key) && !experiment_declares(&d->other->e, d->key))
            out = arena_printf(&arena, "%s%s", out, d->text);
    }
    return out;
}

/* What the row declares and is nowhere different. */
static const char *unneeded(const struct row *row, const struct differences *all) {
    const char *out = "";
    for (unsigned k = 0; k < row->e.difference_count; k++) {
        struct experiment only = row->e;
        bool needed = false;
        only.differences = &row->e.differences[k], only.difference_count = 1;
        for (unsigned i = 0; i < all->count; i++)
            needed |= (all->items[i].one == row || all->items[i].other == row) &&
                      experiment_declares(&only, all->items[i].key);
        if (!needed)
            out = arena_printf(&arena, "%s%s declares %s, in which it does not differ\n", out, row->e.id,
                               only.differences->key);
    }
    return out;
}

static void machines_of_a_document_differ_only_where_it_is_declared(void **state) {
    (void)state;
    const char *folder = HEDDLE_SOURCE_DIR "/repro", *wrong;
    unsigned count;
    const char **names = file_list(&arena, folder, ".yaml", &count);
    struct row *rows = ARENA_ARRAY(&arena, struct row, count);
    struct differences all = {0};
    assert_true(count > 30);
    for (unsigned i = 0; i < count; i++) {
        char *text;
        size_t length;
        const char *path = arena_printf(&arena, "%s/%s.yaml", folder, names[i]);
        assert_int_equal(file_read(path, EXPERIMENT_FILE_LIMIT_BYTES, &arena, &text, &length, &report), STATUS_OK);
        read_row(&rows[i], path, text, length);
        for (unsigned k = 0; k < i; k++)
            if (strcmp(experiment_document(&rows[i].e), experiment_document(&rows[k].e)) == 0)
                compare(&rows[k], &rows[i], &all);
    }
    wrong = undeclared(&all);
    for (unsigned i = 0; i < count; i++)
        wrong = arena_printf(&arena, "%s%s", wrong, unneeded(&rows[i], &all));
    if (*wrong) {
        fputs(wrong, stderr); /* cmocka would cut it */
        fail_msg("machines differ; 'differs' of an experiment says why");
    }
}

/* The comparison itself. */
static const char *compared(const char *one, const char *other) {
    static const char head[] = "title: t\nsource: \"A 1999, here\"\n";
    struct row rows[2] = {0};
    const char *texts[] = {arena_printf(&arena, "id: a\n%s%s", head, one),
                           arena_printf(&arena, "id: b\n%s%s", head, other)};
    read_row(&rows[0], "a.yaml", texts[0], strlen(texts[0]));
    read_row(&rows[1], "b.yaml", texts[1], strlen(texts[1]));
    struct differences all = {0};
    compare(&rows[0], &rows[1], &all);
    return arena_printf(&arena, "%s%s%s", undeclared(&all), unneeded(&rows[0], &all), unneeded(&rows[1], &all));
}

static void a_change_of_one_row_is_found(void **state) {
    (void)state;
    const char plain[] = "run: [{workloads: bfs, gpu: fung-8800}]\n";
    const char changed[] = "run: [{workloads: bfs, gpu: fung-8800, set: {l1.mshr_entries: 7}}]\n";
    assert_string_equal(compared(plain, plain), "");
    assert_string_equal(compared(changed, changed), "");
    assert_non_null(strstr(compared(plain, changed), "a and b on fung-8800, pdom: l1.mshr_entries is "));
    assert_string_equal(compared(plain, arena_printf(&arena, "%sdiffers: {l1.mshr_entries: so it says}\n", changed)),
                        "");
    assert_string_equal(compared(arena_printf(&arena, "%sdiffers: {l1.*: so it says}\n", plain), changed), "");
    assert_non_null(strstr(compared(plain, arena_printf(&arena, "%sdiffers: {l2.*: another}\n", changed)), "l1.mshr"));
    assert_non_null(strstr(compared(plain, arena_printf(&arena, "%sdiffers: {l1.ways: so it says}\n", plain)),
                           "b declares l1.ways, in which it does not differ"));
    /* another machine, another mechanism and what the mechanism has no use for are not compared */
    assert_string_equal(compared(plain, "run: [{workloads: bfs, gpu: gtx480, set: {l1.mshr_entries: 7}}]\n"), "");
    assert_string_equal(
        compared(plain, "run: [{workloads: bfs, gpu: fung-8800, set: {divergence.mechanism: dwf, dwf.policy: pc}}]\n"),
        "");
    assert_string_equal(compared(plain, "run: [{workloads: bfs, gpu: fung-8800, set: {dwf.policy: pc}}]\n"), "");
    /* hardware whose cost is counted, and what is run */
    assert_non_null(
        strstr(compared(plain, "costs: {m: {gpu: fung-8800, set: {sm.registers: 4096}}}\n"), "sm.registers"));
    assert_non_null(strstr(compared(plain, "run: [{workloads: [bfs, lu], gpu: fung-8800}]\n"), "workloads bfs here"));
}

static int with_configs(void **state) {
    setenv("HEDDLE_CONFIGS", HEDDLE_SOURCE_DIR "/configs", 1);
    return start(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(machines_of_a_document_differ_only_where_it_is_declared, with_configs, stop),
        cmocka_unit_test_setup_teardown(a_change_of_one_row_is_found, with_configs, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
