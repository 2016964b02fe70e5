"""Meshes in a device's memory: on the CPU, and on a GPU where there is one. Results have the bits of those of host arrays."""

import gc

import numpy as np
import pytest

import trioxide
from trioxide import DeviceArray


@pytest.fixture(params=["cpu", "cuda:0"])
def device(request):
    if request.param != "cpu":
        request.getfixturevalue("gpu")
    return trioxide.Device(request.param)


def same(found, expected, *names):
    for name in names:
        there, here = getattr(found, name), getattr(expected, name)
        assert (there is None) == (here is None), name
        if here is not None:
            there = there.numpy()
            assert there.dtype == here.dtype, name
            np.testing.assert_array_equal(there, here, err_msg=name)


@pytest.fixture(scope="module")
def coloured(scan):
    """A scan with attributes and two regions."""
    count = len(scan.points)
    random = np.random.default_rng(5)
    normals = scan.points / np.linalg.norm(scan.points, axis=1, keepdims=True)
    colors = random.integers(0, 256, (count, 4)).astype(np.uint8)
    return trioxide.Mesh(
        scan.points,
        scan.triangles,
        normals=normals,
        colors=colors,
        uvs=random.random((count, 2)),
        regions=(scan.points[scan.triangles, 2].mean(axis=1) > 0).astype(int),
    )


