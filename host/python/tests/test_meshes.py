"""Ways from and to other packages, and how meshes are shown. A package that is not installed skips its tests."""

import subprocess
import sys
import warnings

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


@pytest.fixture
def full():
    """Two triangles and two segments with all that a mesh holds."""
    return trioxide.Mesh(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]],
        [[0, 1, 2], [0, 2, 3]],
        regions=[4, 5],
        segments=[[0, 1], [2, 3]],
        markers=[7, 8],
        normals=[[0, 0, 1.0], [0, 1, 0], [1, 0, 0], [0, 0, -1]],
        colors=np.arange(16, dtype=np.uint8).reshape(4, 4),
        uvs=[[0, 0], [0.5, 0], [1, 1], [0, 0.25]],
        point_data={"x": np.arange(4.0)},
        cell_data={"id": np.array([3, 0]), "both": np.array([1.5, 2.5])},
        side_data={"length": np.array([1.0, 2.0]), "both": np.array([0.5, np.nan])},
    )


def same_in_full(a, b, but=()):
    for name, value in b._held().items():
        if name in but:
            continue
        found = getattr(a, name)
        if not isinstance(value, dict):
            np.testing.assert_array_equal(found, value, err_msg=name)
            assert found is None or found.dtype == value.dtype, name
            continue
        assert found.keys() == value.keys(), name
        for field in value:
            np.testing.assert_array_equal(found[field], value[field], err_msg=f"{name}: {field}")


@pytest.mark.parametrize("package", ["pyvista", "meshio", "trimesh"])
def test_all_that_a_mesh_holds_comes_back_from_other_packages(package, full):
    pytest.importorskip(package)
    if package == "trimesh":
        with pytest.warns(UserWarning, match="segments are left out: a Trimesh has triangles only"):
            other = full.to_trimesh()
        same_in_full(trioxide.from_trimesh(other), full, but=("segments", "markers", "side_data"))
        assert other.visual.kind == "vertex" and other.vertex_normals[1].tolist() == [0, 1, 0]
        full.colors = None
        full.segments = full.markers = None
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = trioxide.from_trimesh(full.to_trimesh())
        np.testing.assert_array_equal(again.uvs, full.uvs)
        return
    other = getattr(full, f"to_{package}")()
    same_in_full(getattr(trioxide, f"from_{package}")(other), full)
    if package == "pyvista":
        np.testing.assert_array_equal(other.active_normals, full.normals)
        np.testing.assert_array_equal(other.active_texture_coordinates, full.uvs)
        assert other.n_lines == 2 and other.cell_data["marker"].tolist() == [7, 8, 0, 0]


@pytest.mark.parametrize("package", ["pyvista", "meshio"])
def test_tagged_faces_come_back_from_other_packages(package, tets):
    pytest.importorskip(package)
    tets.face_tags = 1 + np.arange(len(tets.face_tags))
    again = getattr(trioxide, f"from_{package}")(getattr(tets, f"to_{package}")())
    for name in ("tetrahedra", "face_offsets", "face_vertices", "face_tags"):
        np.testing.assert_array_equal(getattr(again, name), getattr(tets, name), err_msg=name)


