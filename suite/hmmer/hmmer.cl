/* Search of a protein database with a profile hidden Markov model (plan 7 of HMMER 2): a thread has a sequence and
 * finds its best local path through match, insert and delete states by Viterbi's algorithm, with where that path begins
 * and ends. It keeps a row of scores for each kind of state, all of a thread's together. Transitions cost:
 * a state whose score is no better than the best so far cannot win, and its transition need not be read. */
#define LOWEST (-987654321)

/* Positions of the model, known to the compiler: an element of a table is then at a fixed distance from others, and to read it is one
 * instruction, as it was on the document's machine, which adds an index to an address while it reads. */
#ifndef POSITIONS
#define POSITIONS 8
#endif

enum { BEGIN_MATCH, MATCH_MATCH, INSERT_MATCH, DELETE_MATCH, MATCH_INSERT, INSERT_INSERT, MATCH_DELETE, DELETE_DELETE,
       MATCH_END };

/* A path: its score, and the residue at which it begins. */
typedef int2 path;

kernel void hmmer(global const uchar *residues, global const uint *first, uint sequences,
                  global const int *match, global const int *insert, global const int *transition, global path *rows,
                  global int *score, global int *begin, global int *end) {
    const uint sequence = get_global_id(0);
    if (sequence >= sequences)
        return;
    global path *matches = rows + sequence * 3 * POSITIONS;
    global path *inserts = matches + POSITIONS, *deletes = inserts + POSITIONS;
    for (uint k = 0; k < POSITIONS; k++)
        matches[k] = inserts[k] = deletes[k] = (path)(LOWEST, 0);
    int best = LOWEST, best_begin = 0, best_end = 0;
    const int length = first[sequence + 1] - first[sequence];
    for (int i = 0; i < length; i++) {
        const uint residue = residues[first[sequence] + i];
        path last_match = (path)(LOWEST, 0), last_insert = last_match, last_delete = last_match; /* row before, k - 1 */
        path match_left = last_match, delete_left = last_match;                                  /* this row, k - 1 */
        for (uint k = 0; k < POSITIONS; k++) {
            path m = (path)(transition[BEGIN_MATCH * POSITIONS + k], i);
            if (last_match.x > m.x) {
                const int s = last_match.x + transition[MATCH_MATCH * POSITIONS + k];
                if (s > m.x)
                    m = (path)(s, last_match.y);
            }
            if (last_insert.x > m.x) {
                const int s = last_insert.x + transition[INSERT_MATCH * POSITIONS + k];
                if (s > m.x)
                    m = (path)(s, last_insert.y);
            }
            if (last_delete.x > m.x) {
                const int s = last_delete.x + transition[DELETE_MATCH * POSITIONS + k];
                if (s > m.x)
                    m = (path)(s, last_delete.y);
            }
            m.x += match[residue * POSITIONS + k];
            if (m.x > best) {
                const int s = m.x + transition[MATCH_END * POSITIONS + k];
                if (s > best) {
                    best = s;
                    best_begin = m.y;
                    best_end = i;
                }
            }
            path d = (path)(match_left.x + transition[MATCH_DELETE * POSITIONS + k], match_left.y);
            if (delete_left.x > d.x) {
                const int s = delete_left.x + transition[DELETE_DELETE * POSITIONS + k];
                if (s > d.x)
                    d = (path)(s, delete_left.y);
            }
            last_match = matches[k];
            last_insert = inserts[k];
            last_delete = deletes[k];
            path n = (path)(last_match.x + transition[MATCH_INSERT * POSITIONS + k], last_match.y);
            if (last_insert.x > n.x) {
                const int s = last_insert.x + transition[INSERT_INSERT * POSITIONS + k];
                if (s > n.x)
                    n = (path)(s, last_insert.y);
            }
            n.x += insert[residue * POSITIONS + k];
            matches[k] = match_left = m;
            inserts[k] = n;
            deletes[k] = delete_left = d;
        }
    }
    score[sequence] = best;
    begin[sequence] = best_begin;
    end[sequence] = best_end;
}
// SPDX-License-Identifier: Apache-2.0
