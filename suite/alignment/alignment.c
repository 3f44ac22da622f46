/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of alignment: a genome, its suffix tree by way of its suffix array, snippets of it. That a snippet stands where the
 * kernel found it needs no tree to be seen. */
#include "workload.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32, END = 4, WORD = 4 }; /* END: behind the genome, no base; WORD: bases */

static const uint32_t lengths[] = {25, 50, 200, 800};
static const struct {
    uint32_t genome, batch; /* bases */
} sizes[SIZE_COUNT] = {{8192, 3200}, {262144, 250000}, {5227293, 1000000}};

struct node {
    uint32_t children[4], start, length, rest[2];
};

/* ---- the genome ---- */

/* Bases as often as in a bacterium poor in G and C; a quarter of it are copies of what came before, with a base in fifty
 * changed, as repeats are. */
static void make_genome(uint8_t *genome, uint32_t count) {
    struct random r = {11};
    for (uint32_t at = 0; at < count;) {
        const uint32_t run = 200 + random_below(&r, 1800), from = at ? random_below(&r, at) : 0;
        const bool copy = at > 4000 && random_below(&r, 4) == 0;
        for (uint32_t k = 0; k < run && at < count; k++, at++) {
            const uint32_t draw = random_below(&r, 100);
            const bool fresh = !copy || random_below(&r, 50) == 0;
            genome[at] = fresh ? (uint8_t)(draw < 32 ? 0 : draw < 50 ? 1 : draw < 68 ? 2 : 3) : genome[from + k];
        }
    }
    genome[count] = END;
}

/* ---- its suffix tree ---- */

/* Suffixes in order, by doubling (Manber, Myers 1990) with counting sort. ranks: of each position. */
static void sort_suffixes(struct workload *w, const uint8_t *text, uint32_t n, uint32_t *order, uint32_t *ranks) {
    uint32_t *other = WORKLOAD_NEW(w, uint32_t, n), *fresh = WORKLOAD_NEW(w, uint32_t, n);
    uint32_t *counts = WORKLOAD_NEW(w, uint32_t, (n > END ? n : END) + 2), classes = END + 1;
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = text[i], other[i] = i;
    for (uint32_t width = 0;; width = width ? 2 * width : 1) {
        if (width) { /* by their second half: those without one first, then as the first halves stand now */
            uint32_t at = 0;
            for (uint32_t i = n - (width < n ? width : n); i < n; i++)
                other[at++] = i;
            for (uint32_t i = 0; i < n; i++)
                if (order[i] >= width)
                    other[at++] = order[i] - width;
        }
        memset(counts, 0, (classes + 1) * sizeof *counts);
        for (uint32_t i = 0; i < n; i++)
            counts[ranks[i] + 1]++;
        for (uint32_t i = 0; i < classes; i++)
            counts[i + 1] += counts[i];
        for (uint32_t i = 0; i < n; i++)
            order[counts[ranks[other[i]]]++] = other[i];
        fresh[order[0]] = 0;
        for (uint32_t i = 1; i < n; i++) {
            const uint32_t a = order[i - 1], b = order[i];
            const bool same = ranks[a] == ranks[b] &&
                              (!width || (a + width < n && b + width < n && ranks[a + width] == ranks[b + width]));
            fresh[b] = fresh[a] + !same;
        }
        memcpy(ranks, fresh, n * sizeof *ranks);
        classes = ranks[order[n - 1]] + 1;
        if (classes == n)
            return;
    }
}

/* [i]: bases that suffixes i - 1 and i in order have in common (Kasai and others 2001). */
static void find_common(const uint8_t *text, uint32_t n, const uint32_t *order, const uint32_t *ranks,
                        uint32_t *common) {
    for (uint32_t i = 0, h = 0; i < n; i++) {
        if (!ranks[i]) {
            h = 0;
            continue;
        }
        const uint32_t j = order[ranks[i] - 1];
        while (text[i + h] == text[j + h] && text[i + h] != END)
            h++;
        common[ranks[i]] = h;
        h -= h > 0;
    }
}

static void tie(struct node *tree, const uint8_t *text, uint32_t parent, uint32_t child, uint32_t depth,
                uint32_t parent_depth, uint32_t suffix) {
    tree[child].start = suffix + parent_depth;
    tree[child].length = depth - parent_depth;
    if (text[tree[child].start] != END)
        tree[parent].children[text[tree[child].start]] = child;
}

