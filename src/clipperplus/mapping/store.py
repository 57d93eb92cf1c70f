"""Registrations that are kept in a file, so that no pair is registered twice: one SQLite database.

A registration is known by the content of both scans and by all that it depends on. It is written before it is used, so
that whatever happens later, it is there.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from os import PathLike, fspath
from types import TracebackType

from .._build import core_info
from ..errors import FileFormatError
from .relations import Effort, Relation

__all__ = ["RelationFile"]

_FORMAT = 1
"""Of what is written; files of another one are refused."""


class RelationFile:
    """Relations of scans, in a file or only in memory; several threads may put some."""

    def __init__(
        self,
        path: str | PathLike[str] | None,
        contents: Sequence[str],
        voxel_size: float,
        free_space: bool,
        known: dict[tuple[str, str, str], Relation],
    ) -> None:
        """Open or make a file; ``contents`` tell scans apart, and ``known`` are relations that need not be read."""
        self._contents, self._known = tuple(contents), known
        self._about = f"{core_info().version} voxel_size={voxel_size!r} free_space={free_space}"
        self._database = None if path is None else _opened(fspath(path))
        self._writing = threading.Lock()

    def __enter__(self) -> RelationFile:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        if self._database is not None:
            self._database.close()

    def get(self, source: int, target: int, effort: Effort) -> Relation | None:
        """Return what is known of two scans."""
        key = self._contents[source], self._contents[target], effort
        if key in self._known:
            known = self._known[key]
            return Relation.from_dict(source, target, known.to_dict())
        if self._database is None:
            return None
        row = self._database.execute(
            "SELECT relation FROM relations WHERE source = ? AND target = ? AND effort = ? AND about = ?",
            (*key, self._about),
        ).fetchone()
        return None if row is None else Relation.from_dict(source, target, json.loads(row[0]))

    def put(self, relation: Relation) -> None:
        """Keep a relation."""
        key = self._contents[relation.source], self._contents[relation.target], relation.effort
        text = json.dumps(relation.to_dict())
        with self._writing:
            self._known[key] = relation
            if self._database is not None:
                with self._database:
                    self._database.execute(
                        "INSERT OR REPLACE INTO relations VALUES (?, ?, ?, ?, ?)", (*key, self._about, text)
                    )


def _opened(path: str) -> sqlite3.Connection:
    """Open a file of relations, or make one; what is something else is refused."""
    try:
        database = sqlite3.connect(path, timeout=60.0, check_same_thread=False)
        (found,) = database.execute("PRAGMA user_version").fetchone()
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if found not in (0, _FORMAT) or (found == 0 and tables):
            database.close()
            raise FileFormatError(
                f"{path}: no file of relations of format {_FORMAT}; remove it, or choose another name"
            )
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        with database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS relations (source TEXT, target TEXT, effort TEXT, about TEXT, "
                "relation TEXT, PRIMARY KEY (source, target, effort, about))"
            )
            database.execute(f"PRAGMA user_version = {_FORMAT}")
    except sqlite3.Error as error:
        raise FileFormatError(f"{path}: cannot be used to keep relations: {error}") from None
    return database
