"""Measure what epsilon and voxel size do: ``python docs/choosing.py`` writes the tables of docs/choosing.md.

Each table stands between two comments of the page and is replaced as a whole. Everything is simulated, so that the
truth is known; only the times depend on the machine. They are of the processor, but for those of cliques.
"""

from __future__ import annotations

import platform
import re
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Literal

import numpy as np

import clipperplus as cp
from clipperplus.synthetic import ScanPair, room_scans

PAGE = Path(__file__).resolve().parent / "choosing.md"
SCENES = 10
VOXEL_SIZES = (0.03, 0.05, 0.1, 0.2, 0.4, 0.6)
REFINED = (0.1, 0.2)
GICP: Literal["gicp"] = "gicp"
SHARES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
EPSILONS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28)
MATCHES, RIGHT, NOISE, SIDE = 1000, 30, 0.01, 10.0


def main() -> None:
    """Measure and write all tables."""
    scans = [room_scans(seed=seed) for seed in range(SCENES)]
    write("voxel size", measure_voxel_sizes(scans))
    write("epsilon of scans", measure_epsilon_of_scans(scans))
    write("epsilon of points", measure_epsilon_of_points())


def write(name: str, rows: list[Iterable[str]]) -> None:
    """Put a table in its place, with what it was measured with."""
    header, *body = (f"| {' | '.join(row)} |" for row in rows)
    rule = "| ---: " * header.count(" | ") + "| ---: |"
    info = cp.core_info()
    how = f"Python {platform.python_version()}, {info.simd}, one thread, whose processor time it is."
    made = f"Measured by `python docs/choosing.py`; {how}"
    block = "\n".join((f"<!-- measured: {name} -->", header, rule, *body, "", made, "<!-- end -->"))
    text, count = re.subn(f"<!-- measured: {name} -->.*?<!-- end -->", block, PAGE.read_text(), flags=re.DOTALL)
    assert count == 1, name
    PAGE.write_text(text)
    print(block, end="\n\n")


def measure_voxel_sizes(scans: list[ScanPair]) -> list[Iterable[str]]:
    """Register the same scans with voxels of many sizes."""
    rows: list[Iterable[str]] = [
        ("voxel size", "points matched", "matches", "right ones", "registered", "wrong, but OK", "error", "time")
    ]
    plain: list[tuple[float | None, Literal["gicp"] | None]] = [(size, None) for size in (None, *VOXEL_SIZES)]
    for size, refine in (*plain, *((size, GICP) for size in REFINED)):
        answers = [timed(pair, size, refine=refine) for pair in scans]
        sizes = sorted({f"{100.0 * (pose.voxel_size or 0.0):.0f}" for pose, _ in answers}, key=float)
        name = f"{sizes[0]} to {sizes[-1]} cm, chosen" if size is None else f"{sizes[0]} cm"
        name += ', `refine="gicp"`' if refine else ""
        rows.append((name, f"{median(len(pose.source_points) for pose, _ in answers):.0f}", *outcome(scans, answers)))
    return rows


def measure_epsilon_of_scans(scans: list[ScanPair]) -> list[Iterable[str]]:
    """Register the same scans with bounds that are shares of the voxel size."""
    rows: list[Iterable[str]] = [
        (
            "epsilon",
            "pairs that agree",
            "largest clique",
            "wrong ones in it",
            "error of its fit",
            "`register`",
            "time of the clique",
        )
    ]
    size = 0.1
    for share in SHARES:
        answers = [timed(pair, size, share * size) for pair in scans]
        wrong, fits = [], []
        for pair, (pose, _) in zip(scans, answers, strict=True):
            chosen = pose.clique.vertices
            wrong.append(1.0 - right_matches(pair, pose)[chosen].mean())
            first, second = pose.associations[chosen].T
            fits.append(errors_of(pair, cp.fit_transform(pose.source_points[first], pose.target_points[second])))
        rows.append(
            (
                "1 voxel" if share == 1.0 else f"{share:g} voxels",
                f"{median(pose.graph.density for pose, _ in answers):.1%}",
                f"{median(pose.clique.size for pose, _ in answers):.0f}",
                f"{median(wrong):.0%}",
                f"{median(turn for turn, _ in fits):.2f}°, {100.0 * median(shift for _, shift in fits):.1f} cm",
                f"{outcome(scans, answers)[2]}, {outcome(scans, answers)[4]}",
                f"{1e3 * median(pose.clique.seconds for pose, _ in answers):.1f} ms",
            )
        )
    return rows


