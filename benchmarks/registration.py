"""Registration of real scans, from raw points to a transform: recall, errors, time of every step, false alarms.

Writes a table, and ``results/registration/pairs.csv``, which ``confidence.py`` and ``registration_peers.py`` read.
"""

from __future__ import annotations

import csv
import itertools
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import RESULTS, argument_parser, write_report

import clipperplus as cp
from clipperplus.bench.fragments import FragmentPair, Scene, find_scenes
from clipperplus.bench.tables import markdown_table
from clipperplus.evaluation import PROTOCOLS

BENCHMARKS = ("3DMatch", "3DLoMatch")
VOXEL_SIZE = 0.05
WRONG_PAIRS = 1000
PAIRS = RESULTS / "registration" / "pairs.csv"
WANTED_RECALL = {"3DMatch": 0.97, "3DLoMatch": 0.72}
WANTED_MS = 120.0

Points = npt.NDArray[np.float64]
Row = dict[str, Any]


def is_right(T: Points | None, truth: Points, protocol: str = "3DMatch") -> bool:
    """Whether a transform is near the true one, by a protocol."""
    rule = PROTOCOLS[protocol]
    assert rule.max_rotation_deg is not None
    assert rule.max_translation is not None
    if T is None:
        return False
    turned, moved = cp.rotation_error(T, truth), cp.translation_error(T, truth)
    return bool(turned < rule.max_rotation_deg and moved < rule.max_translation)


def measure(source: Points, target: Points, truth: Points | None) -> tuple[Row, cp.Pose]:
    """Register one pair, with and without free space, and by the largest clique alone; no truth: none is right."""
    pose = cp.register(source, target, voxel_size=VOXEL_SIZE)
    plain = cp.solve(pose.source_points, pose.target_points, pose.associations, epsilon=VOXEL_SIZE)
    blind = cp.register(source, target, voxel_size=VOXEL_SIZE, free_space=False)
    row: Row = {"milliseconds": 1e3 * pose.seconds, "status": pose.status.value, "confidence": pose.confidence}
    row |= {name: getattr(pose.evidence, name) for name in ("associations", "explained", "runner_up")}
    row |= {name: getattr(pose.evidence, name) for name in ("overlap", "against", "conflict", "undetermined")}
    row |= {"clique": pose.clique.size, "proven": int(pose.clique.optimal)}
    row |= {"plain_runner_up": plain.evidence.runner_up, "plain_confidence": plain.confidence}
    blindly = ("explained", "overlap", "against", "runner_up", "undetermined")
    row |= {f"blind_{name}": getattr(blind.evidence, name) for name in blindly}
    row |= {"right": 0, "plain_right": 0, "blind_right": 0, "rotation_error": "", "translation_error": ""}
    if truth is not None:
        row["right"] = int(is_right(pose.T_target_source, truth))
        row["plain_right"] = int(is_right(plain.T_target_source, truth))
        row["blind_right"] = int(is_right(blind.T_target_source, truth))
        if pose.T_target_source is not None:
            row["rotation_error"] = cp.rotation_error(pose.T_target_source, truth)
            row["translation_error"] = cp.translation_error(pose.T_target_source, truth)
    return row, pose


def true_pairs(data: Path) -> Iterator[tuple[str, FragmentPair]]:
    """Return the pairs of both benchmarks."""
    for benchmark in BENCHMARKS:
        for scene in find_scenes(data / "scans" / "3dmatch", benchmark=benchmark):
            yield from ((benchmark, pair) for pair in scene.pairs())


def wrong_pairs(scenes: list[Scene]) -> Iterator[tuple[Scene, int, Scene, int]]:
    """Return pairs of fragments of different places."""
    random = np.random.default_rng(7)
    numbers = {scene.name: sorted(scene.numbers()) for scene in scenes}
    for _ in range(WRONG_PAIRS):
        first, second = (scenes[k] for k in random.permutation(len(scenes))[:2])
        yield first, int(random.choice(numbers[first.name])), second, int(random.choice(numbers[second.name]))


