/* Bucket sort of 32-bit keys: a key as a fraction of all, times the number of buckets, is its bucket, and what is left
 * names its cell within the bucket. bucket_count and bucket_scatter: a thread takes every so many-th key of its group's share
 * to its bucket. bucket_sort: a group takes the keys of a bucket to their cells in local memory; a thread sorts a cell after
 * another by insertion. Groups have at most THREADS threads. */
#ifndef THREADS
#define THREADS 256
#endif
#define CELLS 512u /* a multiple of the group's size */

/* How many keys of a group's share fall into each bucket: counts[bucket * groups + group]. */
kernel void bucket_count(global const uint *keys, global uint *counts, uint share, uint buckets, local uint *count) {
    for (uint i = get_local_id(0); i < buckets; i += get_local_size(0))
        count[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    global const uint *from = keys + get_group_id(0) * share;
    for (uint i = get_local_id(0); i < share; i += get_local_size(0))
        atomic_inc(&count[mul_hi(from[i], buckets)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < buckets; i += get_local_size(0))
        counts[i * get_num_groups(0) + get_group_id(0)] = count[i];
}

/* Sums before each element, over the group: in local memory, doubling the distance (Hillis, Steele 1986). */
uint sum_before(uint value, local uint *sums) {
    const uint me = get_local_id(0);
    sums[me] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint distance = 1; distance < get_local_size(0); distance *= 2) {
        const uint other = me >= distance ? sums[me - distance] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sums[me] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return sums[me] - value;
}

/* One group: counts become places; places[count] is the number of keys. */
kernel void bucket_places(global const uint *counts, global uint *places, uint count, local uint *sums) {
    uint base = 0;
    for (uint first = 0; first < count; first += get_local_size(0)) {
        const uint i = first + get_local_id(0);
        const uint before = base + sum_before(i < count ? counts[i] : 0, sums);
        if (i < count)
            places[i] = before;
        base += sums[get_local_size(0) - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (get_local_id(0) == 0)
        places[count] = base;
}

/* Keys are put in order of their buckets in local memory, a tile at a time, so that those of a bucket are written together.
 * buckets: not more than the group has threads. tile: keys; staged has room for them. */
kernel void bucket_scatter(global const uint *keys, global const uint *places, global uint *to, uint share, uint buckets,
                           uint tile, local uint *staged) {
    local uint first[THREADS], offset[THREADS], sums[THREADS];
    const uint me = get_local_id(0), threads = get_local_size(0);
    uint next = me < buckets ? places[me * get_num_groups(0) + get_group_id(0)] : 0; /* of bucket `me` */
    for (uint start = 0; start < share; start += tile) {
        global const uint *from = keys + get_group_id(0) * share + start;
        const uint count = min(tile, share - start);
        first[me] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < count; i += threads)
            atomic_inc(&first[mul_hi(from[i], buckets)]);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint size = first[me], before = sum_before(size, sums);
        first[me] = before;
        offset[me] = next - before;
        next += size;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < count; i += threads) {
            const uint key = from[i];
            staged[atomic_inc(&first[mul_hi(key, buckets)])] = key;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < count; i += threads) {
            const uint key = staged[i];
            to[offset[mul_hi(key, buckets)] + i] = key;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

void insertion_sort(local uint *keys, uint count) {
    for (uint i = 1; i < count; i++) {
        const uint key = keys[i];
        uint at = i;
        while (at > 0 && keys[at - 1] > key) {
            keys[at] = keys[at - 1];
            at--;
        }
        keys[at] = key;
    }
}

/* parts: in how many parts places cuts a bucket. sorted: room for the largest bucket. */
kernel void bucket_sort(global const uint *keys, global const uint *places, global uint *to, uint buckets, uint parts,
                        local uint *sorted) {
    local uint first[CELLS + 1], sums[THREADS];
    const uint me = get_local_id(0), threads = get_local_size(0), each = CELLS / threads;
    for (uint bucket = get_group_id(0); bucket < buckets; bucket += get_num_groups(0)) {
        const uint start = places[bucket * parts], count = places[(bucket + 1) * parts] - start;
        for (uint i = me; i < CELLS; i += threads)
            first[i] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < count; i += threads)
            atomic_inc(&first[mul_hi(keys[start + i] * buckets, CELLS)]);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint sum = 0;
        for (uint i = 0; i < each; i++)
            sum += first[me * each + i];
        uint before = sum_before(sum, sums);
        for (uint i = 0; i < each; i++) {
            const uint here = first[me * each + i];
            first[me * each + i] = before;
            before += here;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < count; i += threads) {
            const uint key = keys[start + i];
            sorted[atomic_inc(&first[mul_hi(key * buckets, CELLS)])] = key;
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* first[cell] is now the end of the cell */
        for (uint cell = me; cell < CELLS; cell += threads) {
            const uint from = cell ? first[cell - 1] : 0;
            insertion_sort(sorted + from, first[cell] - from);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < count; i += threads)
            to[start + i] = sorted[i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
// SPDX-License-Identifier: Apache-2.0
