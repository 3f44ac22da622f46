/* SPDX-License-Identifier: Apache-2.0 */
/* One DRAM channel: banks with an open row, the limits between commands, a command bus and a data bus [000 §5.1.3].
 *
 * Time is event-driven. After every change the channel knows its next command and the cycle it becomes legal, so a
 * visit issues a command and nothing is polled. A request pushed at cycle c is first considered at c + 1; its data is
 * complete CL (or WL) and one burst after its last column command. Because data never overlaps on the bus, requests
 * complete in the order of their last column commands.
 *
 * Command order oldest-first is the rule of the reference data: the oldest request of the window whose next command is
 * legal goes; a row is closed only for the oldest request of its bank and when no request of the window hits it.
 * Order bank-rr, and schedulers fifo and fcfs in either order, keep one request in service per bank until it is done. */
#ifndef HEDDLE_MEM_DRAM_H
#define HEDDLE_MEM_DRAM_H

#include "base/arena.h"
#include "base/histogram.h"
#include "base/keep.h"
#include "base/param.h"
#include "base/stat.h"
#include "base/status.h"
#include "mem/address_map.h"
#include "mem/request.h"

enum dram_model { DRAM_BANKS, DRAM_ROW_LATENCY, DRAM_FLAT };
enum dram_scheduler { DRAM_FIFO, DRAM_FR_FCFS, DRAM_FCFS };
enum dram_command_order { DRAM_BANK_RR, DRAM_OLDEST_FIRST };

struct dram_params {
#define PARAM PARAM_FIELD
#include "mem/dram_params.def"
#undef PARAM
};

struct dram_stats {
#define STAT(field, unit, help) uint64_t field;
#define RATIO(name, numerator, denominator, scale, unit, help)
#include "mem/dram_stats.def"
#undef STAT
#undef RATIO
};
extern const struct stat_description dram_stat_table[];

enum { DRAM_BANKS_MAX = 64 };
/* Of these, what is counted by bank. */
enum dram_bank_counter { DRAM_COLUMN_COMMANDS, DRAM_ACTIVATES, DRAM_BANK_COUNTERS };

struct dram_histograms {
#define HISTOGRAM HISTOGRAM_FIELD
#include "mem/dram_histograms.def"
#undef HISTOGRAM
};
extern const struct histogram_description dram_histogram_table[];

enum dram_command_kind {
    DRAM_READ,
    DRAM_WRITE,
    DRAM_ACTIVATE,
    DRAM_PRECHARGE,
    DRAM_PRECHARGE_ALL,
    DRAM_REFRESH,
};

struct dram_command {
    uint64_t cycle;
    uint64_t tag; /* of the request it serves; 0 for commands to all banks */
    uint32_t bank, row, column;
    uint8_t kind; /* enum dram_command_kind */
};
typedef void dram_observer(void *context, const struct dram_command *command);

struct dram;

/* A queue without limit holds this many requests: room is refused beyond, since nothing is allocated later. */
enum { DRAM_UNLIMITED_REQUESTS = 65536 };

struct address_masks dram_masks(const struct dram_params *params);
/* Refuses what no channel can be made of: overlapping masks, too many banks, sizes that are no power of two. */
enum status dram_check(const struct dram_params *params, struct report *report);
/* The parameters must have passed the check. Lives as long as the arena. */
struct dram *dram_create(struct arena *arena, const struct dram_params *params);
/* Whether a request can be pushed at this cycle: one per cycle, and what the queue limit allows. */
bool dram_room(const struct dram *dram, uint64_t cycle);
/* Where an address lies in the channel. */
struct dram_place {
    uint32_t row, bank;
};
struct dram_place dram_place_of(const struct dram *dram, uint64_t address);
/* Needs room. A push at cycle c may come before or after dram_advance(c); before, it does not yet see what c frees.
 * REQUEST_ATOMIC counts as a read. */
void dram_push(struct dram *dram, uint64_t cycle, const struct request *request);
/* The same for an owner that knows the place. */
void dram_push_at(struct dram *dram, uint64_t cycle, const struct request *request, struct dram_place place);
/* The cycle of the next command (with refresh there is always one). It never lies before a cycle already advanced. */
uint64_t dram_next(const struct dram *dram);
/* Carries the channel through all cycles up to this one; skipping cycles is allowed whether or not they were named. */
void dram_advance(struct dram *dram, uint64_t cycle);
/* The cycle at which dram_pop will have something; NO_CYCLE: none known yet. */
uint64_t dram_ready(const struct dram *dram);
/* Cycles that at least lie between a command and the completion of the request it serves. */
uint32_t dram_least_latency(const struct dram *dram);
/* Takes the oldest request complete by this cycle. */
bool dram_pop(struct dram *dram, uint64_t cycle, struct request *request);
/* Requests accepted and not yet popped. */
uint32_t dram_held(const struct dram *dram);
struct dram_stats dram_statistics(const struct dram *dram);
/* 0: the model has none. */
uint32_t dram_banks(const struct dram_params *params);
/* Adds what each bank counted: all of the first counter, then all of the next. */
void dram_add_banks(const struct dram *dram, uint64_t into[]);
const struct dram_histograms *dram_histograms(const struct dram *dram);
/* Between launches, with nothing held: open rows, and what commands to come must keep away from. `now`: the cycle that it has been
 * carried to. Read into a channel that was just made of the same parameters. */
void dram_keep(struct dram *dram, uint64_t now, struct keep *keep);
/* Calls back for every command; NULL: nobody. */
void dram_observe(struct dram *dram, dram_observer *observer, void *context);

#endif
