"""Matched points with the answers of ``solve``, in a file that the C++ tests read: ``python tests/matched_points.py``.

The same file is checked from both sides, so that Python and C++ give the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

import clipperplus as cp

FILE = Path(__file__).parent / "cpp" / "matched_points.txt"

_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Points, which of them are matched, and by how much distances may differ."""

    name: str
    source: _Array
    target: _Array
    associations: npt.NDArray[np.int64]
    epsilon: _Array
    """One number, or one per association."""

    def solve(self) -> cp.Pose:
        epsilon = float(self.epsilon[0]) if len(self.epsilon) == 1 else self.epsilon
        return cp.solve(self.source, self.target, self.associations, epsilon=epsilon)


def problems() -> Iterator[Problem]:
    """One of each kind of answer."""
    yield _problem("few of many", 1, right=15, wrong=45, noise=0.01)
    yield _problem("noise as large as epsilon", 2, right=40, wrong=10, noise=0.04)
    yield _problem("far from the origin", 3, right=20, wrong=20, noise=0.01, offset=4000.0)
    bounds = np.random.default_rng(4).uniform(0.01, 0.06, 50).round(4)
    yield _problem("a bound for each", 4, right=30, wrong=20, noise=0.01, epsilon=bounds)
    yield _problem("on a line", 5, right=20, wrong=20, noise=0.005, flat=(1.0, 0.0, 0.0))
    yield _problem("on a plane", 6, right=20, wrong=20, noise=0.005, flat=(1.0, 1.0, 0.0))
    yield _problem("two motions", 7, right=20, wrong=10, noise=0.005, second=19)
    yield _problem("nothing agrees", 8, right=0, wrong=6, noise=0.0)


def _problem(
    name: str,
    seed: int,
    *,
    right: int,
    wrong: int,
    noise: float,
    offset: float = 0.0,
    flat: tuple[float, float, float] = (1.0, 1.0, 1.0),
    second: int = 0,
    epsilon: _Array | None = None,
) -> Problem:
    random = np.random.default_rng(seed)
    count = right + wrong + second
    source = random.uniform(-2.0, 2.0, (count, 3))
    source[:right] *= flat
    target = random.uniform(-2.0, 2.0, (count, 3))
    for part in (slice(right), slice(count - second, count)):
        turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        target[part] = (
            source[part] @ turn.T + random.uniform(-3.0, 3.0, 3) + random.normal(0.0, noise, (count, 3))[part]
        )
    order = random.permutation(count)
    return Problem(
        name=name,
        source=(source + offset).round(4),
        target=(target[order] - offset).round(4),
        associations=np.column_stack((np.arange(count), np.argsort(order))),
        epsilon=np.array([0.05]) if epsilon is None else epsilon,
    )


def render(problem: Problem) -> str:
    """Return a problem and its answer, number after number."""
    pose = problem.solve()
    lines = [f"problem {problem.name.replace(' ', '-')}", f"points {len(problem.source)}"]
    for rows in (problem.source, problem.target, problem.associations):
        lines += [" ".join(map(repr, row)) for row in rows.tolist()]
    lines += [f"epsilon {len(problem.epsilon)} " + " ".join(map(repr, problem.epsilon.tolist()))]
    lines += [f"status {pose.status.value.replace(' ', '-')}", f"edges {pose.graph.num_edges}"]
    lines += [f"clique {pose.clique.size} {pose.clique.upper_bound} " + " ".join(map(str, pose.clique.vertices))]
    if pose.T_target_source is not None:
        motions = [pose.T_target_source, *(other.T_target_source for other in pose.alternatives)]
        supports = [pose.clique.size, *(other.support for other in pose.alternatives)]
        for motion, support in zip(motions, supports, strict=True):
            lines.append(f"motion {support} " + " ".join(map(repr, motion.ravel().tolist())))
        lines.append("residuals " + " ".join(map(repr, pose.residuals.tolist())))
    return "\n".join([*lines, "end", ""])


if __name__ == "__main__":
    FILE.write_text("".join(map(render, problems())), encoding="utf-8")
