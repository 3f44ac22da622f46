# SPDX-License-Identifier: Apache-2.0
"""What a store has, and who began what in it."""
import ctypes
import glob
import json
import os
import struct
import sys


class Starts:
    """Keys of the points that processes begin, in order: folders that appear in STORE/tmp/ab."""

    def __init__(self, store):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK)
        for i in range(256):
            os.makedirs(f"{store}/tmp/{i:02x}", exist_ok=True)
            if self.libc.inotify_add_watch(self.fd, f"{store}/tmp/{i:02x}".encode(), 0x100) < 0:
                sys.exit("inotify is not there")

    def take(self):
        keys = []
        while True:
            try:
                events = os.read(self.fd, 1 << 16)
            except BlockingIOError:
                return keys
            while events:
                length = struct.unpack("iIII", events[:16])[3]
                keys.append(events[16:16 + length].rstrip(b"\0").decode().split(".")[0])
                events = events[16 + length:]

    def close(self):
        os.close(self.fd)


def stored(store):
    """Every result: its key, and what would change if it were written again."""
    out = {}
    for path in glob.glob(f"{store}/??/*.json"):
        with open(path, "rb") as file:
            out[os.path.basename(path).removesuffix(".json")] = (os.stat(path).st_ino, file.read())
    return out


def without_host(document):
    root = json.loads(document)
    del root["host"]
    return root


def left_behind(store):
    """Folders of points that nobody is at."""
    return glob.glob(f"{store}/tmp/*/*")
