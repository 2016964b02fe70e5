"""Meshes of other packages: known by the names of their classes' modules, so that no package is imported for it."""

from __future__ import annotations

from typing import Any, Callable, Dict, Union

import numpy as np

from . import _meshio, _open3d, _pyvista, _trimesh
from ._conversions import Parts
from ._mesh import Mesh, VolumeMesh

_PACKAGES: Dict[str, Callable[[Any], Parts]] = {
    "meshio": _meshio.parts_of,
    "open3d": _open3d.parts_of,
    "pyvista": _pyvista.parts_of,
    "trimesh": _trimesh.parts_of,
}


def of_any(value: Any) -> Any:
    """The argument of a function: a mesh of another package becomes one of trioxide, all else stays as it is.

    >>> of_any([[0, 0]])
    [[0, 0]]
    """
    if isinstance(value, np.ndarray) or hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        return value
    for kind in type(value).__mro__:
        package, _, inner = kind.__module__.partition(".")
        # Open3D's vectors and trimesh's lists are no meshes.
        if package in _PACKAGES and "utility" not in inner:
            return _made(_PACKAGES[package](value))
    return value


def _made(found: Parts) -> Union[Mesh, VolumeMesh]:
    is_volume, parts = found
    return VolumeMesh(**parts) if is_volume else Mesh(**parts)


def from_pyvista(data: Any) -> Union[Mesh, VolumeMesh]:
    """A `Mesh` or a `VolumeMesh` of a `pyvista.PolyData` or `pyvista.UnstructuredGrid`.

    Lines are segments, strips are triangles. The faces of a grid with cells that have a volume are tagged faces. Cell data called
    "region", or as meshio or Gmsh call regions, are the regions, if they are integers; "marker" those of lines and tagged faces.
    Vertices that are cells are left out; field data too, with a warning.

    Raises
    ------
    TypeError
        Another object, such as an ImageData or a MultiBlock.
    ValueError
        Cells of another kind.
    """
    return _made(_pyvista.parts_of(data))


def from_meshio(mesh: Any) -> Union[Mesh, VolumeMesh]:
    """A `Mesh` or a `VolumeMesh` of a `meshio.Mesh`.

    Lines are segments, and the faces of a mesh with cells that have a volume are tagged faces. Cell data called "region", or as meshio or
    Gmsh call regions, are the regions, if they are integers; those of lines and tagged faces, or "marker", are their tags. Vertices that
    are cells are left out; sets and field data too, with a warning.

    Raises
    ------
    TypeError
        Another object.
    ValueError
        Cells of another kind.
    """
    return _made(_meshio.parts_of(mesh))


def from_trimesh(mesh: Any) -> Mesh:
    """A `Mesh` of a `trimesh.Trimesh`, or of a `trimesh.PointCloud`.

    Normals of the vertices are taken if they were given or computed there; colours of the vertices, and texture coordinates. Colours of
    the faces are the cell data "RGBA". Attributes are fields. Materials are left out with a warning.

    Raises
    ------
    TypeError
        Another object, such as a Scene.
    """
    return Mesh(**_trimesh.parts_of(mesh)[1])


def from_open3d(data: Any) -> Union[Mesh, VolumeMesh]:
    """A `Mesh` or a `VolumeMesh` of an `open3d.geometry.TriangleMesh`, `PointCloud`, `LineSet` or `TetraMesh`, or of the tensor classes
    that have a `to_legacy`.

    Lines are segments. Normals and colours of the vertices are taken; texture coordinates, which are those of corners, are left out with a
    warning.

    Raises
    ------
    TypeError
        Another object.
    """
    return _made(_open3d.parts_of(data))
