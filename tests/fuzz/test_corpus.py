"""What fuzzing begins with and has found is read without surprises, by every run of the tests; without Atheris."""

from __future__ import annotations

from pathlib import Path

import pytest
from readers import CORPUS, READERS, try_to_read

INPUTS = sorted(path for name in READERS for path in (CORPUS / name).iterdir())


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_an_input_is_read_or_refused_with_an_error_of_ours(path: Path, tmp_path: Path) -> None:
    name = path.parent.name
    if name == "laz":
        pytest.importorskip("lazrs")
    refused = try_to_read(READERS[name], tmp_path, path.read_bytes())
    if path.name.startswith("valid"):
        assert refused is None


def test_every_reader_has_a_valid_input_and_all_of_them_are_small() -> None:
    assert {path.parent.name for path in INPUTS if path.name.startswith("valid")} == set(READERS)
    assert sum(path.stat().st_size for path in CORPUS.rglob("*")) < 300_000
