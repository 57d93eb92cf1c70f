"""Standard output and standard error where they are closed, full, or read by nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

__all__ = ["flushing_errors", "open_what_is_closed"]


def open_what_is_closed() -> None:
    """Open what was closed by whoever started this: the next file would get its number, and with it what is printed.

    What cannot be printed on stdout is an error then, as on a full disk; on stderr it is not, with nobody to tell.
    """
    if sys.stdout is None:
        _fill(1, os.O_RDONLY)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    if sys.stderr is None:
        _fill(2, os.O_WRONLY)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def flushing_errors() -> Iterator[OSError]:
    """Print what is still to be printed; yield why it cannot be.

    What cannot is dropped: Python would try again as it ends, and complain with an exit status of its own.
    """
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError as error:  # noqa: PERF203 - there are two
            _fill(number, os.O_WRONLY)
            yield error


def _fill(number: int, flags: int) -> None:
    """Let a number stand for the file in which everything vanishes."""
    nowhere = os.open(os.devnull, flags)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
