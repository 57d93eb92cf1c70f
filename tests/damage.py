"""What is in a file of JSON, changed at one place to anything else that JSON can say."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

JUNK: list[Any] = [
    *(None, True, "", "x", "9" * 50, [], {}, [[]], {"a": {}}, [None], [[1.0]], [True], ["1"]),
    *(-1, 0, 2**31, 2**63, 10**400, -(10**400), math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.5),
    *([[something] * 4] * 4 for something in (None, 0.0, math.nan, math.inf, 1e308, 10**400, "1")),
    *([[something] * 6] * 6 for something in (-1.0, math.nan, 1e308)),
]


def places(content: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the way to everything that is in something."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for key, value in inner:
        yield (key,)
        yield from ((key, *rest) for rest in places(value))


def changed(content: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return something that has a value at a place."""
    result = copy.deepcopy(content)
    inner = result
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return result


@st.composite
def damaged(draw: st.DrawFn, content: Any) -> Any:
    """Return something that was changed at some places, whole fields as often as single numbers."""
    for _ in range(draw(st.integers(1, 3))):
        ways = list(places(content))
        depth = draw(st.integers(1, max(map(len, ways))))
        content = changed(content, draw(st.sampled_from([way for way in ways if len(way) <= depth])), draw(JUNKS))
        if not any(places(content)):
            break
    return content


JUNKS = st.sampled_from(JUNK)
