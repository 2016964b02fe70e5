"""Vertices and cells along a curve: on arrays of the host and of a device, with the maps back."""

import numpy as np
import pytest

import trioxide


def shuffled(mesh, seed=1):
    """The same mesh with its vertices and triangles in another order, and the old id of each."""
    random = np.random.default_rng(seed)
    vertices, cells = random.permutation(len(mesh.points)), random.permutation(len(mesh.triangles))
    new = np.argsort(vertices)
    return trioxide.Mesh(mesh.points[vertices], new[mesh.triangles[cells]])


def everything():
    """A mesh with all that it may have."""
    mesh = trioxide.generate("scan", 500)
    count, faces = len(mesh.points), len(mesh.triangles)
    return trioxide.Mesh(
        mesh.points,
        mesh.triangles,
        regions=np.arange(faces),
        segments=mesh.triangles[:9, :2],
        markers=np.arange(9),
        normals=mesh.points * 2,
        colors=(np.arange(4 * count).reshape(-1, 4) % 251).astype(np.uint8),
        uvs=mesh.points[:, :2],
    )


def test_shuffled_meshes_become_the_same():
    mesh = trioxide.generate("random", 1000)
    one, other = (trioxide.reorder(given, device="cpu") for given in (mesh, shuffled(mesh)))
    assert np.array_equal(one.points, other.points) and np.array_equal(one.triangles, other.triangles)
    assert np.array_equal(one.points, mesh.points[one.old_vertices])
    ids = np.sort(one.old_vertices[one.triangles], axis=1)
    assert np.array_equal(ids, np.sort(mesh.triangles[one.old_cells], axis=1))
    assert one.counts["vertices"] == 1000 and one.counts["faces"] == len(mesh.triangles)


def test_a_device_gives_what_the_host_does():
    mesh = everything()
    here, there = trioxide.reorder(mesh, device="cpu"), trioxide.reorder(mesh.to_device("cpu"))
    assert isinstance(there, trioxide.DeviceReordered)
    assert np.array_equal(there.old_vertices.numpy(), here.old_vertices)
    assert np.array_equal(there.old_cells.numpy(), here.old_cells)
    back = there.to_host()
    for name in ("points", "triangles", "regions", "segments", "markers", "normals", "colors", "uvs"):
        assert np.array_equal(getattr(back, name), getattr(here, name)), name
    assert np.array_equal(here.normals, mesh.normals[here.old_vertices])
    assert np.array_equal(here.regions, here.old_cells)
    assert np.array_equal(here.old_vertices[here.segments], mesh.segments)
    # Points in two columns, and of one z.
    plane = trioxide.generate("random", 300)
    expected = trioxide.reorder(plane, device="cpu")
    cpu = trioxide.Device("cpu")
    triangles = trioxide.DeviceArray.copy_of(plane.triangles, cpu)
    for columns in (2, 3):
        points = trioxide.DeviceArray.copy_of(np.ascontiguousarray(plane.points[:, :columns]), cpu)
        found = trioxide.reorder(points, triangles)
        assert np.array_equal(found.old_vertices.numpy(), expected.old_vertices)
        assert np.array_equal(found.triangles.numpy(), expected.triangles)
        alone = trioxide.reorder(points)
        assert np.array_equal(alone.old_vertices.numpy(), expected.old_vertices) and alone.triangles.shape == (0, 3)


def test_tetrahedra_and_fields():
    mesh = trioxide.generate("tets", 200)
    mesh.regions = np.arange(len(mesh.tetrahedra))
    mesh.point_data = {"id": np.arange(len(mesh.points))}
    here, there = trioxide.reorder(mesh, device="cpu"), trioxide.reorder(mesh.to_device("cpu"))
    assert isinstance(here, trioxide.ReorderedVolume) and isinstance(there, trioxide.DeviceReorderedVolume)
    assert np.array_equal(here.point_data["id"], here.old_vertices) and np.array_equal(here.regions, here.old_cells)
    assert np.array_equal(there.to_host().tetrahedra, here.tetrahedra)
    assert np.array_equal(there.regions.numpy(), here.regions)
    first = here.tetrahedra[:, 0]
    assert np.all(first[1:] >= first[:-1]) and np.array_equal(first, here.tetrahedra.min(axis=1))


def test_a_chain_and_triangulate_reorder():
    points = np.random.default_rng(3).random((400, 2))
    alone = trioxide.reorder(trioxide.triangulate(points, device="cpu"), device="cpu")
    chained = trioxide.chain(trioxide.Mesh(points), "triangulate : reorder", device="cpu")
    at_once = trioxide.triangulate(points, reorder=True, device="cpu")
    there = trioxide.chain(trioxide.DeviceArray.copy_of(points, trioxide.Device("cpu")), "triangulate : reorder")
    for found in (chained, at_once, there.to_host()):
        assert np.array_equal(found.triangles, alone.triangles)
    assert np.array_equal(at_once.old_vertices, alone.old_vertices) and np.array_equal(at_once.points, alone.points)
    assert np.array_equal(at_once.old_cells, np.arange(len(alone.triangles)))
    assert trioxide.triangulate(points, device="cpu").old_vertices is None
    with pytest.raises(ValueError, match="reorder the result"):
        trioxide.triangulate(trioxide.DeviceArray.copy_of(points, trioxide.Device("cpu")), reorder=True)


def test_wrong_meshes_are_refused():
    with pytest.raises(ValueError, match="vertex 1 has a coordinate that is not a finite number"):
        trioxide.reorder([[0, 0], [np.inf, 0], [0, 1]], [[0, 1, 2]], device="cpu")
    cube = trioxide.VolumeMesh(np.indices((2, 2, 2)).reshape(3, -1).T, offsets=[0, 8], vertices=[0, 4, 6, 2, 1, 5, 7, 3])
    with pytest.raises(ValueError, match="cell 0 is a hexahedron, but this operation takes tetrahedra only"):
        trioxide.reorder(cube, device="cpu")
    there = trioxide.generate("grid", 9).to_device("cpu")
    cpu = trioxide.Device("cpu")
    there.segments = trioxide.DeviceArray.copy_of(np.array([[0, 1], [2, 9]], np.uint32), cpu)
    with pytest.raises(ValueError, match="segment 1 has vertex 9, but the mesh has 9 vertices"):
        trioxide.reorder(there)
    there.segments, there.triangles = None, trioxide.DeviceArray.copy_of(np.array([[0, 1, 9]], np.uint32), cpu)
    with pytest.raises(ValueError, match="triangle 0 has vertex 9, but the mesh has 9 vertices"):
        trioxide.reorder(there)
    with pytest.raises(TypeError, match="set the volume mesh's regions"):
        trioxide.reorder(trioxide.generate("tets", 27), regions=[1])
