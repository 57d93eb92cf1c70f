"""Errors cross processes: all of the package are found here, pickled and copied."""

from __future__ import annotations

import copyreg
import functools
import importlib
import inspect
import multiprocessing
import pkgutil
import types
import typing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest
from copies import COPIES, assert_same, name_of, public
from strategies import random_graph

import clipperplus as cp


@functools.cache
def errors() -> tuple[type[BaseException], ...]:
    """Return every exception that is defined in the package, private ones and those of the core among them."""
    for module in pkgutil.walk_packages(cp.__path__, "clipperplus."):
        if module.name == "clipperplus.__main__":  # which would run
            continue
        try:
            importlib.import_module(module.name)
        except cp.MissingPackageError:
            continue
        except ModuleNotFoundError as error:
            if error.name is None or error.name.startswith("clipperplus"):
                raise
    found, left = set(), [BaseException]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        if kind.__module__.split(".")[0] == "clipperplus":
            found.add(kind)
    return tuple(sorted(found, key=name_of))


def make_error(kind: type[BaseException]) -> BaseException:
    """Return one, made as its constructor wants it."""
    samples: dict[Any, Any] = {
        str: "what went wrong: 7 Äpfel",
        int: 2**40 + 7,
        float: 0.1,
        bool: True,
        bytes: b"\0\xff",
    }
    if not isinstance(kind.__init__, types.FunctionType):
        return kind(samples[str])
    hints = typing.get_type_hints(kind.__init__)
    several, named = [], {}
    for parameter in list(inspect.signature(kind.__init__).parameters.values())[1:]:
        wanted = hints[parameter.name]
        possible = [sample for known, sample in samples.items() if known is wanted or known in typing.get_args(wanted)]
        assert possible, f"{name_of(kind)}: no sample of {wanted} for {parameter.name}"
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = possible[0]
        elif parameter.kind is not parameter.VAR_KEYWORD:
            several.append(possible[0])
    return kind(*several, **named)


def assert_same_error(again: BaseException, error: BaseException) -> None:
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert_same(again.args, error.args)
    assert_same(vars(again), vars(error))


def test_errors_are_found_wherever_they_are() -> None:
    """Public, private, in a room that nothing imports by itself, and compiled."""
    names = [name_of(kind) for kind in errors()]
    assert {name_of(kind) for kind in public() if issubclass(kind, BaseException)} < set(names)
    for name in ("pairs.store.StoreFullError", "pairs.recipes.TooLongError", "_core.InvalidGraph"):
        assert f"clipperplus.{name}" in names


@pytest.fixture(params=["plain", "Dask"])
def pickler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors are pickled as they say themselves, and as Dask does it, which helps those that cannot, once imported."""
    theirs = pytest.importorskip("tblib.pickling_support") if request.param == "Dask" else None
    for kind in errors():
        monkeypatch.setitem(copyreg.dispatch_table, kind, getattr(theirs, "pickle_exception", None))
        if theirs is None:
            del copyreg.dispatch_table[kind]


@pytest.mark.usefixtures("pickler")
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", errors(), ids=name_of)
def test_errors_survive_being_copied(kind: type[BaseException], way: str) -> None:
    error = make_error(kind)
    assert "what went wrong: 7 Äpfel" in str(error)
    assert_same_error(COPIES[way](error), error)


@pytest.mark.usefixtures("pickler")
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", errors(), ids=name_of)
def test_errors_keep_what_was_added_to_them(kind: type[BaseException], way: str) -> None:
    """As ``add_note`` does it, from Python 3.11 on."""
    error = make_error(kind)
    vars(error)["__notes__"] = ["while a test was running"]
    assert_same_error(COPIES[way](error), error)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[ProcessPoolExecutor]:
    """A process that shares nothing with this one."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


TOO_LARGE: dict[str, Any] = {"graph": random_graph(100, 0.5, 0), "memory_limit": 1000}
"""What a search refuses."""


def refused_here() -> cp.MemoryLimitError:
    with pytest.raises(cp.MemoryLimitError) as refused:
        cp.find_clique(**TOO_LARGE)
    assert refused.value.needed > 1000
    return refused.value


def test_an_error_in_a_worker_of_a_pool_arrives() -> None:
    """One that cannot be unpickled here would be waited for without end."""
    with (
        multiprocessing.get_context("spawn").Pool(1) as pool,
        pytest.raises(cp.MemoryLimitError, match="1000 are allowed") as refused,
    ):
        pool.apply_async(cp.find_clique, kwds=TOO_LARGE).get(timeout=60)
    assert_same_error(refused.value, refused_here())


def test_an_error_in_a_worker_of_an_executor_arrives(elsewhere: ProcessPoolExecutor) -> None:
    """One that cannot be unpickled here would break the pool."""
    with pytest.raises(cp.MemoryLimitError, match="1000 are allowed") as refused:
        elsewhere.submit(cp.find_clique, **TOO_LARGE).result(timeout=60)
    assert_same_error(refused.value, refused_here())
    assert elsewhere.submit(cp.clique_number, TOO_LARGE["graph"]).result(timeout=60) > 0  # and it still works
