"""Which scans look alike: a descriptor of a whole scan, and the pairs that it suggests.

The features of a scan's points are summed up by what they differ in from the centres of a vocabulary (H. Jégou,
M. Douze, C. Schmid and P. Pérez, "Aggregating local descriptors into a compact image representation", CVPR 2010). They
do not change when a scan is moved, so neither does the sum; two scans are compared by one product, in a microsecond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ..clouds.prepared import PreparedCloud

__all__ = ["Sample", "ScanVocabulary", "feature_sample", "pair_similarities", "similarities_of", "suggest_pairs"]

_Descriptors: TypeAlias = npt.NDArray[np.float32]
Sample: TypeAlias = npt.NDArray[np.float16]
"""``(n, d)``: of a scan, what it is compared with others by; three digits do."""
_Real = TypeVar("_Real", np.float16, np.float32)

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


class ScanVocabulary:
    """What the features of some scans have in common, by which scans are described and compared."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        """Learn it from features of scans, and describe these."""
        share = max(1, _LEARNED_FROM // max(1, len(samples)))
        known = [_spread(some, share) for some in samples]
        self._words = _vocabulary(np.concatenate(known).astype(np.float32)) if any(map(len, known)) else None
        sums = np.array([self._sum(some) for some in samples] or np.empty((0, 1)))
        self._mean = sums.mean(axis=0) if len(sums) else np.zeros(1)  # what all have in common tells nothing
        self.descriptors = _of_unit_length(sums - self._mean)
        """``(k, d)`` unit vectors of these scans; the product of two is how alike they look."""

    def describe(self, cloud: PreparedCloud) -> _Descriptors:
        """Return the unit vector ``(d,)`` of another scan."""
        return np.asarray(_of_unit_length((self._sum(feature_sample(cloud)) - self._mean)[None])[0])

    def _sum(self, features: Sample) -> _Descriptors:
        if self._words is None or not features.size:
            return np.zeros(1 if self._words is None else self._words.size, dtype=np.float32)
        return _summed(features.astype(np.float32), self._words)


def pair_similarities(clouds: Sequence[PreparedCloud]) -> npt.NDArray[np.float64]:
    """Return how alike each two scans look, ``(k, k)``, from -1 to 1; of a scan and itself, -inf."""
    return similarities_of([feature_sample(cloud) for cloud in clouds])


def similarities_of(samples: Sequence[Sample]) -> npt.NDArray[np.float64]:
    """Return the same of features of the scans."""
    descriptors = ScanVocabulary(samples).descriptors
    alike = np.round((descriptors @ descriptors.T).astype(np.float64), _DIGITS)
    alike = np.maximum(alike, alike.T)  # the product need not be symmetric to the last bit
    np.fill_diagonal(alike, -np.inf)
    return np.asarray(alike)


def feature_sample(cloud: PreparedCloud) -> Sample:
    """Return square roots of some of a scan's features, by whose distances histograms are told apart best."""
    features = cloud.description.features
    some = _spread(features[features.any(axis=1)], _DESCRIBED_BY)
    return np.asarray(np.sqrt(np.maximum(some, 0.0)), dtype=np.float16)


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


def _of_unit_length(rows: npt.NDArray[Any]) -> _Descriptors:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12), dtype=np.float32)


def _spread(features: npt.NDArray[_Real], most: int) -> npt.NDArray[_Real]:
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
    columns = [np.bincount(nearest, weights=column, minlength=count) for column in features.T]
    return np.column_stack(columns).astype(np.float64), np.bincount(nearest, minlength=count).astype(np.int64)


def _summed(features: _Descriptors, words: _Descriptors) -> _Descriptors:
    """Return what the features differ in from their words, each word's sum of unit length."""
    sums, counts = _sums(features, _nearest(features, words), len(words))
    sums -= counts[:, None] * words
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return np.asarray(sums.ravel(), dtype=np.float32)
