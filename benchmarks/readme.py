"""Fills the measured numbers of README.md from the tables in results/; ``--check`` only says where they differ.

They stand in blocks between ``<!-- measured: NAME -->`` and ``<!-- end -->``. Each has a template here, and a function
for its numbers: our times are rounded up, our recall down.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from reading import down, number, report, row, said, table, up

README = Path(__file__).resolve().parents[1] / "README.md"
BLOCK = re.compile(r"(<!-- measured: ([\w ]+) -->\n)(.*?)(<!-- end -->\n)", re.DOTALL)

REGISTRATION_PEERS = """
| | recall, 3DMatch | 3DLoMatch | moved, 3DMatch | moved, 3DLoMatch | median time |
| --- | ---: | ---: | ---: | ---: | ---: |
| **clipperplus** | {clipperplus} |
| KISS-Matcher {kiss_version} | {kiss} |
| Open3D {open3d_version}, FPFH + RANSAC | {open3d} |
"""
RECALL = """
Over all {pairs} pairs of five scenes it is {near} and {far}, and {moved_near} and {moved_far} if both clouds are moved
at random and nothing is told; the largest clique alone has {clique_near} and {clique_far}
([table](benchmarks/results/registration.md)). Of {elsewhere} pairs of fragments of different places, {doubted} % are
reported as not to be trusted, by weights that were fitted without the scene
([table](benchmarks/results/confidence.md)).
"""
LARGE_CLOUDS = """
{points} points take at most {seconds} s on two threads; at its peak, all of it takes at most {memory} times the memory
of the points themselves.
"""
GRAPH_BUILDING = """
5000 associations take at most {small} ms on one thread, 100 000 at most {large} s on two, with little memory besides
the graph's.
"""
PROVING = """
1. A greedy clique from every vertex in reverse degeneracy order; core numbers and a greedy colouring bound the rest.
Of {total} registration graphs {bounded} end here.
2. What cannot belong to a larger clique goes: vertices that see too few colours, then edges with too few common
neighbours. {reduced} more of the {total} end here. Of {n} associations of three pairs of lidar scans {left} are left.
3. Tabu search looks for a larger clique while branch and bound, bit-parallel, looks at one subproblem a vertex; nodes
are bounded by colouring, re-colouring and unit propagation over colour classes. The other {searched} of the {total}
need {median} nodes in the median, {most} at most.
4. Whatever is left is searched on all threads: hard subproblems are split, and the answer is that of one thread.
"""
SPEED = """
On {graphs} registration graphs of real scans (3DMatch, made with the paper's settings, {vertices} vertices in the
median), on one thread:

- `auto` proves the maximum clique of {proven}, in {mean} ms on average and {worst} ms at worst; the paper authors'
C++{where} takes {exact_ratio} times as long in total as `exact` to approximate it.
- `clipper+`, the approximation, finds {clipper_share} of the maximum on average in {clipper_ms} ms, {clipper_ratio}
times faster in total than the paper authors' C++{where}.
- `greedy` finds {greedy_share} of it in {greedy_ms} ms.

