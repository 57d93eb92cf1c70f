"""Results kept in a file: there whatever happens to processes, of one version, and no other file is harmed."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import json
import math
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import clipperplus as cp
from clipperplus.pairs import store as stores
from clipperplus.pairs.store import Key, PairStore, StoreFullError

KEY = Key("content of one cloud", "content of another", 'register {"voxel_size": 0.2}')
RESULT: dict[str, Any] = {"status": "ok", "confidence": 0.1 + 0.2, "reasons": ["ü 雪 \N{SNOWMAN}", ""], "overlap": None}
PREAMBLE = (
    "import os, signal, sys\nfrom clipperplus.pairs.store import Key, PairStore\nstore = PairStore(sys.argv[1])\n"
)


def key(number: object) -> Key:
    return Key(f"source {number}", f"target {number}", "count")


def found(path: Path, keys: Iterable[Key]) -> list[dict[str, Any] | None]:
    with PairStore(path) as store:
        return [store.get(one) for one in keys]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


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


def make_database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


def make_store(path: Path, *statements: str) -> None:
    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
    make_database(path, *statements)


TABLE = ("CREATE TABLE mine (a, b)", "INSERT INTO mine VALUES (1, 2)")
OTHERS: dict[str, Callable[[Path], object]] = {
    "an older format": lambda path: make_store(path, "PRAGMA user_version = 1"),
    "a newer format": lambda path: make_store(path, "PRAGMA user_version = 3"),
    "no format": lambda path: make_store(path, "PRAGMA user_version = 0"),
    "another application": lambda path: make_database(path, *TABLE, "PRAGMA application_id = 1196444487"),
    "another application of the same table": lambda path: make_store(path, "PRAGMA application_id = 1"),
    "no application": lambda path: make_database(path, *TABLE),
    "an application without tables": lambda path: make_database(path, "PRAGMA application_id = 7"),
    "a version without tables": lambda path: make_database(path, "PRAGMA user_version = 2"),
    "a database with a log": lambda path: make_database(path, "PRAGMA journal_mode = WAL", *TABLE),
    "one letter": lambda path: path.write_bytes(b"x"),
    "text": lambda path: path.write_bytes(b"a,b\n"),
    "a long text": lambda path: path.write_bytes(b"source,target\na.ply,b.ply\n" * 1000),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "all bytes": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "the beginning of a database": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "a beginning and then text": lambda path: path.write_bytes(b"SQLite format 3\0" + b"and so on" * 1000),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS.keys())
def test_a_file_of_something_else_is_refused_and_left_as_it_is(path: Path, make: Callable[[Path], object]) -> None:
    make(path)
    before = contents(path.parent)
    for _ in range(2):
        with pytest.raises(cp.FileFormatError, match=f"^{re.escape(str(path))}: "):
            PairStore(path)
        assert contents(path.parent) == before


def test_what_another_format_holds_is_said(path: Path) -> None:
    make_store(path, "PRAGMA user_version = 77")
    with pytest.raises(cp.FileFormatError, match=r"format 77, expected \d+: remove it"):
        PairStore(path)


def test_a_log_that_another_application_left_is_not_lost(path: Path) -> None:
    """It was killed: part of what it wrote is in a file beside its database."""
    code = (
        "import os, sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1])\n"
        "database.execute('PRAGMA journal_mode = WAL')\n"
        "with database: database.execute('CREATE TABLE mine (a)')\n"
        "with database: database.executemany('INSERT INTO mine VALUES (?)', [(k,) for k in range(100)])\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60)
    with pytest.raises(cp.FileFormatError, match=re.escape(str(path))):
        PairStore(path)
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*), sum(a) FROM mine").fetchone() == (100, 4950)


def test_an_empty_file_is_taken_for_a_new_one(path: Path) -> None:
    """Nothing is lost, and it may be one that another process has begun, or was killed before it wrote to."""
    path.write_bytes(b"")
    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
    assert found(path, [KEY]) == [RESULT]


def test_a_folder_in_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    with pytest.raises(cp.FileFormatError, match=f"^{re.escape(str(tmp_path))}: "):
        PairStore(tmp_path)
    assert contents(tmp_path) == {"mine": b"mine"}


def test_a_folder_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    for name in ("none", "file"):
        with pytest.raises(cp.FileFormatError, match=f"^{re.escape(str(tmp_path / name / 'pairs.sqlite'))}: "):
            PairStore(tmp_path / name / "pairs.sqlite")
    assert contents(tmp_path) == {"file": b"mine"}
    assert not (tmp_path / "none").exists()


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Yield a folder that every user may look into."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_may_not_be_written_to_is_said(public_folder: Path) -> None:
    """Another user tries, if this one may write everywhere."""
    old, new = public_folder / "old.sqlite", public_folder / "new.sqlite"
    make_store(old)
    before = contents(public_folder)
    old.chmod(0o444)
    public_folder.chmod(0o555)
    code = (
        "import json, os, sys, clipperplus as cp\n"
        "from clipperplus.pairs.store import PairStore\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "said = [len(open(sys.argv[1], 'rb').read())]\n"
        "for path in sys.argv[1:]:\n"
        "    try: PairStore(path)\n"
        "    except cp.FileFormatError as error: said.append(str(error))\n"
        "print(json.dumps(said))\n"
    )
    command = [sys.executable, "-c", code, str(old), str(new)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    size, *errors = json.loads(done.stdout)
    assert size == len(before["old.sqlite"])  # it could be read
    assert [error.split(": ")[0] for error in errors] == [str(old), str(new)]
    assert contents(public_folder) == before
    public_folder.chmod(0o755)
    assert found(old, [KEY]) == [RESULT]


DAMAGES = {
    "nothing": "''",
    "null": "NULL",
    "half": "substr(result, 1, length(result) / 2)",
    "more": "result || '}'",
    "a number": "5",
    "a number in text": "'5'",
    "a list": "'[1]'",
    "JSON's null": "'null'",
    "bytes": "x'ff00ff'",
    "text that is no UTF-8": "CAST(x'7b22ff' AS TEXT)",
    "text with NUL": "CAST(x'7b7d00' AS TEXT)",
    "brackets": "'{\"is\":' || replace(hex(zeroblob(100000)), '0', '[')",
    "digits": "'{\"is\":' || replace(hex(zeroblob(10000)), '0', '7') || '}'",
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_row_is_not_there_and_may_be_put_again(path: Path, damage: str) -> None:
    with PairStore(path) as store:
        store.put([(KEY, RESULT), (key(1), {"is": 1})])
    make_database(path, f"UPDATE results SET result = {damage} WHERE task = '{KEY.task}'")
    with PairStore(path) as store:
        assert store.get(KEY) is None
        assert store.get(key(1)) == {"is": 1}
        store.put([(KEY, RESULT)])
        assert store.get(KEY) == RESULT


def test_a_damaged_page_is_not_there_or_is_said_with_the_name_of_the_file(path: Path) -> None:
    with PairStore(path) as store:
        store.put((key(number), {"text": "x" * 500}) for number in range(200))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))

    def outcome(number: int) -> str:
        try:
            return str(store.get(key(number)))
        except cp.FileFormatError as error:
            return str(error)

    with PairStore(path) as store:
        for number in range(0, 200, 20):
            assert outcome(number) == "None" or outcome(number).startswith(f"{path}: ")
        with pytest.raises(StoreFullError, match=re.escape(str(path))):
            store.put([(KEY, RESULT)])


def limit_pages(store: PairStore, more: int) -> None:
    (pages,) = store._database.execute("PRAGMA page_count").fetchone()
    store._database.execute(f"PRAGMA max_page_count = {pages + more}").fetchone()


def test_a_full_disk_is_said_and_what_was_there_is_kept(path: Path) -> None:
    large = [(key(number), {"text": "x" * 3000}) for number in range(20)]
    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
        limit_pages(store, 2)
        for _ in range(3):
            with pytest.raises(StoreFullError, match=f"^{re.escape(str(path))}: .*full") as caught:
                store.put(large)
            assert isinstance(caught.value, OSError)
            assert store.get(KEY) == RESULT
            assert [store.get(one) for one, _ in large] == [None] * 20  # all or none
        store.put([(key("small"), {})])  # there is room for this
        limit_pages(store, 1000)
        store.put(large)
        assert [store.get(one) for one, _ in large] == [result for _, result in large]
    assert found(path, [KEY, key("small"), *(one for one, _ in large)]) == [
        RESULT,
        {},
        *(result for _, result in large),
    ]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_system_that_takes_no_more_is_said_and_what_was_there_is_kept(path: Path) -> None:
    large = [(key(number), {"text": "x" * 3000}) for number in range(200)]
    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
        for _ in range(2):
            with pytest.raises(StoreFullError, match=f"^{re.escape(str(path))}: "), files_of_at_most(200_000):
                store.put(large)
            assert store.get(KEY) == RESULT
            assert store.get(key(0)) is None
        store.put(large)
    assert found(path, [KEY, *(one for one, _ in large)]) == [RESULT, *(result for _, result in large)]


def test_a_new_file_for_which_there_is_no_room_is_said(path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match=f"^{re.escape(str(path))}: "), files_of_at_most(1000):
        PairStore(path)
    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
    assert found(path, [KEY]) == [RESULT]


def test_who_waits_too_long_for_another_writer_is_told_and_may_try_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_PATIENCE", 0.2)
    with PairStore(path) as store, closing(sqlite3.connect(path)) as other:
        store.put([(KEY, RESULT)])
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFullError, match="locked"):
            store.put([(key(1), {})])
        assert store.get(KEY) == RESULT  # who reads does not wait
        with pytest.raises(cp.FileFormatError, match="locked"):
            PairStore(path)
        other.rollback()
        store.put([(key(1), {})])
        assert store.get(key(1)) == {}


def test_a_store_that_is_closed_takes_nothing_more(path: Path) -> None:
    with PairStore(path) as store:
        store.close()
    with pytest.raises(StoreFullError, match="closed"):
        store.put([(KEY, RESULT)])
    assert found(path, [KEY]) == [None]


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


def test_nothing_in_a_file_is_ever_executed() -> None:
    tree = ast.parse(Path(stores.__file__).read_text("utf-8"))
    nodes = list(ast.walk(tree))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    parts = {part for module in modules for part in module.split(".")}
    assert "json" in parts
    assert not parts & {
        "pickle",
        "cPickle",
        "_pickle",
        "marshal",
        "shelve",
        "dill",
        "cloudpickle",
        "importlib",
        "runpy",
    }
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert not names & {
        "eval",
        "exec",
        "compile",
        "__import__",
        "loads_pickle",
        "enable_load_extension",
        "load_extension",
    }
    assert "allow_pickle" not in {word.arg for node in nodes if isinstance(node, ast.Call) for word in node.keywords}


def test_a_row_that_is_a_pickle_is_not_there(path: Path, tmp_path: Path) -> None:
    """Opened, it would leave a mark."""
    harm = f"cposix\nsystem\n(Vtouch {tmp_path / 'mark'}\ntR.".encode()
    make_store(path)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE results SET result = ?", (harm,))
    assert found(path, [KEY]) == [None]
    assert not (tmp_path / "mark").exists()


def test_what_a_file_would_have_done_with_results_does_no_harm(path: Path) -> None:
    """A trigger of a file from elsewhere that loads a library: the file or the result is refused."""
    make_store(path, "CREATE TRIGGER harm AFTER INSERT ON results BEGIN SELECT load_extension('harm'); END")
    with PairStore(path) as store:
        with pytest.raises(StoreFullError, match=re.escape(str(path))):
            store.put([(key(1), {})])
        assert store.get(KEY) == RESULT
        assert store.get(key(1)) is None
