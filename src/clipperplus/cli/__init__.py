"""The command line: one file per command.

Exit status: 0 done, 1 no trustworthy answer (the reason is said), 2 wrong input (one line on stderr, no traceback),
70 a mistake of this program (one line, too), 130 ended by Ctrl-C, 141 nobody read all that it printed (``| head``).
"""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated, Any

import typer

from .._build import core_info
from ..errors import ClipperPlusError
from . import bench, clique, demo, locate, map, pairs, register, view
from .printing import visible
from .streams import printing_error, unfailing_streams

__all__ = ["app", "main"]

# The base of all usage errors; newer releases of typer bring their own copy of click, older ones import it.
_USAGE_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

_WRONG = 2
"""Exit status after wrong input, and where the answer could not be printed."""
_MISTAKEN = 70
"""Exit status after an error that nobody expected: what ``sysexits.h`` has for mistakes of a program."""
_INTERRUPTED = 130
"""Exit status after Ctrl-C."""
_UNREAD = 141
"""Exit status where a pipe was closed: that of programs that SIGPIPE ends, as a shell says it."""
_TRACEBACK = "CLIPPERPLUS_TRACEBACK"
"""Variable of the environment that asks for more than a line about what nobody expected."""

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
    unfailing_streams()
    if os.environ.get("COLUMNS") == "0":  # so terminals say that they do not know; rich would print nothing
        del os.environ["COLUMNS"]
    status = _run()
    error = printing_error()
    if error is not None and status in (None, 0, 1):  # or else something worse is said already
        status = _ended_by(error)
    sys.exit(status)


def _run() -> Any:
    """Run a command; return its status, after what was wrong has been said."""
    try:
        status = app(standalone_mode=False)
    except SystemExit as end:
        # Where a pipe is closed typer itself ends with status 1, which would mean that the answer is not to be trusted.
        return _UNREAD if isinstance(end.__context__, BrokenPipeError) else end.code
    except _USAGE_ERROR as error:
        return _fail(error.format_message() or "no command given; see clipperplus --help")
    except ClipperPlusError as error:
        return _fail(str(error))
    except OSError as error:
        return _ended_by(error)
    except MemoryError:
        return _fail("not enough memory for this input")
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    except Exception as error:
        # Never 1, with which Python would end: that is the status of an answer.
        if os.environ.get(_TRACEBACK):
            traceback.print_exc()
        hint = f"please report it ({_TRACEBACK}=1 shows where)"
        return _fail(f"internal error: {type(error).__name__}: {error}; {hint}", _MISTAKEN)
    if status == _INTERRUPTED:  # some releases of typer return it, some raise
        _say("interrupted")
    return status


def _ended_by(error: OSError) -> int:
    """Say the reason and the file, unless it is a pipe from which nobody reads any more; return the status."""
    if isinstance(error, BrokenPipeError):
        return _UNREAD
    return _fail(f"{error.strerror}: {error.filename}" if error.filename else str(error))


def _fail(message: str, status: int = _WRONG) -> int:
    _say(visible(" ".join(message.split("\n"))))
    return status


def _say(message: str) -> None:
    print("clipperplus:", message, file=sys.stderr)
