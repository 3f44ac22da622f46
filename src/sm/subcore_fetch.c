/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: fetch. Each sub-core asks its L0 instruction cache for one instruction a cycle, straight on behind the last;
 * a stream buffer reads on behind a miss. Lines come from the L1 instruction cache of the SM, one request and one reply a cycle. */
#include "sm/subcore.h"

#include "sm/wheel.h"

enum {
    THERE_CYCLES = 2, /* from fetch, through decode, to issue */
    L0_MSHRS = 32
};

void subcore_redirect(struct sm *sm, unsigned w, uint32_t pc) {
    struct subcores *all = subcores_of(sm);
    struct subcore_warp *warp = &all->warps[w];
    warp->head_pc = warp->fetch_pc = pc;
    warp->buffered = 0;
    warp->missing = 0;
    all->fetchable |= set_of(w);
}

/* ---- the L0 ---- */

static uint32_t *set_of_line(const struct subcore *core, uint32_t line) {
    return &core->tags[(line & (core->sets - 1)) * core->ways];
}

/* Its place among all lines; UINT32_MAX: it is not there. */
static uint32_t find_line(const struct subcore *core, uint32_t line) {
    const uint32_t *set = set_of_line(core, line);
    for (uint32_t way = 0; way < core->ways; way++)
        if (set[way] == line + 1)
            return (uint32_t)(&set[way] - core->tags);
    return UINT32_MAX;
}

static void fill_l0(struct sm *sm, unsigned s, uint32_t line) {
    struct subcores *all = subcores_of(sm);
    struct subcore *core = &all->of[s];
    if (find_line(core, line) == UINT32_MAX) {
        const uint32_t first = (uint32_t)(set_of_line(core, line) - core->tags);
        uint32_t oldest = first;
        for (uint32_t i = first; i < first + core->ways; i++)
            if (core->used[i] < core->used[oldest])
                oldest = i;
        core->tags[oldest] = line + 1;
        core->used[oldest] = ++core->clock;
        core->filled++;
    }
    for (slot_set rest = SETS(sm)->scheduler_warps[s] & SETS(sm)->used; rest; rest &= rest - 1) {
        const unsigned w = set_first(rest);
        if (all->warps[w].missing == line + 1) {
            all->warps[w].missing = 0;
            all->fetchable |= set_of(w);
        }
    }
}

static bool looks_up(struct subcore *core, struct subcore_warp *warp, uint32_t line) {
    if (warp->line != line || warp->filled != core->filled) {
        const uint32_t way = find_line(core, line);
        if (way == UINT32_MAX)
            return false;
        warp->line = line, warp->filled = core->filled, warp->way = way;
    }
    core->used[warp->way] = ++core->clock;
    return true;
}

static bool is_line_asked(const struct subcore *core, uint32_t line) {
    for (unsigned i = 0; i < core->asked_count; i++)
        if (core->asked[i] == line)
            return true;
    return false;
}

/* ---- the way to the L1 and back ---- */

static void put_line(struct subcore_path *path, uint64_t now, uint32_t delay, struct subcore_request request) {
    request.cycle = now + delay > path->free ? now + delay : path->free;
    path->free = request.cycle + 1;
    path->items[(path->head + path->count++) % LINE_REQUESTS_MAX] = request;
}

static void ask_for_line(struct sm *sm, unsigned s, uint32_t line) {
    subcores_of(sm)->lines_out++;
    put_line(&subcores_of(sm)->up, sm->now, sm->params.l0_l1_cycles,
             (struct subcore_request){.line = line, .subcore = s});
}

static void answer_line(struct sm *sm, unsigned s, uint32_t line) {
    put_line(&subcores_of(sm)->down, sm->now, sm->params.l0_l1_cycles,
             (struct subcore_request){.line = line, .subcore = s});
}

/* The port took nothing in this cycle. */
static bool port_is_free(const struct sm *sm) {
    const struct subcores *all = subcores_of(sm);
    return all->up.free <= sm->now + sm->params.l0_l1_cycles && all->lines_out < LINE_REQUESTS_MAX;
}

void subcore_line_arrived(struct sm *sm, uint64_t address) {
    struct cache_arrival arrival;
    if (!cache_fill(sm->instruction, address, &arrival))
        return;
    for (uint32_t i = 0; i < arrival.count; i++)
        answer_line(sm, (unsigned)arrival.tags[i], (uint32_t)((address - SM_CODE_SPACE) / CODE_LINE_BYTES));
}

/* False: it cannot take the request now. */
static bool look_up_line(struct sm *sm, const struct subcore_request *asked) {
    const struct request request = {.address = SM_CODE_SPACE + (uint64_t)asked->line * CODE_LINE_BYTES,
                                    .tag = asked->subcore,
                                    .bytes = CODE_LINE_BYTES};
    struct cache_result result;
    const enum cache_outcome outcome = cache_access(sm->instruction, &request, sm_room(sm), &result);
    if (outcome == CACHE_BLOCKED)
        return false;
    if (outcome == CACHE_HIT)
        answer_line(sm, asked->subcore, asked->line);
    if (outcome == CACHE_MISS)
        sm_ask_for_code(sm, &result);
    return true;
}

static void line_arrives(struct sm *sm, const struct subcore_request *line);

void subcore_move_lines(struct sm *sm) {
    struct subcores *all = subcores_of(sm);
    struct subcore_path *up = &all->up, *down = &all->down;
    if (up->count && up->items[up->head].cycle <= sm->now) {
        if (look_up_line(sm, &up->items[up->head]))
            up->head = (up->head + 1) % LINE_REQUESTS_MAX, up->count--;
        else
            up->items[up->head].cycle = sm->now + 1;
    }
    if (down->count && down->items[down->head].cycle <= sm->now) {
        const struct subcore_request line = down->items[down->head];
        down->head = (down->head + 1) % LINE_REQUESTS_MAX, down->count--;
        all->lines_out--;
        line_arrives(sm, &line);
    }
}

