/* The stack of `pdom` for mechanisms that build on it: threads of a warp that go on apart have a stack each. Stacks are
 * numbered as the caller likes; start, offer, issued, alive and where are those of divergence_pdom. */
#ifndef HEDDLE_DIVERGENCE_PDOM_H
#define HEDDLE_DIVERGENCE_PDOM_H

#include "divergence/divergence.h"

extern const struct divergence_ops divergence_pdom;

/* Empty stacks, which take memory when they are first used. What arrives at its reconvergence PC stays there until
 * pdom_pop. */
void *pdom_create_stacks(struct arena *arena, const struct divergence_shape *shape, unsigned stacks);
/* Does the top stand where its lanes meet others? Which meeting that is: one number in all stacks. */
bool pdom_has_arrived(const void *self, unsigned stack, uint32_t *meeting);
void pdom_pop(void *self, unsigned stack);
/* Will lanes of the stack come to that meeting? */
bool pdom_meets(const void *self, unsigned stack, uint32_t meeting);
/* Does another side of the top's meeting wait below it to run? */
bool pdom_has_side(const void *self, unsigned stack);
/* Entries; 0: it is free. */
unsigned pdom_depth(const void *self, unsigned stack);
/* These lanes go on with a stack of their own, which was free; they keep their meetings. */
void pdom_split(void *self, unsigned from, unsigned to, uint32_t lanes);
/* All lanes of `from` go on with the top of `into`; false, and nothing changed: they do not stand at the same place, or
 * have meetings that those do not have. */
bool pdom_join(void *self, unsigned into, unsigned from);

#endif
