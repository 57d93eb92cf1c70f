"""Families of the second DIMACS challenge that a formula gives, numbered as in the published files."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ..graphs import Graph

__all__ = ["FAMILIES", "c_fat", "hamming", "johnson", "keller", "mann"]

Triples = list[tuple[int, int, int]]


def keller(dimension: int) -> Graph:
    """Neighbours of the origin in Keller's graph.

    Its vertices are vectors over {0, 1, 2, 3}, joined where they differ in two places or more, in one of them by 2.
    """
    vectors = np.array(list(itertools.product(range(4), repeat=dimension)), dtype=np.int8)
    vectors = vectors[(vectors == 2).any(axis=1) & (np.count_nonzero(vectors, axis=1) > 1)]
    n = len(vectors)
    differences, opposite = np.zeros((n, n), dtype=np.int8), np.zeros((n, n), dtype=np.bool_)
    for column in vectors.T:
        difference = (column[:, None] - column) & 3
        differences += difference != 0
        opposite |= difference == 2
    return Graph.from_adjacency(opposite & (differences >= 2))


def hamming(bits: int, distance: int) -> Graph:
    """All words of so many bits, joined where they differ in at least ``distance`` of them."""
    return _join_words(np.arange(2**bits, dtype=np.uint32), distance)


def johnson(bits: int, weight: int, distance: int) -> Graph:
    """All words with ``weight`` ones among so many bits, joined where they differ in at least ``distance`` bits."""
    words = (sum(1 << bit for bit in chosen) for chosen in itertools.combinations(range(bits), weight))
    return _join_words(np.array(sorted(words), dtype=np.uint32), distance)


def _join_words(words: npt.NDArray[np.uint32], distance: int) -> Graph:
    differing = words[:, None] ^ words
    counts = np.zeros(differing.shape, dtype=np.uint8)
    for bit in range(32):
        counts += ((differing >> np.uint32(bit)) & np.uint32(1)).astype(np.uint8)
    return Graph.from_adjacency(counts >= distance)


def c_fat(n: int, c: int) -> Graph:
    """A ring of parts of about c ln n vertices, each joined to itself and its two neighbours (Berman and Pelc)."""
    parts = int(n / (c * math.log(n)))
    part = np.arange(n) % parts
    apart = (part[:, None] - part) % parts
    joined = (apart <= 1) | (apart == parts - 1)
    np.fill_diagonal(joined, False)
    return Graph.from_adjacency(joined)


def mann(points: int) -> Graph:
    """Covering a Steiner triple system, as a clique problem (Mannino and Sassano).

    In the complement every triple is a triangle, each corner of which is joined to its point.
    """
    triples = _NINE if points == 9 else _tripled_system(points)
    edges = []
    for index, triple in enumerate(triples):
        corners = [points + 3 * index + k for k in range(3)]
        edges += list(itertools.combinations(corners, 2)) + list(zip(triple, corners, strict=True))
    return Graph.from_edges(points + 3 * len(triples), edges).complement()


# The system of nine points is the only one, but the published file numbers it in a way of its own.
_NINE: Triples = [
    *[(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 4, 8), (0, 3, 7), (0, 5, 6)],
    *[(1, 3, 8), (1, 4, 6), (1, 5, 7), (2, 5, 8), (2, 4, 7), (2, 3, 6)],
]


def _tripled_system(points: int) -> Triples:
    """Triple the system of a third of the points, down to a single triple (Fulkerson, Nemhauser and Trotter, 1974)."""
    if points == 3:
        return [(0, 1, 2)]
    third = points // 3
    smaller = _tripled_system(third)
    triples = [(a + shift, b + shift, c + shift) for shift in (0, third, 2 * third) for a, b, c in smaller]
    for first, second, last in itertools.permutations(range(3)):
        triples += [(triple[first], third + triple[second], 2 * third + triple[last]) for triple in smaller]
    return triples + [(v, third + v, 2 * third + v) for v in range(third)]


FAMILIES: dict[str, Callable[[], Graph]] = {
    "c-fat200-1": lambda: c_fat(200, 1),
    "c-fat200-2": lambda: c_fat(200, 2),
    "c-fat200-5": lambda: c_fat(200, 5),
    "c-fat500-1": lambda: c_fat(500, 1),
    "c-fat500-2": lambda: c_fat(500, 2),
    "c-fat500-5": lambda: c_fat(500, 5),
    "c-fat500-10": lambda: c_fat(500, 10),
    "hamming6-2": lambda: hamming(6, 2),
    "hamming6-4": lambda: hamming(6, 4),
    "hamming8-2": lambda: hamming(8, 2),
    "hamming8-4": lambda: hamming(8, 4),
    "hamming10-2": lambda: hamming(10, 2),
    "hamming10-4": lambda: hamming(10, 4),
    "johnson8-2-4": lambda: johnson(8, 2, 4),
    "johnson8-4-4": lambda: johnson(8, 4, 4),
    "johnson16-2-4": lambda: johnson(16, 2, 4),
    "johnson32-2-4": lambda: johnson(32, 2, 4),
    "keller4": lambda: keller(4),
    "keller5": lambda: keller(5),
    "keller6": lambda: keller(6),
    "MANN_a9": lambda: mann(9),
    "MANN_a27": lambda: mann(27),
    "MANN_a81": lambda: mann(81),
}
"""Name of the published file → the graph."""
