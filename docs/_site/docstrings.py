"""Docstrings as Markdown: cross references, simple tables and named return values are written in another way there."""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|data|attr|meth|mod):`(~?)([\w.]+)`")
_RULE = re.compile(r"^=+(?:  +=+)+$")
_DOCUMENTED = ("invariants.", "evaluate.", "synthetic.", "io.poses.")
"""Modules that have pages as a whole; of the others only the public names have."""
_NAMED_RETURN = re.compile(r"(^Returns\n-+\n)([a-zT]\w*)$", flags=re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites every docstring of the package when it has been loaded."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Look at all objects of the package."""
        public = {name for name in pkg.exports or () if isinstance(name, str)}
        seen: set[str] = set()

        def visit(item: griffe.Object | griffe.Alias) -> None:
            if item.is_alias or item.path in seen:
                return
            seen.add(item.path)
            if item.docstring:
                item.docstring.value = _as_markdown(item.docstring.value, item, public)
            for member in item.members.values():
                visit(member)

        visit(pkg)


def _as_markdown(text: str, item: Any, public: set[str]) -> str:
    def refer(found: re.Match[str]) -> str:
        short, name = found.groups()
        shown = name.rpartition(".")[2] if short or name.startswith("clipperplus.") else name
        path = _path(name, item, public)
        known = path.removeprefix("clipperplus.")
        return f"[`{shown}`][{path}]" if known in public or known.startswith(_DOCUMENTED) else f"`{shown}`"

    text = _NAMED_RETURN.sub(r"\1\2 :", _ROLE.sub(refer, text))
    return "\n".join(_tables(text.split("\n")))


def _path(name: str, item: Any, public: set[str]) -> str:
    """Return the name by which the site knows something."""
    first, _, rest = name.partition(".")
    if name.startswith("clipperplus."):
        last = name.rpartition(".")[2]
        return f"clipperplus.{last}" if last in public else name
    if first in public:
        return f"clipperplus.{name}"
    try:
        return str(item.resolve(first)) + (f".{rest}" if rest else "")
    except griffe.NameResolutionError:
        return name


def _tables(lines: list[str]) -> list[str]:
    """Turn simple tables, columns between rules of ``=``, into those of Markdown."""
    result: list[str] = []
    rules = [k for k, line in enumerate(lines) if _RULE.match(line)]
    inside = dict(zip(rules[::2], rules[1::2], strict=False))
    k = 0
    while k < len(lines):
        if k not in inside:
            result.append(lines[k])
            k += 1
            continue
        starts = [found.start() for found in re.finditer("=+", lines[k])]
        ends = [*starts[1:], None]
        result += ["| " * len(starts) + "|", "| --- " * len(starts) + "|"]
        for line in lines[k + 1 : inside[k]]:
            cells = (line[start:end].strip() for start, end in zip(starts, ends, strict=True))
            result.append("| " + " | ".join(cells) + " |")
        k = inside[k] + 1
    return result