def test_functions_of_the_host_copy_meshes_of_a_device(device, coloured, plane, tets):
    for mesh in (plane, tets):
        there = mesh.to_device(device)
        here = there.to_host()
        assert trioxide.info(there) == trioxide.info(here)
        assert trioxide.render(there, width=64) == trioxide.render(here, width=64)
    polygons, there = trioxide.polylla(plane, device="cpu"), plane.to_device(device)
    assert trioxide.info(trioxide.polylla(there, device=device)) == trioxide.info(polygons)
    assert trioxide.info(there.points, there.triangles) == trioxide.info(trioxide.Mesh(plane.points, plane.triangles))
    assert trioxide.info(there.points) == trioxide.info(trioxide.Mesh(plane.points))
    # Levels, and polygons without short edges, are made of a copy on the host, where the device is.
    regions = (plane.points[plane.triangles, 0].mean(axis=1) > 0.5).astype(np.int32)
    there.regions = DeviceArray.copy_of(regions, device)
    for options in (dict(strict=True, levels=2), dict(strict=True, until=40), dict(min_edge=0.1)):
        found = trioxide.polylla(there, **options)
        expected = trioxide.polylla(plane, regions=regions, device="cpu", **options)
        assert isinstance(found, type(expected)) and found.counts == expected.counts
        for name in ("points", "offsets", "vertices", "regions", "map"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert found.cell_data.keys() == expected.cell_data.keys()


@pytest.mark.parametrize(
    "options",
    [
        dict(epsilon=0.08),
        dict(epsilon=0.08, position="first", keep_degenerate=True),
        dict(epsilon=0.12, normal_tolerance=5.0),
        dict(epsilon=0.12, uv_tolerance=0.3),
        dict(epsilon=0.12, color_tolerance=90),
        dict(ratio=0.2),
    ],
)
def test_attributes_and_regions_are_welded_there(device, coloured, options):
    welded = trioxide.weld(coloured.to_device(device), device=device, **options)
    expected = trioxide.weld(coloured, device="cpu", **options)
    assert len(expected.removed) > 0
    same(welded, expected, "points", "triangles", "map", "representatives", "removed", "normals", "colors", "uvs", "regions")
    assert welded.epsilon == expected.epsilon


def test_locks_hold_there(device, plane):
    """Of a planar mesh, which has a boundary."""
    resident = plane.to_device(device)
    ids = np.arange(0, len(plane.points), 3)
    flags = np.zeros(len(plane.points), bool)
    flags[ids] = True
    for locked in (ids, flags, DeviceArray.copy_of(flags, device), DeviceArray.copy_of(ids.astype(np.uint32), device)):
        for boundary in (False, True):
            options = dict(epsilon=0.05, lock_boundary=boundary)
            welded = trioxide.weld(resident, locked=locked, device=device, **options)
            same(welded, trioxide.weld(plane, locked=flags, device="cpu", **options), "points", "map", "triangles")
    free = trioxide.weld(plane, epsilon=0.05, device="cpu")
    assert len(free.points) < len(welded.map.numpy()) and len(welded.points) > len(free.points)


def test_fixed_vertices_and_regions_stay_there(device, plane):
    split = trioxide.Mesh(plane.points, plane.triangles, regions=(plane.points[plane.triangles, 0].mean(axis=1) > 0.5).astype(int))
    fixed = np.arange(0, len(plane.points), 7)
    flags = np.zeros(len(plane.points), bool)
    flags[fixed] = True
    expected = trioxide.smooth(split, fixed=fixed, max_iterations=20, device="cpu")
    free = trioxide.smooth(plane, max_iterations=20, device="cpu")
    assert expected.moving < free.moving
    for some in (fixed, flags, DeviceArray.copy_of(flags, device), DeviceArray.copy_of(fixed.astype(np.int32), device)):
        smoothed = trioxide.smooth(split.to_device(device), fixed=some, max_iterations=20, device=device)
        same(smoothed, expected, "points")
        assert (smoothed.moving, smoothed.sweeps) == (expected.moving, expected.sweeps)
    same(smoothed, expected, "triangles", "regions")


def test_regions_and_segments_bound_polygons_there(device, plane):
    left = (plane.points[plane.triangles, 0].mean(axis=1) < 0.5).astype(int) * 9 - 4
    edges = np.concatenate([plane.triangles[::40, :2], plane.triangles[7::50, 1:]])
    constrained = trioxide.Mesh(plane.points, plane.triangles, regions=left, segments=edges, markers=np.arange(len(edges)))
    expected = trioxide.polylla(constrained, device="cpu")
    assert expected.counts["polygons"] > 330
    polygons = trioxide.polylla(constrained.to_device(device), device=device)
    same(polygons, expected, "offsets", "vertices", "half_edges", "regions", "segments", "markers")
    assert polygons.counts == expected.counts
    again = polygons.to_host()
    np.testing.assert_array_equal(again.regions, expected.regions)
    # As keywords beside points and triangles, in two columns too.
    there = plane.to_device(device)
    flat = DeviceArray.copy_of(np.ascontiguousarray(plane.points[:, :2]), device)
    given = dict(regions=DeviceArray.copy_of(left.astype(np.int32), device))
    for points in (there.points, flat):
        same(trioxide.polylla(points, there.triangles, device=device, **given), trioxide.polylla(plane, regions=left, device="cpu"), "vertices", "regions")
    free = trioxide.polylla(constrained.to_device(device), unconstrained=True, device=device)
    same(free, trioxide.polylla(plane, device="cpu"), "vertices", "regions", "segments")


@pytest.mark.parametrize("options", [{}, {"feature_angle": 30, "flatness": 12.5, "strict": True}])
def test_polygons_of_a_surface_are_there(device, scan, options):
    """Points with different z are a surface in space, as on the host; each triangle is in one polygon."""
    expected = trioxide.polylla(scan, device="cpu", **options)
    assert np.ptp(expected.points[:, 2]) > 1 and len(expected.offsets) - 1 < len(scan.triangles)
    assert np.array_equal(np.sort(expected.parents), np.arange(len(scan.triangles)))
    polygons = trioxide.polylla(scan.to_device(device), device=device, **options)
    same(polygons, expected, "offsets", "vertices", "half_edges", "parent_offsets", "parents", "map")
    assert polygons.counts == expected.counts
    np.testing.assert_array_equal(polygons.to_host().points, scan.points)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("unconstrained", [False, True])
def test_triangles_of_polygons_are_there(device, plane, strict, unconstrained):
    """The way back: `parents` and `map` as of host arrays."""
    left = (plane.points[plane.triangles, 0].mean(axis=1) < 0.5).astype(int)
    edges = np.concatenate([plane.triangles[::40, :2], plane.triangles[7::50, 1:]])
    mesh = trioxide.Mesh(plane.points, plane.triangles, regions=left, segments=edges)
    options = dict(strict=strict, unconstrained=unconstrained)
    expected = trioxide.polylla(mesh, device="cpu", **options)
    polygons = trioxide.polylla(mesh.to_device(device), device=device, **options)
    same(polygons, expected, "offsets", "vertices", "parent_offsets", "parents", "map")
    # Polygons of triangles without inner vertices: n corners, n - 2 triangles.
    np.testing.assert_array_equal(np.diff(polygons.parent_offsets.numpy()) + 2, np.diff(polygons.offsets.numpy()))
    values = np.bincount(polygons.map.numpy(), weights=np.ones(len(plane.triangles)))
    np.testing.assert_array_equal(values, np.diff(expected.parent_offsets))
    if not hasattr(polygons.map, "__cuda_array_interface__"):
        np.testing.assert_array_equal(np.from_dlpack(polygons.map), expected.map)
        np.testing.assert_array_equal(np.from_dlpack(polygons.parents), expected.parents)
    else:
        for array in (polygons.map, polygons.parents, polygons.parent_offsets):
            assert array.__cuda_array_interface__["typestr"] == "<u4" and array.__dlpack_device__()[0] == 2


SMOOTHINGS = [
    dict(max_iterations=20),
    dict(method="taubin", max_iterations=7),
    dict(method="hc", hc=(0.1, 0.6), max_iterations=7),
    dict(weights="inverse-length", max_iterations=5),
    dict(weights="cotangent", max_iterations=3),
    dict(boundary="slide", max_iterations=5),
    dict(guard=True, max_iterations=10),
    dict(form="b-exact", max_iterations=5),
    dict(form="b-coloured", max_iterations=5),
    dict(tolerance=1e-3, blocks="one", layout="soa", renumber="on"),
]


@pytest.mark.parametrize("options", SMOOTHINGS, ids=str)
def test_tetrahedra_are_smoothed_there(device, tets, options):
    """With every option of host arrays; where they refuse options together, the device does by the same sentence."""
    regions = (tets.points[tets.tetrahedra, 0].mean(axis=1) > 0.5).astype(int)
    mesh = trioxide.VolumeMesh(tets.points, tets.tetrahedra, regions=regions)
    fixed = np.arange(0, len(tets.points), 7)
    flags = np.zeros(len(tets.points), bool)
    flags[fixed] = True
    there = mesh.to_device(device)
    try:
        expected = trioxide.smooth(mesh, fixed=fixed, device="cpu", **options)
    except ValueError as error:
        with pytest.raises(ValueError) as found:
            trioxide.smooth(there, fixed=fixed, device=device, **options)
        assert str(found.value) == str(error)
        return
    assert (expected.points != tets.points).any()
    for some in (fixed, flags, DeviceArray.copy_of(flags, device), DeviceArray.copy_of(fixed.astype(np.uint32), device)):
        smoothed = trioxide.smooth(there, fixed=some, device=device, **options)
        assert isinstance(smoothed, trioxide.DeviceSmoothedVolume)
        same(smoothed, expected, "points", "tetrahedra", "regions")
        assert (smoothed.moving, smoothed.sweeps) == (expected.moving, expected.sweeps)


def test_regions_and_fixed_vertices_of_tetrahedra_stay_there(device, tets):
    regions = (tets.points[tets.tetrahedra, 0].mean(axis=1) > 0.5).astype(int)
    plain, halved = tets.to_device(device), trioxide.VolumeMesh(tets.points, tets.tetrahedra, regions=regions).to_device(device)
    fixed = np.arange(0, len(tets.points), 3)
    free = trioxide.smooth(plain, device=device)
    bounded, held = trioxide.smooth(halved, device=device), trioxide.smooth(plain, fixed=fixed, device=device)
    assert bounded.moving < free.moving and held.moving < free.moving
    np.testing.assert_array_equal(held.points.numpy()[fixed], tets.points[fixed])
    same(plain, tets, "points", "tetrahedra")
    again = free.to_host()
    np.testing.assert_array_equal(again.points, trioxide.smooth(tets, device="cpu").points)


def test_tetrahedra_stay_there_in_a_chain(device):
    tets = trioxide.generate("tets", 8_000, seed=2)
    there = tets.to_device(device)
    before = device.transferred
    fine = trioxide.refine(there, mark=("ball", 0.5, 0.5, 0.5, 0.2), device=device)
    smoothed = trioxide.smooth(fine, max_iterations=5, device=device)
    to_device, to_host = (after - start for after, start in zip(device.transferred, before))
    assert to_host < 100_000 < 24 * len(smoothed.points) and to_device < 100_000
    expected = trioxide.smooth(trioxide.refine(tets, mark=("ball", 0.5, 0.5, 0.5, 0.2), device="cpu"), max_iterations=5, device="cpu")
    same(smoothed, expected, "points", "tetrahedra")


MARKS = ["all", "fraction:0.3", ("disk", 0.5, 0.5, 0.2), ("box", 0, 0, 0.5, 0.5), ("ball", 0.5, 0.5, 0, 0.2), "area:0.001", "angle:25"]


@pytest.mark.parametrize("mark", MARKS)
def test_triangles_are_refined_there(device, plane, mark):
    regions = np.arange(len(plane.triangles)) % 5 - 2
    mesh = trioxide.Mesh(plane.points, plane.triangles, regions=regions)
    fine = trioxide.refine(mesh.to_device(device), mark=mark, rounds=3, device=device)
    expected = trioxide.refine(mesh, mark=mark, rounds=3, device="cpu")
    assert len(expected.triangles) > len(plane.triangles)
    same(fine, expected, "points", "triangles", "parents", "regions")
    assert (fine.rounds, fine.end) == (expected.rounds, expected.end)
    ends = fine.vertex_parents.numpy()
    np.testing.assert_array_equal(expected.points[len(plane.points) :], expected.points[ends].mean(axis=1))


def test_two_columns_stay_two(device, plane):
    flat = DeviceArray.copy_of(np.ascontiguousarray(plane.points[:, :2]), device)
    fine = trioxide.refine(flat, plane.to_device(device).triangles, device=device)
    np.testing.assert_array_equal(fine.points.numpy(), trioxide.refine(plane, device="cpu").points[:, :2])


def test_surfaces_in_space_are_refined(device, scan):
    expected = trioxide.refine(scan, mark=("ball", 0, 0, 1, 0.7), rounds=2, device="cpu")
    assert len(expected.triangles) > len(scan.triangles)
    np.testing.assert_allclose(expected.prolongation @ scan.points, expected.points, atol=1e-12)
    fine = trioxide.refine(scan.to_device(device), mark=("ball", 0, 0, 1, 0.7), rounds=2, device=device)
    same(fine, expected, "points", "triangles", "parents")
    single = trioxide.refine(scan, precision="f32", device="cpu")
    assert len(single.triangles) == len(trioxide.refine(scan, device="cpu").triangles)


def test_flags_and_ids_mark_there(device, plane):
    ids = np.array([3, 77, 500])
    flags = np.zeros(len(plane.triangles), bool)
    flags[ids] = True
    expected = trioxide.refine(plane, mark=ids, device="cpu")
    for mark in (ids, flags, DeviceArray.copy_of(flags, device), DeviceArray.copy_of(ids.astype(np.uint32), device)):
        same(trioxide.refine(plane.to_device(device), mark=mark, device=device), expected, "points", "triangles", "parents")
    with pytest.raises(ValueError, match=r"mark\[1\] is 1"):
        trioxide.refine(plane.to_device(device), mark=DeviceArray.copy_of(np.array([0, 10**6], np.int32), device), device=device)
    with pytest.raises(ValueError, match="one for each triangle"):
        trioxide.refine(plane.to_device(device), mark=DeviceArray.copy_of(flags[1:], device), device=device)


def test_tetrahedra_are_refined_there(device, tets):
    mesh = trioxide.VolumeMesh(tets.points, tets.tetrahedra, regions=np.arange(len(tets.tetrahedra)) % 3)
    for mark, rounds in (("all", 1), ("fraction:0.3", 2), (("ball", 0.5, 0.5, 0.5, 0.3), 2), ([0, 5, 9], 1)):
        fine = trioxide.refine(mesh.to_device(device), mark=mark, rounds=rounds, device=device)
        expected = trioxide.refine(mesh, mark=mark, rounds=rounds, device="cpu")
        same(fine, expected, "points", "tetrahedra", "parents", "vertex_parents", "regions")
        assert fine.rounds == expected.rounds
    field = DeviceArray.copy_of(np.ascontiguousarray(mesh.points[:, 1]), device)
    carried = fine.interpolate(field).numpy()
    np.testing.assert_allclose(carried, expected.prolongation @ mesh.points[:, 1], atol=1e-14)


def test_a_field_of_another_package_is_taken_as_floats(plane):
    fine = trioxide.refine(plane.to_device("cpu"), device="cpu")
    values = np.ascontiguousarray(plane.points[:, 0])
    # In place on its GPU alone: here its type is looked at, and refused is its place.
    with pytest.raises(ValueError, match="DeviceArray.copy_of takes a copy"):
        fine.interpolate(values)
    with pytest.raises(TypeError, match="field is an array of int64"):
        fine.interpolate(np.arange(len(values)))


def test_fields_are_carried_there(device, plane):
    pytest.importorskip("scipy")
    fine = trioxide.refine(plane.to_device(device), mark="disk:0.5,0.5,0.2", rounds=3, device=device)
    expected = trioxide.refine(plane, mark="disk:0.5,0.5,0.2", rounds=3, device="cpu")
    values = np.sin(9 * plane.points[:, 0]) + plane.points[:, 1]
    carried = fine.interpolate(DeviceArray.copy_of(values, device))
    np.testing.assert_allclose(carried.numpy(), expected.prolongation @ values, rtol=1e-13)
    for a, b in zip((fine.prolongation.data, fine.prolongation.indices), (expected.prolongation.data, expected.prolongation.indices)):
        np.testing.assert_array_equal(a, b)
    for wrong in (DeviceArray.copy_of(values[1:], device), DeviceArray.copy_of(plane.points, device)):
        with pytest.raises(ValueError, match="one number for each vertex"):
            fine.interpolate(wrong)
    # The result of a refinement is refined again: parents are those of its triangles.
    again = trioxide.refine(fine, device=device)
    assert int(again.parents.numpy().max()) == len(expected.triangles) - 1


def test_refinement_leaves_its_input(device, plane):
    there = plane.to_device(device)
    trioxide.refine(there, rounds=2, device=device)
    same(there, plane, "points", "triangles")


def test_a_chain_stays_there(device):
    mesh = trioxide.generate("jittered", 30_000, seed=4)
    there = mesh.to_device(device)
    before = device.transferred
    welded = trioxide.weld(there, epsilon=1e-9, device=device)
    fine = trioxide.refine(welded, mark=("disk", 0.5, 0.5, 0.2), rounds=2, device=device)
    polygons = trioxide.polylla(trioxide.smooth(fine, max_iterations=10, device=device), device=device)
    to_device, to_host = (after - start for after, start in zip(device.transferred, before))
    # The smallest array of the chain, offsets, has more; counts and extremes cross.
    assert to_host < 100_000 < 4 * len(polygons.offsets) and to_device < 100_000
    host = trioxide.refine(trioxide.weld(mesh, epsilon=1e-9, device="cpu"), mark=("disk", 0.5, 0.5, 0.2), rounds=2, device="cpu")
    expected = trioxide.polylla(trioxide.smooth(host, max_iterations=10, device="cpu"), device="cpu")
    same(polygons, expected, "offsets", "vertices", "points")


def test_arrays_of_the_cpu_are_numpy_s_without_a_copy(plane):
    there = plane.to_device("cpu")
    view = np.from_dlpack(there.points)
    address = view.__array_interface__["data"][0]
    assert address == np.from_dlpack(there.points).__array_interface__["data"][0]
    del there
    gc.collect()
    np.testing.assert_array_equal(view, plane.points)
    for array in (np.array([True, False]), np.arange(3, dtype=np.uint8), np.arange(3, dtype=np.int32)):
        copy = DeviceArray.copy_of(array, trioxide.Device("cpu"))
        assert copy.dtype == array.dtype and np.from_dlpack(copy).dtype == array.dtype
        np.testing.assert_array_equal(copy.numpy(), array)
    assert not hasattr(copy, "__cuda_array_interface__")


def test_a_damaged_scan_is_repaired_there(device, coloured):
    faces = coloured.triangles.copy()
    faces[10::50] = faces[10::50][:, [0, 2, 1]]
    faces = np.concatenate([faces[5:], faces[20:23]])
    mesh = trioxide.Mesh(
        coloured.points,
        faces,
        normals=coloured.normals,
        colors=coloured.colors,
        uvs=coloured.uvs,
        regions=np.arange(len(faces)) % 3,
    )
    steps = dict(repeated=True, degenerate=0, edges=True, vertices=True, orient=True, fill_holes=20, min_faces=5)
    expected = trioxide.repair(mesh, device="cpu", **steps)
    assert expected.counts["repeated_faces"] == 3 and expected.counts["turned_faces"] > 0
    assert expected.counts["filled_holes"] > 0
    there = mesh.to_device(device)
    repaired = trioxide.repair(there, **steps)
    assert isinstance(repaired, trioxide.DeviceRepaired) and repaired.counts == expected.counts
    names = ("points", "triangles", "normals", "colors", "uvs", "regions", "old_vertices", "old_cells")
    same(repaired, expected, *names)
    # Arrays alone, and a chain that stays there.
    alone = trioxide.repair(there.points, there.triangles, orient=True)
    same(alone, trioxide.repair(mesh.points, mesh.triangles, orient=True, device="cpu"), "triangles", "old_vertices")
    chain = "repair --repeated --orient --fill-holes 20 : smooth --max-iterations 2"
    chained = trioxide.chain(there, chain)
    assert isinstance(chained, trioxide.DeviceSmoothed)
    same(chained, trioxide.chain(mesh, chain, device="cpu"), "points", "triangles", "regions")


def test_what_cannot_be_there_is_refused_with_a_remedy(device, plane, scan, tets):
    there = plane.to_device(device)
    segments = DeviceArray.copy_of(plane.triangles[:1, :2].copy(), device)
    wrong = {
        "points is in a device's memory and triangles is not: copy": lambda: trioxide.weld(there.points, plane.triangles, epsilon=1),
        "triangles is in a device's memory and points is not": lambda: trioxide.smooth(plane.points, there.triangles),
        "and regions is not": lambda: trioxide.polylla(there, regions=np.zeros(len(plane.triangles))),
        "triangles are missing": lambda: trioxide.smooth(there.points),
        "weld does not carry segments on a device: leave it out": lambda: trioxide.weld(
            trioxide.DeviceSurface(there.points, there.triangles, segments=segments), epsilon=1
        ),
        "repair does not carry segments on a device": lambda: trioxide.repair(there, segments=segments, orient=True),
        "refine does not carry segments.*interpolate": lambda: trioxide.refine(there, segments=segments),
        "take its .to_host": lambda: trioxide.vem(there),
        "takes a surface, not tetrahedra: refine, reorder and smooth": lambda: trioxide.weld(tets.to_device(device), epsilon=1),
        "the volume mesh is in a device's memory and points is not": lambda: trioxide.smooth(
            trioxide.DeviceVolume(tets.points, tets.tetrahedra)
        ),
        "tetrahedra is in a device's memory and points is not": lambda: trioxide.refine(
            trioxide.DeviceVolume(tets.points, tets.to_device(device).tetrahedra)
        ),
        "not tetrahedra with triangles": lambda: trioxide.smooth(tets.to_device(device), there.triangles),
        "not tetrahedra: refine, reorder and smooth take": lambda: trioxide.polylla(tets.to_device(device)),
        "smoothed there in double precision: leave precision out": lambda: trioxide.smooth(tets.to_device(device), precision="f32"),
        "regions has 2 entries: one for each tetrahedron": lambda: trioxide.smooth(
            trioxide.DeviceVolume(
                *tets.to_device(device)._held().values(), regions=DeviceArray.copy_of(np.zeros(2, np.int32), device)
            )
        ),
        "joined there by half-edges.*leave ties out, or join on the host": lambda: trioxide.polylla(there, ties="first"),
        "not polygons: take .to_host": lambda: trioxide.smooth(trioxide.polylla(there, device=device)),
        "refined there in double precision.*leave precision out": lambda: trioxide.refine(there, precision="f32"),
        "smoothed there in double precision: leave precision out, or smooth on the host": lambda: trioxide.smooth(there, precision="f32"),
        "regions has 3 entries: one for each triangle": lambda: trioxide.polylla(
            there, regions=DeviceArray.copy_of(np.zeros(3, np.int32), device)
        ),
        "normals has 2 entries: one for each vertex": lambda: trioxide.weld(
            trioxide.DeviceSurface(there.points, there.triangles, normals=DeviceArray.copy_of(np.ones((2, 3)), device)), epsilon=1
        ),
        "colors is a device array of the shape .*: the shape \\(n, 4\\)": lambda: trioxide.weld(
            trioxide.DeviceSurface(there.points, there.triangles, colors=DeviceArray.copy_of(np.ones((2, 3), np.uint8), device)),
            epsilon=1,
        ),
        "segment 0.* is no edge": lambda: trioxide.polylla(there, segments=DeviceArray.copy_of(np.array([[0, 0]], np.int32), device)),
        "segment 1 has a vertex index": lambda: trioxide.polylla(
            there,
            segments=DeviceArray.copy_of(np.concatenate([plane.triangles[:1, :2], [[0, -1]]]).astype(np.int32), device),
        ),
        r"fixed\[0\] is -1": lambda: trioxide.smooth(there, fixed=DeviceArray.copy_of(np.array([-1], np.int32), device)),
        "polygons: surfaces on a device.*on the host": lambda: trioxide.polylla(plane, device="cpu").to_device(device),
        "points is a device array of the shape .* type <u4": lambda: trioxide.weld(there.triangles, there.triangles, epsilon=1),
        "triangles is a device array": lambda: trioxide.weld(there.points, there.points, epsilon=1),
        "one or two dimensions": lambda: DeviceArray.copy_of(np.zeros((2, 2, 2)), device),
        "not contiguous": lambda: DeviceArray.copy_of(np.zeros((4, 4))[::2], device),
        "float64, int32, uint32, uint8 or bool": lambda: DeviceArray.copy_of(np.zeros(2, np.int64), device),
    }
    for message, call in wrong.items():
        with pytest.raises((TypeError, ValueError), match=message):
            call()


def test_wrong_ids_and_coordinates_are_found_there(device, scan, tets):
    for wrong in (-1, len(scan.points), 2**31 - 1):
        there = scan.to_device(device)
        bad = scan.triangles.astype(np.int32)
        bad[7, 1] = wrong
        there.triangles = DeviceArray.copy_of(bad, device)
        calls = (
            lambda: trioxide.weld(there, epsilon=0.1),
            lambda: trioxide.smooth(there),
            lambda: trioxide.refine(there),
            lambda: trioxide.repair(there, orient=True),
        )
        for call in calls:
            with pytest.raises(ValueError, match="7"):
                call()
    there = scan.to_device(device)
    bad = scan.points.copy()
    bad[11, 2] = np.nan
    there.points = DeviceArray.copy_of(bad, device)
    for call in (lambda: trioxide.weld(there, epsilon=0.1), lambda: trioxide.smooth(there), lambda: trioxide.refine(there)):
        with pytest.raises(ValueError, match="11"):
            call()
    volume = tets.to_device(device)
    bad = tets.tetrahedra.copy()
    bad[3] = bad[3, [1, 0, 2, 3]]
    volume.tetrahedra = DeviceArray.copy_of(bad, device)
    with pytest.raises(ValueError, match="tetrahedron 3"):
        trioxide.refine(volume)
    with pytest.raises(ValueError, match="tetrahedron 3|cell 3"):
        bad[3, 1] = bad[3, 0]
        trioxide.smooth(trioxide.DeviceVolume(volume.points, DeviceArray.copy_of(bad, device)))
    for wrong in (-1, len(tets.points)):
        bad = tets.tetrahedra.astype(np.int32)
        bad[9, 2] = wrong
        with pytest.raises(ValueError, match="cell 9 has a vertex index that is out of range"):
            trioxide.smooth(trioxide.DeviceVolume(volume.points, DeviceArray.copy_of(bad, device)))
    bad = tets.points.copy()
    bad[11, 2] = np.nan
    with pytest.raises(ValueError, match="node 11"):
        trioxide.smooth(trioxide.DeviceVolume(DeviceArray.copy_of(bad, device), tets.to_device(device).tetrahedra))


def test_nothing_is_something_there(device):
    empty = trioxide.Mesh(np.zeros((0, 3)), np.zeros((0, 3), int), regions=[], normals=np.zeros((0, 3))).to_device(device)
    for call in (
        lambda: trioxide.weld(empty, epsilon=1.0),
        lambda: trioxide.smooth(empty),
        lambda: trioxide.refine(trioxide.DeviceSurface(empty.points, empty.triangles)),
        lambda: trioxide.polylla(empty),
        lambda: trioxide.smooth(trioxide.VolumeMesh(np.zeros((0, 3)), np.zeros((0, 4), int)).to_device(device)),
    ):
        try:
            assert len(call().points) == 0
        except ValueError as error:
            assert str(error)


CONVERTED = [
    # kind, given, type that the native part gets
    ("floats", np.zeros(3, np.float32), "float64"),
    ("floats", np.zeros(3, np.float64), "float64"),
    ("ids", np.arange(3, dtype=np.int64), "int32"),
    ("ids", np.arange(3, dtype=np.uint64), "int32"),
    ("ids", np.arange(3, dtype=np.uint8), "int32"),
    ("ids", np.arange(3, dtype=np.uint32), "uint32"),
    ("tags", np.arange(-3, 3, dtype=np.int64), "int32"),
    ("flags", np.zeros(3, bool), "bool"),
    ("flags", np.arange(3, dtype=np.int64), "int32"),
    ("bytes", np.zeros((3, 4), np.uint8), "uint8"),
    ("ids", np.zeros((0, 3), np.int64), "int32"),
]


@pytest.mark.parametrize("kind, array, expected", CONVERTED)
def test_types_are_converted_by_the_array_s_package(kind, array, expected):
    """NumPy's arrays stand for those of a GPU: they have the same methods."""
    from trioxide._device import _converted

    found = _converted(array, "name", kind)
    assert found.dtype == expected
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    "name, kind, array, error, message",
    [
        ("triangles", "ids", np.array([-1]), ValueError, "triangles has -1: numbers run from 0 to 2147483647"),
        ("triangles", "ids", np.array([2**31]), ValueError, "triangles has 2147483648"),
        ("regions", "tags", np.array([2**31]), ValueError, "regions has 2147483648: numbers run from -2147483648"),
        ("triangles", "ids", np.zeros(3), TypeError, "float64: integers are needed; points come first"),
        ("regions", "tags", np.zeros(3), TypeError, "regions is an array of float64: integers are needed$"),
        ("segments", "ids", np.zeros(3, bool), TypeError, "segments is an array of bool: integers"),
        ("points", "floats", np.zeros(3, np.int32), TypeError, "coordinates are floats; points come first"),
        ("colors", "bytes", np.zeros(3, np.float32), TypeError, "colors is an array of float32: uint8 is needed"),
        ("fixed", "flags", np.zeros(3, np.float32), TypeError, "fixed is an array of float32: flags or ids are needed"),
    ],
)
def test_types_that_lose_something_are_refused(name, kind, array, error, message):
    from trioxide._device import _converted

    with pytest.raises(error, match=message):
        _converted(array, name, kind)


