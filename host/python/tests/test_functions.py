"""The functions on host arrays: counts and digests are those of the sequential references on the command line."""

import os
import pickle
import struct
import warnings

import numpy as np
import pytest
from conftest import areas

import trioxide


def test_polygons_are_those_of_the_reference(plane):
    polygons = trioxide.polylla(plane, device="cpu")
    # trioxide generate random --n 1000 --seed 1; trioxide polylla --device serial: 316 polygons.
    assert len(polygons.offsets) - 1 == 316 == polygons.counts["polygons"]
    assert np.isclose(areas(polygons).sum(), areas(plane).sum())
    assert (areas(polygons) > 0).all()


def test_polygons_know_their_triangles(plane):
    polygons = trioxide.polylla(plane, device="cpu")
    assert sorted(polygons.parents) == list(range(len(plane.triangles)))
    of_triangles = areas(plane)
    sums = np.bincount(polygons.map, weights=of_triangles)
    np.testing.assert_allclose(sums, areas(polygons), rtol=1e-9)
    # The half-edge starts the polygon.
    first = plane.triangles.reshape(-1)[polygons.half_edges]
    np.testing.assert_array_equal(first, polygons.vertices[polygons.offsets[:-1]])


def test_levels_are_fields_of_the_polygons(plane):
    polygons = trioxide.polylla(plane, levels=2, device="cpu")
    first, second = (polygons.cell_data[f"level_{level}"] for level in (1, 2))
    assert polygons.counts["levels"] == 2 and polygons.counts["pieces"] == second.max() + 1
    sizes = np.bincount(first)
    assert sizes.min() >= 1 and sizes.max() <= 4
    # A piece of the first level lies in one of the second.
    assert all(len(set(second[first == piece])) == 1 for piece in range(len(sizes)))
    # The maps lead from level to level.
    to_first, to_second = polygons.level_parents
    np.testing.assert_array_equal(to_first, first)
    np.testing.assert_array_equal(to_second[first], second)
    with pytest.raises(ValueError, match="level is 3, but there are 2 levels"):
        polygons.prolongation(3)
    few = trioxide.polylla(plane, until=20, device="cpu")
    assert few.counts["pieces"] <= 20 < 4 * few.counts["pieces"]


def test_short_edges_are_gone(plane):
    before = trioxide.polylla(plane, strict=True, device="cpu")
    after = trioxide.polylla(plane, min_edge=0.1, device="cpu")
    counts = after.counts
    assert before.places is None and "short_edges" not in before.counts
    assert counts["short_edges"] > counts["short_edges_left"] >= counts["short_edges_held"]
    assert len(after.points) == len(before.points) - counts["removed_vertices"]
    # No vertex moves, and each polygon has the vertices in the places of its old ones.
    first = np.unique(after.places, return_index=True)[1]
    assert len(first) == len(after.points) and len(after.offsets) == len(before.offsets)
    for old, new in zip(before.faces(), after.faces()):
        assert set(after.places[old]) == set(new)


def test_surfaces_and_polyhedra_have_levels(scan, tets):
    for mesh, cells in ((scan, "triangles"), (tets, "cells")):
        pieces = trioxide.polylla(mesh, strict=True, levels=2, device="cpu")
        first, second = pieces.level_parents
        assert pieces.counts["levels"] == 2 and pieces.counts["pieces"] == second.max() + 1, cells
        np.testing.assert_array_equal(first, pieces.cell_data["level_1"])
        np.testing.assert_array_equal(second[first], pieces.cell_data["level_2"])
        assert np.bincount(first).max() <= 4
    pytest.importorskip("scipy")
    values = np.arange(second.max() + 1.0)
    np.testing.assert_array_equal(pieces.prolongation(2) @ values, values[second])


def test_both_methods_and_thread_numbers_give_the_same_polygons(plane):
    first = trioxide.polylla(plane, device="cpu")
    for device, method in ((trioxide.Device("cpu", threads=1), "half-edge"), ("cpu", "indexed")):
        again = trioxide.polylla(plane, device=device, method=method)
        np.testing.assert_array_equal(again.vertices, first.vertices)
        np.testing.assert_array_equal(again.offsets, first.offsets)


