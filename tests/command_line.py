"""The command line in a process of its own, as a user runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = [sys.executable, "-c", "from clipperplus.cli import main; main()"]


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
