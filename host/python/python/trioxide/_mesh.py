"""Meshes: arrays, and the ways from and to PyVista, meshio and trimesh, which are imported when they are used."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Optional, Tuple, Type, TypeVar

import numpy as np

from . import _arguments as check
from . import _meshio, _pyvista, _trimesh
from ._device import DeviceLike, opened
from ._resident import DeviceSurface, DeviceVolume, copies


def _within(array: np.ndarray, name: str, count: int) -> np.ndarray:
    """Refuses an id of a vertex that is not there."""
    if array.size and int(array.max()) >= count:
        place = np.unravel_index(int(array.argmax()), array.shape)
        from_one = int(array.max()) == count and int(array.min()) > 0
        remedy = ", and ids begin at 0: subtract 1, if these begin at 1" if from_one else ""
        raise ValueError(f"{name}{check._place(place)} is {int(array.max())}: there are {count} points{remedy}")
    return array


_Self = TypeVar("_Self", bound="_Held")


_FIELDS = ("point_data", "cell_data", "side_data")


class _Held:
    """Arrays by their names, checked where they are used, and how they are shown. No other attribute can be set: one that is misspelt
    would be taken in silence."""

    __slots__: Tuple[str, ...] = (*_FIELDS, "points", "offsets", "vertices", "regions", "__weakref__")

    #: The arrays but for the fields.
    _names: Tuple[str, ...] = ()
    points: Any
    offsets: Any
    vertices: Any
    point_data: Dict[str, np.ndarray]
    cell_data: Dict[str, np.ndarray]
    side_data: Dict[str, np.ndarray]

    def _hold(self, given: Dict[str, Any]) -> None:
        """Takes the arguments of a constructor, and checks them."""
        for name in self._names:
            setattr(self, name, given[name])
        for name in _FIELDS:
            setattr(self, name, given[name] or {})
        self._check()

    @classmethod
    def _of(cls: Type[_Self], arrays: Dict[str, Any]) -> _Self:
        """A mesh of the native part's arrays, which are right."""
        mesh = cls.__new__(cls)
        for name in cls._names:
            setattr(mesh, name, arrays.get(name))
        for name in _FIELDS:
            setattr(mesh, name, arrays.get(name) or {})
        return mesh

    def _check(self) -> None:
        """Replaces the arrays by checked ones."""
        for name, array in self._arrays().items():
            setattr(self, name, array)

    def _held(self) -> Dict[str, Any]:
        """The arrays and the fields."""
        return {name: getattr(self, name) for name in (*self._names, *_FIELDS)}

    def _arrays(self) -> Dict[str, Any]:
        """Checked arrays for the native part: they may have been replaced since the mesh was made."""
        raise NotImplementedError

    def _elements(self, simplices: str, corners: int) -> Tuple[Dict[str, Any], int, int]:
        """Points with simplices, or with offsets and vertices; the numbers of vertices and elements."""
        points = check.points(self.points)
        count, elements = len(points), 0
        found: Dict[str, Any] = {"points": points, simplices: None, "offsets": None, "vertices": None}
        given = getattr(self, simplices)
        if given is not None:
            if self.offsets is not None:
                raise ValueError(f"a mesh has {simplices} or offsets, not both")
            found[simplices] = _within(check.ids(given, simplices, corners), simplices, count)
            elements = len(found[simplices])
        elif self.offsets is not None or self.vertices is not None:
            if self.offsets is None or self.vertices is None:
                raise ValueError("lists of vertices are given by both, offsets and vertices")
            found["vertices"] = _within(check.ids(self.vertices, "vertices"), "vertices", count)
            found["offsets"] = check.offsets(self.offsets, "offsets", len(found["vertices"]), "vertices")
            elements = len(found["offsets"]) - 1
        return found, count, elements

    def _fields(self, points: int, cells: int, sides: int) -> Dict[str, Any]:
        return {name: check.fields(getattr(self, name), name, count) for name, count in zip(_FIELDS, (points, cells, sides))}

    def _counts(self) -> List[Tuple[str, Any]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self._counts())
        return f"<trioxide.{type(self).__name__}: {counts}>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{count}") for name, count in self._counts()]
        if len(self.points):
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            rows.append(("from", ", ".join(f"{x:g}" for x in low)))
            rows.append(("to", ", ".join(f"{x:g}" for x in high)))
        for place, arrays in (("point data", self.point_data), ("cell data", self.cell_data)):
            for name, array in arrays.items():
                rows.append((f"{place}: {name}", f"{array.dtype} {array.shape}"))
        cells = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
        return f"<table><caption>trioxide.{type(self).__name__}</caption>{cells}</table>"

    def to_pyvista(self) -> Any:
        raise NotImplementedError

    def plot(self, **options: Any) -> Any:
        """Shows the mesh by PyVista, with the options of `pyvista.DataSet.plot`."""
        return self.to_pyvista().plot(**options)


