/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline as Konata's pipeline, "Kanata 0004": an instruction is a row of stages over the cycles. Lines are in the order of
 * their cycles, and tell how far the next cycle is off. */
#include <stdlib.h>
#include <string.h>

#include "result/lines.h"
#include "result/timeline.h"

/* Wt the slot waits, Is issue, Ex in a unit, Lq in the load/store unit, Me waits for data. */
enum stage { STAGE_WAIT, STAGE_ISSUE, STAGE_UNIT, STAGE_QUEUE, STAGE_MEMORY, STAGE_END };
static const char *const stage_names[] = {"Wt", "Is", "Ex", "Lq", "Me"};

struct event {
    uint64_t cycle;
    uint32_t id;
    enum stage stage;
};

/* A row: which instruction, on which SM. */
struct konata_row {
    const struct timeline_issue *issue;
    uint32_t sm;
};

struct konata_text {
    struct arena *arena;
    char *items;
    unsigned count, capacity;
};

static void put(struct konata_text *to, const char *text) {
    for (; *text; text++)
        *ARENA_PUSH(to->arena, to) = *text;
}

static int by_cycle(const void *a, const void *b) {
    const struct event *left = a, *right = b;
    if (left->cycle != right->cycle)
        return left->cycle < right->cycle ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return (left->stage > right->stage) - (left->stage < right->stage);
}

/* In the order of appearance, as the format numbers them. */
static int by_issue(const void *a, const void *b) {
    const struct konata_row *left = a, *right = b;
    if (left->issue->since != right->issue->since)
        return left->issue->since < right->issue->since ? -1 : 1;
    if (left->issue->cycle != right->issue->cycle)
        return left->issue->cycle < right->issue->cycle ? -1 : 1;
    if (left->sm != right->sm)
        return left->sm < right->sm ? -1 : 1;
    return (left->issue > right->issue) - (left->issue < right->issue); /* of one array */
}

static struct konata_row *list_rows(const struct timeline *timeline, struct arena *arena, unsigned *count) {
    *count = 0;
    for (uint32_t i = 0; i < timeline->sm_count; i++)
        *count += timeline->sms[i].issues.count;
    struct konata_row *rows = ARENA_ARRAY(arena, struct konata_row, *count), *row = rows;
    for (uint32_t i = 0; i < timeline->sm_count; i++)
        for (unsigned k = 0; k < timeline->sms[i].issues.count; k++)
            *row++ = (struct konata_row){&timeline->sms[i].issues.items[k], i};
    if (*count)
        qsort(rows, *count, sizeof *rows, by_issue);
    return rows;
}

/* Stages of an instruction; each ends where the next begins. */
static unsigned list_events(const struct timeline_issue *issue, uint32_t id, unsigned wide, struct event *out) {
    const uint64_t issued = issue->cycle + wide;
    unsigned count = 0;
    if (issue->since < issue->cycle)
        out[count++] = (struct event){issue->since, id, STAGE_WAIT};
    out[count++] = (struct event){issue->cycle, id, STAGE_ISSUE};
    if (issued < issue->end && (issue->asked == TIMELINE_NO_ASK || issued < issue->asked))
        out[count++] = (struct event){issued, id, issue->is_memory ? STAGE_QUEUE : STAGE_UNIT};
    if (issue->asked != TIMELINE_NO_ASK && issue->asked < issue->end)
        out[count++] = (struct event){issue->asked > issue->cycle ? issue->asked : issue->cycle, id, STAGE_MEMORY};
    out[count++] = (struct event){issue->end, id, STAGE_END};
    return count;
}

static void put_row(struct konata_text *to, const struct run *run, const struct konata_row *row, uint32_t id,
                    struct arena *scratch) {
    const struct timeline_issue *issue = row->issue;
    const struct module *module = run->module;
    char text[512];
    unsigned file;
    uint32_t line;
    lines_of(module, issue->pc, &file, &line);
    put(to, arena_printf(scratch, "I\t%u\t%u\t%u\n", id, id, row->sm * WARPS_MAX + issue->slot));
    put(to, arena_printf(scratch, "L\t%u\t0\tSM %u slot %u, %u: %s\n", id, row->sm, issue->slot, issue->pc,
                         inst_text(module, &module->code[issue->pc], text, sizeof text)));
    put(to,
        arena_printf(scratch, "L\t%u\t1\t%s:%u, %u lanes, block %llu, launch %u\n", id, lines_file_name(module, file),
                     (unsigned)line, bits_count(issue->lanes), (unsigned long long)issue->block, issue->launch + 1));
}

char *timeline_konata(const struct timeline *timeline, const struct run *run, struct arena *arena, size_t *length) {
    struct arena scratch = {0}, line = {0};
    struct konata_text out = {.arena = arena};
    unsigned rows_count, count = 0;
    struct konata_row *rows = list_rows(timeline, &scratch, &rows_count);
    struct event *events = ARENA_ARRAY(&scratch, struct event, (size_t)rows_count * 5);
    bool *begun = ARENA_ARRAY(&scratch, bool, rows_count);
    for (uint32_t id = 0; id < rows_count; id++)
        count += list_events(rows[id].issue, id, timeline->issue_cycles, events + count);
    if (count)
        qsort(events, count, sizeof *events, by_cycle);
    put(&out, "Kanata\t0004\n");
    uint32_t retired = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct event *event = &events[i];
        const uint64_t before = i ? events[i - 1].cycle : event->cycle;
        if (!i)
            put(&out, arena_printf(&line, "C=\t%llu\n", (unsigned long long)event->cycle));
        else if (event->cycle > before)
            put(&out, arena_printf(&line, "C\t%llu\n", (unsigned long long)(event->cycle - before)));
        if (!begun[event->id])
            put_row(&out, run, &rows[event->id], event->id, &line);
        begun[event->id] = true;
        if (event->stage == STAGE_END)
            put(&out, arena_printf(&line, "R\t%u\t%u\t0\n", event->id, retired++));
        else
            put(&out, arena_printf(&line, "S\t%u\t0\t%s\n", event->id, stage_names[event->stage]));
        if (i % 1024 == 0)
            arena_reset(&line);
    }
    arena_free(&line);
    arena_free(&scratch);
    *length = out.count;
    return out.items;
}
