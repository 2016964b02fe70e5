"""What the tests share."""

import numpy as np
import pytest

import trioxide


@pytest.fixture(scope="session")
def cpu():
    return trioxide.Device("cpu")


@pytest.fixture(scope="session")
def plane():
    """A Delaunay triangulation of 1000 random points."""
    return trioxide.generate("random", 1000, device="cpu", seed=1)


@pytest.fixture(scope="session")
def scan():
    """A closed surface, as a scanner sees it: neighbours are 0.08 apart."""
    return trioxide.generate("scan", 2000, seed=3)


@pytest.fixture(scope="session")
def tets():
    return trioxide.generate("tets", 500, seed=2)


@pytest.fixture(scope="session")
def gpu():
    """The first GPU; without one its tests are skipped, with the reason."""
    found = trioxide.devices()
    if not found["devices"]:
        pytest.skip(f"no GPU: {found['reason']}")
    return trioxide.Device("cuda:0")


def areas(mesh):
    """Signed areas of the polygons of a planar mesh."""
    offsets, vertices = mesh.polygons()
    x, y = mesh.points[vertices, 0], mesh.points[vertices, 1]
    after = np.arange(1, len(vertices) + 1)
    after[offsets[1:].astype(np.int64) - 1] = offsets[:-1]
    return np.add.reduceat(x * y[after] - x[after] * y, offsets[:-1].astype(np.int64)) / 2
