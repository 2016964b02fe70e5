"""Distances between two meshes."""

from __future__ import annotations

from typing import Any, Dict, Tuple, Union

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import DeviceArray, DeviceLike, of_array, on_device, run_on
from ._foreign import of_any
from ._inputs import all_there, options_of, surface_of
from ._mesh import DeviceSurface
from ._progress import Progress, watching


class Comparison:
    """The distances between two meshes, A and B.

    Attributes
    ----------
    a_to_b, b_to_a, symmetric : dict
        Distances from one mesh to the other, and from both sides: `vertices` and, of surfaces, `samples` have `points`, `largest`, `mean`
        and `root_mean_square`, and the same relative to the diagonal of the box around A, such as `relative_mean`. `normals` has the angles
        between the normals of samples' triangles and of the nearest ones, in degrees: `pairs`, `largest`, `mean`.
    distances : (V,) float64
        The distance of each vertex of A to B; of arrays of a device there.
    counts : dict
        `a_vertices`, `a_triangles`, `b_vertices`, `b_triangles`, `diagonal`.
    """

    __slots__ = ("a_to_b", "b_to_a", "symmetric", "distances", "counts")

    def __init__(self, result: Dict[str, Any]) -> None:
        self.a_to_b: Dict[str, Dict[str, float]] = result["a_to_b"]
        self.b_to_a: Dict[str, Dict[str, float]] = result["b_to_a"]
        self.symmetric: Dict[str, Dict[str, float]] = result["symmetric"]
        self.distances: Union[np.ndarray, DeviceArray] = result["distances"]
        self.counts: Dict[str, float] = result["counts"]

    def __repr__(self) -> str:
        largest = max(row["largest"] for name, row in self.symmetric.items() if name != "normals")
        return f"<trioxide.Comparison: largest distance {largest:.6g}>"


def _shape_of(array: Any) -> Tuple[int, ...]:
    return tuple(array.shape) if hasattr(array, "shape") else np.shape(array)


def _shape(mesh: Any, triangles: Any) -> Any:
    """A mesh of the host, or the arrays of a device by their names."""
    # A pair of an array of points and one of ids; two points have no rows.
    is_pair = triangles is None and isinstance(mesh, (tuple, list)) and len(mesh) == 2 and len(_shape_of(mesh[0])) == 2
    points, triangles = mesh if is_pair else (of_any(mesh), triangles)
    if isinstance(points, DeviceSurface):
        held = points._held()
        return {name: held[name] for name in ("points", "triangles")}
    if check.is_device_array(points) or check.is_device_array(triangles):
        arrays = {"points": points, "triangles": triangles}
        return {name: array for name, array in arrays.items() if array is not None}
    return surface_of(points, triangles)


def compare(
    mesh: Any,
    other: Any,
    *,
    triangles: Any = None,
    other_triangles: Any = None,
    samples: int = 200000,
    seed: int = 0,
    device: DeviceLike = "auto",
    progress: Progress = None,
) -> Comparison:
    """Measures the distances between two meshes: largest, mean and root mean square, and angles between normals.

    Distances are from the vertices, and from samples, of each mesh to the nearest point of the other. The largest is the Hausdorff distance
    of these points; `symmetric` is the larger one of both sides, and of means half the sum. The result is the same on every machine.

    Parameters
    ----------
    mesh, other : Mesh, DeviceSurface, (points, triangles), or (V, 2) or (V, 3) coordinates
        Surfaces, meshes of the plane, or clouds, which have no triangles: to a cloud, distances are those to its nearest point. Arrays of
        one device are used in place.
    triangles, other_triangles : (F, 3) integers, optional
        Vertex ids, where `mesh` or `other` are coordinates.
    samples : int
        Points of each surface from which distances and normals are measured, spread evenly over its area; 0 for none.
    seed : int
        Seed of the samples' places.
    device : "auto", "cuda:N", "cpu" or Device
    progress : function or True, optional

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        A mesh without points, a coordinate that is not finite, or an id that is none of a vertex.

    >>> square = ([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], [[0, 1, 2], [1, 3, 2]])
    >>> compared = compare(square, [[0.5, 0.5, 0.25]], device="cpu")
    >>> compared
    <trioxide.Comparison: largest distance 0.75>
    >>> compared.b_to_a["vertices"]["mean"]
    0.25
    """
    options = options_of("compare", {"samples": samples, "seed": seed})
    shapes = _shape(mesh, triangles), _shape(other, other_triangles)
    if any(isinstance(shape, dict) for shape in shapes):
        names = (("", shapes[0]), ("other_", shapes[1]))
        arrays = {before + name: array for before, shape in names for name, array in _arrays(shape).items()}
        all_there(arrays, "the mesh")
        on = of_array(arrays["points"], device)
        held = {}
        for before, shape in names:
            held.update({before + name: array for name, array in on_device(on, **shape).items()})
        with watching(progress) as watch:
            return Comparison(native.run("compare_on_device", on, held, options, watch))
    given = {name: shape._arrays() for name, shape in zip(("mesh", "other"), shapes)}
    with watching(progress) as watch:
        return Comparison(run_on(device, lambda on: native.run("compare", on, given, options, watch)))


def _arrays(shape: Any) -> Dict[str, Any]:
    return shape if isinstance(shape, dict) else {"points": shape.points}
