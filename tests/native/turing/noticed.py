# SPDX-License-Identifier: Apache-2.0
"""Whether a test would notice that a row of turing.def did nothing: the instructions of one row, in code that ran right, get a guard that never
holds, and the values must then differ from those that are expected."""
import collections
import struct

import drive
import rows

TRIES, TRIES_SILENT = 6, 4  # runs at most in which a row is left out; of rows that change no value
LIMIT = "functional.max_instructions=1000000"  # code without its branches may never end
LAUNCHED = 2  # stage of a result: a file that is refused shows nothing


class Run:
    """Code that ran right: `case(code, dropped)` makes the case of other code, in which the instructions at these addresses were dropped;
    `differs(result)` says whether its values are not those that are expected."""

    def __init__(self, sm, code, addresses, case, differs):
        self.sm, self.code, self.case, self.differs = sm, code, case, differs
        self.at = collections.defaultdict(list)  # row: addresses
        for address in addresses:
            for name, _ in rows.executed_in(code, [address], sm):
                if address not in self.at[name]:
                    self.at[name].append(address)

    def without(self, name):
        code = bytearray(self.code)
        for address in self.at[name]:
            struct.pack_into("<H", code, address, struct.unpack_from("<H", code, address)[0] | 0xF000)  # @!PT
        return self.case(bytes(code), self.at[name])


def notice(driver, runs, folder, settings=(), tries=TRIES):
    """(row, architecture) of what was noticed to be missing, one of architectures with the same words; short runs are tried first."""
    candidates = collections.defaultdict(list)
    for run in sorted(runs, key=lambda run: len(run.code)):
        for name in run.at:
            candidates[name, rows.GENERATION[run.sm]].append(run)
    left = {key: mine[:TRIES_SILENT if key[0] in rows.SILENT else tries] for key, mine in sorted(candidates.items())}
    found = set()
    for turn in range(tries):
        tried = [(key, mine[turn]) for key, mine in left.items() if turn < len(mine)]
        results = drive.run(driver, [run.without(name) for (name, _), run in tried], folder, (LIMIT, *settings)) if tried else []
        for (key, run), result in zip(tried, results):
            if result.stage >= LAUNCHED and run.differs(result):
                found.add((key[0], run.sm))
                del left[key]
    return found
