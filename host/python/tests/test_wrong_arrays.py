"""Wrong arrays are refused with a sentence that names the argument; none ends the process."""

import gc

import numpy as np
import pytest

import trioxide

POINTS = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])


def everything(points, triangles):
    """The functions that take a surface."""
    return {
        "polylla": lambda: trioxide.polylla(points, triangles, device="cpu"),
        "refine": lambda: trioxide.refine(points, triangles, device="cpu"),
        "weld": lambda: trioxide.weld(points, triangles, epsilon=0.1, device="cpu"),
        "smooth": lambda: trioxide.smooth(points, triangles, device="cpu"),
        "info": lambda: trioxide.info(points, triangles),
        # A small picture: its pixels would take most of the time.
        "render": lambda: trioxide.render(points, triangles, width=64),
        "vem": lambda: trioxide.vem(points, triangles),
        "write": lambda: trioxide.write("/nowhere/a.ply", points, triangles),
    }


FUNCTIONS = list(everything(None, None))

WRONG = {
    "swapped": (TRIANGLES, POINTS, (TypeError, ValueError), "points come first"),
    "faces with four columns": (POINTS, np.zeros((2, 4), int), ValueError, r"triangles has the shape \(2, 4\)"),
    "flat faces": (POINTS, TRIANGLES.ravel(), ValueError, r"triangles has the shape \(6,\)"),
    "transposed points": (POINTS.T.copy(), TRIANGLES, ValueError, "points has the shape"),
    "points in one line": (POINTS.ravel(), TRIANGLES, ValueError, "points has the shape"),
    "three dimensions": (POINTS[None], TRIANGLES, ValueError, "points has the shape"),
    "a negative id": (POINTS, TRIANGLES - 1, ValueError, r"triangles\[0, 0\] is -1"),
    "a large id": (POINTS, TRIANGLES + 2, ValueError, r"is 5: there are 4 points"),
    "an id beyond 32 bits": (POINTS, TRIANGLES + 2**32, ValueError, "ids run from 0 to 4294967294"),
    "no id": (POINTS, np.full((1, 3), 2**32 - 1, np.uint32), ValueError, "there are 4 points"),
    "floats as ids": (POINTS, TRIANGLES.astype(float), TypeError, "ids are integers"),
    "flags as ids": (POINTS, TRIANGLES > 0, TypeError, "array of bool"),
    "complex points": (POINTS + 1j, TRIANGLES, TypeError, "array of numbers"),
    "text": ("points", TRIANGLES, TypeError, "array of numbers"),
    "objects": (np.array([[None] * 3] * 4), TRIANGLES, TypeError, "points"),
    "ragged rows": (POINTS, [[0, 1, 2], [0, 2]], (TypeError, ValueError), "triangles"),
    "none": (None, TRIANGLES, TypeError, "points is None"),
    "objects that are numbers": (POINTS.astype(object), TRIANGLES, TypeError, r"by astype\(float\)"),
    "a dictionary": ({"points": POINTS}, TRIANGLES, TypeError, "points is a dict: give an array"),
    "a generator": ((p for p in POINTS), TRIANGLES, TypeError, "points is a generator: give an array"),
    "a file's name": ("scan.ply", TRIANGLES, TypeError, "trioxide.read reads a file"),
    "a number": (3.0, TRIANGLES, ValueError, r"points has the shape \(\)"),
    "ids from 1": (POINTS, TRIANGLES + 1, ValueError, "subtract 1, if these begin at 1"),
    "ids of 8 bits beyond the points": (POINTS, np.full((1, 3), 127, np.int8), ValueError, "127: there are 4 points"),
    "ids beyond 63 bits": (POINTS, TRIANGLES.astype(np.uint64) + np.uint64(2**63), ValueError, "9223372036854775808"),
    "faces as VTK has them": (POINTS, np.array([3, 0, 1, 2, 3, 0, 2, 3]), ValueError, r"triangles has the shape \(8,\): ids are rows"),
    "records": (np.zeros(4, [("x", "f8"), ("y", "f8")]), TRIANGLES, TypeError, "not one of records"),
    "masked": (np.ma.masked_less(POINTS, 0.5), TRIANGLES, ValueError, "masked"),
    "integers beyond 53 bits": (np.full((4, 3), 2**53 + 1), TRIANGLES, ValueError, "float64 does not hold"),
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("case", list(WRONG))
def test_wrong_arrays_are_refused(function, case):
    points, triangles, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        everything(points, triangles)[function]()


OPTIONS = {
    "epsilon is 'a': a number is needed": lambda: trioxide.weld(POINTS, TRIANGLES, epsilon="a", device="cpu"),
    r"epsilon is \[1, 2\]: a number is needed": lambda: trioxide.weld(POINTS, TRIANGLES, epsilon=[1, 2], device="cpu"),
    "color_tolerance is 300: 300 is not in 0..=255": lambda: trioxide.weld(POINTS, TRIANGLES, epsilon=1, color_tolerance=300, device="cpu"),
    "position='middle' is not known: it is mean, first": lambda: trioxide.weld(POINTS, TRIANGLES, epsilon=1, position="middle", device="cpu"),
    "give epsilon or ratio": lambda: trioxide.weld(POINTS, TRIANGLES, device="cpu"),
    "epsilon cannot be used with ratio": lambda: trioxide.weld(POINTS, TRIANGLES, epsilon=1, ratio=0.5, device="cpu"),
    "ratio cannot be used with memory_limit": lambda: trioxide.weld(POINTS, TRIANGLES, ratio=0.5, memory_limit="1G", device="cpu"),
    "memory_limit is '1T': .* k, M or G": lambda: trioxide.weld(POINTS, TRIANGLES, epsilon=1, memory_limit="1T", device="cpu"),
    "the ratio of vertices to remove is 1": lambda: trioxide.weld(POINTS, TRIANGLES, ratio=1, device="cpu"),
    'tolerances and locks are known to method="grid" alone: leave method="sparse-grid" out': lambda: trioxide.weld(
        POINTS, TRIANGLES, epsilon=1, method="sparse-grid", locked=[0], device="cpu"
    ),
    "tolerance is 'x'": lambda: trioxide.smooth(POINTS, TRIANGLES, tolerance="x", device="cpu"),
    "max_iterations is 1.5: an integer": lambda: trioxide.smooth(POINTS, TRIANGLES, max_iterations=1.5, device="cpu"),
    "max_iterations is True: a word or a number": lambda: trioxide.smooth(POINTS, TRIANGLES, max_iterations=True, device="cpu"),
    "max_iterations is 4294967296: 4294967296 is not in 0..=4294967295": lambda: trioxide.smooth(POINTS, TRIANGLES, max_iterations=2**32, device="cpu"),
    r"hc is \(1,\): is not ALPHA,BETA, two numbers": lambda: trioxide.smooth(POINTS, TRIANGLES, method="hc", hc=(1,), device="cpu"),
    "lambda_ is 'a'": lambda: trioxide.smooth(POINTS, TRIANGLES, method="taubin", lambda_="a", device="cpu"),
    'use form="b-coloured", or leave form out': lambda: trioxide.smooth(trioxide.generate("tets", 50), guard=True, form="a", device="cpu"),
    "fixed is an array of float64: flags are booleans": lambda: trioxide.smooth(POINTS, TRIANGLES, fixed=[0.5], device="cpu"),
    "mark is an array of float64: flags are booleans": lambda: trioxide.refine(POINTS, TRIANGLES, mark=np.ones(2), device="cpu"),
    "mark by values goes with threshold or dorfler": lambda: trioxide.refine(POINTS, TRIANGLES, threshold=1, device="cpu"),
    "until_area marks by area: leave mark out": lambda: trioxide.refine(POINTS, TRIANGLES, mark="all", until_area=1, device="cpu"),
    'edges="every" is for tetrahedra': lambda: trioxide.refine(POINTS, TRIANGLES, edges="every", device="cpu"),
    "there are 1 values, but the input has 2 triangles": lambda: trioxide.refine(POINTS, TRIANGLES, mark=[1.0], dorfler=0.5, device="cpu"),
    "mark=\"box:1\": expected 4 numbers": lambda: trioxide.refine(POINTS, TRIANGLES, mark="box:1", device="cpu"),
    "rounds is 1099511627776": lambda: trioxide.refine(POINTS, TRIANGLES, rounds=2**40, device="cpu"),
    "precision=32 is not known: it is f64, f32": lambda: trioxide.polylla(POINTS, TRIANGLES, precision=32, device="cpu"),
    "method='magic' is not known: it is half-edge, indexed": lambda: trioxide.polylla(POINTS, TRIANGLES, method="magic", device="cpu"),
    "the mesh has no triangles: give points and triangles": lambda: trioxide.polylla(POINTS, device="cpu"),
    "the mesh has no triangles": lambda: trioxide.smooth(trioxide.Mesh(POINTS), device="cpu"),
    "has no triangles": lambda: trioxide.refine(POINTS, None, device="cpu"),
    "threads is 0: it is 1 to 4096": lambda: trioxide.Device("cpu", threads=0),
    "threads is -1": lambda: trioxide.Device("cpu", threads=-1),
    "window has 2 numbers: 4": lambda: trioxide.render(POINTS, TRIANGLES, window=(0, 1)),
    "so use another width$": lambda: trioxide.render(POINTS, TRIANGLES, width=10**9),
    "device is no trioxide.Device": lambda: trioxide.DeviceArray.copy_of(POINTS, "cpu"),
}


@pytest.mark.parametrize("message", list(OPTIONS))
def test_wrong_options_are_named(message):
    with pytest.raises((TypeError, ValueError), match=message):
        OPTIONS[message]()


def test_messages_have_the_options_of_python():
    """Not those of the command line."""
    found = trioxide.devices()
    if found["devices"]:
        pytest.skip("there is a GPU")
    assert "use the device cpu" in found["reason"] and "--" not in found["reason"]
    with pytest.raises(RuntimeError, match="use the device cpu"):
        trioxide.Device("cuda:0")


def test_tables_of_pandas_are_read():
    pandas = pytest.importorskip("pandas")
    points, triangles = pandas.DataFrame(POINTS, columns=list("xyz")), pandas.DataFrame(TRIANGLES)
    assert len(trioxide.polylla(points, triangles, device="cpu").faces()) == 1
    named = pandas.DataFrame({"x": [0.0, 1, 1, 0], "y": list("abcd")})
    with pytest.raises(TypeError, match="objects"):
        trioxide.polylla(named, triangles, device="cpu")


@pytest.mark.parametrize("function", ["polylla", "refine", "weld", "smooth", "vem"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_coordinates_that_are_not_finite_are_named(function, value):
    points = POINTS.copy()
    points[2, 1] = value
    with pytest.raises(ValueError, match="2"):
        everything(points, TRIANGLES)[function]()


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "points, triangles",
    [
        (np.zeros((0, 3)), np.zeros((0, 3), int)),
        (POINTS, np.zeros((0, 3), int)),
        ([], []),
        (POINTS, []),
        (np.zeros((0, 2), np.float32), None),
    ],
)
def test_zero_elements_are_a_result_or_a_sentence(function, points, triangles, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    calls = everything(points, triangles)
    calls["write"] = lambda: trioxide.write("a.ply", points, triangles)
    try:
        calls[function]()
    except ValueError as error:
        assert str(error)


def test_strides_and_byte_orders_are_read():
    expected = trioxide.polylla(POINTS, TRIANGLES, device="cpu").vertices
    wide = np.zeros((8, 6))
    wide[::2, ::2] = POINTS
    for points in (wide[::2, ::2], np.asfortranarray(POINTS), POINTS.astype(">f8"), POINTS[::-1][::-1]):
        for triangles in (TRIANGLES.astype(">i4"), np.asfortranarray(TRIANGLES), np.repeat(TRIANGLES, 2, axis=1)[:, ::2]):
            np.testing.assert_array_equal(trioxide.polylla(points, triangles, device="cpu").vertices, expected)


def test_arrays_that_are_not_aligned_are_read():
    memory = np.zeros(POINTS.nbytes + 1, np.uint8)
    points = memory[1:].view(np.float64).reshape(4, 3)
    points[:] = POINTS
    assert not points.flags.aligned
    assert len(trioxide.polylla(points, TRIANGLES, device="cpu").faces()) == 1


def test_arrays_of_other_packages_are_read():
    class Tensor:
        """As PyTorch's on the CPU: a type of its own, and `__array__`."""

        def __init__(self, array):
            self.array, self.dtype = array, "tensor.of." + array.dtype.name

        def __array__(self, dtype=None, copy=None):
            return self.array

        def __dlpack_device__(self):
            return (1, 0)

    polygons = trioxide.polylla(Tensor(POINTS), Tensor(TRIANGLES), device="cpu")
    assert len(polygons.faces()) == 1


def test_read_only_arrays_are_taken_and_no_argument_is_changed():
    points, triangles = POINTS.copy(), TRIANGLES.astype(np.uint32)
    points.flags.writeable = triangles.flags.writeable = False
    for call in ("polylla", "refine", "weld", "smooth", "info", "render"):
        everything(points, triangles)[call]()
    np.testing.assert_array_equal(points, POINTS)
    np.testing.assert_array_equal(triangles, TRIANGLES)


def test_results_outlive_everything():
    device = trioxide.Device("cpu")
    points = POINTS.copy()
    result = trioxide.polylla(points, TRIANGLES, device=device)
    del device, points
    gc.collect()
    result.points += 1
    assert len(result.faces()[0]) == 4


def test_arrays_may_change_or_go_while_a_function_runs():
    mesh = trioxide.generate("random", 20000, device="cpu", seed=2)
    expected = trioxide.smooth(mesh, max_iterations=150, device="cpu").points
    points = mesh.points.copy()

    def spoil(*now):
        points[:] = np.nan

    result = trioxide.smooth(points, mesh.triangles, max_iterations=150, device="cpu", progress=spoil)
    np.testing.assert_array_equal(result.points, expected)


def test_attributes_and_options_are_checked():
    with pytest.raises(ValueError, match="regions has the shape"):
        trioxide.Mesh(POINTS, TRIANGLES, regions=[1])
    with pytest.raises(TypeError, match="regions"):
        trioxide.Mesh(POINTS, TRIANGLES, regions=[0.5, 1])
    with pytest.raises(ValueError, match="segments"):
        trioxide.Mesh(POINTS, TRIANGLES, segments=[[0, 9]])
    with pytest.raises(ValueError, match="point_data"):
        trioxide.Mesh(POINTS, TRIANGLES, point_data={"t": [1.0]})
    with pytest.raises(TypeError, match="colors"):
        trioxide.Mesh(POINTS, TRIANGLES, colors=np.zeros((4, 4)))
    with pytest.raises(ValueError, match="offsets must ascend"):
        trioxide.Mesh(POINTS, offsets=[0, 3, 2], vertices=[0, 1])
    with pytest.raises(ValueError, match="method"):
        trioxide.polylla(POINTS, TRIANGLES, method="magic", device="cpu")
    with pytest.raises(ValueError, match="lambda_"):
        trioxide.smooth(POINTS, TRIANGLES, lambda_=0.4, device="cpu")
    with pytest.raises(ValueError, match="mark"):
        trioxide.refine(POINTS, TRIANGLES, mark=("disk", 1), device="cpu")
    with pytest.raises(ValueError, match="between 0 and 1"):
        trioxide.refine(POINTS, TRIANGLES, mark="fraction:2", device="cpu")
    with pytest.raises(TypeError, match="not both"):
        trioxide.polylla(trioxide.Mesh(POINTS, TRIANGLES), TRIANGLES, device="cpu")
    with pytest.raises(ValueError, match="epsilon"):
        trioxide.weld(POINTS, TRIANGLES, epsilon=np.nan, device="cpu")
    with pytest.raises(TypeError):
        trioxide.polylla(POINTS, TRIANGLES, device=0)
    with pytest.raises(TypeError, match="path comes first"):
        trioxide.write(trioxide.Mesh(POINTS, TRIANGLES), "a.ply")


def test_replaced_arrays_are_checked_again():
    mesh = trioxide.Mesh(POINTS, TRIANGLES)
    mesh.triangles = TRIANGLES + 7
    with pytest.raises(ValueError, match="there are 4 points"):
        trioxide.polylla(mesh, device="cpu")
    mesh.triangles = TRIANGLES
    mesh.points = POINTS[:2]
    with pytest.raises(ValueError, match="there are 2 points"):
        trioxide.smooth(mesh, device="cpu")


def test_a_mesh_that_breaks_a_rule_names_the_element():
    with pytest.raises(ValueError, match="triangle 1"):
        trioxide.polylla(POINTS, [[0, 1, 2], [0, 1, 2]], device="cpu")
    with pytest.raises(ValueError, match="goes with planar meshes"):
        trioxide.polylla(POINTS + [[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]], TRIANGLES, method="indexed", device="cpu")


KINDS = ["f8", "f4", "f2", "i4", "i8", "u4", "u8", "u1", "?", "c16", ">f8", ">i4", "O", "U3", "M8[s]"]


def random_array(random):
    """An array of any shape, type and layout."""
    shape = tuple(random.integers(0, 6, size=random.integers(0, 4)))
    if random.random() < 0.6:
        shape = (int(random.integers(0, 9)), int(random.choice([2, 3])))
    values = random.random(shape) * 4 if random.random() < 0.5 else random.integers(-2 if random.random() < 0.2 else 0, 6, shape)
    values = np.asarray(values)
    kind = KINDS[int(random.integers(len(KINDS)))] if random.random() < 0.6 else ("f8" if values.dtype.kind == "f" else "i8")
    with np.errstate(all="ignore"):
        try:
            array = values.astype(kind)
        except (TypeError, ValueError):
            array = values
    if array.ndim and random.random() < 0.2:
        array = array[:: int(random.choice([-1, 2, -2]))]
    if array.dtype.kind == "f" and array.size and random.random() < 0.2:
        array = array.copy()
        array.flat[int(random.integers(array.size))] = random.choice([np.nan, np.inf, 1e300, -0.0])
    return array


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore")
def test_random_arrays_are_a_result_or_a_sentence(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(seed)
    for _ in range(60):
        points, triangles = random_array(random), random_array(random)
        calls = everything(points, triangles)
        calls["write"] = lambda points=points, triangles=triangles: trioxide.write("a.vtu", points, triangles)
        for call in calls.values():
            try:
                call()
            except (TypeError, ValueError) as error:
                assert str(error)
