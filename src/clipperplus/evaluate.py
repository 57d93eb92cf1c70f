"""How well pairs of scans were registered: errors against the truth, and recall by named protocols.

================  =====================================  =====================================================
``3DMatch``       rotation < 15°, translation < 0.30 m   C. Choy et al., DGR, CVPR 2020, and those after
``3DMatch-RMSE``  RMSE of overlapping points <= 0.20 m   S. Choi et al., CVPR 2015; A. Zeng et al., CVPR 2017
``KITTI``         rotation < 5°, translation < 0.60 m    C. Choy et al., DGR, CVPR 2020, and those after
``KITTI-2m``      rotation < 5°, translation < 2 m       C. Choy et al., FCGF, ICCV 2019, and those after
================  =====================================  =====================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from .errors import LandmarkError, OptionError
from .poses import FILE_ROUNDING, Poses, as_poses, to_quaternions
from .transform import rotation_error, translation_error
from .validation import as_array, as_number

__all__ = ["PROTOCOLS", "Evaluation", "Protocol", "SceneRecall", "as_protocol", "evaluate_pairs", "information_rmse"]


@dataclass(frozen=True)
class Protocol:
    """When a pair counts as registered: every bound that is given holds."""

    name: str
    max_rotation_deg: float | None = None
    """Degrees; the error is below it."""
    max_translation: float | None = None
    """Metres; the error is below it."""
    max_rmse: float | None = None
    """Metres; the error by the information matrix of the pair is at most this."""

    def __post_init__(self) -> None:
        bounds = {name: getattr(self, name) for name in ("max_rotation_deg", "max_translation", "max_rmse")}
        if all(bound is None for bound in bounds.values()):
            raise OptionError(f"{self.name}: expected at least one of {', '.join(bounds)}")
        for name, bound in bounds.items():
            if bound is not None:
                as_number(name, bound, 0.0, math.inf, open_interval=True)


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        protocol.name: protocol
        for protocol in (
            Protocol("3DMatch", max_rotation_deg=15.0, max_translation=0.30),
            Protocol("3DMatch-RMSE", max_rmse=0.20),
            Protocol("KITTI", max_rotation_deg=5.0, max_translation=0.60),
            Protocol("KITTI-2m", max_rotation_deg=5.0, max_translation=2.0),
        )
    }
)


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


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What came of every pair, and the recall over them."""

    protocol: Protocol
    rotation_error: npt.NDArray[np.float64]
    """``(m,)``, degrees; NaN without an answer."""
    translation_error: npt.NDArray[np.float64]
    """``(m,)``, metres; NaN without an answer."""
    rmse: npt.NDArray[np.float64] | None
    """``(m,)``, metres; NaN without an answer. None without information matrices."""
    success: npt.NDArray[np.bool_]
    """``(m,)``: the pair is registered by the protocol; never without an answer."""
    counted: npt.NDArray[np.bool_]
    """``(m,)``: the pair counts for the recall; all but consecutive ones where those are left out."""
    scenes: tuple[str, ...]
    """Of each pair; all the same where none were given."""

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
        """Return the rows as a table of plain text, with the mean over scenes below."""
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
        return "\n".join(table)

    def _scene_lines(self) -> list[SceneRecall]:
        names = np.array(self.scenes, dtype=object)
        return [self._line(scene, self.counted & (names == scene)) for scene in dict.fromkeys(self.scenes)]

    def _line(self, name: str, chosen: npt.NDArray[np.bool_]) -> SceneRecall:
        good = chosen & self.success
        pairs, registered = int(chosen.sum()), int(good.sum())
        recall = registered / pairs if pairs else None
        errors = _mean(self.rotation_error[good].tolist()), _mean(self.translation_error[good].tolist())
        return SceneRecall(name, pairs, registered, recall, *errors)


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
        ``(m, 6, 6)`` of the truths, as in ``gt.info``, for :attr:`Evaluation.rmse`; see :func:`information_rmse`.

    """
    rule = as_protocol(protocol)
    true = as_poses("truths", truths, FILE_ROUNDING)
    estimated, answered = _as_estimates(estimates, len(true))
    names = _as_scenes(scenes, len(true))
    counted = _counted(pairs, len(true)) if ignore_consecutive else np.ones(len(true), dtype=np.bool_)
    rotation = np.where(answered, rotation_error(estimated, true), np.nan)
    translation = np.where(answered, translation_error(estimated, true), np.nan)
    rmse = None
    if information is not None:
        rmse = np.where(answered, information_rmse(estimated, true, information), np.nan)
    success = answered.copy()
    if rule.max_rotation_deg is not None:
        success &= rotation < rule.max_rotation_deg
    if rule.max_translation is not None:
        success &= translation < rule.max_translation
    if rule.max_rmse is not None:
        if rmse is None:
            raise OptionError(f"information: expected the matrices of the pairs, which {rule.name} needs, got None")
        success &= rmse <= rule.max_rmse
    return Evaluation(rule, rotation, translation, rmse, success, counted, names)


def information_rmse(
    estimates: npt.ArrayLike, truths: npt.ArrayLike, information: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the RMSE of overlapping points, in metres, to first order: sqrt(e^T Λ e / Λ[0, 0]).

    e is the translation and the vector part of the quaternion of ``inv(T_true) @ T_estimated``, as in the evaluations
    of Redwood and 3DMatch. With Λ the sum of G^T G over points p of the source and G = (I, -2 [p]×), this is the RMSE
    of the points. The matrices of 3DMatch have [p]× without the factor 2, and points of the target, so that rotations
    count about half; they are used as they are, because published numbers do.
    """
    true, estimated = as_poses("truths", truths, FILE_ROUNDING), as_poses("estimates", estimates, FILE_ROUNDING)
    matrices = as_array("information", information, LandmarkError)
    if len({len(true), len(estimated), *matrices.shape[:1]}) > 1 or (matrices.size and matrices.shape[1:] != (6, 6)):
        raise LandmarkError(f"information: expected matrices of shape {(len(true), 6, 6)}, got {matrices.shape}")
    if matrices.dtype.kind not in "iuf":
        raise LandmarkError(f"information: expected numbers, got dtype {matrices.dtype}")
    matrices = matrices.reshape(-1, 6, 6).astype(np.float64)
    sound = np.isfinite(matrices).all(axis=(1, 2)) & (matrices[:, 0, 0] > 0.0)
    if not sound.all():
        raise LandmarkError(f"information: matrix {int(sound.argmin())} is no information matrix")
    error = np.linalg.inv(true) @ estimated  # truths are slightly off: their transpose is not their inverse
    e = np.concatenate((error[:, :3, 3], to_quaternions(error)[:, :3]), axis=1)
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is not below any bound
        squares = np.einsum("ki,kij,kj->k", e, matrices / matrices[:, :1, :1], e)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def as_protocol(protocol: str | Protocol) -> Protocol:
    """Return a protocol by its name, or as it is."""
    if isinstance(protocol, Protocol):
        return protocol
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise OptionError(f"protocol: expected one of {', '.join(PROTOCOLS)} or a Protocol, got {protocol!r}")
    return PROTOCOLS[protocol]


