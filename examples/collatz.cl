// Steps of the Collatz sequence (halve if even, else 3v + 1) until it reaches 1. The classic of divergence.
//
// Two branches part the lanes of a warp. Inside the loop odd and even values go different ways: the warp walks both
// sides one after the other, with the lanes of the other side switched off, and meets again at c++. And the loop runs
// as long as the slowest of the 32 lanes needs; lanes that are done wait at its end. The summary shows both: fewer
// than half of the lanes are busy on average.

__kernel void collatz(__global int *out, uint base, int n) {
    int i = get_global_id(0);
    if (i >= n)
        return;
    uint v = base + (uint)i;
    int c = 0;
    while (v > 1u) {
        if (v & 1u)
            v = 3u * v + 1u;
        else
            v >>= 1;
        c++;
    }
    out[i] = c;
}