/* Suffixes in order are the leaves from left to right: the nodes on the way to the last one are a stack. */
static uint32_t make_tree(struct workload *w, const uint8_t *text, uint32_t n, struct node *tree) {
    uint32_t *order = WORKLOAD_NEW(w, uint32_t, n), *ranks = WORKLOAD_NEW(w, uint32_t, n);
    uint32_t *common = WORKLOAD_NEW(w, uint32_t, n), *depths = WORKLOAD_NEW(w, uint32_t, 2 * (size_t)n);
    uint32_t *suffixes = WORKLOAD_NEW(w, uint32_t, 2 * (size_t)n), *stack = WORKLOAD_NEW(w, uint32_t, n + 1);
    uint32_t height = 1, nodes = 1;
    sort_suffixes(w, text, n, order, ranks);
    find_common(text, n, order, ranks, common);
    for (uint32_t i = 0; i <= n; i++) {
        const uint32_t shared = i && i < n ? common[i] : 0;
        uint32_t last = 0;
        while (depths[stack[height - 1]] > shared) { /* complete: tied to the one above, or to a new one between */
            last = stack[--height];
            const uint32_t above = stack[height - 1];
            if (depths[above] < shared) {
                depths[nodes] = shared, suffixes[nodes] = suffixes[last];
                stack[height++] = nodes++;
            }
            tie(tree, text, stack[height - 1], last, depths[last], depths[stack[height - 1]], suffixes[last]);
        }
        if (i == n)
            break;
        depths[nodes] = n - order[i], suffixes[nodes] = order[i];
        stack[height++] = nodes++;
    }
    return nodes;
}

/* ---- snippets ---- */

static void align(struct workload *w, const uint8_t *genome, cl_mem tree, cl_mem text, uint32_t length) {
    const uint32_t count = sizes[w->size].batch / length, pitch = WORKLOAD_PITCH(count, WORD);
    const size_t bytes = (size_t)pitch * WORD * ((length + WORD - 1) / WORD);
    uint8_t *snippets = WORKLOAD_NEW(w, uint8_t, bytes);
    uint32_t *matched = WORKLOAD_NEW(w, uint32_t, count), *positions = WORKLOAD_NEW(w, uint32_t, count);
    struct random r = {length};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t from = random_below(&r, sizes[w->size].genome - length);
        for (uint32_t k = 0; k < length; k++)
            snippets[(k / WORD * pitch + i) * WORD + k % WORD] = genome[from + k];
    }
    cl_mem bases = workload_buffer(w, bytes, snippets);
    cl_mem lengths_found = workload_buffer(w, count * sizeof *matched, NULL);
    cl_mem positions_found = workload_buffer(w, count * sizeof *positions, NULL);
    const size_t global = workload_round_up(count, BLOCK), local = BLOCK;
    workload_launch(w, "match", 1, &global, &local, ARGUMENT(tree), ARGUMENT(text), ARGUMENT(bases), ARGUMENT(count),
                    ARGUMENT(pitch), ARGUMENT(length), ARGUMENT(lengths_found), ARGUMENT(positions_found));
    workload_read(w, lengths_found, count * sizeof *matched, matched);
    workload_read(w, positions_found, count * sizeof *positions, positions);
    bool right = true;
    for (uint32_t i = 0; i < count && right; i++) {
        right = matched[i] == length && positions[i] <= sizes[w->size].genome - length;
        for (uint32_t k = 0; right && k < length; k++)
            right = genome[positions[i] + k] == snippets[(k / WORD * pitch + i) * WORD + k % WORD];
    }
    workload_expect(w, right, "every snippet stands in the genome where it was found");
}

static void alignment(struct workload *w) {
    const uint32_t n = sizes[w->size].genome + 1;
    uint8_t *genome = WORKLOAD_NEW(w, uint8_t, n);
    struct node *tree = WORKLOAD_NEW(w, struct node, 2 * (size_t)n);
    make_genome(genome, n - 1);
    const uint32_t nodes = make_tree(w, genome, n, tree);
    cl_mem tree_buffer = workload_buffer(w, nodes * sizeof *tree, tree), text = workload_buffer(w, n, genome);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
        align(w, genome, tree_buffer, text, lengths[i]);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "alignment", NULL, alignment); }
