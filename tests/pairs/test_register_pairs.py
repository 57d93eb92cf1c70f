"""Many pairs in this process: what ``register`` says of each, kept, and failures that harm no others."""

from __future__ import annotations

import itertools
import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import clipperplus as cp
from clipperplus.clouds.scan import as_scan
from clipperplus.pairs import run as running
from clipperplus.pairs.order import one_after_the_other
from clipperplus.pairs.recipes import Recipe

Clouds = list[npt.NDArray[np.float64]]
VOXEL = 0.2


def said(result: cp.PairResult) -> str:
    """Return all that was computed, to the last bit."""
    about = result.to_dict()
    return json.dumps({name: value for name, value in about.items() if name not in ("seconds", "was_known")})


def by_number(results: Any) -> dict[int, cp.PairResult]:
    found = {result.number: result for result in results}
    assert sorted(found) == list(range(len(found)))
    return found


@pytest.mark.parametrize("voxel_size", [VOXEL, None])
@pytest.mark.parametrize("threads", [1, 2])
def test_each_is_what_register_says_to_the_last_bit(clouds: Clouds, voxel_size: float | None, threads: int) -> None:
    pairs = [(0, 1), (1, 2), (2, 0), (3, 4)]
    found = by_number(cp.register_pairs(pairs, clouds=clouds, voxel_size=voxel_size, threads=threads))
    for number, (source, target) in enumerate(pairs):
        pose = cp.register(clouds[source], clouds[target], voxel_size=voxel_size)
        assert pose.T_target_source is not None
        assert np.array_equal(found[number].T_target_source, pose.T_target_source)
        assert np.array_equal(found[number].covariance, pose.covariance)
        assert found[number].confidence == pose.confidence
        assert found[number].status is pose.status
        assert found[number].evidence == pose.evidence
        assert found[number].voxel_size == pose.voxel_size
        assert len(found[number].alternatives) == len(pose.alternatives)


def test_files_arrays_and_numbers_are_the_same(clouds: Clouds, files: list[Path]) -> None:
    of_numbers = by_number(cp.register_pairs([(0, 1), (1, 2)], clouds=clouds, voxel_size=VOXEL))
    of_arrays = by_number(cp.register_pairs([(clouds[0], clouds[1]), (clouds[1], clouds[2])], voxel_size=VOXEL))
    of_files = by_number(cp.register_pairs([(files[0], files[1]), (files[1], str(files[2]))], voxel_size=VOXEL))
    for number in (0, 1):
        motions = [found[number].T_target_source for found in (of_numbers, of_arrays, of_files)]
        assert np.array_equal(motions[0], motions[1])
        assert np.array_equal(motions[0], motions[2])
    assert of_files[1].source == str(files[1])


