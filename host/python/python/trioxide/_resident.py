"""Meshes in a device's memory: what goes in as arrays of a device comes out so."""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np

from ._conversions import package
from ._device import Device, DeviceArray, taken
from ._held import OnDevice
from ._mesh import DeviceSurface, DeviceVolume, Mesh
from ._progress import Progress, watching
from ._trioxide import Midpoints, WayBack


def csr(offsets: np.ndarray, columns: np.ndarray, weights: np.ndarray, width: int) -> Any:
    """A matrix of SciPy, which is imported here."""
    sparse = package("scipy.sparse", "prolongation")
    return sparse.csr_array((weights, columns.astype(np.int64), offsets), shape=(len(offsets) - 1, width))


class DeviceWelded(DeviceSurface):
    """A welded surface in a device's memory, with its attributes and regions, and `map`, `representatives`, `removed`, `epsilon` and
    `counts` as of `Welded`."""

    __slots__ = ("map", "representatives", "removed", "epsilon", "counts")

    def __init__(self, arrays: Dict[str, Any]) -> None:
        super().__init__(**{name: arrays.get(name) for name in DeviceSurface._arrays})
        self.map: DeviceArray = arrays["map"]
        self.representatives: DeviceArray = arrays["representatives"]
        self.removed: DeviceArray = arrays["removed"]
        self.counts: Dict[str, Any] = arrays["counts"]
        self.epsilon: float = self.counts["epsilon"]


class DeviceSmoothed(DeviceSurface):
    """A smoothed surface in a device's memory: the input with new points, and `moving` and `sweeps` as of `Smoothed`."""

    __slots__ = ("moving", "sweeps")

    def __init__(self, arrays: Dict[str, Any], given: DeviceSurface) -> None:
        super().__init__(**{**given._held(), "points": arrays["points"]})
        self.moving: int = arrays["moving"]
        self.sweeps: int = arrays["sweeps"]


class DeviceSmoothedVolume(DeviceVolume):
    """A smoothed mesh of tetrahedra in a device's memory: the input with new points; `moving` and `sweeps` as of `Smoothed`."""

    __slots__ = ("moving", "sweeps")

    def __init__(self, arrays: Dict[str, Any], given: DeviceVolume) -> None:
        super().__init__(**{**given._held(), "points": arrays["points"]})
        self.moving: int = arrays["moving"]
        self.sweeps: int = arrays["sweeps"]


class _Interpolating(OnDevice):
    """What both kinds of refined meshes have."""

    __slots__ = ()
    _device: Device
    _midpoints: Midpoints
    _before: int

    def _take(self, arrays: Dict[str, Any], device: Device, before: int) -> None:
        for name in ("parents", "vertex_parents", "rounds"):
            setattr(self, name, arrays[name])
        for name, value in (("_device", device), ("_midpoints", arrays["midpoints"]), ("_before", before)):
            setattr(self, name, value)

    def interpolate(self, field: Any, *, progress: Progress = None) -> DeviceArray:
        """Carries a field of the input's vertices, (V,) floats of a device, to the vertices of this mesh, (V',), on the device.

        A new vertex has the mean of the ends of its edge, round by round: what `prolongation` gives, but for the last digits.

        >>> import numpy, trioxide
        >>> coarse = trioxide.generate("grid", 9).to_device("cpu")
        >>> fine = trioxide.refine(coarse)
        >>> height = trioxide.DeviceArray.copy_of(numpy.arange(9.0), trioxide.Device("cpu"))
        >>> fine.interpolate(height).numpy()[:12]
        array([0., 1., 2., 3., 4., 5., 6., 7., 8., 2., 3., 5.])
        """
        shape = tuple(getattr(field, "shape", ()))
        if shape != (self._before,):
            raise ValueError(
                f"field has the shape {shape}: one number for each vertex of the input is needed, ({self._before},); of several "
                "columns carry each alone"
            )
        given = taken(field, "field", "floats", self._device)
        with watching(progress) as watch:
            return self._midpoints.interpolate(given, watch)

    @property
    def prolongation(self) -> Any:
        """The matrix that takes values at the vertices of the input to the vertices of this mesh: a SciPy CSR array, (V', V).

        SciPy's arrays are in host memory: `vertex_parents` are copied there. `interpolate` stays on the device.
        """
        arrays = self._midpoints.prolongation()
        offsets, columns, weights = (arrays[f"prolongation_{name}"] for name in ("offsets", "columns", "weights"))
        return csr(offsets, columns, weights, self._before)


