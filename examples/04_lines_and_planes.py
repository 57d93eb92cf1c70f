"""Two maps of a building: walls and floors are planes, edges are lines, lamps are points; most matches are wrong."""

import numpy as np

import clipperplus as cp
from clipperplus.invariants import Landmarks, LinesAndPlanes

random = np.random.default_rng(2)


def directions(count: int) -> np.ndarray:
    """Return directions that are roughly upright or level, as in buildings."""
    return np.eye(3)[random.integers(3, size=count)] + random.normal(0.0, 0.2, (count, 3))


points, on_lines, on_planes = random.uniform(0.0, 30.0, (3, 20, 3))  # metres
along, across = directions(20), directions(20)
first = Landmarks(points, lines=(on_lines, along), planes=(on_planes, across))

# The same landmarks from elsewhere, with an error of a centimetre.
angle = 1.1
turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
moved = np.stack((points, on_lines, on_planes)) @ turn.T + [5.0, -2.0, 0.3] + random.normal(0.0, 0.01, (3, 20, 3))
second = Landmarks(moved[0], lines=(moved[1], along @ turn.T), planes=(moved[2], across @ turn.T))

# Numbers count through points, lines and planes. Half of the landmarks are matched rightly, and there are nine times as
# many wrong matches within each kind.
right = np.column_stack((np.arange(0, 60, 2), np.arange(0, 60, 2)))
wrong = np.concatenate([kind * 20 + random.integers(20, size=(90, 2)) for kind in range(3)])
associations = np.unique(np.concatenate((right, wrong)), axis=0)
truly = associations[:, 0] == associations[:, 1]

graph = cp.consistency_graph(first, second, associations, invariant=LinesAndPlanes(), epsilon=0.1)
result = cp.find_clique(graph)
kinds = np.bincount(associations[result.vertices, 0] // 20, minlength=3)
print(f"{len(associations)} matches, {truly.sum()} of them right")
print(f"{result.size} agree, proven: {result.optimal}: {kinds[0]} points, {kinds[1]} lines, {kinds[2]} planes")
print(f"wrong ones among them: {np.count_nonzero(~truly[result.vertices])}")
