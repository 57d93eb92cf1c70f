"""Stores of results and what may be wrong with their files: others' are not harmed, and nothing in one is executed."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pair_stores import KEY, RESULT, contents, files_of_at_most, found, key

import clipperplus as cp
from clipperplus.pairs import store as stores
from clipperplus.pairs.store import PairStore, StoreFullError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pairs.sqlite"


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


@pytest.mark.skipif(sys.platform == "win32", reason="limits on files are those of POSIX")
@pytest.mark.parametrize("size", [0, 4 << 10, 16 << 10])
def test_a_file_that_cannot_be_made_leaves_nothing(path: Path, size: int) -> None:
    with files_of_at_most(size), pytest.raises(cp.FileFormatError, match="cannot be used to keep results"):
        PairStore(path)
    assert list(path.parent.iterdir()) == []
    with PairStore(path) as store:
        store.put([(KEY, RESULT)])
    with files_of_at_most(size), pytest.raises(cp.FileFormatError, match="cannot be used to keep results"):
        PairStore(path)
    assert found(path, [KEY]) == [RESULT]  # what was there stays
    path.write_bytes(b"")
    with files_of_at_most(size), pytest.raises(cp.FileFormatError, match="cannot be used to keep results"):
        PairStore(path)
    assert path.exists()


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
    """A trigger of a file from elsewhere that loads a library: the file is refused."""
    make_store(path, "CREATE TRIGGER harm AFTER INSERT ON results BEGIN SELECT load_extension('harm'); END")
    with pytest.raises(cp.FileFormatError, match=f"{re.escape(str(path))}: expected results and nothing else"):
        PairStore(path)


ENDLESS = "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n) SELECT k FROM n WHERE k < 0"


@pytest.mark.parametrize(
    "changes",
    [
        (
            "DROP TABLE results",
            f"CREATE VIEW results AS SELECT k AS source, k AS target, k AS task, k AS version, k AS result "
            f"FROM ({ENDLESS})",
        ),
        (
            "DROP TABLE results",
            "CREATE TABLE results (source, target, task, version, result AS (zeroblob(1000000000)))",
        ),
        ("CREATE TABLE another (a)",),
        ("CREATE INDEX slow ON results (result)",),
    ],
)
def test_a_file_that_would_be_run_when_it_is_read_is_refused(path: Path, changes: tuple[str, ...]) -> None:
    make_store(path, *changes)
    with pytest.raises(cp.FileFormatError, match=f"{re.escape(str(path))}: expected results and nothing else"):
        PairStore(path)


def test_a_file_whose_tables_are_no_text_is_refused(path: Path) -> None:
    make_store(path)
    path.write_bytes(path.read_bytes().replace(b"target TEXT", b"target \xb7EXT"))
    with pytest.raises(cp.FileFormatError, match=re.escape(str(path))):
        PairStore(path)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE", b"CREATE\xb7TABLE"[:12]))
    with pytest.raises(cp.FileFormatError, match=re.escape(str(path))):
        PairStore(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_in_place_of_a_file_is_refused_at_once(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(cp.FileFormatError, match="expected a regular file, this is a pipe"):
        PairStore(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.timeout(20)
@pytest.mark.parametrize("ending", ["wal", "shm", "journal"])
def test_a_pipe_in_place_of_a_file_beside_one_is_refused_at_once(path: Path, ending: str) -> None:
    make_store(path)
    os.mkfifo(f"{path}-{ending}")
    with pytest.raises(cp.FileFormatError, match=f"{ending}: expected a regular file, this is a pipe"):
        PairStore(path)


def journal_of(path: Path, another: Path) -> bytes:
    """Return a journal of SQLite that changes nothing in a database, and says that it goes with another file."""
    page, size, magic = 4096, path.stat().st_size, bytes.fromhex("d9d505f920a163d7")
    first, name = path.read_bytes()[:page], os.fsencode(another)
    header = (magic + struct.pack(">5I", 1, 0, size // page, 512, page)).ljust(512, b"\0")
    record = struct.pack(">I", 1) + first + struct.pack(">I", sum(first[page - 200 : 0 : -200]))
    ending = struct.pack(">2I", len(name), sum(byte - 256 * (byte > 127) for byte in name) % 2**32)
    return header + record + struct.pack(">I", 0x40000000 // page + 1) + name + ending + magic


def test_a_journal_that_has_another_file_removed_is_refused(path: Path, tmp_path: Path) -> None:
    """SQLite takes both for what is left of one change of several databases."""
    (tmp_path / "mine").write_text("mine")
    make_store(path, "PRAGMA journal_mode = DELETE")
    journal = Path(f"{path}-journal")
    journal.write_bytes(journal_of(path, tmp_path / "mine"))
    with pytest.raises(cp.FileFormatError, match=re.escape(f"{journal}: names another file")):
        PairStore(path)
    assert (tmp_path / "mine").read_text() == "mine"
    journal.write_bytes(journal.read_bytes()[: -len("mine")])  # of one that names none, what it says is undone
    assert found(path, [KEY]) == [RESULT]
    assert not journal.exists()
