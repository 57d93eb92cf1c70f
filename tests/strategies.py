"""Random graphs and clouds for hypothesis: every density and place, and the shapes that break algorithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from clipperplus import Graph


def random_graph(n: int, density: float, seed: int) -> Graph:
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < density, k=1)
    return Graph.from_adjacency(upper | upper.T)


@st.composite
def uniform_graphs(draw: st.DrawFn, min_vertices: int = 0, max_vertices: int = 24) -> Graph:
    n = draw(st.integers(min_vertices, max_vertices))
    density = draw(st.sampled_from([0.0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.0]))
    return random_graph(n, density, draw(st.integers(0, 2**32 - 1)))


@st.composite
def multipartite_graphs(draw: st.DrawFn) -> Graph:
    """Complete multipartite: the clique number is the number of parts."""
    parts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=6))
    label = np.repeat(np.arange(len(parts)), parts)
    return Graph.from_adjacency(label[:, None] != label[None, :])


@st.composite
def unions_of_cliques(draw: st.DrawFn) -> Graph:
    """Disjoint cliques: ties and symmetries."""
    parts = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    label = np.repeat(np.arange(len(parts)), parts)
    return Graph.from_adjacency((label[:, None] == label[None, :]) & ~np.eye(len(label), dtype=bool))


@st.composite
def planted_cliques(draw: st.DrawFn, max_vertices: int = 40) -> Graph:
    """A sparse random graph with a clique hidden in it."""
    n = draw(st.integers(4, max_vertices))
    size = draw(st.integers(2, n))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    matrix = np.triu(random.random((n, n)) < 0.2, k=1)
    chosen = np.sort(random.permutation(n)[:size])
    matrix[np.ix_(chosen, chosen)] |= np.triu(np.ones((size, size), dtype=bool), k=1)
    return Graph.from_adjacency(matrix | matrix.T)


@st.composite
def sparse_complements(draw: st.DrawFn, max_vertices: int = 40) -> Graph:
    """Nearly complete: large cliques, and colour classes of two."""
    n = draw(st.integers(2, max_vertices))
    missing = draw(st.sampled_from([0.01, 0.03, 0.06]))
    return random_graph(n, missing, draw(st.integers(0, 2**32 - 1))).complement()


def graphs() -> st.SearchStrategy[Graph]:
    return st.one_of(
        uniform_graphs(), multipartite_graphs(), unions_of_cliques(), planted_cliques(), sparse_complements()
    )


def symmetric_weights(graph: Graph, seed: int) -> npt.NDArray[np.float64]:
    """Random weights between 0.1 and 1 for the edges of a graph."""
    n = graph.num_vertices
    upper = np.triu(np.random.default_rng(seed).uniform(0.1, 1.0, (n, n)), 1)
    return np.asarray((upper + upper.T) * graph.adjacency())


@st.composite
def clouds(draw: st.DrawFn, most: int = 120) -> tuple[npt.NDArray[np.float64], float]:
    """Points and a size: scattered, on a lattice of the size, or on top of each other; anywhere."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(0, most))
    size = draw(st.sampled_from([0.05, 0.1, 0.25, 1.0, 3.0, 1e-6, 1e5]))
    kind = draw(st.sampled_from(["scattered", "lattice", "next to the lattice", "few places"]))
    if kind == "few places":
        points = random.uniform(-3.0, 3.0, (4, 3))[random.integers(4, size=n)]
    elif kind == "scattered":
        points = random.uniform(-3.0, 3.0, (n, 3))
    else:
        points = random.integers(-3, 4, (n, 3)).astype(np.float64)
    points = points * size
    if kind == "next to the lattice":
        points = np.nextafter(points, random.choice([-np.inf, np.inf], points.shape))
    offset = draw(st.sampled_from([0.0, 0.0, 1.0, -1e3, 1e6, 1e9]))
    return points + offset * size * random.integers(-1, 2, 3), size


def shell(n: int, size: float, seed: int = 0) -> npt.NDArray[np.float64]:
    """Points on the six sides of a box of size × size × size / 2."""
    random = np.random.default_rng(seed)
    points = random.uniform(-0.5, 0.5, (n, 3))
    axis = random.integers(3, size=n)
    points[np.arange(n), axis] = random.choice([-0.5, 0.5], n)
    return points * size * [1.0, 1.0, 0.5]