def measure_fragments(data: Path, every: int) -> tuple[list[Row], dict[str, list[float]]]:
    """Register all pairs, right and wrong ones; return a row for each, and the times of the steps."""
    clouds: dict[tuple[str, int], Points] = {}

    def points(scene: Scene, number: int) -> Points:
        return clouds.setdefault((scene.name, number), scene.points(number))

    rows: list[Row] = []
    steps: dict[str, list[float]] = defaultdict(list)

    def add(about: Row, source: Points, target: Points, truth: Points | None) -> None:
        row, pose = measure(source, target, truth)
        rows.append(about | row)
        for stage in pose.stages:
            steps[stage.name].append(1e3 * stage.seconds)
        print(f"\r{len(rows)} pairs", end="", file=sys.stderr)

    for benchmark, pair in itertools.islice(true_pairs(data), 0, None, every):
        about = {"benchmark": benchmark, "target": pair.scene.name, "i": pair.i, "source": pair.scene.name, "j": pair.j}
        add(about, points(pair.scene, pair.j), points(pair.scene, pair.i), pair.T_i_j)
    scenes = find_scenes(data / "scans" / "3dmatch")
    for first, i, second, j in itertools.islice(wrong_pairs(scenes), 0, None, every):
        about = {"benchmark": "different places", "target": first.name, "i": i, "source": second.name, "j": j}
        add(about, points(second, j), points(first, i), None)
    print(file=sys.stderr)
    return rows, steps


def recall_table(rows: list[Row]) -> str:
    """Return recall by benchmark and scene."""
    lines = []
    for benchmark in BENCHMARKS:
        chosen = [row for row in rows if row["benchmark"] == benchmark]
        for scene in [*sorted({row["target"] for row in chosen}), "all"]:
            part = [row for row in chosen if scene in (row["target"], "all")]
            right = [row for row in part if row["right"]]
            lines.append(
                (
                    benchmark,
                    scene,
                    len(part),
                    f"{statistics.mean(row['plain_right'] for row in part):.3f}",
                    f"{statistics.mean(row['blind_right'] for row in part):.3f}",
                    f"**{len(right) / len(part):.3f}**",
                    f"{WANTED_RECALL[benchmark]:.2f}" if scene == "all" else "",
                    f"{statistics.median(row['rotation_error'] for row in right):.2f}",
                    f"{100 * statistics.median(row['translation_error'] for row in right):.1f}",
                    f"{statistics.median(row['milliseconds'] for row in part):.0f}",
                )
            )
    titles = (
        "",
        "scene",
        "pairs",
        "largest clique",
        "no free space",
        "register",
        "wanted",
        "rotation °",
        "cm",
        "ms",
    )
    return markdown_table(titles, lines)


def trust_table(rows: list[Row]) -> str:
    """Return what is reported as trustworthy, of right and of wrong answers."""
    groups = {
        "right answers": [row for row in rows if row["right"]],
        "wrong answers, same place": [row for row in rows if not row["right"] and row["benchmark"] in BENCHMARKS],
        "different places": [row for row in rows if row["benchmark"] == "different places"],
    }
    keeps = float(np.quantile([row["confidence"] for row in groups["right answers"]], 0.05))
    lines = []
    for name, part in groups.items():
        states = [f"{np.mean([row['status'] == status.value for row in part]):.3f}" for status in cp.Status]
        above = np.mean([row["confidence"] >= keeps for row in part])
        lines.append((name, len(part), *states, f"{above:.3f}"))
    titles = ("", "pairs", *(status.value for status in cp.Status), f"confidence ≥ {keeps:.3f}")
    return markdown_table(titles, lines)


