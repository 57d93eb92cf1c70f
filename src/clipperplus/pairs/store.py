"""Results of pairs that are kept in a file, so that no pair is computed twice: one SQLite database.

A result is known by the content of both clouds and by all that it depends on, the version of the package included. It
is written before it is used, so that whatever happens later, it is there. Several processes may read and write one file
at the same time. Results are JSON: nothing in a file is ever executed.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from .._build import core_info
from .._paths import check_is_file, open_file
from ..errors import FileFormatError

__all__ = ["Key", "PairStore", "StoreFullError"]

_FORMAT = 2
"""Of what is written; files of another one are refused."""
_APPLICATION = 0x636C6970
"""By which a file is told from other databases."""
_TABLE = (
    "CREATE TABLE results (source TEXT, target TEXT, task TEXT, version TEXT, result TEXT, "
    "PRIMARY KEY (source, target, task, version)) WITHOUT ROWID"
)
"""All there is in a file: a view, a trigger or a computed column would be run."""
_BROKEN = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; the last where its message quotes a file that is no text."""
_BESIDE = ("wal", "shm", "journal")
"""What files beside one are called that SQLite keeps there."""
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
"""With which a journal ends that names another file: SQLite undoes what the journal says, then removes that file."""
_ONE_PAGE = 4096
"""Bytes of a file without a table."""
_PATIENCE = 60.0
"""Seconds to wait for another process that is writing."""


class Key(NamedTuple):
    """What a result is known by."""

    source: str
    target: str
    """Contents of the two clouds."""
    task: str
    """What was done with them, with all options."""


class StoreFullError(OSError):
    """A result could not be written: the disk is full, or gone."""


class PairStore:
    """Results of pairs in a file; threads may share it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Open or make a file; what is something else is refused."""
        self._path, self._version = fspath(path), core_info().version
        self._database, self._using = _opened(self._path), threading.Lock()

    def __enter__(self) -> PairStore:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file; what was put is there."""
        with self._using:
            self._database.close()

    def get(self, key: Key) -> dict[str, Any] | None:
        """Return what is known of a pair."""
        try:
            with self._using:
                row = self._database.execute(
                    "SELECT CAST(result AS BLOB) FROM results WHERE source = ? AND target = ? AND task = ? AND "
                    "version = ?",
                    (*key, self._version),
                ).fetchone()
            result = None if row is None else json.loads(row[0])
        except sqlite3.Error as error:
            raise FileFormatError(f"{self._path}: cannot be read: {error}") from None
        except (TypeError, ValueError, RecursionError):
            return None  # damaged: it is computed again
        return result if isinstance(result, dict) else None

    def put(self, results: Iterable[tuple[Key, Mapping[str, Any]]]) -> None:
        """Keep results for good, all of them or none."""
        rows = [(*key, self._version, json.dumps(result)) for key, result in results]
        try:
            with self._using, self._database:
                self._database.executemany("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)", rows)
        except _BROKEN as error:
            raise StoreFullError(f"{self._path}: cannot be written: {error}") from None


def _opened(path: str) -> sqlite3.Connection:
    """Open a file of results, or make one."""
    database, is_new = None, not os.path.lexists(path)
    if os.path.exists(path) and not os.path.isdir(path):
        check_is_file(Path(path))  # SQLite would wait for the other end of a pipe
    _check_beside(path)
    if os.path.isfile(path) and os.path.getsize(path) == 1:  # SQLite takes it for an empty one
        raise FileFormatError(f"{path}: no file of results; choose another name")
    try:
        database = sqlite3.connect(path, timeout=_PATIENCE, check_same_thread=False)
        database.execute("PRAGMA trusted_schema = OFF")
        with database:
            database.execute("BEGIN")
            _check(path, database)
        _log_ahead(database)
        database.execute("PRAGMA synchronous = NORMAL")  # what a killed process wrote is there
        with database:
            database.execute("BEGIN IMMEDIATE")  # two processes may be making it
            _check(path, database)
            if not _tables(database):
                database.execute(_TABLE)
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_FORMAT}")
    except (*_BROKEN, FileFormatError) as error:
        if database is not None:
            database.close()
        if is_new:
            _remove_if_empty(path)
        if isinstance(error, FileFormatError):
            raise
        raise FileFormatError(f"{path}: cannot be used to keep results: {error}") from None
    return database


def _check_beside(path: str) -> None:
    """Refuse files beside one that lead SQLite to others: folders may come from anywhere, with all that is in them."""
    for ending in _BESIDE:
        with suppress(FileNotFoundError, NotADirectoryError):
            check_is_file(Path(f"{path}-{ending}"))
    journal = Path(f"{path}-journal")
    with suppress(FileNotFoundError, NotADirectoryError), open_file(journal) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - len(_NAMES_ANOTHER)))
        if file.read() == _NAMES_ANOTHER:
            raise FileFormatError(f"{journal}: names another file, which would be removed; no run of this leaves such")


def _remove_if_empty(path: str) -> None:
    """Remove what is left of a file that could not be made, unless another process has written to it meanwhile."""
    with suppress(OSError):
        if os.path.getsize(path) > _ONE_PAGE or (os.path.exists(log := f"{path}-wal") and os.path.getsize(log)):
            return
        for name in (path, *(f"{path}-{suffix}" for suffix in ("wal", "shm", "journal"))):
            if os.path.exists(name):
                os.remove(name)


def _log_ahead(database: sqlite3.Connection) -> None:
    """Have changes written to a log first; SQLite does not wait when another process does the same."""
    end = time.monotonic() + _PATIENCE
    while not _does_log_ahead(database, is_last=time.monotonic() > end):
        time.sleep(0.01)


def _does_log_ahead(database: sqlite3.Connection, *, is_last: bool) -> bool:
    """Try to; say whether it does, unless this is the last try."""
    try:
        database.execute("PRAGMA journal_mode = WAL")
    except sqlite3.OperationalError as error:
        if is_last or "locked" not in str(error):
            raise
        return False
    return True


def _check(path: str, database: sqlite3.Connection) -> None:
    """Refuse a database that is another program's, or of another format."""
    tables = _tables(database)
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (found,) = database.execute("PRAGMA user_version").fetchone()
    if not tables and not application and not found:
        return  # a new one
    if application != _APPLICATION:
        raise FileFormatError(f"{path}: no file of results; choose another name")
    if found != _FORMAT:
        raise FileFormatError(
            f"{path}: results of format {found}, expected {_FORMAT}: remove it to compute them again, or use the "
            "version of clipperplus that wrote it"
        )
    if tables != [_TABLE.encode()]:
        raise FileFormatError(f"{path}: expected results and nothing else, this has been changed; choose another name")


def _tables(database: sqlite3.Connection) -> list[bytes]:
    """Return how all that a file holds was made, which may be no text."""
    return [made for (made,) in database.execute("SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE sql IS NOT NULL")]
