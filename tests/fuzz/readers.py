"""Every reader of the package by name, and how an input becomes a file that it reads: what is fuzzed, and replayed."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeAlias

from clipperplus import ClipperPlusError
from clipperplus.clouds.files import read_cloud
from clipperplus.geometry.files import read_info, read_kitti, read_log, read_poses, read_transform, read_tum
from clipperplus.graphs.files import read_graph
from clipperplus.mapping.g2o import read_g2o
from clipperplus.mapping.map import Map
from clipperplus.pairs.lists import read_pairs
from clipperplus.pairs.store import Key, PairStore

ALLOWED = (ClipperPlusError, OSError)
"""What a reader may raise, whatever is in a file."""
CORPUS = Path(__file__).with_name("corpus")
"""A folder for each reader. What is called ``valid…`` must be read without an error."""
KEY = Key("source", "target", "task")
"""Of the result that is kept in the file of results."""

Packing: TypeAlias = Callable[[bytes, int], tuple[bytes, Callable[[bytes], bytes]]]
"""Takes a packed input and a number; returns what is packed in it, and what packs something else in its place."""


class Reader(NamedTuple):
    """How an input is read."""

    file: str
    """The name that it gets as a file."""
    read: Callable[[Path], object]
    packing: Packing | None = None
    """Mutations of packed bytes seldom get beyond the unpacking: those of the content do."""


def gzipped(data: bytes, number: int) -> tuple[bytes, Callable[[bytes], bytes]]:
    """Unpack the first bytes of a gzip file."""
    return zlib.decompressobj(31).decompress(data, 1 << 16), lambda plain: gzip.compress(plain, 1, mtime=0)


def zipped(data: bytes, number: int) -> tuple[bytes, Callable[[bytes], bytes]]:
    """Unpack a member of a zip file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.open(name).read(1 << 16) for name in archive.namelist()}
    chosen = sorted(members)[number % len(members)]

    def pack(plain: bytes) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED if number % 2 else zipfile.ZIP_STORED) as archive:
            for name, content in {**members, chosen: plain}.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        return packed.getvalue()

    return members[chosen], pack


def read_map_index(path: Path) -> object:
    """Load a map whose index is the input; its points are those of the corpus."""
    points = path.with_name("scans.npz")
    if not points.exists():
        points.write_bytes((CORPUS / "map_points" / "valid").read_bytes())
    return Map.load(path.parent)


def read_map_points(path: Path) -> object:
    """Load a map whose points are the input; its index is that of the corpus, and does not call them damaged."""
    index = json.loads((CORPUS / "map_index" / "valid").read_bytes())
    index["points_sha256"] = sha256(path.read_bytes()).hexdigest()
    path.with_name("map.json").write_text(json.dumps(index), encoding="ascii")
    return Map.load(path.parent)


def read_results(path: Path) -> object:
    """Look up a result in a file of results, and leave nothing beside it."""
    try:
        with closing(PairStore(path)) as store:
            return store.get(KEY)
    finally:
        for ending in ("-wal", "-shm", "-journal"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


READERS = {
    "dimacs": Reader("a.clq", read_graph),
    "dimacs_binary": Reader("a.clq.b", read_graph),
    "dimacs_gzip": Reader("a.clq.gz", read_graph, gzipped),
    "matrix_market": Reader("a.mtx", read_graph),
    "edge_list": Reader("a.edges", read_graph),
    "ply": Reader("a.ply", read_cloud),
    "pcd": Reader("a.pcd", read_cloud),
    "las": Reader("a.las", read_cloud),
    "laz": Reader("a.laz", read_cloud),
    "npy": Reader("a.npy", read_cloud),
    "npz": Reader("a.npz", read_cloud, zipped),
    "csv": Reader("a.csv", read_cloud),
    "xyz": Reader("a.xyz", read_cloud),
    "kitti_scan": Reader("a.bin", read_cloud),
    "log": Reader("gt.log", read_log),
    "info": Reader("gt.info", read_info),
    "tum": Reader("a.tum", read_tum),
    "kitti_poses": Reader("a.txt", read_kitti),
    "transform": Reader("a.txt", read_transform),
    "poses": Reader("a.txt", read_poses),
    "poses_gzip": Reader("a.txt.gz", read_poses, gzipped),
    "g2o": Reader("a.g2o", read_g2o),
    "g2o_gzip": Reader("a.g2o.gz", read_g2o, gzipped),
    "pair_list": Reader("pairs.csv", read_pairs),
    "map_index": Reader("map.json", read_map_index),
    "map_points": Reader("scans.npz", read_map_points, zipped),
    "results": Reader("results.sqlite", read_results),
}


def try_to_read(reader: Reader, folder: Path, data: bytes) -> BaseException | None:
    """Read an input as a file in a folder; return the error that says what is wrong with it, if there is one."""
    path = folder / reader.file
    path.write_bytes(data)
    try:
        reader.read(path)
    except ALLOWED as error:
        return error
    return None
