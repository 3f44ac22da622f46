/* SPDX-License-Identifier: Apache-2.0 */
/* Large ranges of host memory: reserved without access, made usable in parts, zero at first touch. */
#ifndef HEDDLE_BASE_MEMORY_H
#define HEDDLE_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

size_t memory_page_bytes(void);
/* Addresses without memory behind them; touching them faults. NULL when the host refuses. Page-aligned. */
void *memory_reserve(uint64_t bytes);
/* The same at this address. NULL: something is there already, or the host refuses. */
void *memory_reserve_at(uint64_t address, uint64_t bytes);
/* Makes every page that [start, start + bytes) touches usable; already usable ones keep their contents.
 * The range must lie inside one reservation. */
bool memory_commit(void *start, size_t bytes);
/* The range is zero again, and whole pages of it cost the host nothing until they are touched. */
void memory_clear(void *start, size_t bytes);
/* Puts a file of the host's memory behind a reservation of which the first `used` bytes hold something, for views of it; its
 * place stays, and all of it is usable. The file's descriptor, which the caller closes, or -1: the host refused, and all is
 * as it was. */
int memory_share(void *start, size_t bytes, size_t used);
/* A view of such a file: what is written there is seen there alone, all else is as it is in the file. NULL: refused. Given
 * back as a reservation is. */
void *memory_view(int file, size_t bytes);
/* What was written there is gone; false: the host refused, and the view is of no more use. */
bool memory_view_reset(void *view, size_t bytes);
/* Gives a reservation back, committed or not: the start and size memory_reserve was called with. */
void memory_release(void *start, uint64_t bytes);

#endif
