"""When a pair of scans counts as registered: rules with names, and the table of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .._validation import as_number
from .._words import shown
from ..errors import OptionError

__all__ = ["PROTOCOLS", "Protocol", "as_protocol"]


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


def as_protocol(protocol: str | Protocol) -> Protocol:
    """Return a protocol by its name, or as it is."""
    if isinstance(protocol, Protocol):
        return protocol
    if not isinstance(protocol, str) or protocol not in PROTOCOLS:
        raise OptionError(f"protocol: expected one of {', '.join(PROTOCOLS)} or a Protocol, got {shown(protocol)}")
    return PROTOCOLS[protocol]
