"""The command line in a process of its own, as a user runs it; and what a call of it in this process gives."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

PROGRAM = [sys.executable, "-c", "from clipperplus.cli import main; main()"]


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


Call: TypeAlias = Callable[..., Done]
"""``call("register", "a.ply", "b.ply")``: see the fixture ``call``."""


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
