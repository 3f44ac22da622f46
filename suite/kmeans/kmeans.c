/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of k-means: grey levels of a picture, as a mixture of peaks. The host has no points but how many there are of each
 * of 256 levels, and moves these. */
#include "workload.h"

enum { BLOCK = 256, CLUSTERS = 32, LEVELS = 256, PEAKS = 11, ROUNDS = 100 };

/* Around each peak the sum of three uniform numbers; an eighth of the points is anywhere. */
static uint8_t *make_points(struct workload *w, uint32_t count) {
    uint8_t *points = WORKLOAD_NEW(w, uint8_t, count);
    struct random r = {3};
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t peak = random_below(&r, PEAKS), width = 6 + 5 * (peak % 3);
        uint32_t level = 8 + peak * 21;
        for (uint32_t n = 0; n < 3; n++)
            level += random_below(&r, width);
        points[i] = (uint8_t)(random_below(&r, 8) ? (level < LEVELS ? level : LEVELS - 1) : random_below(&r, LEVELS));
    }
    return points;
}

/* Levels of points drawn at random, ascending, each once. */
static void start_centres(const uint8_t *points, uint32_t count, uint32_t *centres) {
    bool taken[LEVELS] = {false};
    struct random r = {12};
    for (uint32_t drawn = 0; drawn < CLUSTERS;) {
        const uint8_t level = points[random_below(&r, count)];
        drawn += !taken[level];
        taken[level] = true;
    }
    for (uint32_t level = 0, i = 0; level < LEVELS; level++)
        if (taken[level])
            centres[i++] = level * 256;
}

static uint32_t find_nearest(const uint32_t *centres, uint32_t level) {
    uint32_t nearest = 0;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        const int64_t off = (int64_t)level * 256 - centres[i];
        if (off * off < least) {
            least = off * off;
            nearest = i;
        }
    }
    return nearest;
}

/* Rounds that were needed; cluster: of every level. */
static uint32_t cluster_levels(const uint32_t *points_of, uint32_t enough, uint32_t rounds, uint32_t *centres,
                               uint32_t *cluster) {
    uint32_t round = 0;
    for (uint32_t changed = enough; round < rounds && changed >= enough; round++) {
        uint64_t sums[CLUSTERS] = {0}, sizes[CLUSTERS] = {0};
        changed = 0;
        for (uint32_t level = 0; level < LEVELS; level++) {
            const uint32_t nearest = find_nearest(centres, level);
            changed += cluster[level] != nearest ? points_of[level] : 0;
            cluster[level] = nearest;
            sums[nearest] += (uint64_t)points_of[level] * level * 256;
            sizes[nearest] += points_of[level];
        }
        for (uint32_t i = 0; i < CLUSTERS; i++)
            if (sizes[i])
                centres[i] = (uint32_t)((sums[i] + sizes[i] / 2) / sizes[i]);
    }
    return round;
}

/* On the device; rounds that were needed. */
static uint32_t cluster_points(struct workload *w, cl_mem points, cl_mem members, uint32_t count, cl_mem centres,
                               uint32_t enough, uint32_t rounds) {
    const size_t threads = w->size == SIZE_TEST ? 2 * BLOCK : 4 * BLOCK;
    const size_t block = workload_warp_block(w, "kmeans_assign", BLOCK, threads);
    cl_mem sums = workload_buffer(w, CLUSTERS * sizeof(uint32_t), NULL);
    cl_mem sizes = workload_buffer(w, CLUSTERS * sizeof(uint32_t), NULL);
    cl_mem moved = workload_buffer(w, sizeof(uint32_t), NULL);
    uint32_t round = 0;
    for (uint32_t changed = enough; round < rounds && changed >= enough; round++) {
        changed = 0;
        workload_write(w, moved, sizeof changed, &changed);
        workload_launch(w, "kmeans_assign", 1, &threads, &block, ARGUMENT(points), ARGUMENT(members), ARGUMENT(count),
                        ARGUMENT(centres), ARGUMENT(sums), ARGUMENT(sizes), ARGUMENT(moved));
        workload_launch(w, "kmeans_centres", 1, (size_t[]){CLUSTERS}, (size_t[]){CLUSTERS}, ARGUMENT(centres),
                        ARGUMENT(sums), ARGUMENT(sizes));
        workload_read(w, moved, sizeof changed, &changed);
    }
    return round;
}

static void kmeans(struct workload *w) {
    const uint32_t count = (uint32_t[]){2048, 16384, 16384}[w->size], rounds = w->size == SIZE_TEST ? 4 : ROUNDS;
    const uint32_t enough = count / 1000;
    const uint8_t *points = make_points(w, count);
    uint8_t *membership = WORKLOAD_NEW(w, uint8_t, count);
    uint32_t *got = WORKLOAD_NEW(w, uint32_t, count), *expected = WORKLOAD_NEW(w, uint32_t, count);
    uint32_t centres[CLUSTERS], expected_centres[CLUSTERS], points_of[LEVELS] = {0}, cluster[LEVELS];
    for (uint32_t i = 0; i < count; i++) {
        points_of[points[i]]++;
        membership[i] = CLUSTERS;
    }
    for (uint32_t i = 0; i < LEVELS; i++)
        cluster[i] = CLUSTERS;
    start_centres(points, count, centres);
    start_centres(points, count, expected_centres);
    cl_mem from = workload_buffer(w, count, points), members = workload_buffer(w, count, membership);
    cl_mem at = workload_buffer(w, sizeof centres, centres);
    const uint32_t needed = cluster_points(w, from, members, count, at, enough, rounds);
    workload_read(w, members, count, membership);
    workload_read(w, at, sizeof centres, centres);
    const uint32_t expected_rounds = cluster_levels(points_of, enough, rounds, expected_centres, cluster);
    for (uint32_t i = 0; i < count; i++) {
        got[i] = membership[i];
        expected[i] = cluster[points[i]];
    }
    workload_equal_u32(w, "rounds", &needed, &expected_rounds, 1);
    workload_equal_u32(w, "centre", centres, expected_centres, CLUSTERS);
    workload_equal_u32(w, "cluster", got, expected, count);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "kmeans", NULL, kmeans); }