def test_polygons_become_triangles_and_cells_tetrahedra():
    dart = trioxide.Mesh(
        [[0, 0], [4, 2], [0, 4], [1, 2]], offsets=[0, 4], vertices=[0, 1, 2, 3], regions=[7], cell_data={"f": np.array([0.5])}
    )
    with pytest.raises(ValueError, match=r"face 0 has 4 vertices, .* only: use the mesh's to_triangles\(\)"):
        trioxide.decimate(dart, keep=0.5)
    fine = dart.to_triangles()
    assert fine.triangles.tolist() == [[0, 1, 3], [1, 2, 3]]
    assert fine.regions.tolist() == [7, 7] and fine.cell_data["f"].tolist() == [0.5, 0.5]
    crossed = trioxide.Mesh([[0, 0], [1, 1], [1, 0], [0, 1.5]], offsets=[0, 4], vertices=[0, 1, 2, 3])
    with pytest.warns(UserWarning, match="1 face crosses itself"):
        assert len(crossed.to_triangles().triangles) == 2
    corners = [[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
    cube = trioxide.VolumeMesh(corners, offsets=[0, 8], vertices=range(8), regions=[3])
    with pytest.raises(ValueError, match=r"cell 0 is a hexahedron, .* only: use the mesh's to_tetrahedra\(\)"):
        trioxide.polylla(cube)
    tets = cube.to_tetrahedra()
    assert tets.regions.tolist() == [3] * 6
    assert len(cube.boundary().faces()) == 6 and len(tets.boundary().triangles) == 12
    cube.vertices = np.roll(np.asarray(cube.vertices), 4)
    with pytest.warns(UserWarning, match="1 cell is inside out, and turned"):
        assert len(cube.to_tetrahedra().tetrahedra) == 6
    with pytest.raises(TypeError, match=r"takes a Mesh, not a VolumeMesh: its .boundary\(\) is one"):
        trioxide.decimate(cube, keep=0.5)


def test_tags_of_gmsh_are_regions_and_stay_under_their_name():
    meshio = pytest.importorskip("meshio")
    physical = [np.array([1, 2]), np.array([7])]
    cells = [("triangle", np.array([[0, 1, 2], [0, 2, 3]])), ("line", np.array([[0, 1]]))]
    given = meshio.Mesh(
        np.eye(4, 3), cells, cell_data={"gmsh:physical": physical}, field_data={"left": np.array([1, 2])}
    )
    with pytest.warns(UserWarning, match="the field_data 'left' are left out"):
        mesh = trioxide.from_meshio(given)
    assert mesh.regions.tolist() == [1, 2] and mesh.segments.tolist() == [[0, 1]] and mesh.markers.tolist() == [7]
    again = mesh.to_meshio().cell_data["gmsh:physical"]
    assert [part.tolist() for part in again] == [[1, 2], [7]]


def test_strips_are_triangles():
    pyvista = pytest.importorskip("pyvista")
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [2, 0, 0.0]]
    data = pyvista.PolyData(points, faces=[3, 1, 4, 3], strips=[4, 0, 1, 2, 3])
    data.cell_data["id"] = [5, 6]
    mesh = trioxide.from_pyvista(data)
    assert mesh.triangles.tolist() == [[1, 4, 3], [0, 1, 2], [2, 1, 3]]
    assert mesh.cell_data["id"].tolist() == [5, 6, 6]
    np.testing.assert_array_equal(mesh.triangles, trioxide.from_pyvista(data.triangulate()).triangles)
    grid = pyvista.ImageData(dimensions=(2, 2, 2)).cast_to_unstructured_grid()
    volume = trioxide.from_pyvista(grid)
    assert trioxide.info(volume, device="cpu")["quality"]["inverted"] == 0


def test_other_objects_get_one_sentence():
    pyvista, trimesh = pytest.importorskip("pyvista"), pytest.importorskip("trimesh")
    for data, remedy in (
        (pyvista.ImageData(dimensions=(2, 2, 2)), "not a ImageData: it has no lists of cells: give its .cast_to"),
        (pyvista.MultiBlock(), "it holds several meshes: give one of its blocks, or its .combine"),
        (np.zeros((3, 3)), "takes a PolyData or an UnstructuredGrid, not a ndarray$"),
    ):
        with pytest.raises(TypeError, match=remedy):
            trioxide.from_pyvista(data)
    with pytest.raises(TypeError, match="from_meshio takes a meshio.Mesh, not a PolyData"):
        trioxide.from_meshio(pyvista.PolyData())
    scene = trimesh.Scene([trimesh.creation.box()])
    with pytest.raises(TypeError, match="not a Scene: it holds several meshes"):
        trioxide.from_trimesh(scene)
    assert len(trioxide.from_trimesh(scene.to_mesh()).triangles) == 12


def test_a_misspelt_attribute_is_refused(plane, tets, cpu):
    results = [plane, tets, trioxide.polylla(plane, device=cpu), trioxide.refine(plane, device=cpu), trioxide.vem(plane)]
    results += [trioxide.weld(plane, epsilon=0, device=cpu), trioxide.smooth(tets, device=cpu), plane.to_device("cpu"), cpu]
    for mesh in results:
        with pytest.raises(AttributeError):
            mesh.colours = 1


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
    assert again.normals is None
    # Normals are those of the vertices as they are.
    assert other.vertex_normals.shape == other.vertices.shape
    np.testing.assert_array_equal(trioxide.from_trimesh(other).normals, other.vertex_normals)
    other.vertices[0] += 1
    assert trioxide.from_trimesh(other).normals is None
    with pytest.raises(ValueError, match="trimesh takes triangles only"):
        trioxide.polylla(plane, device="cpu").to_trimesh()


def test_other_packages_are_imported_when_they_are_used():
    code = (
        "import sys, trioxide; trioxide.polylla(trioxide.generate('grid', 9), device='cpu');"
        "print([m for m in ('pyvista', 'meshio', 'trimesh', 'scipy', 'tqdm') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_missing_packages_are_named():
    """As in a notebook of an environment with NumPy alone: what needs no other package works."""
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
    # A small one to turn and to zoom; of a large one, or one that cannot be drawn, a sentence.
    assert "<iframe srcdoc=" in table and "<iframe srcdoc=" in tets._repr_html_()
    large = trioxide.generate("grid", 30_000)._repr_html_()
    assert "<iframe" not in large and "trioxide.view(mesh)" in large
    bad = trioxide.Mesh(labelled.points.copy(), labelled.triangles)
    bad.points[3, 0] = np.nan
    assert "Not shown: vertex 3 has a coordinate that is not a finite number" in bad._repr_html_()


def test_pages_show_meshes(tmp_path, labelled, tets):
    page = trioxide.view(labelled, tets, names=["<plane>", "cells"], color="x")
    assert repr(page).startswith("<trioxide.View: ") and "&lt;plane&gt;" in page.html
    assert page._repr_html_().startswith("<iframe srcdoc=")
    page.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    assert "Simplified: " in trioxide.view(trioxide.generate("scan", 1000), max_cells=500).html
    with pytest.raises(ValueError, match="no mesh has the field heat: use one of "):
        trioxide.view(labelled, color="heat")
    with pytest.raises(ValueError, match="there are 1 names for 2 meshes"):
        trioxide.view(labelled, tets, names=["a"])
    with pytest.raises(ValueError, match="there is no mesh to show"):
        trioxide.view()


def test_prolongation_is_a_matrix_of_scipy(plane):
    sparse = pytest.importorskip("scipy.sparse")
    matrix = trioxide.refine(plane, device="cpu").prolongation
    assert sparse.issparse(matrix) and matrix.format == "csr"
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)
