"""Groups of three or four matches: what they agree on that two cannot, and how groups make a graph.

J. Shi, H. Yang and L. Carlone, "ROBIN: a graph-theoretic approach to reject outliers in robust estimation using
invariants", ICRA 2021: where a motion leaves nothing of two landmarks unchanged, it may leave something of three or
four. Matches that are found together in consistent groups are joined, and those that belong together are a clique.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from .._validation import as_integer, as_number, as_points
from ..errors import OptionError
from .base import Indices, Pairs, Vector

__all__ = ["DistanceRatios", "GroupInvariant", "GroupSampling", "join_groups"]

_MOST_ASSOCIATIONS = 50_000
"""So that four of them have one number."""
_GROUPS_AT_ONCE = 1 << 16
_ROUNDS = 8
_EXPLORED = 0.1
"""Share of the draws that is not guided by what was found."""


@runtime_checkable
class GroupInvariant(Protocol):
    """What :func:`clipperplus.consistency_graph` asks of an invariant of groups. Any class like it is one."""

    @property
    def arity(self) -> int:
        """How many associations a group has: 3 or 4."""
        ...

    def landmarks(self, name: str, given: Any) -> Any:
        """Check one set of landmarks, called ``name`` in errors; return it in a form that has a length."""
        ...

    def group_residuals(self, source: Any, target: Any, members: tuple[Pairs, ...], epsilon: Vector) -> Vector:
        """Return how much groups of associations disagree; they are consistent where this is below 1.

        ``members`` has the first association of every group, the second, and so on, as numbers of their source and
        target landmarks; ``epsilon`` is the bound of every group. What is no number (NaN) is not consistent.
        """
        ...


@dataclass(frozen=True)
class GroupSampling:
    """How groups are looked for, and how many make an edge.

    If there are no more than ``budget`` groups, all are looked at. Else so many are drawn, in eight rounds: each time
    an association is drawn the more often, the larger the share of its groups that were consistent so far.
    """

    budget: int | None = None
    """Groups that are looked at, at most; for :class:`CameraReprojection`, triples that are drawn. None: the square of
    the number of associations, from 200 000 to 4 000 000; of triples, 100 000."""
    min_groups: int = 2
    """Consistent groups that two associations must be in together to be joined."""
    seed: int = 0
    """Of the draws: the same seed gives the same graph."""

    def __post_init__(self) -> None:
        if self.budget is not None:
            object.__setattr__(self, "budget", as_integer("budget", self.budget, 1, 10**9))
        object.__setattr__(self, "min_groups", as_integer("min_groups", self.min_groups, 1, 10**6))
        object.__setattr__(self, "seed", as_integer("seed", self.seed, 0, 2**63))

    def budget_for(self, count: int) -> int:
        """Return how many groups of so many associations are looked at."""
        return min(max(200_000, count**2), 4_000_000) if self.budget is None else self.budget


@dataclass(frozen=True)
class DistanceRatios:
    """Three points keep the ratios of their distances: a motion of unknown scale.

    With s the scale that fits the three sides best, ``|‖b_i - b_j‖ - s ‖a_i - a_j‖| < epsilon`` for each of them:
    epsilon is a length in the target. Triangles whose sides in the target are all shorter than ten epsilon prove
    nothing, and are not consistent. Landmarks are as those of :class:`Distance`.
    """

    min_scale: float = 0.0
    """Smaller scales are not wanted, …"""
    max_scale: float = math.inf
    """… nor larger ones."""
    arity: int = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "min_scale", as_number("min_scale", self.min_scale, 0.0, math.inf))
        if self.max_scale != math.inf:
            object.__setattr__(self, "max_scale", as_number("max_scale", self.max_scale, self.min_scale, math.inf))
        if self.arity != 3:
            raise OptionError(f"arity: distances of three points have ratios, got {self.arity!r}")

    def landmarks(self, name: str, given: Any) -> Vector:
        """Check the points."""
        return as_points(name, given)

    def group_residuals(self, source: Vector, target: Vector, members: tuple[Pairs, ...], epsilon: Vector) -> Vector:
        """Return the largest difference of a side and its scaled match, by epsilon."""
        a = _sides(source, [member.source for member in members])
        b = _sides(target, [member.target for member in members])
        scale = (a * b).sum(axis=0) / (a * a).sum(axis=0)
        misses = np.abs(b - scale * a).max(axis=0) / epsilon
        proves = (b.max(axis=0) >= 10.0 * epsilon) & (scale >= self.min_scale) & (scale <= self.max_scale)
        return np.where(proves, misses, np.inf)


def _sides(points: Vector, corners: list[Indices]) -> Vector:
    """Return the sides ``(3, n)`` of triangles."""
    return np.array([np.linalg.norm(points[i] - points[j], axis=1) for i, j in itertools.combinations(corners, 2)])


_Groups: TypeAlias = npt.NDArray[np.int64]
"""``(g, arity)``, ascending rows."""


def join_groups(
    count: int, arity: int, agree: Callable[[_Groups], npt.NDArray[np.bool_]], how: GroupSampling
) -> Indices:
    """Return the pairs ``(k, 2)`` of associations that are together in enough consistent groups; ``agree`` tells those.

    Work: at most the budget of groups, each asked about once; memory: that of the consistent ones.
    """
    if count > _MOST_ASSOCIATIONS:
        raise OptionError(f"associations: expected at most {_MOST_ASSOCIATIONS} where groups are asked, got {count}")
    budget = how.budget_for(count)
    if math.comb(count, arity) <= budget:
        found = np.concatenate(
            [np.empty((0, arity), dtype=np.int64), *(some[agree(some)] for some in _all_groups(count, arity))]
        )
    else:
        found = _drawn_groups(count, arity, agree, budget, how.seed)
    pairs = [found[:, i] * count + found[:, j] for i, j in itertools.combinations(range(arity), 2)]
    keys = np.sort(np.concatenate(pairs))
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    often = np.diff(starts, append=len(keys)) >= how.min_groups
    return np.column_stack(np.divmod(keys[starts[often]], max(count, 1)))


def _all_groups(count: int, arity: int) -> Iterator[_Groups]:
    """Return all groups, some at a time."""
    groups = itertools.combinations(range(count), arity)
    while some := list(itertools.islice(groups, _GROUPS_AT_ONCE)):
        yield np.array(some, dtype=np.int64)


def _drawn_groups(
    count: int, arity: int, agree: Callable[[_Groups], npt.NDArray[np.bool_]], budget: int, seed: int
) -> _Groups:
    """Return distinct consistent groups; those that agree tell which associations to draw next."""
    random = np.random.default_rng(seed)
    drawn, agreeing = np.ones(count), np.zeros(count)
    shares = np.full(count, 1.0 / count)
    digits = count ** np.arange(arity, dtype=np.int64)[::-1]
    found = [np.empty(0, dtype=np.int64)]
    for share in range(_ROUNDS):
        for start in range(share * budget // _ROUNDS, end := (share + 1) * budget // _ROUNDS, _GROUPS_AT_ONCE):
            times = random.multinomial(arity * min(_GROUPS_AT_ONCE, end - start), shares)
            groups = np.sort(random.permutation(np.repeat(np.arange(count), times)).reshape(-1, arity), axis=1)
            groups = groups[(np.diff(groups, axis=1) > 0).all(axis=1)]
            consistent = groups[agree(groups)]
            drawn += np.bincount(groups.ravel(), minlength=count)
            agreeing += np.bincount(consistent.ravel(), minlength=count)
            found.append((consistent * digits).sum(axis=1))
        weights = (agreeing / drawn) ** 2
        if weights.any():
            shares = (1.0 - _EXPLORED) * weights / weights.sum() + _EXPLORED / count
    keys = np.sort(np.concatenate(found))
    distinct = keys[np.diff(keys, prepend=-1) > 0]
    return np.asarray(distinct[:, None] // digits % count)
