"""Many pairs on clusters of processes: how fast, with how much overhead, and whatever is killed.

All pairs of one scene on one thread without Dask, on one worker, on two, and on two while workers, the client and the
scheduler are killed; then very many pairs of tiny clouds. Takes about a quarter of an hour.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from common import argument_parser, write_report
from dask_processes import Marked, dask_processes, workers_of

import clipperplus as cp
from clipperplus.bench.map_scenes import clouds_of, scenes_of
from clipperplus.bench.tables import markdown_table
from clipperplus.clouds.scan import Unread
from clipperplus.pairs.clients import started
from clipperplus.pairs.cluster import Cluster
from clipperplus.pairs.order import one_after_the_other
from clipperplus.pairs.recipes import Failure, Look, Recipe, look_at
from clipperplus.pairs.run import checked_options
from clipperplus.pairs.tasks import Registering, Task

SCENE = "7-scenes-redkitchen"
OPTIONS: dict[str, Any] = {"voxel_size": 0.05, "effort": "low"}
"""As maps register pairs at first."""
KILLED_EVERY = 5.0
"""Seconds."""
TINY_CLOUDS, TINY_POINTS = 448, 40
"""Whose pairs are a hundred thousand."""
PROGRAM = [sys.executable, "-c", "from clipperplus.cli import main; main()", "pairs"]
Said = dict[int, str]
Row = tuple[str, ...]


def said(results: Sequence[cp.PairResult]) -> Said:
    """Return all that was computed of each pair, to the last bit."""
    left_out = ("seconds", "was_known", "source", "target")
    return {
        result.number: json.dumps({name: value for name, value in result.to_dict().items() if name not in left_out})
        for result in results
    }


def all_pairs(files: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Return each two of the clouds."""
    return list(itertools.combinations(files, 2))


def one_thread(files: Sequence[Path], folder: Path) -> tuple[Said, float]:
    """Return what one thread says without Dask, and how long it takes."""
    start = time.perf_counter()
    store = folder / "one thread.sqlite"
    found = list(cp.register_pairs(all_pairs(files), **OPTIONS, threads=1, store=store))
    return said(found), time.perf_counter() - start


def on_workers(files: Sequence[Path], workers: int, folder: Path) -> tuple[Said, float]:
    """Return what worker processes say, and how long it takes without their start."""
    with started(workers) as connection:
        list(cp.register_pairs([files[:2]] * workers, **OPTIONS, client=connection.client))
        start = time.perf_counter()
        store = folder / f"{workers} workers.sqlite"
        found = list(cp.register_pairs(all_pairs(files), **OPTIONS, client=connection.client, store=store))
        return said(found), time.perf_counter() - start


def killing_workers(files: Sequence[Path], truth: Said, folder: Path) -> Row:
    """Do all pairs while a worker is killed every few seconds; begun ones leave marks."""
    work = Registering(checked_options(OPTIONS))
    looks = {file: look_at(Unread(str(file), str(file))) for file in files}
    contents = {file: look.content for file, look in looks.items() if isinstance(look, Look)}
    recipes = {str(file): Recipe(Unread(str(file), str(file)), contents[file], 0.05) for file in files}
    tasks = [
        Task(number, str(source), str(target), Marked(work, str(folder)))
        for number, (source, target) in enumerate(all_pairs(files))
    ]
    end, killed, found = threading.Event(), list[int](), Said()

    def kill() -> None:
        while not end.wait(KILLED_EVERY):
            workers = sorted(workers_of(os.getpid()), key=psutil.Process.create_time)
            if workers:
                workers[0].send_signal(signal.SIGKILL)
                killed.append(workers[0].pid)

    with started(2) as connection:
        cluster, thread = Cluster(connection.client, recipes.__getitem__), threading.Thread(target=kill)
        thread.start()
        start = time.perf_counter()
        try:
            for some in cluster.work(one_after_the_other(tasks, lambda task: (task.source, task.target))):
                for task, answer in some:
                    name = task.number, "", ""
                    result = (
                        cp.PairResult(*name, failure=answer.reason)
                        if isinstance(answer, Failure)
                        else cp.PairResult.of(*name, answer)
                    )
                    found |= said([result])
        finally:
            end.set()
            thread.join()
        seconds = time.perf_counter() - start
        cluster.close()
    begun = sum(path.stat().st_size for path in folder.iterdir())
    again = f"{begun - len(tasks)} begun again"
    return f"a worker every {KILLED_EVERY:g} s", f"{len(killed)}", again, *compared(found, truth), f"{seconds:.1f}"