def test_no_pair_is_computed_twice(clouds: Clouds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, pairs = tmp_path / "pairs.sqlite", [(0, 1), (1, 2), (0, 1)]
    first = by_number(cp.register_pairs(pairs, clouds=clouds, voxel_size=VOXEL, store=store))
    assert said(first[0]) == said(first[2]).replace('"number": 2', '"number": 0')
    assert not any(result.was_known for result in first.values())

    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(running.Registering, "__call__", never)
    again = by_number(cp.register_pairs(pairs, clouds=clouds[:3], voxel_size=VOXEL, store=store))
    assert [said(again[k]) for k in range(3)] == [said(first[k]) for k in range(3)]
    assert all(result.was_known for result in again.values())


def test_other_options_other_points_or_the_other_way_round_are_other_pairs(clouds: Clouds, tmp_path: Path) -> None:
    store = tmp_path / "pairs.sqlite"
    list(cp.register_pairs([(0, 1)], clouds=clouds, voxel_size=VOXEL, store=store))
    moved = [clouds[0] + 1e-9, *clouds[1:]]
    for pairs, given, options in (
        ([(0, 1)], clouds, {"voxel_size": 0.25}),
        ([(0, 1)], clouds, {"voxel_size": VOXEL, "effort": "low"}),
        ([(1, 0)], clouds, {"voxel_size": VOXEL}),
        ([(0, 1)], moved, {"voxel_size": VOXEL}),
        ([(0, 1, {"min_confidence": 0.9})], clouds, {"voxel_size": VOXEL}),
    ):
        (result,) = cp.register_pairs(pairs, clouds=given, store=store, **options)
        assert not result.was_known
    (same,) = cp.register_pairs([(0, 1, {"voxel_size": VOXEL})], clouds=clouds, store=store, effort="normal")
    assert same.was_known


def test_numbers_of_numpy_are_numbers(clouds: Clouds, tmp_path: Path) -> None:
    options: dict[str, Any] = {"clouds": clouds, "store": tmp_path / "pairs.sqlite"}
    (first,) = cp.register_pairs([(0, 1)], voxel_size=np.float64(VOXEL), matches=np.int64(1), **options)
    (second,) = cp.register_pairs([(np.int64(0), np.uint8(1))], voxel_size=VOXEL, matches=1, **options)
    assert said(first) == said(second)
    assert second.was_known


def test_what_a_scan_is_known_by_tells_points_from_viewpoints_and_normals() -> None:
    points = np.arange(12.0).reshape(4, 3)
    clouds = [
        cp.Cloud(points),
        cp.Cloud(points[:3], viewpoint=points[3]),
        cp.Cloud(points[:2], normals=points[2:]),
        cp.Cloud(points[:2]),
    ]
    assert len({as_scan(cloud, "cloud").content for cloud in clouds}) == 4


def test_a_pair_that_fails_says_why_and_harms_no_others(
    files: list[Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = tmp_path / "damaged.ply"
    damaged.write_bytes(b"ply\nformat ascii 1.0\nelement vertex 3\n")
    missing = tmp_path / "missing.ply"
    pairs = [(files[0], missing), (files[0], files[1]), (damaged, files[1]), (missing, damaged)]
    store = tmp_path / "pairs.sqlite"
    with caplog.at_level(logging.WARNING, "clipperplus"):
        found = by_number(cp.register_pairs(pairs, voxel_size=VOXEL, store=store))
    assert found[1].failure is None
    assert "missing.ply" in (found[0].failure or "")
    assert "damaged.ply" in (found[2].failure or "")
    assert found[3].failure is not None
    for number in (0, 2, 3):
        assert found[number].status is None
        assert found[number].T_target_source is None
    assert f"{damaged} and {files[1]}: " in caplog.text  # logs carry the pair
    np.save(tmp_path / "missing.npy", np.load(files[2]))
    pairs[0] = (files[0], tmp_path / "missing.npy")
    again = by_number(cp.register_pairs(pairs, voxel_size=VOXEL, store=store))
    assert again[0].failure is None
    assert again[1].was_known


def test_files_that_take_too_much_fail_unless_they_may(files: list[Path]) -> None:
    (refused,) = cp.register_pairs([files[:2]], voxel_size=VOXEL, size_limit=1000)
    assert "1000 are allowed, unless size_limit says more" in str(refused.failure)
    (read,) = cp.register_pairs([files[:2]], voxel_size=VOXEL, size_limit=10**7)
    assert read.failure is None


def test_a_file_that_changes_meanwhile_is_not_taken_for_what_it_was(files: list[Path], tmp_path: Path) -> None:
    changing = tmp_path / "changing.npy"
    np.save(changing, np.load(files[0]))

    def change(what: str, done: int, total: int) -> None:
        if what == "looking at clouds" and done == total:
            np.save(changing, np.load(files[3]))

    (found,) = cp.register_pairs([(changing, files[1])], voxel_size=VOXEL, progress=change)
    assert found.failure == f"{changing}: changed since it was looked at"


def test_a_pair_that_takes_too_long_is_given_up(clouds: Clouds) -> None:
    found = list(cp.register_pairs([(0, 1), (1, 2)], clouds=clouds, voxel_size=0.05, pair_time_limit=1e-4))
    assert [result.failure for result in found] == ["took longer than 0.0001 s"] * 2
    recipe = Recipe(as_scan(clouds[0], "cloud"), as_scan(clouds[0], "cloud").content, 0.05, limit=1e-6)
    with pytest.raises(cp.ClipperPlusError, match="took longer than 1e-06 s"):
        recipe.make()
    found = list(cp.register_pairs([(0, 1)], clouds=clouds, voxel_size=VOXEL, pair_time_limit=60.0))
    assert found[0].failure is None


def test_a_full_disk_fails_pairs_and_the_same_call_finishes_them(
    clouds: Clouds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "pairs.sqlite"
    put, calls = running.PairStore.put, list[int]()

    def full_at_first(self: Any, results: Any) -> None:
        calls.append(1)
        if len(calls) == 1:
            raise running.StoreFullError(f"{store}: cannot be written: database or disk is full")
        put(self, results)

    monkeypatch.setattr(running.PairStore, "put", full_at_first)
    found = list(cp.register_pairs([(0, 1), (1, 2)], clouds=clouds, voxel_size=VOXEL, store=store, threads=1))
    assert sorted(result.failure is None for result in found) == [False, True]
    assert "disk is full" in str([result.failure for result in found])
    again = list(cp.register_pairs([(0, 1), (1, 2)], clouds=clouds, voxel_size=VOXEL, store=store, threads=1))
    assert [result.failure for result in again] == [None, None]
    assert sorted(result.was_known for result in again) == [False, True]


def test_clouds_that_do_not_fit_into_the_memory_are_made_again(clouds: Clouds) -> None:
    pairs = list(itertools.combinations(range(6), 2))
    small = by_number(cp.register_pairs(pairs, clouds=clouds, voxel_size=VOXEL, effort="low", memory=1))
    large = by_number(cp.register_pairs(pairs, clouds=clouds, voxel_size=VOXEL, effort="low"))
    assert {k: said(result) for k, result in small.items()} == {k: said(result) for k, result in large.items()}


def test_progress_is_told_and_may_end_it(clouds: Clouds, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    list(cp.register_pairs([(0, 1), (1, 2)], clouds=clouds, voxel_size=VOXEL, progress=lambda *all: told.append(all)))
    assert told[-1] == ("registering pairs", 2, 2)

    class StoppedError(Exception):
        pass

    def stop(what: str, done: int, total: int) -> None:
        if what == "registering pairs":
            raise StoppedError

    with pytest.raises(StoppedError):
        list(cp.register_pairs([(0, 1), (1, 2)], clouds=clouds, voxel_size=VOXEL, progress=stop))


@pytest.mark.parametrize(
    ("pairs", "options", "error", "message"),
    [
        ("a.ply", {}, cp.LandmarkError, "pairs: expected pairs"),
        (3, {}, cp.LandmarkError, "pairs: expected pairs"),
        ([("a.ply",)], {}, cp.LandmarkError, r"pairs\[0\]"),
        (["ab"], {}, cp.LandmarkError, r"pairs\[0\]"),
        ([(0, 1)], {}, cp.LandmarkError, "no clouds"),
        ([(0, 9)], {"clouds": [np.zeros((3, 3))]}, cp.LandmarkError, "9 of 1 clouds"),
        ([(True, 0)], {"clouds": [np.zeros((3, 3))] * 2}, cp.LandmarkError, r"pairs\[0\]"),
        ([(np.zeros((3, 2)), np.zeros((3, 3)))], {}, cp.LandmarkError, r"pairs\[0\]"),
        ([("a", "b", 3)], {}, cp.OptionError, "mapping"),
        ([("a", "b", {"effrt": "low"})], {}, cp.OptionError, "effrt"),
        ([("a", "b", {"effort": "lowest"})], {}, cp.OptionError, "effort"),
        ([], {"effort": "lowest"}, cp.OptionError, "effort"),
        ([], {"callback": print}, cp.OptionError, "callback"),
        ([], {"voxel_size": -1.0}, cp.OptionError, "voxel_size"),
        ([], {"threads": 0}, cp.OptionError, "threads"),
        ([], {"memory": 0}, cp.OptionError, "memory"),
        ([], {"size_limit": -1}, cp.OptionError, "size_limit"),
        ([], {"pair_time_limit": -1.0}, cp.OptionError, "pair_time_limit"),
        ([np.eye(4)], {}, cp.LandmarkError, r"pairs\[0\].*\\n"),
        ([], {"clouds": 3}, cp.LandmarkError, "clouds: expected clouds in a list, got int"),
        ([], {"clouds": np.array(1.0)}, cp.LandmarkError, "clouds: expected clouds in a list"),
        ([], {"store": 3}, cp.OptionError, "store: expected the name of a file, got 3"),
        ([], {"store": b"a"}, cp.OptionError, "store: expected the name of a file, got b'a'"),
        ([], {"store": "a\0"}, cp.OptionError, "store: expected the name of a file"),
        ([], {"client": "tcp://127.0.0.1:8786"}, cp.OptionError, "client: expected a distributed.Client, got 'tcp"),
        ([], {"progress": True}, cp.OptionError, "progress: expected a function, got bool"),
    ],
)
def test_wrong_input_is_refused_at_once(
    pairs: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        cp.register_pairs(pairs, **options)


def test_no_pairs_give_no_results() -> None:
    assert list(cp.register_pairs([])) == []


def made_again(pairs: list[tuple[int, int]], room: int) -> int:
    """Return how often a cloud must be made if there is room for so many."""
    kept: list[int] = []
    made = 0
    for cloud in itertools.chain.from_iterable(pairs):
        made += cloud not in kept
        kept = [*(other for other in kept if other != cloud), cloud][-room:]
    return made


def test_pairs_of_one_cloud_come_soon_after_each_other() -> None:
    pairs = list(itertools.combinations(range(160), 2))
    random = np.random.default_rng(3)
    ordered = one_after_the_other([pairs[k] for k in random.permutation(len(pairs))])
    assert sorted(ordered) == pairs
    assert made_again(ordered, 70) < 0.1 * made_again(pairs, 70)
    chain = [(k, k + 1) for k in range(200)]
    assert made_again(one_after_the_other([chain[k] for k in random.permutation(200)]), 70) == 201
    named = [("b", "a"), ("c", "a"), ("b", "c")]
    assert sorted(one_after_the_other(named)) == sorted(named)
