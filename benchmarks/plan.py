"""What maps of very many scans would cost: constants that are measured here, and a simulation that uses them.

Each step of a map is timed on the scenes of 3DMatch, alone and together, as is what Dask needs for a batch. From that
follows what a thousand, ten thousand and a hundred thousand scans of the same kind take; the registration of pairs on a
cluster is simulated batch by batch: a client that serves one at a time, workers that fetch clouds and register. Takes
about ten minutes.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import pickle
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import argument_parser, write_report

import clipperplus as cp
from clipperplus.bench.fragments import Scene
from clipperplus.bench.map_scenes import clouds_of, scenes_of
from clipperplus.bench.tables import markdown_table
from clipperplus.clouds.scan import as_scan
from clipperplus.pairs import cluster as clusters
from clipperplus.pairs.clients import started
from clipperplus.pairs.recipes import Recipe
from clipperplus.pairs.tasks import Task

Row = tuple[str, ...]
SIZES = (10**3, 10**4, 10**5)
WORKERS = (2, 16, 128, 1024)
THREADS = 2
VOXEL_SIZE = 0.05
BATCH_SECONDS = 0.4
BANDWIDTH = 1.25e9
"""Bytes a second that each worker can receive: ten gigabits."""
PRICE = 0.05
"""Of one core for an hour, in dollars: what rented machines cost, roughly."""
BATCHES = 600
"""Empty ones, to see what Dask needs for each."""


@dataclass(frozen=True)
class Constants:
    """What was measured, in seconds and bytes."""

    prepare: float
    """A scan, on one thread."""
    register: float
    """A pair with low effort, on one thread."""
    compare: float
    """Two scans by what they look like, on all threads."""
    batch: float
    """What client and scheduler need for a batch, whatever is in it."""
    pairs: float
    """That are registered, for each scan."""
    survey: tuple[float, float]
    """The rest, on two threads: of one scan, and the power of their number by which it grows."""
    scan_bytes: float
    prepared_bytes: float


class Nothing:
    """Work that does nothing."""

    def __call__(self, source: cp.PreparedCloud, target: cp.PreparedCloud) -> dict[str, Any]:
        """Do nothing."""
        return {}


def measure(scenes: Sequence[Scene], folder: Path) -> tuple[Constants, list[Row]]:
    """Return the constants, and lines about the maps that they come from."""
    clouds = [clouds_of(scene) for scene in scenes]
    some = clouds[0][:20]
    prepare, prepared = timed(lambda: [cp.prepare(cloud, voxel_size=VOXEL_SIZE) for cloud in some])
    chosen = list(itertools.combinations(range(len(some)), 2))[::5]
    register, _ = timed(lambda: [cp.register(prepared[a], prepared[b], effort="low") for a, b in chosen])
    words = np.random.default_rng(0).normal(size=(3000, 128 * 33)).astype(np.float32)
    compare, _ = timed(lambda: words @ words.T)
    rows, counts, rests, pairs = list[Row](), list[int](), list[float](), 0.0
    for number, parts in enumerate((clouds[:1], clouds[:2], clouds)):
        scans, store = [cloud for part in parts for cloud in part], folder / f"{number}.sqlite"
        build = functools.partial(cp.build_map, scans, voxel_size=VOXEL_SIZE, threads=THREADS, store=store)
        whole, map = timed(build)
        known, _ = timed(build)
        registered = sum(edge.origin != "seen" for edge in map.edges)
        rest = known - len(scans) * prepare / len(some) / THREADS
        counts.append(len(scans))
        rests.append(rest)
        pairs = registered / len(scans)
        share = 2.0 * registered / (len(scans) * (len(scans) - 1))
        rows.append(
            (f"{len(scans)}", f"{whole:.1f}", f"{whole - known:.1f}", f"{registered}", f"{share:.3f}", f"{rest:.1f}")
        )
        print(rows[-1], flush=True)
    power, first = np.polyfit(np.log(counts), np.log(rests), 1)
    found = Constants(
        prepare=prepare / len(some),
        register=register / len(chosen),
        compare=compare / len(words) ** 2,
        batch=batch_seconds(some[:2]),
        pairs=pairs,
        survey=(float(np.exp(first)), float(power)),
        scan_bytes=float(np.mean([cloud.nbytes for part in clouds for cloud in part])),
        prepared_bytes=float(np.mean([len(pickle.dumps(cloud)) for cloud in prepared])),
    )
    return found, rows


def batch_seconds(clouds: Sequence[np.ndarray[Any, Any]]) -> float:
    """Return what a batch takes in which nothing is done."""
    scans = [as_scan(cloud, "cloud") for cloud in clouds]
    recipes = {str(k): Recipe(scan, scan.content, VOXEL_SIZE) for k, scan in enumerate(scans)}
    before, clusters._MOST_TASKS = clusters._MOST_TASKS, 1
    try:
        with started(2) as connection:
            cluster = clusters.Cluster(connection.client, recipes.__getitem__)
            list(cluster.work([Task(k, "0", "1", Nothing()) for k in range(20)]))
            seconds, _ = timed(lambda: list(cluster.work([Task(k, "0", "1", Nothing()) for k in range(BATCHES)])))
            cluster.close()
    finally:
        clusters._MOST_TASKS = before
    return seconds / BATCHES


def timed(work: Any) -> tuple[float, Any]:
    """Return the seconds that work takes, and what it gives."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def simulate(constants: Constants, pairs: float, workers: int) -> tuple[float, float]:
    """Return the seconds until all pairs are registered, and the share of it in which workers are busy.

    The client gives batches out one after the other; a worker that has one fetches the clouds that it does not have,
    two for each batch since those before it were of the same tile, prepares one in eight of them, and registers.
    """
    each = max(1, min(64, int(BATCH_SECONDS / constants.register)))
    moving = 2.0 * constants.prepared_bytes / BANDWIDTH + 0.25 * constants.prepare
    busy = each * constants.register + moving
    client, free, worked = 0.0, [0.0] * workers, 0.0
    for _ in range(int(np.ceil(pairs / each))):
        client += constants.batch
        start = max(client, heapq.heappop(free))
        heapq.heappush(free, start + busy)
        worked += busy
    end = max(free)
    return end, worked / (end * workers)


