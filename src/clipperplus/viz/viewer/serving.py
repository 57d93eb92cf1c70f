"""A server of viser: where it listens, whom it lets in, what is drawn there, from where, and how it ends."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import MissingPackageError
from ..packages import require
from ..palette import rgb
from .gate import Gate
from .ports import free_port

__all__ = ["Serving"]

_Array = npt.NDArray[np.float64]

_FIELD_OF_VIEW = np.radians(50.0)
_ELEVATION = np.radians(35.0)


class Serving:
    """An empty page on a port, for those who know its address, until it is stopped."""

    def __init__(self, host: str, port: int) -> None:
        viser = require("viser", "the viewer")
        self._host = host
        free = free_port(host, port)
        self._gate = Gate(host)
        with _quiet(), self._gate.guarding():
            self.server = viser.ViserServer(host=host, port=free, label="clipperplus", verbose=False)
        try:  # before there is anything to see
            self._gate.check(host, self.server.get_port())
            _refuse_tunnels(self.server)
        except BaseException:
            self.stop()
            raise
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        self.server.gui.main_panel.dock_right()

    @property
    def url(self) -> str:
        """Where the page is, with the secret that lets one in."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.server.get_port()}/{self._gate.token}"

    def stop(self) -> None:
        """End the server."""
        with _quiet():
            self.server.stop()

    def add_points(self, name: str, points: _Array, colour: str, size: float = 0.01) -> Any:
        """Draw a cloud, or draw it anew; the size of its points is in metres."""
        return self.server.scene.add_point_cloud(
            name, points, rgb(colour), point_size=size, point_shape="circle", point_shading="flat", precision="float32"
        )

    def add_lines(self, name: str, lines: _Array, colour: str, thickness: float) -> Any:
        """Draw ``(n, 2, 3)`` ends of lines, so many pixels thick."""
        return self.server.scene.add_line_segments(
            name, lines, rgb(colour), thickness=thickness, thickness_units="screen"
        )

    def look(self, centre: _Array, radius: float, up: _Array, ahead: _Array) -> None:
        """Look at a ball along a level direction, from above."""
        distance = 0.95 * radius / np.sin(_FIELD_OF_VIEW / 2.0)  # clouds seldom fill the corners of their boxes
        away = np.sin(_ELEVATION) * up - np.cos(_ELEVATION) * ahead
        self.server.scene.set_up_direction(tuple(up.tolist()))
        for camera in (self.server.initial_camera, *(c.camera for c in self.server.get_clients().values())):
            camera.near, camera.far, camera.fov = distance / 1e3, distance * 1e3, _FIELD_OF_VIEW
            camera.position = centre + distance * away
            camera.look_at = centre


def _refuse_tunnels(server: Any) -> None:
    """Take from viser what answers messages about sharing; refuse a release in which it cannot be found.

    Without the button a page can still send them, and viser would then open a tunnel to a public server.
    """
    try:
        handlers = server._websock_server._incoming_handlers
        shared = [message for message in handlers if message.__name__.startswith("ShareUrl")]
        for message in shared:
            del handlers[message]
    except (AttributeError, TypeError):
        shared = []
    if "ShareUrlRequest" not in {message.__name__ for message in shared}:
        raise MissingPackageError(
            "the viewer needs a release of viser that can be kept from opening a tunnel to a public server; the one "
            "that is installed cannot, as far as is known: pip install --upgrade 'clipperplus[viz]'"
        )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep to itself what viser prints as it starts and ends: it has no option for that."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield
