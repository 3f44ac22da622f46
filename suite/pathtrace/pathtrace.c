/* SPDX-License-Identifier: Apache-2.0 */
/* Host side of path tracing: a conference room, its hierarchy of boxes, and some of the pixels again, each ray against every
 * triangle. */
#include "workload.h"
#include <math.h>
#include <stdlib.h>

enum { BLOCK_X = 8, BLOCK_Y = 4, LEAF = 4, BOUNCES = 4 };

static const struct {
    uint32_t width, height, chairs, pieces; /* pieces: an edge of a face is cut into */
    uint32_t checked;                       /* every so many pixels */
} sizes[SIZE_COUNT] = {{16, 4, 2, 1, 1}, {64, 64, 24, 4, 31}, {1024, 1024, 120, 11, 2111}};

struct box {
    cl_float4 low, high;
};
struct triangle {
    cl_float4 corner, edge1, edge2;
};

struct scene {
    struct triangle *triangles;
    struct box *boxes;
    uint32_t count, box_count;
};

struct vector {
    float x, y, z;
};

static struct vector vector(float x, float y, float z) { return (struct vector){x, y, z}; }
static struct vector add(struct vector a, struct vector b, float t) {
    return vector(a.x + b.x * t, a.y + b.y * t, a.z + b.z * t);
}
static struct vector of(const cl_float4 *v) { return vector(v->s[0], v->s[1], v->s[2]); }
static float dot(struct vector a, struct vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static struct vector cross(struct vector a, struct vector b) {
    return vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static struct vector normal(struct vector a) { return add(vector(0, 0, 0), a, 1 / sqrtf(dot(a, a))); }

/* ---- the scene ---- */

static void add_triangle(struct scene *s, struct vector a, struct vector b, struct vector c, float light,
                         float albedo) {
    s->triangles[s->count++] = (struct triangle){.corner = {{a.x, a.y, a.z, light}},
                                                 .edge1 = {{b.x - a.x, b.y - a.y, b.z - a.z, albedo}},
                                                 .edge2 = {{c.x - a.x, c.y - a.y, c.z - a.z, 0}}};
}

static void add_face(struct scene *s, struct vector corner, struct vector u, struct vector v, uint32_t pieces,
                     float light, float albedo) {
    const float step = 1 / (float)pieces;
    for (uint32_t i = 0; i < pieces; i++)
        for (uint32_t j = 0; j < pieces; j++) {
            const struct vector a = add(add(corner, u, (float)i * step), v, (float)j * step);
            const struct vector b = add(a, u, step), c = add(a, v, step), d = add(b, v, step);
            add_triangle(s, a, b, c, light, albedo);
            add_triangle(s, d, c, b, light, albedo);
        }
}

static void add_block(struct scene *s, struct vector low, struct vector size, uint32_t pieces, float albedo) {
    const struct vector x = vector(size.x, 0, 0), y = vector(0, size.y, 0), z = vector(0, 0, size.z);
    add_face(s, low, x, y, pieces, 0, albedo);
    add_face(s, add(low, z, 1), x, y, pieces, 0, albedo);
    add_face(s, low, x, z, pieces, 0, albedo);
    add_face(s, add(low, y, 1), x, z, pieces, 0, albedo);
    add_face(s, low, y, z, pieces, 0, albedo);
    add_face(s, add(low, x, 1), y, z, pieces, 0, albedo);
}

/* Walls, a long table, chairs in rows along it, a row of lamps in the ceiling. */
static void furnish(struct workload *w, struct scene *s) {
    const uint32_t pieces = sizes[w->size].pieces, chairs = sizes[w->size].chairs, faces = 6 * (chairs * 6 + 2) + 8;
    s->triangles = WORKLOAD_NEW(w, struct triangle, (size_t)faces * 2 * pieces * pieces);
    add_block(s, vector(-6, -2, -2), vector(12, 5, 16), pieces, 0.75f);
    add_block(s, vector(-1.5f, -1, 3), vector(3, 0.2f, 8), pieces, 0.5f);
    for (uint32_t lamp = 0; lamp < 8; lamp++)
        add_face(s, vector(-3 + 4 * (float)(lamp % 2), 2.98f, (float)(lamp / 2) * 3), vector(2, 0, 0),
                 vector(0, 0, 1.5f), pieces, 4, 0);
    struct random r = {31};
    for (uint32_t chair = 0; chair < chairs; chair++) {
        const float x = chair % 2 ? 2.0f : -3.0f, z = 2 + 9 * (float)(chair / 2) / (float)((chairs + 1) / 2);
        const struct vector at = vector(x + random_unit(&r), -2, z + 0.2f * random_unit(&r));
        add_block(s, add(at, vector(0, 0.9f, 0), 1), vector(0.5f, 0.08f, 0.5f), pieces, 0.6f);
        add_block(s, add(at, vector(x > 0 ? 0.45f : 0, 0.98f, 0), 1), vector(0.05f, 0.8f, 0.5f), pieces, 0.6f);
        for (uint32_t leg = 0; leg < 4; leg++)
            add_block(s, add(at, vector(leg % 2 ? 0.43f : 0, 0, leg / 2 ? 0.43f : 0), 1), vector(0.07f, 0.9f, 0.07f),
                      pieces, 0.4f);
    }
}

/* ---- its boxes ---- */

static float middle(const struct triangle *t, unsigned axis) {
    return t->corner.s[axis] + (t->edge1.s[axis] + t->edge2.s[axis]) / 3;
}

#define COMPARE(name, axis)                                                                                            \
    static int name(const void *a, const void *b) {                                                                    \
        const float x = middle(a, axis), y = middle(b, axis);                                                          \
        return x < y ? -1 : x > y;                                                                                     \
    }
COMPARE(by_x, 0)
COMPARE(by_y, 1)
COMPARE(by_z, 2)

static void grow(struct box *box, const struct triangle *t) {
    for (unsigned axis = 0; axis < 3; axis++)
        for (unsigned corner = 0; corner < 3; corner++) {
            const float at = t->corner.s[axis] + (corner == 1 ? t->edge1.s[axis] : corner == 2 ? t->edge2.s[axis] : 0);
            box->low.s[axis] = fminf(box->low.s[axis], at);
            box->high.s[axis] = fmaxf(box->high.s[axis], at);
        }
}

/* Half of the triangles on either side of the longest edge. */
static void split(struct scene *s, uint32_t from, uint32_t to) {
    struct box *box = &s->boxes[s->box_count++];
    *box = (struct box){{{INFINITY, INFINITY, INFINITY, (float)from}}, {{-INFINITY, -INFINITY, -INFINITY, 0}}};
    for (uint32_t i = from; i < to; i++)
        grow(box, &s->triangles[i]);
    for (unsigned axis = 0; axis < 3; axis++) { /* rounding must not leave a triangle outside */
        box->low.s[axis] -= 1e-4f;
        box->high.s[axis] += 1e-4f;
    }
    if (to - from <= LEAF) {
        box->high.s[3] = (float)(to - from);
        return;
    }
    const float x = box->high.s[0] - box->low.s[0], y = box->high.s[1] - box->low.s[1],
                z = box->high.s[2] - box->low.s[2];
    const uint32_t half = from + (to - from) / 2;
    qsort(s->triangles + from, to - from, sizeof *s->triangles, x > y && x > z ? by_x : y > z ? by_y : by_z);
    split(s, from, half);
    box->low.s[3] = (float)s->box_count;
    split(s, half, to);
}

/* ---- some pixels again ---- */

static uint32_t next_random(uint32_t *state) {
    *state = *state * 747796405u + 2891336453u;
    const uint32_t word = ((*state >> ((*state >> 28) + 4)) ^ *state) * 277803737u;
    return word >> 22 ^ word;
}

static struct vector next_in_ball(uint32_t *state) {
    for (;;) {
        float v[3];
        for (unsigned i = 0; i < 3; i++)
            v[i] = 2 * ((float)(next_random(state) >> 8) * 0x1p-24f) - 1;
        const struct vector at = vector(v[0], v[1], v[2]);
        if (dot(at, at) <= 1 && dot(at, at) >= 1e-4f)
            return at;
    }
}

/* The plane first, then on which side of each edge: not as the kernel does it. */
static bool meets(struct vector from, struct vector way, const struct triangle *t, float *distance) {
    const struct vector a = of(&t->corner), e1 = of(&t->edge1), e2 = of(&t->edge2), n = cross(e1, e2);
    const float slope = dot(n, way);
    if (fabsf(slope) < 1e-9f)
        return false;
    *distance = (dot(n, a) - dot(n, from)) / slope;
    const struct vector p = add(add(from, way, *distance), a, -1);
    const float u = dot(cross(p, e2), n), v = dot(cross(e1, p), n);
    return *distance > 1e-3f && u >= 0 && v >= 0 && u + v <= dot(n, n);
}

static float trace(const struct scene *s, uint32_t width, uint32_t height, struct vector eye, uint32_t x, uint32_t y) {
    uint32_t state = (y * width + x) * 9781u + 1u;
    struct vector from = eye;
    struct vector way =
        normal(vector(((float)x + 0.5f) / (float)width - 0.5f, 0.5f - ((float)y + 0.5f) / (float)height, 0.8f));
    float carried = 1;
    for (int bounce = 0; bounce <= BOUNCES; bounce++) {
        const struct triangle *hit = NULL;
        float nearest = INFINITY, distance = 0;
        for (uint32_t i = 0; i < s->count; i++)
            if (meets(from, way, &s->triangles[i], &distance) && distance < nearest)
                nearest = distance, hit = &s->triangles[i];
        if (!hit)
            return 0;
        if (hit->corner.s[3] > 0)
            return carried * hit->corner.s[3];
        carried *= hit->edge1.s[3];
        struct vector n = normal(cross(of(&hit->edge1), of(&hit->edge2)));
        n = dot(n, way) > 0 ? add(vector(0, 0, 0), n, -1) : n;
        from = add(from, way, nearest);
        way = normal(add(n, normal(next_in_ball(&state)), 0.999f));
    }
    return 0;
}

/* A ray that passes an edge within rounding may go another way, and its pixel is another: few are. */
static void check(struct workload *w, const struct scene *s, struct vector eye, const float *image) {
    const uint32_t width = sizes[w->size].width, pixels = width * sizes[w->size].height;
    uint32_t checked = 0, off = 0;
    double sum = 0, expected_sum = 0;
    for (uint32_t i = 0; i < pixels; i += sizes[w->size].checked, checked++) {
        const float expected = trace(s, width, sizes[w->size].height, eye, i % width, i / width);
        off += !(fabsf(image[i] - expected) <= 1e-4f);
        sum += (double)image[i], expected_sum += (double)expected;
    }
    workload_expect(w, off * 50 <= checked, "at least 98 % of the pixels are those of a search of all triangles");
    workload_expect(w, expected_sum > 0 && fabs(sum - expected_sum) <= 0.05 * expected_sum, "the image is as bright");
}

static void pathtrace(struct workload *w) {
    const uint32_t width = sizes[w->size].width, height = sizes[w->size].height;
    const cl_float4 eye = {{0.3f, 0.4f, -1.5f, 0}};
    struct scene s = {0};
    float *image = WORKLOAD_NEW(w, float, (size_t)width *height);
    furnish(w, &s);
    s.boxes = WORKLOAD_NEW(w, struct box, 2 * (size_t)s.count);
    split(&s, 0, s.count);
    cl_mem boxes = workload_buffer(w, s.box_count * sizeof *s.boxes, s.boxes);
    cl_mem triangles = workload_buffer(w, s.count * sizeof *s.triangles, s.triangles);
    cl_mem out = workload_buffer(w, (size_t)width * height * sizeof *image, NULL);
    workload_launch(w, "trace", 2, ((size_t[]){width, height}), ((size_t[]){BLOCK_X, BLOCK_Y}), ARGUMENT(boxes),
                    ARGUMENT(triangles), ARGUMENT(width), ARGUMENT(height), ARGUMENT(eye), ARGUMENT(out));
    workload_read(w, out, (size_t)width * height * sizeof *image, image);
    check(w, &s, of(&eye), image);
}

int main(int argc, char **argv) { return workload_main(argc, argv, "pathtrace", NULL, pathtrace); }
