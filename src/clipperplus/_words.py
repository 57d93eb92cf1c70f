"""What others say, in messages: one line of bounded length, in which nothing is obeyed by a terminal."""

from __future__ import annotations

import re

__all__ = ["said", "shown", "visible"]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What a terminal obeys instead of showing it, and what turns the direction of the text around it."""
_LONGEST_MESSAGE = 300
"""Characters of what others say that are repeated."""


def said(reason: Exception) -> str:
    """Return the message of an error in one line, shortened; that of others may hold anything, or raise one itself."""
    try:
        return _in_short(str(reason))
    except Exception:
        return f"a {type(reason).__name__} without a message"


def shown(value: object) -> str:
    """Return what came instead of what was expected, in one line, shortened; some cannot be shown, as 10**5000."""
    try:
        return _in_short(repr(value))
    except Exception:
        return f"what cannot be shown, of type {type(value).__name__}"


def _in_short(text: str) -> str:
    """Return a text of others in one line of bounded length."""
    return visible(text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]} …")


def visible(text: str) -> str:
    """Return a line in which control characters are shown as Python spells them: names of files may hold any."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
