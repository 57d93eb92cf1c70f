"""A cluster of two worker processes, and clouds to register on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clipperplus.synthetic import building_scans

pytest.importorskip("distributed", reason="clusters need Dask")

from clipperplus.pairs.clients import started


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with started(2) as connection:
        yield connection.client


@pytest.fixture(scope="session")
def clouds() -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    return list(building_scans(scans=6, resolution=120).clouds)


@pytest.fixture(scope="session")
def files(clouds: list[np.ndarray[Any, np.dtype[np.float64]]], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("scans")
    for number, cloud in enumerate(clouds):
        np.save(folder / f"scan{number}.npy", cloud)
    return [folder / f"scan{number}.npy" for number in range(len(clouds))]
