"""Which scans look alike: a descriptor of a whole scan, and the pairs that it suggests.

The features of a scan's points are summed up by what they differ in from the centres of a vocabulary (H. Jégou,
M. Douze, C. Schmid and P. Pérez, "Aggregating local descriptors into a compact image representation", CVPR 2010). They
do not change when a scan is moved, so neither does the sum; two scans are compared by one product, in a microsecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import PreparedCloud

__all__ = ["pair_similarities", "scan_descriptors", "suggest_pairs"]

_Descriptors: TypeAlias = npt.NDArray[np.float32]

_WORDS = 128
"""Centres of the vocabulary."""
_ROUNDS = 8
"""Of k-means."""
_LEARNED_FROM = 24_000
"""Features that the vocabulary is learned from, of all scans together."""
_DESCRIBED_BY = 2000
"""Features of a scan that are summed up."""
_DIGITS = 5
"""Of a similarity: what is beyond is rounding, and must not decide on an order."""


def scan_descriptors(clouds: Sequence[PreparedCloud]) -> _Descriptors:
    """Return a unit vector for each scan, ``(k, d)``; the product of two is how alike the scans look.

    The vocabulary is that of the scans themselves, so vectors of different calls cannot be compared.
    """
    features = [_features(cloud) for cloud in clouds]
    known = [some for some in features if len(some)]
    if not known:
        return np.zeros((len(clouds), 1), dtype=np.float32)
    share = max(1, _LEARNED_FROM // len(known))
    words = _vocabulary(np.concatenate([_spread(some, share) for some in known]))
    sums = np.array([_summed(_spread(some, _DESCRIBED_BY), words) for some in features])
    sums -= sums.mean(axis=0)  # what all have in common tells nothing
    return np.asarray(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def pair_similarities(clouds: Sequence[PreparedCloud]) -> npt.NDArray[np.float64]:
    """Return how alike each two scans look, ``(k, k)``, from -1 to 1; of a scan and itself, -inf."""
    descriptors = scan_descriptors(clouds)
    alike = np.round((descriptors @ descriptors.T).astype(np.float64), _DIGITS)
    alike = np.maximum(alike, alike.T)  # the product need not be symmetric to the last bit
    np.fill_diagonal(alike, -np.inf)
    return np.asarray(alike)


def suggest_pairs(similarities: npt.NDArray[np.float64], neighbours: int) -> npt.NDArray[np.int64]:
    """Return the pairs ``(m, 2)``, first < second, in which one is among the ``neighbours`` most alike of the other.

    The most alike first; of equal ones, those with the lowest numbers.
    """
    count = len(similarities)
    if count < 2 or neighbours < 1:
        return np.empty((0, 2), dtype=np.int64)
    order = np.argsort(-similarities, axis=1, kind="stable")[:, : min(neighbours, count - 1)]
    chosen = np.zeros((count, count), dtype=np.bool_)
    np.put_along_axis(chosen, order, True, axis=1)
    first, second = np.nonzero(np.triu(chosen | chosen.T, 1))
    best = np.argsort(-similarities[first, second], kind="stable")
    return np.column_stack((first, second))[best]


def _features(cloud: PreparedCloud) -> _Descriptors:
    """Return the square roots of a scan's features, by whose distances histograms are told apart best."""
    features = cloud.description.features
    return np.asarray(np.sqrt(np.maximum(features[features.any(axis=1)], 0.0)), dtype=np.float32)


def _spread(features: _Descriptors, most: int) -> _Descriptors:
    """Return some features, evenly chosen."""
    return features[:: max(1, -(-len(features) // most))]


def _nearest(features: _Descriptors, words: _Descriptors) -> npt.NDArray[np.int64]:
    return np.asarray((np.einsum("ij,ij->i", words, words) - 2.0 * features @ words.T).argmin(axis=1))


def _vocabulary(features: _Descriptors) -> _Descriptors:
    """Return the centres that k-means ends at, begun with features that are evenly chosen."""
    words = _spread(features, _WORDS)[:_WORDS].copy()
    for _ in range(_ROUNDS):
        sums, counts = _sums(features, _nearest(features, words), len(words))
        words = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], words).astype(np.float32)
    return words


def _sums(
    features: _Descriptors, nearest: npt.NDArray[np.int64], count: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the sum of the features of each word, and their number."""
    sums = np.column_stack([np.bincount(nearest, weights=column, minlength=count) for column in features.T])
    return sums, np.bincount(nearest, minlength=count)


def _summed(features: _Descriptors, words: _Descriptors) -> _Descriptors:
    """Return what the features differ in from their words, each word's sum of unit length."""
    if not len(features):
        return np.zeros(words.size, dtype=np.float32)
    sums, counts = _sums(features, _nearest(features, words), len(words))
    sums -= counts[:, None] * words
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return np.asarray(sums.ravel(), dtype=np.float32)
