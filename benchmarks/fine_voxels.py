"""Clouds of many voxels: what preparing and registering them takes, how far off the answer is, and what it hangs on.

Each size runs in a process of its own. Times are on two threads; processor time is of all threads together, and says
more where other programs run. How many voxels are matched, and how fast they get narrower, is changed for pairs of real
scans at fine voxels: fragments of rooms, and scans of lidars.
"""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from common import argument_parser, reset_peak, resident_mb, scans_of, write_report
from constants import Constant, changed
from registration import BENCHMARKS, Job, is_right, points, true_jobs, truths, wrong_jobs

import clipperplus as cp
from clipperplus.bench.tables import markdown_table

SIZES = ((500_000, 0.03), (1_250_000, 0.02), (5_000_000, 0.01))
"""Points of each cloud, and voxels, in metres, that leave four fifths of them."""
WANTED_S, THREADS = 60.0, 2
CONSTANTS = (
    Constant("registration.given", "_MOST_MATCHED", "voxels that are matched, at most", limits=(0.5, 1.0, 2.0, 5.0)),
    Constant("registration.descent", "_FARTHEST_STEP", "times narrower in a step, at most", limits=(0.7, 1.0, 2.0)),
)
FRAGMENT_VOXEL = 0.025
"""Metres: fragments have no finer ones."""
EVERY_TRUE, EVERY_WRONG = 24, 8
"""Of the pairs of each kind, one in so many is taken."""
LIDAR = "lidar"
"""What these pairs are, beside those of the benchmarks."""
LIDARS = {"courtyard_lidar": (0.1, 4.0, 9.0), "car_lidar": (0.2, 10.0, 25.0)}
"""Voxels that leave some twenty and thirty thousand points; how far apart the sensors were, from and to; metres."""
LIDAR_PAIRS = 40
"""Of each sequence."""

Points = npt.NDArray[np.float64]


def hall(count: int, seed: int) -> Points:
    """Random points on the 670 m² of walls, floor, ceiling and sixty boxes in a hall, with noise of 2 mm.

    They are on all sides of everything, as in a map: there is no place from which a sensor could have seen them.
    """
    layout, random = np.random.default_rng(1), np.random.default_rng(seed)
    low = np.vstack((np.zeros(3), layout.uniform((0.0, 0.0, 0.0), (13.0, 8.0, 1.5), (60, 3))))
    size = np.vstack(((14.0, 9.0, 3.0), layout.uniform(0.3, 1.5, (60, 3))))
    across = np.array([[(axis + 1) % 3, (axis + 2) % 3] for axis in range(3)])
    areas = np.repeat(size[:, across].prod(axis=2).ravel(), 2)  # both faces across every axis of every box
    face = random.choice(len(areas), count, p=areas / areas.sum())
    box, axis, far = face // 6, face // 2 % 3, face % 2
    places = random.random((count, 3))
    places[np.arange(count), axis] = far
    return np.asarray(low[box] + places * size[box] + random.normal(0.0, 0.002, (count, 3)))


def measure(count: int, voxel_size: float) -> dict[str, float | str]:
    """Prepare one cloud, then register two from raw points."""
    motion = np.eye(4)
    motion[:2, :2] = [[np.cos(0.5), -np.sin(0.5)], [np.sin(0.5), np.cos(0.5)]]
    motion[:3, 3] = 1.0, 2.0, 0.3
    source, target = hall(count, 2), cp.apply_transform(motion, hall(count, 3))
    before = reset_peak()
    start, work = time.perf_counter(), time.process_time()
    prepared = cp.prepare(source, voxel_size=voxel_size, threads=THREADS)
    preparing, preparing_work = time.perf_counter() - start, time.process_time() - work
    voxels = len(prepared.points)
    del prepared
    start, work = time.perf_counter(), time.process_time()
    pose = cp.register(source, target, voxel_size=voxel_size, threads=THREADS, free_space=False)
    seconds, seconds_work = time.perf_counter() - start, time.process_time() - work
    if pose.T_target_source is None or cp.translation_error(pose.T_target_source, motion) > voxel_size:
        sys.exit(f"{count} points: the answer is wrong")
    return {
        "voxels": voxels,
        "prepare": preparing,
        "prepare, processor": preparing_work,
        "register": seconds,
        "register, processor": seconds_work,
        "matched": len(pose.source_points),
        "status": pose.status.name,
        "error": cp.translation_error(pose.T_target_source, motion),
        "memory": resident_mb("VmHWM") - before,
    }


class Case(NamedTuple):
    """Two scans, and what is right."""

    source: Points
    target: Points
    truth: Points | None
    """None: of different places."""
    voxel_size: float
    protocol: str


class Tried(NamedTuple):
    """What became of a pair of scans."""

    kind: str
    right: bool
    trusted: bool
    seconds: float


