"""Polyhedra of tetrahedra, triangulation of outlines, chains, virtual elements."""

import numpy as np
import pytest

import trioxide

SQUARE = [[0, 0], [3, 0], [3, 3], [0, 3], [1, 1], [2, 1], [2, 2], [1, 2]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]


@pytest.fixture(scope="module")
def polyhedra(tets):
    return trioxide.polylla(tets, device="cpu")


def test_tetrahedra_become_polyhedra(tets, polyhedra):
    count = len(polyhedra.offsets) - 1
    assert 1 < count < len(tets.tetrahedra)
    assert count == polyhedra.counts["polyhedra"] and len(polyhedra.face_offsets) - 1 == polyhedra.counts["faces"]
    assert np.array_equal(np.sort(polyhedra.parents), np.arange(len(tets.tetrahedra)))
    assert np.array_equal(np.bincount(polyhedra.map), np.diff(polyhedra.parent_offsets.astype(int)))
    corners = tets.points[tets.tetrahedra.astype(int)]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    whole = np.bincount(polyhedra.map, weights=volumes)

    def volume(polyhedron):
        fans = [(face[0], a, b) for face in polyhedra.faces(polyhedron) for a, b in zip(face[1:], face[2:])]
        return np.linalg.det(polyhedra.points[np.array(fans, int)]).sum() / 6

    assert np.allclose([volume(polyhedron) for polyhedron in range(count)], whole)


def test_polyhedra_become_vtk_cells_at_once(polyhedra):
    stream = []
    for polyhedron in range(len(polyhedra.offsets) - 1):
        faces = polyhedra.faces(polyhedron)
        cell = [len(faces), *(number for face in faces for number in (len(face), *face))]
        stream += [len(cell), *cell]
    assert any(side % 2 for side in polyhedra.sides) and polyhedra._stream().tolist() == stream
    # Each alike: a walk over the arrays for each polyhedron would take minutes.
    count = 200_000
    pyramid = np.array([4, 0, 1, 2, 3, 3, 1, 0, 4, 3, 2, 1, 4, 3, 3, 2, 4, 3, 0, 3, 4])
    sizes = np.array([4, 3, 3, 3, 3])
    many = trioxide.Polyhedra._of({
        "points": np.zeros((5, 3)),
        "face_offsets": np.concatenate([[0], np.cumsum(np.tile(sizes, count))]).astype(np.uint32),
        "face_vertices": np.tile(np.delete(pyramid, [0, 5, 9, 13, 17]), count).astype(np.uint32),
        "offsets": np.arange(0, 5 * count + 1, 5, dtype=np.uint32),
        "sides": np.arange(0, 10 * count, 2, dtype=np.uint32),
    })  # fmt: skip
    assert np.array_equal(many._stream(), np.tile([len(pyramid) + 1, 5, *pyramid], count))
    assert all(many.faces(polyhedron)[1].tolist() == [1, 0, 4] for polyhedron in range(0, count, 20))


def test_polyhedra_are_written_and_read(polyhedra, tmp_path):
    trioxide.write(tmp_path / "p.vtu", polyhedra)
    back = trioxide.read(tmp_path / "p.vtu")
    assert isinstance(back, trioxide.Polyhedra)
    for name in ("points", "offsets", "sides", "face_offsets", "face_vertices"):
        assert np.array_equal(getattr(back, name), getattr(polyhedra, name)), name
    assert back.counts == {}
    with pytest.raises(ValueError, match="are of a file"):
        back.map
    for name in ("case.foam", "p.vtk", "p.visf"):
        trioxide.write(tmp_path / name, polyhedra)
        back = trioxide.read(tmp_path / name)
        assert np.array_equal(back.points, polyhedra.points) and len(back.offsets) == len(polyhedra.offsets), name
    assert len(trioxide.read(tmp_path / "constant" / "polyMesh").offsets) == len(polyhedra.offsets)
    # Camarón's text: a tetrahedron with one face that looks inward.
    (tmp_path / "in.visf").write_text("2 2\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n4\n3 0 1 2\n3 0 1 3\n3 1 2 3\n3 0 3 2\n0\n1\n4 0 1 2 3\n")
    with pytest.warns(UserWarning, match="faces of 1 polyhedron did not look outward: turned"):
        turned = trioxide.read(tmp_path / "in.visf")
    assert turned.faces(0)[0].tolist() == [0, 2, 1]


