"""The answers that the C++ tests expect are those that Python gives."""

from __future__ import annotations

import itertools

import pytest
from matched_points import FILE, Problem, problems, render

PROBLEMS = list(problems())


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_the_file_has_the_answers_of_solve(problem: Problem) -> None:
    kept = FILE.read_text("utf-8").split("end\n")[PROBLEMS.index(problem)].split()
    found = render(problem).removesuffix("end\n").split()
    assert len(kept) == len(found)
    for there, here in zip(kept, found, strict=True):
        if there != here:
            assert float(there) == pytest.approx(float(here), rel=0.0, abs=1e-9)


def test_the_file_has_every_kind_of_answer() -> None:
    words = FILE.read_text("utf-8").split()
    statuses = {after for word, after in itertools.pairwise(words) if word == "status"}
    assert statuses >= {"ok", "degenerate", "ambiguous", "too-few-inliers"}
    assert words.count("problem") == len(PROBLEMS)
