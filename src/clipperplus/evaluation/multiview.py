"""How well many scans were put together: the motions between pairs of them that follow from their poses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import LandmarkError
from ..geometry.poses import Poses, inverse
from .pairs import Evaluation, as_answers, as_pairs, evaluate_pairs
from .protocols import Protocol

__all__ = ["evaluate_poses", "relative_poses"]


def relative_poses(
    poses: npt.ArrayLike | Sequence[npt.ArrayLike | None],
    pairs: npt.ArrayLike,
    *,
    components: Sequence[npt.ArrayLike] | None = None,
) -> Poses:
    """Return the motions between pairs of scans: ``inv(poses[i]) @ poses[j]`` takes scan j into the frame of scan i.

    Parameters
    ----------
    poses
        ``(k, 4, 4)``, scan → map, or a list of them; None or NaN where a scan has no place.
    pairs
        ``(m, 2)`` numbers i, j of scans.
    components
        Numbers of scans that are in one frame, for each frame; a scan is in one at most. None: all are in one.

    Returns
    -------
    numpy.ndarray
        ``(m, 4, 4)``: NaN where a scan has no place, or the two are not in one frame.

    """
    placed, answered = as_answers("poses", poses)
    i, j = as_pairs(pairs).T
    outside = (i < 0) | (j < 0) | (np.maximum(i, j) >= len(placed))
    if outside.any():
        worst = int(outside.argmax())
        raise LandmarkError(f"pairs: expected numbers of {len(placed)} scans, got {(int(i[worst]), int(j[worst]))}")
    frames = _frames(components, len(placed))
    known = answered[i] & answered[j] & (frames[i] == frames[j]) & (frames[i] >= 0)
    return np.where(known[:, None, None], inverse(placed[i]) @ placed[j], np.nan)


def evaluate_poses(
    poses: npt.ArrayLike | Sequence[npt.ArrayLike | None],
    pairs: npt.ArrayLike,
    truths: npt.ArrayLike,
    *,
    components: Sequence[npt.ArrayLike] | None = None,
    protocol: str | Protocol = "3DMatch",
    information: npt.ArrayLike | None = None,
    ignore_consecutive: bool = False,
) -> Evaluation:
    """Compare the motions between pairs of scans that follow from their poses with true ones: multiview recall.

    For several scenes at once give :func:`relative_poses` of each to :func:`evaluate_pairs`.

    Parameters
    ----------
    poses, pairs, components
        As :func:`relative_poses` takes them. A pair of which a scan has no place, or whose scans are in different
        frames, is no success.
    truths
        ``(m, 4, 4)``: the true motions, which take scan j into the frame of scan i, as in ``gt.log``.
    protocol, information, ignore_consecutive
        As :func:`evaluate_pairs` takes them.

    """
    return evaluate_pairs(
        relative_poses(poses, pairs, components=components),
        truths,
        protocol=protocol,
        pairs=pairs,
        information=information,
        ignore_consecutive=ignore_consecutive,
    )


def _frames(components: Sequence[npt.ArrayLike] | None, count: int) -> npt.NDArray[np.int64]:
    """Return the number of the frame of each scan; -1: none."""
    if components is None:
        return np.zeros(count, dtype=np.int64)
    frames = np.full(count, -1, dtype=np.int64)
    for number, component in enumerate(components):
        scans = as_array("components", component, LandmarkError).reshape(-1)
        if scans.size and scans.dtype.kind not in "iu":
            raise LandmarkError(f"components: expected integers, got dtype {scans.dtype}")
        scans = scans.astype(np.int64)
        if (scans < 0).any() or (scans >= count).any() or (frames[scans] >= 0).any() or len(set(scans)) < len(scans):
            expected = f"each of {count} scans at most once"
            raise LandmarkError(f"components: expected {expected}, got component {number} with {scans.tolist()}")
        frames[scans] = number
    return frames