class Mesh(_Held):
    """Points with triangles or polygons, or without: planar (z = 0), in space, or a cloud.

    Parameters
    ----------
    points : (V, 3) or (V, 2) numbers
        Coordinates, in any unit; float64 in the mesh. Of two columns z is 0.
    triangles : (F, 3) integers, optional
        Vertex ids, from 0.
    offsets, vertices : (F + 1,) and (C,) integers, optional
        Polygons instead of triangles: polygon i has the vertices ``vertices[offsets[i]:offsets[i + 1]]``.
    regions : (F,) integers, optional
        A tag of each face.
    segments, markers : (S, 2) and (S,) integers, optional
        Edges to keep, as pairs of vertex ids, and their tags (0).
    normals, colors, uvs : (V, 3), (V, 4) uint8, (V, 2), optional
        Attributes of the vertices.
    point_data, cell_data, side_data : dict of arrays, optional
        Fields of the vertices, faces and segments.

    >>> mesh = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]])
    >>> mesh
    <trioxide.Mesh: 3 vertices, 1 triangles>
    >>> mesh.points
    array([[0., 0., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    >>> Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 3]])
    Traceback (most recent call last):
    ValueError: triangles[0, 2] is 3: there are 3 points
    """

    __slots__ = ("triangles", "segments", "markers", "normals", "colors", "uvs")
    _names = (
        "points", "triangles", "offsets", "vertices", "regions", "segments", "markers", "normals", "colors", "uvs",
    )  # fmt: skip
    triangles: Any
    regions: Any
    segments: Any
    markers: Any
    normals: Any
    colors: Any
    uvs: Any

    def __init__(
        self,
        points: Any,
        triangles: Any = None,
        *,
        offsets: Any = None,
        vertices: Any = None,
        regions: Any = None,
        segments: Any = None,
        markers: Any = None,
        normals: Any = None,
        colors: Any = None,
        uvs: Any = None,
        point_data: Optional[Dict[str, Any]] = None,
        cell_data: Optional[Dict[str, Any]] = None,
        side_data: Optional[Dict[str, Any]] = None,
    ) -> None:
        self._hold(locals())

    def _arrays(self) -> Dict[str, Any]:
        found, count, faces = self._elements("triangles", 3)
        found["regions"] = None if self.regions is None else check.tags(self.regions, "regions", faces, "face")
        found["segments"] = found["markers"] = None
        sides = 0
        if self.segments is not None:
            found["segments"] = _within(check.ids(self.segments, "segments", 2), "segments", count)
            sides = len(found["segments"])
        if self.markers is not None:
            found["markers"] = check.tags(self.markers, "markers", sides, "segment")
        for name, columns, kind in (("normals", 3, np.float64), ("colors", 4, np.uint8), ("uvs", 2, np.float64)):
            value = getattr(self, name)
            found[name] = None if value is None else check.rows(value, name, columns, count, kind)
        found.update(self._fields(count, faces, sides))
        return found

    def _counts(self) -> List[Tuple[str, Any]]:
        counts: List[Tuple[str, Any]] = [("vertices", len(self.points))]
        if self.triangles is not None:
            counts.append(("triangles", len(self.triangles)))
        elif self.offsets is not None:
            counts.append(("polygons", len(self.offsets) - 1))
        if self.segments is not None and len(self.segments):
            counts.append(("segments", len(self.segments)))
        return counts

    def polygons(self) -> Tuple[np.ndarray, np.ndarray]:
        """The faces as ``(offsets, vertices)``, of triangles too.

        >>> Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]).polygons()
        (array([0, 3], dtype=uint32), array([0, 1, 2], dtype=uint32))
        """
        if self.triangles is not None:
            count = len(self.triangles)
            return np.arange(0, 3 * count + 1, 3, dtype=np.uint32), np.ascontiguousarray(self.triangles).reshape(-1)
        if self.offsets is None or self.vertices is None:
            return np.zeros(1, np.uint32), np.zeros(0, np.uint32)
        return self.offsets, self.vertices

    def faces(self) -> List[np.ndarray]:
        """The vertex ids of each face, as a list of arrays."""
        offsets, vertices = self.polygons()
        return np.split(vertices, offsets[1:-1].astype(np.int64)) if len(offsets) > 1 else []

    def to_device(self, device: DeviceLike = "auto") -> DeviceSurface:
        """A copy in the memory of a device, for chains that stay there. Fields stay behind; polygons are refused.

        >>> there = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]).to_device("cpu")
        >>> there.points
        <trioxide.DeviceArray [3, 3] <f8 on the CPU>
        >>> there.to_host()
        <trioxide.Mesh: 3 vertices, 1 triangles>
        """
        arrays = self._arrays()
        if arrays["offsets"] is not None:
            raise ValueError(
                "the mesh has polygons: surfaces on a device have triangles alone; divide them first, or leave the mesh on the host"
            )
        if arrays["triangles"] is None:
            arrays["triangles"] = np.zeros((0, 3), np.uint32)
        return DeviceSurface(**copies(arrays, DeviceSurface, opened(device)))

    def to_pyvista(self) -> Any:
        """A `pyvista.PolyData` with the faces, or the points as vertices, and the segments as lines. Regions are the cell data "region",
        markers "marker"; where both faces and lines are there, the other one has 0. Attributes have VTK's names, and are active."""
        return _pyvista.to_surface(self)

    @classmethod
    def from_pyvista(cls, data: Any) -> "Mesh":
        """The polygons, strips and lines of a `pyvista.PolyData`, or of the flat cells of an unstructured grid; as `from_pyvista`."""
        mesh = _pyvista.from_pyvista(data)
        if not isinstance(mesh, Mesh):
            raise ValueError("the grid has cells with a volume: use VolumeMesh.from_pyvista")
        return mesh

    def to_meshio(self) -> Any:
        """A `meshio.Mesh`. Faces are in blocks by their number of vertices, segments are lines, and cell data follow them, among them
        "region" and "marker". Attributes are point data by VTK's names."""
        return _meshio.to_surface(self)

    @classmethod
    def from_meshio(cls, mesh: Any) -> "Mesh":
        """The triangles, quadrilaterals, polygons and lines of a `meshio.Mesh`; as `from_meshio`."""
        found = _meshio.from_meshio(mesh)
        if not isinstance(found, Mesh):
            raise ValueError("the mesh has cells with a volume: use VolumeMesh.from_meshio")
        return found

    def to_trimesh(self) -> Any:
        """A `trimesh.Trimesh` of the triangles as they are (``process=False``), with normals, colours or texture coordinates. Fields are
        its attributes, regions that of the faces called "region". Segments are left out with a warning."""
        return _trimesh.to_trimesh(self)

    @classmethod
    def from_trimesh(cls, mesh: Any) -> "Mesh":
        """The mesh of a `trimesh.Trimesh`; as `from_trimesh`."""
        return _trimesh.from_trimesh(mesh)


