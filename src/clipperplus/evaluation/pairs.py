"""How well pairs of scans were registered: errors against the truth, and recall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import LandmarkError, OptionError
from ..geometry.poses import FILE_ROUNDING, Poses, as_poses
from ..geometry.transforms import rotation_error, translation_error
from .metrics import information_rmse
from .protocols import PROTOCOLS, Protocol, as_protocol

__all__ = ["Evaluation", "SceneRecall", "as_answers", "as_pairs", "evaluate_pairs"]


@dataclass(frozen=True)
class SceneRecall:
    """A line of a table: the pairs of one scene, or of all."""

    scene: str
    """Its name."""
    pairs: int
    """Those that count."""
    registered: int
    """Those of them that are registered by the protocol."""
    recall: float | None
    """``registered / pairs``; None without pairs."""
    rotation_error: float | None
    """Degrees, the mean over registered pairs, as publications give it; None where there are none."""
    translation_error: float | None
    """Metres, the same."""
    without_rmse: int = 0
    """Those of the pairs that were judged by rotation and translation, because their information is zero."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What came of every pair, and the recall over them."""

    protocol: Protocol
    rotation_error: npt.NDArray[np.float64]
    """``(m,)``, degrees; NaN without an answer."""
    translation_error: npt.NDArray[np.float64]
    """``(m,)``, metres; NaN without an answer."""
    rmse: npt.NDArray[np.float64] | None
    """``(m,)``, metres; NaN without an answer, and where the information is zero. None without information matrices."""
    success: npt.NDArray[np.bool_]
    """``(m,)``: the pair is registered by the protocol; never without an answer."""
    counted: npt.NDArray[np.bool_]
    """``(m,)``: the pair counts for the recall; all but consecutive ones where those are left out."""
    scenes: tuple[str, ...]
    """Of each pair; all the same where none were given."""
    without_rmse: npt.NDArray[np.bool_]
    """``(m,)``: the protocol asks for the RMSE, but the information of the pair is zero, as that of one pair of
    3DLoMatch; it was judged by rotation and translation instead, by the bounds of ``3DMatch`` where the protocol has
    none."""

    @property
    def recall(self) -> float | None:
        """Share of all pairs that are registered; None without pairs."""
        return self._line("all pairs", self.counted).recall

    @property
    def scene_recall(self) -> dict[str, float | None]:
        """The same for every scene, in the order of their first pairs."""
        return {line.scene: line.recall for line in self._scene_lines()}

    @property
    def mean_recall(self) -> float | None:
        """Mean over the scenes that have pairs, however many; None where none has."""
        return _mean([recall for recall in self.scene_recall.values() if recall is not None])

    def rows(self) -> list[SceneRecall]:
        """Return a line for every scene, then one for all pairs."""
        return [*self._scene_lines(), self._line("all pairs", self.counted)]

    def __str__(self) -> str:
        """Return the rows as a table of plain text, with the mean over scenes below, and what was judged otherwise."""
        titles = ("scene", "pairs", "registered", "recall", "rotation °", "translation m")
        lines = [
            (
                row.scene,
                f"{row.pairs}",
                f"{row.registered}",
                _text(row.recall, 4),
                _text(row.rotation_error, 3),
                _text(row.translation_error, 4),
            )
            for row in self.rows()
        ]
        lines.append(("mean of scenes", "", "", _text(self.mean_recall, 4), "", ""))
        widths = [max(map(len, column)) for column in zip(titles, *lines, strict=True)]
        table = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in (titles, *lines)
        ]
        if (count := int((self.counted & self.without_rmse).sum())) > 0:
            rotation, translation = _instead_of_rmse(self.protocol)
            pairs = "1 pair has" if count == 1 else f"{count} pairs have"
            bounds = f"{rotation:g}° and {translation:g} m"
            table.append(f"{pairs} no information and no RMSE: judged by {bounds} instead")
        return "\n".join(table)

    def _scene_lines(self) -> list[SceneRecall]:
        names = np.array(self.scenes, dtype=object)
        return [self._line(scene, self.counted & (names == scene)) for scene in dict.fromkeys(self.scenes)]

    def _line(self, name: str, chosen: npt.NDArray[np.bool_]) -> SceneRecall:
        good = chosen & self.success
        pairs, registered = int(chosen.sum()), int(good.sum())
        recall = registered / pairs if pairs else None
        errors = _mean(self.rotation_error[good].tolist()), _mean(self.translation_error[good].tolist())
        return SceneRecall(name, pairs, registered, recall, *errors, int((chosen & self.without_rmse).sum()))


