/* SPDX-License-Identifier: Apache-2.0 */
/* sm.pipeline control-bits: an SM of sub-cores, each with its own fetch, L0 instruction cache, scheduler, units and memory queue, as
 * GPUs from Volta on have them. Native code says by its control bits when it may issue; other code has a scoreboard that lets go of
 * registers at the same times. A scheduler of the SM (sm.schedulers) is the issue stage of one sub-core. */
#ifndef HEDDLE_SM_SUBCORE_H
#define HEDDLE_SM_SUBCORE_H

#include "isa/timing.h"
#include "sm/state.h"

enum {
    BUFFER_MAX = 8,          /* sm.ibuffer_entries */
    STREAM_MAX = 32,         /* sm.l0i_prefetch_lines */
    LINES_MAX = 64,          /* of one L0 on their way: 32 by MSHRs, and the stream buffer's */
    LINE_REQUESTS_MAX = 512, /* between all L0s and the L1 instruction cache: SCHEDULERS_MAX * LINES_MAX */
    CODE_LINE_BYTES = 128,
    CONSTANT_LINE_BYTES = 64,
    COPIES_AWAITED = 8,   /* LDGDEPBARs of a warp that wait; one more does not */
    CONSTANTS_ASKED = 16, /* lines of constants on their way to a sub-core */
    REGISTER_BANKS = 2,
    SOURCE_SLOTS = 4,
    LATCHES = 2,            /* cycles from issue to a unit that takes its time: control, and the unit's latch */
    SUBCORE_PARTS = 8,      /* accesses of one instruction at most: its parts */
    YIELD_ALONE_CYCLES = 46 /* an instruction with no stall that yields */
};

/* Pipes of a sub-core. */
enum subcore_pipe {
    PIPE_FP32, /* the FMA pipe, or the ALU where sm.fp_on_int says so */
    PIPE_FMA,
    PIPE_ALU,
    PIPE_HALF,
    PIPE_FP64,
    PIPE_XU,
    PIPE_TENSOR,
    PIPE_UNIFORM,
    PIPE_BRANCH,
    PIPE_MEMORY,
    PIPES
};

/* Who wrote a register with a known latency, and who reads it: rows and columns of the table of distances. */
enum subcore_class { BY_ALU, BY_FMA, BY_HALF, BY_FP64, BY_OTHERS, BY_ADDRESS, BY_GUARD, SUBCORE_CLASSES };

enum subcore_kind {
    KIND_FIXED,  /* its result is there after a known number of cycles: nothing waits for it to come back */
    KIND_UNIT,   /* a unit that takes its time */
    KIND_MEMORY, /* through the memory queue */
};

/* An instruction with its parts (FLAG_PART), by the PC of any of them: the rest of it, from there on. */
struct subcore_inst {
    uint32_t next;     /* PC behind it */
    uint32_t line;     /* of code */
    uint32_t constant; /* line of constants that it reads as an operand, plus 1; 0: none */
    uint8_t pipe, unit, kind;
    uint8_t reads_as, writes_as; /* enum subcore_class */
    uint8_t order;               /* enum timed_order */
    uint8_t interval;            /* its pipe takes the next after so many cycles */
    uint8_t address_cycles, data_cycles, link_cycles;
    bool by_register; /* memory: an address that lanes compute */
    bool returns;     /* memory: something comes back */
    bool is_constant; /* memory: through the constant cache */
    uint16_t latency;
    uint16_t fence_cycles;   /* that a fence takes at least */
    uint16_t reads, writes;  /* registers from `first` on: those read, then those written */
    uint32_t first;          /* in struct subcore_code */
    struct inst_timing said; /* by native code */
};
#define READ_AS_GUARD UINT32_C(0x80000000)

struct subcore_code {
    const struct subcore_inst *insts;
    const uint32_t *registers;
    uint32_t register_count; /* of a warp */
    uint32_t line_count;
    bool has_control;                                    /* instructions say when they issue */
    uint8_t distances[SUBCORE_CLASSES][SUBCORE_CLASSES]; /* [writer][reader]: from issue to issue */
};

/* A register of a warp without control bits. */
struct subcore_register {
    uint32_t written; /* low bits of the cycle in which a writer of known latency issued, and its class; 0: none */
    uint8_t readers;  /* instructions in flight that have not read it */
    uint8_t writers;  /* that will write it */
    bool by_memory;   /* one of these was a load */
};
enum { WRITTEN_CLASS_BITS = 3 };

