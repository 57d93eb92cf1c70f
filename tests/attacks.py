"""Small files that were made to fill the memory, and what reading one takes, measured in a process of its own."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

READERS = {
    "graph": "cp.read_graph",
    "cloud": "cp.read_cloud",
    "poses": "cp.io.poses.read_poses",
    "log": "cp.io.poses.read_log",
    "g2o": "cp.io.pose_graphs.read_g2o",
    "pairs": "cp.pairs.lists.read_pairs",
}


def gzip_bomb(piece: bytes, size: int, before: bytes = b"") -> bytes:
    """Return what unpacks to something, and then a piece again and again, ``size`` bytes or so."""
    packer = zlib.compressobj(9, wbits=31)
    many = piece * (2**20 // len(piece))
    parts = [packer.compress(before)] + [packer.compress(many) for _ in range(size // len(many))]
    return b"".join([*parts, packer.flush()])


def empty_members(size: int) -> bytes:
    """Return so many bytes of gzip that hold nothing, and one line of a graph at the end."""
    member = gzip.compress(b"", mtime=0)
    return member * (size // len(member)) + gzip.compress(b"p edge 1 0\n", mtime=0)


def npy_header(kind: str, shape: tuple[int, ...], order: bool = False) -> bytes:
    """Return the header of an array."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": order, "shape": shape})
    return stream.getvalue()


def npz_bomb(
    kind: str, rows: int, columns: int = 3, name: str = "points", promised: int | None = None, **others: Any
) -> bytes:
    """Return an archive of an array of zeros, whose header may promise more of them, and of others."""
    size = rows * columns * np.dtype(kind).itemsize
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(f"{name}.npy", "w", force_zip64=True) as member,
    ):
        member.write(npy_header(kind, (rows if promised is None else promised, columns)))
        for _ in range(size >> 20):
            member.write(bytes(2**20))
        member.write(bytes(size % 2**20))
    with zipfile.ZipFile(stream, "a") as archive:
        for other, array in others.items():
            with archive.open(f"{other}.npy", "w") as member:
                np.lib.format.write_array(member, array)
    return stream.getvalue()


def lzf_of_zeros(size: int) -> bytes:
    """Return the densest LZF there is: a zero, and repetitions of 264 bytes."""
    whole, rest = divmod(size - 1, 264)
    tail = b"".join(b"\x00\x00" for _ in range(rest))
    return b"\x00\x00" + b"\xe0\xff\x00" * whole + tail


def pcd_bomb(points: int) -> bytes:
    """Return a compressed PCD of bytes that are all zero."""
    packed = lzf_of_zeros(3 * points)
    header = (
        f"FIELDS x y z\nSIZE 1 1 1\nTYPE I I I\nWIDTH {points}\nHEIGHT 1\nPOINTS {points}\nDATA binary_compressed\n"
    )
    return header.encode() + np.array([len(packed), 3 * points], dtype="<u4").tobytes() + packed


def measured(path: Path, reader: str, memory: int = 0) -> dict[str, Any]:
    """Read a file in a process of its own; return what came, in how many seconds, and the peak of its memory in MiB.

    ``memory`` is what the process may have beyond what it starts with, in bytes; 0: as much as there is.
    """
    script = f"""
import json, resource, sys, time
import clipperplus as cp
import clipperplus.pairs.lists
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if {memory}:
    size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + {memory}, size + {memory}))
start = time.perf_counter()
try:
    {READERS[reader]}({str(path)!r})
    outcome = "read"
except (cp.ClipperPlusError, OSError) as error:
    outcome = f"{{type(error).__name__}}: {{error}}"
seconds = time.perf_counter() - start
peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(json.dumps({{"outcome": outcome, "seconds": seconds, "peak": peak}}))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))
