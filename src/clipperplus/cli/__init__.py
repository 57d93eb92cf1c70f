"""The command line: one file per command.

Exit status: 0 done, 1 no trustworthy answer (the reason is said), 2 wrong input (one line on stderr, no traceback),
130 ended by Ctrl-C, 141 ended because nobody read what it printed any more (``| head``).
"""

from __future__ import annotations

import errno
import io
import sys
from contextlib import suppress
from typing import Annotated, Any

import typer

from .._build import core_info
from ..errors import ClipperPlusError
from . import bench, clique, demo, locate, map, pairs, register, view
from .streams import flushing_errors, open_what_is_closed

__all__ = ["app", "main"]

# The base of all usage errors; newer releases of typer bring their own copy of click, older ones import it.
_USAGE_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

_WRONG = 2
"""Exit status after wrong input, and where the answer could not be printed."""
_INTERRUPTED = 130
"""Exit status after Ctrl-C."""
_UNREAD = 141
"""Exit status where a pipe was closed: that of programs that SIGPIPE ends, as a shell says it."""

app = typer.Typer(
    name="clipperplus",
    help="The largest set of mutually consistent associations, as a maximum clique: fast and with proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("demo")(demo.command)
app.command("register")(register.command)
app.command("map")(map.command)
app.command("locate")(locate.command)
app.command("pairs")(pairs.command)
app.command("view")(view.command)
app.command("clique")(clique.command)
app.add_typer(bench.app, name="bench")


def _print_version(value: bool) -> None:
    if value:
        info = core_info()
        typer.echo(f"clipperplus {info.version} ({info.simd}, {info.compiler})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """The largest set of mutually consistent associations, as a maximum clique: fast and with proof."""


def main() -> None:
    """Run the command line; wrong input becomes one line on stderr and exit status 2."""
    open_what_is_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Unicode gets question marks, not a traceback
    status = _run()
    for error in flushing_errors():
        if isinstance(error, BrokenPipeError):
            status = _UNREAD
        elif status not in (_WRONG, _UNREAD):  # or else it is said already
            status = _fail(_what_went_wrong(error))
    sys.exit(status)


def _run() -> Any:
    """Run a command; return its status, after what was wrong has been said."""
    try:
        status = app(standalone_mode=False)
    except SystemExit as end:
        # Where a pipe is closed typer itself ends with status 1, which would mean that the answer is not to be trusted.
        return _UNREAD if isinstance(end.__context__, BrokenPipeError) else end.code
    except BrokenPipeError:
        return _UNREAD
    except _USAGE_ERROR as error:
        return _fail(error.format_message() or "no command given; see clipperplus --help")
    except ClipperPlusError as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(_what_went_wrong(error))
    except MemoryError:
        return _fail("not enough memory for this input")
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    if status == _INTERRUPTED:  # some releases of typer return it, some raise
        _say("interrupted")
    return status


def _what_went_wrong(error: OSError) -> str:
    """Return the reason and the file; what is printed is the one that is written without a name."""
    where = error.filename or ("standard output" if error.errno in (errno.EBADF, errno.ENOSPC) else None)
    return f"{error.strerror}: {where}" if where else str(error)


def _fail(message: str) -> int:
    _say(" ".join(message.split("\n")))
    return _WRONG


def _say(message: str) -> None:
    with suppress(OSError):  # there is nobody left to tell
        print("clipperplus:", message, file=sys.stderr)
