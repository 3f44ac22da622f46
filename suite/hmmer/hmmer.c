/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of the profile search: a model with conserved and variable positions, and a database in which every eighth
 * sequence has a domain of the family. The whole matrix is filled once more for each sequence, and its best path traced
 * back. */
#include "workload.h"

enum { RESIDUES = 20, LOWEST = -987654321, BLOCK = 768 };
enum {
    BEGIN_MATCH,
    MATCH_MATCH,
    INSERT_MATCH,
    DELETE_MATCH,
    MATCH_INSERT,
    INSERT_INSERT,
    MATCH_DELETE,
    DELETE_DELETE,
    MATCH_END,
    TRANSITIONS
};

/* Scores are thousandths of bits, as HMMER 2 has them. */
struct profile {
    uint32_t positions;
    uint8_t *consensus;
    int32_t *match, *insert, *transition;
};

static int32_t between(struct random *r, int32_t low, int32_t high) {
    return low + (int32_t)random_below(r, (uint32_t)(high - low + 1));
}

/* Amino acids as often as in Swiss-Prot, in 1/10000, in the order ARNDCQEGHILKMFPSTWYV. */
static uint8_t background(struct random *r) {
    static const uint32_t often[RESIDUES] = {825, 553, 406, 546, 138, 393, 672, 707, 227, 591,
                                             965, 580, 241, 386, 474, 665, 536, 110, 292, 693};
    uint32_t at = random_below(r, 10000);
    uint8_t residue = 0;
    while (at >= often[residue])
        at -= often[residue++];
    return residue;
}

static struct profile make_profile(struct workload *w, struct random *r, uint32_t positions) {
    struct profile p = {positions, WORKLOAD_NEW(w, uint8_t, positions), WORKLOAD_NEW(w, int32_t, RESIDUES * positions),
                        WORKLOAD_NEW(w, int32_t, RESIDUES * positions),
                        WORKLOAD_NEW(w, int32_t, TRANSITIONS * positions)};
    static const int32_t range[TRANSITIONS][2] = {{-6500, -5500}, {-60, -5},      {-700, -300},
                                                  {-900, -300},   {-8500, -6000}, {-1500, -700},
                                                  {-9000, -6500}, {-1500, -500},  {-4000, -2500}};
    for (uint32_t k = 0; k < positions; k++) {
        const bool loop = random_below(r, 6) == 0, variable = loop || random_below(r, 3) == 0;
        p.consensus[k] = background(r);
        for (uint32_t t = 0; t < TRANSITIONS; t++)
            p.transition[t * positions + k] = between(r, range[t][0], range[t][1]);
        if (loop) { /* where the family has insertions and gaps of many lengths */
            p.transition[MATCH_INSERT * positions + k] = between(r, -3000, -1500);
            p.transition[MATCH_DELETE * positions + k] = between(r, -3500, -2000);
            p.transition[MATCH_MATCH * positions + k] = between(r, -600, -300);
        }
        for (uint32_t a = 0; a < RESIDUES; a++) {
            const bool own = a == p.consensus[k], alike = (a + p.consensus[k]) % 5 == 0;
            p.match[a * positions + k] = own     ? between(r, variable ? 800 : 2000, variable ? 2000 : 4500)
                                         : alike ? between(r, -500, 1000)
                                                 : between(r, variable ? -1500 : -4000, variable ? 300 : -500);
            p.insert[a * positions + k] = between(r, -300, 200);
        }
    }
    return p;
}

/* A domain of the family: mostly its consensus, with substitutions, insertions and deletions. */
static uint32_t make_domain(struct random *r, const struct profile *p, uint8_t *to, uint32_t room) {
    uint32_t length = 0;
    for (uint32_t k = random_below(r, p->positions / 4 + 1); k < p->positions && length < room; k++) {
        const uint32_t event = random_below(r, 100);
        if (event < 4)
            continue;
        to[length++] = event < 70 ? p->consensus[k] : background(r);
        while (event >= 96 && length < room && random_below(r, 3))
            to[length++] = background(r);
    }
    return length;
}