def stages(device):
    return {name for name, _ in device.timings}


BUILT = {"match twins", "find twins", "link the border"}
LISTED = {"cells of nodes", "neighbours"}


def test_a_chain_builds_half_edges_once(device, plane):
    """Refinement knows the half-edges of its result; smoothing and Polylla take them. The stages say what was built."""
    there = plane.to_device(device)
    refined = trioxide.refine(there, device=device)
    assert "match twins" in stages(device) and "bounds" in stages(device)
    smoothed = trioxide.smooth(refined, max_iterations=3, device=device)
    assert BUILT & stages(device) == {"find twins", "link the border"} and not LISTED & stages(device)
    assert "bounds" not in stages(device)
    polygons = trioxide.polylla(smoothed, device=device)
    assert not BUILT & stages(device) and "list triangles" not in stages(device)
    # The known structure belongs to the triangles: other objects with the same arrays find it.
    again = trioxide.polylla(trioxide.DeviceSurface(smoothed.points, refined.triangles), device=device)
    assert not BUILT & stages(device)
    trioxide.refine(there, device=device)
    assert "match twins" not in stages(device) and "bounds" not in stages(device)

    fine = trioxide.refine(plane, device="cpu")
    moved = trioxide.smooth(fine, max_iterations=3, device="cpu")
    expected = trioxide.polylla(moved, device="cpu")
    same(smoothed, moved, "points", "triangles")
    assert (smoothed.moving, smoothed.sweeps) == (moved.moving, moved.sweeps)
    for found in (polygons, again):
        same(found, expected, "offsets", "vertices", "half_edges", "parent_offsets", "parents", "map")