def test_regions_and_segments_bound_polygons(plane):
    left = (plane.points[plane.triangles, 0].mean(axis=1) < 0.5).astype(np.int64)
    polygons = trioxide.polylla(plane, regions=left, device="cpu")
    assert polygons.regions is not None and len(polygons.regions) == len(polygons.offsets) - 1
    np.testing.assert_array_equal(polygons.regions[polygons.map], left)
    assert polygons.counts["polygons"] > 316
    edge = plane.triangles[5, :2]
    cut = trioxide.polylla(plane.points, plane.triangles, segments=[edge], markers=[7], device="cpu")
    ends = {tuple(sorted(map(int, edge)))}
    sides = set()
    for face in cut.faces():
        sides |= {tuple(sorted(map(int, pair))) for pair in zip(face, np.roll(face, -1))}
    assert ends <= sides
    np.testing.assert_array_equal(cut.markers, [7])
    free = trioxide.polylla(plane, regions=left, unconstrained=True, device="cpu")
    assert free.counts["polygons"] == 316


def test_fields_go_along():
    mesh = trioxide.generate("grid", 100)
    mesh.point_data["height"] = mesh.points[:, 0].astype(np.float32)
    mesh.cell_data["label"] = np.arange(len(mesh.triangles), dtype=np.int64)
    polygons = trioxide.polylla(mesh, device="cpu")
    np.testing.assert_array_equal(polygons.point_data["height"], mesh.point_data["height"])
    assert len(polygons.cell_data["label"]) == len(polygons.offsets) - 1


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("ids", [np.int32, np.int64, np.uint32, np.uint64, np.uint16])
def test_every_type_of_numbers_gives_the_same(plane, kind, ids):
    points = plane.points.astype(np.float32).astype(kind)
    expected = trioxide.polylla(plane.points.astype(np.float32), plane.triangles, device="cpu")
    found = trioxide.polylla(points, plane.triangles.astype(ids), device="cpu")
    np.testing.assert_array_equal(found.vertices, expected.vertices)


def test_refined_triangles_know_their_parents(plane):
    disk = ("disk", 0.5, 0.5, 0.2)
    fine = trioxide.refine(plane, mark=disk, rounds=2, device="cpu")
    assert (fine.rounds, fine.end) == (2, "all rounds done")
    assert len(fine.parents) == len(fine.triangles) > len(plane.triangles)
    np.testing.assert_allclose(np.bincount(fine.parents, weights=areas(fine)), areas(plane), rtol=1e-9)
    # Linear fields are taken over exactly.
    matrix = fine.prolongation
    assert matrix.shape == (len(fine.points), len(plane.points))
    np.testing.assert_allclose(matrix @ plane.points, fine.points, atol=1e-12)
    text = trioxide.refine(plane, mark="disk:0.5,0.5,0.2", rounds=2, device="cpu")
    np.testing.assert_array_equal(text.triangles, fine.triangles)


def test_fields_of_segments_and_attributes_are_refined(plane):
    edges = plane.triangles[:40:10, :2]
    uvs = plane.points[:, :2].copy()
    mesh = trioxide.Mesh(
        plane.points, plane.triangles, segments=edges, markers=[5, 5, 6, 7], uvs=uvs, side_data={"load": [0.5, 1.5, 2.5, 3.5]}
    )
    fine = trioxide.refine(mesh, device="cpu")
    assert len(fine.segments) > 4
    np.testing.assert_allclose(fine.uvs, fine.points[:, :2], atol=1e-12)
    # Each part lies on its segment, and has its marker and load.
    loads = dict(zip([0.5, 1.5, 2.5, 3.5], zip(edges, [5, 5, 6, 7])))
    for ends, marker, load in zip(fine.segments, fine.markers, fine.side_data["load"]):
        (a, b), expected = loads[load]
        assert marker == expected
        d = plane.points[b] - plane.points[a]
        for p in fine.points[ends] - plane.points[a]:
            assert abs(d[0] * p[1] - d[1] * p[0]) < 1e-12 and -1e-12 <= d @ p <= d @ d + 1e-12


