"""Outlines and points into triangles."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, Optional, Sequence, TypedDict, Union, overload

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import DeviceArray, DeviceLike, of_array, on_device, run_on
from ._foreign import of_any
from ._inputs import all_there, noted, options_of, path_of, surface_of
from ._mesh import DeviceSurface, Mesh
from ._progress import Progress, watching
from ._steps import step

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Triangulated(Mesh):
    """A triangulation of an outline: a `Mesh` of triangles.

    Attributes
    ----------
    counts : dict
        What was counted, as the command line reports it: `vertices`, `faces`, `segments`, `input_vertices`, `input_segments`,
        `duplicates`, `crossings`.
    firsts : (V,) array of uint32
        For each vertex of the input the first at its place. It is another one for the vertices that `duplicates="first"` leaves out of
        triangles.
    old_vertices, old_cells : (V,) and (F,) arrays of uint32, or None
        The id of each vertex and each triangle without `reorder`.
    neighbours : (F, 3) array of int32, or None
        With `neighbours`, for each triangle the one across the edge opposite to each corner, -1 at the boundary, as
        `scipy.spatial.Delaunay.neighbors`.
    """

    __slots__ = ("counts", "firsts", "old_vertices", "old_cells", "neighbours")
    counts: Dict[str, int]
    firsts: np.ndarray
    old_vertices: Optional[np.ndarray]
    old_cells: Optional[np.ndarray]
    neighbours: Optional[np.ndarray]


class DeviceTriangulated(DeviceSurface):
    """A triangulation in a device's memory; `firsts` (None where no two points are equal), `counts` and `neighbours` as of `Triangulated`.
    With segments, `segments` are edges of triangles on them, and `parents` the segment of each. Where vertices are added, `points` are all in two
    columns."""

    __slots__ = ("firsts", "counts", "neighbours", "parents")

    def __init__(self, arrays: Dict[str, Any], points: Any) -> None:
        super().__init__(points, arrays["triangles"], regions=arrays.get("regions"), segments=arrays.get("segments"))
        self.parents: Optional[DeviceArray] = arrays.get("parents")
        self.firsts: Optional[DeviceArray] = arrays.get("firsts")
        self.counts: Dict[str, int] = arrays["counts"]
        self.neighbours: Optional[DeviceArray] = arrays.get("neighbours")


class _Triangulate(TypedDict, total=False):
    device: DeviceLike
    markers: Any
    holes: Any
    regions: Any
    angle: Optional[float]
    area: Optional[float]
    size: Optional[str]
    background: Any
    max_vertices: Union[None, int, str]
    keep_boundary: str
    resolve: bool
    convex: bool
    duplicates: str
    reorder: bool
    neighbours: bool
    follow_references: str
    columns: Union[None, str, Sequence[str]]
    progress: Progress


def _limits(holes: Any, regions: Any) -> Dict[str, Any]:
    """Points in holes and regions, for the native part."""
    arrays: Dict[str, Any] = {}
    if holes is not None and not isinstance(holes, str):
        arrays["holes"] = np.ascontiguousarray(check.points(holes, "holes")[:, :2])
    if regions is not None:
        places = check.points([row[:2] for row in regions], "regions")
        arrays["region_points"] = np.ascontiguousarray(places[:, :2])
        arrays["region_ids"] = check.tags([row[2] for row in regions], "regions", len(places), "region")
        areas = [row[3] if len(row) > 3 else None for row in regions]
        arrays["region_areas"] = np.array([0.0 if area is None else area for area in areas], np.float64)
    return arrays


def _background(mesh: Any) -> Optional[Dict[str, Any]]:
    """The mesh with sizes, for the native part."""
    return None if mesh is None else surface_of(of_any(mesh), None)._arrays()


@overload
def triangulate(outline: DeviceArray, segments: Any = None, **options: Unpack[_Triangulate]) -> DeviceTriangulated: ...
@overload
def triangulate(outline: Any, segments: Any = None, **options: Unpack[_Triangulate]) -> Triangulated: ...


@step
def triangulate(
    outline: Any,
    segments: Any = None,
    *,
    device: DeviceLike = "auto",
    markers: Any = None,
    holes: Any = None,
    regions: Any = None,
    angle: Optional[float] = None,
    area: Optional[float] = None,
    size: Optional[str] = None,
    background: Any = None,
    max_vertices: Union[None, int, str] = None,
    keep_boundary: str = "none",
    resolve: bool = False,
    convex: bool = False,
    duplicates: str = "refuse",
    reorder: bool = False,
    neighbours: bool = False,
    follow_references: str = "below",
    columns: Union[None, str, Sequence[str]] = None,
    progress: Progress = None,
) -> Union[Triangulated, DeviceTriangulated]:
    """Triangulates points or an outline (constrained Delaunay), with a smallest angle and a largest area on request.

    The device triangulates by x and y: z and the data of points and segments are kept. Every machine gives the same triangles for points
    and segments in any order. Where vertices are added, points have one z and lose their data.

    The area that the segments enclose is triangulated, less the holes; points alone up to their convex hull. Only this area is refined.
    Segments keep their markers, an edge along several that of the first; vertices of the input keep their numbers, unless they are
    reordered.

    Parameters
    ----------
    outline : (V, 2) or (V, 3) coordinates, Mesh, or path
        Points, in place where they are in a device's memory; those of a mesh with its segments; or a file: a .poly file of Triangle with
        its holes and regions, or one with points and segments.
    device : "auto", "cuda:N", "cpu" or Device
        Where points are triangulated and ordered.
    segments, markers : (S, 2) and (S,) integers, optional
        Edges of the outline as pairs of vertex ids, and their tags. For points of a device segments are there too, without markers.
    holes : (H, 2) numbers, "given" or "inner", optional
        A point in each hole; or the holes: `given`, by the points in them; `inner`, the rings nested in another, of any format. A ring
        within a hole is an island.
    regions : list of (x, y, id) or (x, y, id, area), optional
        A point in each region, the id of its triangles, and the largest area that they may have where vertices are added; the others are in
        region 0.
    angle : float, optional
        Add vertices until no triangle has a smaller angle, but at smaller angles between segments. Up to 20.7 degrees this ends where
        segments meet at 60 degrees or more; up to 30 it mostly does; up to 33 are taken. A limit of the vertices stops what does not end.
    area : float, optional
        Add vertices until no triangle is larger; where vertices are added, the regions of a .poly file keep the largest areas that it gives
        them.
    size : str, optional
        Add vertices until no triangle has an edge longer than this point field of the background at the triangle's centroid: the wanted edge
        lengths, interpolated linearly; outside of the background there is no bound.
    background : Mesh, optional
        The mesh of triangles in the plane with the point field of `size`.
    max_vertices : int or str, optional
        Most vertices to add, counting the ones that are removed again; a refinement that needs more is an error, and gives no mesh.
    keep_boundary : "none", "outer" or "all"
        Add no vertices on these segments: `outer`, those at the boundary of the triangles; `all`. Triangles at them may miss the smallest
        angle and the sizes, which a note reports.
    resolve : bool
        Put vertices where segments cross each other; the parts keep the markers of their segments. Without it segments that cross are an
        error.
    convex : bool
        Keep the triangles outside of the segments, up to the convex hull.
    duplicates : "refuse" or "first"
        Equal points; segments at left out ones end at the first.
    reorder : bool
        Renumber vertices and triangles along a Hilbert curve, as reorder does.
    neighbours : bool
        Find the neighbours of each triangle too, on the device.
    follow_references : "below" or "anywhere"
        As of `read`.
    columns : str or names, optional
        As of `read`.
    progress : function or True, optional

    Returns
    -------
    Triangulated, or DeviceTriangulated for points of a device

    Raises
    ------
    ValueError
        Points that are repeated or all on a line, segments that cross each other, an outline that encloses nothing, or more vertices than may be added.
    OSError
        The file cannot be read.

    Warns
    -----
    UserWarning
        What was left out, or could not be reached.

    >>> square = [[0, 0], [3, 0], [3, 3], [0, 3], [1, 1], [2, 1], [2, 2], [1, 2]]
    >>> ring = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4]]
    >>> triangulate(square, ring, holes=[[1.5, 1.5]])
    <trioxide.Triangulated: 8 vertices, 8 triangles, 8 segments>
    """
    options = options_of("triangulate", {**locals(), "holes": holes if isinstance(holes, str) else "given"})
    if check.is_device_array(outline):
        if markers is not None:
            raise ValueError("segments of a device have no markers: leave markers out, and take those of the result's parents")
        given = {"points": outline} if segments is None else {"points": outline, "segments": segments}
        all_there(given, "the outline")
        on = of_array(outline, device)
        held: Dict[str, Any] = {**on_device(on, **given), **_limits(holes, regions), "neighbours": bool(neighbours)}
        held["background"] = _background(background)
        with watching(progress) as watch:
            found = noted(native.run("triangulate_on_device", on, held, options, watch))
            return DeviceTriangulated(found, found.get("points", outline))
    options.update(follow_references=follow_references, columns=columns)
    arrays: Dict[str, Any] = {}
    path = None
    if isinstance(outline, (str, bytes, os.PathLike)):
        arrays["path"] = path = path_of(outline)
        if not (segments is None and markers is None and (holes is None or isinstance(holes, str)) and regions is None):
            raise TypeError("segments, markers, holes and regions go with points: the file has its own")
    else:
        mesh = surface_of(of_any(outline), None, segments=segments, markers=markers)
        arrays = mesh._arrays()
        arrays["triangles"] = arrays["offsets"] = arrays["vertices"] = None
        arrays.update(_limits(holes, regions))
    arrays["neighbours"] = bool(neighbours)
    arrays["background"] = _background(background)
    with watching(progress) as watch:
        result = noted(run_on(device, lambda on: native.run("triangulate", on, arrays, options, watch)))
    mesh = Triangulated._of(result)
    mesh.counts = result["counts"]
    mesh.old_vertices, mesh.old_cells = result.get("old_vertices"), result.get("old_cells")
    mesh.neighbours = result.get("neighbours")
    firsts = result["firsts"]
    mesh.firsts = firsts if len(firsts) else np.arange(mesh.counts["input_vertices"], dtype=np.uint32)
    return mesh
