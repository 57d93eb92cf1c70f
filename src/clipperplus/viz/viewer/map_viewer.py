"""A map in the browser: its scans in 3-D, each in a colour, and the pairs that hold it together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...geometry.transforms import apply_transform
from ...mapping.map import EdgeStatus, Map
from ..framing import Frame, middle_and_radius
from ..map_view import EDGE_COLOURS, edges_within, frame_of_component, headline, scan_colours, show_scans
from .panel_text import plain
from .serving import Serving

__all__ = ["MapViewer"]

_Array = npt.NDArray[np.float64]

_MOST_POINTS = 1_000_000
"""Of all scans together."""
_POINT_SIZE, _PLACE_SIZE = 0.2, 1.5
"""Voxels: the points of scans, and the dots where these stand."""


class _View(NamedTuple):
    """A component, drawn around its middle."""

    nodes: dict[str, list[Any]]
    """What can be shown or not."""
    radius: float
    frame: Frame


class MapViewer:
    """A server that shows a map, one component at a time, until it is closed."""

    def __init__(self, map: Map, *, host: str = "127.0.0.1", port: int = 8080) -> None:
        """Start the server."""
        self._map = map
        self._serving = Serving(host, port)
        self._shown = show_scans(map, _MOST_POINTS // max(1, len(map.scans)))
        self._views = [self._add_component(number) for number in range(len(map.components))]
        gui = self._serving.server.gui
        gui.add_markdown(f"### {headline(map)}")
        names = [f"{number}: {len(scans)} scans" for number, scans in enumerate(map.components)] or ["none"]
        self._component = gui.add_dropdown("component", names, disabled=len(names) == 1)
        self._shows = {"points": gui.add_checkbox("points", True), "places": gui.add_checkbox("sensors", True)}
        for status in EdgeStatus:
            self._shows[status.value] = gui.add_checkbox(f"{status.value} pairs", status is not EdgeStatus.DOUBTED)
        with gui.add_folder("Scans", expand_by_default=False):
            gui.add_markdown(_describe_scans(map))
        for box in self._shows.values():
            box.on_update(lambda _: self._draw())
        self._component.on_update(lambda _: self._draw_and_look())
        self._draw_and_look()

    @property
    def url(self) -> str:
        """Where the viewer is."""
        return self._serving.url

    def close(self) -> None:
        """End the server."""
        self._serving.stop()

    def _add_component(self, number: int) -> _View:
        """Add all of a component to the scene."""
        serving, map, scans = self._serving, self._map, self._map.components[number]
        colours = scan_colours(len(map.names))
        clouds = {scan: apply_transform(map.poses[scan], self._shown[scan].points) for scan in scans.tolist()}
        origin, radius = middle_and_radius(np.concatenate(list(clouds.values())))
        places: dict[int, _Array] = {}
        nodes: dict[str, list[Any]] = {"points": [], "places": []}
        for scan, points in clouds.items():
            places[scan] = apply_transform(map.poses[scan], self._shown[scan].place[None])[0] - origin
            for what, some, size in (
                ("points", points - origin, _POINT_SIZE),
                ("places", places[scan][None], _PLACE_SIZE),
            ):
                name = f"/{number}/{what}/{scan}"
                nodes[what].append(serving.add_points(name, some, colours[scan], size * map.voxel_size))
        for status, colour in EDGE_COLOURS.items():
            pairs = [(places[edge.source], places[edge.target]) for edge in edges_within(map, scans, status)]
            lines = np.array(pairs).reshape(-1, 2, 3)
            nodes[status.value] = [serving.add_lines(f"/{number}/{status.value}", lines, colour, 2.0)]
        return _View(nodes, radius, frame_of_component(map, scans, self._shown))

    def _number(self) -> int:
        return int(self._component.value.partition(":")[0])

    def _draw(self) -> None:
        """Show what is to be shown of the component that was chosen, and nothing of the others."""
        with self._serving.server.atomic():
            for number, view in enumerate(self._views):
                for what, nodes in view.nodes.items():
                    for node in nodes:
                        node.visible = number == self._number() and self._shows[what].value

    def _draw_and_look(self) -> None:
        self._draw()
        if self._views:
            view = self._views[self._number()]
            self._serving.look(np.zeros(3), view.radius, view.frame.up, view.frame.depth)


def _describe_scans(map: Map) -> str:
    """Return a line for each scan, in its colour; of those that were left out, why."""
    lines = []
    for name, colour, status, reason in zip(
        map.names, scan_colours(len(map.names)), map.status, map.reasons, strict=True
    ):
        why = f": {plain(reason)}" if reason else ""
        lines.append(f'<span style="color:{colour}">●</span> {plain(name)}, {status.value}{why}')
    return "\n\n".join(lines)
