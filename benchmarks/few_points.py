"""What the confidence is worth where few points are left, because voxels are large for the scene.

The weights of ``confidence.py`` come from scans with thousands of points. Here simulated rooms and streets are
registered with ever larger voxels, each source with its target and with the target of another place; what is fitted is
how much the logit has to fall with the logarithm of the number of points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from common import argument_parser, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.registration.confidence import ENOUGH_POINTS, WEIGHT_OF_FEW_POINTS
from clipperplus.synthetic import ScanPair, room_scans, street_scans

Array = npt.NDArray[np.float64]

SCENES: dict[str, tuple[Callable[..., ScanPair], int, tuple[float, ...], str]] = {
    "room": (room_scans, 40, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8), "3DMatch"),
    "street": (street_scans, 20, (0.6, 1.0, 2.0, 3.0, 4.0, 6.0), "KITTI-2m"),
}
"""How to simulate, how many, voxel sizes in metres, and the protocol that says what is right."""


@dataclass(frozen=True)
class Answer:
    """A transform that was returned."""

    scene: str
    voxel_size: float
    pose: cp.Pose
    right: bool

    @property
    def logit(self) -> float:
        """That of the confidence if there were enough points."""
        chance = replace(self.pose.evidence, points=ENOUGH_POINTS).confidence()
        return math.log(max(chance, 1e-300)) - math.log(max(1.0 - chance, 1e-16))

    @property
    def lack(self) -> float:
        """Logarithm of how many of enough points there are; 0 if there are enough."""
        return math.log(min(1.0, (self.pose.evidence.points or ENOUGH_POINTS) / ENOUGH_POINTS))

    def accepted(self, weight: float) -> bool:
        """Whether it would be reported as OK with this weight."""
        settled = self.pose.status in (cp.Status.OK, cp.Status.UNCERTAIN)
        return settled and self.logit + weight * self.lack >= 0.0


def measure() -> list[Answer]:
    """Register everything."""
    answers = []
    for scene, (simulate, count, sizes, protocol) in SCENES.items():
        pairs = [simulate(seed=seed) for seed in range(count)]
        for mine, other in zip(pairs, pairs[1:] + pairs[:1], strict=True):
            for size in sizes:
                for target, truth in ((mine.target, mine.T_target_source), (other.target, None)):
                    pose = cp.register(mine.source, target, voxel_size=size)
                    if pose.T_target_source is None:
                        continue
                    answers.append(Answer(scene, size, pose, _is_right(pose.T_target_source, truth, protocol)))
    return answers


def _is_right(motion: Array, truth: Array | None, protocol: str) -> bool:
    if truth is None:
        return False
    return bool(cp.evaluate.evaluate_pairs(motion[None], truth[None], protocol=protocol).success[0])


def fit(answers: list[Answer]) -> float:
    """Return the weight of the greatest likelihood, by Newton's method; the logits without it are given."""
    logits, lacks, right = (
        np.array(column) for column in zip(*((a.logit, a.lack, a.right) for a in answers), strict=True)
    )
    weight = 0.0
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(np.clip(-(logits + weight * lacks), -700.0, 700.0)))
        weight += float(lacks @ (right - chance)) / float((lacks**2) @ (chance * (1.0 - chance)))
    return weight


def main() -> None:
    """Measure, fit, tell."""
    argument_parser(__doc__ or "").parse_known_args()
    answers = measure()
    weight = fit(answers)
    rows = []
    for scene, (_, _, sizes, _) in SCENES.items():
        for size in sizes:
            chosen = [a for a in answers if (a.scene, a.voxel_size) == (scene, size)]
            right, wrong = ([a for a in chosen if a.right is kind] for kind in (True, False))
            cells = [f"{scene}, {size:g} m", f"{np.median([a.pose.evidence.points or 0 for a in chosen]):.0f}"]
            for kind in (right, wrong):
                cells += [str(len(kind)), *(str(sum(a.accepted(w) for a in kind)) for w in (0.0, WEIGHT_OF_FEW_POINTS))]
            rows.append(tuple(cells))
    titles = ("voxels of", "points", "right", "OK without", "OK with", "wrong", "OK without", "OK with")
    body = f"""Simulated scans, registered with scans of the same place and of another one. Of the right and of the
wrong answers, those reported as `OK` without and with the number of points as evidence:

{markdown_table(titles, rows)}
Points are those of the smaller cloud. Weight of the logarithm of points / {ENOUGH_POINTS}, where there are fewer:
{weight:.2f} fitted here, {WEIGHT_OF_FEW_POINTS} shipped.
"""
    write_report("few_points", "Confidence with few points", "python benchmarks/few_points.py", body)


if __name__ == "__main__":
    main()
