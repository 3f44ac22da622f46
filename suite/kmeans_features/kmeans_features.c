/* Host side of k-means with many features. Features and centres are whole numbers up to 255, so that every distance is exact in
 * a float and no order of additions matters. The host computes distances as |p|^2 - 2 p c + |c|^2, in integers. */
#include "workload.h"
#include <string.h>

enum { BLOCK = 32, FEATURES = 36, CLUSTERS = 32 };

static const struct {
    uint32_t points, rounds; /* rounds: at most; it ends when few points move */
} sizes[SIZE_COUNT] = {{256, 1}, {16384, 2}, {494020, 40}};

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

static void move_centres(float *centres, const int32_t *sums, const uint32_t *members) {
    for (unsigned k = 0; k < CLUSTERS * FEATURES; k++) {
        const int32_t count = (int32_t)members[k / FEATURES];
        if (count)
            centres[k] = (float)((sums[k] + count / 2) / count);
    }
}

static void check(struct workload *w, const float *points, const float *centres, uint32_t count, const uint32_t *got,
                  const int32_t *sums, const uint32_t *members) {
    uint32_t *cluster_of = WORKLOAD_NEW(w, uint32_t, count), expected_members[CLUSTERS] = {0};
    int32_t expected[CLUSTERS * FEATURES] = {0};
    assign_on_host(points, centres, count, cluster_of);
    for (uint32_t i = 0; i < count; i++) {
        expected_members[cluster_of[i]]++;
        for (unsigned f = 0; f < FEATURES; f++)
            expected[cluster_of[i] * FEATURES + f] += (int32_t)points[i * FEATURES + f];
    }
    workload_equal_u32(w, "cluster", got, cluster_of, count);
    workload_equal_u32(w, "members", members, expected_members, CLUSTERS);
    workload_expect(w, memcmp(sums, expected, sizeof expected) == 0, "sums of the clusters");
}

static void kmeans_features(struct workload *w) {
    const uint32_t count = sizes[w->size].points;
    float *points = WORKLOAD_NEW(w, float, (size_t)count *FEATURES), centres[CLUSTERS * FEATURES];
    uint32_t *cluster_of = WORKLOAD_NEW(w, uint32_t, count), members[CLUSTERS], moved = count;
    int32_t sums[CLUSTERS * FEATURES];
    make_points(points, count);
    memcpy(centres, points, sizeof centres); /* the first points */
    cl_mem point_buffer = workload_buffer(w, (size_t)count * FEATURES * sizeof *points, points);
    cl_mem centre_buffer = workload_buffer(w, sizeof centres, NULL);
    cl_mem cluster_buffer = workload_buffer(w, count * sizeof *cluster_of, NULL);
    cl_mem sum_buffer = workload_buffer(w, sizeof sums, NULL), member_buffer = workload_buffer(w, sizeof members, NULL);
    cl_mem moved_buffer = workload_buffer(w, sizeof moved, NULL);
    const size_t global = workload_round_up(count, BLOCK), local = BLOCK;
    for (uint32_t round = 0; round < sizes[w->size].rounds && moved > count / 1000; round++) {
        memset(sums, 0, sizeof sums);
        memset(members, 0, sizeof members);
        moved = 0;
        workload_write(w, centre_buffer, sizeof centres, centres);
        workload_write(w, sum_buffer, sizeof sums, sums);
        workload_write(w, member_buffer, sizeof members, members);
        workload_write(w, moved_buffer, sizeof moved, &moved);
        workload_launch(w, "assign", 1, &global, &local, ARGUMENT(point_buffer), ARGUMENT(centre_buffer),
                        ARGUMENT(count), ARGUMENT(cluster_buffer), ARGUMENT(moved_buffer));
        workload_launch(w, "add_up", 1, &global, &local, ARGUMENT(point_buffer), ARGUMENT(cluster_buffer),
                        ARGUMENT(count), ARGUMENT(sum_buffer), ARGUMENT(member_buffer));
        workload_read(w, cluster_buffer, count * sizeof *cluster_of, cluster_of);
        workload_read(w, sum_buffer, sizeof sums, sums);
        workload_read(w, member_buffer, sizeof members, members);
        workload_read(w, moved_buffer, sizeof moved, &moved);
        check(w, points, centres, count, cluster_of, sums, members);
        move_centres(centres, sums, members);
    }
}

int main(int argc, char **argv) { return workload_main(argc, argv, "kmeans_features", NULL, kmeans_features); }
