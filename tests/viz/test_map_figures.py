"""Pictures of maps: what they show is there, to scale, level and straight, whatever the scans are called."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest
from maps import EVIL, SIZE, made, many_scans, nothing_fits, two_rooms

import clipperplus as cp
from clipperplus.geometry.transforms import apply_transform
from clipperplus.synthetic.rooms import T_BODY_CAMERA
from clipperplus.synthetic.scans import pose
from clipperplus.viz import palette
from clipperplus.viz.framing import facing, level_frame
from clipperplus.viz.map_view import frame_of_component, headline, scan_colours, show_scans


def texts(figure: Any) -> str:
    """Return the title of a figure and the text of its legend."""
    named = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return "\n".join([figure.get_suptitle(), *named])


def drawn_points(axes: Any) -> Any:
    return np.asarray(axes.collections[0].get_offsets())


def segments(axes: Any, colour: str) -> int:
    """Return how many lines of a colour there are: each has two ends and a gap."""
    (line,) = [line for line in axes.get_lines() if line.get_color() == colour]
    assert line.get_linestyle() == ("--" if colour == palette.OUTLIER else "-")
    return int(np.isnan(line.get_xdata()).sum())


def test_a_component_is_drawn_from_above_and_from_the_side_with_its_pairs(tmp_path: Path) -> None:
    figure = two_rooms().plot(tmp_path / "map.png")
    assert [axes.get_title() for axes in figure.axes] == ["from above", "from the side"]
    for axes in figure.axes:
        assert (segments(axes, "#1c2430"), segments(axes, palette.OUTLIER)) == (6, 1)
        points, places = axes.collections
        assert len(places.get_offsets()) == 6
        used = {matplotlib.colors.to_hex(colour[:3]) for colour in points.get_facecolors()}
        assert used == set(scan_colours(11)[:6])
    text = texts(figure)
    assert text.startswith("9 of 11 scans placed, in 2 components, 2 left out; shown: component 0, 6 scans")
    assert "hall/5.ply" in text
    assert "kitchen" not in text
    picture = matplotlib.image.imread(tmp_path / "map.png")[..., :3]
    red = np.abs(picture - np.array(palette.rgb(palette.OUTLIER)) / 255.0).max(axis=2) < 0.1
    assert red.sum() > 50


def test_the_room_has_its_size() -> None:
    above, side = two_rooms().plot().axes
    extents, (_, height) = (
        np.ptp(np.quantile(drawn_points(axes), (0.03, 0.97), axis=0), axis=0) for axes in (above, side)
    )
    assert (np.abs(extents - SIZE[:2] - 0.2) < 0.25).all()  # windows and doors lie 0.2 m behind the walls
    assert 1.8 < height < SIZE[2]


def test_every_place_is_within_the_picture() -> None:
    for component in (0, 1):
        for axes in two_rooms().plot(component=component).axes:
            places = np.asarray(axes.collections[1].get_offsets())
            low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
            assert ((places > low) & (places < high)).all()


def test_another_component_can_be_drawn_but_none_that_is_not_there() -> None:
    assert "component 1, 3 scans" in texts(two_rooms().plot(component=1))
    for wrong in (2, -1, 0.5):
        with pytest.raises(cp.OptionError, match="component: expected an integer"):
            two_rooms().plot(component=wrong)


def test_a_map_without_components_says_so(tmp_path: Path) -> None:
    figure = nothing_fits().plot(tmp_path / "nothing.svg")
    assert figure.axes == []
    assert "none of 2 scans placed:\nno two of them belong together" in [text.get_text() for text in figure.texts]


def test_a_map_of_all_scans_says_so() -> None:
    whole = two_rooms()
    one = made(whole.names[:6], whole.scans[:6], whole.poses[:6], [np.arange(6)], whole.edges[:5])
    assert texts(one.plot()).startswith("all 6 scans placed\n")
    assert headline(one) == "all 6 scans placed"


def test_many_scans_have_no_names_in_the_legend() -> None:
    text = texts(many_scans(30, 60).plot())
    assert "file_" not in text
    assert "believed pairs (20)" in text
    assert "doubted" not in text


def test_names_cannot_break_a_figure_and_its_bytes_are_always_the_same(tmp_path: Path) -> None:
    names = (EVIL, "$x", "_hidden", "\\frac", "日本", "n" * 300, *two_rooms().names[6:])
    odd = replace(two_rooms(), names=names)
    for path in (tmp_path / "a.svg", tmp_path / "b.svg"):
        odd.plot(path)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    text = texts(odd.plot())
    assert all(part in text for part in ("_hidden", r"\$x", "\\frac", "…" + "n" * 30))


def test_what_cannot_be_a_figure_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.FileFormatError, match="cannot write this kind of figure"):
        two_rooms().plot(tmp_path / "map.bmp")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", [1, 5, 21, 300])
def test_neighbours_have_different_colours_and_none_is_lost_on_paper(count: int) -> None:
    colours = scan_colours(count)
    assert len(colours) == count
    values = np.array([palette.rgb(colour) for colour in colours], dtype=float)
    assert (values @ (0.299, 0.587, 0.114) < 215.0).all()
    for step in (1, 2, 3):
        assert (np.abs(values[step:] - values[:-step]).max(axis=1) > 40.0).all()


def test_fewer_points_of_a_scan_are_spread_as_all_of_them() -> None:
    (whole, *_), (few, *_) = show_scans(two_rooms(), 10_000), show_scans(two_rooms(), 500)
    assert len(few.points) == 500
    assert np.array_equal(few.points, whole.points[:500])
    assert np.abs(few.points.mean(axis=0) - whole.points.mean(axis=0)).max() < 0.3


def test_a_scan_is_marked_at_its_sensor_or_in_its_middle_where_the_origin_is_far_away() -> None:
    rooms = two_rooms()
    viewpoints = rooms.viewpoints.copy()
    viewpoints[1] = (0.1, 0.2, 0.3)
    far = tuple(points + np.array([5e5, 5e6, 0.0]) if k == 2 else points for k, points in enumerate(rooms.scans))
    shown = show_scans(replace(rooms, viewpoints=viewpoints, scans=far), 1000)
    assert shown[0].place.tolist() == [0.0, 0.0, 0.0]
    assert shown[1].place.tolist() == [0.1, 0.2, 0.3]
    assert np.linalg.norm(shown[2].place - far[2].mean(axis=0)) < 3.0


def test_floor_and_walls_are_found_where_cameras_were_tilted() -> None:
    rooms = two_rooms()
    frame = frame_of_component(rooms, rooms.components[0], show_scans(rooms, 5000))
    first = pose((0.0, 0.0, 0.0), yaw=0.0, pitch=0.2) @ T_BODY_CAMERA  # how the first camera was held in the room
    seen = np.stack(frame) @ first[:3, :3].T  # the frame, in directions of the room
    assert np.degrees(np.arccos(seen[2, 2])) < 1.0
    assert np.degrees(np.arccos(abs(seen[0, 0]))) < 1.0
    assert np.allclose(seen @ seen.T, np.eye(3))
    assert np.linalg.det(seen) == pytest.approx(1.0)


@pytest.mark.parametrize("yaw", [0.0, 0.3, 1.2, 2.5])
def test_walls_go_along_the_frame_and_the_longest_to_the_right(yaw: float) -> None:
    random = np.random.default_rng(0)
    normals = np.eye(3)[random.integers(0, 3, 3000)] * random.choice([-1.0, 1.0], (3000, 1))
    points = random.uniform(-0.5, 0.5, (3000, 3)) * (8.0, 3.0, 2.5)
    motion = pose((0.0, 0.0, 0.0), yaw=yaw, pitch=0.1)
    frame = level_frame(apply_transform(motion, points), apply_transform(motion, normals), np.array([0.0, 0.0, 1.0]))
    assert np.allclose(np.abs(np.stack(frame) @ motion[:3, :3]), np.eye(3), atol=1e-6)
    assert frame.up[2] > 0.9


def test_one_can_look_along_any_direction() -> None:
    up = np.array([0.0, 0.0, 1.0])
    frame = facing(up, np.array([3.0, 0.0, -2.0]))
    assert np.allclose(frame.depth, (1.0, 0.0, 0.0))
    assert np.allclose(np.cross(frame.right, frame.depth), frame.up)
    for ahead in (np.zeros(3), 5.0 * up):
        assert np.allclose(np.stack(facing(up, ahead)) @ np.stack(facing(up, ahead)).T, np.eye(3))