class DeviceRefined(_Interpolating, DeviceSurface):
    """A refined surface in a device's memory, with its regions.

    Attributes
    ----------
    parents : (F,) uint32
        The triangle of the input that each triangle is a part of.
    vertex_parents : (V' - V, 2) uint32
        The ends of the edge that each new vertex halves; they may be new vertices too.
    rounds : int
        Rounds that were done.
    end : str
        Why they ended, as of `Refined`.
    """

    __slots__ = ("parents", "vertex_parents", "rounds", "end", "_device", "_midpoints", "_before")
    parents: DeviceArray
    vertex_parents: DeviceArray
    rounds: int

    def __init__(self, arrays: Dict[str, Any], device: Device, before: int) -> None:
        DeviceSurface.__init__(self, arrays["points"], arrays["triangles"], regions=arrays.get("regions"))
        self._take(arrays, device, before)
        self.end: str = arrays["end"]


class DeviceRefinedVolume(_Interpolating, DeviceVolume):
    """A refined mesh of tetrahedra in a device's memory; `parents`, `vertex_parents` and `rounds` as of `DeviceRefined`."""

    __slots__ = ("parents", "vertex_parents", "rounds", "_device", "_midpoints", "_before")
    parents: DeviceArray
    vertex_parents: DeviceArray
    rounds: int

    def __init__(self, arrays: Dict[str, Any], device: Device, before: int) -> None:
        DeviceVolume.__init__(self, arrays["points"], arrays["tetrahedra"], regions=arrays.get("regions"))
        self._take(arrays, device, before)


class DevicePolygons(OnDevice):
    """Polygons in a device's memory, with what the input had of its vertices and segments.

    Attributes
    ----------
    points, segments, markers, normals, colors, uvs
        As they were given, or None.
    offsets, vertices : (P + 1,) and (C,) uint32
        Polygon i has the vertices ``vertices[offsets[i]:offsets[i + 1]]``.
    parent_offsets, parents : (P + 1,) and (T,) uint32
        The triangles of each polygon, ascending: ``parents[parent_offsets[i]:parent_offsets[i + 1]]``.
    map : (T,) uint32
        The polygon of each triangle.
    half_edges : (P,) uint32
        As of `Polygons`.
    regions : (P,) int32, or None
        The region of each polygon.
    counts : dict
        As of `Polygons`.
    """

    _arrays = ("points", "offsets", "vertices", "regions", "segments", "markers", "normals", "colors", "uvs")
    __slots__ = (*_arrays, "half_edges", "counts", "_way_back", "_triangles")

    def __init__(self, arrays: Dict[str, Any], given: DeviceSurface, unconstrained: bool) -> None:
        held = given._held()
        self.points: Any = held["points"]
        self.offsets: DeviceArray = arrays["offsets"]
        self.vertices: DeviceArray = arrays["vertices"]
        self._way_back: Optional[WayBack] = arrays["way_back"]
        self._triangles: Dict[str, DeviceArray] = {}
        self.half_edges: DeviceArray = arrays["half_edges"]
        self.regions: Optional[DeviceArray] = arrays.get("regions")
        for name in ("segments", "markers"):
            setattr(self, name, None if unconstrained else held.get(name))
        for name in ("normals", "colors", "uvs"):
            setattr(self, name, held.get(name))
        self.counts: Dict[str, int] = arrays["counts"]

    def _found(self, name: str) -> DeviceArray:
        """An array of the way back to the triangles, which is found when it is first asked for."""
        way_back = self._way_back
        if way_back is not None:
            self._triangles = way_back.triangles()
            self._way_back = None
        return self._triangles[name]

    @property
    def parent_offsets(self) -> DeviceArray:
        """(P + 1,) uint32; found, with `parents` and `map`, when one of them is first asked for."""
        return self._found("parent_offsets")

    @property
    def parents(self) -> DeviceArray:
        """(T,) uint32: the triangles of each polygon."""
        return self._found("parents")

    @property
    def map(self) -> DeviceArray:
        """(T,) uint32: the polygon of each triangle."""
        return self._found("map")

    def to_host(self) -> Mesh:
        """A copy in host memory, as a `Mesh`."""
        return Mesh(**self._copied())
