"""Calibrates the confidence of registrations, and shows how reliable it is.

Reads what ``registration.py`` measured; fits a logistic model to it; checks it on scenes that it has not seen; writes
the weights to ``src/clipperplus/registration/calibration.py``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import RESULTS, argument_parser, write_report
from registration import BENCHMARKS, PAIRS

from clipperplus.bench.tables import markdown_table
from clipperplus.registration.confidence import Evidence, clouds_terms, matches_terms

Array = npt.NDArray[np.float64]
Row = dict[str, str]


RIGHT, WRONG, ELSEWHERE = 0, 1, 2
"""What an answer is: right, wrong for scans of one place, or one for scans of different places."""
RIDGE = 1.0
"""A little regularization keeps the weights finite."""


def fit(terms: Array, kinds: Array) -> Array:
    """Return the weights, a row against each way to be wrong, with the greatest likelihood, by Newton's method.

    Answers for different places count as much, all together, as those for the same: the prior is a half.
    """
    elsewhere = kinds == ELSEWHERE
    counts = np.where(elsewhere, (~elsewhere).sum() / max(1, elsewhere.sum()), 1.0)
    n = terms.shape[1]
    weights = np.zeros(2 * n)
    for _ in range(100):
        chances = probabilities(terms, weights.reshape(2, n))
        slope, curvature = -RIDGE * weights, RIDGE * np.eye(2 * n)
        for a in (WRONG, ELSEWHERE):
            mine = slice((a - 1) * n, a * n)
            slope[mine] += terms.T @ (counts * (chances[a] - (kinds == a)))
            for b in (WRONG, ELSEWHERE):
                mixed = counts * (chances[a] * (a == b) - chances[a] * chances[b])
                curvature[mine, slice((b - 1) * n, b * n)] += (terms * mixed[:, None]).T @ terms
        step = np.linalg.solve(curvature, slope)
        weights += step * min(1.0, 5.0 / np.abs(step).max())
        if np.abs(step).max() < 1e-9:
            break
    return weights.reshape(2, n)


def probabilities(terms: Array, weights: Array) -> Array:
    """Return for each answer the chances to be right, wrong, and elsewhere."""
    odds = np.exp(np.clip(-weights @ terms.T, -500.0, 500.0))
    return np.concatenate((np.ones((1, len(terms))), odds)) / (1.0 + odds.sum(axis=0))


def unseen(terms: Array, kinds: Array, rows: list[Row]) -> Array:
    """Return the chances of each scene by a model that was fitted without any fragment of it."""
    chances = np.zeros(len(rows))
    for scene in sorted({row["target"] for row in rows}):
        others = np.array([scene not in (row["target"], row["source"]) for row in rows])
        mine = np.array([scene == row["target"] for row in rows])
        chances[mine] = probabilities(terms[mine], fit(terms[others], kinds[others]))[RIGHT]
    return chances


def bins(chances: Array, right: Array) -> list[tuple[int, float, float]]:
    """Return number, mean chance and share of right answers of each tenth."""
    tenth = np.minimum((chances * 10).astype(int), 9)
    return [
        (int(chosen.sum()), float(chances[chosen].mean()), float(right[chosen].mean()))
        for chosen in (tenth == k for k in range(10))
        if chosen.any()
    ]


def report(name: str, chances: Array, right: Array, rows: list[Row]) -> tuple[str, ...]:
    """Return how well a threshold that keeps 95 % of the right answers, and one of 0.5, tell right from wrong."""
    elsewhere = np.array([row["benchmark"] not in BENCHMARKS for row in rows])
    wrong_here = (right == 0.0) & ~elsewhere
    keeps = float(np.quantile(chances[right == 1.0], 0.05))
    brier = float(np.mean((chances - right) ** 2))
    cells = [name, f"{brier:.4f}", f"{keeps:.3f}"]
    for threshold in (keeps, 0.5):
        cells += [f"{np.mean(chances[chosen] >= threshold):.3f}" for chosen in (right == 1.0, elsewhere, wrong_here)]
    return tuple(cells)


COUNTS = ("associations", "explained", "undetermined", "points")
NUMBERS = ("runner_up", "overlap", "against", "detail", "residual", "conflict", "rivalry", "scale", "scale_deviation")
SIGNS = ("mirrored", "noise", "sensor_pattern")


def evidence_of(row: Row, prefix: str) -> Evidence:
    """Return the evidence of an answer."""
    found: dict[str, Any] = {name: int(row[prefix + name]) for name in COUNTS if row[prefix + name]}
    found |= {name: float(row[prefix + name]) for name in NUMBERS if row[prefix + name]}
    return Evidence(**found, **{name: row[prefix + name] == "True" for name in SIGNS})


@dataclass(frozen=True)
class Model:
    """What is fitted: answers of a kind, and what their confidence is linear in."""

    weights: str
    """Its name in the calibration."""
    prefixes: tuple[str, ...]
    """Of the columns with such answers."""
    terms: Callable[[Evidence], list[float]]
    about: str
    """Its docstring there."""


MODELS = {
    "register": Model(
        "OF_SCANS",
        ("", "moved_", "low_"),
        clouds_terms,
        "Clouds whose sensors saw free space: the constant, then the weights of ``clouds_terms``.",
    ),
    "register, no free space": Model("OF_CLOUDS", ("blind_",), clouds_terms, "Clouds where that was not looked at."),
    "solve": Model(
        "OF_MATCHES",
        ("plain_",),
        matches_terms,
        "Matched points: the constant, then the weights of ``matches_terms``.",
    ),
}
CALIBRATION = Path(__file__).resolve().parents[1] / "src" / "clipperplus" / "registration" / "calibration.py"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with its data."""

    rows: list[Row]
    right: Array
    weights: Array
    chances: Array
    """By the weights, …"""
    fresh: Array
    """… and by those of a fit without the scene."""


