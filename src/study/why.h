/* SPDX-License-Identifier: Apache-2.0 */
/* What holds a launch back: it is repeated with one part of the machine ideal at a time, and what each would gain, and at
 * which source lines, is set side by side. */
#ifndef HEDDLE_STUDY_WHY_H
#define HEDDLE_STUDY_WHY_H

#include "launch/run.h"

enum ideal_name {
#define IDEAL(name, title, settings, narrower, act) IDEAL_##name,
#include "study/ideals.def"
#undef IDEAL
    IDEAL_COUNT
};

struct ideal {
    const char *name, *title, *settings, *narrower, *act;
};
extern const struct ideal ideals[IDEAL_COUNT];

#define WHY_SCHEMA "heddle-why-1"
/* What gains less of the launch's time is not worth acting on. */
#define WHY_LEAST_GAIN 0.02

/* A line at which the ideal run spent fewer slots of the schedulers. */
struct why_line {
    unsigned file;
    uint32_t line;
    double share;     /* of the slots saved at all lines */
    const char *wait; /* what its warps wait for longest as the machine is; "": they do not */
};

struct why_part {
    const struct ideal *ideal;
    enum status status; /* not STATUS_OK: it could not be run, `message` says why */
    const char *message, *act;
    uint64_t cycles;
    double gain; /* part of the launch's time that it saves; negative: slower */
    double own;  /* of that, what no narrower ideal part gains already; never negative */
    bool same_memory;
    bool as_it_is; /* nothing that it makes ideal is in the way here: the run would be the same, and was not made */
    struct why_line *lines; /* most first */
    unsigned line_count;
};

/* Launches that leave SMs without a block: their grids are too small for the machine. */
struct why_grid {
    unsigned sms, launches, small; /* launches with fewer blocks than SMs */
    uint64_t fewest, most;         /* blocks of those */
    double idle;                   /* part of all SMs' time that goes by without a block for that */
};
/* Of a run whose launches are done. */
void why_look_at_grids(const struct run *base, struct why_grid *out);

/* The execution units that schedulers found taken most often. */
enum { WHY_UNIT_KINDS = 5 };
struct why_unit_kind {
    const char *name, *title, *act;
};
struct why_units {
    const struct why_unit_kind *kind;
    double taken;  /* part of the schedulers' slots in which a warp was ready and all of them were taken */
    double memory; /* part in which every thread waited for memory */
    unsigned file; /* the line at which most of those slots went by */
    uint32_t line;
};
/* Units that are taken in a smaller part of the slots are not what holds a launch back. */
#define WHY_LEAST_TAKEN 0.2
struct line_stats;
void why_look_at_units(const struct sm_stats *sm, const struct line_stats *lines, unsigned count,
                       struct why_units *out);
bool why_units_are_the_limit(const struct why_units *units);

/* A limit that was decided when the kernel was compiled: registers, and shared memory. */
enum { WHY_LIMITS = 2 };
struct why_limit {
    unsigned launches;       /* of which more blocks would be resident without it */
    const char *kernel;      /* of the longest of those; NULL: there is none */
    uint32_t takes;          /* registers of a thread, bytes of a block */
    uint32_t warps, without; /* resident in an SM as it is, and without this limit */
    const char *next;        /* what limits them then */
};
void why_look_at_limits(const struct run *base, struct why_limit limits[WHY_LIMITS]);

/* What accesses to local memory are. */
enum why_local {
    WHY_LOCAL_NONE,    /* no such access */
    WHY_LOCAL_PROGRAM, /* the program's own arrays and variables */
    WHY_LOCAL_SPILL,   /* of what found no register */
    WHY_LOCAL_UNCLEAR, /* the code does not tell which */
    WHY_LOCAL_KINDS
};
/* By PC. PTX has registers without end, and so no spills. */
const uint8_t *why_tell_local(const struct module *module, struct arena *arena);
struct why_spills {
    uint64_t instructions, of_kind[WHY_LOCAL_KINDS]; /* warp instructions issued: all, and those by kind */
    uint64_t transactions, spilled;                  /* lines or sectors of local and global memory: all, and spills' */
    const char *kernel;                              /* that has most of them; NULL: nobody spills */
    uint32_t registers;                              /* of its threads */
    unsigned file;                                   /* the line that issues most of them */
    uint32_t line;
};
void why_look_at_spills(const struct run *base, struct why_spills *out, struct arena *arena);
/* Before anything has run: some kernel of the launches has code that spills. */
bool why_may_spill(const struct run *base, struct arena *arena);

struct why_work;

struct why {
    struct arena arena;
    struct why_work *work; /* the runs */
    struct run *base;      /* the launch as the machine is */
    uint64_t cycles;
    double issued; /* part of the slots in which something issued */
    struct why_grid grid;
    struct why_units units;
    struct why_limit limits[WHY_LIMITS]; /* registers, shared memory: parts IDEAL_registers, IDEAL_room */
    struct why_spills spills;
    struct why_part parts[IDEAL_COUNT];
    unsigned order[IDEAL_COUNT]; /* of parts, by their own gain */
    unsigned worth;              /* how many of them are worth acting on */
};

struct why_options {
    uint64_t seed;
    const struct file_access *files;
    unsigned threads; /* runs at a time, at least 1 */
    /* Opens the machine as it is; called once for every run, one after another. */
    enum status (*open)(void *self, struct machine *machine, struct report *report);
    void (*done)(void *self, unsigned runs, unsigned of); /* NULL: nobody looks; called by one thread at a time */
    void *self;
};

/* Zero-initialise, then why_run. Fails only when the launch does as the machine is; checks of the launch file that fail
 * give STATUS_WRONG and an analysis none the less. */
enum status why_run(struct why *why, const struct launch_file *file, const struct why_options *options,
                    struct report *report);
/* As JSON with a newline at its end, in the arena. The same launch gives the same bytes. */
char *why_write(struct why *why, struct arena *arena, size_t *length);
void why_close(struct why *why);

#endif
