"""Results kept in a file: there whatever happens to processes, of one version, of any plain type."""

from __future__ import annotations

import dataclasses
import itertools
import math
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pair_stores import KEY, RESULT, found, key

import clipperplus as cp
from clipperplus.pairs import store as stores
from clipperplus.pairs.store import Key, PairStore, StoreFullError

PREAMBLE = (
    "import os, signal, sys\nfrom clipperplus.pairs.store import Key, PairStore\nstore = PairStore(sys.argv[1])\n"
)


def started(code: str, path: Path, *arguments: object) -> subprocess.Popen[str]:
    """Begin code in another process, where ``store`` is an open file of results."""
    command = [sys.executable, "-c", PREAMBLE + code, str(path), *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    for line in process.stdout:
        yield line.strip()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pairs.sqlite"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PairStore]:
    with PairStore(tmp_path_factory.mktemp("stores") / "pairs.sqlite") as opened:
        yield opened


def test_what_is_put_is_there_and_there_again_when_the_file_is_opened_again(path: Path) -> None:
    with PairStore(path) as store:
        assert store.get(KEY) is None
        store.put([(KEY, RESULT), (key(1), {})])
        assert store.get(KEY) == RESULT
        assert store.get(key(1)) == {}
    assert found(path, [KEY, key(1), key(2)]) == [RESULT, {}, None]
    assert found(path.with_name("pairs.sqlite"), [KEY]) == [RESULT]
    assert [other.name for other in path.parent.iterdir()] == [path.name]  # one file, and nothing beside it
    with PairStore(str(path)) as store:
        assert store.get(KEY) == RESULT


def test_each_part_of_a_key_counts(path: Path) -> None:
    parts = list(itertools.product("ab", "ab", "ab"))
    with PairStore(path) as store:
        store.put((Key(*part), {"is": "".join(part)}) for part in parts)
        assert [store.get(Key(*part)) for part in parts] == [{"is": "".join(part)} for part in parts]
        for other in (("A", "a", "a"), ("a ", "a", "a"), ("", "a", "a"), ("a%", "a", "a"), ("a", "a", "a' OR '1")):
            assert store.get(Key(*other)) is None


def test_what_is_put_again_takes_the_place_of_the_first(path: Path) -> None:
    with PairStore(path) as store:
        store.put([(KEY, {"is": 1})])
        store.put([(KEY, {"is": 2}), (key(0), {"is": 3}), (key(0), {"is": 4})])
    assert found(path, [KEY, key(0)]) == [{"is": 2}, {"is": 4}]


def test_all_of_what_is_put_at_once_is_there_or_none(path: Path) -> None:
    def results() -> Iterator[tuple[Key, dict[str, Any]]]:
        yield key(0), {}
        raise ZeroDivisionError

    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
        with pytest.raises(ZeroDivisionError):
            store.put(results())
        with pytest.raises(TypeError, match="JSON"):
            store.put([(key(0), {}), (KEY, {"is": object()})])
        with pytest.raises(StoreFullError):
            store.put([(key(0), {}), (Key("a", "b", object()), {})])  # type: ignore[arg-type]
        store.put([])
        assert store.get(key(0)) is None
        assert store.get(KEY) == RESULT
        store.put([(key(1), {})])
    assert found(path, [KEY, key(0), key(1)]) == [RESULT, None, {}]


def test_two_stores_of_one_file_see_what_the_other_put(path: Path) -> None:
    with PairStore(path) as one, PairStore(path) as other:
        for number in range(5):
            one.put([(key(number), {"is": number})])
            assert other.get(key(number)) == {"is": number}
            other.put([(key(-number), {"is": -number})])
            assert one.get(key(-number)) == {"is": -number}


def test_what_was_put_is_there_after_the_process_was_killed(path: Path) -> None:
    code = "store.put([(Key('a', 'b', 'c'), {'is': 1})])\nos.kill(os.getpid(), signal.SIGKILL)\n"
    with started(code, path) as process:
        assert process.wait(60) == -signal.SIGKILL
    assert found(path, [Key("a", "b", "c")]) == [{"is": 1}]


def test_whatever_was_put_before_a_process_is_killed_is_there(path: Path) -> None:
    code = (
        "for number in range(10**9):\n"
        "    store.put([(Key(f'source {number}', f'target {number}', 'count'), {'is': number, 'text': 'x' * 5000})])\n"
        "    print(number, flush=True)\n"
    )
    with started(code, path) as process:
        said = [int(line) for line in itertools.islice(lines(process), 300)]
        process.kill()
        said += [int(line) for line in lines(process)]
    assert process.returncode == -signal.SIGKILL
    assert said == list(range(len(said)))
    assert found(path, map(key, said)) == [{"is": number, "text": "x" * 5000} for number in said]


def test_of_what_was_being_put_when_a_process_was_killed_there_is_nothing(path: Path) -> None:
    code = (
        "store.put([(Key('a', 'b', 'c'), {'is': 1})])\n"
        "store._database.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), 20_000)\n"
        "store.put((Key(f'source {number}', f'target {number}', 'count'), {}) for number in range(100_000))\n"
    )
    with started(code, path) as process:
        assert process.wait(60) == -signal.SIGKILL
    assert found(path, [Key("a", "b", "c"), *map(key, range(100_000))]) == [{"is": 1}] + [None] * 100_000
    with PairStore(path) as store:
        store.put([(key(0), {"is": 2})])
        assert store.get(key(0)) == {"is": 2}


def test_two_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    """Each puts 400 results, some at a time; 100 of the keys are the same."""
    code = (
        "me = int(sys.argv[2])\n"
        "numbers = list(range(300 * me, 300 * me + 400))\n"
        "print('ready', flush=True)\n"
        "input()\n"
        "while numbers:\n"
        "    some, numbers = numbers[: len(numbers) % 4 + 1], numbers[len(numbers) % 4 + 1 :]\n"
        "    results = [{'by': me, 'is': number, 'text': 'x' * (number % 500)} for number in some]\n"
        "    store.put((Key(f'source {n}', f'target {n}', 'count'), result) for n, result in zip(some, results))\n"
        "    assert all(store.get(Key(f'source {n}', f'target {n}', 'count'))['is'] == n for n in some)\n"
        "store.close()\n"
    )
    PairStore(path).close()
    with started(code, path, 0) as one, started(code, path, 1) as other:
        for process in (one, other):
            assert next(lines(process)) == "ready"
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [one.wait(60), other.wait(60)] == [0, 0]
    for number, result in enumerate(found(path, map(key, range(700)))):
        assert result is not None, number
        assert result["by"] in ((0,) if number < 300 else (1,) if number >= 400 else (0, 1))
        assert result == {"by": result["by"], "is": number, "text": "x" * (number % 500)}


def test_a_file_that_several_make_at_once_is_made_once(tmp_path: Path) -> None:
    """Threads do, each with a store of its own: locks of SQLite are between them as between processes."""
    together = threading.Barrier(8)

    def work(me: int) -> list[str]:
        errors = []
        for number in range(100):
            together.wait(60.0)
            try:
                with PairStore(tmp_path / f"{number}.sqlite") as store:
                    store.put([(key(me), {"is": me})])
            except (cp.FileFormatError, StoreFullError) as error:
                errors.append(str(error))
        return errors

    with ThreadPoolExecutor(8) as pool:
        assert [error for errors in pool.map(work, range(8)) for error in errors] == []
    for number in range(100):
        assert found(tmp_path / f"{number}.sqlite", map(key, range(8))) == [{"is": me} for me in range(8)]


def test_threads_may_share_a_store(path: Path) -> None:
    with PairStore(path) as store:

        def work(me: int) -> None:
            for number in range(50):
                store.put([(key((me, number)), {"is": [me, number]}), (key(number), {"is": number})])
                assert store.get(key((me, number))) == {"is": [me, number]}
                assert store.get(key(number)) == {"is": number}
                assert store.get(key("nothing")) is None

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
    expected = list(itertools.product(range(8), range(50)))
    assert found(path, map(key, expected)) == [{"is": list(pair)} for pair in expected]


def test_another_version_does_not_get_the_results_of_this_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with PairStore(path) as store:
        store.put([(KEY, {"by": "this"})])
    info = cp.core_info()
    with monkeypatch.context() as patch:
        patch.setattr(stores, "core_info", lambda: dataclasses.replace(info, version=f"{info.version}.1"))
        with PairStore(path) as store:
            assert store.get(KEY) is None
            store.put([(KEY, {"by": "another"}), (key(1), {"by": "another"})])
        assert found(path, [KEY, key(1)]) == [{"by": "another"}] * 2
    assert found(path, [KEY, key(1)]) == [{"by": "this"}, None]


def bits(number: float) -> bytes:
    return struct.pack("<d", number)


@given(numbers=st.lists(st.floats(allow_nan=False)))
@example(
    numbers=[math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.2250738585072011e-308, 1.7976931348623157e308]
)
def test_floats_come_back_bit_for_bit(store: PairStore, numbers: list[float]) -> None:
    store.put([(KEY, {"numbers": numbers, "each": {repr(number): number for number in numbers}})])
    result = store.get(KEY)
    assert result is not None
    assert [bits(number) for number in result["numbers"]] == [bits(number) for number in numbers]
    assert {name: bits(number) for name, number in result["each"].items()} == {
        repr(number): bits(number) for number in numbers
    }


@given(number=st.floats().filter(math.isnan))
def test_what_is_not_a_number_is_none_afterwards(store: PairStore, number: float) -> None:
    store.put([(KEY, {"is": number})])
    result = store.get(KEY)
    assert result is not None
    assert type(result["is"]) is float
    assert math.isnan(result["is"])


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(parts=st.tuples(TEXT, TEXT, TEXT), result=st.dictionaries(st.text(), PLAIN))
def test_whatever_plain_types_are_put_come_back(
    store: PairStore, parts: tuple[str, str, str], result: dict[str, Any]
) -> None:
    store.put([(Key(*parts), result)])
    assert store.get(Key(*parts)) == result
