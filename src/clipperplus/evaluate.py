"""The room ``evaluation`` under the name that callers know."""

from .evaluation import (
    PROTOCOLS,
    Evaluation,
    Protocol,
    SceneRecall,
    as_protocol,
    evaluate_pairs,
    evaluate_poses,
    information_rmse,
    relative_poses,
)

__all__ = [
    "PROTOCOLS",
    "Evaluation",
    "Protocol",
    "SceneRecall",
    "as_protocol",
    "evaluate_pairs",
    "evaluate_poses",
    "information_rmse",
    "relative_poses",
]
