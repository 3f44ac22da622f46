# SPDX-License-Identifier: Apache-2.0
"""What a read or a write of an image gives, written from OpenCL 1.2 §5.3.1, §8.2 and §8.3, and how far a device may be from it.

Coordinates of the cases are short fractions, so that every texel and weight below is exact in doubles."""
import math
import struct

R, A, RGBA, BGRA, ARGB = 0x10b0, 0x10b1, 0x10b5, 0x10b6, 0x10b7
TYPES = {0x10d0: ("snorm", 1), 0x10d1: ("snorm", 2), 0x10d2: ("unorm", 1), 0x10d3: ("unorm", 2),
         0x10d7: ("signed", 1), 0x10d8: ("signed", 2), 0x10d9: ("signed", 4), 0x10da: ("unsigned", 1),
         0x10db: ("unsigned", 2), 0x10dc: ("unsigned", 4), 0x10dd: ("float", 2), 0x10de: ("float", 4)}
CHANNELS = {R: "r", A: "a", RGBA: "rgba", BGRA: "bgra", ARGB: "argb"}
NONE, EDGE, BORDER, REPEAT, MIRROR = 0x1130, 0x1131, 0x1132, 0x1133, 0x1134  # CL_ADDRESS_*
NEAREST, LINEAR = 0x1140, 0x1141
DIMENSIONS = {"1d": 1, "1db": 1, "1da": 1, "2d": 2, "2da": 2, "3d": 3}
WEIGHT_ERROR = 1 / 512  # of weights with 8 bits of fraction (docs/opencl.md), in each dimension
LETTERS = {1: "b", 2: "h", 4: "i"}


