"""Vertices and cells along a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Sequence, TypedDict, Union, overload

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import DeviceArray, DeviceLike, of_array, on_device, run_on
from ._foreign import of_any
from ._inputs import no_surface_arrays, resident, resident_volume, surface_of, volume_of
from ._mesh import DeviceSurface, DeviceVolume, Mesh, VolumeMesh
from ._progress import Progress, watching
from ._steps import step

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Arrays of the host.
_Host = Union[np.ndarray, Sequence[Sequence[float]]]


class Reordered(Mesh):
    """A mesh in the order of a Hilbert curve.

    Attributes
    ----------
    old_vertices : (V,) uint32
        The old id of each vertex.
    old_cells : (F,) uint32
        The old id of each face.
    counts : dict
        What was counted, as the command line reports it: `vertices`, `faces`, `moved_vertices`, `moved_cells`.
    """

    __slots__ = ("old_vertices", "old_cells", "counts")
    old_vertices: np.ndarray
    old_cells: np.ndarray
    counts: Dict[str, int]


class ReorderedVolume(VolumeMesh):
    """A mesh of tetrahedra in the order of a Hilbert curve; `old_vertices`, `old_cells` and `counts` as of `Reordered`."""

    __slots__ = ("old_vertices", "old_cells", "counts")
    old_vertices: np.ndarray
    old_cells: np.ndarray
    counts: Dict[str, int]


class DeviceReordered(DeviceSurface):
    """A surface in the order of a Hilbert curve in a device's memory, with its attributes, regions and segments; `old_vertices`,
    `old_cells` and `counts` as of `Reordered`."""

    __slots__ = ("old_vertices", "old_cells", "counts")

    def __init__(self, arrays: Dict[str, Any], markers: Any) -> None:
        super().__init__(**{name: arrays.get(name) for name in DeviceSurface._arrays if name != "markers"}, markers=markers)
        self.old_vertices: DeviceArray = arrays["old_vertices"]
        self.old_cells: DeviceArray = arrays["old_cells"]
        self.counts: Dict[str, int] = arrays["counts"]


class DeviceReorderedVolume(DeviceVolume):
    """A mesh of tetrahedra in the order of a Hilbert curve in a device's memory; as `DeviceReordered`."""

    __slots__ = ("old_vertices", "old_cells", "counts")

    def __init__(self, arrays: Dict[str, Any]) -> None:
        super().__init__(arrays["points"], arrays["tetrahedra"], regions=arrays.get("regions"))
        self.old_vertices: DeviceArray = arrays["old_vertices"]
        self.old_cells: DeviceArray = arrays["old_cells"]
        self.counts: Dict[str, int] = arrays["counts"]


class _Reorder(TypedDict, total=False):
    device: DeviceLike
    regions: Any
    segments: Any
    markers: Any
    progress: Progress


@overload
def reorder(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Reorder]) -> Reordered: ...
@overload
def reorder(mesh: VolumeMesh, **options: Unpack[_Reorder]) -> ReorderedVolume: ...
@overload
def reorder(mesh: Union[DeviceSurface, DeviceArray], triangles: Any = None, **options: Unpack[_Reorder]) -> DeviceReordered: ...
@overload
def reorder(mesh: DeviceVolume, **options: Unpack[_Reorder]) -> DeviceReorderedVolume: ...
@overload
def reorder(mesh: Any, triangles: Any = None, **options: Unpack[_Reorder]) -> Any: ...


@step
def reorder(
    mesh: Any,
    triangles: Any = None,
    *,
    device: DeviceLike = "auto",
    regions: Any = None,
    segments: Any = None,
    markers: Any = None,
    progress: Progress = None,
) -> Any:
    """Renumbers vertices and cells along a Hilbert curve, so that neighbours in space are neighbours in memory.

    Vertices are ordered along the curve, faces and cells by their vertices. Nothing is dropped: equal points and unused vertices stay.
    Data of vertices and cells, regions, segments and tags go along. Faces and tetrahedra keep their orientation, and begin at their
    lowest vertex. Where points are distinct, the result does not depend on the order of the input; it is the same on every machine.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh of tetrahedra, or (V, 2) or (V, 3) coordinates
        A surface or a point cloud, or tetrahedra. Points that share one z lie along the curve of the plane. Arrays of a device, a
        `DeviceSurface` or a `DeviceVolume` are used in place, and the result stays there.
    triangles : (F, 3) integers, optional
        Vertex ids.
    device : "auto", "cuda:N", "cpu" or Device
    regions : (F,) integers, optional
        A tag of each triangle.
    segments, markers : (S, 2) and (S,) integers, optional
        Edges as pairs of vertex ids, which stay in their order, and their tags.
    progress : function or True, optional

    Returns
    -------
    Reordered, ReorderedVolume
        or `DeviceReordered`, `DeviceReorderedVolume` for arrays of a device: the mesh, with `old_vertices` and `old_cells`.

    Raises
    ------
    ValueError
        A coordinate that is not finite, an id that is none of a vertex, or a cell that is no tetrahedron.

    >>> square = reorder([[1, 1], [0, 0], [1, 0], [0, 1]], [[0, 1, 2], [3, 1, 0]], device="cpu")
    >>> square.old_vertices
    array([1, 3, 0, 2], dtype=uint32)
    >>> square.triangles, square.old_cells
    (array([[0, 2, 1],
           [0, 3, 2]], dtype=uint32), array([1, 0], dtype=uint32))
    """
    mesh = of_any(mesh)
    beside = {"regions": regions, "segments": segments, "markers": markers}
    volume = resident_volume(mesh, triangles)
    if volume is not None:
        no_surface_arrays(*beside.values())
        on = of_array(volume.points, device)
        held = on_device(on, **volume._held())
        with watching(progress) as watch:
            return DeviceReorderedVolume(native.run("reorder_tets_on_device", on, held, {}, watch))
    if check.is_device_array(mesh) and triangles is None:
        triangles = DeviceArray.copy_of(np.zeros((0, 3), np.uint32), of_array(mesh, device))
    surface = resident(mesh, triangles, **beside)
    if surface is not None:
        on = of_array(surface.points, device)
        held = on_device(on, **surface._held())
        with watching(progress) as watch:
            return DeviceReordered(native.run("reorder_on_device", on, held, {}, watch), held.get("markers"))
    is_volume = isinstance(mesh, VolumeMesh) and triangles is None
    arrays = volume_of(mesh, *beside.values()) if is_volume else surface_of(mesh, triangles, **beside)._arrays()
    family = "reorder_volume" if is_volume else "reorder"
    with watching(progress) as watch:
        result = run_on(device, lambda on: native.run(family, on, arrays, {}, watch))
    kind: Any = ReorderedVolume if is_volume else Reordered
    ordered = kind._of(result)
    for name in ("old_vertices", "old_cells", "counts"):
        setattr(ordered, name, result[name])
    return ordered
