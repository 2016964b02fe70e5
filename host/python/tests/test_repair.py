"""Repair."""

import numpy as np
import pytest

import trioxide

#: A tetrahedron with a turned face and a repeated one.
POINTS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 2, 3], [3, 1, 2]]


def test_data_go_along():
    repaired = trioxide.repair(POINTS, FACES, regions=[5, 6, 7, 8, 9], repeated=True, orient=True, device="cpu")
    np.testing.assert_array_equal(repaired.triangles, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    np.testing.assert_array_equal(repaired.regions, [5, 6, 7, 8])
    np.testing.assert_array_equal(repaired.old_cells, [0, 1, 2, 3])
    assert repaired.counts["repeated_faces"] == repaired.counts["turned_faces"] == 1
    chained = trioxide.chain(trioxide.Mesh(POINTS, FACES), "repair --repeated --orient", device="cpu")
    np.testing.assert_array_equal(chained.triangles, repaired.triangles)


def test_polygons_and_cells_turn_and_unused_vertices_go():
    tetrahedron = trioxide.VolumeMesh(np.vstack([POINTS, [[9, 9, 9]]]), [[0, 1, 3, 2]])
    repaired = trioxide.repair(tetrahedron, all=True, device="cpu")
    assert repaired.counts["turned_faces"] == repaired.counts["dropped_vertices"] == 1
    np.testing.assert_array_equal(repaired.old_vertices, [0, 1, 2, 3])
    inward = trioxide.repair(POINTS, FACES[:4], orient=True, flip=True, device="cpu")
    assert abs(trioxide.info(inward)["volume"] + 1 / 6) < 1e-15


def test_refusals():
    with pytest.raises(ValueError, match="no step of the repair is chosen: add all, finite, conform, repeated, degenerate="):
        trioxide.repair(POINTS, FACES)
    there = trioxide.Mesh(POINTS, FACES, segments=[[0, 1]]).to_device("cpu")
    with pytest.raises(ValueError, match="repair does not carry segments on a device.*to_host"):
        trioxide.repair(there, orient=True)


def test_vertices_that_are_not_finite_are_dropped():
    points = np.array([[0, 0], [1, 0], [0, 1], [1, np.nan]], float)
    faces = [[0, 1, 2], [1, 3, 2]]
    with pytest.raises(ValueError, match="vertex 3 has a coordinate that is not a finite number.*drop_invalid"):
        trioxide.weld(points, faces, epsilon=0, device="cpu")
    repaired = trioxide.repair(points, faces, finite=True, orient=True, device="cpu")
    np.testing.assert_array_equal(repaired.triangles, [[0, 1, 2]])
    np.testing.assert_array_equal(repaired.old_cells, [0])
    assert (repaired.counts["vertices_not_finite"], repaired.counts["faces_not_finite"]) == (1, 1)
    with pytest.warns(UserWarning, match="1 vertex left out, with 1 face"):
        assert len(trioxide.Mesh(points, faces).drop_invalid().points) == 3
    cloud = trioxide.repair(trioxide.Mesh(points), finite=True, device="cpu")
    np.testing.assert_array_equal(cloud.old_vertices, [0, 1, 2])


def test_info_counts_what_each_step_would_find():
    found = trioxide.info(POINTS, FACES)
    assert found["repairs"]["repeated_faces"] == 1 and found["repairs"]["faces_to_turn"] == 1
    assert found["problem"] == found["problems"][0] == "3 edges of more than two faces: first 1 - 2"
    repaired = trioxide.repair(POINTS, FACES, repeated=True, orient=True, device="cpu")
    found = trioxide.info(repaired)
    assert found["repairs"]["repeated_faces"] == found["repairs"]["faces_to_turn"] == found["boundary_edges"] == 0
    assert found["problem"] is None and abs(found["volume"] - 1 / 6) < 1e-15
    assert 90 < found["dihedral_angle"]["max"] < 180 and found["planarity"] is None
