"""A table of what came of pairs: a line for each, in the order in which they were given, as CSV and as Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._paths import replaced
from .result import PairResult

__all__ = ["COLUMNS", "PairTable"]

_MATRIX = tuple(f"T{row}{column}" for row in range(3) for column in range(4))
COLUMNS = (
    *("source", "target", "status", "confidence", "overlap", "num_inliers", "voxel_size", "seconds", "failure"),
    *_MATRIX,
)
"""The last twelve are the upper rows of ``T_target_source``, row after row."""
_TEXT = ("source", "target", "status", "failure")


class PairTable:
    """Lines for pairs, filled as results come."""

    def __init__(self, pairs: Sequence[tuple[Any, ...]]) -> None:
        """Begin with lines for pairs of which nothing is known yet."""
        self._ends = [(str(pair[0]), str(pair[1])) for pair in pairs]
        self._texts: list[tuple[str, str]] = [("", "not done yet")] * len(pairs)
        self._numbers = np.full((len(pairs), 5), np.nan)
        self._motions = np.full((len(pairs), 12), np.nan)

    def add(self, result: PairResult) -> None:
        """Fill in what came of a pair."""
        number = result.number
        self._texts[number] = ("" if result.status is None else result.status.value, result.failure or "")
        if result.failure is None:
            overlap = np.nan if result.overlap is None else result.overlap
            size = np.nan if result.voxel_size is None else result.voxel_size
            self._numbers[number] = result.confidence, overlap, result.num_inliers, size, result.seconds
        if result.T_target_source is not None:
            self._motions[number] = result.T_target_source[:3].ravel()

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write ``name.csv``, and ``name.parquet`` where pyarrow is installed; each whole, or as it was before."""
        paths = [folder / f"{name}.csv"]
        with (
            replaced(paths[0]) as unfinished,
            unfinished.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(self._rows())
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError:
            return paths
        columns = {title: self._column(number, title, pyarrow) for number, title in enumerate(COLUMNS)}
        paths.append(folder / f"{name}.parquet")
        with replaced(paths[1]) as unfinished:
            pyarrow.parquet.write_table(pyarrow.table(columns), unfinished)
        return paths

    def _rows(self) -> Iterator[list[str]]:
        """Yield lines of text: numbers to the last bit, and nothing where there is none."""
        for ends, (status, failure), numbers, motion in zip(
            self._ends, self._texts, self._numbers.tolist(), self._motions.tolist(), strict=True
        ):
            said = [_said(number) for number in numbers]
            if said[2]:
                said[2] = str(int(numbers[2]))
            yield [*ends, status, *said, failure, *map(_said, motion)]

    def _column(self, number: int, title: str, pyarrow: Any) -> Any:
        if title in _TEXT:
            of_ends, of_texts = [ends[number % 2] for ends in self._ends], [text[number > 2] for text in self._texts]
            return pyarrow.array(
                [_as_utf8(value) or None for value in (of_texts, of_ends)[number < 2]], type=pyarrow.string()
            )
        first = COLUMNS.index("confidence")
        column = self._motions[:, _MATRIX.index(title)] if title in _MATRIX else self._numbers[:, number - first]
        if title == "num_inliers":
            return pyarrow.array([None if np.isnan(value) else int(value) for value in column], type=pyarrow.int64())
        return pyarrow.array(column, from_pandas=True)


def _as_utf8(text: str) -> str:
    """Return text that is UTF-8; names of files may have bytes that are not."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _said(number: float) -> str:
    return "" if np.isnan(number) else repr(number)
