# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# One kernel under several divergence mechanisms. Its threads take one side or the other of a branch at random, a new one in every
# round: what does it gain when threads need not wait for each other (`tbc`: those of a block are put together anew behind every
# branch; `mimd`: each goes its own way), and what is it about?
# Cells begin with `# %%`: Spyder, VS Code and Jupyter (with jupytext) run them one by one, and python3 runs them all.

# %%
import heddle

SOURCE = """
kernel void sides(global uint *out) {
    uint x = get_global_id(0), left = 0, right = 0;
    for (int i = 0; i < 32; i++) {
        x = x * 1664525 + 1013904223;
        if (x >> 31)
            for (int k = 0; k < 8; k++)
                left = left * 31 + (x >> k);
        else
            for (int k = 0; k < 8; k++)
                right = right * 17 ^ (x << k);
    }
    out[get_global_id(0)] = left ^ right;
}
"""
BLOCKS, THREADS = 16, 256

# %% [markdown]
# A device for each mechanism, on the same machine. Results are dictionaries.

# %%
results = {}
memory = {}
for mechanism in ("pdom", "tbc", "mimd"):
    machine = heddle.Machine("fung-8800", {"divergence.mechanism": mechanism})
    with heddle.Device(machine) as device:
        out = device.buffer(4 * BLOCKS * THREADS, name="out")
        device.source("sides.cl", SOURCE).launch("sides", grid=BLOCKS, block=THREADS, args=[out])
        results[mechanism] = device.result()
        memory[mechanism] = out.array("I")

print("results are", "the same" if all(one == memory["pdom"] for one in memory.values()) else "different")

# %%
base = results["pdom"]["total"]["cycles"]
print(f"{'':6} {'cycles':>9} {'speed-up':>9} {'SIMD efficiency':>16}")
for mechanism, result in results.items():
    total = result["total"]
    print(f"{mechanism:6} {total['cycles']:9,} {base / total['cycles']:9.2f} {total['simd_efficiency']:15.1%}")

# %% [markdown]
# Where it diverges: the lines of the kernel that issue most warp instructions.

# %%
for mechanism in ("pdom", "tbc"):
    total = results[mechanism]["total"]
    print(f"\n{mechanism}: line, share of issues, SIMD efficiency")
    for line in sorted(total["lines"], key=lambda line: -line["warp_instructions"])[:3]:
        share = line["warp_instructions"] / total["warp_instructions"]
        print(f"  {line['line']:2} {share:6.1%} {line['simd_efficiency']:6.1%}  {line['text'].strip()}")