def test_flags_and_ids_mark_the_same(plane):
    chosen = np.array([3, 77, 500])
    flags = np.zeros(len(plane.triangles), bool)
    flags[chosen] = True
    by_ids = trioxide.refine(plane, mark=chosen, device="cpu")
    by_flags = trioxide.refine(plane, mark=flags, device="cpu")
    np.testing.assert_array_equal(by_ids.triangles, by_flags.triangles)
    assert len(by_ids.triangles) > len(plane.triangles)
    # Later rounds divide all their parts.
    twice = trioxide.refine(plane, mark=chosen, rounds=2, device="cpu")
    assert len(twice.triangles) > len(by_ids.triangles) and twice.rounds == 2


def test_values_mark_by_a_threshold_or_a_part_of_their_sum(plane):
    values = np.zeros(len(plane.triangles))
    values[[3, 77, 500]] = [1.0, 2.0, 4.0]
    expected = trioxide.refine(plane, mark=[77, 500], device="cpu").triangles
    by_threshold = trioxide.refine(plane, mark=values, threshold=1, device="cpu")
    by_part = trioxide.refine(plane, mark=values, dorfler=0.8, device="cpu")
    np.testing.assert_array_equal(by_threshold.triangles, expected)
    np.testing.assert_array_equal(by_part.triangles, expected)
    fine = trioxide.refine(plane, until_area=0.001, device="cpu")
    a, b, c = (fine.points[fine.triangles[:, i], :2] for i in range(3))
    u, v = b - a, c - a
    assert (np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2).max() <= 0.001
    coarse = trioxide.refine(plane, rounds=3, coarsen_to=1, device="cpu")
    np.testing.assert_array_equal(coarse.triangles, trioxide.refine(plane, device="cpu").triangles)


def test_refinement_stops_at_its_limit(plane):
    stopped = trioxide.refine(plane, rounds=5, max_triangles=5000, device="cpu")
    assert stopped.end == "the next round would have passed the most triangles" and len(stopped.triangles) <= 5000


def test_refined_tetrahedra(tets):
    fine = trioxide.refine(tets, mark=("ball", 0.5, 0.5, 0.5, 0.3), device="cpu")
    assert isinstance(fine, trioxide.RefinedVolume)
    assert len(fine.tetrahedra) == len(fine.parents) > len(tets.tetrahedra)
    assert len(fine.vertex_parents) == len(fine.points) - len(tets.points)
    np.testing.assert_allclose(fine.prolongation @ tets.points, fine.points, atol=1e-12)
    volume = lambda m: np.linalg.det(m.points[m.tetrahedra[:, 1:]] - m.points[m.tetrahedra[:, :1]]) / 6  # noqa: E731
    np.testing.assert_allclose(volume(fine).sum(), volume(tets).sum())
    small = trioxide.refine(tets, until_volume=1e-4, device="cpu")
    assert volume(small).max() <= 1e-4 * (1 + 1e-12) < volume(fine).max()


def test_tetrahedra_are_marked_by_values_and_go_back(tets):
    values = np.zeros(len(tets.tetrahedra))
    values[[3, 77, 100]] = [1.0, 2.0, 4.0]
    expected = trioxide.refine(tets, mark=[77, 100], device="cpu").tetrahedra
    for rule in ({"threshold": 1}, {"dorfler": 0.8}):
        np.testing.assert_array_equal(trioxide.refine(tets, mark=values, device="cpu", **rule).tetrahedra, expected)
    once = trioxide.refine(tets, device="cpu")
    back = trioxide.refine(tets, rounds=3, coarsen_to=1, device="cpu")
    np.testing.assert_array_equal(back.tetrahedra, once.tetrahedra)
    there = tets.to_device("cpu")
    for given in ({"rounds": 3, "coarsen_to": 1}, {"until_volume": 1e-4, "coarsen_to": 1}):
        back = trioxide.refine(there, **given)
        expected = trioxide.refine(tets, device="cpu", **given)
        np.testing.assert_array_equal(back.tetrahedra.numpy(), expected.tetrahedra)
        assert back.rounds == expected.rounds == 1
    with pytest.raises(ValueError, match="level 2 was not reached: there were 1 rounds"):
        trioxide.refine(there, coarsen_to=2)
    values[5] = -1
    with pytest.raises(ValueError, match="the value of tetrahedron 5 is -1"):
        trioxide.refine(tets, mark=values, dorfler=0.8, device="cpu")


