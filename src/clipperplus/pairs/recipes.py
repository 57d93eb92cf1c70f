"""How prepared clouds are made, wherever they are needed: a file or points, known by content, and the options."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from .._timing import Stage, Stopwatch
from ..clouds.prepared import PreparedCloud
from ..clouds.scan import Scan, Unread, prepare_scan
from ..clouds.voxels import size_for
from ..errors import ClipperPlusError, LandmarkError

__all__ = ["Failure", "Look", "Recipe", "TooLongError", "look_at", "made", "watching"]


class Failure(NamedTuple):
    """What comes of something that cannot be done."""

    reason: str
    is_missing: bool = False
    """Whether a file cannot be had there: it may be on another machine."""

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Return an error as such: the message, or what is said where it has none."""
        if isinstance(error, MemoryError):
            return cls("not enough memory")
        if isinstance(error, OSError) and error.strerror:
            name = f"{error.filename}: " if error.filename else ""
            return cls(
                f"{name}{error.strerror}", isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError)
            )
        return cls(str(error) or type(error).__name__)


class TooLongError(ClipperPlusError):
    """Something took longer than it may."""


def watching(limit: float | None) -> Callable[[Stage], None]:
    """Return what ends something at the end of a step, if it has taken longer than it may by then."""
    start = time.perf_counter()

    def watch(stage: Stage) -> None:
        if limit is not None and time.perf_counter() - start > limit:
            raise TooLongError(f"took longer than {limit:g} s")

    return watch


class Look(NamedTuple):
    """What one look at a cloud tells."""

    content: str
    """By which it is known."""
    size: float
    """The voxel size that suits it, not rounded; 0 if any does."""


def look_at(cloud: Unread | Scan) -> Look | Failure:
    """Return what a cloud is known by, and which voxels suit it."""
    try:
        scan = cloud.read() if isinstance(cloud, Unread) else cloud
        return Look(scan.content, size_for(scan.cloud, 1))
    except Exception as error:  # whatever a file does: others are not to suffer from it
        return Failure.of(error)


@dataclass(frozen=True, eq=False)
class Recipe:
    """How a prepared cloud is made."""

    cloud: Unread | Scan
    """Where the points are."""
    content: str
    voxel_size: float
    fine: bool = False
    """Whether finer points are kept, too."""
    origin_odds: float = 0.0
    """Those of :func:`clipperplus.clouds.scan.prepare_scan`."""
    limit: float | None = None
    """Seconds that it may take; it is ended after the step in which they are over."""

    @property
    def key(self) -> str:
        """What tells it from others: equal for clouds that are equal."""
        about = repr((self.content, self.voxel_size, self.fine, self.origin_odds))
        return f"cloud-{hashlib.sha256(about.encode()).hexdigest()[:32]}"

    @property
    def nbytes(self) -> int:
        """Memory of the points, as far as they are there."""
        return 0 if isinstance(self.cloud, Unread) else self.cloud.cloud.points.nbytes

    def make(self) -> PreparedCloud:
        """Read the cloud if it is in a file, and prepare it."""
        watch = Stopwatch(watching(self.limit))
        return prepare_scan(self._scan(), self.voxel_size, self.origin_odds, fine=self.fine, stopwatch=watch)

    def with_points(self) -> Recipe:
        """Return the recipe with the points themselves, for those who do not have the file."""
        return replace(self, cloud=self._scan())

    def _scan(self) -> Scan:
        if isinstance(self.cloud, Scan):
            return self.cloud
        scan = self.cloud.read()
        if scan.content != self.content:
            raise LandmarkError(f"{self.cloud.path}: changed since it was looked at")
        return scan


def made(recipe: Recipe) -> PreparedCloud | Failure:
    """Make a prepared cloud, or say why that cannot be done."""
    try:
        return recipe.make()
    except Exception as error:
        return Failure.of(error)
