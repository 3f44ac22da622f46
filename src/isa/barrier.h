/* Block barriers: they count arrived threads, whatever group carried them there. */
#ifndef HEDDLE_ISA_BARRIER_H
#define HEDDLE_ISA_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

enum { BARRIERS = 16 };

struct barrier {
    uint32_t arrived;
    uint32_t expected;   /* 0: every thread of the block that has not ended */
    uint32_t true_count; /* threads that arrived with a true predicate */
};

static inline bool barrier_is_met(const struct barrier *barrier, uint32_t alive) {
    return barrier->arrived != 0 && barrier->arrived >= (barrier->expected ? barrier->expected : alive);
}

#endif
