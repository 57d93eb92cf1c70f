"""The room ``evaluation`` under the name that callers know."""

from .evaluation import PROTOCOLS, Evaluation, Protocol, SceneRecall, as_protocol, evaluate_pairs, information_rmse

__all__ = ["PROTOCOLS", "Evaluation", "Protocol", "SceneRecall", "as_protocol", "evaluate_pairs", "information_rmse"]
