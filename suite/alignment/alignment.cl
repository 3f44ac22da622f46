/* Exact alignment of DNA snippets to a genome by its suffix tree: a thread per snippet goes down from the root, along an edge
 * as long as its bases are those of the snippet, for as long as there is a way. Snippets are interleaved by
 * words of four bases: word k of all comes before word k + 1 of any. A node has a line of a cache for itself. */
struct node {
    uint children[4]; /* by the first base of the edge; 0: none */
    uint start, length; /* the edge that leads here, in the genome */
    uint rest[2];
};

kernel void match(global const struct node *tree, global const uchar *genome, global const uchar *snippets, uint count,
                  uint pitch, uint length, global uint *matched_bases, global uint *positions) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    uint node = 0, start = 0, edge_length = 0, along = 0, matched = 0;
    while (matched < length) { /* a base at a time, at nodes as on edges, so that threads of a warp stay together */
        const uchar base = snippets[(matched / 4 * pitch + me) * 4 + matched % 4];
        if (along == edge_length) {
            const uint child = tree[node].children[base];
            if (child == 0)
                break;
            node = child;
            start = tree[node].start;
            edge_length = tree[node].length;
            along = 0; /* its first base chose the edge */
        } else if (genome[start + along] != base) {
            break;
        }
        along++;
        matched++;
    }
    matched_bases[me] = matched;
    positions[me] = start + along - matched;
}
// SPDX-License-Identifier: Apache-2.0
