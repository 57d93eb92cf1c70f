"""Methods that `clipperplus bench outliers` compares with: each solves what it was published for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from motions import Array, random_motion

import clipperplus as cp
from clipperplus.bench.rivals import RIVALS, as_rivals, gnc, mac, ransac, spectral, why_missing

EPSILON = 0.02


def matches(outliers: int, *, count: int = 200, noise: float = 0.4, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return source, target and motion; noise up to so many epsilon in every coordinate, outliers anywhere."""
    random = np.random.default_rng(seed)
    source = random.uniform(-1.0, 1.0, (count, 3))
    truth = random_motion(seed)
    target = cp.apply_transform(truth, source) + EPSILON * noise * random.uniform(-1.0, 1.0, source.shape)
    wrong = random.choice(count, outliers, replace=False)
    target[wrong] = cp.apply_transform(truth, random.uniform(-1.0, 1.0, (outliers, 3)))
    return source, target, truth


def available(name: str) -> str:
    reason = why_missing(name)
    if reason is not None:
        pytest.skip(f"{name}: {reason}")
    return name


@pytest.mark.parametrize("name", RIVALS)
def test_a_clean_problem_is_solved_exactly(name: str) -> None:
    source, target, truth = matches(0, noise=0.0)
    found = RIVALS[available(name)].solve(source, target, EPSILON)
    assert found is not None
    limit = 1e-4 if name in ("open3d", "kiss-matcher") else 1e-6  # no refit; single precision
    assert cp.rotation_error(found, truth) < math.degrees(limit)
    assert cp.translation_error(found, truth) < limit


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize("seed", range(3))
def test_half_of_the_matches_may_be_wrong(name: str, seed: int) -> None:
    source, target, truth = matches(100, seed=seed)
    found = RIVALS[available(name)].solve(source, target, EPSILON)
    assert found is not None
    assert np.allclose(found[:3, :3] @ found[:3, :3].T, np.eye(3), atol=1e-5)
    assert np.linalg.det(found[:3, :3]) == pytest.approx(1.0, abs=1e-5)
    assert cp.rotation_error(found, truth) < 2.0
    assert cp.translation_error(found, truth) < 1.5 * EPSILON


@pytest.mark.parametrize("name", [name for name, rival in RIVALS.items() if rival.package in (None, "scipy.sparse")])
def test_our_own_renderings_say_nothing_where_nothing_agrees(name: str) -> None:
    """Two matches have no motion; and what is there of them is an answer or none, not a crash."""
    source, target, _ = matches(0, count=2)
    assert RIVALS[available(name)].solve(source, target, EPSILON) is None
    source, target, _ = matches(200)
    found = RIVALS[name].solve(source, target, EPSILON)
    assert found is None or np.isfinite(found).all()


@pytest.mark.parametrize("name", ["ransac", "gnc-tls", "gnc-gm", "decoupled", "spectral", "mac"])
def test_the_answer_does_not_depend_on_the_frame(name: str) -> None:
    source, target, _ = matches(80, seed=4)
    motion = random_motion(5)
    first = RIVALS[available(name)].solve(source, target, EPSILON)
    again = RIVALS[name].solve(source, cp.apply_transform(motion, target), EPSILON)
    assert first is not None
    assert again is not None
    assert again == pytest.approx(motion @ first, abs=0.5 * EPSILON)


def tls_of_paper(square: float, mu: float, bound: float) -> float:
    """Return the weight as the paper defines it: that which minimizes w r² + μ(1 - w) / (μ + w) c², in steps."""
    tried = np.linspace(0.0, 1.0, 200_001)
    return float(tried[(tried * square + mu * (1.0 - tried) / (mu + tried) * bound**2).argmin()])


def gm_of_paper(square: float, mu: float, bound: float) -> float:
    """Return the weight as the paper defines it: that which minimizes w r² + μ c² (√w - 1)², in steps."""
    tried = np.linspace(0.0, 1.0, 200_001)
    return float(tried[(tried * square + mu * bound**2 * (np.sqrt(tried) - 1.0) ** 2).argmin()])


@pytest.mark.parametrize("mu", [0.01, 0.3, 1.0, 20.0])
def test_weights_minimize_what_the_paper_weighs_them_by(mu: float) -> None:
    squares = np.array([0.0, 0.0004, 0.01, 0.04, 0.09, 0.5, 25.0])
    for weights, of_paper in ((gnc.tls_weights, tls_of_paper), (gnc.gm_weights, gm_of_paper)):
        found = weights(squares, mu, 0.2)
        assert found == pytest.approx([of_paper(square, mu, 0.2) for square in squares], abs=1e-5)


