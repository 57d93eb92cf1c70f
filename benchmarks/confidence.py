"""Calibrates the confidence of registrations, and shows how reliable it is.

Reads what ``registration.py`` measured on real scans, and ``deceptions.py --first 1000 --tries 12 --csv FILE`` on other
deceptions than those it reports on (``results/deceptions/to_fit.csv``); fits the odds of right answers to both, checks
them on scenes that the fit has not seen, and writes ``src/clipperplus/registration/calibration.py``.
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
from clipperplus.registration.confidence import Evidence, Status, clouds_terms, matches_terms
from clipperplus.registration.pose import RIVALRY

Array = npt.NDArray[np.float64]
Row = dict[str, str]


RIGHT, WRONG, ELSEWHERE = 0, 1, 2
"""What an answer is: right, wrong for scans of one place, or one for scans of different places."""
RIDGE = 0.1
"""A little regularization keeps the weights finite."""
DECEPTIONS = 0.25
"""What deceptions count, all together, relative to real scans."""
TO_FIT = RESULTS / "deceptions" / "to_fit.csv"


def counts_of(kinds: Array, deceptions: npt.NDArray[np.bool_]) -> Array:
    """Return how much each answer counts: those for different places as much, all together, as those for the same.

    With that, the prior is a half. Of both, deceptions count so much as they are worth, where there are any.
    """
    counts = np.zeros(len(kinds))
    for elsewhere in (False, True):
        mine = (kinds == ELSEWHERE) == elsewhere
        parts = [(mine & (deceptions == made), worth) for made, worth in ((False, 1.0), (True, DECEPTIONS))]
        total = sum(worth for chosen, worth in parts if chosen.any())
        for chosen, worth in parts:
            counts[chosen] = 0.5 * len(kinds) * worth / total / max(1, chosen.sum())
    return counts


def fit(terms: Array, kinds: Array, counts: Array, signs: Array) -> Array:
    """Return the weights, a row against each way to be wrong, with the greatest likelihood.

    Evidence for an answer may not count against it, nor the other way round: a weight that would have the wrong sign is
    zero, which is why the fit holds beyond what it was fitted to.
    """
    free = np.ones((2, terms.shape[1]), dtype=np.bool_)
    while True:
        weights = fit_free(terms, kinds, counts, np.flatnonzero(free))
        wrong = weights[:, 1:] * signs < 0.0
        if not wrong.any():
            return weights
        free[:, 1:] &= ~wrong


def fit_free(terms: Array, kinds: Array, counts: Array, free: npt.NDArray[np.intp]) -> Array:
    """Return the weights of which some are free and the others zero, by Newton's method."""
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
        step = np.linalg.solve(curvature[np.ix_(free, free)], slope[free])
        weights[free] += step * min(1.0, 5.0 / np.abs(step).max())
        if np.abs(step).max() < 1e-9:
            break
    return weights.reshape(2, n)


def probabilities(terms: Array, weights: Array) -> Array:
    """Return for each answer the chances to be right, wrong, and elsewhere."""
    odds = np.exp(np.clip(-weights @ terms.T, -500.0, 500.0))
    return np.asarray(np.concatenate((np.ones((1, len(terms))), odds)) / (1.0 + odds.sum(axis=0)))


def bins(chances: Array, right: Array) -> list[tuple[int, float, float]]:
    """Return number, mean chance and share of right answers of each tenth."""
    tenth = np.minimum((chances * 10).astype(int), 9)
    return [
        (int(chosen.sum()), float(chances[chosen].mean()), float(right[chosen].mean()))
        for chosen in (tenth == k for k in range(10))
        if chosen.any()
    ]


def report(name: str, chances: Array, right: Array, answers: list[tuple[Row, str, Evidence]]) -> tuple[str, ...]:
    """Return how well a threshold that keeps 95 % of the right answers, and one of 0.5, tell right from wrong."""
    elsewhere = np.array([row["benchmark"] not in BENCHMARKS for row, *_ in answers])
    wrong_here = (right == 0.0) & ~elsewhere
    keeps = float(np.quantile(chances[right == 1.0], 0.05))
    brier = float(np.mean((chances - right) ** 2))
    cells = [name, f"{brier:.4f}", f"{keeps:.3f}"]
    for threshold in (keeps, 0.5):
        cells += [f"{np.mean(chances[chosen] >= threshold):.3f}" for chosen in (right == 1.0, elsewhere, wrong_here)]
    return tuple(cells)


COUNTS = ("associations", "explained", "undetermined", "points")
NUMBERS = (
    "runner_up",
    "overlap",
    "against",
    "detail",
    "nearby_overlap",
    "residual",
    "conflict",
    "rivalry",
    "scale",
    "scale_deviation",
)
SIGNS = ("mirrored", "noise", "sensor_pattern")