def measure_epsilon_of_points() -> list[Iterable[str]]:
    """Solve matched points with noise of a known size, with many bounds."""
    rows: list[Iterable[str]] = [
        ("epsilon", "pairs that agree", "found of the right", "wrong among them", "status OK", "error", "time")
    ]
    for epsilon in EPSILONS:
        found, wrong, errors, times, density, trusted = [], [], [], [], [], 0
        for seed in range(SCENES):
            source, target, right, truth = matched_points(seed)
            start = time.process_time()
            pose = cp.solve(source, target, epsilon=epsilon)
            times.append(time.process_time() - start)
            hit = np.isin(pose.clique.vertices, right)
            found.append(hit.sum() / len(right))
            wrong.append(int(np.count_nonzero(~hit)))
            density.append(pose.graph.density)
            trusted += pose.status is cp.Status.OK
            if pose.T_target_source is not None:
                errors.append(float(cp.translation_error(pose.T_target_source, truth)))
        rows.append(
            (
                f"{epsilon:g} m, {epsilon / NOISE:g} σ",
                f"{median(density):.2%}",
                f"{median(found):.0%}",
                f"{median(wrong):.0f}",
                f"{trusted} of {SCENES}",
                f"{1e3 * median(errors):.1f} mm" if errors else "–",
                f"{1e3 * median(times):.1f} ms",
            )
        )
    return rows


def matched_points(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return source and target points, the numbers of the right matches, and the truth."""
    random = np.random.default_rng(seed)
    truth = room_scans(seed=seed, frames=1, resolution=8).T_target_source
    source, target = random.uniform(0.0, SIDE, (2, MATCHES, 3))
    right = np.sort(random.permutation(MATCHES)[:RIGHT])
    target[right] = cp.apply_transform(truth, source[right])
    source[right] += random.normal(0.0, NOISE, (RIGHT, 3))
    target[right] += random.normal(0.0, NOISE, (RIGHT, 3))
    return source, target, right, truth


def timed(
    pair: ScanPair, voxel_size: float | None, epsilon: float | None = None, refine: Literal["gicp"] | None = None
) -> tuple[cp.Pose, float]:
    """Register a pair and say how long it took."""
    start = time.process_time()
    pose = cp.register(pair.source, pair.target, voxel_size=voxel_size, epsilon=epsilon, refine=refine)
    return pose, time.process_time() - start


def right_matches(pair: ScanPair, pose: cp.Pose) -> np.ndarray:
    """Whether the true motion takes the source point of each match to within two voxels of the target point."""
    first, second = pose.associations.T
    moved = cp.apply_transform(pair.T_target_source, pose.source_points[first])
    return np.asarray(np.linalg.norm(moved - pose.target_points[second], axis=1) < 2.0 * (pose.voxel_size or 0.0))


def errors_of(pair: ScanPair, motion: np.ndarray) -> tuple[float, float]:
    """Return the errors of a transform in degrees and metres."""
    truth = pair.T_target_source
    return float(cp.rotation_error(motion, truth)), float(cp.translation_error(motion, truth))


def is_registered(pair: ScanPair, motion: np.ndarray | None) -> bool:
    """Whether a transform is within 15 degrees and 30 cm of the truth."""
    if motion is None:
        return False
    turn, shift = errors_of(pair, motion)
    return turn < 15.0 and shift < 0.3


def outcome(scans: list[ScanPair], answers: list[tuple[cp.Pose, float]]) -> tuple[str, ...]:
    """Return matches, right ones, pairs that were registered, pairs that were not but trusted, errors and time."""
    errors, trusted = [], 0
    for pair, (pose, _) in zip(scans, answers, strict=True):
        if is_registered(pair, pose.T_target_source):
            errors.append(errors_of(pair, np.asarray(pose.T_target_source)))
        else:
            trusted += pose.status is cp.Status.OK
    typical = [median(column) for column in zip(*errors, strict=True)]
    return (
        f"{median(len(pose.associations) for pose, _ in answers):.0f}",
        f"{median(float(right_matches(p, a[0]).mean()) for p, a in zip(scans, answers, strict=True)):.0%}",
        f"{len(errors)} of {len(scans)}",
        f"{trusted}",
        f"{typical[0]:.2f}°, {100.0 * typical[1]:.1f} cm" if errors else "–",
        f"{1e3 * median(seconds for _, seconds in answers):.0f} ms",
    )


if __name__ == "__main__":
    main()
