"""The steps of a registration one by one: neighbours beside a k-d tree, features, exact matches; simulated scans."""

from __future__ import annotations

import os

# Before numpy is imported: what is compared with must not use more threads than the core.
os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})

import sys
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import small_gicp
from common import argument_parser, median_ms, reset_peak, resident_mb, write_report
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.clouds.neighbourhoods import Neighbourhoods
from clipperplus.geometry.poses import logarithm

VOXEL_SIZE, NEIGHBOURS = 0.1, 60
LARGE = ((4_600_000, np.float64, 0.6), (18_500_000, np.float64, 2.5), (18_500_000, np.float32, 2.5))
"""Points of each cloud, their type, and seconds on two threads that are wanted."""
WANTED_MATCHING_MS, WANTED_LIDAR_MS, WANTED_GAIN = 50.0, 1000.0, 2.0

Points = npt.NDArray[np.float64]


def neighbours_table(points: Points) -> str:
    """Compare the neighbours of the core with scipy's, then time them beside small_gicp's k-d tree."""
    radius = 5.0 * VOXEL_SIZE
    found, truth = Neighbourhoods(points, radius=radius), cKDTree(points).query_ball_point(points, radius)
    if any(sorted([*found.of(k).tolist(), k]) != sorted(near) for k, near in enumerate(truth)):
        sys.exit("neighbours differ from those of scipy")

    def by_tree() -> None:
        cloud = small_gicp.PointCloud(points)
        small_gicp.KdTree(cloud).batch_knn_search(points, NEIGHBOURS)

    def both() -> None:
        near = Neighbourhoods(points, radius=radius)
        normals = cp.estimate_normals(points, radius=2.0 * VOXEL_SIZE, neighbours=near)
        cp.compute_fpfh(points, normals, radius=radius, neighbours=near)

    ours, theirs = median_ms(lambda: Neighbourhoods(points, radius=radius)), median_ms(by_tree)
    mean = np.mean([len(near) - 1 for near in truth])
    return markdown_table(
        ("", "ms", "wanted"),
        [
            (f"neighbours of {len(points)} points within 5 voxels, {mean:.0f} of each", f"{ours:.2f}", ""),
            (f"small_gicp's k-d tree, {NEIGHBOURS} nearest of each", f"{theirs:.2f}", ""),
            ("gain", f"{theirs / ours:.1f} ×", f"{WANTED_GAIN:g} ×"),
            ("neighbours, normals and FPFH", f"{median_ms(both):.2f}", ""),
        ],
    )


def matching_table(features: npt.NDArray[np.float32]) -> str:
    """Compare matches with those of double precision, then time them."""
    random = np.random.default_rng(0)
    lines = []
    for name, (source, target) in {
        "features of a scan, and the same shuffled": (features, features[random.permutation(len(features))] * 1.01),
        "5000 × 5000, random, 33 numbers": tuple(random.random((2, 5000, 33), dtype=np.float32)),
    }.items():
        squares = cdist(source.astype(np.float64), target.astype(np.float64), "sqeuclidean")
        there, back = squares.argmin(axis=1), squares.argmin(axis=0)
        mine = np.flatnonzero(back[there] == np.arange(len(source)))
        if not np.array_equal(cp.match_features(source, target), np.column_stack((mine, there[mine]))):
            sys.exit(f"{name}: matches differ from those of double precision")
        ms = median_ms(partial(cp.match_features, source, target))
        lines.append((name, f"{ms:.1f}", f"{WANTED_MATCHING_MS:g}"))
    return markdown_table(("mutual nearest neighbours", "ms", "wanted"), lines)


