"""Arrays of a GPU, from CuPy and PyTorch. Without a GPU or a package the tests are skipped, with the reason."""

import gc
import multiprocessing

import numpy as np
import pytest

import trioxide


def cupy_arrays(points, triangles):
    cupy = pytest.importorskip("cupy")
    return cupy.asarray(points), cupy.asarray(triangles.astype(np.int32))


def torch_arrays(points, triangles):
    torch = pytest.importorskip("torch")
    return torch.from_numpy(points).cuda(), torch.from_numpy(triangles.astype(np.int32)).cuda()


class Interface:
    """An array that has the CUDA array interface alone, as Numba's."""

    def __init__(self, array):
        self.array = array
        self.dtype, self.shape = array.dtype, array.shape
        self.__cuda_array_interface__ = array.__cuda_array_interface__

    def __len__(self):
        return len(self.array)


def interface_arrays(points, triangles):
    return tuple(Interface(array) for array in cupy_arrays(points, triangles))


MAKERS = {"cupy": cupy_arrays, "torch": torch_arrays, "interface": interface_arrays}


@pytest.fixture(params=list(MAKERS))
def make(request, gpu):
    return MAKERS[request.param]


def test_results_have_the_bits_of_the_cpu(make, gpu, scan, plane):
    points, triangles = make(scan.points, scan.triangles)
    welded, expected = trioxide.weld(points, triangles, epsilon=0.08), trioxide.weld(scan, epsilon=0.08, device="cpu")
    np.testing.assert_array_equal(welded.points.numpy(), expected.points)
    np.testing.assert_array_equal(welded.triangles.numpy(), expected.triangles)
    np.testing.assert_array_equal(welded.map.numpy(), expected.map)
    np.testing.assert_array_equal(welded.representatives.numpy(), expected.representatives)
    np.testing.assert_array_equal(welded.removed.numpy(), expected.removed)
    smoothed = trioxide.smooth(points, triangles, max_iterations=30)
    expected = trioxide.smooth(scan, max_iterations=30, device="cpu")
    np.testing.assert_array_equal(smoothed.points.numpy(), expected.points)
    assert (smoothed.moving, smoothed.sweeps) == (expected.moving, expected.sweeps)
    points, triangles = make(plane.points, plane.triangles)
    polygons, expected = trioxide.polylla(points, triangles), trioxide.polylla(plane, device="cpu")
    np.testing.assert_array_equal(polygons.offsets.numpy(), expected.offsets)
    np.testing.assert_array_equal(polygons.vertices.numpy(), expected.vertices)
    np.testing.assert_array_equal(polygons.half_edges.numpy(), expected.half_edges)
    same(polygons, expected, "parent_offsets", "parents", "map")
    assert polygons.counts == expected.counts


@pytest.mark.parametrize("package", ["cupy", "torch", None])
def test_neighbours_stay_on_the_gpu(gpu, plane, package):
    points = np.ascontiguousarray(plane.points[:, :2])
    if package is None:
        there = trioxide.DeviceArray.copy_of(points, gpu)
    else:
        pytest.importorskip(package)
        there, _ = MAKERS[package](points, plane.triangles)
    expected = trioxide.triangulate(points, device="cpu", neighbours=True)
    before = gpu.transferred
    found = trioxide.triangulate(there, device=gpu, neighbours=True)
    to_host = gpu.transferred[1] - before[1]
    assert to_host < 4 * len(expected.triangles)
    np.testing.assert_array_equal(found.triangles.numpy(), expected.triangles)
    np.testing.assert_array_equal(found.neighbours.numpy(), expected.neighbours)
    assert found.neighbours.__cuda_array_interface__["typestr"] == "<i4"
    if package is not None:
        module = pytest.importorskip(package)
        assert "int32" in str(module.from_dlpack(found.neighbours).dtype)



@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_triangles_of_polygons_are_taken_in_place(gpu, plane, package):
    """`map` and `parents` by both protocols: a field of triangles is summed over polygons without a copy to the host."""
    module = pytest.importorskip(package)
    there = plane.to_device(gpu)
    before = gpu.transferred
    polygons = trioxide.polylla(there, device=gpu)
    to_host = gpu.transferred[1] - before[1]
    expected = trioxide.polylla(plane, device="cpu")
    for name in ("parent_offsets", "parents", "map"):
        array = getattr(polygons, name)
        taken = module.from_dlpack(array)
        address = taken.data.ptr if package == "cupy" else taken.data_ptr()
        assert address == array.__cuda_array_interface__["data"][0]
        on_host = taken.get() if package == "cupy" else taken.cpu().numpy()
        np.testing.assert_array_equal(on_host, getattr(expected, name), err_msg=name)
    # Counts cross.
    assert to_host < 4 * len(polygons.map)