def test_welded_vertices(scan):
    welded = trioxide.weld(scan, epsilon=0.08, device="cpu")
    assert len(welded.map) == len(scan.points)
    assert len(welded.removed) == len(scan.points) - len(welded.points) > 0
    np.testing.assert_array_equal(welded.map[welded.representatives], np.arange(len(welded.points)))
    represented = scan.points[welded.representatives[welded.map]]
    assert np.linalg.norm(represented - scan.points, axis=1).max() <= 0.08
    assert welded.triangles.max() < len(welded.points)
    for method in ("grid", "on-the-fly"):
        again = trioxide.weld(scan, epsilon=0.08, method=method, device="cpu")
        np.testing.assert_array_equal(again.map, welded.map)
        np.testing.assert_array_equal(again.points, welded.points)


def test_welding_by_a_ratio_and_with_locks(scan):
    third = trioxide.weld(scan, ratio=0.3, device="cpu")
    assert abs(len(third.removed) / len(scan.points) - 0.3) < 0.01 and third.epsilon > 0
    everything = trioxide.weld(scan, epsilon=1.0, locked=np.ones(len(scan.points), bool), device="cpu")
    assert len(everything.removed) == 0
    with pytest.raises(ValueError, match="give epsilon"):
        trioxide.weld(scan, device="cpu")


def test_a_mesh_beyond_the_memory_limit_is_welded_in_slabs():
    scan = trioxide.generate("scan", 20000, seed=1)
    bare = trioxide.Mesh(scan.points, scan.triangles)
    whole = trioxide.weld(bare, epsilon=0.02, device="cpu")
    assert "slabs" not in whole.counts
    with pytest.warns(UserWarning, match="of which 700000 may be used: welding in slabs"):
        slabs = trioxide.weld(bare, epsilon=0.02, memory_limit="0.7M", device="cpu")
    assert slabs.counts["slabs"] > 2 and slabs.counts["passes"] >= 1
    for name in ("points", "triangles", "map", "representatives"):
        np.testing.assert_array_equal(getattr(slabs, name), getattr(whole, name))
    # Options that slabs do not support are refused with a remedy, in Python's words.
    with pytest.raises(ValueError, match="without lock_boundary or locked: leave it out, or give weld more memory"):
        trioxide.weld(bare, epsilon=0.02, memory_limit=700_000, locked=[0], device="cpu")
    with pytest.raises(ValueError, match="100000 bytes"):
        trioxide.weld(bare, epsilon=0.02, memory_limit=100_000, device="cpu")


def test_point_clouds_are_welded():
    cloud = trioxide.generate("cloud", 500, seed=1)
    welded = trioxide.weld(cloud.points, epsilon=0.05, device="cpu")
    assert 0 < len(welded.points) < len(cloud.points)
    assert len(welded.faces()) == 0


def test_smoothed_surfaces_and_volumes(plane, tets):
    smoothed = trioxide.smooth(plane, max_iterations=10, device="cpu")
    assert smoothed.sweeps == 10 and 0 < smoothed.moving < len(plane.points)
    np.testing.assert_array_equal(smoothed.triangles, plane.triangles)
    volume = trioxide.smooth(tets, max_iterations=5, guard=True, device="cpu")
    assert isinstance(volume, trioxide.SmoothedVolume) and volume.sweeps == 5
    still = trioxide.smooth(plane, fixed=np.ones(len(plane.points), bool), device="cpu")
    np.testing.assert_array_equal(still.points, plane.points)
    by_hand = plane.points.copy()
    neighbours = [set() for _ in by_hand]
    for triangle in plane.triangles:
        for a in triangle:
            neighbours[a] |= set(map(int, triangle)) - {int(a)}
    moved = trioxide.smooth(plane, max_iterations=1, device="cpu").points
    inner = np.flatnonzero((moved != plane.points).any(axis=1))
    assert len(inner) > 800
    for v in inner:
        np.testing.assert_allclose(moved[v], by_hand[sorted(neighbours[v])].mean(axis=0), atol=1e-15)


