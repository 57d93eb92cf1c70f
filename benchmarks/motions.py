"""Motions that are less, or more, than rigid: unknown scales, known gravity, motions in a plane; beside rigid ones."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import Scans, argument_parser, scans_of, write_report
from registration import SEQUENCE_PAIRS, SEQUENCES, shared

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.geometry.poses import from_quaternions
from clipperplus.synthetic import laser_scans, scan_features

Points = npt.NDArray[np.float64]

SEEDS = 40
"""Of every simulated case."""
SCALES = (0.1, 0.3, 1.0, 3.0, 10.0)
MATCHES, OUTLIERS = (200, 1000, 5000), (0.8, 0.9, 0.95)
HALLS = 100
ELSEWHERE_PAIRS = 60
FRAMES = {"as they are": None, "levelled": 0.0, "levelled to 0.5°": 0.5}
"""Degrees by which gravity is known to be off, root mean square about either horizontal axis; None: it is not used."""


def simulated(scale: float, count: int, outliers: float, seed: int, follow: bool) -> tuple[Points, Points, Points]:
    """Return matched points of which some follow a similarity; the others are where right ones may be, or anywhere."""
    random = np.random.default_rng(seed)
    w, *xyz = random.normal(size=4)
    truth = np.asarray(from_quaternions(np.array([*xyz, w]), random.uniform(-3.0, 3.0, 3)))
    truth[:3, :3] *= scale
    source = random.uniform(-5.0, 5.0, (count, 3))
    target = source @ truth[:3, :3].T + truth[:3, 3] + scale * random.normal(0.0, 0.01, source.shape)
    low, high = (target.min(axis=0), target.max(axis=0)) if follow else (-8.0, 8.0)
    wrong = round(outliers * count)
    target[:wrong] = random.uniform(low, high, (wrong, 3))
    return source, target, truth


def scale_table() -> str:
    """Find scales among wrong matches."""
    lines = []
    for count, outliers in itertools.product(MATCHES, OUTLIERS):
        seeds = SEEDS if count < 5000 else SEEDS // 4
        cells, times = [], []
        for scale in SCALES:
            right = 0
            for seed in range(seeds):
                source, target, truth = simulated(scale, count, outliers, seed, follow=seed % 2 == 0)
                pose = cp.solve(source, target, epsilon=0.05 * scale, motion="similarity")
                times.append(1e3 * pose.seconds)
                if pose.scale is not None and pose.T_target_source is not None and pose.status is cp.Status.OK:
                    near = abs(pose.scale / scale - 1.0) < 0.01
                    right += near and cp.rotation_error(pose.T_target_source, truth) < 1.0
            cells.append(f"{right} of {seeds}")
        lines.append((count, f"{outliers:.0%}", *cells, f"{statistics.median(times):.0f}"))
    return markdown_table(("matches", "outliers", *(f"scale {scale:g}" for scale in SCALES), "ms"), lines)


def bunny_table(data: Path) -> str:
    """Register scans of a bunny, one in millimetres, the other in metres."""
    stored = np.load(data / "scans" / "stanford_bunny" / "bunny_10scans.npz")
    lines = []
    for first, second in itertools.combinations(map(str, stored["names"]), 2):
        source, target = stored[f"p_{first}"], stored[f"p_{second}"]
        there = np.linalg.inv(stored[f"X_{second}"]) @ stored[f"X_{first}"]
        moved = source @ there[:3, :3].T + there[:3, 3]
        if min(shared(moved, target), shared(target, moved)) <= 0.5:
            continue
        truth = cp.fit_transform(source, moved)
        for units, here, scale in (("mm onto m", 1.0, 1e-3), ("m onto mm", 1e-3, 1e3)):
            pose = cp.register(here * source, here * scale * target, motion="similarity")
            assert pose.T_target_source is not None, (first, second)
            assert pose.scale is not None
            off = np.linalg.norm(pose.T_target_source[:3, 3] / (here * scale) - truth[:3, 3])
            lines.append(
                (
                    f"{first} – {second}",
                    units,
                    f"{pose.scale / scale - 1.0:+.2%} ± {pose.scale_deviation:.2%}",
                    f"{cp.rotation_error(pose.T_target_source, truth):.2f}°, {off:.2f} mm",
                    f"{pose.status.value}, {pose.confidence:.3f}",
                    f"{1e3 * pose.seconds:.0f}",
                )
            )
    return markdown_table(("scans", "units", "scale is off by", "error", "status, confidence", "ms"), lines)


def matches_table(data: Path) -> str:
    """Solve correspondences of KITTI by rigid motions, and with gravity taken for z."""
    lines = []
    for path in sorted((data / "scans" / "kitti").glob("*.npz")):
        stored = np.load(path)
        source, target, truth = (stored[key].astype(np.float64) for key in ("kp_src", "kp_dst", "T"))
        tilt = np.degrees(np.arccos(min(1.0, float(truth[2, 2]))))
        for epsilon, motion in itertools.product((0.3, 0.6), ("rigid", "yaw")):
            poses = [cp.solve(source, target, epsilon=epsilon, motion=motion) for _ in range(5)]
            pose, milliseconds = poses[0], statistics.median(1e3 * one.seconds for one in poses)
            assert pose.T_target_source is not None
            turned = cp.rotation_error(pose.T_target_source, truth)
            moved = cp.translation_error(pose.T_target_source, truth)
            lines.append(
                (
                    f"{path.stem}, {len(source)}",
                    f"{tilt:.2f}°",
                    f"{epsilon:g} m",
                    motion,
                    pose.num_inliers,
                    f"{pose.graph.num_edges}",
                    f"{turned:.2f}°, {moved:.2f} m",
                    f"{pose.status.value}, {pose.confidence:.3f}",
                    f"{milliseconds:.1f}",
                )
            )
    titles = ("pair, matches", "tilt", "epsilon", "motion", "agree", "edges", "error", "status, confidence", "ms")
    return markdown_table(titles, lines)


def levelled(scans: Scans, noise: float | None) -> Scans:
    """Return the scans with the world's z up, as an inertial sensor would tell it, and off by so many degrees."""
    if noise is None:
        return scans
    random = np.random.default_rng(1)
    clouds, poses = [], []
    for cloud, pose in zip(*scans, strict=True):
        z, up = np.array([0.0, 0.0, 1.0]), pose[2, :3]
        turn = 2.0 * np.outer(z, up) + np.eye(3) - np.outer(up + z, up + z) / (1.0 + up[2])
        x, y = np.radians(noise) * random.normal(size=2)
        off = from_quaternions(np.array([0.5 * x, 0.5 * y, 0.0, 1.0]), np.zeros(3))
        frame = np.eye(4)
        frame[:3, :3] = off[:3, :3] @ turn
        clouds.append(cloud @ frame[:3, :3].T)
        poses.append(pose @ np.linalg.inv(frame))
    return Scans(clouds, np.array(poses))