def test_options_of_polyhedra(tets, plane, cpu):
    radius = trioxide.polylla(tets, by="circumradius", device=cpu)
    assert radius.counts["polyhedra"] != trioxide.polylla(tets, device=cpu).counts["polyhedra"]
    cavities = trioxide.polylla(tets, rule="cavity", device=cpu)
    assert sorted(cavities.parents) == list(range(len(tets.tetrahedra))) and "pinched" not in cavities.counts
    for options in ({"strict": True}, {"by": "area"}, {"levels": 2}):
        with pytest.raises(ValueError, match='goes with rule="largest-faces"'):
            trioxide.polylla(tets, rule="cavity", device=cpu, **options)
    for options, words in (({"ties": "first"}, "ties goes with triangles"), ({"digest": True}, "digest goes with triangles")):
        with pytest.raises(ValueError, match=words):
            trioxide.polylla(tets, device=cpu, **options)
    for mesh in (plane, plane.to_device("cpu")):
        with pytest.raises(ValueError, match="merge_faces goes with tetrahedra"):
            trioxide.polylla(mesh, merge_faces=True, **({} if mesh is not plane else {"device": cpu}))
        with pytest.raises(ValueError, match="rule goes with tetrahedra"):
            trioxide.polylla(mesh, rule="cavity", **({} if mesh is not plane else {"device": cpu}))
    with pytest.raises(TypeError, match="go with triangles"):
        trioxide.polylla(tets, segments=[[0, 1]], device=cpu)


def test_fields_and_regions_follow_into_polyhedra(tets, cpu):
    tagged = trioxide.VolumeMesh(
        tets.points,
        tets.tetrahedra,
        regions=(tets.points[tets.tetrahedra.astype(int)].mean(axis=1)[:, 0] > 0.5).astype(np.int32),
        point_data={"x": tets.points[:, 0]},
    )
    made = trioxide.polylla(tagged, device=cpu)
    assert np.array_equal(made.regions[made.map], tagged.regions)
    assert np.array_equal(made.point_data["x"], made.points[:, 0])
    pytest.importorskip("pyvista")
    grid = made.to_pyvista()
    assert grid.n_cells == len(made.offsets) - 1 and np.array_equal(grid.cell_data["region"], made.regions)


def test_virtual_elements_on_polyhedra(polyhedra):
    solution = trioxide.vem(polyhedra, problem="patch")
    assert solution.error < 1e-8 and solution.mesh is None and solution.counts["polyhedra"] == len(polyhedra.offsets) - 1
    with pytest.raises(ValueError, match='preconditioner="nested" goes with planar meshes'):
        trioxide.vem(polyhedra, preconditioner="nested")


def test_virtual_elements_on_cells(tets):
    solution = trioxide.vem(tets, problem="patch")
    assert solution.error < 1e-8 and solution.counts["polyhedra"] == len(tets.tetrahedra)


@pytest.mark.parametrize(
    "name, change, words",
    [
        ("sides", lambda sides: sides[[0, 0, *range(2, len(sides))]], "twice"),
        ("sides", lambda sides: np.r_[sides[:-1], 2**20], "faces have two each"),
        ("face_vertices", lambda ids: ids + 2**20, "there are"),
        ("offsets", lambda offsets: offsets[::-1], "must ascend"),
        ("regions", lambda _: [1], "one for each polyhedron"),
    ],
)
def test_wrong_polyhedra_are_refused(polyhedra, name, change, words, tmp_path):
    wrong = type(polyhedra)._of_result({each: getattr(polyhedra, each) for each in polyhedra._names})
    setattr(wrong, name, change(getattr(polyhedra, name)))
    for function in (trioxide.vem, lambda mesh: trioxide.write(tmp_path / "p.vtu", mesh)):
        with pytest.raises(ValueError, match=words):
            function(wrong)