def test_the_way_back_to_triangles_is_found_when_it_is_asked_for(device, plane):
    polygons = trioxide.polylla(plane.to_device(device), device=device)
    first = polygons.map
    assert stages(device) == {"list triangles"}
    trioxide.polylla(plane.to_device(device), device=device)
    assert polygons.map is first and len(polygons.parents) == len(plane.triangles) and "list triangles" not in stages(device)


def test_nothing_is_kept_of_triangles_that_another_package_can_write(device, plane):
    there = plane.to_device(device)
    refined = trioxide.refine(there, device=device)
    trioxide.polylla(refined, device=device)
    assert "find twins" in stages(device)
    refined.triangles.__dlpack__()
    trioxide.polylla(refined, device=device)
    assert "match twins" in stages(device)
    trioxide.polylla(refined, device=device)
    assert "match twins" in stages(device)


def test_known_triangles_over_wrong_points_are_refused(device, plane):
    """In the words of a mesh of which nothing is known."""
    there = plane.to_device(device)
    trioxide.polylla(there, device=device)
    copy = DeviceArray.copy_of(plane.triangles, device)
    turned, wrong = plane.points * [1, -1, 1], plane.points.copy()
    wrong[3, 0] = np.nan
    for points in (turned, wrong, plane.points[:500]):
        points, said = DeviceArray.copy_of(points, device), []
        for triangles in (there.triangles, copy):
            with pytest.raises(ValueError) as error:
                trioxide.polylla(points, triangles, device=device)
            said.append(str(error.value))
        assert said[0] == said[1]
