/* SPDX-License-Identifier: Apache-2.0 */
/* What was found, each kind of it at an instruction once. */
#include "check/state.h"

#include <inttypes.h>
#include <string.h>

#include "exec/step.h"

static const struct {
    const char *name, *help;
} kinds[FINDING_KINDS] = {
#define FINDING(id, name, help) {name, help},
#include "check/findings.def"
#undef FINDING
};

const char *finding_name(enum finding_kind kind) { return kinds[kind].name; }
const char *finding_help(enum finding_kind kind) { return kinds[kind].help; }

const char *finding_lesson(enum finding_kind kind) {
    static const char *const lessons[FINDING_KINDS] = {
#define LESSON(id, code, words) [FINDING_##id] = code "\n" words,
#include "check/lessons.def"
#undef LESSON
    };
    return lessons[kind];
}

bool check_read_kinds(const char *text, struct check_options *out, const char **wrong, size_t *length) {
    const struct {
        enum finding_kind kind;
        bool *is_on;
    } choices[] = {{FINDING_MEMORY, &out->memory},
                   {FINDING_UNINITIALISED, &out->uninitialised},
                   {FINDING_RACE, &out->races},
                   {FINDING_BARRIER, &out->barriers}};
    const unsigned count = sizeof choices / sizeof *choices;
    for (unsigned i = 0; !text && i < count; i++)
        *choices[i].is_on = true;
    for (const char *at = text; at; at = at[*length] ? at + *length + 1 : NULL) {
        bool known = false;
        *wrong = at, *length = strcspn(at, ",");
        for (unsigned i = 0; i < count; i++) {
            const char *name = finding_name(choices[i].kind);
            if (strlen(name) == *length && strncmp(at, name, *length) == 0)
                *choices[i].is_on = known = true;
        }
        if (!known)
            return false;
    }
    return true;
}

/* Native code has no memory orders that stand for those of its source. */
const char *check_refusal(const struct module *module, const uint32_t grid[3], const uint32_t block[3],
                          uint32_t warp_size) {
    enum { FOLLOWED_MAX = INT32_MAX / LANES_MAX };
    if (module->mnemonics)
        return "is native code (key isa): checked are OpenCL C, CUDA and PTX";
    uint64_t warps = ((uint64_t)block[0] * block[1] * block[2] + warp_size - 1) / warp_size;
    for (unsigned k = 0; k < 3; k++)
        warps *= warps <= FOLLOWED_MAX ? grid[k] : 1;
    return warps > FOLLOWED_MAX ? "has more than 67,108,863 warps, which are not followed" : NULL;
}

static struct finding *push(struct check *check, enum finding_kind kind, const struct module *module,
                            const char *kernel) {
    if (check->findings.count >= check->options.limit) {
        check->dropped++;
        return NULL;
    }
    struct finding *finding = ARENA_PUSH(&check->arena, &check->findings);
    *finding =
        (struct finding){.kind = kind, .module = module, .kernel = kernel, .count = 1, .launch = check->launches};
    finding->at.pc = finding->other.pc = NO_PC;
    return finding;
}

/* The same instruction, or one of the same line: loops that the compiler unrolled are one place to whoever reads the source. */
static bool is_same_place(const struct module *module, uint32_t a, uint32_t b) {
    if (a == b || a == NO_PC || b == NO_PC)
        return a == b;
    const struct inst *one = &module->code[a], *other = &module->code[b];
    return one->file && one->file == other->file && one->line == other->line && one->op == other->op;
}

/* Of a race it does not matter which of the two came first, nor, where it is an error, that the value stays the same at times. */
static bool is_same(const struct finding *old, const struct finding_key *key, const struct watch_issue *issue) {
    const struct module *module = issue->linked->module;
    if (old->kind != key->kind || old->sort != key->sort || old->module != module || (old->is_note && !key->is_note))
        return false;
    return (is_same_place(module, old->at.pc, issue->pc) && is_same_place(module, old->other.pc, key->other_pc)) ||
           (is_same_place(module, old->at.pc, key->other_pc) && is_same_place(module, old->other.pc, issue->pc));
}

struct finding *finding_of(struct check *check, const struct finding_key *key, const struct check_site *at,
                           bool *is_new) {
    const struct watch_issue *issue = at->issue;
    *is_new = false;
    check->met += 1 + at->again;
    for (unsigned i = 0; i < check->findings.count; i++) {
        struct finding *old = &check->findings.items[i];
        if (is_same(old, key, issue)) {
            old->count += 1 + at->again;
            return old;
        }
    }
    struct finding *finding = push(check, key->kind, issue->linked->module, issue->linked->kernel->name);
    check->is_wrong |= !key->is_note;
    if (!finding) {
        check->dropped += at->again;
        return NULL;
    }
    *is_new = true;
    finding->count += at->again;
    finding->sort = key->sort;
    finding->is_note = key->is_note;
    finding->has_thread = true;
    finding->at = (struct finding_access){.pc = issue->pc,
                                          .block = issue->block,
                                          .thread = issue->launch->warp_size * issue->warp + at->lane,
                                          .is_write = !inst_only_loads(issue->inst),
                                          .is_atomic = inst_is_atomic(issue->inst)};
    finding->other.pc = key->other_pc;
    memcpy(finding->grid, issue->launch->grid, sizeof finding->grid);
    memcpy(finding->block, issue->launch->block, sizeof finding->block);
    return finding;
}