class VolumeMesh(_Held):
    """Points with tetrahedra, or cells of several kinds.

    Parameters
    ----------
    points : (V, 3) numbers
        Coordinates, in any unit.
    tetrahedra : (N, 4) integers, optional
        Vertex ids, from 0.
    offsets, vertices : (N + 1,) and (C,) integers, optional
        Cells instead of tetrahedra: of 4, 5, 6 or 8 vertices (tetrahedron, pyramid, wedge, hexahedron) in VTK's order.
    regions : (N,) integers, optional
        A tag of each cell.
    face_offsets, face_vertices, face_tags : integers, optional
        Tagged faces, as lists of vertex ids.
    point_data, cell_data, side_data : dict of arrays, optional
        Fields of the vertices, cells and tagged faces.

    >>> VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]])
    <trioxide.VolumeMesh: 4 vertices, 1 tetrahedra>
    """

    __slots__ = ("tetrahedra", "face_offsets", "face_vertices", "face_tags")
    _names = ("points", "tetrahedra", "offsets", "vertices", "regions", "face_offsets", "face_vertices", "face_tags")
    tetrahedra: Any
    regions: Any
    face_offsets: Any
    face_vertices: Any
    face_tags: Any

    def __init__(
        self,
        points: Any,
        tetrahedra: Any = None,
        *,
        offsets: Any = None,
        vertices: Any = None,
        regions: Any = None,
        face_offsets: Any = None,
        face_vertices: Any = None,
        face_tags: Any = None,
        point_data: Optional[Dict[str, Any]] = None,
        cell_data: Optional[Dict[str, Any]] = None,
        side_data: Optional[Dict[str, Any]] = None,
    ) -> None:
        self._hold(locals())

    def _arrays(self) -> Dict[str, Any]:
        found, count, cells = self._elements("tetrahedra", 4)
        if self.tetrahedra is None and self.offsets is None:
            raise ValueError("a volume mesh has tetrahedra, or offsets and vertices")
        found["regions"] = None if self.regions is None else check.tags(self.regions, "regions", cells, "cell")
        sides = 0
        found["face_offsets"] = found["face_vertices"] = found["face_tags"] = None
        if self.face_offsets is not None:
            if self.face_vertices is None:
                raise ValueError("tagged faces are given by both, face_offsets and face_vertices")
            vertices = _within(check.ids(self.face_vertices, "face_vertices"), "face_vertices", count)
            found["face_vertices"] = vertices
            found["face_offsets"] = check.offsets(self.face_offsets, "face_offsets", len(vertices), "face_vertices")
            sides = len(found["face_offsets"]) - 1
        if self.face_tags is not None:
            found["face_tags"] = check.tags(self.face_tags, "face_tags", sides, "tagged face")
        found.update(self._fields(count, cells, sides))
        return found

    def _counts(self) -> List[Tuple[str, Any]]:
        if self.tetrahedra is not None:
            return [("vertices", len(self.points)), ("tetrahedra", len(self.tetrahedra))]
        return [("vertices", len(self.points)), ("cells", len(self.offsets) - 1)]

    def cells(self) -> Tuple[np.ndarray, np.ndarray]:
        """The cells as ``(offsets, vertices)``, of tetrahedra too."""
        if self.tetrahedra is not None:
            count = len(self.tetrahedra)
            return np.arange(0, 4 * count + 1, 4, dtype=np.uint32), np.ascontiguousarray(self.tetrahedra).reshape(-1)
        return self.offsets, self.vertices

    def to_device(self, device: DeviceLike = "auto") -> DeviceVolume:
        """A copy of points, tetrahedra and regions in the memory of a device. Fields and tagged faces stay behind.

        >>> VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]]).to_device("cpu").to_host()
        <trioxide.VolumeMesh: 4 vertices, 1 tetrahedra>
        """
        arrays = self._arrays()
        if arrays["tetrahedra"] is None:
            raise ValueError("the mesh has other cells than tetrahedra: divide them first, or leave the mesh on the host")
        return DeviceVolume(**copies(arrays, DeviceVolume, opened(device)))

    def to_pyvista(self) -> Any:
        """A `pyvista.UnstructuredGrid` of the cells, and behind them the tagged faces. Regions are the cell data "region", the faces' tags
        "marker"; the other one of both has 0."""
        return _pyvista.to_volume(self)

    @classmethod
    def from_pyvista(cls, data: Any) -> "VolumeMesh":
        """The cells with a volume of a `pyvista.UnstructuredGrid`, and its faces; as `from_pyvista`."""
        mesh = _pyvista.from_pyvista(data)
        if not isinstance(mesh, VolumeMesh):
            raise ValueError("the grid has no cells with a volume: use Mesh.from_pyvista")
        return mesh

    def to_meshio(self) -> Any:
        """A `meshio.Mesh`. Cells are in blocks by their kind, behind them the tagged faces, and cell data follow them."""
        return _meshio.to_volume(self)

    @classmethod
    def from_meshio(cls, mesh: Any) -> "VolumeMesh":
        """The cells with a volume of a `meshio.Mesh`, and its faces; as `from_meshio`."""
        found = _meshio.from_meshio(mesh)
        if not isinstance(found, VolumeMesh):
            raise ValueError("the mesh has no cells with a volume: use Mesh.from_meshio")
        return found