/* Returns `sequences` sequences of a third to three times the mean length, few of them long. first: sequences + 1. */
static uint8_t *make_database(struct workload *w, struct random *r, const struct profile *p, uint32_t sequences,
                              uint32_t mean, uint32_t *first) {
    uint8_t *residues = WORKLOAD_NEW(w, uint8_t, (size_t)sequences * (3 * mean + 1));
    for (uint32_t s = 0; s < sequences; s++) {
        const float u = random_unit(r);
        const uint32_t length = mean / 3 + (uint32_t)((float)mean * 2 / 3 * u / (1.25f - u));
        uint8_t *sequence = residues + first[s];
        first[s + 1] = first[s] + length;
        for (uint32_t i = 0; i < length; i++)
            sequence[i] = background(r);
        if (random_below(r, 8) == 0) {
            const uint32_t at = random_below(r, length / 2 + 1);
            make_domain(r, p, sequence + at, length - at);
        }
    }
    return residues;
}

/* ---- on the host ---- */

struct cell {
    int32_t match, insert, delete;
};

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

/* The cell of residue i and position k; before the first of either nothing has been reached. */
static struct cell at(const struct profile *p, const struct cell *matrix, int32_t i, int32_t k) {
    return i < 0 || k < 0 ? (struct cell){LOWEST, LOWEST, LOWEST} : matrix[i * (int32_t)p->positions + k];
}

static int32_t cost(const struct profile *p, int transition, int32_t k) {
    return p->transition[(int32_t)p->positions * transition + k];
}

static void fill(const struct profile *p, const uint8_t *sequence, int32_t length, struct cell *matrix) {
    const int32_t positions = (int32_t)p->positions;
    for (int32_t i = 0; i < length; i++)
        for (int32_t k = 0; k < positions; k++) {
            const struct cell across = at(p, matrix, i - 1, k - 1), up = at(p, matrix, i - 1, k);
            const struct cell left = at(p, matrix, i, k - 1);
            const int32_t match =
                larger(larger(cost(p, BEGIN_MATCH, k), across.match + cost(p, MATCH_MATCH, k)),
                       larger(across.insert + cost(p, INSERT_MATCH, k), across.delete + cost(p, DELETE_MATCH, k)));
            matrix[i * positions + k] =
                (struct cell){match + p->match[sequence[i] * positions + k],
                              larger(up.match + cost(p, MATCH_INSERT, k), up.insert + cost(p, INSERT_INSERT, k)) +
                                  p->insert[sequence[i] * positions + k],
                              larger(left.match + cost(p, MATCH_DELETE, k), left.delete + cost(p, DELETE_DELETE, k))};
        }
}

/* The residue at which the path to the match state of (i, k) begins; of paths equally good one with less before it. */
static int32_t trace(const struct profile *p, const uint8_t *sequence, const struct cell *matrix, int32_t i,
                     int32_t k) {
    enum { MATCH, INSERT, DELETE } state = MATCH;
    const int32_t positions = (int32_t)p->positions;
    for (;;) {
        const struct cell here = at(p, matrix, i, k), across = at(p, matrix, i - 1, k - 1);
        if (state == MATCH) {
            const int32_t score = here.match - p->match[sequence[i] * positions + k];
            if (score == cost(p, BEGIN_MATCH, k))
                return i;
            state = score == across.match + cost(p, MATCH_MATCH, k)     ? MATCH
                    : score == across.insert + cost(p, INSERT_MATCH, k) ? INSERT
                                                                        : DELETE;
            i--;
            k--;
        } else if (state == INSERT) {
            const int32_t score = here.insert - p->insert[sequence[i] * positions + k];
            state = score == at(p, matrix, i - 1, k).match + cost(p, MATCH_INSERT, k) ? MATCH : INSERT;
            i--;
        } else {
            state = here.delete == at(p, matrix, i, k - 1).match + cost(p, MATCH_DELETE, k) ? MATCH : DELETE;
            k--;
        }
    }
}

struct hits {
    uint32_t *score, *begin, *end;
};