def test_tetrahedra_of_other_packages_are_smoothed(make, gpu, tets):
    regions = np.arange(len(tets.tetrahedra)) % 2
    points, tetrahedra = make(tets.points, tets.tetrahedra)
    mesh = trioxide.VolumeMesh(tets.points, tets.tetrahedra, regions=regions)
    tags = trioxide.DeviceArray.copy_of(regions.astype(np.int32), gpu)
    fixed = np.arange(0, len(tets.points), 5)
    for options in (dict(method="taubin", max_iterations=10), dict(guard=True, max_iterations=10), dict(fixed=fixed)):
        found = trioxide.smooth(trioxide.DeviceVolume(points, tetrahedra), device=gpu, **options)
        expected = trioxide.smooth(tets, device="cpu", **options)
        same(found, expected, "points")
        assert (found.moving, found.sweeps) == (expected.moving, expected.sweeps) and found.tetrahedra is tetrahedra
        found = trioxide.smooth(trioxide.DeviceVolume(points, tetrahedra, regions=tags), device=gpu, **options)
        same(found, trioxide.smooth(mesh, device="cpu", **options), "points", "regions")


def test_host_arrays_have_the_same_bits_on_the_gpu(gpu, scan, plane, tets):
    for function, mesh, options in (
        (trioxide.weld, scan, dict(epsilon=0.08)),
        (trioxide.smooth, scan, dict(max_iterations=20)),
        (trioxide.smooth, tets, dict(max_iterations=20, guard=True)),
        (trioxide.polylla, plane, {}),
        (trioxide.refine, plane, dict(rounds=2)),
        (trioxide.refine, tets, dict(mark="fraction:0.3")),
    ):
        found, expected = function(mesh, device=gpu, **options), function(mesh, device="cpu", **options)
        for name in ("points", "triangles", "tetrahedra", "offsets", "vertices", "map", "parents"):
            if getattr(expected, name, None) is not None:
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_a_chain_moves_no_array_to_the_host(make, gpu):
    mesh = trioxide.generate("jittered", 250_000, seed=4)
    points, triangles = make(mesh.points, mesh.triangles)
    before = gpu.transferred
    welded = trioxide.weld(points, triangles, epsilon=1e-9, device=gpu)
    fine = trioxide.refine(welded, mark=("disk", 0.5, 0.5, 0.2), rounds=2, device=gpu)
    smoothed = trioxide.smooth(fine, max_iterations=10, device=gpu)
    polygons = trioxide.polylla(smoothed, device=gpu)
    to_device, to_host = (after - start for after, start in zip(gpu.transferred, before))
    # The smallest array of the chain, offsets, has a million bytes; counts and extremes cross.
    assert to_host < 100_000 and to_device < 100_000
    assert polygons.offsets.shape[0] * 4 > 300_000
    host = trioxide.refine(trioxide.weld(mesh, epsilon=1e-9, device="cpu"), mark=("disk", 0.5, 0.5, 0.2), rounds=2, device="cpu")
    host = trioxide.smooth(host, max_iterations=10, device="cpu")
    expected = trioxide.polylla(host, device="cpu")
    np.testing.assert_array_equal(polygons.vertices.numpy(), expected.vertices)


def test_cupy_and_torch_take_results_in_place(gpu, scan):
    cupy, torch = pytest.importorskip("cupy"), pytest.importorskip("torch")
    points, triangles = cupy_arrays(scan.points, scan.triangles)
    welded = trioxide.weld(points, triangles, epsilon=0.08)
    address = welded.points.__cuda_array_interface__["data"][0]
    by_interface, by_dlpack = cupy.asarray(welded.points), cupy.from_dlpack(welded.points)
    tensor = torch.from_dlpack(welded.points)
    assert by_interface.data.ptr == by_dlpack.data.ptr == tensor.data_ptr() == address
    expected = welded.points.numpy()
    del welded, points, triangles
    gc.collect()
    # New memory of trioxide's does not fall on theirs.
    trioxide.weld(*cupy_arrays(scan.points, scan.triangles), epsilon=0.08)
    np.testing.assert_array_equal(by_interface.get(), expected)
    np.testing.assert_array_equal(by_dlpack.get(), expected)
    np.testing.assert_array_equal(tensor.cpu().numpy(), expected)


def test_work_of_other_streams_is_waited_for(gpu, scan):
    cupy = pytest.importorskip("cupy")
    expected = trioxide.weld(scan, epsilon=0.08, device="cpu")
    points, triangles = cupy_arrays(scan.points, scan.triangles)
    for _ in range(20):
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            late = cupy.zeros_like(points)
            busy = cupy.random.rand(1500, 1500)
            for _ in range(5):
                busy = busy @ busy
                busy /= busy.max()
            late += points + 0 * busy[0, 0]
            welded = trioxide.weld(late, triangles, epsilon=0.08, device=gpu)
        np.testing.assert_array_equal(welded.map.numpy(), expected.map)