@pytest.mark.parametrize("function", ["weld", "refine", "smooth"])
def test_others_refuse_polyhedra(function, polyhedra):
    with pytest.raises(TypeError, match="not a Polyhedra"):
        getattr(trioxide, function)(polyhedra, **({"epsilon": 0} if function == "weld" else {}))


def test_a_solution_does_not_depend_on_place_and_scale(plane):
    moved = trioxide.Mesh(plane.points * 8 + [3, 4, 5], plane.triangles, point_data={"id": np.arange(1000)})
    here, there = trioxide.vem(plane), trioxide.vem(moved)
    assert there.counts["l2_error"] == pytest.approx(here.counts["l2_error"], rel=1e-9)
    assert np.array_equal(there.mesh.point_data["solution"], there.values)
    assert np.array_equal(there.mesh.point_data["id"], np.arange(1000))
    assert np.array_equal(there.mesh.points, moved.points)


def test_an_outline_is_triangulated():
    mesh = trioxide.triangulate(SQUARE, RING, holes=[[1.5, 1.5]], regions=[(0.5, 0.5, 7)], markers=range(8))
    assert len(mesh.triangles) == 8 and set(mesh.regions) == {7}
    assert sorted(mesh.markers) == list(range(8))
    assert mesh.counts["input_segments"] == 8
    fine = trioxide.triangulate(SQUARE, RING, holes=[[1.5, 1.5]], angle=25, area=0.1)
    a, b, c = (fine.points[fine.triangles[:, k].astype(int), :2] for k in range(3))
    u, v = b - a, c - a
    areas = (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2
    assert areas.sum() == pytest.approx(8) and areas.max() <= 0.1
    small = trioxide.triangulate(SQUARE, RING, holes=[[1.5, 1.5]], regions=[(0.5, 0.5, 7, 0.05)], angle=25)
    assert len(small.triangles) >= 8 / 0.05
    assert np.array_equal(fine.points[:8, :2], np.array(SQUARE, float))
    with pytest.raises(ValueError, match="33"):
        trioxide.triangulate(SQUARE, angle=50)
    crossed = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]
    with pytest.raises(ValueError, match=r"has 1 pair of segments that cross .*: 4 and 5 at \[1.5, 1.5\]; resolve puts"):
        trioxide.triangulate(SQUARE[:4], crossed)
    with pytest.warns(UserWarning, match="1 pair of segments crosses: 1 vertex is added"):
        mesh = trioxide.triangulate(SQUARE[:4], crossed, resolve=True, markers=range(6))
    assert len(mesh.triangles) == 4 and list(mesh.markers) == [0, 1, 2, 3, 4, 4, 5, 5] and mesh.counts["crossings"] == 1
    assert len(trioxide.triangulate(SQUARE, RING, holes="inner").triangles) == 8
    kept = trioxide.triangulate(SQUARE, RING, holes="inner", area=0.05, keep_boundary="all")
    assert len(kept.segments) == 8 and len(kept.triangles) >= 160


def test_a_background_gives_edge_lengths(cpu):
    square = SQUARE[:4]
    background = trioxide.Mesh(square, [[0, 1, 2], [0, 2, 3]], point_data={"h": [0.1, 0.5, 0.5, 0.5]})
    mesh = trioxide.triangulate(square, size="h", background=background, angle=20)
    a, b, c = (mesh.points[mesh.triangles[:, k], :2] for k in range(3))
    longest = np.max([np.linalg.norm(u - v, axis=1) for u, v in ((a, b), (b, c), (c, a))], axis=0)
    assert len(mesh.triangles) > 50 and longest.max() <= 0.5 and longest.min() < 0.2
    with pytest.raises(ValueError, match="the background: the mesh has no point field k: name one of h"):
        trioxide.triangulate(square, size="k", background=background)
    with pytest.raises(ValueError, match="size is a point field of the mesh background"):
        trioxide.triangulate(square, background=background)
    there = trioxide.triangulate(trioxide.DeviceArray.copy_of(np.array(square, float), cpu), size="h", background=background, angle=20)
    assert np.array_equal(there.points.numpy(), mesh.points[:, :2]) and np.array_equal(there.triangles.numpy(), mesh.triangles)


