"""The viewer's panel: controls beside the picture, and what was found in words."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...clique import METHODS
from ...registration import Pose
from ..framing import UP
from ..palette import INLIER, OUTLIER, SOURCE, TARGET, rgb
from .background import Progress
from .panel_text import describe_error, describe_evidence, describe_hypothesis, describe_status, describe_steps
from .repeated_registration import Settings
from .scene import MOST_LINES

__all__ = ["AS_GIVEN", "BESIDE", "Panel"]

ALIGNED, BESIDE, AS_GIVEN = "aligned", "beside the target", "as given"
"""Where the source is shown."""
_REACH = 5.0
"""A slider goes from a length by this to a length times this."""


class Panel:
    """Handles of the controls, in the order in which they are shown."""

    def __init__(self, gui: Any, settings: Settings, usual_voxel_size: float, up: str, notes: str) -> None:
        self._gui = gui
        self._status = gui.add_markdown("### no result yet")
        self._step = gui.add_markdown("starting")
        self._bar = gui.add_progress_bar(0.0, color=rgb(TARGET))
        with gui.add_folder("Registration"):
            self.voxel_size = self._add_length(
                "voxel size", settings.voxel_size, usual_voxel_size, "Metres. Smaller voxels see more, and take longer."
            )
            self.same_epsilon = gui.add_checkbox(
                "ε = voxel size", settings.epsilon == settings.voxel_size, hint="Whether epsilon follows the voxel size"
            )
            self.epsilon = self._add_length(
                "epsilon",
                settings.epsilon,
                usual_voxel_size,
                "Metres by which the distance of two points may differ from that of their matches",
            )
            self.epsilon.disabled = self.same_epsilon.value
            self.method = gui.add_dropdown(
                "method", tuple(METHODS), initial_value=settings.method, hint="That finds the largest clique"
            )
        with gui.add_folder("Display"):
            gui.add_markdown(_legend(notes))
            self.shows = {
                name: gui.add_checkbox(name, shown, hint=hint)
                for name, shown, hint in (
                    ("source", True, None),
                    ("target", True, None),
                    ("inliers", True, "Associations that the transform explains"),
                    ("outliers", False, f"Other associations; {MOST_LINES} of them at most are drawn"),
                )
            }
            self.place = gui.add_dropdown("source is", (ALIGNED, BESIDE, AS_GIVEN), initial_value=ALIGNED)
            self.up = gui.add_dropdown("up", tuple(UP), initial_value=up, hint="Looks at all of it again")
            self.hypothesis = gui.add_slider(
                "hypothesis",
                min=0,
                max=1,
                step=1,
                initial_value=0,
                disabled=True,
                hint="0 is the answer, others are alternatives",
            )
            self._hypothesis_text = gui.add_markdown("")
        self.save = gui.add_button("Save transform", disabled=True)
        self._saved = gui.add_markdown("", visible=False)
        with gui.add_folder("Evidence", expand_by_default=False):
            self._evidence = gui.add_markdown("")
        with gui.add_folder("Time", expand_by_default=False):
            self._steps = gui.add_markdown("")

    def settings(self) -> Settings:
        """Return what is asked for; epsilon follows the voxel size where that is wanted."""
        if self.same_epsilon.value:
            self.epsilon.value = self.voxel_size.value
        self.epsilon.disabled = self.same_epsilon.value
        return Settings(self.voxel_size.value, self.epsilon.value, self.method.value)

    def on_settings(self, listener: Callable[[], None]) -> None:
        """Call a function after the settings of the registration changed."""
        _listen(listener, self.voxel_size, self.same_epsilon, self.epsilon, self.method)

    def on_display(self, listener: Callable[[], None]) -> None:
        """Call a function after it was changed what is to be seen."""
        _listen(listener, self.hypothesis, *self.shows.values())

    def on_view(self, listener: Callable[[], None]) -> None:
        """Call a function after it was changed where things are, so that they may be out of sight."""
        _listen(listener, self.place, self.up)

    def show_progress(self, progress: Progress) -> None:
        """Say what is being done."""
        self._step.content = f"{progress.step} …"
        self._bar.value = 100.0 * progress.share

    def show_error(self, error: Exception) -> None:
        """Say why the settings have no result."""
        self._step.content = f'<span style="color:{OUTLIER}">**no new result**</span>: {describe_error(error)}'
        self._bar.value = 0.0

    def show_pose(self, pose: Pose) -> None:
        """Say what was found; it is the answer that is displayed, not an alternative to the one before."""
        self._status.content = describe_status(pose)
        self._evidence.content = describe_evidence(pose)
        self._steps.content = describe_steps(pose)
        self._step.content = f"registered in {pose.seconds * 1e3:.0f} ms"
        self._bar.value = 100.0
        self.hypothesis.value = 0
        self.hypothesis.max = max(1, len(pose.alternatives))
        self.hypothesis.disabled = not pose.alternatives
        self.save.disabled = pose.T_target_source is None

    def show_hypothesis(self, pose: Pose, number: int) -> None:
        """Say which transform is displayed."""
        self._hypothesis_text.content = describe_hypothesis(pose, number)

    def show_saved(self, text: str) -> None:
        """Say what became of the button."""
        self._saved.content = text
        self._saved.visible = True

    def _add_length(self, label: str, value: float, usual: float, hint: str) -> Any:
        step = 10.0 ** math.floor(math.log10(usual / 10.0))
        return self._gui.add_slider(
            label,
            min=min(value, max(step, math.floor(usual / _REACH / step) * step)),
            max=max(value, math.ceil(usual * _REACH / step) * step),
            step=step,
            initial_value=value,
            hint=hint,
        )


def _legend(notes: str) -> str:
    colours = (("source", SOURCE), ("target", TARGET), ("inliers", INLIER), ("outliers", OUTLIER))
    return "  ".join(f'<span style="color:{colour}">●</span> {name}' for name, colour in colours) + f"\n\n{notes}"


def _listen(listener: Callable[[], None], *handles: Any) -> None:
    for handle in handles:
        handle.on_update(lambda _: listener())
