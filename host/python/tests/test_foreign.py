"""Functions take meshes of PyVista, meshio, trimesh and Open3D as they are."""

import subprocess
import sys

import numpy as np
import pytest

import trioxide

SURFACES = ("pyvista", "meshio", "trimesh", "open3d")
FUNCTIONS = {
    "info": lambda mesh: trioxide.info(mesh),
    "polylla": lambda mesh: trioxide.polylla(mesh, device="cpu"),
    "refine": lambda mesh: trioxide.refine(mesh, device="cpu"),
    "render": lambda mesh: trioxide.render(mesh, width=64),
    "smooth": lambda mesh: trioxide.smooth(mesh, max_iterations=3, device="cpu"),
    "vem": lambda mesh: trioxide.vem(mesh),
    "weld": lambda mesh: trioxide.weld(mesh, epsilon=1e-6, device="cpu"),
}


def of_package(mesh, package):
    pytest.importorskip(package)
    return getattr(mesh, f"to_{package}")()


def value(result):
    """What a result is compared by."""
    if isinstance(result, trioxide.Mesh):
        return [result.points.tolist(), *(array.tolist() for array in result.polygons())]
    if isinstance(result, trioxide.VolumeMesh):
        return [result.points.tolist(), result.tetrahedra.tolist()]
    if isinstance(result, trioxide.Solution):
        return result.values.tolist()
    return result


@pytest.mark.parametrize("package", SURFACES)
@pytest.mark.parametrize("function", list(FUNCTIONS))
def test_surfaces_of_other_packages_are_taken(function, package, plane):
    bare = trioxide.Mesh(plane.points, plane.triangles)
    given = of_package(bare, package)
    assert value(FUNCTIONS[function](given)) == value(FUNCTIONS[function](bare))


@pytest.mark.parametrize("package", ("pyvista", "meshio", "open3d"))
@pytest.mark.parametrize("function", ("refine", "smooth"))
def test_tetrahedra_of_other_packages_are_taken(function, package, tets):
    bare = trioxide.VolumeMesh(tets.points, tets.tetrahedra)
    assert value(FUNCTIONS[function](of_package(bare, package))) == value(FUNCTIONS[function](bare))


def test_results_go_back_with_what_they_carry(plane):
    pytest.importorskip("pyvista")
    given = trioxide.Mesh(plane.points, plane.triangles, point_data={"x": plane.points[:, 0]}).to_pyvista()
    polygons = trioxide.polylla(given, device="cpu").to_pyvista()
    assert polygons.n_cells == 316
    assert np.array_equal(polygons.point_data["x"], plane.points[:, 0])


def test_files_are_written_of_them(plane, tmp_path):
    trioxide.write(tmp_path / "plane.off", of_package(plane, "meshio"))
    assert np.array_equal(trioxide.read(tmp_path / "plane.off").triangles, plane.triangles)


def test_arrays_of_other_packages_are_arrays(plane):
    """PyVista's and trimesh's arrays are NumPy's with another name."""
    surface = of_package(plane, "trimesh")
    assert type(surface.vertices) is not np.ndarray
    welded = trioxide.weld(surface.vertices, surface.faces, epsilon=0, device="cpu")
    assert len(welded.triangles) == len(plane.triangles)


def test_a_mesh_and_triangles_are_refused(plane):
    with pytest.raises(TypeError, match="not both"):
        trioxide.weld(of_package(plane, "meshio"), plane.triangles, epsilon=0, device="cpu")


def test_other_objects_of_a_package_are_refused_with_the_remedy():
    pyvista = pytest.importorskip("pyvista")
    with pytest.raises(TypeError, match="cast_to_unstructured_grid"):
        trioxide.weld(pyvista.ImageData(dimensions=(2, 2, 2)), epsilon=0)


def test_warnings_name_the_line_of_the_caller(plane):
    mesh = of_package(plane, "meshio")
    mesh.field_data["a"] = np.array([1, 2])
    with pytest.warns(UserWarning, match="the field_data 'a' are left out") as found:
        trioxide.info(mesh)
    assert found[0].filename == __file__


def test_open3d_keeps_normals_and_colours():
    pytest.importorskip("open3d")
    points = np.eye(3)
    colors = np.array([[255, 0, 17, 255], [1, 2, 3, 255], [0, 0, 0, 255]], np.uint8)
    mesh = trioxide.Mesh(points, [[0, 1, 2]], normals=points, colors=colors)
    back = trioxide.from_open3d(mesh.to_open3d())
    assert np.array_equal(back.colors, colors) and np.array_equal(back.normals, points)
    cloud = trioxide.Mesh(points, normals=points)
    assert trioxide.Mesh.from_open3d(cloud.to_open3d()).triangles is None
    with pytest.warns(UserWarning, match="regions, point_data are left out"):
        trioxide.Mesh(points, [[0, 1, 2]], regions=[1], point_data={"a": [1, 2, 3]}).to_open3d()


def test_no_package_is_imported_for_it():
    code = (
        "import sys, trioxide; trioxide.weld([[0, 0]], epsilon=0, device='cpu'); "
        "print([name for name in ('pyvista', 'meshio', 'trimesh', 'open3d') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
