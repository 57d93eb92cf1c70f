"""Many pairs of clouds: registered here or on a cluster, kept in a file, each computed once."""

from .result import PairResult
from .run import register_pairs

__all__ = ["PairResult", "register_pairs"]
