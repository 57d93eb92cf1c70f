"""The weights of the confidence are those that their generator makes of what was measured."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from clipperplus.registration import calibration

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("confidence_of_benchmarks", BENCHMARKS / "confidence.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


def test_shipped_weights_are_generated(generator: ModuleType) -> None:
    rows = generator.read_rows()
    for model in generator.MODELS.values():
        weights = generator.Answers.of(model, rows).weights(model)
        assert np.array(getattr(calibration, model.weights)) == pytest.approx(weights, abs=2e-3)


def test_no_evidence_counts_the_wrong_way(generator: ModuleType) -> None:
    for model in generator.MODELS.values():
        weights = np.array(getattr(calibration, model.weights))
        assert weights.shape == (2, 1 + len(model.signs))
        assert (weights[:, 1:] * np.array(model.signs) >= 0.0).all()


def test_the_fit_finds_the_odds_that_answers_were_drawn_from(generator: ModuleType) -> None:
    random = np.random.default_rng(0)
    true = np.array([[1.0, 2.0, -1.0, 0.0], [0.0, 3.0, -0.5, -1.0]])
    terms = np.column_stack((np.ones(40_000), random.normal(size=(40_000, 3))))
    chances = generator.probabilities(terms, true)
    assert chances.sum(axis=0) == pytest.approx(1.0)
    kinds = (random.random(len(terms)) > np.cumsum(chances, axis=0)[:2]).sum(axis=0)
    found = generator.fit(terms, kinds, np.ones(len(terms)), np.array([1, -1, -1]))
    assert found == pytest.approx(true, abs=0.1)
    held = generator.fit(terms, kinds, np.ones(len(terms)), np.array([1, 1, -1]))
    assert (held[:, 2] == 0.0).all()


def test_both_kinds_of_places_count_the_same_and_deceptions_what_they_are_worth(generator: ModuleType) -> None:
    kinds = np.array([0, 0, 1, 2, 0, 2, 2])
    made = np.array([False, False, False, False, True, True, True])
    counts = generator.counts_of(kinds, made)
    elsewhere = kinds == generator.ELSEWHERE
    assert counts[elsewhere].sum() == pytest.approx(counts[~elsewhere].sum())
    for place in (elsewhere, ~elsewhere):
        assert counts[place & made].sum() == pytest.approx(generator.DECEPTIONS * counts[place & ~made].sum())
    # Where no deception is of the same place, those of different places count all the same.
    without = ~made | elsewhere
    counts = generator.counts_of(kinds[without], made[without])
    elsewhere, made = elsewhere[without], made[without]
    assert counts[elsewhere].sum() == pytest.approx(counts[~elsewhere].sum())
    assert counts[made].sum() == pytest.approx(generator.DECEPTIONS * counts[elsewhere & ~made].sum())