def test_types_are_converted_on_the_gpu_or_refused(gpu, scan):
    torch = pytest.importorskip("torch")
    points, triangles = cupy_arrays(scan.points, scan.triangles)
    expected = trioxide.weld(points, triangles, epsilon=0.08).map.numpy()
    for kind in ("int64", "uint64", "uint32"):
        found = trioxide.weld(points, triangles.astype(kind), epsilon=0.08)
        np.testing.assert_array_equal(found.map.numpy(), expected)
    long = torch.from_numpy(scan.triangles.astype(np.int64)).cuda()
    np.testing.assert_array_equal(trioxide.weld(torch.from_numpy(scan.points).cuda(), long, epsilon=0.08).map.numpy(), expected)
    single = points.astype("float32")
    of_single = trioxide.weld(scan.points.astype(np.float32), scan.triangles, epsilon=0.08, device="cpu")
    np.testing.assert_array_equal(trioxide.weld(single, triangles, epsilon=0.08).map.numpy(), of_single.map)
    with pytest.raises(ValueError, match="triangles has -1: numbers run from 0 to"):
        trioxide.weld(points, triangles.astype("int64") - 1, epsilon=0.08)
    with pytest.raises(TypeError, match="are both swapped"):
        trioxide.weld(triangles, points, epsilon=0.08)
    with pytest.raises(TypeError, match="colors is an array of float64: uint8"):
        trioxide.weld(trioxide.DeviceSurface(points, triangles, colors=points), epsilon=0.08)
    with pytest.raises(ValueError, match="strides"):
        trioxide.weld(points[::2], triangles, epsilon=0.08)
    with pytest.raises(ValueError, match="shape"):
        trioxide.weld(points.ravel(), triangles, epsilon=0.08)
    with pytest.raises(ValueError, match="triangles is not: copy"):
        trioxide.weld(points, scan.triangles, epsilon=0.08)
    with pytest.raises(TypeError, match="in a device's memory, where a host array is needed"):
        trioxide.vem(points, triangles)
    # Copied to the host.
    assert trioxide.info(points, triangles) == trioxide.info(scan)
    with pytest.raises(ValueError, match="CPU"):
        trioxide.weld(points, triangles, epsilon=0.08, device="cpu")


