"""From many scans to a map: the whole line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from .._timing import Stopwatch
from .._validation import as_array, as_integer, as_length
from .._words import shown
from ..clouds.scan import Scan
from ..errors import OptionError
from ..geometry.poses import adjoint
from ..pairs.arguments import check_surroundings
from ..pairs.run import cluster_of
from .edges import make_edges, why_alone
from .finish import finish_place
from .map import Edge, EdgeStatus, Map, ScanStatus
from .outlines import Outline
from .pose_graph import load_gtsam
from .relations import Relation
from .rough_poses import RoughPoses, as_rough_poses
from .scans import as_scan_of_map, as_scans, common_voxel_size, in_order_of_content
from .settle import Settled
from .shelf import Shelf
from .store import RelationFile
from .survey import Survey, make_survey
from .workbench import Pair, Workbench

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Mapper", "Progress", "build_map"]

_Array: TypeAlias = npt.NDArray[np.float64]
_Numbers: TypeAlias = npt.NDArray[np.int64]
Progress: TypeAlias = Callable[[str, int, int], object]
"""Told what is being done, how much of it is done, and how much there is."""


def build_map(
    scans: Sequence[Any],
    *,
    voxel_size: float | None = None,
    poses: npt.ArrayLike | RoughPoses | None = None,
    pairs: Literal["auto", "all"] | npt.ArrayLike = "auto",
    names: Sequence[str] | None = None,
    free_space: bool = True,
    store: str | PathLike[str] | None = None,
    client: Client | None = None,
    memory: int | None = None,
    size_limit: int | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> Map:
    """Put many scans together, in any order and whatever their frames, and say how sure that is.

    Parameters
    ----------
    scans
        ``(n, 3)`` points each, anything with ``.points``, or names of files.
    voxel_size
        Metres; None: the median of what :func:`clipperplus.choose_voxel_size` chooses for each scan.
    poses
        ``(k, 4, 4)`` from each scan to a common frame, as far as they are known: from odometry, or by hand. NaN where
        nothing is known. :class:`RoughPoses` says how far off they may be. The map is then put into their frame.
    pairs
        Which scans to register with each other. ``"auto"``: those that look most alike, those that are near each other
        by ``poses``, and more as long as there are places that nothing connects. ``"all"``, or ``(m, 2)`` numbers of
        scans: these, and no others. Where the map begins to stand, scans that overlap are compared in any case.
    names
        Of the scans; None: those of the files, or numbers.
    free_space
        Whether points that come to lie in front of what a sensor saw speak against a pose; say False for scans that
        were not seen from one place each.
    store
        A file to which every registration of two scans is written as soon as it is done, and from which it is read
        again: a map that was interrupted goes on where it was, and scans may be added. None: nothing is kept.
    client
        ``distributed.Client`` of a Dask cluster whose workers register the pairs, as in
        :func:`clipperplus.register_pairs`; None: this process. The result does not depend on it. Needs the extra
        ``cluster``.
    memory
        Bytes for prepared clouds, in this process and on each worker, beside what is always kept: those that were not
        used for the longest go first. None: half of the memory of all points, or 32 MB, here, and two fifths of a
        worker's there.
    size_limit
        Bytes that what a file holds may take, as in :func:`clipperplus.read_cloud`.
    threads
        Of this process. The result does not depend on it.
    progress
        Called as work goes on, with what is being done, how much of it is done, and how much there is. What it raises
        ends the work and is passed on.

    Returns
    -------
    Map
        Needs the extra ``map``.

    """
    most = None if size_limit is None else as_integer("size_limit", size_limit, 0, 2**62)
    check_surroundings(store, client, progress)
    checked = as_scans(scans, names, most)
    return _build(
        checked,
        voxel_size,
        poses,
        _as_pairs(pairs, len(checked)),
        free_space,
        store,
        client,
        None if memory is None else as_integer("memory", memory, 1, 2**62),
        threads,
        progress,
        {},
        Stopwatch(),
    )


def _as_pairs(pairs: Any, count: int) -> list[Pair] | None:
    """Return pairs of scans, the lower number first; None: to be chosen."""
    if isinstance(pairs, str):
        if pairs not in ("auto", "all"):
            raise OptionError(f"pairs: expected 'auto', 'all' or numbers of scans, got {shown(pairs)}")
        return None if pairs == "auto" else list(itertools.combinations(range(count), 2))
    array = as_array("pairs", pairs, OptionError)
    if array.shape == (0,):
        return []
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise OptionError(f"pairs: expected integers of shape (m, 2), got {array.dtype} of shape {array.shape}")
    if array.size and (array.min() < 0 or array.max() >= count):
        raise OptionError(f"pairs: expected numbers of {count} scans, got {int(array.min())} to {int(array.max())}")
    return sorted({(min(a, b), max(a, b)) for a, b in array.tolist() if a != b})


class Mapper:
    """The same for scans that come one by one.

    :attr:`map` is what :func:`build_map` gives for all scans so far. The work is done when it is asked for; pairs that
    were registered before are not registered again.
    """

    def __init__(
        self,
        *,
        voxel_size: float,
        free_space: bool = True,
        store: str | PathLike[str] | None = None,
        client: Client | None = None,
        memory: int | None = None,
        threads: int = 1,
        progress: Progress | None = None,
    ) -> None:
        """Begin without scans; the arguments are those of :func:`build_map`, but the voxel size must be told."""
        load_gtsam()
        self._voxel_size = as_length("voxel_size", voxel_size)
        most = None if memory is None else as_integer("memory", memory, 1, 2**62)
        check_surroundings(store, client, progress)
        self._options = free_space, store, client, most, threads, progress
        self._scans: list[Scan] = []
        self._poses: list[_Array] = []
        self._known: dict[tuple[str, str, str], Relation] = {}
        self._map: Map | None = None

    def __len__(self) -> int:
        """Return the number of scans."""
        return len(self._scans)

    def add(self, scan: Any, pose: npt.ArrayLike | None = None, *, name: str | None = None) -> None:
        """Take a scan, as in :func:`build_map`; ``pose`` is its rough pose, ``(4, 4)``, if there is one."""
        known = np.full((4, 4), np.nan) if pose is None else as_rough_poses([pose], 1, 1.0).poses[0]
        self._scans.append(as_scan_of_map(scan, f"scan {len(self)}", name))
        self._poses.append(known)
        self._map = None

    @property
    def map(self) -> Map:
        """The map of all scans so far."""
        if self._map is None:
            poses = np.array(self._poses).reshape(-1, 4, 4)
            rough = None if np.isnan(poses).all() else poses
            free_space, store, client, memory, threads, progress = self._options
            self._map = _build(
                self._scans,
                self._voxel_size,
                rough,
                None,
                free_space,
                store,
                client,
                memory,
                threads,
                progress,
                self._known,
                Stopwatch(),
            )
        return self._map


def _build(
    scans: list[Scan],
    voxel_size: float | None,
    poses: npt.ArrayLike | RoughPoses | None,
    pairs: list[Pair] | None,
    free_space: bool,
    store: str | PathLike[str] | None,
    client: Client | None,
    memory: int | None,
    threads: int,
    progress: Progress | None,
    known: dict[tuple[str, str, str], Relation],
    stopwatch: Stopwatch,
) -> Map:
    """Build a map of scans that were checked; ``known`` relations are not found out again, and new ones put there."""
    load_gtsam()
    if not isinstance(free_space, bool):
        raise OptionError(f"free_space: expected True or False, got {shown(free_space)}")
    threads = as_integer("threads", threads, 1, 1024)
    size = common_voxel_size(scans, voxel_size)
    rough = None if poses is None else as_rough_poses(poses, len(scans), size)
    stopwatch.lap("reading", len(scans))
    order = in_order_of_content(scans)
    firsts, copies = _without_copies([scans[k] for k in order])
    unique = [scans[order[k]] for k in firsts]
    shelf = Shelf(Workbench((), free_space=free_space, threads=threads, progress=progress), unique, size, memory)
    full = shelf.numbers
    stopwatch.lap("preparing", len(unique))
    contents = [_known_as(scan, outline) for scan, outline in zip(shelf.scans, shelf.outlines, strict=True)]
    with ExitStack() as exits:
        relations = exits.enter_context(RelationFile(store, contents, size, free_space, known))
        cluster = None if client is None else cluster_of(client, lambda key: shelf.recipe(int(key)), memory)
        if cluster is not None:
            exits.callback(cluster.close)
        bench = Workbench(
            shelf.seen,
            described=shelf.described,
            outlines=shelf.outlines,
            free_space=free_space,
            threads=threads,
            store=relations,
            engine=cluster,
            progress=progress,
        )
        guess = None if rough is None else rough.of([int(order[firsts[k]]) for k in full])
        similarities = shelf.similarities()
        stopwatch.lap("comparing", len(full))
        place = {int(order[k]): full.index(copy) for k, copy in enumerate(copies) if copy in full}
        chosen_pairs = None if pairs is None else [(place[a], place[b]) for a, b in pairs if a in place and b in place]
        survey = make_survey(bench, similarities, guess, chosen_pairs)
        stopwatch.lap("surveying", len(bench.relations))
        raw = [scan.cloud for scan in shelf.scans]
        finished = tuple(finish_place(bench, place, raw, shelf.recent) for place in survey.places)
        survey = replace(survey, places=finished)
        stopwatch.lap("refining", sum(len(place.scans) for place in survey.places))
    numbers = np.array([order[firsts[k]] for k in full], dtype=np.int64)
    same = [(int(order[k]), int(order[firsts[copy]])) for k, copy in enumerate(copies) if firsts[copy] != k]
    return _Assembly(scans, numbers, same, bench, survey, rough).map(size, free_space, stopwatch)


def _known_as(scan: Scan, outline: Outline) -> str:
    """Return what tells a scan from others, where it is thought to have been seen from included."""
    return f"{scan.content} {outline.viewpoint.source} {outline.viewpoint.place.tolist()}"


def _without_copies(scans: list[Scan]) -> tuple[list[int], list[int]]:
    """Return the numbers of scans that differ, and of each scan which of these it is equal to."""
    seen: dict[str, int] = {}
    firsts: list[int] = []
    copies = []
    for number, scan in enumerate(scans):
        if scan.content not in seen:
            seen[scan.content] = len(firsts)
            firsts.append(number)
        copies.append(seen[scan.content])
    return firsts, copies


class _Assembly:
    """The parts of a map, in the numbering of the caller."""

    def __init__(
        self,
        scans: list[Scan],
        numbers: _Numbers,
        same: list[Pair],
        bench: Workbench,
        survey: Survey,
        rough: RoughPoses | None,
    ) -> None:
        self._scans, self._numbers, self._same = scans, numbers, same
        self._bench, self._survey, self._rough = bench, survey, rough
        count = len(scans)
        self._poses, self._covariances = np.full((count, 4, 4), np.nan), np.full((count, 6, 6), np.nan)
        self._confidence = np.zeros(count)

    def map(self, size: float, free_space: bool, stopwatch: Stopwatch) -> Map:
        """Put them together."""
        components = [self._place(place) for place in self._survey.places]
        edges = list(make_edges(self._bench, self._survey, self._numbers))
        for copy, first in self._same:
            components, edge = self._copy(copy, first, components)
            edges.append(edge)
        placed = np.isfinite(self._poses).all(axis=(1, 2))
        reasons = why_alone(len(self._scans), placed, self._numbers, self._bench, self._survey)
        empty = ~placed & ~np.isin(np.arange(len(placed)), self._numbers)
        status = [
            ScanStatus.PLACED if there else ScanStatus.EMPTY if nothing else ScanStatus.ALONE
            for there, nothing in zip(placed, empty, strict=True)
        ]
        priors = list(self._survey.priors.values())
        unknown = np.full(3, np.nan)
        stopwatch.lap("assembling", len(edges))
        return Map(
            names=tuple(scan.name for scan in self._scans),
            poses=self._poses,
            components=tuple(sorted(components, key=lambda scans: (-len(scans), int(scans[0])))),
            status=tuple(status),
            reasons=tuple(reasons),
            confidence=self._confidence,
            covariances=self._covariances,
            edges=tuple(sorted(edges, key=lambda edge: (edge.source, edge.target))),
            voxel_size=size,
            prior=float(np.mean(priors)) if priors else 0.5,
            proven=self._survey.proven,
            stages=stopwatch.stages,
            seconds=stopwatch.seconds,
            scans=tuple(scan.cloud.points for scan in self._scans),
            viewpoints=np.array(
                [unknown if scan.viewpoint is None else scan.viewpoint for scan in self._scans]
            ).reshape(-1, 3),
            free_space=free_space,
            usual_conflict=self._survey.usual_conflict,
        )

    def _place(self, place: Settled) -> _Numbers:
        """Take over where the scans of a place stand, in the frame of the poses that were given, if there are any."""
        numbers = self._numbers[place.scans]
        frame = np.eye(4)[None] if self._rough is None else self._rough.frame_of(numbers, place.poses)
        turned = adjoint(frame)
        self._poses[numbers] = frame @ place.poses
        self._covariances[numbers] = turned @ place.solved.covariances @ turned.transpose(0, 2, 1)
        self._confidence[numbers] = self._survey.confidence[place.scans]
        return np.sort(numbers)

    def _copy(self, copy: int, first: int, components: list[_Numbers]) -> tuple[list[_Numbers], Edge]:
        """Put a copy where the scan is that it is equal to."""
        if not np.isfinite(self._poses[first]).all():
            self._poses[first], self._covariances[first], self._confidence[first] = np.eye(4), np.zeros((6, 6)), 1.0
            components = [*components, np.array([first])]
        for known in (self._poses, self._covariances, self._confidence):
            known[copy] = known[first]
        components = [np.sort(np.append(scans, copy)) if first in scans else scans for scans in components]
        source, target = min(copy, first), max(copy, first)
        reason = "both have the same points"
        return components, Edge(
            source, target, EdgeStatus.BELIEVED, reason, "same points", 1.0, np.eye(4), np.zeros((6, 6)), 1.0, 0.0
        )