def evaluate_pairs(
    estimates: npt.ArrayLike | Sequence[npt.ArrayLike | None],
    truths: npt.ArrayLike,
    *,
    protocol: str | Protocol = "3DMatch",
    scenes: Sequence[str] | None = None,
    pairs: npt.ArrayLike | None = None,
    information: npt.ArrayLike | None = None,
    ignore_consecutive: bool = False,
) -> Evaluation:
    """Compare transforms with true ones, pair by pair.

    Parameters
    ----------
    estimates
        ``(m, 4, 4)`` transforms, or a list of them; None or NaN where there is no answer, which is no success.
    truths
        ``(m, 4, 4)``: the true ones.
    protocol
        One of :data:`PROTOCOLS` by its name, or one's own.
    scenes
        The name of the scene of every pair.
    pairs, ignore_consecutive
        ``(m, 2)`` numbers of fragments, to leave out pairs whose numbers differ by one, as the original evaluation of
        3DMatch does.
    information
        ``(m, 6, 6)`` of the truths, as in ``gt.info``, for :attr:`Evaluation.rmse`; see :func:`information_rmse`. Where
        one is zero, nothing is known: see :attr:`Evaluation.without_rmse`.

    """
    rule = as_protocol(protocol)
    true = as_poses("truths", truths, FILE_ROUNDING)
    estimated, answered = as_answers("estimates", estimates, len(true))
    names = _as_scenes(scenes, len(true))
    counted = _counted(pairs, len(true)) if ignore_consecutive else np.ones(len(true), dtype=np.bool_)
    rotation = np.where(answered, rotation_error(estimated, true), np.nan)
    translation = np.where(answered, translation_error(estimated, true), np.nan)
    rmse: npt.NDArray[np.float64] | None = None
    unknown: npt.NDArray[np.bool_] = np.zeros(len(true), dtype=np.bool_)
    if information is not None:
        rmse = np.where(answered, information_rmse(estimated, true, information), np.nan)  # checks the matrices
    success = answered.copy()
    if rule.max_rotation_deg is not None:
        success &= rotation < rule.max_rotation_deg
    if rule.max_translation is not None:
        success &= translation < rule.max_translation
    if rule.max_rmse is not None:
        if rmse is None:
            raise OptionError(f"information: expected the matrices of the pairs, which {rule.name} needs, got None")
        unknown = np.asarray(~np.asarray(information, dtype=np.float64).reshape(-1, 36).any(axis=1))
        max_rotation, max_translation = _instead_of_rmse(rule)
        success &= np.where(unknown, (rotation < max_rotation) & (translation < max_translation), rmse <= rule.max_rmse)
    return Evaluation(rule, rotation, translation, rmse, success, counted, names, unknown)


def _instead_of_rmse(rule: Protocol) -> tuple[float, float]:
    """Return the degrees and metres by which a pair is judged whose information is zero."""
    usual = PROTOCOLS["3DMatch"]
    rotation = rule.max_rotation_deg or usual.max_rotation_deg
    translation = rule.max_translation or usual.max_translation
    assert rotation is not None
    assert translation is not None
    return rotation, translation


def as_answers(
    name: str, values: npt.ArrayLike | Sequence[npt.ArrayLike | None], count: int | None = None
) -> tuple[Poses, npt.NDArray[np.bool_]]:
    """Return so many transforms, no motion where there is no answer, and where there is one."""
    if not isinstance(values, np.ndarray) and isinstance(values, Sequence):
        missing = np.full((4, 4), np.nan)
        values = [missing if value is None else value for value in values]
    array = as_array(name, values, LandmarkError)
    if array.size == 0:
        array = np.empty((0, 4, 4))
    expected = ("k" if count is None else count, 4, 4)
    if array.shape[1:] != (4, 4) or count not in (None, len(array)) or array.dtype.kind not in "iuf":
        shape = f"({', '.join(map(str, expected))})"
        raise LandmarkError(f"{name}: expected numbers of shape {shape}, got {array.dtype} of shape {array.shape}")
    answered = ~np.isnan(array).any(axis=(1, 2))
    return as_poses(name, np.where(answered[:, None, None], array, np.eye(4)), FILE_ROUNDING), answered


def _as_scenes(scenes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    names = ("all",) * count if scenes is None else tuple(str(scene) for scene in scenes)
    if len(names) != count:
        raise OptionError(f"scenes: expected one per pair, {count}, got {len(names)}")
    return names


def _counted(pairs: npt.ArrayLike | None, count: int) -> npt.NDArray[np.bool_]:
    if pairs is None:
        raise OptionError("pairs: expected the numbers of the fragments, which ignore_consecutive needs, got None")
    i, j = as_pairs(pairs, count).T
    return np.asarray(np.abs(j - i) > 1)


def as_pairs(pairs: npt.ArrayLike, count: int | None = None) -> npt.NDArray[np.int64]:
    """Return the numbers of the fragments of so many pairs as ``(m, 2)``."""
    array = as_array("pairs", pairs, LandmarkError)
    if array.size and (array.ndim != 2 or array.shape[1] != 2 or count not in (None, len(array))):
        raise LandmarkError(f"pairs: expected shape ({'m' if count is None else count}, 2), got {array.shape}")
    if array.size and array.dtype.kind not in "iu":
        raise LandmarkError(f"pairs: expected integers, got dtype {array.dtype}")
    return array.reshape(-1, 2).astype(np.int64)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _text(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
