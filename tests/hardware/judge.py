# SPDX-License-Identifier: Apache-2.0
"""Errors against a card: of points, and over many of them."""
import math
import statistics

BYTES_A_CYCLE = 768  # of a Quadro GV100: 870 GB/s at 1132 MHz; decides classes only
SMS = 80


def error(mine, card):
    """Signed, relative to the card; None where the card has nothing to compare with"""
    return (mine - card) / card if card else None


def class_of(point):
    """What bounds the kernel, by the card's counters; where there are none, how long it takes"""
    counters, cycles = point["counters"], point["cycles"]
    if not counters:
        return "under 5,000 cycles" if cycles < 5000 else "5,000 to 100,000 cycles" if cycles < 100000 else "above 100,000 cycles"
    if (counters["dram_reads"] + counters["dram_writes"]) * 32 / cycles >= 0.4 * BYTES_A_CYCLE:
        return "DRAM"
    if counters["shared"] / cycles / SMS >= 0.3:
        return "shared memory"
    return "arithmetic" if point["duty"] >= 0.5 else "latency"


def percentile(values, share):
    """The smallest value that at least this share of them do not exceed"""
    values = sorted(values)
    return values[max(0, math.ceil(share * len(values)) - 1)]


def correlation(mine, card):
    """Pearson's, of cycles; None for fewer than three points or where one side does not vary"""
    if len(mine) < 3 or len(set(mine)) == 1 or len(set(card)) == 1:
        return None
    return statistics.correlation(mine, card)


def totals(pairs):
    """Of (Heddle's, the card's) cycles: what the field prints"""
    errors = [error(mine, card) for mine, card in pairs]
    sizes = [abs(value) for value in errors]
    return {"points": len(pairs), "mean": statistics.fmean(sizes), "median": statistics.median(sizes), "signed": statistics.fmean(errors),
            "ninth": percentile(sizes, 0.9), "correlation": correlation([mine for mine, _ in pairs], [card for _, card in pairs])}


def groups(points, key):
    """Points by a function of them, in the order in which they first come"""
    found = {}
    for point in points:
        found.setdefault(key(point), []).append(point)
    return found
