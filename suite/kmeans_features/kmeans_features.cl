/* k-means of points with many features: a thread per point finds the nearest of the centres. A point's features are side by side, so that neighbouring threads read addresses a point apart. */
#define FEATURES 36
#define CLUSTERS 32

kernel void assign(global const float *points, global const float *centres, uint count, global uint *cluster_of) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    global const float *point = points + me * FEATURES;
    float least = INFINITY;
    uint nearest = 0;
    for (uint cluster = 0; cluster < CLUSTERS; cluster++) {
        float distance = 0.0f;
#pragma unroll 1
        for (uint feature = 0; feature < FEATURES; feature++) {
            const float off = point[feature] - centres[cluster * FEATURES + feature];
            distance += off * off;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    cluster_of[me] = nearest;
}
// SPDX-License-Identifier: Apache-2.0