/* ---- the stream buffer ---- */

static struct subcore_line *stream_at(struct subcore *core, unsigned number) {
    return &core->stream[(core->stream_head + number) % STREAM_MAX];
}

/* The head moves into the L0 when it is wanted and there. */
static void take_stream_head(struct sm *sm, unsigned s) {
    struct subcore *core = &subcores_of(sm)->of[s];
    const struct subcore_line *head = stream_at(core, 0);
    if (!core->stream_count || !head->here || !head->wanted)
        return;
    const uint32_t line = head->line;
    core->stream_head = (core->stream_head + 1) % STREAM_MAX, core->stream_count--;
    if (core->streams)
        subcores_of(sm)->streaming |= 1u << s;
    fill_l0(sm, s, line);
}

static void line_arrives(struct sm *sm, const struct subcore_request *arrived) {
    struct subcore *core = &subcores_of(sm)->of[arrived->subcore];
    for (unsigned i = 0; i < core->stream_count; i++)
        if (stream_at(core, i)->line == arrived->line && !stream_at(core, i)->here) {
            stream_at(core, i)->here = true;
            take_stream_head(sm, arrived->subcore);
            return;
        }
    for (unsigned i = 0; i < core->asked_count; i++)
        if (core->asked[i] == arrived->line) {
            core->asked[i] = core->asked[--core->asked_count];
            fill_l0(sm, arrived->subcore, arrived->line);
            return;
        }
    /* else prefetched for a stream that has been left: dropped */
}

/* A miss of another line than the stream goes on with starts it anew behind that line, unless its head is being waited for. */
static void stream_from(struct sm *sm, unsigned s, uint32_t line) {
    struct subcore *core = &subcores_of(sm)->of[s];
    if (!sm->params.l0i_prefetch_lines)
        return;
    if (core->stream_count && (stream_at(core, 0)->line == line + 1 || stream_at(core, 0)->wanted))
        return;
    if (!core->stream_count && core->streams && core->stream_next == line + 1)
        return;
    core->stream_count = 0;
    core->stream_next = line + 1;
    core->streams = true;
    subcores_of(sm)->streaming |= 1u << s;
}

/* The next line of a stream; it stops where that is here or on its way, and where the code ends. */
static void read_stream_on(struct sm *sm, unsigned s) {
    struct subcores *all = subcores_of(sm);
    struct subcore *core = &all->of[s];
    const uint32_t line = core->stream_next;
    if (core->stream_count >= sm->params.l0i_prefetch_lines) {
        all->streaming &= ~(1u << s);
        return;
    }
    if (line >= all->code->line_count || find_line(core, line) != UINT32_MAX || is_line_asked(core, line)) {
        core->streams = false;
        all->streaming &= ~(1u << s);
        return;
    }
    if (!port_is_free(sm))
        return;
    *stream_at(core, core->stream_count++) = (struct subcore_line){.line = line};
    core->stream_next++;
    ask_for_line(sm, s, line);
}

/* ---- fetch ---- */

/* The L0 does not have it: false, where it cannot be asked for now. */
static bool miss_line(struct sm *sm, unsigned s, uint32_t line) {
    struct subcore *core = &subcores_of(sm)->of[s];
    if (core->stream_count && stream_at(core, 0)->line == line) {
        stream_at(core, 0)->wanted = true;
        take_stream_head(sm, s);
        return true;
    }
    if (is_line_asked(core, line))
        return true;
    if (core->asked_count == L0_MSHRS || !port_is_free(sm))
        return false;
    core->asked[core->asked_count++] = line;
    ask_for_line(sm, s, line);
    stream_from(sm, s, line);
    return true;
}

static void fetch_one(struct sm *sm, unsigned s, slot_set mine) {
    struct subcores *all = subcores_of(sm);
    struct subcore *core = &all->of[s];
    const unsigned w = set_has(mine, core->last) ? core->last : set_youngest(mine, SETS(sm)->older);
    struct subcore_warp *warp = &all->warps[w];
    const uint32_t line = all->code->insts[warp->fetch_pc].line;
    if (sm->params.l0i_bytes && !looks_up(core, warp, line)) {
        warp->missing = line + 1;
        all->fetchable &= ~set_of(w);
        if (!miss_line(sm, s, line)) { /* in the next cycle again */
            warp->missing = 0;
            all->fetchable |= set_of(w);
        }
        return;
    }
    sm->stats.fetches++;
    const uint64_t there = sm->now + THERE_CYCLES;
    warp->there_from[(warp->head + warp->buffered++) % BUFFER_MAX] = there;
    warp->fetch_pc = all->code->insts[warp->fetch_pc].next;
    if (warp->buffered == sm->params.ibuffer_entries || warp->fetch_pc >= sm->module->code_count)
        all->fetchable &= ~set_of(w);
    if (warp->buffered == 1 && SETS(sm)->warps[w].stage == WAIT_FETCH)
        sm_fetched_at(sm, there, w);
}

void subcore_fetch(struct sm *sm) {
    struct subcores *all = subcores_of(sm);
    if (!all->fetchable && !all->streaming)
        return;
    unsigned s = (unsigned)(sm->now % sm->params.schedulers);
    for (unsigned n = 0; n < sm->params.schedulers; n++, s = s + 1 < sm->params.schedulers ? s + 1 : 0) {
        const slot_set mine = all->fetchable & SETS(sm)->scheduler_warps[s];
        if (mine)
            fetch_one(sm, s, mine);
        if (all->streaming >> s & 1)
            read_stream_on(sm, s);
    }
}
