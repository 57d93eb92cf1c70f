"""What comes of many scans: where each stands, how sure that is, and what was left out and why."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._timing import Stage
from .._validation import as_integer, as_length
from ..clouds.cloud import as_cloud
from ..clouds.voxels import voxel_means
from ..errors import OptionError

if TYPE_CHECKING:
    from .locate import Location

__all__ = ["Edge", "EdgeStatus", "Map", "ScanStatus"]

_Array: TypeAlias = npt.NDArray[np.float64]


class ScanStatus(enum.Enum):
    """What became of a scan."""

    PLACED = "placed"
    """It has a pose."""
    ALONE = "alone"
    """It fits nowhere, and is left out."""
    EMPTY = "empty"
    """It has too few points to fit anywhere, and is left out."""


class EdgeStatus(enum.Enum):
    """What became of a pair of scans."""

    BELIEVED = "believed"
    """It is part of the map."""
    REFUSED = "refused"
    """It contradicts what is believed."""
    DOUBTED = "doubted"
    """It is not likely enough, and nothing confirms it."""


@dataclass(frozen=True, eq=False)
class Edge:
    """A pair of scans that was looked at."""

    source: int
    target: int
    """Numbers of the scans."""
    status: EdgeStatus
    reason: str
    """Why, in a sentence."""
    origin: Literal["registered", "alternative", "seen", "same points"]
    """Where the transform is from: the answer of a registration or its alternative, a look at where the map puts the
    two, or that both have the same points."""
    confidence: float
    """Probability, from 0 to 1, that it is right, by itself; of one that was only seen, that of the map."""
    T_target_source: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """``(4, 4)``; None if no transform was found."""
    covariance: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """``(6, 6)``, as in :class:`clipperplus.Pose`; None without a transform."""
    overlap: float | None = None
    """Share of the source that lies on the target's surface; None if it was not looked at."""
    shift: float | None = None
    """Metres by which it moves the source away from where the map has it, root mean square; None if the map does not
    relate the two."""


