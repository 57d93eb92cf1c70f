"""The measurements of a run, kept in a folder line by line, so that a run that was interrupted goes on from there."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import OptionError
from .measuring import environment
from .tables import Table, describe

__all__ = ["Row", "Store"]

Row: TypeAlias = dict[str, str]
"""A line of the CSV file: heading → text."""


class Store:
    """One line of ``NAME.csv`` for each problem, and ``NAME.json`` that says what was measured, how and where.

    Without a folder the measurements live in memory only.
    """

    def __init__(self, folder: Path | None, name: str, settings: dict[str, Any], columns: Sequence[str]) -> None:
        self.folder, self.name = folder, name
        self.rows: list[Row] = []
        self._columns = list(columns)
        self._about: dict[str, Any] = {
            "benchmark": name,
            "started": datetime.date.today().isoformat(),
            "settings": settings,
            "environment": environment(),
        }
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self._resume(folder)
            self._write_about(complete=False, summary=None)

    @property
    def environment(self) -> dict[str, str]:
        """Machine, commit and versions."""
        described: dict[str, str] = self._about["environment"]
        return described

    def done(self, key: str) -> bool:
        """Whether the problem with this text in the first column has been measured."""
        return any(row[self._columns[0]] == key for row in self.rows)

    def add(self, row: Row) -> None:
        """Keep the measurements of a problem; they are on the disk when this returns."""
        self.rows.append(row)
        if self.folder is not None:
            with self._csv_path(self.folder).open("a", newline="", encoding="utf-8") as file:
                file.write(self._line([row[column] for column in self._columns]))

    def finish(self, title: str, tables: Sequence[Table], notes: str, summary: object) -> None:
        """Write ``NAME.md`` and complete ``NAME.json``."""
        if self.folder is None:
            return
        made = f"Made by `clipperplus bench {self.name}`, begun {self._about['started']}."
        short = {key: value for key, value in self._about["settings"].items() if not isinstance(value, list)}
        how = "; ".join(f"{key} {value}" for key, value in short.items())
        head = f"# {title}\n\n{made}\n\n{how}\n\n{describe(self.environment)}\n\n{notes}\n\n"
        body = "\n".join(table.to_markdown() for table in tables)
        (self.folder / f"{self.name}.md").write_text(head + body, encoding="utf-8")
        self._write_about(complete=True, summary=summary)

    def _resume(self, folder: Path) -> None:
        about_path, csv_path = folder / f"{self.name}.json", self._csv_path(folder)
        if not about_path.exists():
            csv_path.write_text(self._line(self._columns), encoding="utf-8")
            return
        try:
            earlier = json.loads(about_path.read_text(encoding="utf-8"))
            different = [
                f"{key} {earlier[part].get(key)!r}, now {value!r}"
                for part in ("settings", "environment")
                for key, value in json.loads(json.dumps(self._about[part])).items()
                if earlier[part].get(key) != value
            ]
            started = str(earlier["started"])
            lines = csv_path.read_text(encoding="utf-8").splitlines(keepends=True) if csv_path.exists() else []
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise OptionError(f"output: {about_path} is not a run of this benchmark ({error})") from None
        if different:
            raise OptionError(
                f"output: {folder} holds another run of bench {self.name}: {'; '.join(different)}. "
                "Choose another folder, or remove that run"
            )
        self._about["started"] = started
        # A line without its end was being written when the run was stopped.
        whole = [line for line in lines if line.endswith("\n")]
        parsed = list(csv.reader(io.StringIO("".join(whole))))
        if not parsed or parsed[0] != self._columns:
            parsed = [self._columns]
        self.rows = [dict(zip(self._columns, row, strict=True)) for row in parsed[1:] if len(row) == len(self._columns)]
        lines = [self._line(self._columns), *(self._line(list(row.values())) for row in self.rows)]
        csv_path.write_text("".join(lines), encoding="utf-8")

    def _csv_path(self, folder: Path) -> Path:
        return folder / f"{self.name}.csv"

    @staticmethod
    def _line(cells: Sequence[str]) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        return text.getvalue()

    def _write_about(self, *, complete: bool, summary: object) -> None:
        assert self.folder is not None
        about = {**self._about, "complete": complete, "problems": len(self.rows), "summary": summary}
        path = self.folder / f"{self.name}.json"
        path.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
