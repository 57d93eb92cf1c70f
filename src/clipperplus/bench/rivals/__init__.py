"""What else finds a rigid motion from matched points: one method per file, and the table of them.

Each takes ``(n, 3)`` source and target points, row k of one matched with row k of the other, and a noise bound in
metres: by how much a right match may be off, and by how much two right ones may differ in their distances. It returns
the ``(4, 4)`` motion, or None. Methods of other packages import them when they are called.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ...errors import OptionError
from . import cliques, decoupled, gc_ransac, gnc, kiss_matcher, mac, magsac, open3d_ransac, ransac, spectral, superansac

__all__ = ["OURS", "RIVALS", "Rival", "as_rivals", "why_missing"]

_Array: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rival:
    """A method to compare with."""

    label: str
    """Its heading."""
    paper: str
    """Who published it."""
    made_by: str
    """Whose code it is, and what it may spend."""
    solve: Callable[[_Array, _Array, float], _Array | None]
    package: str | None = None
    """The module that it needs beyond numpy."""
    trusts: Callable[[_Array, _Array, float], bool] | None = None
    """Whether it trusts its answer; None: it does not say."""


OURS = "ours"
"""The whole of :func:`clipperplus.solve`."""

_SAMPLES = f"{ransac.MOST_SAMPLES} samples, confidence {ransac.CONFIDENCE}"

RIVALS: Mapping[str, Rival] = MappingProxyType(
    {
        "ransac": Rival("RANSAC", "Fischler and Bolles 1981", f"here, numpy; {_SAMPLES}", ransac.solve),
        "open3d": Rival(
            "RANSAC (Open3D)", "Zhou et al. 2018", f"open3d; {_SAMPLES}", open3d_ransac.solve, package="open3d"
        ),
        "gc-ransac": Rival(
            "GC-RANSAC", "Barath and Matas 2018", f"pygcransac; {_SAMPLES}", gc_ransac.solve, package="pygcransac"
        ),
        "magsac++": Rival("MAGSAC++", "Barath et al. 2020", f"pymagsac; {_SAMPLES}", magsac.solve, package="pymagsac"),
        "superansac": Rival(
            "SupeRANSAC", "Barath 2025", f"pysuperansac; {_SAMPLES}", superansac.solve, package="pysuperansac"
        ),
        "gnc-tls": Rival("GNC-TLS", "Yang et al. 2020", "here, numpy", gnc.solve_tls),
        "gnc-gm": Rival("GNC-GM", "Yang et al. 2020", "here, numpy", gnc.solve_gm),
        "decoupled": Rival("TEASER", "Yang, Shi and Carlone 2021", "here, numpy; our cliques", decoupled.solve),
        "kiss-matcher": Rival(
            "KISS-Matcher", "Lim et al. 2025", "kiss_matcher", kiss_matcher.solve, package="kiss_matcher"
        ),
        "spectral": Rival(
            "spectral", "Leordeanu and Hebert 2005", "here, scipy; our graph", spectral.solve, package="scipy.sparse"
        ),
        "mac": Rival(
            "MAC",
            "Zhang et al. 2023",
            f"here, scipy; at most {mac.MOST_CLIQUES} cliques",
            mac.solve,
            package="scipy.sparse",
        ),
        "clipper": Rival("CLIPPER", "Lusk et al. 2021", "our graph and core, least squares", cliques.solve_clipper),
        "clipper+": Rival(
            "CLIPPER+", "Fathian and Summers 2024", "our graph and core, least squares", cliques.solve_clipper_plus
        ),
        "clique": Rival("ours, clique only", "", "the proven largest clique, least squares", cliques.solve_largest),
        OURS: Rival(
            "ours",
            "",
            "clipperplus.solve: robust fit, covariance, alternatives, confidence",
            cliques.solve,
            trusts=cliques.trusts,
        ),
    }
)
"""Name → method, those that sample first, ours last."""


def why_missing(name: str) -> str | None:
    """Say why a method cannot be measured here; None where it can."""
    package = RIVALS[name].package
    try:
        if package is not None:
            importlib.import_module(package)
    except ImportError as error:
        return str(error)
    return None


def as_rivals(text: str | None) -> list[str]:
    """Return the methods that a comma-separated list names, in the order of the table; without one, all of them."""
    if text is None:
        return list(RIVALS)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names or not set(names) <= set(RIVALS):
        raise OptionError(f"methods: expected names from {', '.join(RIVALS)}, got {text!r}")
    return [name for name in RIVALS if name in names]