@dataclass(frozen=True, eq=False)
class Map:
    """Scans put together."""

    names: tuple[str, ...]
    """Of the scans."""
    poses: npt.NDArray[np.float64] = field(repr=False)
    """``(k, 4, 4)`` from each scan to the frame of its component; NaN where it was not placed."""
    components: tuple[npt.NDArray[np.int64], ...] = field(repr=False)
    """Numbers of the scans that belong together, the largest set first. Scans of different components have no known
    relation; each has a frame of its own, that of one of its scans, or of the poses that were given."""
    status: tuple[ScanStatus, ...] = field(repr=False)
    """What became of each scan, and …"""
    reasons: tuple[str, ...] = field(repr=False)
    """… why it was left out, in a sentence; empty for those that were placed."""
    confidence: npt.NDArray[np.float64] = field(repr=False)
    """``(k,)``: probability that a scan stands where it does, relative to its component; 0 where it was not placed."""
    covariances: npt.NDArray[np.float64] = field(repr=False)
    """``(k, 6, 6)`` of a small motion (rotation vector, translation) in the frame of the component, relative to the
    scan whose frame it is; NaN where a scan was not placed."""
    edges: tuple[Edge, ...] = field(repr=False)
    """Pairs that were looked at, and what became of each."""
    voxel_size: float
    """Metres."""
    prior: float
    """Which share of the pairs that were registered belongs together: confidences were read with that in mind."""
    proven: bool
    """Whether every set of pairs that agree is proven to be the largest."""
    stages: tuple[Stage, ...] = field(repr=False)
    """What was done and how long it took."""
    seconds: float
    """Time of all of it."""
    scans: tuple[npt.NDArray[Any], ...] = field(repr=False)
    """The points of each scan, ``(n, 3)``, in its own frame."""
    viewpoints: npt.NDArray[np.float64] = field(repr=False)
    """``(k, 3)``: where each sensor stood, in the frame of its scan; NaN where it was not told, …"""
    free_space: bool = True
    """… and whether what sensors looked through counts."""
    usual_conflict: float = 0.02
    """Share of two scans that lies where the other sensor looked through even if both stand where they should: scans
    are bent, and things move. More of it speaks against a pose."""

    @property
    def is_complete(self) -> bool:
        """Whether all scans were placed, in one component."""
        return len(self.components) == 1 and all(status is ScanStatus.PLACED for status in self.status)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Numbers of the scans that were not placed."""
        return tuple(k for k, status in enumerate(self.status) if status is not ScanStatus.PLACED)

    def points(self, voxel_size: float | None = None, *, component: int = 0, threads: int = 1) -> _Array:
        """Return the points of a component in one frame, ``(n, 3)``, reduced to one a voxel.

        Parameters
        ----------
        voxel_size
            Metres; None: half of the map's.
        component
            Which one; 0 is the largest.
        threads
            The result does not depend on it.

        """
        size = 0.5 * self.voxel_size if voxel_size is None else as_length("voxel_size", voxel_size)
        threads = as_integer("threads", threads, 1, 1024)
        if not self.components:
            raise OptionError("component: the map has none, because no two scans belong together")
        chosen = self.components[as_integer("component", component, 0, len(self.components) - 1)]
        moved = []
        for scan in chosen.tolist():
            pose, (points, _) = self.poses[scan], voxel_means(as_cloud("scan", self.scans[scan]), size, threads)
            moved.append(points @ pose[:3, :3].T + pose[:3, 3])
        return np.asarray(voxel_means(as_cloud("points", np.concatenate(moved)), size, threads)[0])

    def locate(self, scan: Any, *, threads: int = 1, **options: Any) -> Location:
        """Find where in the map a scan was taken; see :func:`clipperplus.mapping.locate`. The map is not changed."""
        from .locate import locate

        return locate(self, scan, threads=threads, **options)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write the map to a folder, which is made if need be; see :func:`clipperplus.mapping.save_map`."""
        from .map_files import save_map

        save_map(self, folder)

    @classmethod
    def load(cls, folder: str | PathLike[str], *, size_limit: int | None = None) -> Map:
        """Read what :meth:`save` wrote; see :func:`clipperplus.mapping.load_map`."""
        from .map_files import load_map

        return load_map(folder, size_limit=size_limit)

    def plot(self, path: str | PathLike[str] | None = None, *, component: int = 0) -> Any:
        """Draw a component from above and from the side, coloured by scan, with its edges.

        Parameters
        ----------
        path
            Where to write the figure: ``.png``, ``.svg`` or ``.pdf``; None: nowhere.
        component
            Which one; 0 is the largest.

        Returns
        -------
        matplotlib.figure.Figure
            Needs the extra ``viz``.

        """
        from ..viz.map_figures import draw_map

        return draw_map(self, path, component=component)

    def report(self, path: str | PathLike[str], *, command: str | None = None) -> None:
        """Write all about the map as one HTML file, to be opened in a browser; it needs no network.

        Parameters
        ----------
        path
            The file to write. Needs the extra ``viz``.
        command
            The command that did it, to be shown.

        """
        from ..viz.map_report import write_map_report

        write_map_report(self, path, command=command)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the points in plain Python types, as ``clipperplus map --json`` prints it."""
        return {
            "scans": [
                {
                    "name": name,
                    "status": self.status[k].value,
                    "reason": self.reasons[k],
                    "component": next((c for c, scans in enumerate(self.components) if k in scans), None),
                    "confidence": float(self.confidence[k]),
                    "T_map_scan": _listed(self.poses[k]),
                    "covariance": _listed(self.covariances[k]),
                }
                for k, name in enumerate(self.names)
            ],
            "components": [scans.tolist() for scans in self.components],
            "edges": [
                {
                    "source": edge.source,
                    "target": edge.target,
                    "status": edge.status.value,
                    "reason": edge.reason,
                    "origin": edge.origin,
                    "confidence": edge.confidence,
                    "T_target_source": None if edge.T_target_source is None else edge.T_target_source.tolist(),
                    "covariance": None if edge.covariance is None else edge.covariance.tolist(),
                    "overlap": edge.overlap,
                    "shift": edge.shift,
                }
                for edge in self.edges
            ],
            "voxel_size": self.voxel_size,
            "prior": self.prior,
            "proven": self.proven,
            "usual_conflict": self.usual_conflict,
            "stages": [{"name": s.name, "seconds": s.seconds, "count": s.count} for s in self.stages],
            "seconds": self.seconds,
        }


def _listed(matrix: _Array) -> list[list[float]] | None:
    """Return a matrix as lists; None where it is not known."""
    return matrix.tolist() if np.isfinite(matrix).all() else None
