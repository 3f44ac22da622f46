/* Neighbour lists for molecular dynamics: a thread per particle looks at the particles of its own and the 26 bins around it,
 * and writes down those that are near. Bins and lists are interleaved: entry k of all comes before entry k + 1 of any. An
 * entry of a bin is a position and the particle's number; all bins have as many slots as the fullest has particles. */
#define NO_PARTICLE 0xffffffffu

kernel void build_lists(global const float4 *positions, global const float4 *bins, uint slots, uint count,
                        uint pitch, int bins_per_edge, float bin_edge, float edge, float cutoff_squared,
                        global uint *list_counts, global uint *lists) {
    const uint me = get_global_id(0);
    if (me >= count)
        return;
    const float4 here = positions[me];
    const int3 at = min(convert_int3(here.xyz / bin_edge), bins_per_edge - 1);
    const uint bin_total = bins_per_edge * bins_per_edge * bins_per_edge;
    uint found = 0;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const int x = (at.x + dx + bins_per_edge) % bins_per_edge;
                const int y = (at.y + dy + bins_per_edge) % bins_per_edge;
                const int z = (at.z + dz + bins_per_edge) % bins_per_edge;
                const uint bin = (z * bins_per_edge + y) * bins_per_edge + x;
#pragma unroll 1
                for (uint k = 0; k < slots; k++) {
                    const float4 entry = bins[k * bin_total + bin];
                    const uint other = as_uint(entry.w);
                    if (other == NO_PARTICLE)
                        continue;
                    float3 way = entry.xyz - here.xyz;
                    way -= edge * rint(way * (1.0f / edge));
                    if (dot(way, way) < cutoff_squared && other != me)
                        lists[found++ * pitch + me] = other;
                }
            }
    list_counts[me] = found;
}
// SPDX-License-Identifier: Apache-2.0
