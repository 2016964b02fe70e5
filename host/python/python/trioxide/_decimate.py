"""Meshes of a wanted number of triangles with a small error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, TypedDict, Union, overload

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import DeviceArray, DeviceLike, of_array, on_device, run_on
from ._foreign import of_any
from ._inputs import chosen, lone, noted, options_of, resident, surface_of
from ._mesh import DeviceSurface, Mesh
from ._progress import Progress, watching
from ._steps import step

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Arrays of the host.
_Host = Union[np.ndarray, Sequence[Sequence[float]]]


class Decimated(Mesh):
    """A decimated mesh: a `Mesh` of W of the V vertices.

    Attributes
    ----------
    map : (V,) uint32
        The new vertex that each old one went into.
    survivors : (W,) uint32
        The old vertex of each new one, ascending.
    triangle_ids : (F,) uint32
        The old triangle of each new one, ascending.
    counts : dict
        What the run counted, as the command line reports it: `faces`, `decimated_faces`, `rounds` and others.
    """

    __slots__ = ("map", "survivors", "triangle_ids", "counts")
    map: np.ndarray
    survivors: np.ndarray
    triangle_ids: np.ndarray
    counts: Dict[str, int]


class DeviceDecimated(DeviceSurface):
    """A decimated surface in a device's memory, without attributes and regions; `map`, `survivors`, `triangle_ids` and `counts` as of
    `Decimated`."""

    __slots__ = ("map", "survivors", "triangle_ids", "counts")

    def __init__(self, arrays: Dict[str, Any]) -> None:
        super().__init__(arrays["points"], arrays["triangles"])
        self.map: DeviceArray = arrays["map"]
        self.survivors: DeviceArray = arrays["survivors"]
        self.triangle_ids: DeviceArray = arrays["triangle_ids"]
        self.counts: Dict[str, int] = arrays["counts"]


class _Decimate(TypedDict, total=False):
    to: Union[None, int, str]
    keep: Union[None, float, Sequence[float]]
    error: Optional[float]
    place: str
    weigh: Union[None, str, Sequence[str]]
    lock_boundary: bool
    locked: Any
    device: DeviceLike
    progress: Progress


@overload
def decimate(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Decimate]) -> Decimated: ...
@overload
def decimate(mesh: Union[DeviceSurface, DeviceArray], triangles: Any = None, **options: Unpack[_Decimate]) -> DeviceDecimated: ...
@overload
def decimate(mesh: Any, triangles: Any = None, **options: Unpack[_Decimate]) -> Any: ...


@step
def decimate(
    mesh: Any,
    triangles: Any = None,
    *,
    to: Union[None, int, str] = None,
    keep: Union[None, float, Sequence[float]] = None,
    error: Optional[float] = None,
    place: str = "optimal",
    weigh: Union[None, str, Sequence[str]] = None,
    lock_boundary: bool = False,
    locked: Any = None,
    device: DeviceLike = "auto",
    progress: Progress = None,
) -> Any:
    """Collapses edges until a number of triangles is reached, with a small error.

    Quadric edge collapse in rounds: in each, the edges that cost least where they are collapse, if the surface keeps its topology and
    no triangle turns over. The result is the same on every machine. Closed surfaces stay closed; vertices on segments, and where
    regions meet, stay where they are; vertices of the boundary at one place, as at the seams of a texture, stay at one place.
    Vertices get the attributes and the values of fields of floats that fit best where they go.

    Parameters
    ----------
    mesh : Mesh, or (V, 2) or (V, 3) coordinates
        A surface of triangles. Arrays of a device, or a `DeviceSurface` with regions, are used in place, and the result stays there:
        attributes and regions of it are those of the old vertices and triangles, `survivors` and `triangle_ids`.
    triangles : (F, 3) integers, optional
        Vertex ids.
    to : int or str, optional
        Number of triangles to reach (k, M, G are thousands, millions, billions): the result has the largest number not above it that
        collapses reach; one inside removes two triangles, one at the boundary one.
    keep : float or list of floats, optional
        Fraction of the triangles to reach, instead of their number; several (0.5,0.1) give as many meshes in one run, each that of a
        run of its own.
    error : float, optional
        Largest error of a collapse, in the units of the mesh: the root of the mean of the squared distances to the planes of the
        triangles that a vertex stands for, weighted by area; no bound of the distance between the surfaces.
    place : "optimal", "midpoint" or "end"
        Where the vertex of a collapse goes.
    weigh : str or list of str, optional
        Numbers of the points that count beside the surface in the choice of edges and places: normals, colours (or colors), uvs
        (texture coordinates), or the names of fields of floats. NAME=W gives the weight: a difference of 1, of a field its whole range,
        counts as the distance of W times the diagonal of the bounding box; by default W is 0.01. With or without this option vertices
        get the values that fit best at their places.
    lock_boundary : bool
        Vertices of the boundary stay where they are.
    locked : (V,) flags or ids, optional
        Vertices that stay where they are.
    device, progress
        As of `polylla`.

    Returns
    -------
    Decimated, or a list of them for a list of fractions
        or `DeviceDecimated` for arrays of a device, with `map`, `survivors` and `triangle_ids`.

    Raises
    ------
    ValueError
        A coordinate that is not finite, an id that is none of a vertex, a triangle with a vertex twice, no number to reach, or numbers
        to weigh that the mesh does not have.
    MemoryError
        The device's memory does not suffice.

    Warns
    -----
    UserWarning
        The checks, or the error, allow no fewer triangles.

    >>> from trioxide import generate
    >>> decimate(generate("scan", 1000), to=100, device="cpu")
    <trioxide.Decimated: 52 vertices, 100 triangles>
    """
    mesh = of_any(mesh)
    options = options_of("decimate", locals())
    options["lock_boundary"] = bool(lock_boundary)
    there = resident(mesh, triangles)
    if there is not None:
        lone(there, "decimate", "leave it out, or decimate on the host (.to_host())", "segments", "markers")
        on = of_array(there.points, device)
        held = on_device(on, points=there.points, triangles=there.triangles, regions=there.regions)
        if locked is not None:
            held["locked"] = chosen(locked, "locked", held["points"].shape[0], "vertex", on)
        with watching(progress) as watch:
            each = native.run("decimate_on_device", on, held, options, watch)["each"]
        return _one_or_all(keep, [DeviceDecimated(noted(result)) for result in each])
    surface = surface_of(mesh, triangles)._arrays()
    if locked is not None:
        options["locked"] = check.flags(locked, "locked", len(surface["points"]), "vertex")
    with watching(progress) as watch:
        each = run_on(device, lambda on: native.run("decimate", on, surface, options, watch))["each"]
    return _one_or_all(keep, [_decimated(noted(result)) for result in each])


def _decimated(result: Dict[str, Any]) -> Decimated:
    decimated = Decimated._of(result)
    for name in ("map", "survivors", "triangle_ids", "counts"):
        setattr(decimated, name, result[name])
    return decimated


def is_several(keep: Any) -> bool:
    """Whether these are several fractions, as text or as a sequence."""
    return "," in keep if isinstance(keep, str) else np.size(keep) > 1


def _one_or_all(keep: Any, each: List[Any]) -> Any:
    """The meshes of a list of fractions, or the only one."""
    is_one = not is_several(keep) and (isinstance(keep, str) or np.ndim(keep) == 0)
    return each[0] if is_one else each
