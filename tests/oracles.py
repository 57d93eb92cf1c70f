"""Independent renderings of the definitions: slow, plain, and written without looking at the kernels."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import networkx as nx
import numpy as np
import numpy.typing as npt

from clipperplus import Graph


def to_networkx(graph: Graph) -> nx.Graph:
    result = nx.Graph()
    result.add_nodes_from(range(graph.num_vertices))
    result.add_edges_from(graph.edges().tolist())
    return result


def is_clique(graph: Graph, vertices: Iterable[int]) -> bool:
    return all(graph.has_edge(u, v) for u, v in itertools.combinations(vertices, 2))


def is_maximal(graph: Graph, vertices: Iterable[int]) -> bool:
    chosen = set(map(int, vertices))
    return not any(all(graph.has_edge(v, u) for u in chosen) for v in range(graph.num_vertices) if v not in chosen)


def clique_number(graph: Graph) -> int:
    return max((len(clique) for clique in nx.find_cliques(to_networkx(graph))), default=0)


def clique_number_by_subsets(graph: Graph) -> int:
    """Try all subsets: for at most a dozen vertices."""
    for size in range(graph.num_vertices, 0, -1):
        if any(is_clique(graph, subset) for subset in itertools.combinations(range(graph.num_vertices), size)):
            return size
    return 0


def greedy_size(adjacency: npt.NDArray[np.bool_], cores: npt.NDArray[np.int64]) -> int:
    """Algorithm 1 as printed (with the start vertex in its clique), on vertices that are already in its order."""
    n = len(adjacency)
    best: list[int] = []
    for v in range(n):
        if cores[v] < len(best):
            continue
        clique = [v]
        for u in range(n):
            if adjacency[v, u] and cores[u] >= len(best) and adjacency[u, clique].all():
                clique.append(u)
        if len(clique) > len(best):
            best = clique
    return len(best)


def relaxation(
    adjacency: npt.NDArray[np.bool_], start: npt.NDArray[np.float64], *, max_outer: int = 1000, max_inner: int = 200
) -> tuple[npt.NDArray[np.float64], int]:
    """Algorithm 2 with dense matrices, as the paper writes it and its authors parametrise it.

    Returns the final u and the number of gradient steps.
    """
    n = len(adjacency)
    M = adjacency.astype(float) + np.eye(n)
    M_bar = 1.0 - M
    u = M @ start
    u /= np.linalg.norm(u)

    def increment() -> float | None:
        numerator, denominator = M @ u, M_bar @ u
        violating = (u > 1e-9) & (denominator > 1e-9)
        return float(np.min(numerator[violating] / denominator[violating])) if violating.any() else None

    d = increment() or 0.0
    alpha, steps = 1.0, 0
    for _ in range(max_outer):
        M_d = M - d * M_bar
        F = u @ M_d @ u
        gradient = M_d @ u - F * u
        for _ in range(max_inner):
            for _ in range(20):
                u_new = np.maximum(u + alpha * gradient, 0.0)
                u_new /= np.linalg.norm(u_new)
                F_new = u_new @ M_d @ u_new
                delta_F = F_new - F
                if delta_F >= 0.01 * (gradient @ (u_new - u)):
                    alpha /= np.sqrt(0.5)
                    break
                alpha *= 0.5
            alpha = min(max(alpha, 1e-9), 2.0)
            delta_u = np.linalg.norm(u_new - u)
            u, F = u_new, F_new
            gradient = M_d @ u - F * u
            steps += 1
            if delta_u < 1e-8 or abs(delta_F) < 1e-9:
                break
        step = increment()
        if step is None:
            break
        d += step
    return u, steps
