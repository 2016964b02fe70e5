"""The families: polylla, refine, weld, smooth."""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import DeviceLike, of_array, on_device, run_on
from ._foreign import of_any
from ._inputs import (
    any_mesh,
    chosen,
    floats,
    lone,
    no_surface_arrays,
    noted,
    options_of,
    resident,
    resident_volume,
    surface_of,
    volume_of,
    with_triangles,
)
from ._mesh import DeviceSurface, DeviceVolume, VolumeMesh
from ._polyhedra import Polyhedra
from ._progress import Progress, watching
from ._resident import (
    DevicePolygons,
    DeviceRefined,
    DeviceRefinedVolume,
    DeviceSmoothed,
    DeviceSmoothedVolume,
    DeviceWelded,
)
from ._results import Polygons, Refined, RefinedVolume, Smoothed, SmoothedVolume, Welded
from ._steps import step

Mark = Union[None, str, Tuple[Any, ...], Sequence[int], np.ndarray]


@step
def polylla(
    mesh: Any,
    triangles: Any = None,
    *,
    device: DeviceLike = "auto",
    regions: Any = None,
    segments: Any = None,
    markers: Any = None,
    method: str = "half-edge",
    repair: Optional[str] = None,
    strict: bool = False,
    convex_pieces: bool = False,
    min_edge: Optional[float] = None,
    unconstrained: bool = False,
    ties: str = "edge",
    digest: bool = False,
    levels: Union[None, int, str] = None,
    until: Union[None, int, str] = None,
    rule: str = "largest-faces",
    by: Optional[str] = None,
    merge_faces: bool = False,
    feature_angle: Optional[float] = None,
    flatness: Optional[float] = None,
    precision: str = "f64",
    progress: Progress = None,
) -> Any:
    """Joins the triangles of the plane or of a surface to polygons, or tetrahedra to polyhedra (Polylla).

    Parameters
    ----------
    mesh : Mesh, VolumeMesh of tetrahedra, or (V, 2) or (V, 3) coordinates
        A triangulation, of the plane where all z are the same, else of a surface in space, closed or not. Arrays of a device are used in
        place: the result stays there. With `levels`, `until` or `min_edge` they are copied to the host once, where the result is. Of a `VolumeMesh`, whose tagged faces and region borders stay, polyhedra are made.
    triangles : (T, 3) integers
        Vertex ids, in the plane counter-clockwise.
    device : "auto", "cuda:N", "cpu" or Device
    regions : (T,) integers, optional
        No polygon crosses a border between regions.
    segments, markers : (S, 2) and (S,) integers, optional
        Edges that stay.
    method : "half-edge" or "indexed"
        Data that polygons are made from: half-edges, or arrays of triangles and their neighbours. Both give the same polygons.
    repair : "device" or "host", optional
        Where the method indexed splits polygons with barrier tips.
    strict : bool
        Split the few polygons that visit a vertex twice (method half-edge), and polyhedra whose surface is no 2-manifold.
    convex_pieces : bool
        Divide polygons of the plane into convex pieces: at most four times the fewest, and none that could be left out (method
        half-edge).
    min_edge : float, optional
        Collapse the edges of polygons of the plane that are shorter than this part of the diameter of a polygon beside them, between 0
        and 1, where all polygons stay simple, or convex pieces convex. No vertex moves; borders, segments and regions keep their
        place. Polygons that visit a vertex twice are split, as by strict (method half-edge).
    unconstrained : bool
        Let polygons cross segments and region borders of the input, polyhedra tagged faces and region borders.
    ties : "edge" or "first"
        Which of two equally long edges counts as longer: the one with the smaller id, or the first in the triangle.
    digest : bool
        Give a digest of the polygons, 64 bits in 16 digits: of their order and their vertices in order. It is the same for every
        device and any number of processes.
    levels : int or str, optional
        Join the polygons, or polyhedra, to at most as many nested levels: a piece of each joins 2 to 4 pieces of the one before, along
        their longest borders, or largest. Fields level_1, level_2 and so on have the piece that each polygon or polyhedron belongs to.
    until : int or str, optional
        Join the polygons or polyhedra to nested levels until one has as many pieces or fewer.
    rule : "largest-faces" or "cavity"
        How tetrahedra are joined: across their largest faces, or to cavities. A cavity is the tetrahedra around one whose circumcentres
        lie in its circumsphere; small spheres come first.
    by : "area" or "circumradius", optional
        Which face of a tetrahedron is its largest: by area, or by the radius of the circle through its vertices.
    merge_faces : bool
        Join the triangles between two polyhedra that lie in one plane, exactly.
    feature_angle : float, optional
        Keep the edges of a surface whose two triangles are at a larger angle: degrees between their normals, 0 to 180 (5e-6 more count
        as equal).
    flatness : float, optional
        Keep polygons of a surface flat: in none is a triangle's normal more than this many degrees, 0 to 180, from those of the
        triangles at the longest edge that all its triangles lead to.
    precision : "f64" or "f32"
        Precision of coordinates on the device.
    progress : function or True, optional

    Returns
    -------
    Polygons
        or, without levels and min_edge, `DevicePolygons` for arrays of a device, with `parent_offsets`, `parents` and `map` there; `Polyhedra` of tetrahedra.

    Raises
    ------
    ValueError
        The mesh breaks a rule; the sentence names the element.

    >>> square = polylla([[0, 0], [1, 0], [1, 1], [0, 1]], [[0, 1, 2], [0, 2, 3]], device="cpu")
    >>> square.faces()
    [array([0, 1, 2, 3], dtype=uint32)]
    >>> square.map
    array([0, 0], dtype=uint32)
    """
    mesh = of_any(mesh)
    options = options_of("polylla", locals())
    if isinstance(mesh, VolumeMesh) and triangles is None:
        tetrahedra = volume_of(mesh, regions, segments, markers)
        with watching(progress) as watch:
            result = run_on(device, lambda on: native.run("polylla_volume", on, tetrahedra, options, watch))
            return Polyhedra._of_result(noted(result))
    there = resident(mesh, triangles, regions=regions, segments=segments, markers=markers)
    if there is not None and not (levels is until is min_edge is None):
        mesh, triangles, device = there.to_host(), None, of_array(there.points, device)
        regions = segments = markers = None
    elif there is not None:
        on = of_array(there.points, device)
        held = on_device(on, **there._held())
        with watching(progress) as watch:
            return DevicePolygons(native.run("polylla_on_device", on, held, options, watch), there, bool(unconstrained))
    surface = with_triangles(surface_of(mesh, triangles, regions=regions, segments=segments, markers=markers))
    with watching(progress) as watch:
        return Polygons._of_result(noted(run_on(device, lambda on: native.run("polylla", on, surface._arrays(), options, watch))))


