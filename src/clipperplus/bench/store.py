"""The measurements of a run, kept in a folder line by line, so that a run that was interrupted goes on from there."""

from __future__ import annotations

import csv
import datetime
import io
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._paths import write_bytes
from ..errors import OptionError
from .measuring import Row, environment, is_sound
from .tables import Table, describe

__all__ = ["Store"]


class Store:
    """One line of ``NAME.csv`` for each problem, and ``NAME.json`` that says what was measured, how and where.

    The first two columns are the name of a problem and a checksum of it. Without a folder the measurements live in
    memory only.
    """

    def __init__(self, folder: Path | None, name: str, settings: dict[str, Any], columns: Sequence[str]) -> None:
        self.folder, self.name = folder, name
        self._rows: dict[str, Row] = {}
        self._columns = list(columns)
        self._about: dict[str, Any] = {
            "benchmark": name,
            "started": datetime.date.today().isoformat(),
            "settings": settings,
            "environment": environment(),
        }
        self._complete = False
        self._lock: int | None = None
        if folder is not None:
            if folder.exists() and not folder.is_dir():
                raise OptionError(f"output: {folder} is not a folder")
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _lock(folder)
            try:
                self._resume(folder)
                if not self._complete:
                    self._write_about(folder, summary=None)
            except BaseException:
                self.close()
                raise

    @property
    def environment(self) -> dict[str, str]:
        """Machine, commit and versions."""
        described: dict[str, str] = self._about["environment"]
        return described

    @property
    def rows(self) -> list[Row]:
        """What has been measured, in order."""
        return list(self._rows.values())

    def find(self, name: str, checksum: str) -> Row | None:
        """Return what was measured on a problem; refuse a problem that has the name of another one."""
        row = self._rows.get(name)
        if row is not None and row[self._columns[1]] != checksum:
            raise OptionError(f"output: {self.folder} has measurements of another {name}; choose another folder")
        return row

    def add(self, row: Row) -> None:
        """Keep the measurements of a problem; its line of the file is written at once."""
        self._rows[row[self._columns[0]]] = row
        if self.folder is not None:
            if self._complete:
                self._complete = False
                self._write_about(self.folder, summary=None)
            with self._csv_path(self.folder).open("a", newline="", encoding="utf-8") as file:
                file.write(self._line([row[column] for column in self._columns]))

    def close(self) -> None:
        """Let other runs have the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def finish(self, title: str, tables: Sequence[Table], notes: str, summary: object) -> None:
        """Write ``NAME.md`` and complete ``NAME.json``."""
        if self.folder is None:
            return
        made = f"Made by `clipperplus bench {self.name}`, begun {self._about['started']}."
        how = "; ".join(f"{key} {value}" for key, value in self._about["settings"].items() if key != "methods")
        head = f"# {title}\n\n{made}\n\n{how}\n\n{describe(self.environment)}\n\n{notes}\n\n"
        body = "\n".join(table.to_markdown() for table in tables)
        _replace(self.folder / f"{self.name}.md", head + body)
        self._complete = True
        self._write_about(self.folder, summary=summary)

    def _resume(self, folder: Path) -> None:
        about_path, csv_path = self._about_path(folder), self._csv_path(folder)
        if not about_path.exists():
            if csv_path.exists():
                raise OptionError(f"output: {csv_path} is there without {about_path.name}; choose another folder")
            return
        try:
            earlier = json.loads(about_path.read_text(encoding="utf-8"))
            different = [
                f"{key} {earlier[part].get(key)!r}, now {value!r}"
                for part in ("settings", "environment")
                for key, value in json.loads(json.dumps(self._about[part])).items()
                if earlier[part].get(key) != value
            ]
            self._about["started"] = str(earlier["started"])
            self._complete = earlier["complete"] is True
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise OptionError(f"output: {about_path} is not a run of this benchmark ({error})") from None
        if different:
            raise OptionError(
                f"output: {folder} holds another run of bench {self.name}: {'; '.join(different)}. "
                "Choose another folder, or remove that run"
            )
        self._read_csv(csv_path)

    def _read_csv(self, path: Path) -> None:
        text = ""
        if path.exists():
            with path.open(newline="", encoding="utf-8", errors="replace") as file:
                text = file.read()
        whole = text[: text.rfind("\n") + 1]  # a line without its end was being written when the run was stopped
        try:
            header, *lines = list(csv.reader(io.StringIO(whole, newline=""), strict=True)) or [self._columns]
            rows = [dict(zip(self._columns, line, strict=True)) for line in lines]
        except (csv.Error, ValueError):
            header, rows = [], []
        if header != self._columns or not all(map(is_sound, rows)):
            raise OptionError(f"output: {path} has lines that this benchmark did not write; choose another folder")
        self._rows = {row[self._columns[0]]: row for row in rows}
        if whole != text:
            _replace(path, whole)

    def _csv_path(self, folder: Path) -> Path:
        return folder / f"{self.name}.csv"

    def _about_path(self, folder: Path) -> Path:
        return folder / f"{self.name}.json"

    @staticmethod
    def _line(cells: Sequence[str]) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        return text.getvalue()

    def _write_about(self, folder: Path, *, summary: object) -> None:
        if not self._csv_path(folder).exists():
            _replace(self._csv_path(folder), self._line(self._columns))
        about = {**self._about, "complete": self._complete, "problems": len(self._rows), "summary": summary}
        _replace(self._about_path(folder), json.dumps(about, indent=2, ensure_ascii=False) + "\n")


def _lock(folder: Path) -> int | None:
    """Keep other runs out of a folder as long as this process lives."""
    if sys.platform == "win32":  # has no such locks
        return None
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise OptionError(f"output: another run is writing to {folder}") from None
    return handle


def _replace(path: Path, text: str) -> None:
    """Write a file so that at any time either the old or the new one is there."""
    write_bytes(path, text.encode("utf-8", errors="replace"))
