"""What the compiled core is and which instruction set it uses."""

import os
from dataclasses import dataclass

from . import _core
from .errors import OptionError

SIMD_VARIABLE = "CLIPPERPLUS_SIMD"


@dataclass(frozen=True)
class CoreInfo:
    """The compiled core as it runs here."""

    version: str
    """Version of the package that the core was built for."""
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
        compiler=_core.compiler,
        simd=_core.simd_selected(),
        simd_available=tuple(_core.simd_available()),
    )


def select_simd_from_environment() -> None:
    """Apply ``CLIPPERPLUS_SIMD``, if it is set."""
    name = os.environ.get(SIMD_VARIABLE)
    if not name:
        return
    if name not in _core.simd_available():
        raise OptionError(
            f"{SIMD_VARIABLE}: expected one of {', '.join(_core.simd_available())} on this processor, got {name!r}"
        )
    _core.select_simd(name)