struct subcore_warp {
    uint32_t copies, copied; /* asynchronous copies that it has issued, and of these those that are done */
    struct {
        uint32_t flight, copies; /* that is done when so many are */
    } awaiting[COPIES_AWAITED];
    unsigned awaiting_count;
    uint64_t sure_from;   /* cycle in which it lacks nothing but its turn, whatever else happens; NO_CYCLE: not known */
    uint64_t issue_from;  /* first cycle in which it may issue */
    uint64_t fresh_until; /* `fresh` is not seen before this cycle */
    uint64_t there_from[BUFFER_MAX];
    uint32_t head_pc;       /* of the instruction buffer: what issues next */
    uint32_t fetch_pc;      /* what is fetched next */
    uint32_t missing;       /* line that fetch waits for, plus 1; 0: none */
    uint32_t line, filled;  /* line it was fetched from last, and how many fills the L0 had seen then */
    uint32_t way;           /* where that lies */
    uint8_t head, buffered; /* entries of there_from */
    uint8_t counters[TIMING_COUNTERS],
        by_memory; /* by_memory: counters that a load was the last to count up, a bit each */
    uint8_t fresh[TIMING_COUNTERS];
    uint8_t pipe;        /* in whose ready set it is */
    bool lacks_constant; /* and has been seen so */
    struct subcore_register *registers;
};

/* A memory instruction in the queue of a sub-core. */
struct subcore_access {
    uint64_t leaves; /* cycle from which it may go to the SM */
    uint32_t flight;
    bool is_empty; /* it accesses nothing: entry is not filled in */
    struct queued entry;
};

struct subcore_line {
    uint32_t line;
    bool here, wanted;
};

struct subcore {
    uint64_t pipe_free[PIPES]; /* of a unit that takes its time: its latch */
    uint64_t unit_free[PIPES]; /* of such a unit */
    uint64_t busy_until;       /* the last cycle of pipe_free */
    uint64_t held_until;       /* the issue port is taken */
    bool held_by_constant;     /* because the warp that issued last lacks one */
    /* register reads of native code: ports taken in cycles from `ports_from` on, a bit each, by bank */
    uint64_t ports[REGISTER_BANKS], ports_from;
    uint64_t allocated;                            /* cycle behind the last in which operands were given ports */
    uint16_t reused[SOURCE_SLOTS][REGISTER_BANKS]; /* warp << 8 and register, plus 1; 0: nothing */
    unsigned standing; /* warp whose instruction waits for room in its unit: nothing else issues; SET_SLOTS: none */
    unsigned last;     /* warp that issued last */
    /* memory */
    struct subcore_access *queue;
    unsigned head, count, room;
    uint64_t address_free, data_free, link_free;
    /* L0 instruction cache and the stream buffer beside it */
    uint32_t *tags, *used; /* [set][way]: line plus 1, and when it was used last */
    uint32_t sets, ways, filled, clock;
    uint32_t *constants; /* [set][way], the one used last first: line plus 1 */
    uint32_t constant_sets;
    struct {
        uint32_t line;
        uint64_t there;
    } constant_asked[CONSTANTS_ASKED];
    unsigned constant_count;
    uint32_t asked[LINES_MAX]; /* lines on their way that are not the stream's */
    unsigned asked_count;
    struct subcore_line stream[STREAM_MAX];
    unsigned stream_head, stream_count;
    uint32_t stream_next;
    bool streams;
};

struct subcore_request {
    uint64_t cycle;
    uint32_t line;
    unsigned subcore;
};
struct subcore_path {
    struct subcore_request items[LINE_REQUESTS_MAX];
    unsigned head, count;
    uint64_t free; /* takes the next from this cycle on */
};

struct subcores {
    const struct subcore_code *code;
    struct subcore of[SCHEDULERS_MAX];
    struct subcore_warp warps[SET_SLOTS];
    slot_set ready_for[PIPES];
    slot_set fetchable; /* warps with a free entry in their buffer that no line is missing for */
    unsigned turn;      /* sub-core that may send to the SM first */
    uint64_t pipe_free; /* the SM's memory pipe */
    uint64_t dp_free;   /* sm.dp_shared: the unit of all sub-cores */
    uint32_t queued;    /* memory instructions in the queues of all sub-cores */
    uint32_t in_table;  /* pending request table: memory instructions in the SM */
    uint32_t streaming; /* sub-cores that ask for more lines, a bit each */
    struct subcore_path up, down;
    uint32_t lines_out; /* asked for, and not come back */
};
static inline struct subcores *subcores_of(const struct sm *sm) { return sm->cores; }

static inline struct subcore *subcore_of(const struct sm *sm, unsigned warp) {
    return &subcores_of(sm)->of[warp % sm->params.schedulers];
}

/* decode.c: cycles in which a product of matrices takes its unit, and until it is there. */
uint32_t sm_tensor_interval(const struct sm_params *params, const struct inst *inst);
uint32_t sm_tensor_latency(const struct sm_params *params, const struct inst *inst);
/* subcore_decode.c */
const struct subcore_code *subcore_decode(struct arena *arena, const struct module *module,
                                          const struct sm_params *params, const struct timed *timed);
