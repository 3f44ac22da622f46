/* k-means of points with many features: a thread per point finds the nearest of the centres, and then adds its point to the
 * sum of its cluster. A point's features are side by side, so that neighbouring threads read addresses a point apart. */
#define FEATURES 36
#define CLUSTERS 32

kernel void assign(global const float *points, global const float *centres, uint count, global uint *cluster_of,
                   global uint *moved) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    global const float *point = points + me * FEATURES;
    float least = INFINITY;
    uint nearest = 0;
    for (uint cluster = 0; cluster < CLUSTERS; cluster++) {
        float distance = 0.0f;
        for (uint feature = 0; feature < FEATURES; feature++) {
            const float off = point[feature] - centres[cluster * FEATURES + feature];
            distance += off * off;
        }
        if (distance < least) {
            least = distance;
            nearest = cluster;
        }
    }
    if (cluster_of[me] != nearest) {
        cluster_of[me] = nearest;
        atomic_inc(moved);
    }
}

kernel void add_up(global const float *points, global const uint *cluster_of, uint count, global int *sums,
                   global uint *members) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    const uint cluster = cluster_of[me];
    for (uint feature = 0; feature < FEATURES; feature++)
        atomic_add(&sums[cluster * FEATURES + feature], (int)points[me * FEATURES + feature]);
    atomic_inc(&members[cluster]);
}
