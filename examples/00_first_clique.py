"""A first clique: five associations, three of which agree with each other (the paper's Figure 1)."""

import clipperplus as cp

# An edge joins two associations that are consistent: their end points are equally far apart in both scans.
graph = cp.Graph.from_edges(5, [(0, 3), (1, 2), (1, 4), (2, 4)])
result = cp.find_clique(graph)

print(f"largest consistent set: {result.vertices.tolist()}")
print(f"proven: {result.optimal} (no clique has more than {result.upper_bound} vertices, {result.certificate.value})")
for stage in result.stages:
    print(f"  {stage.name:<10} {stage.seconds * 1e6:7.1f} µs, clique of {stage.clique_size}")