def test_points_are_triangulated_on_a_device(cpu):
    rng = np.random.default_rng(1)
    points = rng.random((500, 3))
    there = trioxide.triangulate(points, device=cpu)
    assert np.array_equal(there.points, points) and np.array_equal(there.firsts, np.arange(500))
    order = rng.permutation(500)
    shuffled = trioxide.triangulate(points[order], device=cpu)
    assert np.array_equal(order[shuffled.triangles], there.triangles)
    twice = np.vstack([points, points[:3]])
    with pytest.raises(ValueError, match="vertex 500 lies at the same place as vertex 0: .* duplicates=.first"):
        trioxide.triangulate(twice, device=cpu)
    first = trioxide.triangulate(twice, device=cpu, duplicates="first")
    assert np.array_equal(first.triangles, there.triangles) and list(first.firsts[-3:]) == [0, 1, 2]
    assert first.counts["duplicates"] == 3
    # Faces and their data are left out, with the data of points kept.
    faces = trioxide.Mesh(points, there.triangles, point_data={"id": np.arange(500)}, cell_data={"area": np.ones(len(there.triangles))})
    again = trioxide.triangulate(faces, device=cpu)
    assert np.array_equal(again.triangles, there.triangles) and np.array_equal(again.point_data["id"], np.arange(500))
    assert not again.cell_data
    # In place on a device, and on to the next function.
    for columns in (2, 3):
        held = trioxide.DeviceArray.copy_of(np.ascontiguousarray(twice[:, :columns]), cpu)
        resident = trioxide.triangulate(held, duplicates="first")
        assert isinstance(resident, trioxide.DeviceTriangulated) and resident.points is held
        assert np.array_equal(resident.triangles.numpy(), there.triangles)
        assert np.array_equal(resident.firsts.numpy(), first.firsts)
    plane = trioxide.DeviceArray.copy_of(np.ascontiguousarray(points[:, :2]), cpu)
    polygons = trioxide.chain(plane, "triangulate : polylla")
    assert same(polygons.to_host(), trioxide.polylla(points[:, :2], there.triangles, device=cpu))
    with pytest.raises(ValueError, match="points is in a device's memory and segments is not"):
        trioxide.triangulate(plane, [[0, 1]])


