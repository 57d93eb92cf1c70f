"""What worker processes load as they start: what they will need, and deafness to Ctrl-C.

A terminal interrupts everyone, and each worker would say so with a traceback. Who started them ends them.
"""

from __future__ import annotations

import signal

from . import on_worker as on_worker

__all__ = ["dask_setup"]


def dask_setup(worker: object) -> None:
    """Leave interrupts to the process that started this one; Dask calls this once, in the main thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