def compare(jobs: Iterator[tuple[Points, Points, Points | None, float]]) -> dict[str, list[tuple[bool, bool, float]]]:
    """Register pairs by both motions: whether each is right, whether it is said to be, and how long it took."""
    results: dict[str, list[tuple[bool, bool, float]]] = {"rigid": [], "yaw": []}
    for source, target, truth, bound in jobs:
        for motion, found in results.items():
            start = time.perf_counter()
            pose = cp.register(source, target, motion=motion)
            taken = time.perf_counter() - start
            T = pose.T_target_source
            right = T is not None and truth is not None
            if T is not None and truth is not None:
                right = cp.translation_error(T, truth) < bound and cp.rotation_error(T, truth) < 5.0
            found.append((bool(right), pose.status is cp.Status.OK, 1e3 * taken))
    return results


def rows(about: tuple[Any, ...], results: dict[str, list[tuple[bool, bool, float]]]) -> Iterator[tuple[Any, ...]]:
    """Return a line for each motion."""
    for motion, found in results.items():
        right, trusted, taken = (np.array(column) for column in zip(*found, strict=True))
        lies = int((trusted & ~right).sum())
        times = f"{np.median(taken):.0f}", f"{np.mean(taken):.0f}"
        yield *about, motion, len(found), f"**{right.mean():.3f}**", int(trusted.sum()), lies, *times


def sequence_table(data: Path) -> str:
    """Register scans of lidars, in their own frames and with gravity known."""
    lines: list[tuple[Any, ...]] = []
    for (name, (least, most, bound, _)), (frame, noise) in itertools.product(SEQUENCES.items(), FRAMES.items()):
        scans = levelled(scans_of(data, name), noise)
        pairs = scans.pairs_apart(least, most)
        chosen = pairs[np.random.default_rng(0).permutation(len(pairs))[:SEQUENCE_PAIRS]].tolist()
        truths = [scans.motion(i, j) for i, j in chosen]
        tilts = np.degrees([np.arccos(min(1.0, float(truth[2, 2]))) for truth in truths])
        jobs = ((scans.clouds[j], scans.clouds[i], truth, bound) for (i, j), truth in zip(chosen, truths, strict=True))
        about = name, frame, f"{np.median(tilts):.2f}°, {tilts.max():.1f}°"
        lines += rows(about, compare(jobs))
    every = {name: levelled(scans_of(data, name), 0.0) for name in SEQUENCES}
    lines += rows(("different places", "levelled", ""), compare(elsewhere(every)))
    titles = ("sequence", "frames", "tilt: median, most", "motion", "pairs", "recall", "OK", "lies", "ms", "ms, mean")
    return markdown_table(titles, lines)


