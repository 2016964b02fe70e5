"""Meshes: arrays, and the ways from and to PyVista, meshio, trimesh and Open3D, which are imported when they are used."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from . import _arguments as check
from . import _meshio, _open3d, _pyvista, _trimesh
from . import _trioxide as native
from ._device import DeviceLike, opened
from ._held import Held, OnDevice, copies, within
from ._notes import warn


def _converted(mesh: Held, conversion: str) -> Dict[str, Any]:
    """The arrays of another kind of mesh."""
    arrays, notes = native.convert(mesh._arrays(), conversion, None)
    for note in notes:
        warn(note)
    return arrays


class Mesh(Held):
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
    about : dict, optional
        Data of the mesh as a whole, as `read` finds them in a file: the unit of its coordinates, coordinate system and other records
        of LAS files, names of materials, materials and images of glTF, names of groups by dimension and number:
        ``{"groups": {(1, 5): "inlet"}}``. Functions hand them on, and `write` takes from them what the format holds.

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

    __slots__ = ("triangles", "segments", "markers", "normals", "colors", "uvs", "about")
    _names = (
        "points", "triangles", "offsets", "vertices", "regions", "segments", "markers", "normals", "colors", "uvs", "about",
    )  # fmt: skip
    triangles: Any
    regions: Any
    segments: Any
    markers: Any
    normals: Any
    colors: Any
    uvs: Any
    about: Optional[Dict[str, Any]]

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
        about: Optional[Dict[str, Any]] = None,
    ) -> None:
        self._hold(locals())

    def _arrays(self) -> Dict[str, Any]:
        found, count, faces = self._elements("triangles", 3)
        found["regions"] = None if self.regions is None else check.tags(self.regions, "regions", faces, "face")
        found["segments"] = found["markers"] = None
        sides = 0
        if self.segments is not None:
            found["segments"] = within(check.ids(self.segments, "segments", 2), "segments", count)
            sides = len(found["segments"])
        if self.markers is not None:
            found["markers"] = check.tags(self.markers, "markers", sides, "segment")
        for name, columns, kind in (("normals", 3, np.float64), ("colors", 4, np.uint8), ("uvs", 2, np.float64)):
            value = getattr(self, name)
            found[name] = None if value is None else check.rows(value, name, columns, count, kind)
        found.update(self._fields(count, faces, sides))
        found["about"] = checked_about(self.about)
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

    def to_triangles(self) -> "Mesh":
        """The mesh with triangles instead of polygons, divided by their shortest diagonals, exactly, also where they are concave.

        Vertices and segments stay; a triangle has the region and the fields of its polygon. A polygon that crosses itself is a
        ValueError with its number.

        >>> dart = Mesh([[0, 0], [4, 2], [0, 4], [1, 2]], offsets=[0, 4], vertices=[0, 1, 2, 3])
        >>> dart.to_triangles().triangles
        array([[0, 1, 3],
               [1, 2, 3]], dtype=uint32)
        """
        return Mesh._of(_converted(self, "triangles"))

    def drop_invalid(self) -> "Mesh":
        """The mesh, or the cloud, without the vertices that have a coordinate of NaN or infinity, and without the faces and segments that
        use one. A warning counts them.

        >>> import warnings
        >>> with warnings.catch_warnings(record=True) as said:
        ...     Mesh([[0, 0], [1, 0], [0, 1], [1, np.nan]], [[0, 1, 2], [1, 3, 2]]).drop_invalid()
        <trioxide.Mesh: 3 vertices, 1 triangles>
        """
        return Mesh._of(_converted(self, "finite"))

    def to_device(self, device: DeviceLike = "auto") -> DeviceSurface:
        """A copy in the memory of a device, for chains that stay there. Fields and `about` stay behind; polygons are
        refused.

        >>> there = Mesh([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]).to_device("cpu")
        >>> there.points
        <trioxide.DeviceArray [3, 3] <f8 on the CPU>
        >>> there.to_host()
        <trioxide.Mesh: 3 vertices, 1 triangles>
        """
        arrays = self._arrays()
        if arrays["offsets"] is not None:
            raise ValueError(
                "the mesh has polygons: surfaces on a device have triangles alone; take .to_triangles(), or leave the mesh on the host"
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
        is_volume, parts = _pyvista.parts_of(data)
        if is_volume:
            raise ValueError("the grid has cells with a volume: use VolumeMesh.from_pyvista")
        return cls(**parts)

    def to_meshio(self) -> Any:
        """A `meshio.Mesh`. Faces are in blocks by their number of vertices, segments are lines, and cell data follow them, among them
        "region" and "marker". Attributes are point data by VTK's names."""
        return _meshio.to_surface(self)

    @classmethod
    def from_meshio(cls, mesh: Any) -> "Mesh":
        """The triangles, quadrilaterals, polygons and lines of a `meshio.Mesh`; as `from_meshio`."""
        is_volume, parts = _meshio.parts_of(mesh)
        if is_volume:
            raise ValueError("the mesh has cells with a volume: use VolumeMesh.from_meshio")
        return cls(**parts)

    def to_trimesh(self) -> Any:
        """A `trimesh.Trimesh` of the triangles as they are (``process=False``), with normals, colours or texture coordinates. Fields are
        its attributes, regions that of the faces called "region". Segments are left out with a warning."""
        return _trimesh.to_trimesh(self)

    @classmethod
    def from_trimesh(cls, mesh: Any) -> "Mesh":
        """The mesh of a `trimesh.Trimesh`; as `from_trimesh`."""
        return cls(**_trimesh.parts_of(mesh)[1])

    def to_open3d(self) -> Any:
        """An `open3d.geometry.TriangleMesh`, or a `PointCloud` of a mesh without faces, with normals and colours. Segments, regions,
        texture coordinates and fields are left out with a warning."""
        return _open3d.to_surface(self)

    @classmethod
    def from_open3d(cls, data: Any) -> "Mesh":
        """The mesh of an `open3d.geometry.TriangleMesh`, `PointCloud` or `LineSet`; as `from_open3d`."""
        is_volume, parts = _open3d.parts_of(data)
        if is_volume:
            raise ValueError("the mesh has tetrahedra: use VolumeMesh.from_open3d")
        return cls(**parts)


