"""Clients of Dask: of a cluster that is there, or of one that is started on this machine."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import ClusterError, MissingPackageError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Connection", "connected", "started"]

_SETTINGS = {
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1, "MKL_NUM_THREADS": 1},
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.deploy.lost-worker-timeout": "1d",
}
"""Of Dask, which would give up a worker for good if none of its name is there 15 s after one was lost: also where it
was started again, and lost again just then. Its own environment has ``MALLOC_TRIM_THRESHOLD_`` as well: with that,
every array of some size is asked of the system and given back, and a registration takes a fifth longer; looking at
itself so often takes a twentieth."""
_LOOPBACK = "127.0.0.1"
"""Where everything listens that is started here: nobody else can reach it."""
_PATIENCE, _LONG_PATIENCE = 10.0, 90.0
"""Seconds to wait for a scheduler at first, and for one that was lost."""


class Connection(NamedTuple):
    """A cluster that can be used."""

    client: Client
    dashboard: str | None
    """Address of the page on which Dask shows what it does, if there is one."""


@contextmanager
def started(workers: int, memory: int | None = None) -> Iterator[Connection]:
    """Start worker processes of one thread each, on this machine; ``memory`` is what each may have, in bytes."""
    distributed = _distributed()
    import dask

    with (
        dask.config.set(_SETTINGS),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host=_LOOPBACK,
            dashboard_address=f"{_LOOPBACK}:0",
            memory_limit="auto" if memory is None else memory,
            silence_logs=logging.CRITICAL,
            preload=[f"{__package__}.preload"],
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Connection(client, _dashboard(client))


@contextmanager
def connected(address: str) -> Iterator[Connection]:
    """Use a cluster that is there; certificates are those that Dask's configuration names."""
    distributed = _distributed()
    try:
        # The time that a client takes to connect at first is also that which it takes to give up a lost scheduler.
        with socket.create_connection(distributed.comm.get_address_host_port(address), timeout=_PATIENCE):
            pass
        client = distributed.Client(address, timeout=_LONG_PATIENCE)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ClusterError(f"{address}: no scheduler can be reached there: {error}") from None
    with client:
        yield Connection(client, _dashboard(client))


def _dashboard(client: Client) -> str | None:
    """Return the address of the dashboard; without bokeh there is none."""
    try:
        import bokeh  # noqa: F401
    except ImportError:
        return None
    link: str | None = client.dashboard_link
    return link or None


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingPackageError("a cluster needs Dask: pip install 'clipperplus[cluster]'") from None
    return distributed
