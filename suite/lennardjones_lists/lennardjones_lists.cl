/* Lennard-Jones forces from neighbour lists: a thread per particle adds up what its neighbours within the cutoff exert on it.
 * Each particle has its list, behind that of the one before; first: where it begins, and behind all where the last ends. */
kernel void forces(global const float4 *positions, global const uint *first, global const uint *lists, uint count,
                   uint pitch, float edge, float cutoff_squared, global float4 *result) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    const float4 here = positions[me];
    const uint end = first[me + 1];
    float3 force = 0.0f;
    float energy = 0.0f;
#pragma unroll 1
    for (uint k = first[me]; k < end; k++) {
        float3 way = here.xyz - positions[lists[k]].xyz;
        way -= edge * rint(way * (1.0f / edge));
        const float squared = dot(way, way);
        if (squared < cutoff_squared) {
            const float inverse = 1.0f / squared, sixth = inverse * inverse * inverse;
            force += way * (inverse * sixth * (48.0f * sixth - 24.0f));
            energy += 4.0f * sixth * (sixth - 1.0f);
        }
    }
    result[me] = (float4)(force, energy);
}
// SPDX-License-Identifier: Apache-2.0
