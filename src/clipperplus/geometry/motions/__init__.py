"""Models of the motion between two clouds: one file each, and the table of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._validation import as_array, scaled_to_unit
from ..._words import shown
from ...errors import OptionError
from .base import UP, Motion
from .planar import Planar
from .rigid import Rigid, fit_transform
from .similarity import Similarity, scale_of
from .translation import Translation
from .yaw import Yaw

__all__ = ["MOTIONS", "RIGID", "Motion", "as_motion", "fit_transform", "scale_of"]

MOTIONS: Mapping[str, type[Motion]] = MappingProxyType(
    {model.name: model for model in (Rigid, Similarity, Yaw, Planar, Translation)}
)
"""By name."""
RIGID = Rigid()


def as_motion(motion: object, up: Any = None) -> Motion:
    """Return the model of this name, for this direction; None: z."""
    if not isinstance(motion, str) or motion not in MOTIONS:
        raise OptionError(f"motion: expected one of {', '.join(map(repr, MOTIONS))}, got {shown(motion)}")
    model = MOTIONS[motion]
    if up is None:
        return model(UP)
    if not model.has_axis:
        raise OptionError(f"up: expected None, as {motion!r} has no axis, got {shown(up)}")
    direction = as_array("up", up, OptionError)
    if direction.shape != (3,) or direction.dtype.kind not in "iuf":
        raise OptionError(f"up: expected a direction of 3 numbers, got {direction.dtype} {direction.shape}")
    if not np.isfinite(direction).all() or not direction.any():
        raise OptionError(f"up: expected a direction, finite and not zero, got {direction.tolist()}")
    x, y, z = scaled_to_unit(direction[None].astype(np.float64))[0].tolist()
    return model((x, y, z))