def test_tangled_triangles_become_valid():
    grid = trioxide.generate("grid", 49)
    points = grid.points.copy()
    inner = ((points[:, :2] > 0) & (points[:, :2] < 1)).all(axis=1)
    points[inner, :2] += np.random.default_rng(1).uniform(-0.25, 0.25, (int(inner.sum()), 2))

    def areas(p):
        a, b, c = (p[grid.triangles[:, k], :2] for k in range(3))
        return (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]

    bad = np.flatnonzero(areas(points) <= 0)
    assert len(bad) > 5
    found = trioxide.smooth(points, grid.triangles, untangle=True, improve=True, device="cpu")
    assert (areas(found.points) > 0).all() and len(found.inverted) == 0
    assert found.counts["inverted_before"] == len(bad) and found.counts["worst_mean_ratio_after"] > 0.1
    np.testing.assert_array_equal(found.points[~inner], points[~inner])
    with pytest.raises(ValueError, match="still inverted after 0 sweeps: give more max_iterations, or keep_going"):
        trioxide.smooth(points, grid.triangles, untangle=True, max_iterations=0, device="cpu")
    kept = trioxide.smooth(points, grid.triangles, untangle=True, keep_going=True, max_iterations=0, device="cpu")
    np.testing.assert_array_equal(kept.inverted, bad)


def test_results_are_the_same_in_every_run(scan):
    first, again = (trioxide.smooth(scan, method="taubin", max_iterations=20, device="cpu") for _ in range(2))
    assert first.points.tobytes() == again.points.tobytes()