def plan(constants: Constants) -> tuple[list[Row], list[Row]]:
    """Return lines about every number of scans, and about the cluster."""
    steps, cluster = list[Row](), list[Row]()
    first, power = constants.survey
    for count in SIZES:
        pairs = constants.pairs * count
        prepare = count * constants.prepare / THREADS
        compare = 0.5 * count**2 * constants.compare
        survey = first * count**power
        alone = pairs * constants.register / THREADS
        all_alone = 0.5 * count**2 * constants.register / THREADS
        memory = 8.0 * count**2 + count * constants.scan_bytes
        seconds = {"preparing": prepare, "comparing": compare, "registering": alone, "the rest": survey}
        most = max(seconds, key=lambda name: seconds[name])
        said = (spoken(value) for value in seconds.values())
        steps.append((f"{count:,}", f"{pairs:,.0f}", *said, spoken(all_alone), f"{memory / 1e9:.1f}", most))
        for workers in WORKERS:
            taken, share = simulate(constants, pairs, workers)
            cost = PRICE * workers * taken / 3600.0
            limit = "client" if share < 0.8 else "workers"
            cluster.append((f"{count:,}", f"{workers}", spoken(taken), f"{share:.2f}", f"{cost:.2f}", limit))
    return steps, cluster


def spoken(seconds: float) -> str:
    """Return a time as people say it."""
    for unit, length in (("days", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.1f} {unit}"
    return f"{seconds:.1f} s"


def main() -> None:
    """Measure, simulate, and write the report."""
    parser = argument_parser(__doc__ or "")
    options, _ = parser.parse_known_args()
    folders = [options.data / "scans" / name for name in ("3dmatch", "3dmatch_more")]
    scenes = list(scenes_of(folders, "3DMatch").values())
    with tempfile.TemporaryDirectory() as name:
        constants, maps = measure(scenes, Path(name))
    steps, cluster = plan(constants)
    first, power = constants.survey
    lines = [
        ("a scan is prepared", f"{1e3 * constants.prepare:.1f} ms", "one thread"),
        ("a pair is registered", f"{1e3 * constants.register:.1f} ms", "one thread, low effort"),
        ("two scans are compared by their looks", f"{1e9 * constants.compare:.0f} ns", "all threads, many at once"),
        ("pairs that are registered", f"{constants.pairs:.1f} for each scan", "all scenes in one folder"),
        ("all the rest of a map", f"{first:.3f} s · scans^{power:.2f}", "two threads; fitted to three maps"),
        ("a batch of pairs, for client and scheduler", f"{1e3 * constants.batch:.1f} ms", "an empty one, two workers"),
        ("a scan", f"{constants.scan_bytes / 1e6:.1f} MB", "its points"),
        ("a prepared cloud on its way", f"{constants.prepared_bytes / 1e6:.1f} MB", "pickled"),
    ]
    constant = ("what", "measured", "how")
    step = (
        *("scans", "pairs", "preparing", "comparing", "registering", "the rest", "registering all pairs"),
        *("memory, GB", "takes the longest"),
    )
    clustered = ("scans", "workers", "registering", "workers busy", "dollars", "limited by")
    measured = ("scans", "seconds", "of it registering", "pairs registered", "share of all pairs", "the rest, s")
    body = f"""{markdown_table(step, steps)}
On this machine, {THREADS} threads. Memory is that of the points and of how alike each two scans look.

Pairs on a cluster, simulated; a core costs {PRICE:g} dollars an hour:

{markdown_table(clustered, cluster)}
Measured:

{markdown_table(constant, lines)}
Maps of one, two and all scenes:

{markdown_table(measured, maps)}"""
    write_report("plan", "Maps of very many scans", "python benchmarks/plan.py --data DIR", body)


if __name__ == "__main__":
    main()
