"""Distances between two meshes: on arrays of the host and of a device."""

import numpy as np
import pytest

import trioxide


def sphere(count=2000):
    return trioxide.generate("scan", count)


def test_distances_of_moved_meshes_are_known():
    plane = trioxide.generate("random", 500)
    high = trioxide.Mesh(plane.points + [0, 0, 0.5], plane.triangles)
    compared = trioxide.compare(plane, high, samples=1000, seed=3, device="cpu")
    assert compared.distances.shape == (500,) and np.all(compared.distances == 0.5)
    for side in (compared.a_to_b, compared.b_to_a, compared.symmetric):
        assert side["vertices"]["largest"] == 0.5 and abs(side["samples"]["mean"] - 0.5) < 1e-15
        assert side["normals"]["largest"] < 1e-6
    diagonal = np.linalg.norm(np.ptp(plane.points, axis=0))
    assert compared.counts["diagonal"] == pytest.approx(diagonal)
    assert compared.a_to_b["vertices"]["relative_mean"] == pytest.approx(0.5 / diagonal)
    assert repr(compared) == "<trioxide.Comparison: largest distance 0.5>"


def test_a_device_gives_what_the_host_does():
    a, cpu = sphere(), trioxide.Device("cpu")
    b = trioxide.weld(a, epsilon=0.05, device="cpu")
    here = trioxide.compare(a, b, samples=500, device="cpu")
    there = trioxide.compare(a.to_device("cpu"), b.to_device("cpu"), samples=500)
    assert np.array_equal(there.distances.numpy(), here.distances)
    for name in ("a_to_b", "b_to_a", "symmetric", "counts"):
        assert getattr(there, name) == getattr(here, name), name
    # Clouds of two columns, and points with triangles.
    points = trioxide.DeviceArray.copy_of(np.ascontiguousarray(a.points[:, :2]), cpu)
    alone = trioxide.compare(points, b.to_device("cpu"), samples=0)
    flat = a.points * [1, 1, 0]
    expected = trioxide.compare(flat, (b.points, b.triangles), samples=0, device="cpu")
    assert np.array_equal(alone.distances.numpy(), expected.distances)
    assert "samples" not in alone.b_to_a and alone.counts["a_triangles"] == 0


def test_meshes_are_given_as_pairs_and_by_keywords():
    a = sphere(100)
    b = trioxide.weld(a, epsilon=0.2, device="cpu")
    expected = trioxide.compare(a, b, samples=100, device="cpu")
    for given, options in (
        (((a.points, a.triangles), [b.points.tolist(), b.triangles.tolist()]), {}),
        ((a.points, b.points), dict(triangles=a.triangles, other_triangles=b.triangles)),
        ((a, (b.points.astype(np.float64), b.triangles.astype(np.int64))), {}),
    ):
        found = trioxide.compare(*given, samples=100, device="cpu", **options)
        assert np.array_equal(found.distances, expected.distances) and found.symmetric == expected.symmetric
    # Two points are a cloud.
    points = ((0, 0, 0), (1, 0, 0))
    assert trioxide.compare(points, list(points), device="cpu").counts["a_triangles"] == 0


def test_wrong_meshes_are_refused():
    a = sphere(100)
    with pytest.raises(ValueError, match="second mesh: vertex 0 has a coordinate"):
        trioxide.compare(a, [[np.inf, 0, 0]], device="cpu")
    with pytest.raises(ValueError, match="has no points"):
        trioxide.compare(np.zeros((0, 3)), a, device="cpu")
    with pytest.raises(ValueError, match="samples is -1"):
        trioxide.compare(a, a, samples=-1, device="cpu")
    with pytest.raises(ValueError, match="is in a device's memory and other_points is not"):
        trioxide.compare(a.to_device("cpu"), a)