def test_an_outline_is_triangulated_on_its_device(cpu):
    def held(array, kind):
        return trioxide.DeviceArray.copy_of(np.ascontiguousarray(array, kind), cpu)

    # A point on a side of the hole divides a segment. The last points equal others, with a segment between two of them.
    points = np.array([*SQUARE, [1.5, 1], [0, 0], [1, 2]], float)
    segments = np.array([*RING[:4], [4, 5], [5, 6], [6, 10], [7, 4], [9, 0]])
    limits = {"holes": [[1.5, 1.5]], "regions": [(0.5, 0.5, 7)], "duplicates": "first"}
    for more in ({}, {"convex": True}, {"neighbours": True}, {"angle": 25, "area": 0.1, "neighbours": True}):
        with pytest.warns(UserWarning, match="1 segment joins equal points, and is left out"):
            here = trioxide.triangulate(points, segments, markers=range(9), device=cpu, **limits, **more)
        for columns, kind in ((2, np.uint32), (3, np.int32)):
            there = held(np.column_stack([points, np.ones(len(points))])[:, :columns], float)
            with pytest.warns(UserWarning, match="1 segment joins equal points, and is left out"):
                resident = trioxide.triangulate(there, held(segments, kind), **limits, **more)
            assert isinstance(resident, trioxide.DeviceTriangulated) and (resident.points is there) == ("area" not in more)
            np.testing.assert_array_equal(resident.points.numpy()[:, :2], here.points[:, :2])
            for name in ("triangles", "segments", "regions", "firsts"):
                np.testing.assert_array_equal(getattr(resident, name).numpy(), getattr(here, name), name)
            np.testing.assert_array_equal(resident.parents.numpy(), here.markers)
            assert resident.counts == here.counts and resident.counts["duplicates"] == 2
            if more.get("neighbours"):
                np.testing.assert_array_equal(resident.neighbours.numpy(), here.neighbours)
            assert len(resident.to_host().segments) == len(here.segments) >= 9
    # Without segments.
    there = held(SQUARE, float)
    with pytest.raises(ValueError, match="z from 0 to 7: points that are refined lie in a plane of one z"):
        trioxide.triangulate(held([[0, 0, 0], [1, 0, 7], [0, 1, 0]], float), angle=20)
    alone = trioxide.triangulate(there, regions=[(0.5, 0.5, 7)])
    assert set(alone.regions.numpy()) == {7} and alone.segments is None and alone.parents is None
    for wrong, rule in (([0, 8], "segment 1 runs from vertex 0 to 8, but there are 8 vertices"), ([3, 3], "segment 1 begins and ends at vertex 3")):
        with pytest.raises(ValueError, match=rule):
            trioxide.triangulate(there, held([[0, 1], wrong], np.uint32))
    with pytest.raises(ValueError, match="cross where no vertex is"):
        trioxide.triangulate(there, held([[0, 2], [1, 3]], np.uint32))
    with pytest.raises(ValueError, match="leave markers out"):
        trioxide.triangulate(there, held(RING, np.uint32), markers=range(8))


def neighbours_of(triangles):
    """For each triangle the one across the edge opposite to each corner, -1 at the boundary, by a table of edges."""
    edges = {}
    for t, corners in enumerate(triangles.tolist()):
        for k in range(3):
            edges[corners[(k + 1) % 3], corners[(k + 2) % 3]] = t, k
    found = np.full(triangles.shape, -1, np.int32)
    for (a, b), (t, k) in edges.items():
        found[t, k] = edges.get((b, a), (-1,))[0]
    return found


def test_neighbours_are_those_of_a_table_of_edges(cpu):
    points = np.random.default_rng(2).random((700, 3))
    meshes = [
        trioxide.triangulate(points, device=cpu, neighbours=True),
        trioxide.triangulate(points, device=cpu, neighbours=True, reorder=True),
        trioxide.triangulate(np.vstack([points, points[:9]]), device=cpu, neighbours=True, duplicates="first"),
        trioxide.triangulate([[0, 0], [1, 0], [0, 1]], device=cpu, neighbours=True),
        trioxide.triangulate(SQUARE, RING, holes=[[1.5, 1.5]], neighbours=True),
        trioxide.triangulate(SQUARE, RING, holes=[[1.5, 1.5]], angle=25, area=0.1, neighbours=True, reorder=True, device=cpu),
    ]
    for mesh in meshes:
        assert mesh.neighbours.dtype == np.int32
        np.testing.assert_array_equal(mesh.neighbours, neighbours_of(mesh.triangles))
    assert trioxide.triangulate(points, device=cpu).neighbours is None
    # On a device they stay there, and the half-edges are there for the next function.
    for columns in (2, 3):
        held = trioxide.DeviceArray.copy_of(np.ascontiguousarray(points[:, :columns]), cpu)
        resident = trioxide.triangulate(held, neighbours=True)
        assert isinstance(resident.neighbours, trioxide.DeviceArray)
        assert np.asarray(resident.neighbours.numpy()).dtype == np.int32
        np.testing.assert_array_equal(resident.triangles.numpy(), meshes[0].triangles)
        np.testing.assert_array_equal(resident.neighbours.numpy(), meshes[0].neighbours)
        assert trioxide.triangulate(held).neighbours is None
        flat = trioxide.DeviceArray.copy_of(np.ascontiguousarray(points[:, :2]), cpu)
        polygons = trioxide.polylla(flat, resident.triangles).to_host()
        assert same(polygons, trioxide.polylla(points[:, :2], meshes[0].triangles, device=cpu))