def evidence_of(row: Row, prefix: str) -> Evidence:
    """Return the evidence of an answer."""
    found: dict[str, Any] = {name: int(row[prefix + name]) for name in COUNTS if row[prefix + name]}
    found |= {name: float(row[prefix + name]) for name in NUMBERS if row[prefix + name]}
    found |= {name: row[prefix + name] == "True" for name in SIGNS}
    return Evidence(**found)


@dataclass(frozen=True)
class Model:
    """What is fitted: answers of a kind, and what their confidence is linear in."""

    weights: str
    """Its name in the calibration."""
    prefixes: tuple[str, ...]
    """Of the columns with such answers."""
    terms: Callable[[Evidence], list[float]]
    signs: tuple[int, ...]
    """Whether each speaks for an answer, or against it."""
    about: str
    """Its docstring there."""


OF_SURFACES = (1, -1, -1, -1, 1, 1, -1, -1, -1)
"""Overlap, rival, runner-up, open directions, detail, what is nearby, residual, scale and its deviation."""
MODELS = {
    "register": Model(
        "OF_SCANS",
        ("", "moved_", "low_"),
        clouds_terms,
        (*OF_SURFACES, -1),
        "Clouds whose sensors saw free space. Against a wrong answer, and against different places: the constant,\n"
        "then the weights of ``clouds_terms``.",
    ),
    "register, no free space": Model(
        "OF_CLOUDS", ("blind_",), clouds_terms, OF_SURFACES, "Clouds where that was not looked at."
    ),
    "solve": Model(
        "OF_MATCHES",
        ("plain_",),
        matches_terms,
        (1, -1, -1),
        "Matched points, with the weights of ``matches_terms``.",
    ),
}
CALIBRATION = Path(__file__).resolve().parents[1] / "src" / "clipperplus" / "registration" / "calibration.py"


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model is fitted to: answers that are transforms, and not refuted."""

    answers: list[tuple[Row, str, Evidence]]
    """Each with the prefix of its columns."""
    terms: Array
    kinds: Array
    """Right, wrong, or for different places."""
    deceptions: npt.NDArray[np.bool_]
    """Whether they are for deceptions."""

    @classmethod
    def of(cls, model: Model, rows: list[Row]) -> Answers:
        """Choose those of a model's kind."""
        answers = [
            (row, prefix, evidence)
            for prefix in model.prefixes
            for row in rows
            if f"{prefix}status" in row and row[f"{prefix}status"] != Status.TOO_FEW_INLIERS.value
            for evidence in [evidence_of(row, prefix)]
            if not evidence.is_refuted and has_terms(model, evidence)
        ]
        terms = np.array([[1.0, *model.terms(evidence)] for *_, evidence in answers])
        right = np.array([row[f"{prefix}right"] == "1" for row, prefix, _ in answers])
        elsewhere = np.array(
            [row["benchmark"] == "different places" or row.get("has_truth") == "0" for row, *_ in answers]
        )
        kinds = np.where(elsewhere, ELSEWHERE, np.where(right, RIGHT, WRONG))
        return cls(answers, terms, kinds, np.array([row["benchmark"] == "deceptions" for row, *_ in answers]))

    def only(self, chosen: npt.NDArray[np.bool_]) -> Answers:
        """Return some of them."""
        answers = [answer for answer, of in zip(self.answers, chosen, strict=True) if of]
        return Answers(answers, self.terms[chosen], self.kinds[chosen], self.deceptions[chosen])

    def weights(self, model: Model) -> Array:
        """Return the weights that are shipped."""
        counts = counts_of(self.kinds, self.deceptions)
        return fit(self.terms, self.kinds, counts, np.array(model.signs)).round(3)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model with the answers for real scans that it was fitted to."""

    answers: list[tuple[Row, str, Evidence]]
    """Each with the prefix of its columns."""
    right: Array
    weights: Array
    chances: Array
    """By the weights, …"""
    fresh: Array
    """… and by those of a fit without the scene."""


def fitted(model: Model, rows: list[Row]) -> Fitted:
    """Fit a model, to all and without each of the real scenes."""
    found = Answers.of(model, rows)
    weights, fresh = found.weights(model), np.zeros(len(found.answers))
    for scene in sorted({row["target"] for row, *_ in found.only(~found.deceptions).answers}):
        others = np.array([scene not in (row["target"], row["source"]) for row, *_ in found.answers])
        mine = np.array([scene == row["target"] for row, *_ in found.answers])
        fresh[mine] = probabilities(found.terms[mine], found.only(others).weights(model))[RIGHT]
    real = found.only(~found.deceptions)
    chances = probabilities(real.terms, weights)[RIGHT]
    return Fitted(real.answers, (real.kinds == RIGHT).astype(np.float64), weights, chances, fresh[~found.deceptions])


def has_terms(model: Model, evidence: Evidence) -> bool:
    """Whether evidence is of a model's kind: of matches, of clouds, or of clouds with free space."""
    return (evidence.overlap is not None) == (model.terms is clouds_terms) and (
        model.terms is not clouds_terms or (evidence.conflict is not None) == (len(model.signs) > len(OF_SURFACES))
    )