/* subcore_create.c */
SM_STAGE enum status subcore_create(struct sm *sm, const struct sm_parts *parts, struct report *report);
/* subcore_fetch.c: a warp begins at pc, or goes on there: what was fetched is of no use. */
SM_STAGE void subcore_redirect(struct sm *sm, unsigned warp, uint32_t pc);
/* The head of the buffer has been issued. */
static inline void subcore_pop(struct sm *sm, unsigned warp, uint32_t next) {
    struct subcore_warp *w = &subcores_of(sm)->warps[warp];
    w->head_pc = next;
    w->head = (uint8_t)((w->head + 1) % BUFFER_MAX);
    w->buffered--;
    if (!w->missing && w->fetch_pc < sm->module->code_count)
        subcores_of(sm)->fetchable |= set_of(warp);
}
/* Each sub-core fetches an instruction. */
SM_STAGE void subcore_fetch(struct sm *sm);
/* Lines that have come to a cache, or gone from one to the other. */
SM_STAGE void subcore_move_lines(struct sm *sm);
/* A line that the L1 instruction cache asked for has come. */
SM_STAGE void subcore_line_arrived(struct sm *sm, uint64_t address);
/* The next cycle in which subcore_move_lines has something to do. */
static inline uint64_t subcore_next_line(const struct sm *sm) {
    const struct subcores *all = subcores_of(sm);
    const uint64_t up = all->up.count ? all->up.items[all->up.head].cycle : NO_CYCLE;
    const uint64_t down = all->down.count ? all->down.items[all->down.head].cycle : NO_CYCLE;
    return up < down ? up : down;
}
/* subcore_memory.c: an issued instruction of the memory pipe, in the order of issue. */
SM_STAGE void subcore_launch_memory(struct sm *sm, unsigned warp, uint32_t pc, const struct access *access);
/* The SM takes an instruction of a sub-core. */
SM_STAGE void subcore_send(struct sm *sm);
/* The first cycle in which it could. */
SM_STAGE uint64_t subcore_next_send(const struct sm *sm);
/* A copy of the warp is done: whoever awaited it is too. */
SM_STAGE void subcore_copied(struct sm *sm, unsigned warp);
/* Data are there: the cycle in which they are in registers. */
SM_STAGE uint64_t subcore_return(struct sm *sm, const struct flight *flight);
/* subcore_operands.c: reads of registers of an issued instruction of known latency: cycles that it waits for ports. */
SM_STAGE unsigned subcore_read_operands(struct sm *sm, unsigned warp, const struct subcore_inst *inst);
/* One that takes its time takes a port of every bank. */
SM_STAGE void subcore_take_ports(struct sm *sm, unsigned warp);
/* From which cycle on the sub-core has the line of constants, which is asked for if need be; 0: it has it in the cycle named. */
SM_STAGE uint64_t subcore_find_constant(struct sm *sm, unsigned warp, uint32_t line, uint64_t cycle);
/* subcore_depend.c */
/* What holds the warp back from an instruction in a cycle, and until which other cycle; NO_CYCLE: until something happens. */
struct hold_back {
    enum sm_wait wait;
    uint64_t until;
    bool is_constant; /* it lacks nothing but a constant */
};
SM_STAGE struct hold_back subcore_find_hold(struct sm *sm, unsigned warp, const struct subcore_inst *inst,
                                            uint64_t cycle);
/* An instruction that takes its time, or a part of one, has been issued; one of known latency. */
SM_STAGE void subcore_depend(struct sm *sm, unsigned warp, const struct subcore_inst *inst);
SM_STAGE void subcore_depend_fixed(struct sm *sm, unsigned warp, const struct subcore_inst *inst);
/* Operands of a flight have been read; its results are written. */
SM_STAGE void subcore_read(struct subcores *all, const struct flight *flight);
SM_STAGE void subcore_written(struct subcores *all, const struct flight *flight);
/* subcore_warps.c: the same, and its warp is looked at. */
SM_STAGE void subcore_has_read(struct sm *sm, uint32_t flight);
/* The warp issues in the turn of its sub-core. */
SM_STAGE void subcore_issue(struct sm *sm, unsigned scheduler, unsigned warp);
SM_STAGE void subcore_issue_path(struct sm *sm, unsigned scheduler, unsigned warp);
SM_STAGE void subcore_write_back(struct sm *sm, uint32_t flight);
/* subcore_cycle.c: sm_front.run */
SM_STAGE bool subcore_run_warps(struct sm *sm, uint64_t from, uint64_t to);
SM_STAGE bool subcore_run_paths(struct sm *sm, uint64_t from, uint64_t to);
/* Front ends: warps that wait as a whole; whose lanes wait on their own. */
SM_TABLE const struct sm_front sm_subcore_warps, sm_subcore_paths;

#endif
