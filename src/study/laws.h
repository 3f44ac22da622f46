/* SPDX-License-Identifier: Apache-2.0 */
/* Laws of divergence mechanisms: what a launch file does on a machine in time is held against its functional run.
 * docs/laws.md lists what must hold. */
#ifndef HEDDLE_STUDY_LAWS_H
#define HEDDLE_STUDY_LAWS_H

#include "launch/run.h"

enum laws_verdict {
    LAWS_SAME,    /* every law holds */
    LAWS_REFUSED, /* the machine does not run this, and says why */
    LAWS_STOPPED, /* the launch stopped: a deadlock, a fault or a limit */
    LAWS_BROKEN,  /* a law does not hold, and the report says which; or the host refused */
    LAWS_VERDICTS
};
extern const char *const laws_verdict_names[LAWS_VERDICTS];
/* What the status of laws_hold means. */
enum laws_verdict laws_verdict_of(enum status status);

struct laws_outcome;

/* What the functional run of a launch file leaves. Zero-initialise, then laws_find_reference. */
struct laws_reference {
    struct arena arena;
    const struct launch_file *file;
    struct laws_outcome *outcome;
};

/* Runs the file functionally; the machine gets this mechanism, whatever it had. The file must outlive `out`, the machine need
 * not. laws_free is right after a failure too. */
enum status laws_find_reference(struct laws_reference *out, const struct launch_file *file, struct machine *machine,
                                const char *mechanism, struct report *report);
/* Runs the file on the machine in time, twice: as users run it, and with somebody who hears of every issue; and where the way of a warp is
 * its own once more, replayed. The machine was
 * checked, and has the `isa` of the reference's. *cycles: of the first run, 0 where it did not end. */
enum status laws_hold(const struct laws_reference *reference, const struct machine *machine, uint64_t *cycles,
                      struct report *report);
void laws_free(struct laws_reference *reference);

#endif
