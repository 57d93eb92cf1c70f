"""What the site has besides the pages in this folder: generated tables and figures, examples, CONTRIBUTING.md.

Pages link to files of the repository by relative paths, which work where the repository is read. Here such a link is
turned to the place that the file has in the site; where it has none, the link is dropped and its text is left.

A comment ``<!-- table 1 of ../benchmarks/results/registration_peers.md -->`` is followed, in the site, by that table.
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\((?!\w+:)([^)\s#]+)(#[^)\s]*)?\)")
_TABLE = re.compile(r"^<!-- table (\d+) of (\S+) -->$", flags=re.MULTILINE)
_NOTHING_SAID = re.compile(r'\s*–\s*<div class="doc-md-description">\s*</div>')
_FENCE = re.compile(r"(^```.*?^```$)", flags=re.MULTILINE | re.DOTALL)

_ORIGINS: dict[str, str] = {}
"""Pages from outside of the folder: where they are in the repository, by where they are in the site."""


def site_path(path: str) -> str | None:
    """Return where a file of the repository is in the site, as the source of a page; None: it is not there."""
    if path == "CONTRIBUTING.md":
        return "contributing.md"
    if path == "benchmarks/README.md":
        return "results/index.md"
    if path.startswith("benchmarks/results/"):
        return path.removeprefix("benchmarks/")
    if path.startswith("examples/") and path.endswith(".py"):
        return path.removesuffix(".py") + ".md"
    return path.removeprefix("docs/") if path.startswith("docs/") and not path.endswith(".py") else None


def on_files(files: Any, config: Any) -> Any:
    """Add the files from outside of the folder."""
    added = [Path("CONTRIBUTING.md"), Path("benchmarks/README.md")]
    for pattern in ("benchmarks/results/**/*", "examples/[0-9]*.py"):
        added += [path.relative_to(ROOT) for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    for path in added:
        where = site_path(path.as_posix())
        assert where is not None
        content: str | bytes = (ROOT / path).read_bytes()
        if path.suffix == ".py":
            content = _example_page(path)
        elif path.suffix == ".md":
            content = (ROOT / path).read_text(encoding="utf-8")
        files.append(File.generated(config, where, content=content))
        _ORIGINS[where] = path.as_posix()
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put tables in and turn links."""
    folder = posixpath.dirname(_ORIGINS.get(page.file.src_uri, f"docs/{page.file.src_uri}"))
    markdown = _TABLE.sub(lambda found: _table(posixpath.join(folder, found[2]), int(found[1])), markdown)

    def turn(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, found[2]))
        if not (ROOT / path).exists():
            return found[0]  # the build says that the link is broken
        where = site_path(path)
        if where is None or not files.get_file_from_path(where):
            return found[1].removeprefix("!")[1:-1]
        return f"{found[1]}({posixpath.relpath(where, posixpath.dirname(page.file.src_uri) or '.')}{found[3] or ''})"

    parts = _FENCE.split(markdown)
    parts[::2] = [_LINK.sub(turn, part) for part in parts[::2]]
    return "".join(parts)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Leave out the dash behind a field that has no description."""
    return _NOTHING_SAID.sub("", html)


def _example_page(path: Path) -> str:
    """Return a page with an example: what it says about itself, and the rest of it."""
    source = (ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(source)
    title = path.stem.partition("_")[2].replace("_", " ").capitalize()
    code = "\n".join(source.split("\n")[tree.body[0].end_lineno :]).strip("\n")
    about = f"{ast.get_docstring(tree)}\n\n`python {path.as_posix()}` runs it:"
    return f"---\nhide: [toc]\n---\n\n# {title}\n\n{about}\n\n```python\n{code}\n```\n"


def _table(path: str, number: int) -> str:
    """Return one of the tables of a generated file, counted from 1."""
    text = (ROOT / posixpath.normpath(path)).read_text(encoding="utf-8")
    tables = re.findall(r"(?:^\|.*\n?)+", text, flags=re.MULTILINE)
    return str(tables[number - 1]).rstrip("\n")