def checked_about(about: Any) -> Optional[Dict[str, Any]]:
    """The data of a mesh as a whole, which are a dict."""
    if about is not None and not isinstance(about, dict):
        raise TypeError(f"about is a dict, like that of a mesh from `read` (got a {type(about).__name__})")
    return about


class VolumeMesh(Held):
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
    about : dict, optional
        Data of the mesh as a whole, as those of `Mesh`.

    >>> VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]])
    <trioxide.VolumeMesh: 4 vertices, 1 tetrahedra>
    """

    __slots__ = ("tetrahedra", "face_offsets", "face_vertices", "face_tags", "about")
    _kind = "volume"
    _names = (
        "points", "tetrahedra", "offsets", "vertices", "regions", "face_offsets", "face_vertices", "face_tags", "about",
    )  # fmt: skip
    tetrahedra: Any
    regions: Any
    face_offsets: Any
    face_vertices: Any
    face_tags: Any
    about: Optional[Dict[str, Any]]

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
        about: Optional[Dict[str, Any]] = None,
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
            vertices = within(check.ids(self.face_vertices, "face_vertices"), "face_vertices", count)
            found["face_vertices"] = vertices
            found["face_offsets"] = check.offsets(self.face_offsets, "face_offsets", len(vertices), "face_vertices")
            sides = len(found["face_offsets"]) - 1
        if self.face_tags is not None:
            found["face_tags"] = check.tags(self.face_tags, "face_tags", sides, "tagged face")
        found.update(self._fields(count, cells, sides))
        found["about"] = checked_about(self.about)
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

    def to_tetrahedra(self) -> "VolumeMesh":
        """The mesh with tetrahedra instead of pyramids, wedges and hexahedra, without new vertices. The diagonal of a quadrilateral begins
        at its lowest vertex id, so two cells divide their common face alike; tagged faces are divided so too.

        A tetrahedron has the region and the fields of its cell. A warning counts cells that are inside out, and tetrahedra that are
        inverted or flat because their cells are warped.

        >>> cube = VolumeMesh([[x, y, z] for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], offsets=[0, 8], vertices=range(8))
        >>> cube.to_tetrahedra()
        <trioxide.VolumeMesh: 8 vertices, 6 tetrahedra>
        """
        return VolumeMesh._of(_converted(self, "tetrahedra"))

    def drop_invalid(self) -> "VolumeMesh":
        """The mesh without the vertices that have a coordinate of NaN or infinity, and without the cells and tagged faces that use one. A
        warning counts them.

        >>> VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]]).drop_invalid()
        <trioxide.VolumeMesh: 4 vertices, 1 tetrahedra>
        """
        return VolumeMesh._of(_converted(self, "finite cells"))

    def boundary(self) -> Mesh:
        """The faces of one cell only, seen from outside, with the tags of tagged faces as regions and the fields of vertices and cells.

        >>> VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]]).boundary()
        <trioxide.Mesh: 4 vertices, 4 triangles>
        """
        return Mesh._of(_converted(self, "boundary"))

    def to_device(self, device: DeviceLike = "auto") -> DeviceVolume:
        """A copy of points, tetrahedra and regions in the memory of a device. Fields and tagged faces stay behind.

        >>> VolumeMesh(np.eye(4, 3), [[3, 0, 1, 2]]).to_device("cpu").to_host()
        <trioxide.VolumeMesh: 4 vertices, 1 tetrahedra>
        """
        arrays = self._arrays()
        if arrays["tetrahedra"] is None:
            raise ValueError("the mesh has other cells than tetrahedra: take .to_tetrahedra(), or leave the mesh on the host")
        return DeviceVolume(**copies(arrays, DeviceVolume, opened(device)))

    def to_pyvista(self) -> Any:
        """A `pyvista.UnstructuredGrid` of the cells, and behind them the tagged faces. Regions are the cell data "region", the faces' tags
        "marker"; the other one of both has 0."""
        return _pyvista.to_volume(self)

    @classmethod
    def from_pyvista(cls, data: Any) -> "VolumeMesh":
        """The cells with a volume of a `pyvista.UnstructuredGrid`, and its faces; as `from_pyvista`."""
        is_volume, parts = _pyvista.parts_of(data)
        if not is_volume:
            raise ValueError("the grid has no cells with a volume: use Mesh.from_pyvista")
        return cls(**parts)

    def to_meshio(self) -> Any:
        """A `meshio.Mesh`. Cells are in blocks by their kind, behind them the tagged faces, and cell data follow them."""
        return _meshio.to_volume(self)

    @classmethod
    def from_meshio(cls, mesh: Any) -> "VolumeMesh":
        """The cells with a volume of a `meshio.Mesh`, and its faces; as `from_meshio`."""
        is_volume, parts = _meshio.parts_of(mesh)
        if not is_volume:
            raise ValueError("the mesh has no cells with a volume: use Mesh.from_meshio")
        return cls(**parts)

    def to_open3d(self) -> Any:
        """An `open3d.geometry.TetraMesh`. Regions, tagged faces and fields are left out with a warning."""
        return _open3d.to_volume(self)

    @classmethod
    def from_open3d(cls, data: Any) -> "VolumeMesh":
        """The mesh of an `open3d.geometry.TetraMesh`; as `from_open3d`."""
        is_volume, parts = _open3d.parts_of(data)
        if not is_volume:
            raise ValueError("the mesh has no tetrahedra: use Mesh.from_open3d")
        return cls(**parts)


class DeviceSurface(OnDevice):
    """A surface of triangles in a device's memory, made of arrays of CuPy, PyTorch, JAX or Numba, or by `Mesh.to_device`.

    Parameters
    ----------
    points : (V, 3) floats
        Coordinates. `polylla` and `refine` take (V, 2) too.
    triangles : (F, 3) integers
        Vertex ids.
    regions : (F,) integers, optional
        A tag of each triangle.
    segments, markers : (S, 2) and (S,) integers, optional
        Edges to keep, as pairs of vertex ids, and their tags.
    normals, colors, uvs : (V, 3) floats, (V, 4) uint8, (V, 2) floats, optional
        Attributes of the vertices.

    Arrays are used where they are, so none of them may change while a function runs. They are looked at when a function takes them.
    """

    __slots__ = ("points", "triangles", "regions", "segments", "markers", "normals", "colors", "uvs")
    _arrays = __slots__

    def __init__(
        self,
        points: Any,
        triangles: Any,
        *,
        regions: Any = None,
        segments: Any = None,
        markers: Any = None,
        normals: Any = None,
        colors: Any = None,
        uvs: Any = None,
    ) -> None:
        self.points = points
        self.triangles = triangles
        self.regions = regions
        self.segments = segments
        self.markers = markers
        self.normals = normals
        self.colors = colors
        self.uvs = uvs

    def to_host(self) -> Mesh:
        """A copy in host memory, as a `Mesh`."""
        return Mesh(**self._copied())


class DeviceVolume(OnDevice):
    """A mesh of tetrahedra in a device's memory, for `refine` and `smooth`.

    Parameters
    ----------
    points : (V, 3) floats
        Coordinates.
    tetrahedra : (N, 4) integers
        Vertex ids.
    regions : (N,) integers, optional
        A tag of each tetrahedron.

    Arrays are used where they are, as those of a `DeviceSurface`.
    """

    __slots__ = ("points", "tetrahedra", "regions")
    _arrays = __slots__

    def __init__(self, points: Any, tetrahedra: Any, *, regions: Any = None) -> None:
        self.points = points
        self.tetrahedra = tetrahedra
        self.regions = regions

    def to_host(self) -> VolumeMesh:
        """A copy in host memory, as a `VolumeMesh`."""
        return VolumeMesh(**self._copied())