def _mark(mark: Mark) -> Tuple[Optional[str], Any]:
    """A marking as text, or as an array of flags, ids or values.

    >>> _mark(("disk", 0, 0, 0.5))
    ('disk:0.0,0.0,0.5', None)
    """
    if mark is None or isinstance(mark, str):
        return mark, None
    if isinstance(mark, tuple) and mark and isinstance(mark[0], str):
        numbers = floats(mark[1:], f"mark={mark[0]!r}")
        return (f"{mark[0]}:{','.join(map(repr, numbers))}" if numbers else mark[0]), None
    return None, mark


@step
def refine(
    mesh: Any,
    triangles: Any = None,
    *,
    mark: Mark = None,
    threshold: Optional[float] = None,
    dorfler: Optional[float] = None,
    seed: int = 0,
    rounds: int = 1,
    until_area: Optional[float] = None,
    until_volume: Optional[float] = None,
    max_triangles: Union[None, int, str] = None,
    coarsen_to: Optional[int] = None,
    edges: str = "longest",
    device: DeviceLike = "auto",
    regions: Any = None,
    segments: Any = None,
    markers: Any = None,
    precision: str = "f64",
    progress: Progress = None,
) -> Any:
    """Divides marked triangles or tetrahedra, and their neighbours as far as conformity requires.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh of tetrahedra, or (V, 2) or (V, 3) coordinates
        A triangulation, of the plane where all z are the same (they become 0), else of a surface in space; of tetrahedra a
        `VolumeMesh`. Arrays of a device, a `DeviceSurface` or a `DeviceVolume` are refined there, and the result stays there.
    triangles : (T, 3) integers
        Vertex ids, in the plane counter-clockwise.
    mark : str, tuple, or array, optional
        "all", the default; ("fraction", chance) with `seed`; ("area", most) or ("volume", most); ("angle", least in degrees); centroids
        in ("box", x0, y0, x1, y1), ("disk", x, y, radius), of any height, or in space ("box", x0, y0, z0, x1, y1, z1),
        ("ball", x, y, z, radius); as text, "disk:0.5,0.5,0.1", too. Or a flag for each cell, the ids of cells, or a value for each
        cell with `threshold` or `dorfler`: later rounds divide all parts of these cells.
    threshold : float, optional
        With values as marks, refine the cells whose value is above this.
    dorfler : float, optional
        With values as marks, refine the cells with the largest values, as many as make this part of the sum of all (Dörfler).
    seed : int
        Seed of marks by fraction.
    rounds : int
        Rounds; each marks anew. Ids, flags and values mark all parts of their cell again.
    until_area : float, optional
        Refine in rounds until no triangle has more area than this.
    until_volume : float, optional
        Refine in rounds until no tetrahedron has more volume than this.
    max_triangles : int or str, optional
        Begin no round that would give more triangles than this; on tetrahedra, no level that begins with this many or more.
    coarsen_to : int, optional
        Give the mesh of this level in place of the last round's, bit for bit: 0 is the input, and rounds after it are not run.
    edges : "longest" or "every"
        The edges that a marked tetrahedron divides.
    precision : "f64" or "f32"
        Precision of coordinates on the device.
    device, progress
        As of `polylla`.

    Returns
    -------
    Refined or RefinedVolume
        The mesh with `parents` and `prolongation`. Attributes, fields, regions and segments are carried over.
    DeviceRefined or DeviceRefinedVolume
        of arrays of a device: regions are carried over; `interpolate` takes a field of the vertices along.

    Raises
    ------
    ValueError
        The mesh breaks a rule; the sentence names the element.

    >>> from trioxide import generate
    >>> coarse = generate("grid", 9)
    >>> fine = refine(coarse, mark=("disk", 0, 0, 0.5), rounds=2, device="cpu")
    >>> len(coarse.triangles), len(fine.triangles), len(fine.parents)
    (8, 20, 20)
    >>> fine.prolongation.shape
    (16, 9)
    """
    mesh = of_any(mesh)
    is_volume = isinstance(mesh, (VolumeMesh, DeviceVolume)) and triangles is None
    cells, element = ("tetrahedra", "tetrahedron") if is_volume else ("triangles", "triangle")
    options = options_of("refine", locals())
    options["mark"], array = _mark(mark)
    if is_volume:
        no_surface_arrays(regions, segments, markers)
    if array is not None and not (threshold is None and dorfler is None):
        options["values"], array = check.numbers(array, "mark"), None
    family = "refine_tets" if is_volume else "refine"
    there: Any = resident_volume(mesh, triangles)
    if not is_volume:
        there = resident(mesh, triangles, regions=regions, segments=segments, markers=markers)
    if there is not None:
        if isinstance(there, DeviceSurface):
            remedy = "leave it out, and carry numbers of vertices by .interpolate; or refine on the host (.to_host())"
            lone(there, "refine", remedy, "segments", "markers", "normals", "colors", "uvs")
        on = of_array(there.points, device)
        held = on_device(on, **there._held())
        before = held["points"].shape[0]
        if array is not None:
            held["mark"] = chosen(array, "mark", held[cells].shape[0], element, on)
        with watching(progress) as watch:
            kind: Any = DeviceRefinedVolume if is_volume else DeviceRefined
            return kind(native.run(f"{family}_on_device", on, held, options, watch), on, before)
    found: Any = mesh
    if not is_volume:
        found = with_triangles(surface_of(mesh, triangles, regions=regions, segments=segments, markers=markers))
    arrays = found._arrays()
    if arrays[cells] is None:
        raise ValueError(f"the mesh has other cells than {cells}: take .to_{cells}()")
    if array is not None:
        options["flags"] = check.flags(array, "mark", len(arrays[cells]), element)
    with watching(progress) as watch:
        result = run_on(device, lambda on: native.run(family, on, arrays, options, watch))
    before = len(arrays["points"])
    return (RefinedVolume if is_volume else Refined)._of_result(noted(result), before)


