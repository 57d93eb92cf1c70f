"""Standard output and standard error where they are closed, full, or read by nobody.

Then a command goes on: what it was asked to write is written, and its end says that its answer could not be printed.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

__all__ = ["check_printed", "printing_error", "unfailing_streams"]


def unfailing_streams() -> None:
    """Let printing never fail, for the rest of the process: why it did is known at the end, and all else is done."""
    _open_what_is_closed()
    # A terminal without Unicode gets question marks, not a traceback.
    sys.stdout = _unfailing(sys.stdout, "standard output", "replace")
    sys.stderr = _unfailing(sys.stderr, "standard error", "backslashreplace")


def printing_error() -> OSError | None:
    """Print what is still to be printed; return why stdout could not take all of it, None if it did."""
    sys.stdout.flush()
    return sys.stdout.error if isinstance(sys.stdout, _Unfailing) else None


def check_printed() -> None:
    """Raise why something was not printed, where without it there is no use in going on."""
    error = printing_error()
    if error is not None:
        raise error


class _Unfailing(io.TextIOWrapper):
    """A stream that takes everything; what is written after something went wrong vanishes."""

    def __init__(self, stream: io.TextIOWrapper, name: str) -> None:
        super().__init__(
            stream.buffer,
            stream.encoding,
            stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )
        self._stream = stream  # if nobody kept it, it would close what both write to
        self._name = name
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._give_up(error)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._give_up(error)

    def close(self) -> None:
        """Leave it open: what it writes to belongs to the stream that was there before."""
        self.flush()

    def _give_up(self, error: OSError) -> None:
        """Drop what could not be written, too: Python would try again as it ends, with an exit status of its own."""
        if self.error is None:
            self.error = OSError(error.errno, error.strerror, self._name)  # of the class of its number
            _fill(self.fileno(), os.O_WRONLY)


def _unfailing(stream: TextIO, name: str, errors: str) -> TextIO:
    """Return a stream like one, but that never fails; one that is no file, as in a test, stays as it is."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors=errors)
    is_file = isinstance(getattr(stream.buffer, "raw", stream.buffer), io.RawIOBase)
    return _Unfailing(stream, name) if is_file else stream


def _open_what_is_closed() -> None:
    """Open what was closed by whoever started this: the next file would get its number, and with it what is printed.

    What cannot be printed on stdout is an error then, as on a full disk; on stderr it is not, with nobody to tell.
    """
    if sys.stdout is None:
        _fill(1, os.O_RDONLY)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - as long as the process
    if sys.stderr is None:
        _fill(2, os.O_WRONLY)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _fill(number: int, flags: int) -> None:
    """Let a number stand for the file in which everything vanishes."""
    nowhere = os.open(os.devnull, flags)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
