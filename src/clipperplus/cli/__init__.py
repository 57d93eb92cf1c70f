"""The command line: one file per command.

Exit status: 0 done, 1 no trustworthy answer (the reason is said), 2 wrong input (one line on stderr, no traceback).
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ..errors import ClipperPlusError
from ..info import core_info
from . import clique

__all__ = ["app", "main"]

app = typer.Typer(
    name="clipperplus",
    help="The largest set of mutually consistent associations, as a maximum clique: fast and with proof.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("clique")(clique.command)


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
    try:
        app()
    except (ClipperPlusError, OSError) as error:
        message = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else str(error)
        print(f"clipperplus: {message}", file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("clipperplus: not enough memory for this input", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("clipperplus: interrupted", file=sys.stderr)
        sys.exit(130)