def read_rows() -> list[Row]:
    """Return what was measured: pairs, and deceptions, whose kind stands for the scene."""
    with PAIRS.open() as file:
        rows = list(csv.DictReader(file))
    with TO_FIT.open() as file:
        tries = [
            row | {"benchmark": "deceptions", "target": row["kind"], "source": row["kind"]}
            for row in csv.DictReader(file)
        ]
    # Those without free space have no conflict, so that they belong to another model: they go by its prefix.
    blind = [{f"blind_{name}": value for name, value in row.items()} | row for row in tries if not row["conflict"]]
    return [*rows, *(row for row in tries if row["conflict"]), *blind]


def calibration(weights: dict[str, Array]) -> str:
    """Return the file with the weights of each model."""
    lines = [
        '"""Weights of the confidence; generated by ``python benchmarks/confidence.py``, and not to be edited."""\n'
    ]
    for name, of_model in weights.items():
        model = MODELS[name]
        rows = ",\n".join(f"    ({', '.join(f'{weight:g}' for weight in row + 0.0)})" for row in of_model)
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
        lines.append(report(f"{name}, all scenes", result.chances, result.right, result.answers))
        lines.append(report(f"{name}, unseen scenes", result.fresh, result.right, result.answers))
        curves[name] = bins(result.fresh, result.right)
    draw(curves)
    CALIBRATION.write_text(calibration({name: result.weights for name, result in results.items()}))
    kept = ("of right ones", "of different places", "of wrong ones, same place")
    titles = ("", "Brier", "threshold", *(f"kept {what}" for what in kept), *(f"≥ 0.5 {what}" for what in kept))
    counts = ", ".join(f"{len(r.right)} ({name}, {r.right.mean():.0%} right)" for name, r in results.items())
    body = f"""Answers for real scans that are not refuted: {
        counts
    }. The threshold keeps 95 % of the right ones. Of `register`
there are those for the clouds as they are and moved, and those of a first look alone. The fit is to these, and to
answers for deceptions, which count a quarter as much all together.

{markdown_table(titles, lines)}
## What is trusted, on scenes that the fit has not seen

Answers that are OK: not refuted, no rival, no open direction, and a confidence of at least 0.5 by a fit without the
scene.

{trust_table(results["register"], rows)}
## By scene

{scene_table(results["register"])}
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


def is_ok(evidence: Evidence, chance: float) -> bool:
    """Whether an answer that is not refuted is reported as OK."""
    return chance >= 0.5 and (evidence.rivalry or 0.0) < RIVALRY and evidence.undetermined == 0


def trust_table(result: Fitted, rows: list[Row]) -> str:
    """Return of the answers how many are trusted, and right, and what is wanted of that."""
    wanted = {"3DMatch": "0.985", "3DLoMatch": "0.95", "different places": ""}
    lines = []
    for frame, prefix in (("as they are", ""), ("moved", "moved_")):
        for benchmark in (*BENCHMARKS, "different places"):
            pairs = [row for row in rows if row["benchmark"] == benchmark]
            mine = [
                (right, is_ok(evidence, chance))
                for (row, of, evidence), right, chance in zip(result.answers, result.right, result.fresh, strict=True)
                if (row["benchmark"], of) == (benchmark, prefix)
            ]
            trusted = [right for right, ok in mine if ok]
            right = sum(int(row[f"{prefix}right"]) for row in pairs)
            lines.append(
                (
                    f"{benchmark}, {frame}",
                    len(pairs),
                    right,
                    len(trusted),
                    f"**{np.mean(trusted):.3f}**" if benchmark in BENCHMARKS else "",
                    wanted[benchmark],
                    f"**{sum(trusted) / right:.3f}**" if right else "",
                    "0.96" if right else "",
                    "" if right else f"**{len(trusted) / len(pairs):.3f}**",
                    "" if right else "0.02",
                )
            )
    shares = ("right of OK", "wanted", "right that are OK", "wanted", "different that are OK", "wanted")
    return markdown_table(("", "pairs", "right", "OK", *shares), lines)


def scene_table(result: Fitted) -> str:
    """Return how many answers for the clouds as they are are trusted, and right, by benchmark and scene."""
    lines = []
    for benchmark in (*BENCHMARKS, "different places"):
        for scene in sorted({row["target"] for row, *_ in result.answers}):
            mine = [
                (right, is_ok(evidence, chance))
                for (row, of, evidence), right, chance in zip(result.answers, result.right, result.fresh, strict=True)
                if (row["benchmark"], row["target"], of) == (benchmark, scene, "")
            ]
            trusted = [right for right, ok in mine if ok]
            share = f"{np.mean(trusted):.3f}" if trusted and benchmark in BENCHMARKS else ""
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