@step
def weld(
    mesh: Any,
    triangles: Any = None,
    *,
    epsilon: Optional[float] = None,
    ratio: Optional[float] = None,
    position: str = "mean",
    keep_degenerate: bool = False,
    normal_tolerance: Optional[float] = None,
    uv_tolerance: Optional[float] = None,
    color_tolerance: Optional[int] = None,
    method: str = "auto",
    memory_limit: Union[None, int, str] = None,
    lock_boundary: bool = False,
    locked: Any = None,
    device: DeviceLike = "auto",
    progress: Progress = None,
) -> Any:
    """Merges vertices that are within epsilon of each other.

    A vertex represents those within epsilon of it that no vertex of a lower id represents: the result is the same on every machine,
    by every method.

    Parameters
    ----------
    mesh : Mesh, or (V, 2) or (V, 3) coordinates
        A surface or a point cloud. Arrays of a device, or a `DeviceSurface` with attributes and regions, are used in place, and
        the result stays there.
    triangles : (F, 3) integers, optional
        Vertex ids.
    epsilon : float
        Distance within which vertices merge; 0 merges exact duplicates.
    ratio : float
        Fraction of the vertices to remove, instead of epsilon: searches the distance that removes as many, to 0.0001 or as near as
        any distance comes.
    position : "mean" or "first"
        Position of a merged vertex, and its attributes: the mean of its vertices, or those of the first.
    keep_degenerate : bool
        Keep degenerate faces and segments, whose ends merged, and duplicate ones.
    normal_tolerance : float, optional
        Largest angle between the normals of vertices that merge, in degrees (0 to 180); one larger by 1e-5 degrees counts as equal,
        but for 0; a normal of length zero keeps none apart.
    uv_tolerance : float, optional
        Largest distance of the texture coordinates of vertices that merge, in units of these coordinates.
    color_tolerance : int, optional
        Largest difference in any of red, green, blue and alpha between vertices that merge, in steps of 255 (0 to 255).
    method : "auto", "grid", "dependency", "on-the-fly" or "sparse-grid"
        How clusters are computed: the same result by each, in other time and memory.
    memory_limit : int or str, optional
        Bytes of device memory to use at most: 512M, 4G; a mesh that takes more by the method grid is welded in slabs, with the same
        result.
    lock_boundary : bool
        Vertices of the boundary merge with no other.
    locked : (V,) flags or ids, optional
        Vertices that merge with no other.
    device, progress
        As of `polylla`.

    Returns
    -------
    Welded
        or `DeviceWelded` for arrays of a device, with `map`, `representatives` and `removed`.

    Raises
    ------
    ValueError
        A coordinate that is not finite, an id that is none of a vertex, or a guard over an attribute that is not there.
    MemoryError
        The device's memory does not suffice, not even in slabs, which carry no attributes.

    Warns
    -----
    UserWarning
        Normals that are not finite; a ratio that no distance comes near; a mesh that is welded in slabs.

    >>> soup = [[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1.001]]
    >>> welded = weld(soup, [[0, 1, 2], [3, 4, 5]], epsilon=0.01, device="cpu")
    >>> welded.triangles
    array([[0, 1, 2],
           [1, 3, 2]], dtype=uint32)
    >>> welded.map, welded.removed
    (array([0, 1, 2, 1, 3, 2], dtype=uint32), array([3, 5], dtype=uint32))
    """
    mesh = of_any(mesh)
    options = options_of("weld", locals())
    options["lock_boundary"] = bool(lock_boundary)
    there = resident(mesh, triangles)
    if there is not None:
        lone(there, "weld", "leave it out, or weld on the host (.to_host())", "segments", "markers")
        on = of_array(there.points, device)
        held = on_device(on, **there._held())
        if locked is not None:
            held["locked"] = chosen(locked, "locked", held["points"].shape[0], "vertex", on)
        with watching(progress) as watch:
            return DeviceWelded(noted(native.run("weld_on_device", on, held, options, watch)))
    surface = surface_of(mesh, triangles)._arrays()
    if locked is not None:
        options["locked"] = check.flags(locked, "locked", len(surface["points"]), "vertex")
    with watching(progress) as watch:
        return Welded._of_result(noted(run_on(device, lambda on: native.run("weld", on, surface, options, watch))))