def test_neighbours_are_those_of_scipy():
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(3).random((400, 2))
    ours, theirs = trioxide.triangulate(points, device="cpu", neighbours=True), spatial.Delaunay(points)

    def by_corners(triangles, neighbours):
        names = [frozenset(corners) for corners in triangles.tolist()]
        return {
            (name, corner): neighbour >= 0 and names[neighbour]
            for name, corners, row in zip(names, triangles.tolist(), neighbours.tolist())
            for corner, neighbour in zip(corners, row)
        }

    assert by_corners(ours.triangles, ours.neighbours) == by_corners(theirs.simplices, theirs.neighbors)


def test_files_of_outlines_are_triangulated(tmp_path):
    rows = ["4 2 0 0", *(f"{i} {x} {y}" for i, (x, y) in enumerate(SQUARE[:4])), "4 0", "0 0 1", "1 1 2", "2 2 3", "3 3 0", "0"]
    (tmp_path / "square.poly").write_text("\n".join(rows) + "\n")
    mesh = trioxide.triangulate(tmp_path / "square.poly")
    assert len(mesh.triangles) == 2
    assert np.array_equal(mesh.triangles, trioxide.triangulate(trioxide.read(tmp_path / "square.poly")).triangles)
    with pytest.raises(TypeError, match="the file has its own"):
        trioxide.triangulate(tmp_path / "square.poly", RING)
    with pytest.raises(FileNotFoundError):
        trioxide.triangulate(tmp_path / "nothing.poly")


def same(a, b):
    return np.array_equal(a.points, b.points) and all(np.array_equal(x, y) for x, y in zip(a.polygons(), b.polygons()))


def test_chains_are_the_functions_one_after_the_other(scan, plane, cpu, tmp_path):
    path = tmp_path / "out put.off"
    done = trioxide.chain(scan, f": weld --epsilon 0.05 --position first : smooth --max-iterations 3 -o '{path}'", device=cpu)
    welded = trioxide.weld(scan, epsilon=0.05, position="first", device=cpu)
    smoothed = trioxide.smooth(welded, max_iterations=3, device=cpu)
    assert isinstance(done, trioxide.Smoothed) and same(done, smoothed)
    assert same(trioxide.read(path), smoothed)
    marked = [0, 5]
    done = trioxide.chain(plane, [("refine", {"mark": marked}), "polylla --strict", "-o " + str(tmp_path / "a.off")], device=cpu)
    assert same(done, trioxide.polylla(trioxide.refine(plane, mark=marked, device=cpu), strict=True, device=cpu))
    assert (tmp_path / "a.off").exists()
    assert trioxide.chain(plane, []) is plane


def test_chains_stay_on_a_device(plane, tmp_path):
    there = trioxide.chain(plane.to_device("cpu"), ["weld --epsilon 0 --lock boundary", f"write -o {tmp_path / 'a.off'}"])
    assert isinstance(there, trioxide.DeviceWelded)
    assert same(trioxide.read(tmp_path / "a.off"), there.to_host())


@pytest.mark.parametrize(
    "steps, words",
    [
        ("weld --epsilon 1 : fold", "'fold'|\"fold\" is no step of a chain: it is triangulate, reorder, repair, weld, decimate, smooth, refine, polylla"),
        ([("fold", {})], "is no step of a chain"),
        ("weld --epsilom 1", "weld: unexpected argument '--epsilom'"),
        ("weld --epsilon much", "weld: invalid value 'much'"),
        ("weld --epsilon 1 : : polylla", "empty"),
        ("weld", "weld: .*required"),
        ([("write", {})], "write has one argument, output"),
    ],
)
def test_wrong_chains_are_refused_before_anything_runs(steps, words):
    with pytest.raises(ValueError, match=words):
        trioxide.chain(None, steps)
