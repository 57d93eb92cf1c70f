"""What the tests of stores and tables of pairs share."""

from __future__ import annotations

import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clipperplus.pairs.store import Key, PairStore

KEY = Key("content of one cloud", "content of another", 'register {"voxel_size": 0.2}')
RESULT: dict[str, Any] = {"status": "ok", "confidence": 0.1 + 0.2, "reasons": ["ü 雪 \N{SNOWMAN}", ""], "overlap": None}


def key(number: object) -> Key:
    return Key(f"source {number}", f"target {number}", "count")


def found(path: Path, keys: Iterable[Key]) -> list[dict[str, Any] | None]:
    with PairStore(path) as store:
        return [store.get(one) for one in keys]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
