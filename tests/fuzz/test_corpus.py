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


HEADERS = {
    "dimacs": "p edge 3 2\ne ",
    "matrix_market": "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n",
    "ply": "ply\nformat ascii 1.0\nelement vertex 2\n"
    + "".join(f"property float {axis}\n" for axis in "xyz")
    + "end_header\n",
    "pcd": "FIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nPOINTS 2\nDATA ascii\n",
    "g2o": "VERTEX_SE3:QUAT 0 ",
    "map_index": '{"format": ',
    "pair_list": "a,b,matches=",
}
"""What comes before a number in the files of text that begin with something else."""
LONG = ("1", "1.", ".", "0", "-", "+1", "d", "1d", "d1", "1e", "a", "_", "(", ":", "1.#", "1,", "1;", "\t", '"')


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "name", [*HEADERS, "edge_list", "csv", "xyz", "log", "info", "tum", "kitti_poses", "transform", "poses"]
)
def test_long_words_take_no_time(name: str, tmp_path: Path) -> None:
    for piece in LONG:
        word = piece * (150_000 // len(piece))
        for text in (f"{word}x 2 3\n1 2 3\n", f"1 2 3\n{word} 2 3\n", f"# {word}\n1 2 3\n"):
            try_to_read(READERS[name], tmp_path, (HEADERS.get(name, "") + text).encode())