def same(found, expected, *names):
    for name in names:
        np.testing.assert_array_equal(getattr(found, name).numpy(), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_other_arrays_are_taken_too(gpu, plane, package):
    """Regions, segments, flags, ids and attributes of other packages, of their usual types: int64 is converted on the GPU."""
    module = pytest.importorskip(package)
    put = module.asarray if package == "cupy" else lambda array: module.from_numpy(np.ascontiguousarray(array)).cuda()
    points, triangles = put(plane.points), put(plane.triangles.astype(np.int64))
    regions = np.arange(len(plane.triangles)) % 4 - 1
    flags = np.arange(len(plane.points)) % 3 == 0
    ids = np.flatnonzero(flags)
    segments = plane.triangles[::40, :2].astype(np.int64)
    found = trioxide.polylla(points, triangles, regions=put(regions), segments=put(segments), device=gpu)
    expected = trioxide.polylla(plane, regions=regions, segments=segments, device="cpu")
    same(found, expected, "offsets", "vertices", "regions")
    for some in (put(flags), put(ids)):
        same(trioxide.smooth(points, triangles, fixed=some, device=gpu), trioxide.smooth(plane, fixed=flags, device="cpu"), "points")
        options = dict(epsilon=0.05, lock_boundary=True)
        same(trioxide.weld(points, triangles, locked=some, device=gpu, **options), trioxide.weld(plane, locked=ids, device="cpu", **options), "map")
    marked = np.arange(len(plane.triangles)) % 5 == 0
    expected = trioxide.refine(plane, mark=marked, regions=regions, device="cpu")
    for some in (put(marked), put(np.flatnonzero(marked))):
        fine = trioxide.refine(points, triangles, mark=some, regions=put(regions), device=gpu)
        same(fine, expected, "points", "triangles", "parents", "regions")
    pytest.importorskip("scipy")
    values = plane.points[:, 0] + 2
    carried = fine.interpolate(put(values))
    np.testing.assert_allclose(carried.numpy(), expected.prolongation @ values, rtol=1e-14)
    taken = module.from_dlpack(fine.parents)
    assert len(taken) == len(expected.parents)


@pytest.mark.parametrize("package", ["cupy", "torch"])
def test_attributes_of_other_packages_are_welded(gpu, scan, package):
    module = pytest.importorskip(package)
    put = module.asarray if package == "cupy" else lambda array: module.from_numpy(np.ascontiguousarray(array)).cuda()
    random = np.random.default_rng(2)
    arrays = dict(
        normals=random.random((len(scan.points), 3)),
        colors=random.integers(0, 256, (len(scan.points), 4)).astype(np.uint8),
        uvs=random.random((len(scan.points), 2)),
        regions=np.arange(len(scan.triangles)) % 3,
    )
    there = trioxide.DeviceSurface(put(scan.points), put(scan.triangles.astype(np.int64)), **{n: put(a) for n, a in arrays.items()})
    found = trioxide.weld(there, epsilon=0.12, color_tolerance=120, device=gpu)
    expected = trioxide.weld(trioxide.Mesh(scan.points, scan.triangles, **arrays), epsilon=0.12, color_tolerance=120, device="cpu")
    assert len(expected.removed) > 0
    same(found, expected, "points", "triangles", "map", "normals", "colors", "uvs", "regions")
    np.testing.assert_array_equal(found.to_host().colors, expected.colors)


def test_surfaces_and_tetrahedra_of_other_packages_are_refined(make, gpu, scan, tets):
    points, triangles = make(scan.points, scan.triangles)
    same(
        trioxide.refine(points, triangles, rounds=2, device=gpu),
        trioxide.refine(scan, rounds=2, device="cpu"),
        "points",
        "triangles",
        "parents",
    )
    points, tetrahedra = make(tets.points, tets.tetrahedra)
    fine = trioxide.refine(trioxide.DeviceVolume(points, tetrahedra), mark="fraction:0.3", rounds=2, device=gpu)
    same(fine, trioxide.refine(tets, mark="fraction:0.3", rounds=2, device="cpu"), "points", "tetrahedra", "parents", "vertex_parents")


def test_copies_are_complete_when_they_are_given(gpu):
    """Other packages read them by queues of their own, which wait for nothing."""
    cupy = pytest.importorskip("cupy")
    numbers = np.arange(20_000_000, dtype=np.float64)
    stream = cupy.cuda.Stream(non_blocking=True)
    for _ in range(5):
        with stream:
            there = cupy.asarray(trioxide.DeviceArray.copy_of(numbers, gpu))
            assert float(there[-1]) == numbers[-1] and float(there.sum()) == numbers.sum()
    plane = trioxide.generate("random", 200_000, seed=1).to_device(gpu)
    with stream:
        ends = cupy.asarray(trioxide.refine(plane, device=gpu).vertex_parents).get()
    np.testing.assert_array_equal(ends, trioxide.refine(plane, device=gpu).vertex_parents.numpy())


def test_a_tensor_with_a_gradient_says_so(gpu, scan):
    torch = pytest.importorskip("torch")
    points, triangles = torch_arrays(scan.points, scan.triangles)
    with pytest.raises(ValueError, match="points: .*detach"):
        trioxide.smooth(points.requires_grad_(), triangles)
    with pytest.raises(ValueError, match="CPU|cpu"):
        trioxide.smooth(points.detach(), triangles, device="cpu")


def test_wrong_ids_and_coordinates_are_found_there(gpu, scan):
    cupy = pytest.importorskip("cupy")
    points, triangles = cupy_arrays(scan.points, scan.triangles)
    for wrong in (-1, len(points), 2**31 - 1):
        bad = triangles.copy()
        bad[7, 1] = wrong
        with pytest.raises(ValueError, match="7"):
            trioxide.weld(points, bad, epsilon=0.08)
        with pytest.raises(ValueError, match="7"):
            trioxide.smooth(points, bad)
    bad = points.copy()
    bad[11, 2] = cupy.nan
    for call in (lambda: trioxide.weld(bad, triangles, epsilon=0.08), lambda: trioxide.smooth(bad, triangles)):
        with pytest.raises(ValueError, match="11"):
            call()
    empty = points[:0], triangles[:0]
    for call in (lambda: trioxide.weld(*empty, epsilon=0.08), lambda: trioxide.smooth(*empty)):
        try:
            call()
        except ValueError as error:
            assert str(error)


def in_child(queue):
    try:
        trioxide.polylla(trioxide.generate("grid", 9), device="cuda:0")
        queue.put("no error")
    except Exception as error:  # noqa: BLE001 - the test looks at it
        queue.put(f"{type(error).__name__}: {error}")


def test_a_fork_after_cuda_is_an_error(gpu):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    told = queue.get(timeout=120)
    child.join()
    assert told.startswith("RuntimeError: this process was forked after CUDA was started")


def test_spawned_processes_use_the_gpu(gpu):
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=120) == "no error"
    child.join()
