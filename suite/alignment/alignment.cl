/* Exact alignment of DNA snippets to a genome by its suffix tree: a thread per snippet goes down from the root, along an edge
 * as long as its bases are those of the snippet, for as long as there is a way. Snippets are interleaved: base k of all comes
 * before base k + 1 of any. */
struct node {
    uint children[4]; /* by the first base of the edge; 0: none */
    uint start, length; /* the edge that leads here, in the genome */
};

kernel void match(global const struct node *tree, global const uchar *genome, global const uchar *snippets, uint count,
                  uint length, global uint *matched_bases, global uint *positions) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    uint node = 0, matched = 0, end = 0;
    bool whole_edge = true;
    while (matched < length && whole_edge) {
        const uint child = tree[node].children[snippets[matched * count + me]];
        if (child == 0)
            break;
        const uint start = tree[child].start, edge_length = tree[child].length;
        uint along = 1; /* the first base chose the edge */
        matched++;
        while (along < edge_length && matched < length && genome[start + along] == snippets[matched * count + me]) {
            along++;
            matched++;
        }
        whole_edge = along == edge_length;
        end = start + along;
        node = child;
    }
    matched_bases[me] = matched;
    positions[me] = end - matched;
}