def _as_estimates(
    estimates: npt.ArrayLike | Sequence[npt.ArrayLike | None], count: int
) -> tuple[Poses, npt.NDArray[np.bool_]]:
    """Return the transforms, no motion where there is no answer, and where there is one."""
    if not isinstance(estimates, np.ndarray) and isinstance(estimates, Sequence):
        missing = np.full((4, 4), np.nan)
        estimates = [missing if estimate is None else estimate for estimate in estimates]
    array = as_array("estimates", estimates, LandmarkError)
    if array.size == 0:
        array = np.empty((0, 4, 4))
    if array.shape != (count, 4, 4) or array.dtype.kind not in "iuf":
        raise LandmarkError(
            f"estimates: expected numbers of shape {(count, 4, 4)}, got {array.dtype} of shape {array.shape}"
        )
    answered = ~np.isnan(array).any(axis=(1, 2))
    return as_poses("estimates", np.where(answered[:, None, None], array, np.eye(4)), FILE_ROUNDING), answered


def _as_scenes(scenes: Sequence[str] | None, count: int) -> tuple[str, ...]:
    names = ("all",) * count if scenes is None else tuple(str(scene) for scene in scenes)
    if len(names) != count:
        raise OptionError(f"scenes: expected one per pair, {count}, got {len(names)}")
    return names


def _counted(pairs: npt.ArrayLike | None, count: int) -> npt.NDArray[np.bool_]:
    if pairs is None:
        raise OptionError("pairs: expected the numbers of the fragments, which ignore_consecutive needs, got None")
    array = as_array("pairs", pairs, LandmarkError)
    if array.shape != (count, 2) and array.size:
        raise LandmarkError(f"pairs: expected shape {(count, 2)}, got {array.shape}")
    if array.dtype.kind not in "iu" and array.size:
        raise LandmarkError(f"pairs: expected integers, got dtype {array.dtype}")
    i, j = array.reshape(-1, 2).astype(np.int64).T
    return np.asarray(np.abs(j - i) > 1)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _text(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
