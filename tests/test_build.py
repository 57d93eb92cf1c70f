"""core_info and the choice of instruction set; what `import clipperplus` costs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import clipperplus as cp
from clipperplus import _core


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


def test_core_info_names_the_path_in_use(simd: str) -> None:
    info = cp.core_info()
    assert info.simd == simd
    assert info.simd_available[-1] == "portable"
    assert info.version == cp.__version__


@pytest.mark.parametrize("name", _core.simd_available())
def test_the_environment_chooses_the_path(name: str) -> None:
    done = run_python("import clipperplus; print(clipperplus.core_info().simd)", CLIPPERPLUS_SIMD=name)
    assert done.stdout.strip() == name


def test_an_unknown_path_is_warned_about_and_ignored() -> None:
    done = run_python("import clipperplus; print(clipperplus.core_info().simd)", CLIPPERPLUS_SIMD="mmx")
    assert "RuntimeWarning: CLIPPERPLUS_SIMD: expected one of" in done.stderr
    assert done.stdout.strip() == _core.simd_available()[0]
    with pytest.raises(ValueError, match="no such instruction set here: mmx"):
        _core.select_simd("mmx")


def test_import_brings_in_numpy_and_nothing_heavier() -> None:
    heavy = ("scipy", "networkx", "typer", "rich", "matplotlib", "click")
    code = f"import sys, clipperplus; print([m for m in {heavy} if m in sys.modules])"
    assert run_python(code).stdout.strip() == "[]"


def test_the_library_prints_nothing() -> None:
    code = (
        "import clipperplus as cp\n"
        "graph = cp.Graph.from_edges(200, [(i, (i * 7 + k) % 200) for i in range(200) for k in (1, 2, 3)"
        " if i != (i * 7 + k) % 200])\n"
        "for method in ('auto', 'exact', 'clipper+', 'greedy', 'relaxation'): cp.find_clique(graph, method=method)\n"
    )
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
