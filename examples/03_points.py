"""From matched points to the ones that agree: 5000 associations, 1 % of them right, with a proof."""

import time

import numpy as np

import clipperplus as cp

random = np.random.default_rng(0)
room = np.array([60.0, 50.0, 8.0])  # metres
source = random.uniform(size=(5000, 3)) * room
target = random.uniform(size=(5000, 3)) * room
inliers = np.sort(random.permutation(5000)[:50])

angle = 0.8
turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
target[inliers] = source[inliers] @ turn.T + [12.0, -3.0, 0.5] + random.uniform(-0.02, 0.02, (50, 3))

start = time.perf_counter()
graph = cp.consistency_graph(source, target, epsilon=0.1)
built = time.perf_counter()
result = cp.find_clique(graph)
found = time.perf_counter()

print(f"{graph.num_vertices} associations, {graph.num_edges} pairs agree ({graph.representation})")
print(f"{result.size} agree with each other, proven: {result.optimal}")
print(f"all of them right: {np.isin(result.vertices, inliers).all()}; missed: {50 - result.size}")
print(f"graph {1e3 * (built - start):.0f} ms, clique {1e3 * (found - built):.0f} ms")

# With scores instead of yes and no, for the weighted CLIPPER:
few = np.sort(np.concatenate((inliers, np.setdiff1d(np.arange(5000), inliers)[:450])))
weights = cp.consistency_weights(source[few], target[few], epsilon=0.1)
among = cp.consistency_graph(source[few], target[few], epsilon=0.1)
weighted = cp.find_clique(among, method="clipper", weights=weights)
print(f"the weighted CLIPPER finds {weighted.size} of them among {len(few)}")
