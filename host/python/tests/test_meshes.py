"""Ways from and to other packages, and how meshes are shown. A package that is not installed skips its tests."""

import numpy as np
import pytest

import trioxide


def same(a, b):
    np.testing.assert_array_equal(a.points, b.points)
    for x, y in zip(a.polygons(), b.polygons()):
        np.testing.assert_array_equal(x, y)
    assert set(a.point_data) == set(b.point_data) and set(a.cell_data) == set(b.cell_data)
    for name in a.cell_data:
        np.testing.assert_array_equal(a.cell_data[name], b.cell_data[name])


@pytest.fixture
def labelled(plane):
    return trioxide.Mesh(
        plane.points,
        plane.triangles,
        regions=np.arange(len(plane.triangles)) % 3,
        point_data={"x": plane.points[:, 0]},
        cell_data={"id": np.arange(len(plane.triangles))},
    )


@pytest.fixture
def mixed(tets):
    """A hexahedron, a wedge on it, a pyramid and a tetrahedron."""
    points = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    points += [(2, 0, 0), (2, 0, 1), (0.5, 0.5, 2), (0.5, 0.5, 3)]
    cells = [[0, 1, 2, 3, 4, 5, 6, 7], [1, 8, 2, 5, 9, 6], [4, 5, 6, 7, 10], [4, 5, 10, 11]]
    offsets = np.cumsum([0] + [len(cell) for cell in cells])
    return trioxide.VolumeMesh(
        points, offsets=offsets, vertices=np.concatenate(cells), cell_data={"id": np.arange(4.0)}, regions=[1, 2, 3, 4]
    )


def test_pyvista_surfaces(labelled):
    pytest.importorskip("pyvista")
    data = labelled.to_pyvista()
    assert data.n_cells == len(labelled.triangles) and "region" in data.cell_data
    again = trioxide.from_pyvista(data)
    same(again, labelled)
    np.testing.assert_array_equal(again.regions, labelled.regions)
    polygons = trioxide.polylla(labelled, device="cpu")
    same(trioxide.Mesh.from_pyvista(polygons.to_pyvista()), polygons)
    cloud = trioxide.generate("cloud", 50)
    np.testing.assert_array_equal(trioxide.from_pyvista(cloud.to_pyvista()).points, cloud.points)


def test_pyvista_volumes(tets, mixed):
    pyvista = pytest.importorskip("pyvista")
    again = trioxide.from_pyvista(tets.to_pyvista())
    np.testing.assert_array_equal(again.tetrahedra, tets.tetrahedra)
    grid = mixed.to_pyvista()
    assert list(grid.celltypes) == [12, 13, 14, 10]
    again = trioxide.VolumeMesh.from_pyvista(grid)
    np.testing.assert_array_equal(again.offsets, mixed.offsets)
    np.testing.assert_array_equal(again.vertices, mixed.vertices)
    np.testing.assert_array_equal(again.regions, mixed.regions)
    flat = trioxide.from_pyvista(pyvista.UnstructuredGrid({5: np.array([[0, 1, 2]])}, np.eye(3)))
    assert len(flat.triangles) == 1
    with pytest.raises(ValueError, match="no cells with a volume"):
        trioxide.VolumeMesh.from_pyvista(flat.to_pyvista())


def test_meshio(labelled, tets, mixed):
    pytest.importorskip("meshio")
    same(trioxide.from_meshio(labelled.to_meshio()), labelled)
    again = trioxide.from_meshio(tets.to_meshio())
    np.testing.assert_array_equal(again.tetrahedra, tets.tetrahedra)
    # Blocks are by the number of vertices; the data follow.
    again = trioxide.from_meshio(mixed.to_meshio())
    np.testing.assert_array_equal(again.regions, [4, 3, 2, 1])
    np.testing.assert_array_equal(np.diff(again.offsets.astype(int)), [4, 5, 6, 8])
    polygons = trioxide.polylla(labelled, device="cpu")
    again = trioxide.from_meshio(polygons.to_meshio())
    assert len(again.offsets) == len(polygons.offsets)
    assert sorted(map(tuple, map(np.ndarray.tolist, again.faces()))) == sorted(
        map(tuple, map(np.ndarray.tolist, polygons.faces()))
    )


def test_meshio_files_hold_the_same(labelled, tmp_path):
    meshio = pytest.importorskip("meshio")
    labelled.to_meshio().write(tmp_path / "a.vtu")
    again = trioxide.read(tmp_path / "a.vtu")
    np.testing.assert_array_equal(again.triangles, labelled.triangles)
    trioxide.write(tmp_path / "b.vtu", labelled)
    np.testing.assert_array_equal(meshio.read(tmp_path / "b.vtu").points, labelled.points)


def test_trimesh(scan, plane):
    pytest.importorskip("trimesh")
    other = scan.to_trimesh()
    assert len(other.vertices) == len(scan.points)
    again = trioxide.from_trimesh(other)
    np.testing.assert_array_equal(again.triangles, scan.triangles)
    np.testing.assert_array_equal(again.points, scan.points)
    with pytest.raises(ValueError, match="trimesh takes triangles only"):
        trioxide.polylla(plane, device="cpu").to_trimesh()


def test_other_packages_are_imported_when_they_are_used():
    import subprocess
    import sys

    code = (
        "import sys, trioxide; trioxide.polylla(trioxide.generate('grid', 9), device='cpu');"
        "print([m for m in ('pyvista', 'meshio', 'trimesh', 'scipy', 'tqdm') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_missing_packages_are_named():
    """As in a notebook of an environment with NumPy alone: what needs no other package works."""
    import subprocess
    import sys

    code = (
        "import sys\n"
        "for name in ('pyvista', 'meshio', 'trimesh', 'scipy', 'tqdm'): sys.modules[name] = None\n"
        "import trioxide\n"
        "mesh = trioxide.generate('grid', 9)\n"
        "assert 'trioxide.Mesh' in mesh._repr_html_()\n"
        "fine = trioxide.refine(mesh, device='cpu')\n"
        "for use in (mesh.plot, mesh.to_meshio, mesh.to_trimesh, lambda: fine.prolongation,\n"
        "            lambda: trioxide.smooth(mesh, device='cpu', progress=True)):\n"
        "    try: use()\n"
        "    except ImportError as error: print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == 5
    for line, name in zip(told, ("pyvista", "meshio", "trimesh", "scipy", "tqdm")):
        assert f"needs {name}" in line and f"pip install {name}" in line


def test_meshes_are_shown(labelled, tets):
    assert repr(labelled).startswith("<trioxide.Mesh: 1000 vertices, ")
    table = labelled._repr_html_()
    assert "<caption>trioxide.Mesh" in table and "point data: x" in table
    labelled.cell_data["<b>"] = labelled.cell_data["id"]
    assert "&lt;b&gt;" in labelled._repr_html_()
    assert "tetrahedra" in repr(tets) and "tetrahedra" in tets._repr_html_()


def test_prolongation_is_a_matrix_of_scipy(plane):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = trioxide.refine(plane, device="cpu").prolongation
    assert sparse.issparse(matrix) and matrix.format == "csr"
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