{kitti_n} associations of KITTI scans take `auto` {kitti_ms} ms to a proof. `exact` proves 20 000 simulated ones within
{twenty} s on two threads, and 100 000 ({edges} million edges) in {one} s on one thread, {two} s on two. On {compared}
graphs, of scans and of DIMACS, networkit, igraph and networkx take at least {ratio} times as long in geometric mean,
stopped after {limit} s where they do not finish.
"""


def wrapped(text: str) -> str:
    """Break the lines of paragraphs and list items at 120 characters."""
    paragraphs = [re.split(r"\n(?=- |\d\. )", paragraph) for paragraph in text.strip().split("\n\n")]
    return "\n\n".join("\n".join(map(_wrapped, parts)) for parts in paragraphs) + "\n"


def _wrapped(part: str) -> str:
    marker = re.match(r"- |\d\. ", part)
    indent = " " * marker.end() if marker else ""
    text = " ".join(part.split())
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def registration_peers() -> str:
    recalls = [f"recall {benchmark}{frame}" for frame in ("", ", moved") for benchmark in ("3DMatch", "3DLoMatch")]
    rows = table("registration_peers", *recalls, "median ms")
    values = {found[""]: [number(found[title]) for title in (*recalls, "median ms")] for found in rows}
    *columns, times = zip(*values.values(), strict=True)
    best = [*map(max, columns), min(times)]

    def cells(name: str) -> str:
        *shares, ms = values[name]
        texts = [down(share, "0.01") if name == "clipperplus" else f"{share:.2f}" for share in shares]
        texts.append(f"{ms:.0f} ms")
        bold = (value == top for value, top in zip(values[name], best, strict=True))
        return " | ".join(f"**{text}**" if is_best else text for text, is_best in zip(texts, bold, strict=True))

    return REGISTRATION_PEERS.lstrip().format(
        clipperplus=cells("clipperplus"),
        kiss=cells("KISS-Matcher"),
        open3d=cells("Open3D"),
        kiss_version=said("registration_peers", r"KISS-Matcher (\d[\d.]*\d)"),
        open3d_version=said("registration_peers", r"Open3D (\d[\d.]*\d)"),
    )


def recall() -> str:
    rows = table("registration", "pairs", "largest clique", "register")
    names = ("three scenes", "two more scenes")
    near, far = ([row(rows, benchmark, name) for name in names] for benchmark in ("3DMatch", "3DLoMatch"))
    trust = table("confidence", "pairs", "OK", "different that are OK")
    elsewhere = row(trust, "different places, as they are")

    def share(parts: list[dict[str, str]], title: str) -> float:
        counts = [int(part["pairs"]) for part in parts]
        return sum(n * number(part[title]) for n, part in zip(counts, parts, strict=True)) / sum(counts)

    return RECALL.format(
        pairs=sum(int(part["pairs"]) for part in (*near, *far)),
        near=down(share(near, "register"), "0.01"),
        far=down(share(far, "register"), "0.01"),
        moved_near=down(share(near, "moved"), "0.01"),
        moved_far=down(share(far, "moved"), "0.01"),
        clique_near=f"{share(near, 'largest clique'):.2f}",
        clique_far=f"{share(far, 'largest clique'):.2f}",
        elsewhere=elsewhere["pairs"],
        doubted=down(100 - 100 * number(elsewhere["different that are OK"])),
    )


def large_clouds() -> str:
    rows = table("clouds", "points", "s, two threads", "peak memory ÷ input")
    *_, most = (r["points"].split(",")[0] for r in rows)
    chosen = [r for r in rows if r["points"].startswith(most)]
    return LARGE_CLOUDS.format(
        points=most,
        seconds=up(max(number(r["s, two threads"]) for r in chosen), "0.1"),
        memory=up(max(number(r["peak memory ÷ input"]) for r in rows), "0.01"),
    )


def graph_building() -> str:
    rows = table("consistency", "associations", "threads", "ms")
    ms = {n: [number(r["ms"]) for r in rows if r["associations"].startswith(f"{n} in")] for n in (5000, 100_000)}
    ms[5000].append(float(said("consistency", r"`pdist` of both clouds: ([\d.]+) and")))
    return GRAPH_BUILDING.format(small=up(max(ms[5000]), "0.1"), large=up(max(ms[100_000]) / 1e3, "0.1"))


def proving() -> str:
    rows = table("exact", "proven by", "graphs", "median nodes", "most nodes")
    search = row(rows, "search")
    lidar = [r for r in table("exact", "left", "nodes") if r["graph"].startswith("KITTI")]
    return PROVING.format(
        total=sum(int(r["graphs"]) for r in rows),
        bounded=row(rows, "core numbers and colouring")["graphs"],
        reduced=row(rows, "reduction, no search")["graphs"],
        searched=search["graphs"],
        median=search["median nodes"],
        most=search["most nodes"],
        n=listed([r["n"] for r in lidar]),
        left=listed([r["left"] or "0" for r in lidar]),
    )


def speed() -> str:
    auto = row(table("exact", "method", "proven", "mean ms", "worst ms"), "auto")
    kitti = [r for r in table("exact", "auto ms") if r["graph"].startswith("KITTI")]
    sizes = [int(r["n"]) for r in table("quality", "graph", "n") if r["graph"].startswith(("redkitchen_", "hotel_uc_"))]
    shares = table("quality", "method", "mean size ÷ maximum")
    times = table("speed", "method", "ours, total ms", "× in total")
    simulated = table("simulated", "n", "density", "ms, 1 thread", "ms, 2 threads")
    largest = row(simulated, "100000")
    peers = table("peers", "peer", "graphs", "× in geometric mean, at least")

    def share(method: str) -> str:
        return down(number(row(shares, method)["mean size ÷ maximum"]), "0.001")

    def ms(method: str, step: str) -> str:
        return up(number(row(times, method)["ours, total ms"]) / len(sizes), step)

    def ratio(method: str) -> str:
        return down(number(row(times, method)["× in total"]))

    return SPEED.format(
        graphs=len(sizes),
        vertices=f"{statistics.median(sizes):.0f}",
        proven=f"all {len(sizes)}" if int(auto["proven"]) == len(sizes) else f"{auto['proven']} of them",
        mean=up(number(auto["mean ms"]), "0.1"),
        worst=up(number(auto["worst ms"]), "0.1"),
        where="" if "measured in the same run" in report("speed") else " on another machine",
        exact_ratio=ratio("exact"),
        clipper_share=share("clipper+"),
        clipper_ms=ms("clipper+", "0.1"),
        clipper_ratio=ratio("clipper+"),
        greedy_share=share("greedy"),
        greedy_ms=ms("greedy", "0.01"),
        kitti_n=listed([r["n"] for r in kitti]),
        kitti_ms=listed([up(number(r["auto ms"])) for r in kitti]),
        twenty=up(max(number(r["ms, 2 threads"]) for r in simulated if r["n"] == "20000") / 1e3, "0.1"),
        edges=f"{number(largest['density']) * 100_000 * 99_999 / 2e6:.0f}",
        one=up(number(largest["ms, 1 thread"]) / 1e3, "0.1"),
        two=up(number(largest["ms, 2 threads"]) / 1e3, "0.1"),
        compared=min(int(r["graphs"]) for r in peers),
        ratio=down(min(number(r["× in geometric mean, at least"]) for r in peers)),
        limit=said("peers", r"gets ([\d.]+) s a graph"),
    )


def listed(values: list[str]) -> str:
    return f"{', '.join(values[:-1])} and {values[-1]}"


BLOCKS: dict[str, Callable[[], str]] = {
    "registration peers": registration_peers,
    "recall": lambda: wrapped(recall()),
    "large clouds": lambda: wrapped(large_clouds()),
    "graph building": lambda: wrapped(graph_building()),
    "proving": lambda: wrapped(proving()),
    "speed": lambda: wrapped(speed()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; status 1 if a block differs from its tables"
    )
    parser.add_argument("--readme", type=Path, default=README, help="the file to fill or to check")
    arguments = parser.parse_args()
    text = arguments.readme.read_text(encoding="utf-8")
    there = [found[2] for found in BLOCK.finditer(text)]
    problems = [f"{name}: this block should be there once" for name in BLOCKS if there.count(name) != 1]
    problems += [f"{name}: nothing is known of this block" for name in there if name not in BLOCKS]

    def fill(found: re.Match[str]) -> str:
        opening, name, body, end = found.groups()
        try:
            wanted = BLOCKS[name]() if name in BLOCKS else body
        except (LookupError, OSError, ValueError) as error:
            problems.append(f"{name}: {error}")
            return found[0]
        if arguments.check and wanted != body:
            problems.append(f"{name}: differs from the tables, which say\n{wanted}")
        return opening + wanted + end

    filled = BLOCK.sub(fill, text)
    if not arguments.check:
        arguments.readme.write_text(filled, encoding="utf-8")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