class Image:
    def __init__(self, kind, order, kept, sizes, layers):
        self.kind, self.order, self.type, self.sizes, self.layers = kind, order, kept, sizes, layers
        self.meaning, self.element = TYPES[kept]
        self.channels = CHANNELS[order]
        self.texel = self.element * len(self.channels)
        self.dimensions = DIMENSIONS[kind]
        self.bytes = self.texel * sizes[0] * sizes[1] * sizes[2] * layers

    def is_array(self):
        return self.kind in ("1da", "2da")

    def is_integer(self):
        return self.meaning in ("signed", "unsigned")

    def offset(self, at, layer):
        x, y, z = at
        return (((z + layer) * self.sizes[1] + y) * self.sizes[0] + x) * self.texel

    def border(self):
        return [0, 0, 0, 1 if self.order == R else 0]

    def decode(self, data, at, layer):
        """Red, green, blue, alpha of a texel."""
        start, out = self.offset(at, layer), [0, 0, 0, 0 if self.order == A else 1]
        for i, channel in enumerate(self.channels):
            out["rgba".index(channel)] = self.value(data[start + i * self.element:start + (i + 1) * self.element])
        return out

    def value(self, raw):
        if self.meaning == "float":
            return struct.unpack("<e" if self.element == 2 else "<f", raw)[0]
        letter = LETTERS[self.element]
        word = struct.unpack("<" + (letter.upper() if self.meaning in ("unorm", "unsigned") else letter), raw)[0]
        if self.meaning == "unorm":
            return word / (256 ** self.element - 1)
        if self.meaning == "snorm":
            return max(-1.0, word / (256 ** self.element // 2 - 1))
        return word


class Sampler:
    def __init__(self, is_normalised, addressing, filtering):
        self.is_normalised, self.addressing, self.filter = is_normalised, addressing, filtering


def limited(value, least, most):
    return least if value < least else most if value > most else value


def unfold(s, size, sampler):
    if sampler.addressing == REPEAT:
        return (s - math.floor(s)) * size
    if sampler.addressing == MIRROR:
        return abs(s - 2 * round(0.5 * s)) * size  # round: ties to even, as rint
    return s * size if sampler.is_normalised else s


def settle(texel, size, addressing):
    """None: outside."""
    if addressing == REPEAT:
        return texel + size if texel < 0 else texel - size if texel >= size else texel
    if addressing in (EDGE, MIRROR):
        return limited(texel, 0, size - 1)
    return texel if 0 <= texel < size else None


def along(s, size, sampler):
    """The texels of one dimension with their weights."""
    u = unfold(s, size, sampler)
    if sampler.filter == NEAREST:
        return [(settle(math.floor(u), size, sampler.addressing), 1.0)]
    below = math.floor(u - 0.5)
    part = u - 0.5 - below
    return [(settle(below, size, sampler.addressing), 1 - part), (settle(below + 1, size, sampler.addressing), part)]


def layer_of(image, coordinate):
    return int(limited(round(coordinate[image.dimensions]), 0, image.layers - 1)) if image.is_array() else 0


def taps(image, sampler, coordinate):
    """Texels (None: the border) with their weights, and the layer. Coordinates are numbers; integers name texels."""
    lines = []
    for d in range(image.dimensions):
        if isinstance(coordinate[d], int):
            lines.append([(settle(coordinate[d], image.sizes[d], sampler.addressing if sampler else NONE), 1.0)])
        else:
            lines.append(along(coordinate[d], image.sizes[d], sampler))
    out = [((), 1.0)]
    for line in lines:
        out = [(at + (texel,), weight * w) for at, weight in out for texel, w in line]
    rest = (0,) * (3 - image.dimensions)
    return [(None if None in at else at + rest, weight) for at, weight in out], layer_of(image, coordinate)


def is_finite(image, coordinate):
    count = image.dimensions + image.is_array()
    return all(isinstance(c, int) or math.isfinite(c) for c in coordinate[:count])


class Read:
    """What a read gives: four numbers, and how far from each a device may be."""

    def __init__(self, image, data, sampler, coordinate):
        found, layer = taps(image, sampler, coordinate)
        colours = [(image.border() if at is None else image.decode(data, at, layer), weight) for at, weight in found]
        self.touches_border = any(at is None for at, _ in found)
        self.value = [sum(colour[c] * weight for colour, weight in colours) for c in range(4)]
        self.error = [0.0] * 4
        for c in range(4):
            values = [colour[c] for colour, _ in colours]
            largest = max(abs(v) for v in values)
            if len(values) > 1:
                self.error[c] = image.dimensions * WEIGHT_ERROR * (max(values) - min(values)) + 16 * largest * 2.0 ** -23
            elif image.meaning in ("unorm", "snorm"):
                self.error[c] = 1.5 * largest * 2.0 ** -23  # §8.3.1.1: 1.5 ulp

    def allows(self, channel, value, times=1):
        if not isinstance(value, int) and math.isnan(value):
            return False
        return abs(value - self.value[channel]) <= times * self.error[channel]


def written(image, colour):
    """Of each channel in memory the allowed words: a function of the word's bytes."""
    return [lambda raw, c=colour["rgba".index(channel)]: allows_word(image, c, raw) for channel in image.channels]


def allows_word(image, value, raw):
    kept = image.value(raw)
    if image.is_integer():
        most = 256 ** image.element - 1 if image.meaning == "unsigned" else 256 ** image.element // 2 - 1
        return kept == limited(value, 0 if image.meaning == "unsigned" else -most - 1, most)
    if image.meaning == "float" and image.element == 4:
        return struct.pack("<f", value) == raw
    if image.meaning == "float":
        try:
            return struct.pack("<e", value) == raw  # to nearest; the cases have no halves beyond the largest
        except OverflowError:
            return False
    most = 256 ** image.element - 1 if image.meaning == "unorm" else 256 ** image.element // 2 - 1
    word = struct.unpack("<" + (LETTERS[image.element].upper() if image.meaning == "unorm" else LETTERS[image.element]), raw)[0]
    if image.meaning == "snorm" and value <= -1 and word == -most - 1:
        return True  # what convert_char_sat and convert_short_sat end at; it is -1.0 as its neighbour is
    return abs(word - limited(value, 0 if image.meaning == "unorm" else -1, 1) * most) <= 0.6  # §8.3.1.1
