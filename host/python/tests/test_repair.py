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


def test_refusals():
    with pytest.raises(ValueError, match="no step of the repair is chosen: add repeated, degenerate="):
        trioxide.repair(POINTS, FACES)
    there = trioxide.Mesh(POINTS, FACES).to_device("cpu")
    with pytest.raises(TypeError, match="to_host"):
        trioxide.repair(there, orient=True)
