"""Docstrings as the pages of the API show them.

They are written in numpy's style with cross references of Sphinx. Here references and simple tables become those of
Markdown, parameters that share a description get one each, and the fields of a class become one list below its
description instead of a section each.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:func|class|data|attr|meth|mod):`(~?)([\w.]+)`")
_RULE = re.compile(r"^=+(?:  +=+)+$")
_DOCUMENTED = ("invariants.", "evaluate.", "synthetic.", "io.pose_graphs.", "io.poses.")
"""Modules that have pages as a whole; of the others only the public names have."""
_NAMED_RETURN = re.compile(r"(^Returns\n-+\n)([a-zT]\w*)$", flags=re.MULTILINE)
_SHARED = re.compile(r"^(\w+(?:, \w+)+)\n((?:    .*\n?|\n(?=    ))+)", flags=re.MULTILINE)


class Docstrings(griffe.Extension):
    """Rewrites the docstrings of the package when it has been loaded."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Look at all objects of the package."""
        public = {name for name in pkg.exports or () if isinstance(name, str)}
        classes: list[griffe.Class] = []
        seen: set[str] = set()

        def visit(item: Any) -> None:
            if item.is_alias or item.path in seen:
                return
            seen.add(item.path)
            if item.docstring:
                item.docstring.value = _as_markdown(item.docstring.value, item, public)
            if item.is_class:
                classes.append(item)
            for member in item.members.values():
                visit(member)

        visit(pkg)
        fields = {item.path: _fields(item) for item in classes}
        for item in classes:
            _list_fields(item, fields[item.path])


def _as_markdown(text: str, item: Any, public: set[str]) -> str:
    def refer(found: re.Match[str]) -> str:
        short, name = found.groups()
        shown = name.rpartition(".")[2] if short or name.startswith("clipperplus.") else name
        path = _path(name, item, public)
        known = path.removeprefix("clipperplus.")
        return f"[`{shown}`][{path}]" if known in public or known.startswith(_DOCUMENTED) else f"`{shown}`"

    def share(found: re.Match[str]) -> str:
        return "".join(f"{name}\n{found[2].rstrip()}\n" for name in found[1].split(", "))

    text = _NAMED_RETURN.sub(r"\1\2 :", _ROLE.sub(refer, text))
    return "\n".join(_tables(_SHARED.sub(share, text).split("\n")))


def _path(name: str, item: Any, public: set[str]) -> str:
    """Return the name by which the site knows something; a field is on the page of its class."""
    if name.startswith("clipperplus."):
        last = name.rpartition(".")[2]
        return f"clipperplus.{last}" if last in public else name
    first = name.partition(".")[0]
    if first in public:
        return f"clipperplus.{first}"
    try:
        return str(item.resolve(first))
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


def _fields(item: griffe.Class) -> list[griffe.Attribute]:
    """Return the public fields and properties of a class, those of its bases first."""
    found: dict[str, Any] = {}
    for owner in (*reversed(item.mro()), item):
        members = ((name, member) for name, member in owner.members.items() if not name.startswith("_"))
        found |= {name: member for name, member in members if not member.is_alias and member.is_attribute}
    return list(found.values())


def _is_made_by_callers(item: griffe.Class) -> bool:
    """Whether the defaults of a class matter: those of options do, those of results do not."""
    return item.name.endswith("Options") or ".invariants." in item.path or item.name == "Protocol"


def _list_fields(item: griffe.Class, fields: list[griffe.Attribute]) -> None:
    """Move fields to a list in the docstring of their class."""
    if not fields or item.docstring is None:
        return
    lines = ["", "", "Attributes", "----------"]
    for field in fields:
        kind = "" if field.annotation is None else f" : {field.annotation}"
        about = field.docstring.value if field.docstring else ""
        if field.value is not None and field.annotation is not None and _is_made_by_callers(item):
            about += f" Default: `{field.value}`."
        lines += [f"{field.name}{kind}", *(f"    {line}" for line in (about or " ").split("\n"))]
        item.members.pop(field.name, None)
    item.docstring.value += "\n".join(lines)
