"""The command line as a function."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Call, Done

from clipperplus.cli import main


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Return the command line as a function: a process for every call would take longer than the calls."""
    monkeypatch.setenv("COLUMNS", "200")

    def answer(*arguments: str | Path) -> Done:
        monkeypatch.setattr("sys.argv", ["clipperplus", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Done(end.value.code or 0, *capsys.readouterr())

    return answer
