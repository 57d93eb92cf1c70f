"""What is done with a pair of clouds, on whichever machine: a task, what it gives, and what it gives if it fails."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..clouds.prepared import PreparedCloud
from ..registration import Pose, register
from .recipes import Failure, watching

__all__ = ["OPTIONS", "Done", "Engine", "Registering", "Task", "Work", "do"]

Work: TypeAlias = Callable[[PreparedCloud, PreparedCloud], dict[str, Any]]
"""What is done with two clouds; what it gives is plain: it goes from process to process, and into files."""
OPTIONS = {
    name: inspect.signature(register).parameters[name].default
    for name in (
        *("epsilon", "matches", "ratio", "method", "time_limit", "effort", "refine", "free_space"),
        *("min_confidence", "prior", "max_alternatives"),
    )
}
"""Those of :func:`clipperplus.register` that many pairs may have, beside the voxel size, and what they are if nothing
is said."""


class Task(NamedTuple):
    """One pair."""

    number: int
    source: str
    target: str
    """Keys of their clouds."""
    work: Work


Done: TypeAlias = tuple[Task, "dict[str, Any] | Failure"]


class Engine(Protocol):
    """Where tasks are done."""

    def work(self, tasks: Sequence[Task]) -> Iterator[list[Done]]:
        """Do tasks, and return what came of them, some at a time, in any order."""


@dataclass(frozen=True)
class Registering:
    """Registration with options, each of a plain type."""

    options: Mapping[str, Any]
    limit: float | None = None
    """Seconds that it may take; it is ended after the step in which they are over."""

    @functools.cached_property
    def text(self) -> str:
        """All that the result depends on, beside the clouds."""
        return f"register {json.dumps(dict(sorted(self.options.items())))}"

    def __call__(self, source: PreparedCloud, target: PreparedCloud) -> dict[str, Any]:
        """Register two clouds."""
        return _in_short(register(source, target, callback=watching(self.limit), **self.options))


def _in_short(pose: Pose) -> dict[str, Any]:
    """Return what is kept of a registration, in plain types."""
    return {
        "status": pose.status.value,
        "T_target_source": None if pose.T_target_source is None else pose.T_target_source.tolist(),
        "confidence": pose.confidence,
        "covariance": None if pose.covariance is None else pose.covariance.tolist(),
        "overlap": pose.overlap,
        "num_inliers": pose.num_inliers,
        "proven": pose.clique.optimal,
        "reasons": [reason.text for reason in pose.reasons],
        "alternatives": [
            {"T_target_source": other.T_target_source.tolist(), "rivalry": other.rivalry} for other in pose.alternatives
        ],
        "evidence": asdict(pose.evidence),
        "voxel_size": pose.voxel_size,
        "seconds": pose.seconds,
    }


def do(task: Task, source: PreparedCloud | Failure, target: PreparedCloud | Failure) -> dict[str, Any] | Failure:
    """Do a task; whatever goes wrong, others are not to suffer from it."""
    if isinstance(source, Failure):
        return source
    if isinstance(target, Failure):
        return target
    try:
        return task.work(source, target)
    except Exception as error:
        return Failure.of(error)
