/* SPDX-License-Identifier: Apache-2.0 */
/* What parts of work take, epoch by epoch, and what that lets threads gain: work on one of them is measured, and
 * its epochs are laid out on more. */
#ifndef HEDDLE_BASE_METER_H
#define HEDDLE_BASE_METER_H

#include <stdbool.h>
#include <stdint.h>

enum { METER_COUNTS = 4 };
#define METER_THREADS                                                                                                  \
    { 4, 16, 64, 256 } /* numbers of host threads that are asked for */

/* Zero-initialise. */
struct meter {
    uint64_t epochs, alone; /* of these, those that one thread runs by itself */
    uint64_t disturbed;     /* further epochs, in which the host had something else to do: nothing below has them */
    uint64_t work_ns;       /* of parts: each runs on any thread, and waits for no other in its epoch */
    uint64_t longest_ns;    /* the longest part of every epoch, added up */
    uint64_t exchange_ns;   /* behind the parts: shared out in small pieces */
    uint64_t serial_ns;     /* of one thread while no other has work */
    uint64_t parts;         /* that an epoch had, at most */
    double least_ns[METER_COUNTS], most_ns[METER_COUNTS]; /* of the epochs on so many threads */
    /* of the epoch under way */
    uint64_t epoch_work_ns, epoch_longest_ns, epoch_parts, at_ns, cpu_ns;
};

/* From here on something is measured. */
void meter_begin(struct meter *meter);
/* Since then, or since the part before, a part ran. */
void meter_part(struct meter *meter);
/* What is exchanged, after which the epoch is over. Epochs of less work than alone_ns stay on one thread. */
void meter_epoch(struct meter *meter, uint64_t alone_ns);
void meter_serial(struct meter *meter);

/* How much faster so many threads are than one, the number by its place in METER_THREADS; but for what threads take to meet. At least:
 * whoever is free takes the next part; at most: parts can be divided as one likes, except the longest. */
double meter_gain_least(const struct meter *meter, unsigned count);
double meter_gain_most(const struct meter *meter, unsigned count);

#endif
