/* Path tracing: a thread per pixel follows a ray through the scene, from surface to surface in random directions, until it meets
 * a light. What a ray meets first is found in a hierarchy of bounding boxes, with a stack in private memory. */
#define STACK 32
#define BOUNCES 4

struct box {
    float4 low, high; /* high.w: of a leaf, its triangles; low.w: the first of them, or the second child (the first is next) */
};
struct triangle {
    float4 corner, edge1, edge2; /* corner.w: light it gives; edge1.w: share of light it reflects */
};
struct hit {
    float distance;
    int triangle; /* -1: none */
};

uint next_random(uint *state) {
    *state = *state * 747796405u + 2891336453u;
    const uint word = ((*state >> ((*state >> 28) + 4)) ^ *state) * 277803737u;
    return word >> 22 ^ word;
}

float next_unit(uint *state) { return (next_random(state) >> 8) * 0x1p-24f; }

/* In the unit ball, by trying: no two threads try equally often. */
float3 next_in_ball(uint *state) {
    float3 v;
    do {
        v.x = 2.0f * next_unit(state) - 1.0f;
        v.y = 2.0f * next_unit(state) - 1.0f;
        v.z = 2.0f * next_unit(state) - 1.0f;
    } while (dot(v, v) > 1.0f || dot(v, v) < 1e-4f);
    return v;
}

bool meets_box(float3 from, float3 inverse, float4 low, float4 high, float nearest) {
    const float3 a = (low.xyz - from) * inverse, b = (high.xyz - from) * inverse;
    const float3 first = min(a, b), last = max(a, b);
    const float enters = max(max(first.x, first.y), max(first.z, 0.0f));
    const float leaves = min(min(last.x, last.y), min(last.z, nearest));
    return enters <= leaves;
}

/* Moeller, Trumbore 1997. */
void meet_triangle(float3 from, float3 way, global const struct triangle *triangles, int number, struct hit *hit) {
    const float3 edge1 = triangles[number].edge1.xyz, edge2 = triangles[number].edge2.xyz;
    const float3 p = cross(way, edge2);
    const float determinant = dot(edge1, p);
    if (fabs(determinant) < 1e-9f)
        return;
    const float inverse = 1.0f / determinant;
    const float3 s = from - triangles[number].corner.xyz;
    const float u = dot(s, p) * inverse;
    if (u < 0.0f || u > 1.0f)
        return;
    const float3 q = cross(s, edge1);
    const float v = dot(way, q) * inverse;
    if (v < 0.0f || u + v > 1.0f)
        return;
    const float distance = dot(edge2, q) * inverse;
    if (distance > 1e-3f && distance < hit->distance) {
        hit->distance = distance;
        hit->triangle = number;
    }
}

struct hit find_hit(float3 from, float3 way, global const struct box *boxes, global const struct triangle *triangles) {
    struct hit hit = {INFINITY, -1};
    const float3 inverse = 1.0f / way;
    int stack[STACK], height = 0, node = 0;
    while (node >= 0) {
        int count = 0, first = 0;
        while (node >= 0 && count == 0) { /* to the next leaf that it may meet; threads test triangles together then */
            const float4 low = boxes[node].low, high = boxes[node].high;
            const bool meets = meets_box(from, inverse, low, high, hit.distance);
            const int other = (int)low.w;
            if (meets && high.w == 0.0f) {
                stack[height++] = other;
                node++;
            } else {
                count = meets ? (int)high.w : 0;
                first = other;
                node = height ? stack[--height] : -1;
            }
        }
        for (int i = 0; i < count; i++)
            meet_triangle(from, way, triangles, first + i, &hit);
    }
    return hit;
}

kernel void trace(global const struct box *boxes, global const struct triangle *triangles, uint width, uint height,
                  float4 eye, global float *image) {
    const uint x = get_global_id(0), y = get_global_id(1);
    uint state = (y * width + x) * 9781u + 1u;
    float3 from = eye.xyz;
    float3 way = normalize((float3)(((float)x + 0.5f) / (float)width - 0.5f, 0.5f - ((float)y + 0.5f) / (float)height, 0.8f));
    float light = 0.0f, carried = 1.0f;
    for (int bounce = 0; bounce <= BOUNCES; bounce++) {
        const struct hit hit = find_hit(from, way, boxes, triangles);
        if (hit.triangle < 0)
            break;
        global const struct triangle *triangle = &triangles[hit.triangle];
        if (triangle->corner.w > 0.0f) {
            light = carried * triangle->corner.w;
            break;
        }
        carried *= triangle->edge1.w;
        float3 normal = normalize(cross(triangle->edge1.xyz, triangle->edge2.xyz));
        normal = dot(normal, way) > 0.0f ? -normal : normal;
        from += way * hit.distance;
        way = normalize(normal + normalize(next_in_ball(&state)) * 0.999f);
    }
    image[y * width + x] = light;
}
// SPDX-License-Identifier: Apache-2.0
