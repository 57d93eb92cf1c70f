"""A viewer in the browser: change the settings, and see what becomes of the registration."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._validation import as_integer, as_length
from ...clique import method_of
from ...clouds.cloud import Cloud
from ...clouds.voxels import choose_voxel_size
from ...errors import ClipperPlusError
from ...geometry.files import write_transform
from ...registration import Pose
from ..packages import require
from .background import Background, Progress
from .panel import AS_GIVEN, BESIDE, Panel
from .panel_text import describe_error, plain
from .repeated_registration import RepeatedRegistration, Settings
from .scene import MOST_POINTS, Scene
from .serving import Serving

__all__ = ["Viewer"]

_PATIENCE = 0.5
"""Seconds that a step of the registration has to end in when the viewer is closed; the process can end without it."""


class Viewer:
    """A server that shows two clouds, how they are registered and with which settings, until it is closed.

    It is the listener of the registration in the background. That thread and those of the browser's events take turns:
    a lock guards what is displayed.
    """

    def __init__(
        self,
        names: tuple[str, str],
        clouds: tuple[Cloud, Cloud],
        *,
        voxel_size: float | None = None,
        epsilon: float | None = None,
        method: str = "auto",
        host: str = "127.0.0.1",
        port: int = 8080,
        output: Path = Path("transform.txt"),
        threads: int = 1,
    ) -> None:
        """Start the server, and the first registration; options are those of ``register``."""
        require("viser", "the viewer")
        threads = as_integer("threads", threads, 1, 1024)
        usual = choose_voxel_size(*clouds, threads=threads)
        size = usual if voxel_size is None else as_length("voxel_size", voxel_size)
        settings = Settings(size, size if epsilon is None else as_length("epsilon", epsilon), method)
        method_of(method)
        self._output = output
        self._pose: Pose | None = None
        self._lock = threading.RLock()
        self._serving = Serving(host, port)
        self._server = self._serving.server
        self._scene = Scene(self._serving, *clouds)
        self._scene.scale_points(settings.voxel_size)
        notes = "\n\n".join(_describe(name, cloud) for name, cloud in zip(names, clouds, strict=True))
        self._panel = Panel(self._server.gui, settings, usual, self._scene.up, notes)
        repeated = RepeatedRegistration(*clouds, threads=threads)
        self._background: Background[Settings, Pose] = Background(repeated.register, self)
        self._panel.on_settings(self._request)
        self._panel.on_display(self._draw)
        self._panel.on_view(self._draw_and_look)
        self._panel.save.on_click(self._save)
        self._draw_and_look()
        self._request()

    @property
    def url(self) -> str:
        """Where the viewer is."""
        return self._serving.url

    def close(self) -> None:
        """End the registration and the server."""
        self._background.close(_PATIENCE)
        self._serving.stop()

    def progressed(self, progress: Progress) -> None:
        """Show how far the registration is."""
        self._panel.show_progress(progress)

    def finished(self, pose: Pose) -> None:
        """Show what came out."""
        with self._lock, self._server.atomic():
            first, self._pose = self._pose is None, pose
            self._panel.show_pose(pose)
            self._scene.scale_points(pose.voxel_size or 0.0)
            if first:
                self._draw_and_look()
            else:
                self._draw()

    def failed(self, error: Exception) -> None:
        """Show why nothing came out; what came out before stays."""
        self._panel.show_error(error)

    def _request(self) -> None:
        with self._lock:  # or else settings that were read before others might be asked for after them
            self._background.request(self._panel.settings())

    def _draw_and_look(self) -> None:
        with self._lock, self._server.atomic():
            self._scene.up = self._panel.up.value
            self._draw()
            self._scene.look()

    def _draw(self) -> None:
        """Show what is to be shown of the last result."""
        with self._lock, self._server.atomic():
            for name, node in (
                ("source", self._scene.source),
                ("target", self._scene.target),
                ("inliers", self._scene.inliers),
                ("outliers", self._scene.outliers),
            ):
                node.visible = self._panel.shows[name].value
            if self._pose is None:
                return
            motion, inliers = self._hypothesis(self._pose)
            place = self._panel.place.value
            if motion is None or place == AS_GIVEN:
                shown = np.eye(4)
            else:
                shown = self._scene.beside(motion) if place == BESIDE else motion
            self._scene.move_source(shown)
            self._scene.draw_associations(self._pose, inliers)
            self._panel.show_hypothesis(self._pose, self._number(self._pose))

    def _number(self, pose: Pose) -> int:
        """Return which hypothesis is displayed; the slider may still be where the last pose had more of them."""
        return min(int(self._panel.hypothesis.value), len(pose.alternatives))

    def _hypothesis(self, pose: Pose) -> tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.int64]]:
        """Return the transform that is displayed, and the associations that it explains."""
        number = self._number(pose)
        if number == 0:
            return pose.T_target_source, pose.inliers
        other = pose.alternatives[number - 1]
        return other.T_target_source, other.inliers

    def _save(self, event: Any) -> None:
        """Write the transform that is displayed, and offer it to the browser, which may be on another machine."""
        with self._lock:
            if self._pose is None:
                return
            motion, _ = self._hypothesis(self._pose)
            if motion is None:
                return
            number = self._number(self._pose)
            what = f"alternative {number}" if number else "the answer"
            try:
                write_transform(self._output, motion)
                text = f"saved {what}: {plain(str(self._output))}"
                event.client.send_file_download(self._output.name, self._output.read_bytes())
            except (OSError, ClipperPlusError) as error:
                text = f"**not saved**: {plain(str(self._output))}: {describe_error(error)}"
            self._panel.show_saved(text)


def _describe(name: str, cloud: Cloud) -> str:
    count = len(cloud.points)
    drawn = f", {MOST_POINTS} of them drawn" if count > MOST_POINTS else ""
    return f"{plain(name)}: {count} points{drawn}"
