"""The command line: one file per command.

Exit status: 0 done, 1 no trustworthy answer (the reason is said), 2 wrong input (one line on stderr, no traceback),
130 ended by Ctrl-C.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any, NoReturn

import typer

from .._build import core_info
from ..errors import ClipperPlusError
from . import bench, clique, demo, locate, map, pairs, register, view

__all__ = ["app", "main"]

# The base of all usage errors; newer releases of typer bring their own copy of click, older ones import it.
_USAGE_ERROR: Any = next(base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException")

_INTERRUPTED = 130
"""Exit status after Ctrl-C."""

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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without Unicode gets question marks, not a traceback
    try:
        status = app(standalone_mode=False)
    except _USAGE_ERROR as error:
        _fail(error.format_message() or "no command given; see clipperplus --help")
    except ClipperPlusError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.strerror}: {error.filename}" if error.filename else str(error))
    except MemoryError:
        _fail("not enough memory for this input")
    except (KeyboardInterrupt, typer.Abort):
        status = _INTERRUPTED
    if status == _INTERRUPTED:  # some releases of typer return it, some raise
        print("clipperplus: interrupted", file=sys.stderr)
    sys.exit(status)


def _fail(message: str) -> NoReturn:
    print("clipperplus:", " ".join(message.split("\n")), file=sys.stderr)
    sys.exit(2)
