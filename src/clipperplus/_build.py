"""What the compiled core is and which instruction set it uses."""

import os
import warnings
from dataclasses import dataclass

from . import _core

SIMD_VARIABLE = "CLIPPERPLUS_SIMD"


@dataclass(frozen=True)
class CoreInfo:
    """The compiled core as it runs here."""

    version: str
    """Version of the package that the core was built for."""
    commit: str
    """Commit that it was built from, with ``-dirty`` if files had changed since; ``unknown`` outside of a clone."""
    compiler: str
    """Compiler that built it."""
    simd: str
    """Instruction set in use."""
    simd_available: tuple[str, ...]
    """Instruction sets that this processor can run, best first."""


def core_info() -> CoreInfo:
    """Tell which instruction set is in use, which others there are, and what built the core.

    The environment variable ``CLIPPERPLUS_SIMD`` (one of ``simd_available``) overrides the choice at import. Results
    do not depend on it, only speed.
    """
    return CoreInfo(
        version=_core.version,
        commit=_core.commit,
        compiler=_core.compiler,
        simd=_core.simd_selected(),
        simd_available=tuple(_core.simd_available()),
    )


def select_simd_from_environment() -> None:
    """Apply ``CLIPPERPLUS_SIMD``, if it is set; a name that is not available here is warned about and ignored."""
    name = os.environ.get(SIMD_VARIABLE)
    if not name:
        return
    if name in _core.simd_available():
        _core.select_simd(name)
    else:
        known = ", ".join(_core.simd_available())
        warnings.warn(
            f"{SIMD_VARIABLE}: expected one of {known} on this processor, got {name!r}; using {_core.simd_selected()}",
            RuntimeWarning,
            stacklevel=2,
        )
