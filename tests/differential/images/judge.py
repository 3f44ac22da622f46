# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a case: each device's results beside those of the specification (model.py)."""
import math
import struct

import model

# What PoCL 3.1 does otherwise than OpenCL 1.2 says (docs/differential.md). Each says of which channels of a read that is so; a difference is
# one of these only where Heddle gives what the specification says.
FAULTS = {}


def fault(name):
    def add(function):
        FAULTS[name] = function
        return function
    return add


@fault("alpha")
def _(site, coordinate, read):
    """Alpha of CL_R is 0 where integers are read, and at the border."""
    return (3,) if site.image.order == model.R and (site.image.is_integer() or read.touches_border) else ()


@fault("half")
def _(site, coordinate, read):
    """Halves of images of one channel are neither read nor written."""
    return (0, 1, 2, 3) if is_single_half(site.image) else ()


@fault("layer")
def _(site, coordinate, read):
    """The layer is multiplied by the number of layers where coordinates are normalised."""
    is_so = site.image.is_array() and site.sampler and site.sampler.is_normalised
    return (0, 1, 2, 3) if is_so else ()


@fault("half-layer")
def _(site, coordinate, read):
    """A layer between two is the upper one, not the even one."""
    layer = coordinate[site.image.dimensions]
    return (0, 1, 2, 3) if site.image.is_array() and site.is_float and layer % 1 == 0.5 else ()


def is_single_half(image):
    return image.meaning == "float" and image.element == 2 and image.order in (model.R, model.A)


class Results:
    """The file that a device left."""

    def __init__(self, case, base, tag):
        with open(f"{base}.{tag}.out", "rb") as file:
            data = file.read()
        self.images, start = [], 0
        for image in case.images:
            self.images.append(data[start:start + image.bytes])
            start += image.bytes
        inputs = 16 * case.threads * len(case.sites)
        self.inputs = data[start:start + 3 * inputs]
        self.out = data[start + 3 * inputs:]

    def slot(self, case, thread, slot):
        start = (thread * case.slots + slot) * 48
        return (struct.unpack_from("<I", self.out, start)[0], self.out[start + 16:start + 32], self.out[start + 32:start + 48])


def numbers(words, is_float, is_signed=True):
    return list(struct.unpack("<4f" if is_float else "<4i" if is_signed else "<4I", words))


def same_coordinates(a, b, is_float):
    return a == b or (is_float and all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(numbers(a, True), numbers(b, True))))


class Judge:
    def __init__(self, case, base):
        self.case = case
        self.devices = {tag: Results(case, base, tag) for tag in ("opencl", "pocl")}
        self.problems, self.excused, self.values, self.open = [], {}, 0, 0

    def say(self, text):
        self.problems.append(text)

    def excuse(self, name):
        self.excused[name] = self.excused.get(name, 0) + 1

    def contents(self, device, site):
        case, n = self.case, self.case.images.index(site.image)
        return device.images[n] if site.number >= case.first_sites else case.contents[n]

    def read(self, site, where, kept):
        coordinate = numbers(kept["opencl"][1], site.is_float)
        if not model.is_finite(site.image, coordinate):
            self.open += 1
            return
        right, read = {}, {}
        for tag, device in self.devices.items():
            values = numbers(kept[tag][2], not site.image.is_integer(), site.image.meaning == "signed")
            read[tag] = model.Read(site.image, self.contents(device, site), site.sampler, coordinate)
            right[tag] = [read[tag].allows(c, values[c]) for c in range(4)]
        self.values += 4
        for c in range(4):
            if not right["opencl"][c]:
                self.describe(site, where, coordinate, kept, c, "Heddle", read["opencl"])
            elif not right["pocl"][c]:
                names = [name for name, of in FAULTS.items() if c in of(site, coordinate, read["pocl"])]
                if names:
                    self.excuse(names[0])
                else:
                    self.describe(site, where, coordinate, kept, c, "PoCL", read["pocl"])

    def describe(self, site, where, coordinate, kept, c, who, read):
        image, sampler = site.image, site.sampler
        got = [numbers(kept[tag][2], not image.is_integer(), image.meaning == "signed")[c] for tag in self.devices]
        how = f"sampler {int(sampler.is_normalised)} {sampler.addressing:#x} {sampler.filter:#x}" if sampler else "no sampler"
        self.say(f"{who} is outside: {where} site {site.number}, {image.kind} {image.order:#x} {image.type:#x} {image.sizes} x {image.layers}, {how}, "
                 f"at {coordinate}, channel {c}: Heddle {got[0]!r}, PoCL {got[1]!r}, specification {read.value[c]!r} within {read.error[c]:g}")

    def query(self, site, where, kept):
        image = site.image
        deep = image.layers if image.is_array() else image.sizes[2]
        height = image.sizes[1]
        expected = struct.pack("<4I", image.sizes[0], height, deep, image.order << 16 | image.type)
        dim = struct.pack("<4I", image.sizes[0], height if image.dimensions > 1 else 0, 0, 0)
        self.values += 6
        for tag in self.devices:
            if kept[tag][2] != expected or kept[tag][1] != dim:
                self.say(f"{tag}: {where} query {site.number} of {image.kind}: {kept[tag][2].hex()} {kept[tag][1].hex()}")

    def slots(self):
        case = self.case
        for thread in range(case.threads):
            for site in case.sites:
                for slot in range(site.slot, site.slot + site.trips):
                    kept = {tag: device.slot(case, thread, slot) for tag, device in self.devices.items()}
                    where = f"thread {thread} slot {slot}"
                    if kept["opencl"][0] != kept["pocl"][0] or not same_coordinates(kept["opencl"][1], kept["pocl"][1], site.is_float):
                        self.say(f"{where} site {site.number}: another place, {[k[:2] for k in kept.values()]}")
                    elif kept["opencl"][0] and site.kind == "read":
                        self.read(site, where, kept)
                    elif kept["opencl"][0] and site.kind == "query":
                        self.query(site, where, kept)

    def writes(self, site):
        """Every texel of the image, written or not."""
        case, image, number = self.case, site.image, self.case.images.index(site.image)
        for tag, device in self.devices.items():
            expected = {}
            for thread in range(case.threads):
                mark, place, colour = device.slot(case, thread, site.slot)
                if mark:
                    at = numbers(place, False)
                    layer = at[image.dimensions] if image.is_array() else 0
                    at = at[:image.dimensions] + [0] * (3 - image.dimensions)
                    expected[image.offset(at, layer)] = numbers(colour, not image.is_integer(), image.meaning == "signed")
            if len(expected) != site.total:
                self.say(f"{tag}: {len(expected)} of {site.total} texels of image {number} are written")
            for start, colour in expected.items():
                for i, allows in enumerate(model.written(image, colour)):
                    raw = device.images[number][start + i * image.element:start + (i + 1) * image.element]
                    self.values += tag == "opencl"
                    if allows(raw):
                        continue
                    if tag == "pocl" and is_single_half(image):
                        self.excuse("half")
                    else:
                        self.say(f"{tag}: image {number}, {image.kind} {image.order:#x} {image.type:#x}, byte {start}, channel {i}: "
                                 f"{raw.hex()} of {colour}")

    def all(self):
        case = self.case
        for tag, device in self.devices.items():
            if device.inputs != b"".join(case.kept_inputs) or device.images[:case.read_count] != case.contents[:case.read_count]:
                self.say(f"{tag}: what the kernels only read is changed")
        self.slots()
        for site in case.sites:
            if site.kind == "write":
                self.writes(site)
        return self
