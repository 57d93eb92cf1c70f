"""Where the work is done, as commands are told: here, in worker processes, or on a cluster that is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from .._validation import as_integer
from ..errors import OptionError
from ..pairs.clients import connected, started
from .printing import visible

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["ClusterAddress", "Memory", "Where", "Workers"]

Workers: TypeAlias = Annotated[
    int | None, typer.Option(help="Start so many worker processes on this machine, with Dask, instead of threads.")
]
ClusterAddress: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster", help="Scheduler of a Dask cluster that is there: tcp://HOST:PORT, or tls://.", metavar="ADDRESS"
    ),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(help="That each worker may have, as 2GB: clouds not used for the longest go first.", metavar="SIZE"),
]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_CLOUDS = 0.4
"""Share of a process' memory for prepared clouds: registration itself needs some, and Python."""


@dataclass(frozen=True)
class Where:
    """What was asked for."""

    workers: int | None = None
    cluster: str | None = None
    memory: str | None = None

    def check(self) -> None:
        """Refuse what contradicts itself."""
        if self.workers is not None and self.cluster is not None:
            raise OptionError("cluster: expected --workers or --cluster, got both")
        if self.workers is not None:
            as_integer("workers", self.workers, 1, 1024)
        _ = self._bytes

    @property
    def memory_for_clouds(self) -> int | None:
        """Bytes for prepared clouds in each process; None: as usual."""
        return None if self._bytes is None else int(_CLOUDS * self._bytes)

    @property
    def _bytes(self) -> int | None:
        if self.memory is None:
            return None
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?)(i?)b?\s*", self.memory, flags=re.IGNORECASE)
        if found is None or (found[3] and not found[2]):
            raise OptionError(f"memory: expected a size such as 500MB or 2GiB, got {self.memory!r}")
        unit = (_BINARY_UNITS if found[3] else _UNITS)[found[2].lower()]
        return as_integer("memory", int(float(found[1]) * unit), 1, 2**62)

    @contextmanager
    def client(self) -> Iterator[Client | None]:
        """Start or find the cluster, if one is wanted, and say where Dask shows what it does."""
        if self.workers is None and self.cluster is None:
            yield None
            return
        where = started(self.workers, self._bytes) if self.workers is not None else connected(self.cluster or "")
        with where as connection:
            if connection.dashboard is not None:
                print(visible(f"dashboard: {connection.dashboard}"), file=sys.stderr)
            yield connection.client
