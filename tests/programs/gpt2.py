#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes, from a seed, a small GPT-2 and tokens in the files that llm.c's programs read: docs/cuda.md trains it.

  gpt2.py FOLDER [SEED]

Two layers of 128 channels and four heads, 200 tokens (256 with padding), sequences of 64; tokens for four steps of 4 x 64, and for one batch of
validation. Products of matrices in train_gpt2_fp32.cu have no guards, so channels, padded tokens and a batch are multiples of 128.
"""
import array
import os
import random
import struct
import sys

LAYERS, HEADS, CHANNELS, LONGEST, TOKENS, PADDED = 2, 4, 128, 64, 200, 256
STEPS, BATCH = 4, 4 * 64


def numbers(chance, count, scale, middle=0.0):
    return array.array("f", (middle + chance.gauss(0, scale) for _ in range(count)))


def parameters(chance):
    """Tensors in the order of the file; layers lie side by side in each. Those that add to the residual stream begin smaller."""
    c, layers, residual = CHANNELS, LAYERS, 0.02 / (2 * LAYERS) ** 0.5

    def norm(count):
        return [numbers(chance, count * c, 0.02, 1.0), numbers(chance, count * c, 0.01)]

    def matrix(rows, columns, scale):
        return [numbers(chance, layers * rows * columns, scale), numbers(chance, layers * rows, 0.01)]

    embedding = [numbers(chance, TOKENS * c, 0.02), array.array("f", [0.0] * ((PADDED - TOKENS) * c)), numbers(chance, LONGEST * c, 0.01)]
    attention = norm(layers) + matrix(3 * c, c, 0.02) + matrix(c, c, residual)
    feed_forward = norm(layers) + matrix(4 * c, c, 0.02) + matrix(c, 4 * c, residual)
    return embedding + attention + feed_forward + norm(1)


def put(path, header, arrays):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(struct.pack("<256i", *header, *[0] * (256 - len(header))))
        for values in arrays:
            values.tofile(f)


def walk(chance, count):
    """Tokens with something to learn: four of five follow from the one before."""
    at, values = 0, array.array("H")
    for _ in range(count):
        at = (at * 7 + 3) % TOKENS if chance.random() < 0.8 else chance.randrange(TOKENS)
        values.append(at)
    return values


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    folder, chance = sys.argv[1], random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    tensors = parameters(chance)
    put(f"{folder}/gpt2_124M.bin", [20240326, 3, LONGEST, TOKENS, LAYERS, HEADS, CHANNELS, PADDED], tensors)
    for name, count in (("train", STEPS * BATCH + 1), ("val", BATCH + 1)):
        put(f"{folder}/dev/data/tinyshakespeare/tiny_shakespeare_{name}.bin", [20240520, 1, count], [walk(chance, count)])
    print(sum(len(t) for t in tensors), "parameters")


main()
