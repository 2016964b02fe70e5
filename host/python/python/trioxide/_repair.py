"""Repair of meshes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, TypedDict, Union, overload

import numpy as np

from . import _trioxide as native
from ._device import DeviceArray, DeviceLike, of_array, on_device, run_on
from ._foreign import of_any
from ._inputs import lone, noted, options_of, resident, surface_of, volume_of
from ._mesh import DeviceSurface, Mesh, VolumeMesh
from ._progress import Progress, watching
from ._steps import step

if TYPE_CHECKING:
    from typing_extensions import Unpack


# Arrays of the host.
_Host = Union[np.ndarray, Sequence[Sequence[float]]]


class Repaired(Mesh):
    """A mesh of faces after a repair.

    Attributes
    ----------
    old_vertices : (V,) uint32
        The old id of each vertex. That of a copy is the vertex that it is a copy of.
    old_cells : (F,) uint32
        The old id of each face, whose data it has. That of a face in a hole is a face at the hole.
    counts : dict
        What was done, as the command line reports it: `repeated_faces`, `turned_faces` and others, of the steps that were taken.
    """

    __slots__ = ("old_vertices", "old_cells", "counts")
    old_vertices: np.ndarray
    old_cells: np.ndarray
    counts: Dict[str, int]


class RepairedVolume(VolumeMesh):
    """A mesh of cells after a repair; `old_vertices`, `old_cells` and `counts` as of `Repaired`."""

    __slots__ = ("old_vertices", "old_cells", "counts")
    old_vertices: np.ndarray
    old_cells: np.ndarray
    counts: Dict[str, int]


class DeviceRepaired(DeviceSurface):
    """A repaired surface in a device's memory, with its attributes and regions; `old_vertices`, `old_cells` and `counts` as of
    `Repaired`."""

    __slots__ = ("old_vertices", "old_cells", "counts")

    def __init__(self, arrays: Dict[str, Any]) -> None:
        super().__init__(**{name: arrays.get(name) for name in DeviceSurface._arrays})
        self.old_vertices: DeviceArray = arrays["old_vertices"]
        self.old_cells: DeviceArray = arrays["old_cells"]
        self.counts: Dict[str, int] = arrays["counts"]


class _Repair(TypedDict, total=False):
    all: bool
    finite: bool
    conform: bool
    repeated: bool
    degenerate: Optional[float]
    edges: bool
    vertices: bool
    cut: bool
    orient: bool
    folded: bool
    fill_holes: Union[None, bool, int, str]
    min_faces: Union[None, int, str]
    flip: bool
    unused: bool
    device: DeviceLike
    regions: Any
    segments: Any
    markers: Any
    progress: Progress


@overload
def repair(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Repair]) -> Repaired: ...
@overload
def repair(mesh: VolumeMesh, **options: Unpack[_Repair]) -> RepairedVolume: ...
@overload
def repair(mesh: Union[DeviceSurface, DeviceArray], triangles: Any = None, **options: Unpack[_Repair]) -> DeviceRepaired: ...
@overload
def repair(mesh: Any, triangles: Any = None, **options: Unpack[_Repair]) -> Any: ...


@step
def repair(
    mesh: Any,
    triangles: Any = None,
    *,
    all: bool = False,
    finite: bool = False,
    conform: bool = False,
    repeated: bool = False,
    degenerate: Optional[float] = None,
    edges: bool = False,
    vertices: bool = False,
    cut: bool = False,
    orient: bool = False,
    folded: bool = False,
    fill_holes: Union[None, bool, int, str] = None,
    min_faces: Union[None, int, str] = None,
    flip: bool = False,
    unused: bool = False,
    device: DeviceLike = "auto",
    regions: Any = None,
    segments: Any = None,
    markers: Any = None,
    progress: Progress = None,
) -> Any:
    """Repairs a mesh: each step is an option, and they are taken in the order of the options.

    Most steps are for triangles; `conform`, `orient`, `flip` and `unused` take polygons too, `conform`, `orient`, `folded` and
    `unused` cells. Positions do not change.
    Arrays of a device do not take `conform`, and `all` leaves it out there.
    Vertices that lose all their faces are dropped, copies of vertices come last; the others keep their order. Data of vertices and faces,
    regions and segments go along; segments that are no edge of a face are left out. Where elements compete, the lowest id wins: the result is the same on every machine, and a second run
    changes nothing, except by `flip`. `info` counts what each step would find.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh, or (V, 2) or (V, 3) coordinates
        A mesh of triangles, polygons or cells. Triangles in arrays of a device, or a `DeviceSurface`, are used in place, and the result
        stays there.
    triangles : (F, 3) integers, optional
        Vertex ids.
    all : bool
        Take all steps that mend faults and neither fill nor drop parts: conform, repeated, degenerate (0, or as given), edges, vertices,
        cut, orient, folded, unused. Polygons and cells take conform, orient and unused, cells
        folded too.
    finite : bool
        Drop vertices with a coordinate that is not a finite number, and the faces and segments that use one; the step takes points,
        polygons and cells too.
    conform : bool
        Insert vertices that lie inside edges and faces of other elements (hanging nodes): into polygons, by dividing triangles and
        tetrahedra. A tetrahedron with several of them gets a vertex in its middle.
    repeated : bool
        Drop faces with the three vertices of another one, in any order: the first stays.
    degenerate : float, optional
        Treat faces whose height is at most R times their longest edge (0 to 0.5), for 0 those without area: needles collapse their
        shortest edge, caps flip their longest; a closed surface stays closed.
    edges : bool
        Part the surfaces at edges of three or more faces, in pairs: first faces of one body, then pairs that enclose the inside, then
        any that can be oriented.
    vertices : bool
        Part the surfaces that touch at a vertex: each gets a vertex of its own.
    cut : bool
        Cut one-sided components open, along few edges.
    orient : bool
        Turn faces until those of a component agree: closed components outward, cavities in them inward, those of a mesh of the plane
        counter-clockwise, others as most of their faces are; polygons and cells too.
    folded : bool
        Unfold a mesh, which is oriented first. Of the plane: triangles that run clockwise, or have no area, flip an edge, or go. Of cells:
        those without a positive volume go, and of those on one side of a face all but the largest.
    fill_holes : int, str or True, optional
        Fill holes of at most N edges (3 or more; without N 500) with triangles of least area. A hole of more than 500 edges loses its
        ears with the shortest new edges first. The outer boundary of a surface in space is a hole too. Notes give the reason why a hole
        is left.
    min_faces : int or str, optional
        Drop components of fewer than N faces; faces that share an edge are of one component.
    flip : bool
        Turn all faces over at the end; polygons too.
    unused : bool
        Drop vertices that no face, cell or segment has; of polygons and cells too.
    device : "auto", "cuda:N", "cpu" or Device
    regions : (F,) integers, optional
        A tag of each triangle.
    segments, markers : (S, 2) and (S,) integers, optional
        Edges as pairs of vertex ids, which do not flip, and their tags.
    progress : function or True, optional

    Returns
    -------
    Repaired, RepairedVolume
        or `DeviceRepaired` for arrays of a device: the mesh, with `old_vertices` and `old_cells`.

    Raises
    ------
    ValueError
        No step is chosen; a coordinate that is not finite, an id that is none of a vertex, or a step that the faces or cells do not
        have; segments of a mesh on a device.

    >>> square = repair([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [2, 0, 1], [0, 3, 2]], repeated=True, orient=True, device="cpu")
    >>> square.triangles, square.old_cells
    (array([[0, 1, 2],
           [0, 2, 3]], dtype=uint32), array([0, 2], dtype=uint32))
    >>> square.counts["repeated_faces"], square.counts["turned_faces"]
    (1, 1)
    """
    options = options_of("repair", locals())
    mesh = of_any(mesh)
    beside = {"regions": regions, "segments": segments, "markers": markers}
    there = resident(mesh, triangles, **beside)
    if there is not None:
        lone(there, "repair", "leave it out, or repair on the host (.to_host())", "segments", "markers")
        on = of_array(there.points, device)
        held = on_device(on, **there._held())
        with watching(progress) as watch:
            return DeviceRepaired(noted(native.run("repair_on_device", on, held, options, watch)))
    is_volume = isinstance(mesh, VolumeMesh) and triangles is None
    arrays = volume_of(mesh, *beside.values()) if is_volume else surface_of(mesh, triangles, **beside)._arrays()
    family = "repair_volume" if is_volume else "repair"
    with watching(progress) as watch:
        result = noted(run_on(device, lambda on: native.run(family, on, arrays, options, watch)))
    kind: Any = RepairedVolume if is_volume else Repaired
    repaired = kind._of(result)
    for name in ("old_vertices", "old_cells", "counts"):
        setattr(repaired, name, result[name])
    return repaired
