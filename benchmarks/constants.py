"""How flat the constants are by which motions are ranked, and answers told from their rivals.

Each is halved and doubled while the others stay. Ranking is measured by recall on some pairs of each scene, with low
effort; rivals by some deceptions, other than those that ``deceptions.py`` reports on. Takes some minutes.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from common import argument_parser, write_report
from registration import BENCHMARKS, VOXEL_SIZE, Job, is_right, points, true_jobs, truths

import clipperplus as cp
from clipperplus.bench.deceptions import KINDS
from clipperplus.bench.tables import markdown_table

EVERY = 18
"""Of the pairs, one in so many is taken."""
FIRST, TRIES = 2000, 1
"""Numbers of the deceptions of each kind."""
FACTORS = (0.5, 1.0, 2.0)


class Constant(NamedTuple):
    """One that is changed."""

    module: str
    """Of the package."""
    name: str
    about: str
    part: int | None = None
    """Of a pair of numbers."""
    limits: tuple[float, ...] = FACTORS
    """Times what it is."""

    @property
    def place(self) -> ModuleType:
        """Where it is."""
        return importlib.import_module(f"clipperplus.{self.module}")

    @property
    def value(self) -> Any:
        """What it is: a number, or a pair."""
        return getattr(self.place, self.name)

    def times(self, factor: float) -> Any:
        """Return what is tried in its place."""
        value = self.value if self.part is None else self.value[self.part]
        return type(value)(round(factor * value, 9))


RANKING = (
    Constant("registration.verification", "_POWER_OF_EXPLAINED", "power of explained matches"),
    Constant("registration.verification", "_CONFLICT_SCALE", "share in free space that halves a score"),
    Constant("registration.verification", "_RESIDUAL_SCALE", "voxels of residual that divide it by e"),
    Constant("registration.verification", "FREE_SPACE_MARGIN", "voxels in front of what a sensor saw"),
)
RIVALS = (
    Constant("registration.pose", "RIVALRY", "rivalry of an ambiguous answer", limits=(0.8, 1.0, 1.2)),
    Constant("registration.scrutiny", "OPEN", "rivalry of an open direction", limits=(0.8, 1.0, 1.2)),
    Constant("registration.rivals", "_IN_FREE_SPACE_SCALE", "share in free space, all points", 0),
    Constant("registration.rivals", "_IN_FREE_SPACE_SCALE", "share in free space, bent points", 1),
    Constant("registration.rivals", "_ELSEWHERE_SCALE", "share explained elsewhere"),
    Constant("registration.rivals", "_POWER_OF_MORE", "power of what a rival explains"),
    Constant(
        "registration.scrutiny",
        "_SAME_DENSITIES",
        "correlation of densities seen from one place",
        limits=(0.96, 1.0, 1.04),
    ),
    Constant("registration.scrutiny", "_SEEN_NEARBY", "share that must then be seen again", limits=(0.9, 1.0, 1.1)),
    Constant("registration.scrutiny", "_SCALE_FLOOR", "deviation of the scale of warped scans"),
    Constant("registration.candidates", "_MIRRORED", "times better that a mirror image fits"),
)


@contextmanager
def changed(constant: Constant, factor: float) -> Iterator[None]:
    """Change a constant of this process for a while."""
    before, value = constant.value, constant.times(factor)
    after = value if constant.part is None else tuple(value if k == constant.part else v for k, v in enumerate(before))
    setattr(constant.place, constant.name, after)
    try:
        yield
    finally:
        setattr(constant.place, constant.name, before)


def rank(job: Job, data: Path, constant: Constant, factor: float) -> tuple[str, bool]:
    """Return the benchmark of a pair, and whether it is registered."""
    source, target = points(data, job.source, job.j), points(data, job.target, job.i)
    with changed(constant, factor):
        answer = cp.register(source, target, voxel_size=VOXEL_SIZE, effort="low")
    return job.benchmark, is_right(answer.T_target_source, truths(data, job.benchmark, job.target)[job.i, job.j])


def deceive(kind_and_number: tuple[str, int], data: Path, constant: Constant, factor: float) -> tuple[str, bool, bool]:
    """Return the family of a deception, whether its answer is trusted, and whether it is right."""
    kind = KINDS[kind_and_number[0]]
    made = kind.number(kind_and_number[1], data)
    with changed(constant, factor):
        answer = made.answer()
    return kind.family, answer.status is cp.Status.OK, kind.judge(made, answer).right


def sweep(
    constants: tuple[Constant, ...], cells: Callable[[Constant, float], tuple[str, ...]]
) -> list[tuple[str, ...]]:
    """Return a line for each value of each constant; the processes that measure it change it, and this one does not."""
    return [
        (constant.about, f"{constant.times(factor):.3g}", *cells(constant, factor))
        for constant in constants
        for factor in constant.limits
    ]


def main() -> None:
    """Measure, and write the report."""
    parser = argument_parser(__doc__ or "")
    parser.add_argument("--processes", type=int, default=2)
    options, _ = parser.parse_known_args()
    jobs = true_jobs(options.data)[::EVERY]
    names = [kind.name for kind in KINDS.values() if "matches" not in kind.name]
    tries = [(name, number) for name in names for number in range(FIRST, FIRST + TRIES)]
    with ProcessPoolExecutor(options.processes) as pool:

        def recall(constant: Constant, factor: float) -> tuple[str, ...]:
            of_pair = functools.partial(rank, data=options.data, constant=constant, factor=factor)
            found = list(pool.map(of_pair, jobs, chunksize=4))
            return tuple(f"{np.mean([right for of, right in found if of == b]):.3f}" for b in BENCHMARKS)

        def trust(constant: Constant, factor: float) -> tuple[str, ...]:
            of_try = functools.partial(deceive, data=options.data, constant=constant, factor=factor)
            found = list(pool.map(of_try, tries, chunksize=2))
            lies = [
                np.mean([ok and not right for of, ok, right in found if of == family])
                for family in ("decidable", "undecidable")
            ]
            kept = np.mean([ok for family, ok, right in found if family == "honest" and right])
            return tuple(f"{share:.3f}" for share in (*lies, kept))

        ranking = markdown_table(("", "value", *(f"recall {b}" for b in BENCHMARKS)), sweep(RANKING, recall))
        wrong = (f"{family}: OK and wrong" for family in ("decidable", "undecidable"))
        titles = ("", "value", *wrong, "honest: right that are OK")
        trusting = markdown_table(titles, sweep(RIVALS, trust))
    body = f"""The middle value of each is that which is used; weights of the confidence stay as they are.

## Which motion is chosen

{len(jobs)} pairs of five scenes, low effort.

{ranking}
## What is believed

{len(tries)} deceptions, numbers {FIRST} to {FIRST + TRIES - 1} of each kind.

{trusting}"""
    write_report("constants", "Constants of the verification", "python benchmarks/constants.py --data DIR", body)


if __name__ == "__main__":
    main()