@pytest.mark.parametrize("name", ["a.ply", "a.off", "a.obj", "a.vtu", "a.msh", "a.vtp"])
def test_files_keep_triangles(tmp_path, plane, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trioxide.write(tmp_path / name, plane)
        again = trioxide.read(tmp_path / name)
    np.testing.assert_array_equal(again.triangles, plane.triangles)
    np.testing.assert_array_equal(again.points, plane.points)


def test_files_keep_volumes_and_polygons(tmp_path, plane, tets):
    tets.cell_data["density"] = np.linspace(0, 1, len(tets.tetrahedra))
    trioxide.write(tmp_path / "a.vtu", tets)
    again = trioxide.read(tmp_path / "a.vtu")
    np.testing.assert_array_equal(again.tetrahedra, tets.tetrahedra)
    np.testing.assert_array_equal(again.cell_data["density"], tets.cell_data["density"])
    polygons = trioxide.polylla(plane, device="cpu")
    trioxide.write(tmp_path / "a.off", polygons)
    again = trioxide.read(tmp_path / "a.off")
    np.testing.assert_array_equal(again.vertices, polygons.vertices)


def test_what_a_format_loses_is_a_warning(tmp_path, plane):
    plane = trioxide.Mesh(plane.points, plane.triangles, point_data={"t": plane.points[:, 0]})
    with pytest.warns(UserWarning, match="t"):
        trioxide.write(tmp_path / "a.off", plane)


def test_missing_files_are_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        trioxide.read(tmp_path / "none.ply")
    assert os.fspath(raised.value.filename) == str(tmp_path / "none.ply")
    assert raised.value.strerror == "No such file or directory"
    with pytest.raises(ValueError, match="none.xyzw"):
        trioxide.read(tmp_path / "none.xyzw")


def test_files_that_a_file_names_lie_below_its_folder(tmp_path, plane):
    (tmp_path / "in").mkdir()
    trioxide.write(tmp_path / "piece.vtu", plane)
    path = tmp_path / "in" / "all.pvtu"
    path.write_text(
        '<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid><Piece Source="../piece.vtu"/></PUnstructuredGrid></VTKFile>'
    )
    with pytest.raises(ValueError, match='not below the folder .* or follow references anywhere'):
        trioxide.read(path)
    assert len(trioxide.read(path, follow_references="anywhere").triangles) == len(plane.triangles)
    with pytest.raises(ValueError, match="below, anywhere"):
        trioxide.read(path, follow_references="everywhere")


def test_columns_of_texts_have_names(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 0.5 2 3 90\n2 1.5 2 3 120\n")
    for columns in ["_,x,y,z,intensity", ["_", "x", "y", "z", "intensity"]]:
        cloud = trioxide.read(path, columns=columns)
        np.testing.assert_array_equal(cloud.points, [[0.5, 2, 3], [1.5, 2, 3]])
        np.testing.assert_array_equal(cloud.point_data["intensity"], [90, 120])
    with pytest.raises(ValueError, match="columns.*no column is named y"):
        trioxide.read(path, columns="x")
    path.write_text("0 0\n1 0\n0 1\n")
    assert len(trioxide.triangulate(path, columns="x,y", device="cpu").triangles) == 1


def test_measures(plane, tets):
    report = trioxide.info(plane)
    assert (report["vertices"], report["faces"], report["problem"]) == (1000, len(plane.triangles), None)
    assert report["quality"]["polygons"] == len(plane.triangles)
    turned = plane.triangles.copy()
    turned[4] = turned[4, ::-1]
    assert "4" in trioxide.info(plane.points, turned)["problem"]
    report = trioxide.info(tets)
    assert report["cells"] == sum(report["mean_ratio"]["counts"]) == len(tets.tetrahedra)


def test_pictures(plane, tmp_path):
    assert trioxide.render(plane, path=tmp_path / "a.svg").startswith(b"<")
    assert (tmp_path / "a.svg").stat().st_size > 1000
    png = trioxide.render(plane, values=plane.points[:, 0], width=100)
    assert png.startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="one for each face or for each vertex"):
        trioxide.render(plane, values=[1.0])
    field = np.arange(len(plane.triangles), dtype=float)
    field[0] = np.nan
    mesh = trioxide.Mesh(plane.points, plane.triangles, cell_data={"u": field})
    kinds = dict(color="u", range=(1, 5), colormap="blue-red", log=True, shading="never", legend=True, scale_bar=True, axes=True)
    svg = trioxide.render(mesh, format="svg", **kinds).decode()
    for words in ("u (log)", f"{len(field) - 6} above", "1 without a value", "0.2"):
        assert f">{words}</text>" in svg
    for wrong, words in (
        (dict(color="v"), "no field `v`: the mesh has the fields u"),
        (dict(color="u", range=(5, 1)), "give the smaller one first"),
        (dict(colormap="jet"), 'colormap="jet" is not known: it is light, viridis'),
    ):
        with pytest.raises(ValueError, match=words):
            trioxide.render(mesh, **wrong)


def test_poisson(plane):
    solution = trioxide.vem(trioxide.polylla(plane, device="cpu"))
    assert solution.error < 0.02 and solution.unknowns == 928
    assert trioxide.vem(plane, problem="patch").error < 1e-8
    nested = trioxide.vem(trioxide.polylla(plane, device="cpu"), preconditioner="nested")
    assert abs(nested.error - solution.error) < 1e-9 and nested.counts["levels"] > 1
    with pytest.raises(ValueError, match="it is patch, sine"):
        trioxide.vem(plane, problem="cosine")


def test_generators():
    for kind in ("grid", "jittered", "random", "disk"):
        assert isinstance(trioxide.generate(kind, 100), trioxide.Mesh)
    assert isinstance(trioxide.generate("tets", 100, random=True), trioxide.VolumeMesh)
    with pytest.raises(ValueError, match="grid, jittered"):
        trioxide.generate("sphere", 10)
    with pytest.raises(ValueError, match="0 or more"):
        trioxide.generate("grid", -1)


def test_selftest_and_devices():
    assert set(trioxide.selftest(device="cpu", only="exclusive scan").values()) == {None}
    with pytest.raises(ValueError, match="no case"):
        trioxide.selftest(device="cpu", only="none of them")
    found = trioxide.devices()
    assert (found["reason"] is None) == bool(found["devices"])


def test_data_of_a_file_as_a_whole_go_along(tmp_path):
    """The unit and the records of a LAS file, through functions, copies and files; they can be set too."""
    unit = {"scale": [0.25, 0.5, 0.001], "offset": [500000.125, 0.0, -3.0]}
    record = {"user": "LASF_Projection", "id": 2112, "description": "", "data": b"PROJCS[...]\0", "is_extended": False}
    las = {"source": 7, "encoding": 17, "project": bytes(16), "system": bytes(32), "date": [5, 2019], "records": [record]}
    points = np.array([[500000.125, 1.0, -3.0], [500000.375, 1.0, -2.999], [500010.125, 2.5, 1.0]])
    mesh = trioxide.Mesh(points, about={"unit": unit, "las": las})
    trioxide.write(tmp_path / "a.las", mesh)
    found = trioxide.read(tmp_path / "a.las")
    assert found.about == mesh.about and np.array_equal(found.points, points)
    welded = trioxide.weld(pickle.loads(pickle.dumps(found)), epsilon=0.3, device="cpu")
    with pytest.warns(UserWarning, match="rounded to that of the input, 2.5e-1, 5e-1, 1e-3"):
        trioxide.write(tmp_path / "b.laz", trioxide.reorder(welded, device="cpu"))
    header = (tmp_path / "b.laz").read_bytes()
    assert struct.unpack("<6d", header[131:179]) == (0.25, 0.5, 0.001, 500000.125, 0.0, -3.0)
    assert trioxide.read(tmp_path / "b.laz").about == mesh.about
    groups = {(2, 9): "wall", (3, 4): "steel"}
    tets = trioxide.VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]], regions=[4], about={"groups": groups})
    trioxide.write(tmp_path / "a.msh", trioxide.refine(tets, mark="all", device="cpu"))
    assert trioxide.read(tmp_path / "a.msh").about == {"groups": groups}
    with pytest.warns(UserWarning, match="VTU holds no names of groups: .* surface 9 wall, volume 4 steel"):
        trioxide.write(tmp_path / "a.vtu", tets)
    with pytest.warns(UserWarning, match="PLY holds no coordinate systems"):
        trioxide.write(tmp_path / "c.ply", found)
    skin = {"json": '{"images":[{"bufferView":0,"mimeType":"image/png"}]}', "images": [b"\x89PNG"]}
    trioxide.write(tmp_path / "e.glb", trioxide.Mesh([[0, 0, 0]], about={"gltf_materials": skin}))
    assert trioxide.read(tmp_path / "e.glb").about == {"gltf_materials": skin}
    for wrong, error, message in [
        (3, TypeError, "about is a dict"),
        ({"units": unit}, ValueError, 'about has no "units"'),
        ({"unit": {"scale": 1}}, ValueError, "about: scale: "),
        ({"unit": {"offset": [0, 0, 0]}}, ValueError, "needs three scales that are finite and not 0"),
        ({"unit": {**unit, "scales": 1}}, ValueError, 'has no "scales": its names are scale, offset'),
        ({"las": {"records": [{**record, "text": "x"}]}}, ValueError, 'a record of .* has no "text"'),
        ({"las": {"records": [{**record, "user": "x" * 17}]}}, ValueError, "length 16"),
    ]:
        with pytest.raises(error, match=message):
            trioxide.write(tmp_path / "d.las", trioxide.Mesh(points, about=wrong))


def test_polyhedra_are_measured_and_drawn(tets):
    polyhedra = trioxide.polylla(tets, device="cpu")
    report = trioxide.info(polyhedra)
    assert report["polyhedra"] == len(polyhedra.offsets) - 1 and report["problem"] is None
    assert report["volume"] == pytest.approx(1)
    assert report["bounds"] == trioxide.info(tets)["bounds"]
    assert trioxide.render(polyhedra, width=64, color="none") == trioxide.render(tets, width=64, color="none")
    assert '"up":1' in trioxide.view(polyhedra, up="y").html and '"field":"distinct"' in trioxide.view(polyhedra).html
    for draw in (trioxide.view, trioxide.render):
        with pytest.raises(ValueError, match='up="w" is not known: it is x, y, z'):
            draw(polyhedra, up="w")
    with pytest.raises(TypeError, match="values are of a surface"):
        trioxide.render(polyhedra, values=[1.0])
