"""A zoo of deceptions: scenes, generated and real, on which a registration may be wrong and sure of itself.

``KINDS["square empty room"].number(3)`` is always the same :class:`Deception`; ``benchmarks/deceptions.py`` tries them
all.
"""

from . import alike, changed, honest, matches, traffic
from .kind import Deception, Kind, Outcome

__all__ = ["KINDS", "Deception", "Kind", "Outcome"]

KINDS = {kind.name: kind for kind in (*changed.KINDS, *matches.KINDS, *alike.KINDS, *traffic.KINDS, *honest.KINDS)}
"""All kinds by name."""
