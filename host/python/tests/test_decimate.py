"""Meshes of a wanted number of triangles: on arrays of the host and of a device, with the maps."""

import numpy as np
import pytest

import trioxide


def test_a_closed_scan_is_decimated_on_the_host_and_on_a_device():
    scan = trioxide.generate("scan", 1000)
    ours = trioxide.decimate(scan, to=100, device="cpu")
    assert len(ours.triangles) == ours.counts["decimated_faces"] == 100
    corners = ours.map[scan.triangles[ours.triangle_ids]]
    assert np.array_equal(corners, ours.triangles)
    assert np.array_equal(ours.map[ours.survivors], np.arange(len(ours.points)))
    there = trioxide.decimate(scan.to_device("cpu"), to=100)
    for name in ("points", "triangles", "map", "survivors", "triangle_ids"):
        assert np.array_equal(getattr(there, name).numpy(), getattr(ours, name))
    chained = trioxide.chain(scan, "decimate --to 100", device="cpu")
    assert np.array_equal(chained.points, ours.points)


def test_locked_vertices_stay_and_a_note_says_what_is_left():
    scan = trioxide.generate("scan", 200)
    with pytest.warns(UserWarning, match="triangles are left, not 4"):
        ours = trioxide.decimate(scan, to=4, locked=np.arange(0, 200, 2), device="cpu")
    assert np.array_equal(ours.points[ours.map[::2]], scan.points[::2])


def test_several_fractions_in_one_run_are_as_runs_of_their_own():
    scan = trioxide.generate("scan", 1000)
    fractions = [0.1, 0.5]
    each = trioxide.decimate(scan, keep=fractions, device="cpu")
    there = trioxide.decimate(scan.to_device("cpu"), keep=fractions)
    for keep, ours, on_device in zip(fractions, each, there):
        alone = trioxide.decimate(scan, keep=keep, device="cpu")
        for name in ("points", "triangles", "map", "survivors", "triangle_ids"):
            assert np.array_equal(getattr(ours, name), getattr(alone, name))
            assert np.array_equal(getattr(on_device, name).numpy(), getattr(alone, name))
    assert len(each) == len(there) == 2
    assert len(trioxide.decimate(scan, keep=[0.5], device="cpu")) == 1
    for step in ("decimate --keep 0.5,0.1", ("decimate", {"keep": fractions})):
        with pytest.raises(ValueError, match="one is needed here"):
            trioxide.chain(scan, [step], device="cpu")


def test_weighed_colours_and_fields_are_kept():
    grid = trioxide.generate("grid", 2500)
    x, y = grid.points[:, 0], grid.points[:, 1]
    inside = np.hypot(x - 0.5, y - 0.5) < 0.3
    colors = np.where(inside[:, None], [255, 0, 0, 255], [0, 0, 255, 255]).astype(np.uint8)
    mesh = trioxide.Mesh(grid.points, triangles=grid.triangles, colors=colors, point_data={"heat": x * y, "class": inside.astype(np.int32)})

    def error(mesh):
        """Of red, at the centres of the triangles, by area."""
        a, b, c = (mesh.points[mesh.triangles[:, k], :2] for k in range(3))
        (u, v), centre = ((b - a).T, (c - a).T), (a + b + c) / 3
        area = np.abs(u[0] * v[1] - u[1] * v[0])
        red = mesh.colors[mesh.triangles, 0].mean(axis=1) / 255
        wanted = np.hypot(centre[:, 0] - 0.5, centre[:, 1] - 0.5) < 0.3
        return (np.abs(red - wanted) * area).sum() / area.sum()

    plain = trioxide.decimate(mesh, keep=0.1, device="cpu")
    weighed = trioxide.decimate(mesh, keep=0.1, weigh=["colours=0.02", "heat"], device="cpu")
    assert 1.5 * error(weighed) < error(plain)
    assert np.array_equal(weighed.point_data["class"], mesh.point_data["class"][weighed.survivors])
    chained = trioxide.chain(mesh, "decimate --keep 0.1 --weigh colours=0.02,heat", device="cpu")
    assert np.array_equal(chained.points, weighed.points) and np.array_equal(chained.colors, weighed.colors)
    with pytest.raises(ValueError, match="no normals to weigh: they have colours, heat"):
        trioxide.decimate(mesh, keep=0.1, weigh="normals", device="cpu")
    with pytest.raises(ValueError, match="field class has integers"):
        trioxide.decimate(mesh, keep=0.1, weigh="class", device="cpu")
    with pytest.raises(ValueError, match="weigh needs the attributes of a mesh in host memory"):
        trioxide.decimate(mesh.to_device("cpu"), keep=0.1, weigh="colours")
