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
    """Branch and bound on sets of vertices as integers: a clique takes as many colours as it has vertices."""
    rows = [0] * graph.num_vertices
    for u, v in graph.edges().tolist():
        rows[u] |= 1 << v
        rows[v] |= 1 << u
    best = 0

    def grow(size: int, candidates: int) -> None:
        nonlocal best
        best = max(best, size)
        order, colour, uncoloured = [], 0, candidates
        while uncoloured:
            colour, free = colour + 1, uncoloured
            while free:
                vertex = free.bit_length() - 1
                order.append((colour, vertex))
                uncoloured &= ~(1 << vertex)
                free &= ~(1 << vertex | rows[vertex])
        for colour, vertex in reversed(order):
            if size + colour <= best:
                return
            grow(size + 1, candidates & rows[vertex])
            candidates &= ~(1 << vertex)

    grow(0, (1 << graph.num_vertices) - 1)
    return best


def clique_number_by_subsets(graph: Graph) -> int:
    """Try all subsets: for at most a dozen vertices."""
    for size in range(graph.num_vertices, 0, -1):
        if any(is_clique(graph, subset) for subset in itertools.combinations(range(graph.num_vertices), size)):
            return size
    return 0


def squared_distances(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    x, y, z = ((points[:, None, axis] - points[:, axis]) ** 2 for axis in range(3))
    return np.asarray((x + y) + z)


def neighbours_of(points: npt.NDArray[np.float64], radius: float) -> list[list[int]]:
    near = squared_distances(points) <= radius * radius
    np.fill_diagonal(near, False)
    return [np.flatnonzero(row).tolist() for row in near]


def all_cliques(graph: Graph) -> list[tuple[int, ...]]:
    """Return every clique of at least one vertex: for some twenty vertices."""
    found = []
    stack = [((v,), v + 1) for v in range(graph.num_vertices)]
    while stack:
        clique, first = stack.pop()
        found.append(clique)
        joined = (v for v in range(first, graph.num_vertices) if all(graph.has_edge(u, v) for u in clique))
        stack.extend(((*clique, v), v + 1) for v in joined)
    return found


def clique_value(weights: npt.NDArray[np.float64], clique: Iterable[int]) -> float:
    """Return u' M u of the unit vector that is constant on a clique, with the weights and a unit diagonal in M."""
    matrix = np.array(weights, dtype=np.float64)
    np.fill_diagonal(matrix, 1.0)
    u = np.zeros(len(matrix))
    u[list(clique)] = 1.0
    u /= np.linalg.norm(u)
    return float(u @ matrix @ u)


def weighted_core_numbers(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return for every vertex the largest t such that what is left after removing all below t has it."""
    n, cores, level = len(weights), np.zeros(len(weights)), 0.0
    left = np.ones(n, dtype=bool)
    while left.any():
        degrees = np.where(left, weights[:, left].sum(axis=1), np.inf)
        level = max(level, float(degrees.min()))
        weak = degrees <= level
        cores[weak] = level
        left &= ~weak
    return cores
