"""Pictures of a result: a report for a browser, figures for a paper, the course of a search. Needs the extra viz."""

from pathlib import Path

import clipperplus as cp
from clipperplus.synthetic import room_scans

scans = room_scans(seed=2)
pose = cp.register(scans.source, scans.target)

# One file that opens from disk: both scans in 3-D before and after, matches, graph and clique, times, numbers.
pose.report("report.html", source=scans.source, target=scans.target, names=("first scan", "second scan"))

# The scans from three sides, before and after; the ending chooses between PNG, SVG and PDF.
pose.plot("pose.png")

# A clique in its graph, and how its size and the bound came together; the figure can be changed before it is saved.
figure = pose.clique.plot(pose.graph)
figure.suptitle("which matches agree")
figure.savefig("clique.png")

for name in ("report.html", "pose.png", "clique.png"):
    print(f"{name}: {Path(name).stat().st_size / 1e6:.1f} MB")
for seconds, size, bound in pose.clique.history:
    print(f"after {1e3 * seconds:.2f} ms: {size} matches agree, no more than {bound} do")
