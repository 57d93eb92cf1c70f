"""In which order to do pairs, so that what was made of a cloud is used again while it is still there."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

__all__ = ["one_after_the_other"]

_Item = TypeVar("_Item")

_TILE = 32
"""Clouds: pairs of so many with so many others come one after the other."""


def one_after_the_other(
    items: Iterable[_Item],
    ends: Callable[[_Item], tuple[Any, Any]] = lambda item: item,  # type: ignore[assignment,return-value]
) -> list[_Item]:
    """Return items in an order in which those of one cloud come soon after each other: from neighbour to neighbour.

    ``ends`` are the two clouds of an item, numbers or names; a pair of them is its own.
    """
    wanted = list(items)
    around: dict[Any, list[Any]] = {}
    for source, target in map(ends, wanted):
        around.setdefault(source, []).append(target)
        around.setdefault(target, []).append(source)
    rank: dict[Any, int] = {}
    for start in sorted(around):
        waiting = deque([start] if start not in rank else [])
        while waiting:
            cloud = waiting.popleft()
            if cloud not in rank:
                rank[cloud] = len(rank)
                unseen = (other for other in around[cloud] if other not in rank)
                waiting.extend(sorted(unseen, key=lambda other: (len(around[other]), other)))

    def place(item: _Item) -> tuple[int, ...]:
        low, high = sorted(rank[cloud] for cloud in ends(item))
        return high // _TILE, low // _TILE, high, low

    return sorted(wanted, key=place)
