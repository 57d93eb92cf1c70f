"""``clipperplus view`` in a process of its own, as a user runs it."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from command_line import PROGRAM


class Viewing(NamedTuple):
    process: subprocess.Popen[str]
    line: str
    """What was printed when it began."""
    url: str

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 0)

    def interrupt(self) -> tuple[int, str, str]:
        """Press Ctrl-C; return exit status and what was printed on stdout and stderr since the first line."""
        self.process.send_signal(signal.SIGINT)
        rest = self.process.communicate(timeout=30)
        return self.process.returncode, *rest


@contextmanager
def viewing(folder: Path, *arguments: str | Path) -> Iterator[Viewing]:
    """Run the viewer in a folder, on a port that is free, and end it whatever happens."""
    command = [*PROGRAM, "view", "--port", "0", *map(str, arguments)]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+:\d+/\S+", line)
        assert found, line or process.communicate(timeout=30)[1]
        yield Viewing(process, line, found[0])
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