def killing_the_client(files: Sequence[Path], truth: Said, folder: Path, after: float) -> Row:
    """Run the command, kill it, see its workers end, and run it again."""
    listed, output = folder / "list.csv", folder / "results"
    listed.write_text("".join(f"{a},{b}\n" for a, b in all_pairs(files)), encoding="utf-8")
    options = [
        str(listed),
        "--output",
        str(output),
        "--voxel-size",
        "0.05",
        "--effort",
        "low",
        "--workers",
        "2",
        "--json",
    ]
    start = time.perf_counter()
    first = subprocess.Popen([*PROGRAM, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    time.sleep(after)
    orphans = psutil.Process(first.pid).children(recursive=True)
    first.kill()
    first.communicate()
    _, left = psutil.wait_procs(orphans, timeout=60)
    second = subprocess.run([*PROGRAM, *options], capture_output=True, check=True)
    seconds = time.perf_counter() - start
    known = json.loads(second.stdout)["known"]
    found = list(cp.register_pairs(all_pairs(files), **OPTIONS, store=output / "pairs.sqlite"))
    again = f"{known} were there; {sum(not result.was_known for result in found)} missing; {len(left)} workers left"
    return f"the client after {after:.0f} s", "1", again, *compared(said(found), truth), f"{seconds:.1f}"


def killing_the_scheduler(files: Sequence[Path], truth: Said) -> Row:
    """Kill the scheduler half way, and start it again, with its workers, which end with it."""
    found: list[cp.PairResult] = []
    pairs = all_pairs(files)
    with dask_processes() as (cluster, client):
        start = time.perf_counter()
        for result in cp.register_pairs(pairs, **OPTIONS, client=client):
            found.append(result)
            if len(found) == len(pairs) // 2:
                cluster.kill_scheduler()
                cluster.start()
        seconds = time.perf_counter() - start
    again = f"{len(found) - len(pairs)} reported twice"
    return "the scheduler, half way", "1", again, *compared(said(found), truth), f"{seconds:.1f}"


def compared(found: Said, truth: Said) -> tuple[str, str]:
    """Return how many results are missing, and how many are not equal bit for bit."""
    missing = len(truth.keys() - found.keys())
    return str(missing), str(sum(found[number] != truth[number] for number in found.keys() & truth.keys()))


def tiny_pairs(folder: Path) -> Row:
    """Do very many pairs of tiny clouds with the command, and watch its memory."""
    random = np.random.default_rng(0)
    for number in range(TINY_CLOUDS):
        np.save(folder / f"{number}.npy", random.uniform(-1.0, 1.0, (TINY_POINTS, 3)))
    names = [f"{number}.npy" for number in range(TINY_CLOUDS)]
    lines = [f"{a},{b}\n" for a, b in itertools.combinations(names, 2)]
    (folder / "list.csv").write_text("".join(lines), encoding="utf-8")
    options = [str(folder / "list.csv"), "--output", str(folder / "out"), "--voxel-size", "0.1", "--effort", "low"]
    start = time.perf_counter()
    process = subprocess.Popen([*PROGRAM, *options, "--workers", "2", "--json"], stdout=subprocess.PIPE)
    peak = _watch(process.pid, lambda: process.poll() is None)
    answer = json.loads(process.communicate()[0])
    seconds = time.perf_counter() - start
    with (folder / "out" / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = sum(1 for _ in csv.DictReader(file))
    size = (folder / "out" / "pairs.sqlite").stat().st_size
    failed = len(answer["failed"])
    each = f"{1e3 * seconds / len(lines):.2f}"
    return f"{rows}", f"{failed}", f"{seconds:.0f}", each, f"{peak / 1e6:.0f}", f"{size / 1e6:.0f}"


def _watch(process: int, goes_on: Callable[[], bool]) -> int:
    """Return the most bytes that a process has had at a time; Linux only."""
    peak = 0
    while goes_on():
        with suppress(OSError, StopIteration):
            status = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
            peak = max(peak, 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
        time.sleep(0.5)
    return peak


def main() -> None:
    """Measure, and write the report."""
    parser = argument_parser(__doc__ or "")
    options, _ = parser.parse_known_args()
    scene = scenes_of([options.data / "scans" / "3dmatch"], "3DMatch")[SCENE]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "marks").mkdir()
        (folder / "tiny").mkdir()
        for number, cloud in enumerate(clouds_of(scene)):
            np.save(folder / f"scan{number}.npy", cloud)
        files = sorted(folder.glob("scan*.npy"))
        pairs = len(all_pairs(files))
        truth, alone = one_thread(files, folder)
        one, one_seconds = on_workers(files, 1, folder)
        two, two_seconds = on_workers(files, 2, folder)
        speed = [
            ("one thread, no Dask", "0", "0", f"{alone:.1f}", f"{1e3 * alone / pairs:.2f}", "", ""),
            ("one worker", *compared(one, truth), *_speed(one_seconds, pairs, alone, one_seconds)),
            ("two workers", *compared(two, truth), *_speed(two_seconds, pairs, alone / 2.0, one_seconds)),
        ]
        print(speed, flush=True)
        kills = [killing_workers(files, truth, folder / "marks")]
        print(kills, flush=True)
        kills.append(killing_the_client(files, truth, folder, 0.5 * two_seconds))
        kills.append(killing_the_scheduler(files, truth))
        print(kills, flush=True)
        tiny = tiny_pairs(folder / "tiny")
    titles = (
        "",
        "missing",
        "not equal",
        "seconds",
        "ms a pair",
        "ms more than without Dask",
        "times as fast as one worker",
    )
    killed = ("killed", "times", "", "missing", "not equal", "seconds")
    many = ("pairs", "failed", "seconds", "ms a pair", "most memory of the client, MB", "store, MB")
    body = f"""All {pairs} pairs of {SCENE}, voxels of 5 cm, low effort, results written to a store.

{markdown_table(titles, speed)}
Two workers, and something is killed. Results are compared with those of one thread, bit for bit.

{markdown_table(killed, kills)}
Pairs of {TINY_CLOUDS} clouds of {TINY_POINTS} random points, by the command, on two workers; the scheduler is in the
client.

{markdown_table(many, [tiny])}"""
    write_report("cluster", "Many pairs on a cluster", "python benchmarks/cluster.py --data DIR", body)


def _speed(seconds: float, pairs: int, alone: float, one: float) -> Row:
    more = 1e3 * (seconds - alone) / pairs
    return f"{seconds:.1f}", f"{1e3 * seconds / pairs:.2f}", f"{more:.2f}", f"{one / seconds:.2f}"


if __name__ == "__main__":
    main()
