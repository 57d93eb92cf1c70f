"""A hard graph: watch the clique grow and the bound fall, and stop when time is up.

On a graph without structure no one can prove a maximum clique quickly. The answer still is a clique, with a bound that
holds; a callback hears of every improvement.
"""

import numpy as np

import clipperplus as cp

upper = np.triu(np.random.default_rng(0).random((250, 250)) < 0.9, k=1)
graph = cp.Graph.from_adjacency(upper | upper.T)

result = cp.find_clique(
    graph,
    time_limit=0.5,
    callback=lambda size, bound, seconds: print(f"  {seconds * 1e3:6.1f} ms: {size} vertices, at most {bound}"),
    on_interrupt="return",  # Ctrl-C gives the best so far, too
)
print(f"{result.size} vertices, no clique has more than {result.upper_bound}, proven maximum: {result.optimal}")

# What is known already can be passed in, and a limit on nodes gives the same answer on every machine.
again = cp.find_clique(graph, method="exact", start=result.vertices, node_limit=1000)
print(f"after 1000 nodes: {again.size} … {again.upper_bound}")
