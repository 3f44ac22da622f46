/* Large ranges of host memory: reserved without access, made usable in parts, zero at first touch. */
#ifndef HEDDLE_BASE_MEMORY_H
#define HEDDLE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

size_t memory_page_bytes(void);
/* Addresses without memory behind them; touching them faults. NULL when the host refuses. Page-aligned. */
void *memory_reserve(size_t bytes);
/* Makes every page that [start, start + bytes) touches usable; already usable ones keep their contents.
 * The range must lie inside one reservation. */
bool memory_commit(void *start, size_t bytes);
/* The range is zero again, and whole pages of it cost the host nothing until they are touched. */
void memory_clear(void *start, size_t bytes);
/* Gives a reservation back, committed or not: the start and size memory_reserve was called with. */
void memory_release(void *start, size_t bytes);

#endif