void check_stopped(struct check *check, const struct module *module, const char *kernel, const char *text) {
    if (check->stopped_here)
        return;
    check->met++;
    const struct block_watch *place = check->waits;
    const struct place_barrier *barrier = place ? &place->barriers[check->waits_barrier] : NULL;
    const bool waits = barrier && !barrier->is_open && barrier->arrived && strstr(text, "every warp of block");
    check->is_wrong = true;
    const bool meets = strstr(text, "for others that it names") != NULL; /* emulate/reports.c */
    struct finding *finding = push(check,
                                   waits   ? FINDING_BARRIER
                                   : meets ? FINDING_CONVERGENCE
                                           : FINDING_STOPPED,
                                   module, kernel);
    if (!finding)
        return;
    size_t length = strlen(text);
    while (length && text[length - 1] == '\n')
        length--;
    finding->message = arena_strndup(&check->arena, text, length);
    if (waits)
        finding->at.pc = barrier->pc;
}

void check_add(struct check *check, const struct finding *like) {
    struct finding *finding = push(check, like->kind, like->module, like->kernel);
    check->met++;
    check->is_wrong |= !like->is_note;
    if (!finding)
        return;
    *finding = *like;
    finding->count = 1;
    finding->message = arena_strdup(&check->arena, like->message);
    finding->missing = like->missing ? arena_strdup(&check->arena, like->missing) : NULL;
}

const struct finding *check_findings(const struct check *check, unsigned *count) {
    *count = check->findings.count;
    return check->findings.items;
}

unsigned check_errors(const struct check *check) {
    unsigned errors = 0;
    for (unsigned i = 0; i < check->findings.count; i++)
        errors += !check->findings.items[i].is_note;
    return errors;
}

bool check_is_wrong(const struct check *check) { return check->is_wrong; }

uint64_t check_launches(const struct check *check) { return check->launches; }
uint64_t check_met(const struct check *check) { return check->met; }

uint64_t check_dropped(const struct check *check) { return check->dropped; }

/* ---- memory of a program ---- */

void check_allocated(struct check *check, uint64_t start, uint64_t bytes, const char *name, bool is_written) {
    const struct holding one = {.start = start, .bytes = bytes, .name = name, .made = check->launches};
    holdings_add(&check->holdings, &one, is_written);
}

void check_freed(struct check *check, uint64_t start) { holdings_free(&check->holdings, start, check->launches); }

void check_unwatched(struct check *check) {
    check->launches++;
    check->holdings.lost = true;
}

static const char *when(struct arena *arena, uint64_t launches) {
    return launches ? arena_printf(arena, "behind launch %" PRIu64, launches) : "before the first launch";
}

const char *allocation_of(struct check *check, uint64_t address) {
    const struct holding *one = holdings_find(&check->holdings, address);
    if (!one)
        return NULL;
    const char *text = arena_printf(&check->arena, "'%s' of %" PRIu64 " bytes, made %s", one->name, one->bytes,
                                    when(&check->arena, one->made));
    return one->is_freed ? arena_printf(&check->arena, "%s, freed %s", text, when(&check->arena, one->freed)) : text;
}

void check_leaks(struct check *check) {
    enum { NAMED = 4 };
    uint64_t bytes = 0, count = 0;
    const char *names = "";
    for (unsigned i = 0; i < check->holdings.list.count; i++) {
        const struct holding *one = &check->holdings.list.items[i];
        if (one->is_freed)
            continue;
        bytes += one->bytes;
        if (++count <= NAMED)
            names = arena_printf(&check->arena, "%s%s'%s' of %" PRIu64 " bytes, made %s", names, count > 1 ? "; " : "",
                                 one->name, one->bytes, when(&check->arena, one->made));
    }
    struct finding *finding = count ? push(check, FINDING_LEAK, NULL, NULL) : NULL;
    if (!finding)
        return;
    check->met++;
    finding->is_note = true;
    finding->count = count;
    finding->message = arena_printf(&check->arena, "%" PRIu64 " byte%s in %" PRIu64 " allocation%s never freed: %s%s",
                                    bytes, bytes == 1 ? "" : "s", count, count == 1 ? " were" : "s were", names,
                                    count > NAMED ? "; and others" : "");
}
