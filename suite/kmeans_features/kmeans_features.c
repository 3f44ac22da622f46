/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of k-means with many features. Features and centres are whole numbers up to 255, so that every distance is exact in
 * a float and no order of additions matters. The host computes distances as |p|^2 - 2 p c + |c|^2, in integers. */
#include "workload.h"
#include <string.h>

enum { BLOCK = 32, FEATURES = 36, CLUSTERS = 32 };

static const struct {
    uint32_t points, rounds; /* rounds: at most; it ends when few points move */
} sizes[SIZE_COUNT] = {{256, 1}, {8192, 1}, {494020, 40}};

/* Around as many true centres as there are clusters; a feature is off by a sum of four draws. */
static void make_points(float *points, uint32_t count) {
    struct random r = {23};
    uint32_t centres[CLUSTERS][FEATURES];
    for (unsigned c = 0; c < CLUSTERS; c++)
        for (unsigned f = 0; f < FEATURES; f++)
            centres[c][f] = 40 + random_below(&r, 176);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t c = random_below(&r, CLUSTERS);
        for (unsigned f = 0; f < FEATURES; f++) {
            uint32_t off = 0;
            for (unsigned draw = 0; draw < 4; draw++)
                off += random_below(&r, 21);
            points[i * FEATURES + f] = (float)(centres[c][f] + off - 40);
        }
    }
}

static void assign_on_host(const float *points, const float *centres, uint32_t count, uint32_t *cluster_of) {
    int64_t norms[CLUSTERS] = {0};
    for (unsigned k = 0; k < CLUSTERS * FEATURES; k++)
        norms[k / FEATURES] += (int64_t)centres[k] * (int64_t)centres[k];
    for (uint32_t i = 0; i < count; i++) {
        int64_t least = INT64_MAX;
        for (unsigned c = 0; c < CLUSTERS; c++) {
            int64_t product = 0;
            for (unsigned f = 0; f < FEATURES; f++)
                product += (int64_t)points[i * FEATURES + f] * (int64_t)centres[c * FEATURES + f];
            if (norms[c] - 2 * product < least) {
                least = norms[c] - 2 * product;
                cluster_of[i] = c;
            }
        }
    }
}

/* To the mean of their points, rounded; how many points have another cluster than before. */
static uint32_t move_centres(float *centres, const float *points, uint32_t count, const uint32_t *cluster_of,
                             uint32_t *before) {
    int32_t sums[CLUSTERS * FEATURES] = {0}, members[CLUSTERS] = {0};
    uint32_t moved = 0;
    for (uint32_t i = 0; i < count; i++) {
        members[cluster_of[i]]++;
        for (unsigned f = 0; f < FEATURES; f++)
            sums[cluster_of[i] * FEATURES + f] += (int32_t)points[i * FEATURES + f];
        moved += cluster_of[i] != before[i];
        before[i] = cluster_of[i];
    }
    for (unsigned k = 0; k < CLUSTERS * FEATURES; k++) {
        const int32_t all = members[k / FEATURES];
        if (all)
            centres[k] = (float)((sums[k] + all / 2) / all);
    }
    return moved;
}

static void kmeans_features(struct workload *w) {
    const uint32_t count = sizes[w->size].points;
    float *points = WORKLOAD_NEW(w, float, (size_t)count *FEATURES), centres[CLUSTERS * FEATURES];
    uint32_t *cluster_of = WORKLOAD_NEW(w, uint32_t, count), *expected = WORKLOAD_NEW(w, uint32_t, count),
             *before = WORKLOAD_NEW(w, uint32_t, count), moved = count;
    make_points(points, count);
    memcpy(centres, points, sizeof centres); /* the first points */
    cl_mem point_buffer = workload_buffer(w, (size_t)count * FEATURES * sizeof *points, points);
    cl_mem centre_buffer = workload_buffer(w, sizeof centres, NULL);
    cl_mem cluster_buffer = workload_buffer(w, count * sizeof *cluster_of, NULL);
    const size_t global = workload_round_up(count, BLOCK), local = BLOCK;
    for (uint32_t round = 0; round < sizes[w->size].rounds && moved > count / 1000; round++) {
        workload_write(w, centre_buffer, sizeof centres, centres);
        workload_launch(w, "assign", 1, &global, &local, ARGUMENT(point_buffer), ARGUMENT(centre_buffer),
                        ARGUMENT(count), ARGUMENT(cluster_buffer));
        workload_read(w, cluster_buffer, count * sizeof *cluster_of, cluster_of);
        assign_on_host(points, centres, count, expected);
        workload_equal_u32(w, "cluster", cluster_of, expected, count);
        moved = move_centres(centres, points, count, cluster_of, before);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "kmeans_features", NULL, kmeans_features); }
