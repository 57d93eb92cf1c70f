"""Repeated structure: two motions explain the data equally well, and a search for one clique would not tell.

A corridor with evenly spaced doors: shifting one scan by a door fits almost as well as not shifting it. Every maximum
clique is a hypothesis; more than one of (nearly) the same size means that the registration is ambiguous.
"""

import numpy as np

import clipperplus as cp

doors = np.column_stack((2.0 * np.arange(12), np.zeros(12), np.zeros(12)))
source = doors + np.column_stack((np.zeros((12, 2)), np.tile([0.0, 1.1], 6)))  # a handle on every other door
matches = [(i, i) for i in range(12)] + [(i, i + 2) for i in range(10)]  # to the same door, and to the next but one
graph = cp.consistency_graph(source, source, matches, epsilon=0.05)

best = cp.find_clique(graph)
print(f"largest consistent set: {best.size} of {len(matches)} associations, proven: {best.optimal}")
print(f"maximum cliques: {len(cp.find_maximum_cliques(graph))}")
rivals = cp.find_cliques_above(graph, best.size - 3)
for clique in rivals:
    i, j = np.array(matches)[clique].T
    shift = np.mean(source[j, 0] - source[i, 0])
    print(f"  {clique.size} associations agree on a shift of {shift:.1f} m")
print("ambiguous" if len(rivals) > 1 else "unambiguous", "- all listed" if rivals.complete else "- and more")
