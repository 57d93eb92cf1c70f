"""Calibrates the confidence of registrations, and shows how reliable it is.

Reads what ``registration.py`` measured; fits a logistic model to it; checks it on scenes that it has not seen.
"""

from __future__ import annotations

import csv
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from common import RESULTS, argument_parser, write_report
from registration import BENCHMARKS, PAIRS

from clipperplus.bench.tables import markdown_table
from clipperplus.registration.confidence import clouds_terms, matches_terms

Array = npt.NDArray[np.float64]
Row = dict[str, str]


def fit(terms: Array, right: Array) -> Array:
    """Return the weights of the logistic model with the greatest likelihood, by Newton's method."""
    weights = np.zeros(terms.shape[1])
    for _ in range(50):
        chance = probability(terms, weights)
        slope = terms.T @ (right - chance) - 1e-3 * weights  # a little regularization keeps it finite
        curvature = (terms * (chance * (1.0 - chance))[:, None]).T @ terms + 1e-3 * np.eye(len(weights))
        step = np.linalg.solve(curvature, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return weights


def probability(terms: Array, weights: Array) -> Array:
    """Return the chance of each answer to be right."""
    return np.asarray(1.0 / (1.0 + np.exp(np.clip(-terms @ weights, -700.0, 700.0))))


def unseen(terms: Array, right: Array, rows: list[Row]) -> Array:
    """Return the chances of each scene by a model that was fitted without any fragment of it."""
    chances = np.zeros(len(rows))
    for scene in sorted({row["target"] for row in rows}):
        others = np.array([scene not in (row["target"], row["source"]) for row in rows])
        mine = np.array([scene == row["target"] for row in rows])
        chances[mine] = probability(terms[mine], fit(terms[others], right[others]))
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


def scan_terms(row: Row, kind: str) -> list[float]:
    """Return the terms of an answer for two clouds, with conflicts where they were looked for."""
    net = float(row[f"{kind}overlap"]) - float(row[f"{kind}against"])
    conflict = None if kind else float(row["conflict"])
    explained, undetermined = int(row[f"{kind}explained"]), int(row[f"{kind}undetermined"])
    return clouds_terms(explained, net, float(row[f"{kind}runner_up"]), undetermined, conflict)


def main() -> None:
    """Fit, check, draw."""
    argument_parser(__doc__ or "").parse_known_args()
    with PAIRS.open() as file:
        rows = [row for row in csv.DictReader(file) if row["overlap"] and row["blind_overlap"]]
    models: dict[str, tuple[Callable[[Row], list[float]], str]] = {
        "register": (lambda row: scan_terms(row, ""), "right"),
        "register, no free space": (lambda row: scan_terms(row, "blind_"), "blind_right"),
        "solve": (
            lambda row: matches_terms(int(row["clique"]), int(row["associations"]), float(row["plain_runner_up"])),
            "plain_right",
        ),
    }
    lines, weights, curves = [], [], {}
    for name, (terms_of, truth) in models.items():
        terms = np.array([[1.0, *terms_of(row)] for row in rows])
        right = np.array([float(row[truth]) for row in rows])
        fitted = fit(terms, right)
        fresh = unseen(terms, right, rows)
        weights.append(f"{name}: ({', '.join(f'{weight:.3f}' for weight in fitted)})")
        lines.append(report(f"{name}, all scenes", probability(terms, fitted), right, rows))
        lines.append(report(f"{name}, unseen scenes", fresh, right, rows))
        curves[name] = bins(fresh, right)
    right = np.array([float(row["right"]) for row in rows])
    lines.append(report("register, as shipped", np.array([float(row["confidence"]) for row in rows]), right, rows))
    draw(curves)
    kept = ("of right ones", "of different places", "of wrong ones, same place")
    titles = ("", "Brier", "threshold", *(f"kept {what}" for what in kept), *(f"≥ 0.5 {what}" for what in kept))
    shares = ", ".join(
        f"{np.mean([row[truth] == '1' for row in rows]):.0%} ({name})" for name, (_, truth) in models.items()
    )
    body = f"""{len(rows)} answers each, of which are right: {shares}. The threshold keeps 95 % of the right ones.

{markdown_table(titles, lines)}
"As shipped" is what `register` said of these answers itself, with weights that were fitted to an earlier run. Weights
fitted to this one, the constant first:

{chr(10).join(f"- {line}" for line in weights)}

Reliability on unseen scenes: answers by their confidence, in tenths.

![reliability](registration/reliability.png)

{
        markdown_table(
            ("", "answers", "mean confidence", "right"),
            [(name, n, f"{p:.3f}", f"{r:.3f}") for name, curve in curves.items() for n, p, r in curve],
        )
    }"""
    write_report("confidence", "Confidence of registrations", "python benchmarks/confidence.py", body)


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
