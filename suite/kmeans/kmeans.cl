/* K-means of one-dimensional points of 8 bits. kmeans_assign: a thread takes every so many-th point to the nearest centre;
 * kmeans_centres: a thread per cluster takes the mean. Centres ascend and stay so, thus a search ends where distances begin
 * to grow. They are in 256ths. */
#define CLUSTERS 32

kernel void kmeans_assign(global const uchar *points, global uchar *membership, uint count, global const uint *centres,
                          global uint *sums, global uint *sizes, global uint *changed) {
    local uint centre[CLUSTERS], sum[CLUSTERS], size[CLUSTERS];
    const uint me = get_local_id(0);
    if (me < CLUSTERS) {
        centre[me] = centres[me];
        sum[me] = size[me] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint moved = 0;
    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        const uint point = points[i] * 256u;
        uint nearest = 0, distance = abs_diff(point, centre[0]);
        while (nearest + 1 < CLUSTERS) {
            const uint next = abs_diff(point, centre[nearest + 1]);
            if (next >= distance)
                break;
            distance = next;
            nearest++;
        }
        if (membership[i] != nearest) {
            membership[i] = (uchar)nearest;
            moved++;
        }
        atomic_add(&sum[nearest], point);
        atomic_inc(&size[nearest]);
    }
    if (moved)
        atomic_add(changed, moved);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me < CLUSTERS && size[me]) {
        atomic_add(&sums[me], sum[me]);
        atomic_add(&sizes[me], size[me]);
    }
}

kernel void kmeans_centres(global uint *centres, global uint *sums, global uint *sizes) {
    const uint me = get_global_id(0);
    if (sizes[me])
        centres[me] = (sums[me] + sizes[me] / 2) / sizes[me];
    sums[me] = sizes[me] = 0;
}
// SPDX-License-Identifier: Apache-2.0
