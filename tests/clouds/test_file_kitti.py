"""Scans of KITTI as point clouds, and files of other numbers, which are no scans of KITTI."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clipperplus as cp

POINTS = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.0]])
SCAN = np.random.default_rng(7).normal(scale=20.0, size=(400, 5)).round(3)
SCAN[:, 4] = np.arange(400) % 32


def read(folder: Path, content: bytes, name: str = "a.bin") -> cp.Cloud:
    path = folder / name
    path.write_bytes(content)
    return cp.read_cloud(path)


def test_scans_of_kitti_come_back_without_their_intensity(tmp_path: Path) -> None:
    content = struct.pack("<12f", 1, 2, 3, 0.5, -4, 5, 6, 0.25, float("nan"), 8, 9, 0)
    cloud = read(tmp_path, content, "000000.bin")
    assert np.array_equal(cloud.points, POINTS)
    assert cloud.dropped == 1


@pytest.mark.parametrize("size", [0, 1, 12, 47])
def test_scans_of_kitti_of_another_size_are_refused(tmp_path: Path, size: int) -> None:
    with pytest.raises(cp.FileFormatError, match=f"byte {size}: expected records of 16 bytes, the file has {size}"):
        read(tmp_path, bytes(size))


def packed(array: Any, kind: str = "<f4") -> bytes:
    return np.asarray(array).astype(kind).tobytes()


def test_files_of_nuscenes_have_five_floats_per_point(tmp_path: Path) -> None:
    with pytest.raises(
        cp.FileFormatError, match=r"byte 0: expected four floats per point, files of this name.* five: "
    ):
        read(tmp_path, packed(SCAN), "LIDAR_TOP__15.PCD.bin")
    with pytest.raises(cp.FileFormatError, match=r"byte 0: .* every fifth number is a small integer: .* five: take"):
        read(tmp_path, packed(SCAN))


@pytest.mark.parametrize(
    "scan", [SCAN[:, :4], SCAN[:, [0, 1, 2, 4]], np.zeros((400, 4)), np.ones((400, 4)), SCAN[:4, :4]]
)
def test_scans_of_four_floats_are_not_taken_for_them(tmp_path: Path, scan: Any) -> None:
    assert np.array_equal(read(tmp_path, packed(scan)).points, scan[:, :3].astype("f4"))


@pytest.mark.parametrize("kind", ["<f8", "<i4", "<i2", ">f4", "u1"])
def test_other_numbers_are_no_scan(tmp_path: Path, kind: str) -> None:
    with pytest.raises(
        cp.FileFormatError, match=r"byte \d+: expected points of four floats, .* in \d+ of \d+, the first \["
    ):
        read(tmp_path, packed(np.abs(SCAN[:, :4]), kind))


def test_a_few_strange_points_hinder_nothing(tmp_path: Path) -> None:
    scan = SCAN[:, :4].copy()
    scan[:4, 0] = 1e30, 1e-40, np.nan, np.inf
    scan[4:, 1] = 5_334_760.0  # as easting and northing are
    cloud = read(tmp_path, packed(np.vstack([scan, scan[4:]])))
    assert cloud.dropped == 2
    assert len(cloud.points) == 794
