"""How far an estimate is from the truth, in metres of its points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .._validation import as_array
from ..errors import LandmarkError
from ..geometry.poses import FILE_ROUNDING, are_information, as_poses, to_quaternions

__all__ = ["information_rmse"]


def information_rmse(
    estimates: npt.ArrayLike, truths: npt.ArrayLike, information: npt.ArrayLike
) -> npt.NDArray[np.float64]:
    """Return the RMSE of overlapping points, in metres, to first order: sqrt(e^T Λ e / Λ[0, 0]).

    e is the translation and the vector part of the quaternion of ``inv(T_true) @ T_estimated``, as in the evaluations
    of Redwood and 3DMatch. With Λ the sum of G^T G over points p of the source and G = (I, -2 [p]×), this is the RMSE
    of the points. The matrices of 3DMatch have [p]× without the factor 2, and points of the target, so that rotations
    count about half; they are used as they are, because published numbers do. NaN where a matrix is zero and says
    nothing.
    """
    true, estimated = as_poses("truths", truths, FILE_ROUNDING), as_poses("estimates", estimates, FILE_ROUNDING)
    matrices = as_array("information", information, LandmarkError)
    if len({len(true), len(estimated), *matrices.shape[:1]}) > 1 or (matrices.size and matrices.shape[1:] != (6, 6)):
        raise LandmarkError(f"information: expected matrices of shape {(len(true), 6, 6)}, got {matrices.shape}")
    if matrices.dtype.kind not in "iuf":
        raise LandmarkError(f"information: expected numbers, got dtype {matrices.dtype}")
    matrices = matrices.reshape(-1, 6, 6).astype(np.float64)
    sound = are_information(matrices)
    if not sound.all():
        expected = "symmetric, finite and without negative eigenvalues, or zero"
        raise LandmarkError(f"information: matrix {int(sound.argmin())} is no information matrix: expected {expected}")
    error = np.linalg.inv(true) @ estimated  # truths are slightly off: their transpose is not their inverse
    e = np.concatenate((error[:, :3, 3], to_quaternions(error)[:, :3]), axis=1)
    with np.errstate(all="ignore"):  # what is not finite is not below any bound
        squares = np.einsum("ki,kij,kj->k", e, matrices / matrices[:, :1, :1], e)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))