def simulated_table(seeds: int) -> str:
    """Register simulated scans: errors, time, and whether the covariance is as large as the errors."""
    lines = []
    for name, simulate in (("room", cp.synthetic.room_scans), ("street", cp.synthetic.street_scans)):
        turned, moved, times, squares, points = [], [], [], [], 0
        for seed in range(seeds):
            scans = simulate(seed=seed)
            pose = cp.register(scans.source, scans.target)
            assert pose.T_target_source is not None
            assert pose.covariance is not None
            error = logarithm((scans.T_target_source @ np.linalg.inv(pose.T_target_source))[None])[0]
            squares.append(error @ np.linalg.solve(pose.covariance, error) / 6.0)
            turned.append(cp.rotation_error(pose.T_target_source, scans.T_target_source))
            moved.append(cp.translation_error(pose.T_target_source, scans.T_target_source) / (pose.voxel_size or 1.0))
            times.append(1e3 * pose.seconds)
            points = max(points, len(scans.source))
        low, high = np.percentile(squares, (50, 90))
        errors = f"{np.max(turned):.2f}°, {np.max(moved):.2f} voxels"
        lines.append((name, seeds, points, errors, f"{low:.2f}, {high:.2f}", f"{np.median(times):.0f}"))
    titles = ("", "scans", "points", "largest error", "normalized squares: median, 90 %", "ms")
    return markdown_table(titles, lines)


def dense(points: Points, count: int, seed: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a scan with many more points: it is repeated, with noise of 3 mm each time."""
    random = np.random.default_rng(seed)
    cloud: npt.NDArray[Any] = np.empty((count, 3), dtype=dtype)
    for start in range(0, count, len(points)):
        part = points[: count - start]
        cloud[start : start + len(part)] = part + random.normal(0.0, 0.003, part.shape)
    return cloud


def large_table() -> str:
    """Register clouds of millions of points, without a voxel size; the answer must not depend on the threads."""
    scans = cp.synthetic.room_scans()
    lines = []
    for count, dtype, wanted in LARGE:
        source, target = dense(scans.source, count, 1, dtype), dense(scans.target, count, 2, dtype)
        size = (source.nbytes + target.nbytes) / 2**20
        before = reset_peak()
        pose = cp.register(source, target, threads=2)
        memory = (size + resident_mb("VmHWM") - before) / size
        again = cp.register(source, target, threads=1)
        if pose.T_target_source is None or again.T_target_source is None:
            sys.exit("there is no answer for large clouds")
        if not np.array_equal(pose.T_target_source, again.T_target_source):
            sys.exit("the answer for large clouds depends on the threads")
        if cp.rotation_error(pose.T_target_source, scans.T_target_source) > 1.0:
            sys.exit("the answer for large clouds is wrong")
        seconds = median_ms(partial(cp.register, source, target, threads=2), 3) / 1e3
        what = f"2 × {count / 1e6:g} million, {np.dtype(dtype).name}"
        lines.append((what, f"{seconds:.2f}", f"{wanted:g}", f"{again.seconds:.2f}", f"{memory:.2f} ×", "1.5 ×"))
    titles = ("points", "s, two threads", "wanted", "s, one thread", "peak memory ÷ input", "wanted")
    return markdown_table(titles, lines)


def main() -> None:
    """Measure, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--seeds", type=int, default=20, help="simulated scans of each kind")
    options, _ = parser.parse_known_args()
    cloud = cp.prepare(cp.synthetic.room_scans().source, voxel_size=VOXEL_SIZE)
    body = f"""One thread; neighbours and matches are compared with scipy's before they are timed.

{neighbours_table(cloud.points)}
{matching_table(cloud.features)}
Simulated scans, whose truth is exact, with nothing given but the points; wanted for a street: {WANTED_LIDAR_MS:g} ms.
The squared error by the covariance, a sixth of it, has the median 0.89 and the 90 % quantile 1.77 if that is right.

{simulated_table(options.seeds)}
Rooms with very many points, `register(source, target, threads=2)` without a voxel size, median of 3.

{large_table()}"""
    write_report("clouds", "The steps of a registration", "python benchmarks/clouds.py", body)


if __name__ == "__main__":
    main()