@step
def smooth(
    mesh: Any,
    triangles: Any = None,
    *,
    form: Optional[str] = None,
    layout: str = "aligned",
    blocks: str = "many",
    renumber: str = "auto",
    guard: bool = False,
    untangle: bool = False,
    improve: bool = False,
    keep_going: bool = False,
    weights: str = "uniform",
    method: str = "laplacian",
    lambda_: Optional[float] = None,
    mu: Optional[float] = None,
    hc: Optional[Tuple[float, float]] = None,
    boundary: str = "fixed",
    tolerance: float = 0.0,
    max_iterations: int = 100,
    fixed: Any = None,
    precision: str = "f64",
    device: DeviceLike = "auto",
    progress: Progress = None,
) -> Any:
    """Smooths a surface or a volume mesh: each vertex goes to the mean of its neighbours, again and again.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh, or (V, 2) or (V, 3) coordinates
        Arrays of a device, a `DeviceSurface` or a `DeviceVolume` are used in place, and the result stays there.
    triangles : (F, 3) integers
        Vertex ids.
    form : "a", "b", "b-coloured" or "b-exact", optional
        Positions of the neighbours: a, before the sweep; b, of the moment (over many blocks a race: another result in each run);
        b-coloured, of the moment by colours; b-exact, of the moment in the order of ids.
    layout : "soa", "aos" or "aligned"
        Layout of nodes in memory: structure of arrays, array of structures, array of aligned structures.
    blocks : "one" or "many"
        Blocks of threads that sweep.
    renumber : "auto", "on" or "off"
        Whether nodes lie along a space-filling curve during the sweeps; the result has the order of the input.
    guard : bool
        Take a move only if no cell around the node is turned around, and the worst quality around it does not fall: of cells, and of
        triangles and polygons in a plane of one z.
    untangle : bool
        Move nodes until no cell is inverted, in place of sweeps to the mean: triangles of the plane, and cells of volume meshes by the
        tetrahedra at their corners (of a hexahedron all eight, not its whole Jacobian). Nodes of two rings around inverted cells move,
        of more while that fails; no valid cell becomes inverted. It ends after max-iterations too, with a failure and no output.
    improve : bool
        Move nodes so that the worst cells of a valid mesh become better, by their mean ratio, and the worst never becomes worse; after
        untangling, if both are given.
    keep_going : bool
        Take the result of untangling also if inverted cells are left.
    weights : "uniform", "inverse-length" or "cotangent"
        Weights of a node's neighbours, measured before the first sweep: each the same; one over the distance; cotangents opposite to
        the edge (triangles and tetrahedra only), 0 where their sum is negative: obtuse angles would push a node away.
    method : "laplacian", "taubin" or "hc"
        How far sweeps go: laplacian, to the mean; taubin, alternately lambda of the way there and mu of it back, which keeps the volume
        (two sweeps are a step); hc, to the mean and back by the excess, which keeps the volume too.
    lambda_ : float, optional
        Taubin's factor of the way to the mean, above 0.
    mu : float, optional
        Taubin's factor of the way back: from -1 to below minus lambda.
    hc : (float, float), optional
        Parameters of hc, from 0 to 1: the part of the way that nodes go back to where they were at first, and the part of the push that
        is their own and not their neighbours'.
    boundary : "fixed" or "slide"
        Nodes of the boundary: fixed; or sliding, in a volume mesh on planar patches and along straight edges between them, in a surface
        along a straight border.
    tolerance : float
        Stop after a sweep that moves each node by less than this; 0: never.
    max_iterations : int
        Most sweeps.
    fixed : (V,) flags or ids, optional
        Vertices that stay.
    precision : "f64" or "f32"
        Precision of coordinates on the device; a node that single precision does not move keeps all its bits.
    device, progress
        As of `polylla`.

    Returns
    -------
    Smoothed, SmoothedVolume
        or `DeviceSmoothed`, `DeviceSmoothedVolume` for arrays of a device: the mesh with new points, `moving` and `sweeps`.

    Raises
    ------
    ValueError
        The mesh breaks a rule, with the element; options that do not go together; or untangling has left inverted cells.

    >>> fan = smooth([[0, 0], [2, 0], [2, 2], [0, 2], [0.5, 1.5]], [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]], device="cpu")
    >>> fan.points[4], fan.moving
    (array([1., 1., 0.]), 1)
    """
    mesh = of_any(mesh)
    options = options_of("smooth", locals())
    there: Any = resident_volume(mesh, triangles) or resident(mesh, triangles)
    if there is not None:
        on = of_array(there.points, device)
        is_volume = isinstance(there, DeviceVolume)
        cells = {"tetrahedra": there.tetrahedra} if is_volume else {"triangles": there.triangles}
        held = on_device(on, points=there.points, regions=there.regions, **cells)
        if fixed is not None:
            held["fixed"] = chosen(fixed, "fixed", held["points"].shape[0], "vertex", on)
        with watching(progress) as watch:
            if is_volume:
                return DeviceSmoothedVolume(native.run("smooth_tets_on_device", on, held, options, watch), there)
            return DeviceSmoothed(native.run("smooth_on_device", on, held, options, watch), there)
    found = any_mesh(mesh, triangles)
    is_volume = isinstance(found, VolumeMesh)
    if not isinstance(found, VolumeMesh):
        with_triangles(found)
    given = found._arrays()
    if fixed is not None:
        options["fixed"] = check.flags(fixed, "fixed", len(given["points"]), "vertex")
    family = "smooth_volume" if is_volume else "smooth"
    with watching(progress) as watch:
        result = noted(run_on(device, lambda on: native.run(family, on, given, options, watch)))
    # The points; all arrays if elements were turned.
    given.update((name, result[name]) for name in given.keys() & result.keys())
    smoothed: Any = SmoothedVolume._of(given) if is_volume else Smoothed._of(given)
    smoothed.moving, smoothed.sweeps, smoothed.counts = result["moving"], result["sweeps"], result["counts"]
    smoothed.inverted = result["inverted"]
    return smoothed
