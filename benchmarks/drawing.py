"""What pictures cost: time to write reports and figures, their size, and what the package costs where none is drawn."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from common import argument_parser, median_ms, write_report

import clipperplus as cp
from clipperplus.bench.tables import markdown_table
from clipperplus.synthetic import room_scans
from clipperplus.viz.viewer.repeated_registration import RepeatedRegistration, Settings

REPEATS = 7
IMPORTS = {
    "`import numpy`": "import numpy",
    "`import clipperplus`": "import clipperplus",
    "`import clipperplus`, and what draws": "import clipperplus, matplotlib.figure, plotly.offline, viser",
}

Row = tuple[str, str, str]


def timed(label: str, work: Callable[[], object], path: Path | None = None) -> Row:
    """Return a line of the table; ``path`` is what the work writes."""
    taken = median_ms(work, REPEATS)
    return label, f"{taken:.0f} ms", "" if path is None else f"{path.stat().st_size / 1e6:.2f} MB"


def checked(pose: cp.Pose) -> cp.Pose:
    """Return a pose of the scans; end the benchmark if it is not the true one."""
    truth = room_scans().T_target_source
    if pose.T_target_source is None or cp.rotation_error(pose.T_target_source, truth) > 2.0:
        sys.exit(f"the scans are not registered: {pose.status}")
    return pose


def check_report(path: Path, count: int) -> None:
    """End the benchmark if a report is cut off, too large, or does not say how many points there are."""
    page = path.read_text(encoding="utf-8")
    if not page.endswith("</html>\n") or f"{count} points" not in page or path.stat().st_size > 8e6:
        sys.exit(f"the report of {count} points is not what it should be")


def files(source: cp.Cloud, target: cp.Cloud, folder: Path) -> list[Row]:
    """Measure reports of clouds of several sizes, and figures."""
    random = np.random.default_rng(0)
    rows = []
    for count in (5_000, len(source.points), 300_000):
        picks = [
            random.choice(len(cloud.points), count, replace=count > len(cloud.points)) for cloud in (source, target)
        ]
        clouds = [
            cloud.points[pick] + random.normal(0.0, 0.002, (count, 3))
            for cloud, pick in zip((source, target), picks, strict=True)
        ]
        pose = checked(cp.register(*clouds))
        path = folder / "report.html"
        write = partial(pose.report, path, source=clouds[0], target=clouds[1])
        write()
        check_report(path, count)
        rows.append(timed(f"report, clouds of {count} points", write, path))
    pose = checked(cp.register(source, target))
    path = folder / "figure.png"
    rows.append(timed("`pose.plot`", partial(pose.plot, path), path))
    rows.append(timed("`result.plot`", partial(pose.clique.plot, pose.graph, path), path))
    return rows


def change_of_epsilon(source: cp.Cloud, target: cp.Cloud) -> Row:
    """Measure what the viewer does when epsilon is changed."""
    pair, size = RepeatedRegistration(source, target), cp.choose_voxel_size(source, target)
    checked(pair.register(Settings(size, size), lambda _: None))
    epsilons = iter(np.linspace(0.5, 1.5, REPEATS) * size)
    return timed(
        "viewer, registration after a change of epsilon",
        lambda: pair.register(Settings(size, float(next(epsilons))), lambda _: None),
    )


def main() -> None:
    """Measure and write the table."""
    argument_parser(__doc__ or "").parse_known_args()
    scans = room_scans()
    source, target = cp.Cloud(scans.source), cp.Cloud(scans.target)
    with tempfile.TemporaryDirectory() as folder:
        rows = files(source, target, Path(folder))
    rows.append(change_of_epsilon(source, target))
    for label, program in IMPORTS.items():
        rows.append(timed(label, partial(subprocess.run, [sys.executable, "-c", program], check=True)))
    body = f"""Scans of a simulated room, medians of {REPEATS}, one thread. Imports are whole processes.

{markdown_table(("what", "time", "file"), rows)}"""
    write_report("drawing", "What pictures cost", "python benchmarks/drawing.py", body)


if __name__ == "__main__":
    main()