def elsewhere(sequences: dict[str, Scans]) -> Iterator[tuple[Points, Points, None, float]]:
    """Return pairs of scans of different places."""
    random = np.random.default_rng(2)
    for _ in range(ELSEWHERE_PAIRS):
        clouds = [sequences[name].clouds for name in random.permutation(sorted(sequences))[:2]]
        source, target = (some[int(random.integers(len(some)))] for some in clouds)
        yield source, target, None, 0.0


def planar_table() -> str:
    """Match all features of two simulated scans in a plane with all."""
    found: dict[str, list[cp.Pose]] = {"the same hall": [], "different halls": []}
    right, counts, errors = 0, [], []
    for seed in range(HALLS):
        scans = laser_scans(seed=seed)
        source, target = scan_features(scans.source), scan_features(scans.target)
        others = {"the same hall": target, "different halls": scan_features(laser_scans(seed=seed + HALLS).target)}
        for name, features in others.items():
            matches = np.array([(i, j) for i in range(len(source)) for j in range(len(features))])
            found[name].append(cp.solve(source, features, matches, epsilon=0.08, motion="planar"))
        counts.append(len(source) * len(target))
        T = found["the same hall"][-1].transform_2d
        if T is not None:
            left = np.linalg.inv(scans.T_target_source) @ T
            turn, shift = np.degrees(abs(np.arctan2(left[1, 0], left[0, 0]))), float(np.linalg.norm(left[:2, 2]))
            errors.append((turn, 1e3 * shift))
            right += bool(turn < 1.0 and shift < 0.1)
    lines = [
        (
            name,
            len(poses),
            f"{statistics.median(counts):.0f}",
            f"{statistics.median(pose.clique.size for pose in poses):.0f}",
            f"**{right}**" if name == "the same hall" else "",
            sum(pose.status is cp.Status.OK for pose in poses),
            "{:.3f}°, {:.1f} mm".format(*np.median(errors, axis=0)) if name == "the same hall" else "",
            f"{statistics.median(1e3 * pose.seconds for pose in poses):.1f}",
        )
        for name, poses in found.items()
    ]
    return markdown_table(("scans of", "pairs", "matches", "agree", "right", "OK", "error", "ms"), lines)


def main() -> None:
    """Measure, and write the report."""
    options, _ = argument_parser(__doc__ or "").parse_known_args()
    body = f"""One thread.

## An unknown scale, matched points

Points in a box of 10 m, noise of 1 cm, epsilon 5 cm, all of it times the scale in the target. Wrong matches are
anywhere in the box of the right ones, or, of every second case, in one that does not know the scale. Counted are
answers that are `OK`, within 1 % of the scale and 1°. Wanted: scales from 0.1 to 10 at 90 % outliers.

{scale_table()}
## A bunny in millimetres, and one in metres

Range scans of which more than half is shared, by `register(…, motion="similarity")`, with nothing given but the points.

{bunny_table(options.data)}
## Gravity known: matches

Correspondences of KITTI, 10 m apart. The frames are those of a lidar on a car: z is taken for up, and is off by what
the true motion tilts. Wanted: at least what rigid motions find, in less time.

{matches_table(options.data)}
## Gravity known: clouds

By `register`, as in [registration](registration.md): right within 5° and 60 cm (car) or 40 cm. Lies are answers that
are `OK` and not right. In their own frames, only the car is nearly upright; levelled, each scan was turned by the
direction of gravity that its true pose says, as an inertial sensor measures it, exactly or off by 0.5° about either
axis. The bounds from which on an answer is taken for tilted were chosen on these pairs, on 150 of the 300 in their own
frames and 90 of the levelled ones: without them there were 3, 10 and 17 lies in their own frames; how many there are
on scans that were not looked at is not known. Wanted, with gravity known: at least the recall of rigid motions, fewer
lies, less time.

{sequence_table(options.data)}
## In a plane

Simulated scans of a laser in a hall, posts and corners, all matched with all. Right within 1° and 10 cm.

{planar_table()}"""
    write_report("motions", "Motions", "python benchmarks/motions.py --data DIR", body)


if __name__ == "__main__":
    main()
