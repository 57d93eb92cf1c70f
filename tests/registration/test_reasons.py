"""Every answer that is not to be trusted says why; what is to be trusted says nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from motions import move, planted, random_motion

import clipperplus as cp
from clipperplus import Evidence, Status
from clipperplus.registration import description
from clipperplus.registration.reasons import Case, Rival, find_reasons

MATCHES = Evidence(associations=60, explained=30, runner_up=0.1)
CLOUDS = Evidence(
    associations=500,
    explained=200,
    runner_up=0.2,
    overlap=0.7,
    against=0.01,
    detail=0.5,
    residual=0.1,
    conflict=0.001,
    points=5000,
)


def case(status: Status = Status.UNCERTAIN, evidence: Evidence = MATCHES, **about: Any) -> Case:
    usual: dict[str, Any] = {
        "confidence": evidence.confidence(),
        "min_confidence": 0.5,
        "prior": 0.5,
        "agreeing": 30,
        "points": (100, 100),
        "rivals": (),
        "undetermined": (),
    }
    return Case(status=status, evidence=evidence, **(usual | about))


def kinds(of: Case) -> list[str]:
    return [reason.kind for reason in find_reasons(of)]


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (case(points=(0, 100)), "no points"),
        (case(Status.TOO_FEW_INLIERS, agreeing=2), "too few inliers"),
        (case(Status.MIRRORED, replace(MATCHES, mirrored=True)), "mirrored"),
        (case(Status.DEGENERATE, undetermined=("shift along (1.00, 0.00, 0.00)",)), "degenerate"),
        (case(Status.AMBIGUOUS), "rival"),
        (case(Status.AMBIGUOUS, CLOUDS, rivals=(Rival(180.0, 0.1, 0.95),)), "symmetric"),
        (case(Status.AMBIGUOUS, CLOUDS, rivals=(Rival(0.3, 4.0, 0.95),)), "repetition"),
        (case(evidence=replace(MATCHES, scale=1.05, scale_deviation=0.001, scale_gain=2.0)), "scaled"),
        (case(evidence=replace(MATCHES, chance=2.0)), "chance"),
        (case(evidence=replace(CLOUDS, noise=True)), "noise"),
        (case(evidence=replace(CLOUDS, sensor_pattern=True)), "sensor pattern"),
        (case(), "low confidence"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_kind_is_said_when_it_holds_and_not_when_the_answer_is_trusted(judged: Case, expected: str) -> None:
    (reason,) = [reason for reason in find_reasons(judged) if reason.kind == expected]
    assert reason.text
    assert reason.help
    assert json.loads(json.dumps(reason.to_dict())) == reason.to_dict()
    assert set(reason.to_dict()) == {"kind", "text", "help", "numbers"}
    assert all(type(number) is float for number in reason.numbers.values())
    assert find_reasons(replace(judged, status=Status.OK)) == ()


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OK])
def test_no_doubt_is_without_a_reason(status: Status) -> None:
    evidence = replace(MATCHES, mirrored=True) if status is Status.MIRRORED else MATCHES
    assert kinds(case(status, evidence))
    assert kinds(case(status, replace(CLOUDS, mirrored=evidence.mirrored)))


@pytest.mark.parametrize(
    ("worse", "named"),
    [
        ({"rivalry": 0.6}, "explains the scans 60% as well"),
        ({"runner_up": 0.89}, "has 0.89 of its score"),
        ({"detail": 0.004}, "of what is bent"),
        ({"residual": 0.8}, "0.80 voxels apart"),
        ({"conflict": 0.2}, "20.0% of the points"),
        ({"undetermined": 2}, "2 directions"),
        ({"points": 40}, "only 40 points"),
    ],
)
def test_a_low_confidence_names_what_weighs_most_against_it(worse: dict[str, Any], named: str) -> None:
    (reason,) = find_reasons(case(evidence=replace(CLOUDS, **worse)))
    assert named in reason.text
    assert reason.numbers[next(iter(worse))] == next(iter(worse.values()))


def test_a_prior_that_weighs_most_is_named() -> None:
    (reason,) = find_reasons(case(evidence=CLOUDS, prior=1e-9, confidence=CLOUDS.confidence(1e-9)))
    assert "a prior of 1e-09" in reason.text


@pytest.mark.parametrize("evidence", [MATCHES, replace(MATCHES, explained=6), CLOUDS, replace(CLOUDS, detail=0.05)])
@pytest.mark.parametrize("prior", [1e-6, 0.1, 0.5, 0.7])
def test_the_prior_weighs_different_places_and_nothing_else(evidence: Evidence, prior: float) -> None:
    """One over the confidence is one, the odds of a wrong answer, and those of different places times the prior's."""

    def doubt(prior: float) -> float:
        return 1.0 / evidence.confidence(prior) - 1.0

    wrong = doubt(1.0 - 1e-12)
    elsewhere = doubt(0.5) - wrong
    assert elsewhere > 0.0
    assert doubt(prior) == pytest.approx(wrong + elsewhere * (1.0 - prior) / prior, rel=1e-6)
    assert wrong > 0.0


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, 2.0, math.nan, "half", True])
def test_priors_that_leave_nothing_open_are_refused(prior: Any) -> None:
    points = np.eye(3)
    refused = pytest.raises(cp.OptionError, match="prior: expected a number")
    with refused:
        cp.register(points, points, prior=prior)
    with refused:
        cp.solve(points, points, prior=prior)
    with refused:
        cp.verify(points, points, np.eye(4), prior=prior)