def test_graduated_weights_of_a_mean_are_those_of_the_papers_loop() -> None:
    """Seven numbers, of which two are off, and their mean: the steps of Algorithm 1 in a plain loop."""
    values, bound = np.array([0.0, 0.1, -0.1, 0.05, -0.05, 7.0, -3.0]), 0.3

    def fit(weights: Array) -> Array:
        return np.asarray((values - weights @ values / weights.sum()) ** 2)

    found = gnc.graduate_tls(fit, len(values), bound)
    squares = [float(value - values.mean()) ** 2 for value in values]
    mu = bound**2 / (2.0 * max(squares) - bound**2)
    for _ in range(100):
        weights = []
        for square in squares:
            if square >= (mu + 1.0) / mu * bound**2:
                weights.append(0.0)
            elif square <= mu / (mu + 1.0) * bound**2:
                weights.append(1.0)
            else:
                weights.append(bound / math.sqrt(square) * math.sqrt(mu * (mu + 1.0)) - mu)
        mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
        squares, mu = [float(value - mean) ** 2 for value in values], 1.4 * mu
    assert found == pytest.approx(weights)
    assert found.tolist() == [1.0] * 5 + [0.0] * 2


def test_least_squares_is_left_as_it_is_where_nothing_is_off() -> None:
    assert gnc.graduate_tls(lambda weights: np.full(4, 1e-4), 4, 0.1).tolist() == [1.0] * 4


def test_scores_of_pairs_are_those_of_a_dense_matrix() -> None:
    available("spectral")
    source, target, _ = matches(20, count=40)
    found = spectral.pairwise(source, target, EPSILON, lambda differences: 2.0 - differences / EPSILON).toarray()
    gaps = np.linalg.norm(source[:, None] - source, axis=2) - np.linalg.norm(target[:, None] - target, axis=2)
    agree = (np.abs(gaps) < EPSILON) & ~np.eye(40, dtype=np.bool_)
    upper = np.triu(np.where(agree, 2.0 - gaps / EPSILON, 0.0))
    assert found == pytest.approx(upper + upper.T)


@pytest.mark.parametrize("count", [20, 300])  # dense; and sparse
def test_second_order_weights_and_masses_of_cliques_are_those_of_the_definition(count: int) -> None:
    available("mac")
    source, target, _ = matches(0 if count == 20 else 285, count=count)
    first = spectral.pairwise(source, target, EPSILON, lambda differences: np.exp(-((differences / EPSILON) ** 2)))
    assert (first.nnz < 0.05 * count**2) == (count == 300)
    full = first.toarray()
    second = mac._second_order(first)
    assert second.toarray() == pytest.approx(full * (full @ full))
    cliques = mac._list(second)
    assert all((full[np.ix_(clique, clique)] > 0.0).sum() == len(clique) * (len(clique) - 1) for clique in cliques)
    masses = [second.toarray()[np.ix_(clique, clique)].sum() for clique in cliques]
    assert mac._masses(second, cliques) == pytest.approx(masses)
    kept = [tuple(clique.tolist()) for clique in mac._guided(second, cliques)]
    for vertex in np.unique(np.concatenate(cliques)):
        heaviest = max((m for m, clique in zip(masses, cliques, strict=True) if vertex in clique))
        of_kept = max(second.toarray()[np.ix_(clique, clique)].sum() for clique in kept if vertex in clique)
        assert of_kept == pytest.approx(heaviest)


def test_dense_graphs_are_cut_until_their_cliques_can_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    available("mac")
    monkeypatch.setattr(mac, "MOST_CLIQUES", 5)
    source, target, truth = matches(20, noise=0.9)
    found = mac.solve(source, target, EPSILON)
    assert found is not None
    assert cp.rotation_error(found, truth) < 5.0


def test_samples_of_three_give_the_motion_of_their_triangles() -> None:
    source, target, truth = matches(0, count=3, noise=0.0)
    found = ransac._motions(source[None], target[None], EPSILON)
    assert found[0] == pytest.approx(truth)
    mirrored = source * [1.0, 1.0, -1.0]
    turned = ransac._motions(source[None], mirrored[None], EPSILON)  # the sides are the same, so there is a motion
    assert np.linalg.det(turned[0, :3, :3]) == pytest.approx(1.0)
    assert len(ransac._motions(source[None], 1.1 * target[None], 1e-3)) == 0
    in_a_line = np.outer([0.0, 1.0, 2.0], [1.0, 0.0, 0.0])
    assert len(ransac._motions(in_a_line[None], in_a_line[None], EPSILON)) == 0


def test_enough_samples_are_drawn_for_the_confidence() -> None:
    """With half of them right, a sample is right once in eight: 0.999 takes 52 of them."""
    assert math.ceil(ransac._needed(0.5)) == 52
    assert ransac._needed(1.0) == 0.0
    assert (1.0 - 0.1**3) ** ransac._needed(0.1) == pytest.approx(1.0 - ransac.CONFIDENCE)


def test_names_are_taken_in_the_order_of_the_table() -> None:
    assert as_rivals(None) == list(RIVALS)
    assert as_rivals("ours, ransac") == ["ransac", "ours"]
    for wrong in ("", " , ", "teaser", "ours,magic"):
        with pytest.raises(cp.OptionError, match=r"methods: expected names from ransac, .*ours"):
            as_rivals(wrong)


def test_a_package_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pymagsac", None)
    assert "pymagsac" in str(why_missing("magsac++"))
    assert why_missing("ours") is None
    with pytest.raises(cp.MissingPackageError, match=r"MAGSAC\+\+ needs the package pymagsac"):
        RIVALS["magsac++"].solve(np.zeros((3, 3)), np.zeros((3, 3)), 1.0)