def lidar_jobs(data: Path) -> list[Job]:
    """Return pairs of scans of the sequences."""
    jobs = []
    for name, (_, least, most) in LIDARS.items():
        pairs = scans_of(data, name).pairs_apart(least, most)
        chosen = np.random.default_rng(0).permutation(pairs)[:LIDAR_PAIRS]
        jobs += [Job(LIDAR, "", name, i, name, j, 0) for i, j in chosen.tolist()]
    return jobs


sequence = functools.cache(scans_of)
"""Read once in every process."""


def case_of(job: Job, data: Path) -> Case:
    """Return the two scans of a pair."""
    if job.benchmark == LIDAR:
        scans = sequence(data, job.target)
        truth = scans.motion(job.i, job.j)
        return Case(scans.clouds[job.j], scans.clouds[job.i], truth, LIDARS[job.target][0], "KITTI")
    known = truths(data, job.benchmark, job.target)[job.i, job.j] if job.benchmark in BENCHMARKS else None
    source, target = points(data, job.source, job.j), points(data, job.target, job.i)
    return Case(source, target, known, FRAGMENT_VOXEL, "3DMatch")


def try_pair(job: Job, data: Path, constant: Constant, factor: float) -> Tried:
    """Register a pair at fine voxels with a constant changed."""
    case = case_of(job, data)
    with changed(constant, factor):
        start = time.process_time()
        pose = cp.register(case.source, case.target, voxel_size=case.voxel_size)
        seconds = time.process_time() - start
    right = case.truth is not None and is_right(pose.T_target_source, case.truth, case.protocol)
    return Tried(job.benchmark, right, pose.status is cp.Status.OK, seconds)


def sweep(data: Path) -> str:
    """Return a table of what becomes of pairs of scans as constants change."""
    fragments, different, lidars = true_jobs(data)[::EVERY_TRUE], wrong_jobs(data)[::EVERY_WRONG], lidar_jobs(data)
    kinds, rows = (*BENCHMARKS, LIDAR), []
    with ProcessPoolExecutor(2) as pool:
        for constant in CONSTANTS:
            for factor in constant.limits:
                of_pair = functools.partial(try_pair, data=data, constant=constant, factor=factor)
                tried = list(pool.map(of_pair, fragments + different + lidars, chunksize=4))
                shares = [f"{np.mean([one.right for one in tried if one.kind == kind]):.3f}" for kind in kinds]
                kept = np.mean([one.trusted for one in tried if one.right])
                lies = sum(one.trusted and not one.right for one in tried)
                seconds = f"{np.median([one.seconds for one in tried]):.2f}"
                value = f"{constant.times(factor):g}"
                rows.append((constant.about, value, *shares, f"{kept:.3f}", str(lies), seconds))
    head = ("", "value", *(f"recall {kind}" for kind in kinds), "right that are OK", "OK and wrong", "seconds")
    used = ", ".join(f"{round(1e2 * size)} cm ({name})" for name, (size, *_) in LIDARS.items())
    return f"""## What it hangs on

{len(fragments)} pairs of fragments of five scenes and {len(different)} of different places, at voxels of
{100 * FRAGMENT_VOXEL:g} cm, and {len(lidars)} pairs of scans of lidars at voxels of {used}. Seconds of the processor,
the median. In use are the second value of the first, and of the other.

{markdown_table(head, rows)}"""


def main() -> None:
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--case", nargs=2, help="one number of points and voxel size; prints JSON")
    arguments, _ = parser.parse_known_args()
    if arguments.case:
        print(json.dumps(measure(int(arguments.case[0]), float(arguments.case[1]))))
        return
    rows = []
    for count, voxel_size in SIZES:
        command = [sys.executable, __file__, "--case", str(count), str(voxel_size)]
        found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        rows.append(
            (
                f"{count:,}".replace(",", " "),
                f"{100 * voxel_size:g} cm",
                f"{found['voxels']:,}".replace(",", " "),
                f"{found['prepare']:.1f} ({found['prepare, processor']:.1f})",
                f"{found['register']:.1f} ({found['register, processor']:.1f})",
                f"{WANTED_S:g}",
                f"{found['matched']:,}".replace(",", " "),
                f"{found['status']}, {1000 * found['error']:.2f} mm off",
                f"{found['memory'] / 1024:.1f} GB",
            )
        )
    head = ("points", "voxels of", "left", "prepare one", "register both", "wanted", "matched", "answer", "memory")
    text = """A hall seen from all sides, with `free_space=False`. Seconds on two threads; in brackets, processor time
of all. Memory at the peak, above the points.

"""
    body = f"{text}{markdown_table(head, rows)}\n{sweep(arguments.data)}"
    write_report("fine_voxels", "Millions of voxels", "python benchmarks/fine_voxels.py --data DIR", body)


if __name__ == "__main__":
    main()