def fitted(model: Model, rows: list[Row]) -> Fitted:
    """Fit a model to the answers that are transforms, and not refuted."""
    answers = [(row, prefix) for prefix in model.prefixes for row in rows if row[f"{prefix}confidence"] != "0"]
    chosen = [row for row, _ in answers]
    terms = np.array([[1.0, *model.terms(evidence_of(row, prefix))] for row, prefix in answers])
    right = np.array([float(row[f"{prefix}right"]) for row, prefix in answers])
    elsewhere = np.array([row["benchmark"] not in BENCHMARKS for row in chosen])
    kinds = np.where(elsewhere, ELSEWHERE, np.where(right == 1.0, RIGHT, WRONG))
    weights = fit(terms, kinds).round(3)
    return Fitted(chosen, right, weights, probabilities(terms, weights)[RIGHT], unseen(terms, kinds, chosen))


def read_rows() -> list[Row]:
    """Return what was measured."""
    with PAIRS.open() as file:
        return list(csv.DictReader(file))


def calibration(results: dict[str, Fitted]) -> str:
    """Return the file with the weights."""
    lines = [
        '"""Weights of the confidence; generated by ``python benchmarks/confidence.py``, and not to be edited."""\n'
    ]
    for name, result in results.items():
        model = MODELS[name]
        rows = ",\n".join(f"    ({', '.join(f'{weight:g}' for weight in row)})" for row in result.weights)
        lines.append(f"{model.weights} = (\n{rows},\n)")
        lines.append(f'"""{model.about}"""')
    return "\n".join(lines) + "\n"


def main() -> None:
    """Fit, check, draw."""
    argument_parser(__doc__ or "").parse_known_args()
    rows = read_rows()
    results = {name: fitted(model, rows) for name, model in MODELS.items()}
    lines, curves = [], {}
    for name, result in results.items():
        lines.append(report(f"{name}, all scenes", result.chances, result.right, result.rows))
        lines.append(report(f"{name}, unseen scenes", result.fresh, result.right, result.rows))
        curves[name] = bins(result.fresh, result.right)
    draw(curves)
    CALIBRATION.write_text(calibration(results))
    kept = ("of right ones", "of different places", "of wrong ones, same place")
    titles = ("", "Brier", "threshold", *(f"kept {what}" for what in kept), *(f"≥ 0.5 {what}" for what in kept))
    counts = ", ".join(f"{len(r.right)} ({name}, {r.right.mean():.0%} right)" for name, r in results.items())
    body = f"""Answers: {counts}. The threshold keeps 95 % of the right ones. Of `register` there are those for the
clouds as they are and moved, and those of a first look alone.

{markdown_table(titles, lines)}
## By scene, on scenes that the fit has not seen

Answers of `register` for the clouds as they are that are at least 0.5, and how many of them are right.

{scene_table(results["register"], rows)}
## Reliability on unseen scenes

Answers by their confidence, in tenths.

![reliability](registration/reliability.png)

{
        markdown_table(
            ("", "answers", "mean confidence", "right"),
            [(name, n, f"{p:.3f}", f"{r:.3f}") for name, curve in curves.items() for n, p, r in curve],
        )
    }"""
    write_report("confidence", "Confidence of registrations", "python benchmarks/confidence.py", body)


def scene_table(result: Fitted, rows: list[Row]) -> str:
    """Return how many answers are trusted, and right, by benchmark and scene."""
    first = sum(row["confidence"] != "0" for row in rows)  # as they are; others follow
    lines = []
    for benchmark in (*BENCHMARKS, "different places"):
        for scene in sorted({row["target"] for row in result.rows}):
            mine = [
                k for k in range(first) if (result.rows[k]["benchmark"], result.rows[k]["target"]) == (benchmark, scene)
            ]
            trusted = [k for k in mine if result.fresh[k] >= 0.5]
            share = f"{result.right[trusted].mean():.3f}" if trusted and benchmark in BENCHMARKS else ""
            lines.append((benchmark, scene, len(mine), len(trusted), share))
    return markdown_table(("", "scene", "answers", "trusted", "right of these"), lines)


def draw(curves: dict[str, list[tuple[int, float, float]]]) -> None:
    """Draw the share of right answers against the confidence."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1, label="perfectly calibrated")
    for (name, curve), marker in zip(curves.items(), "ovs", strict=True):
        counts, chances, shares = (np.array(column) for column in zip(*curve, strict=True))
        spread = 1.96 * np.sqrt(np.maximum(shares * (1 - shares), 0.25 / counts) / counts)
        axes.errorbar(chances, shares, spread, marker=marker, markersize=4, linewidth=1, capsize=2, label=name)
    axes.set(xlabel="confidence", ylabel="share of right answers", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(RESULTS / "registration" / "reliability.png", dpi=150)


if __name__ == "__main__":
    main()
