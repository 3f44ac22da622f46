/* Neighbour lists for molecular dynamics: a thread per particle looks at the particles of its own and the 26 bins around it, and
 * writes down those that are near. Bins and lists are interleaved: entry k of all comes before entry k + 1 of any. */
kernel void build_lists(global const float4 *positions, global const uint *bin_counts, global const uint *bins,
                        uint count, uint pitch, int bins_per_edge, float bin_edge, float edge, float cutoff_squared,
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
                const uint bin = (z * bins_per_edge + y) * bins_per_edge + x, entries = bin_counts[bin];
#pragma unroll 1
                for (uint k = 0; k < entries; k++) {
                    const uint other = bins[k * bin_total + bin];
                    float3 way = positions[other].xyz - here.xyz;
                    way -= edge * rint(way * (1.0f / edge));
                    if (dot(way, way) < cutoff_squared && other != me)
                        lists[found++ * pitch + me] = other;
                }
            }
    list_counts[me] = found;
}