def other_scans(data: Path) -> Iterator[tuple[str, Points, Points, Points, str, str]]:
    """Return name, source, target, truth, unit of length and what is wanted of other scans."""
    for path in sorted((data / "scans" / "kitti").glob("*.npz")):
        stored = np.load(path)
        yield f"KITTI {path.stem}", stored["src"], stored["dst"], stored["T"], "m", "5°, 0.6 m"
    stored = np.load(data / "scans" / "eth_gazebo_summer" / "Hokuyo_12_to_10.npz")
    yield "ETH gazebo summer", stored["src"], stored["dst"], stored["T_ref"], "m", "3°, 0.3 m"
    stored = np.load(data / "scans" / "small_gicp" / "pair.npz")
    yield "street, small motion", stored["src"], stored["dst"], stored["T"], "m", ""
    stored = np.load(data / "scans" / "stanford_bunny" / "bunny_10scans.npz")
    for first, second in itertools.combinations(map(str, stored["names"]), 2):
        source, target = stored[f"p_{first}"], stored[f"p_{second}"]
        there = np.linalg.inv(stored[f"X_{second}"]) @ stored[f"X_{first}"]
        moved = source @ there[:3, :3].T + there[:3, 3]
        if min(shared(moved, target), shared(target, moved)) > 0.5:
            # The published poses stretch the scans by up to 2 %; what is compared with is the rigid part.
            yield f"bunny {first} – {second}", source, target, cp.fit_transform(source, moved), "mm", "2°, 2 mm"


def shared(points: Points, others: Points) -> float:
    """Return the share of points, in mm, that have another one within 2 mm."""
    from scipy.spatial import cKDTree

    return float(np.mean(cKDTree(others).query(points[::10])[0] < 2.0))


def other_table(data: Path) -> str:
    """Register other scans, with nothing given but the points."""
    lines = []
    for name, source, target, truth, unit, wanted in other_scans(data):
        pose = cp.register(source, target)
        assert pose.T_target_source is not None, name
        turned, moved = (
            cp.rotation_error(pose.T_target_source, truth),
            cp.translation_error(pose.T_target_source, truth),
        )
        size = f"{max(len(source), len(target))}"
        answer = f"{pose.status.value}, {pose.confidence:.3f}"
        errors = f"{turned:.2f}°, {moved:.3f} {unit}"
        lines.append((name, size, f"{pose.voxel_size:g} {unit}", errors, wanted, answer, f"{1e3 * pose.seconds:.0f}"))
    titles = ("scans", "points", "voxels", "error", "wanted below", "status, confidence", "ms")
    return markdown_table(titles, lines)


def main() -> None:
    """Measure, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--every", type=int, default=1, help="take every n-th pair only; nothing is written then")
    options, _ = parser.parse_known_args()
    rows, steps = measure_fragments(options.data, options.every)
    times = markdown_table(("step", "median ms"), [(name, f"{statistics.median(t):.2f}") for name, t in steps.items()])
    whole = statistics.median(row["milliseconds"] for row in rows if row["benchmark"] in BENCHMARKS)
    body = f"""One thread, from raw points (2.5 cm) to the transform, voxels of 5 cm, no refinement. A pair is right
within 15° and 30 cm; consecutive ones are included. "Largest clique" is the plain pipeline: the same associations, the
proven maximum clique, Arun's fit. "No free space" is `register` for clouds of which nobody knows where the sensors
were. Errors are medians over right answers; the truths are themselves good to a degree
and some centimetres.

{recall_table(rows)}
The clique was proven maximum on {sum(row["proven"] for row in rows)} of {len(rows)} pairs.

## How it is reported

Shares of the answers by status, and how many have a confidence that 95 % of the right ones have.

{trust_table(rows)}
## Where the time goes

{whole:.1f} ms a pair in the median (wanted: {WANTED_MS:.0f}).

{times}
## Other scans, nothing given but the points

{other_table(options.data)}"""
    if options.every > 1:
        print(body)
        return
    PAIRS.parent.mkdir(parents=True, exist_ok=True)
    with PAIRS.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    write_report("registration", "Registration of real scans", "python benchmarks/registration.py --data DIR", body)


if __name__ == "__main__":
    main()
