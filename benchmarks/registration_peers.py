"""Registration beside KISS-Matcher and Open3D's FPFH + RANSAC: the same pairs, the same run, two threads each.

Needs ``pip install ".[bench]"``; a peer that cannot be imported is left out, and the table says so.
"""

from __future__ import annotations

import os

# Before anything that uses OpenMP is imported.
os.environ.update({"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"})

import importlib
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from common import argument_parser, write_report
from registration import BENCHMARKS, VOXEL_SIZE, is_right, points, random_motion, true_jobs, truths

import clipperplus as cp
from clipperplus.bench.multiway import Open3DPairs
from clipperplus.bench.tables import markdown_table

THREADS = int(os.environ["OMP_NUM_THREADS"])
FRAMES = ("as they are", "moved")
WANTED_FASTER = {"KISS-Matcher": 3.0, "Open3D": 5.0}

Points = npt.NDArray[np.float64]
Method = Callable[[Points, Points], "Points | None"]


def ours(source: Points, target: Points) -> Points | None:
    """Register with what the product has as its defaults, and the voxels of the benchmark."""
    return cp.register(source, target, voxel_size=VOXEL_SIZE, threads=THREADS).T_target_source


def kiss_matcher(module: Any) -> Method:
    """Return KISS-Matcher with its defaults, at the voxel size of the benchmark."""

    def register(source: Points, target: Points) -> Points | None:
        matcher = module.KISSMatcher(module.KISSMatcherConfig(VOXEL_SIZE))
        answer = matcher.estimate(source.astype(np.float32), target.astype(np.float32))
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = np.array(answer.rotation), np.ravel(answer.translation)
        return T if np.isfinite(T).all() else None

    return register


def open3d(_: Any) -> Method:
    """Return Open3D's global registration as its documentation has it, with mutual matches."""
    pairs = Open3DPairs(VOXEL_SIZE)

    def register(source: Points, target: Points) -> Points | None:
        return pairs.match(pairs.prepare(source), pairs.prepare(target))

    return register


def main() -> None:
    """Measure, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--every", type=int, default=10, help="take every n-th pair only")
    options, _ = parser.parse_known_args()
    methods: dict[str, Method] = {"clipperplus": ours}
    missing = []
    versions = [f"clipperplus {cp.__version__}"]
    for name, package, make in (("KISS-Matcher", "kiss_matcher", kiss_matcher), ("Open3D", "open3d", open3d)):
        try:
            module = importlib.import_module(package)
        except ImportError as error:
            missing.append(f"{name} was not measured: {error}.")
            continue
        methods[name] = make(module)
        versions.append(f"{name} {getattr(module, '__version__', '')}")

    jobs = true_jobs(options.data)[:: options.every]
    times: dict[str, list[float]] = {name: [] for name in methods}
    right: dict[tuple[str, str, str], list[bool]] = defaultdict(list)
    for number, job in enumerate(jobs):
        source, target = points(options.data, job.source, job.j), points(options.data, job.target, job.i)
        truth = truths(options.data, job.benchmark, job.target)[job.i, job.j]
        random = np.random.default_rng(job.seed)
        here, there = random_motion(random), random_motion(random)
        moved = cp.apply_transform(here, source), cp.apply_transform(there, target)
        for name, method in methods.items():
            start = time.perf_counter()
            T = method(source, target)
            times[name].append(1e3 * (time.perf_counter() - start))
            right[name, job.benchmark, FRAMES[0]].append(is_right(T, truth))
            T = method(*moved)
            back = None if T is None else np.linalg.inv(there) @ T @ here
            right[name, job.benchmark, FRAMES[1]].append(is_right(back, truth))
        print(f"\r{number + 1} of {len(jobs)} pairs", end="", file=sys.stderr)
    print(file=sys.stderr)

    mine = statistics.median(times["clipperplus"])
    lines = []
    for name in methods:
        recalls = [f"{statistics.mean(right[name, b, frame]):.3f}" for frame in FRAMES for b in BENCHMARKS]
        median = statistics.median(times[name])
        ratio = statistics.median(theirs / ms for theirs, ms in zip(times[name], times["clipperplus"], strict=True))
        wanted = f"{WANTED_FASTER[name]:g} ×" if name in WANTED_FASTER else ""
        lines.append((name, *recalls, f"{median:.0f}", f"{median / mine:.1f} ×", f"{ratio:.1f} ×", wanted))
    columns = (f"recall {b}{suffix}" for suffix in ("", ", moved") for b in BENCHMARKS)
    titles = ("", *columns, "median ms", "slower", "median of ratios", "wanted")
    counts = ", ".join(f"{sum(job.benchmark == b for job in jobs)} pairs of {b}" for b in BENCHMARKS)
    body = f"""{counts}, five scenes; voxels of 5 cm, {THREADS} threads, raw points to transform; right within 15° and
30 cm. "Moved": both clouds are turned and shifted at random. {", ".join(versions)}. {" ".join(missing)}

{markdown_table(titles, lines)}"""
    command = "python benchmarks/registration_peers.py --data DIR"
    write_report("registration_peers", "Registration beside its peers", command, body)


if __name__ == "__main__":
    main()
