"""Ways to copy what the package makes, and what must be the same afterwards."""

from __future__ import annotations

import copy
import enum
import functools
import inspect
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import clipperplus as cp
from clipperplus import _core, evaluation, invariants, synthetic
from clipperplus.io import clouds, graphs, pose_graphs, poses

NAMESPACES: tuple[types.ModuleType, ...] = (cp, evaluation, invariants, synthetic, clouds, graphs, pose_graphs, poses)
"""Their public classes are what callers get and give."""


def pickled(protocol: int, it: Any) -> Any:
    return pickle.loads(pickle.dumps(it, protocol))


COPIES: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {number}": functools.partial(pickled, number) for number in range(2, pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
NOT_COPIED = {cp.PreparedCloud: {"_described", "_samples", "_coarsened", "surface", "_by_fronts"}}
"""What is kept only to save time, and is made again in the copy."""
TIMES = frozenset({"seconds"})


def differences(a: Any, b: Any, ignored: frozenset[str] = frozenset(), where: str = "it") -> Iterator[str]:
    """Return where two values differ: arrays and numbers by their bits, so that NaN is equal to itself."""
    if type(a) is not type(b):
        yield f"{where}: {type(a).__name__} and {type(b).__name__}"
    elif isinstance(a, np.ndarray):
        if (a.dtype, a.shape, a.tobytes()) != (b.dtype, b.shape, b.tobytes()):
            yield f"{where}: {a!r} and {b!r}"
    elif isinstance(a, float | np.generic):
        if np.asarray(a).tobytes() != np.asarray(b).tobytes():
            yield f"{where}: {a!r} and {b!r}"
    elif isinstance(a, enum.Enum | types.FunctionType):
        if a is not b:
            yield f"{where}: {a!r} and another that seems to be the same"
    elif isinstance(a, str | bytes | int | None):
        if a != b:
            yield f"{where}: {a!r} and {b!r}"
    else:
        left, right = (parts_of(it, ignored) for it in (a, b))
        if list(left) != list(right):
            yield f"{where}: {list(left)} and {list(right)}"
            return
        for name, part in left.items():
            yield from differences(part, right[name], ignored, f"{where}.{name}")


def parts_of(it: Any, ignored: frozenset[str]) -> dict[Any, Any]:
    """Return all that a value consists of, by name."""
    if isinstance(it, dict):
        return it
    if isinstance(it, tuple | list):
        parts = dict(zip(getattr(it, "_fields", range(len(it))), it, strict=True))
    elif isinstance(it, cp.Graph):
        parts = {"n": it.num_vertices, "edges": it.edges(), "representation": it.representation}
    elif isinstance(it, cp.Neighbourhoods):
        parts = {"points": it.points, "radius": it.radius, "near": [it.of(point) for point in range(len(it))]}
    elif isinstance(it, _core.RangeImage):
        parts = {"state": it.__getstate__()}
    else:
        assert type(it).__module__.startswith("clipperplus."), f"no way to compare {type(it)}"
        parts = vars(it)
    left_out = ignored | NOT_COPIED.get(type(it), set())
    return {name: part for name, part in parts.items() if name not in left_out}


def assert_same(a: Any, b: Any, ignored: frozenset[str] = frozenset()) -> None:
    assert list(differences(a, b, ignored)) == []


def name_of(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


@functools.cache
def public() -> frozenset[type]:
    """Return every class that callers can have by name."""
    named = [getattr(space, name) for space in NAMESPACES for name in vars(space)["__all__"]]
    return frozenset(it for it in named if inspect.isclass(it))
