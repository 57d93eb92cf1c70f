"""Two clouds that are registered again and again, with other settings each time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..._timing import Stage
from ...clouds.cloud import Cloud
from ...clouds.prepared import PreparedCloud, prepare
from ...registration import Pose, register
from ...registration.steps import Step
from .background import Progress, Report

__all__ = ["STEPS", "RepeatedRegistration", "Settings"]

STEPS = (
    "preparing the source",
    "preparing the target",
    *(step.value for step in Step if step not in (Step.LOOK_AGAIN, Step.DESCENT, Step.GICP)),
)
"""What is seen of one registration, in order; the voxel size of prepared clouds takes no time and is never seen. Where
the answer is not trusted, it is looked for again after these, and very many voxels refine it then."""
_KEPT = 12
"""Prepared clouds that are remembered: those of six voxel sizes."""
_LONGEST_SEARCH = 10.0
"""Seconds for methods that would search without end on a hard graph, where somebody waits for the next picture."""


@dataclass(frozen=True)
class Settings:
    """What can be changed between two registrations."""

    voxel_size: float
    epsilon: float
    method: str = "auto"


class RepeatedRegistration:
    """Two clouds, and what was prepared of them before."""

    def __init__(self, source: Cloud, target: Cloud, *, threads: int = 1) -> None:
        self.source = source
        self.target = target
        self._threads = threads
        self._prepared: dict[tuple[int, float], PreparedCloud] = {}

    def register(self, settings: Settings, report: Report) -> Pose:
        """Register the clouds; the stages of the pose are those that were gone through this time."""

        def begin(number: int) -> None:
            report(Progress(STEPS[number], number / len(STEPS)))

        def ended(stage: Stage) -> None:
            following = STEPS.index(stage.name) + 1 if stage.name in STEPS else len(STEPS)
            if following < len(STEPS):
                begin(following)

        stages: tuple[Stage, ...] = ()
        clouds = []
        for number, (name, cloud) in enumerate((("source", self.source), ("target", self.target))):
            begin(number)
            key = number, settings.voxel_size
            if key not in self._prepared:
                ready = prepare(cloud, voxel_size=settings.voxel_size, threads=self._threads)
                stages += tuple(replace(stage, name=f"{name} {stage.name}") for stage in ready.stages)
                self._prepared[key] = ready
            self._prepared[key] = self._prepared.pop(key)  # the one that was needed last is the last to be forgotten
            clouds.append(self._prepared[key])
        while len(self._prepared) > _KEPT:
            del self._prepared[next(iter(self._prepared))]
        time_limit: float | Literal["default"] = "default" if settings.method == "auto" else _LONGEST_SEARCH
        pose = register(
            *clouds,
            epsilon=settings.epsilon,
            method=settings.method,
            time_limit=time_limit,
            threads=self._threads,
            callback=ended,
        )
        seconds = pose.seconds + sum(stage.seconds for stage in stages)
        return replace(pose, stages=stages + pose.stages, seconds=seconds)
