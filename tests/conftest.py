"""Fixtures: the instruction sets of this machine, its browser, and the real data, where there is any."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import find_chromium, launch
from hypothesis import settings

from clipperplus import _core

settings.register_profile("default", deadline=None, max_examples=300, print_blob=True)
settings.load_profile("default")

SIMD_PATHS = _core.simd_available()


@pytest.fixture(params=SIMD_PATHS)
def simd(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run the test once on every instruction set that this processor has."""
    before = _core.simd_selected()
    _core.select_simd(request.param)
    yield request.param
    _core.select_simd(before)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return where a browser is; without one the test is skipped, but not where all tests must run."""
    try:
        return find_chromium()
    except FileNotFoundError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    """Start a browser."""
    with launch() as started:
        yield started


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder with dimacs/ and graphs/: $CLIPPERPLUS_DATA, or shared/data beside the checkout."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("CLIPPERPLUS_DATA", default))
    if not (folder / "graphs").is_dir():
        pytest.skip(f"no benchmark data at {folder}; set CLIPPERPLUS_DATA to the folder that has dimacs/ and graphs/")
    return folder