static struct hits make_hits(struct workload *w, uint32_t count) {
    return (struct hits){WORKLOAD_NEW(w, uint32_t, count), WORKLOAD_NEW(w, uint32_t, count),
                         WORKLOAD_NEW(w, uint32_t, count)};
}

static void search(const struct profile *p, const uint8_t *sequence, int32_t length, struct cell *matrix,
                   struct hits hits, uint32_t s) {
    const int32_t positions = (int32_t)p->positions;
    int32_t best = LOWEST, end = 0, last = 0;
    fill(p, sequence, length, matrix);
    for (int32_t i = 0; i < length; i++)
        for (int32_t k = 0; k < positions; k++) {
            const int32_t score = at(p, matrix, i, k).match + cost(p, MATCH_END, k);
            if (score > best) {
                best = score;
                end = i;
                last = k;
            }
        }
    hits.score[s] = (uint32_t)best;
    hits.begin[s] = (uint32_t)trace(p, sequence, matrix, end, last);
    hits.end[s] = (uint32_t)end;
}

static void hmmer(struct workload *w) {
    /* as many as the document's SMs have threads, up to the 16 it had */
    const uint32_t sms = workload_sms(w), sequences = w->size == SIZE_TEST ? 96 : BLOCK * (sms < 16 ? sms : 16);
    const uint32_t mean = (uint32_t[]){12, 24, 350}[w->size], positions = (uint32_t[]){8, 64, 128}[w->size];
    struct random r = {456};
    const struct profile p = make_profile(w, &r, positions);
    uint32_t *first = WORKLOAD_NEW(w, uint32_t, sequences + 1);
    uint8_t *residues = make_database(w, &r, &p, sequences, mean, first);
    struct hits got = make_hits(w, sequences), expected = make_hits(w, sequences);
    struct cell *matrix = WORKLOAD_NEW(w, struct cell, (size_t)(3 * mean + 1) * p.positions);

    if (w->size != SIZE_TEST) /* whose positions hmmer.cl has */
        workload_rebuild(w, w->size == SIZE_MEDIUM ? "-DPOSITIONS=64" : "-DPOSITIONS=128");
    const size_t block = workload_block(w, w->size == SIZE_TEST ? 32 : BLOCK);
    const size_t threads = workload_round_up(sequences, block), bytes = sequences * sizeof *got.score;
    const size_t scores = RESIDUES * p.positions * sizeof *p.match;
    cl_mem database = workload_buffer(w, first[sequences], residues);
    cl_mem firsts = workload_buffer(w, (sequences + 1) * sizeof *first, first);
    cl_mem match = workload_buffer(w, scores, p.match), insert = workload_buffer(w, scores, p.insert);
    cl_mem transition = workload_buffer(w, TRANSITIONS * p.positions * sizeof *p.transition, p.transition);
    cl_mem rows = workload_buffer(w, 3 * p.positions * threads * sizeof(cl_int2), NULL);
    cl_mem score = workload_buffer(w, bytes, NULL), begin = workload_buffer(w, bytes, NULL);
    cl_mem end = workload_buffer(w, bytes, NULL);
    workload_launch(w, "hmmer", 1, &threads, &block, ARGUMENT(database), ARGUMENT(firsts), ARGUMENT(sequences),
                    ARGUMENT(match), ARGUMENT(insert), ARGUMENT(transition), ARGUMENT(rows), ARGUMENT(score),
                    ARGUMENT(begin), ARGUMENT(end));
    workload_read(w, score, bytes, got.score);
    workload_read(w, begin, bytes, got.begin);
    workload_read(w, end, bytes, got.end);
    for (uint32_t s = 0; s < sequences; s++)
        search(&p, residues + first[s], (int32_t)(first[s + 1] - first[s]), matrix, expected, s);
    workload_equal_u32(w, "score", got.score, expected.score, sequences);
    workload_equal_u32(w, "begin", got.begin, expected.begin, sequences);
    workload_equal_u32(w, "end", got.end, expected.end, sequences);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "hmmer", NULL, hmmer); }
