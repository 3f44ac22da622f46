/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of neighbour lists. The host looks at every pair. */
#include "liquid.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 32, LIST_ROOM = 192 };

static int order(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Every particle's list holds those that are near, each once. Who is at the cutoff but for rounding may be in it or not. */
static void check(struct workload *w, const struct liquid *l, const uint32_t *counts, const uint32_t *lists,
                  uint32_t pitch) {
    const double cutoff = (double)l->list_cutoff * (double)l->list_cutoff;
    uint32_t mine[LIST_ROOM];
    double way[3];
    for (uint32_t i = 0; i < l->count && !w->wrong; i++) {
        bool right = counts[i] <= LIST_ROOM;
        for (uint32_t k = 0; right && k < counts[i]; k++)
            mine[k] = lists[k * pitch + i];
        uint32_t at = 0;
        if (right)
            qsort(mine, counts[i], sizeof *mine, order);
        for (uint32_t j = 0; right && j < l->count; j++) {
            const double off = i == j ? 2 * cutoff : liquid_distance(l, i, j, way);
            const bool listed = at < counts[i] && mine[at] == j;
            right = listed ? off < cutoff * (1 + 1e-5) : off > cutoff * (1 - 1e-5);
            at += listed;
        }
        if (!right || at != counts[i]) {
            fprintf(stderr, "wrong: the list of particle %u\n", (unsigned)i);
            w->wrong = true;
        }
    }
}

static void neighbours(struct workload *w) {
    const struct liquid l = liquid_make(w);
    const uint32_t pitch = WORKLOAD_PITCH(l.count, sizeof(uint32_t));
    const size_t bins = (size_t)l.bins_per_edge * l.bins_per_edge * l.bins_per_edge, room = (size_t)pitch * LIST_ROOM;
    uint32_t *counts = WORKLOAD_NEW(w, uint32_t, l.count), *lists = WORKLOAD_NEW(w, uint32_t, room);
    const float cutoff_squared = l.list_cutoff * l.list_cutoff;
    const cl_int bins_per_edge = (cl_int)l.bins_per_edge;
    cl_mem positions = workload_buffer(w, l.count * sizeof *l.positions, l.positions);
    cl_mem bin_entries = workload_buffer(w, bins * BIN_ROOM * sizeof *l.bins, l.bins);
    cl_mem list_counts = workload_buffer(w, l.count * sizeof *counts, NULL);
    cl_mem list_entries = workload_buffer(w, room * sizeof *lists, NULL);
    const size_t global = workload_round_up(l.count, BLOCK), local = BLOCK;
    workload_launch(w, "build_lists", 1, &global, &local, ARGUMENT(positions), ARGUMENT(bin_entries), ARGUMENT(l.slots),
                    ARGUMENT(l.count), ARGUMENT(pitch), ARGUMENT(bins_per_edge), ARGUMENT(l.bin_edge), ARGUMENT(l.edge),
                    ARGUMENT(cutoff_squared), ARGUMENT(list_counts), ARGUMENT(list_entries));
    workload_read(w, list_counts, l.count * sizeof *counts, counts);
    workload_read(w, list_entries, room * sizeof *lists, lists);
    check(w, &l, counts, lists, pitch);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "neighbours", NULL, neighbours); }