def test_a_low_prior_makes_answers_uncertain_and_is_kept() -> None:
    source, target, _ = planted(10, 30, seed=1)
    usual = cp.solve(source, target, epsilon=0.02)
    assert (usual.status, usual.prior, usual.reasons) == (Status.OK, 0.5, ())
    doubted = cp.solve(source, target, epsilon=0.02, prior=1e-12)
    assert doubted.status is Status.UNCERTAIN
    assert doubted.prior == doubted.to_dict()["prior"] == 1e-12
    assert [reason.kind for reason in doubted.reasons] == ["low confidence"]
    assert doubted.to_dict()["reasons"] == [reason.to_dict() for reason in doubted.reasons]


def test_the_verdict_and_the_lines_below_it_are_the_reasons() -> None:
    random = np.random.default_rng(3)
    source = random.uniform(-1.0, 1.0, (80, 3))
    motions = random_motion(1), random_motion(2)
    target = np.concatenate([move(m, half) for m, half in zip(motions, np.split(source, 2), strict=True)])
    pose = cp.solve(source, target, epsilon=0.02)
    (reason,) = pose.reasons
    assert reason.kind == "rival"
    turn = float(cp.rotation_error(*motions))
    assert reason.numbers["turn"] == pytest.approx(turn, abs=1.0)
    middles = [move(motion, source.mean(axis=0)) for motion in motions]
    assert reason.numbers["shift"] == pytest.approx(np.linalg.norm(middles[0] - middles[1]), abs=0.05)
    assert description.verdict(pose) == f"do not trust it; {reason.text}"
    assert description.doubts(pose) == [("what helps", reason.help)]
    without = cp.solve(source, target, epsilon=0.02, max_alternatives=0)
    assert [reason.kind for reason in without.reasons] == ["rival"]


def test_what_was_verified_has_reasons_too() -> None:
    scans = cp.synthetic.room_scans(resolution=64, frames=2)
    wrong = scans.T_target_source.copy()
    wrong[:3, 3] += 1.0
    right, off = cp.verify(scans.source, scans.target, [scans.T_target_source, wrong], voxel_size=0.15)
    assert right.reasons == ()
    assert off.status is not Status.OK
    assert off.reasons
    assert off.to_dict()["reasons"] == [reason.to_dict() for reason in off.reasons]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e-80, 1e80])
def test_reasons_can_be_told_at_any_scale(scale: float) -> None:
    line = np.outer(np.arange(20.0), [1.0, 2.0, 2.0]) * scale
    pose = cp.solve(line, line, epsilon=0.1 * scale)
    assert pose.status is Status.DEGENERATE
    assert pose.reasons[0].text == "the scans do not determine rotation about (0.33, 0.67, 0.67)"
