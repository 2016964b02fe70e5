"""What the ways from and to PyVista, meshio, trimesh and Open3D share. The packages are imported where they are used.

Regions are the cell data "region", markers of segments and tags of faces "marker", as in trioxide's own .vtu files; attributes of the
vertices have VTK's names. What one of both sides has no place for is left out with a warning.
"""

from __future__ import annotations

import importlib
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._notes import warn

#: Names of cell data that hold regions, the first that is there: ours, meshio's, Gmsh's, MFEM's.
REGION_NAMES = ("region", "medit:ref", "gmsh:physical", "CellEntityIds", "attribute", "gmsh:geometrical")
NORMALS, RGBA, RGB, UVS = "Normals", "RGBA", "RGB", "TCoords"

Lists = Tuple[np.ndarray, np.ndarray]
Data = Dict[str, np.ndarray]
#: Whether an object is a mesh with a volume, and the arguments of the mesh's constructor.
Parts = Tuple[bool, Dict[str, Any]]


def package(name: str, use: str) -> Any:
    """A package that is imported where it is used.

    >>> package("no_such_package", "flying")
    Traceback (most recent call last):
    ImportError: flying needs no_such_package: pip install no_such_package
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        top = name.partition(".")[0]
        reason = "" if isinstance(error, ModuleNotFoundError) and error.name == top else f" ({error})"
        raise ImportError(f"{use} needs {top}: pip install {top}{reason}", name=top) from None


def left_out(what: str, reason: str) -> None:
    warn(f"{what} left out: {reason}")


def unknown(data: Any, use: str, takes: str) -> TypeError:
    """The error for another object than those that `use` takes, with a remedy where there is one."""
    names = [kind.__name__ for kind in type(data).__mro__]
    remedies = {
        "ImageData": "it has no lists of cells: give its .cast_to_unstructured_grid(), or its .extract_surface()",
        "RectilinearGrid": "it has no lists of cells: give its .cast_to_unstructured_grid(), or its .extract_surface()",
        "StructuredGrid": "it has no lists of cells: give its .cast_to_unstructured_grid(), or its .extract_surface()",
        "MultiBlock": "it holds several meshes: give one of its blocks, or its .combine()",
        "Scene": "it holds several meshes: give one of its .geometry, or its .to_mesh()",
    }
    remedy = next((f": {remedies[name]}" for name in names if name in remedies), "")
    return TypeError(f"{use} takes {takes}, not a {names[0]}{remedy}")


# Cells of two kinds with one list of data: faces and segments, or cells and tagged faces.


def _nothing(like: np.ndarray, count: int) -> np.ndarray:
    """What elements have in a field that is not theirs, as in .vtu files: NaN among floats, else 0."""
    return np.full((count,) + like.shape[1:], np.nan if like.dtype.kind == "f" else 0, like.dtype)


def joined(first: Data, second: Data, counts: Tuple[int, int]) -> Data:
    """Data of elements of two kinds, one after the other.

    >>> joined({"a": np.array([1])}, {"b": np.array([2.0])}, (1, 1))
    {'a': array([1, 0]), 'b': array([nan,  2.])}
    """
    data: Data = {}
    for name in {**first, **second}:
        parts = [np.asarray(of[name]) if name in of else None for of in (first, second)]
        there = [part for part in parts if part is not None]
        if len(there) == 2 and there[0].shape[1:] != there[1].shape[1:]:
            left_out(f"the field {name!r} of the segments or tagged faces is", "that of the cells has other components")
            parts, there = [there[0], None], there[:1]
        data[name] = np.concatenate(
            [_nothing(there[0], count) if part is None else part for part, count in zip(parts, counts)]
        )
    return data


def parted(data: Data, first: np.ndarray, second: np.ndarray) -> Tuple[Data, Data]:
    """Data of elements of two kinds, by their places: a kind with nothing in a field, where the other has something, has no such field."""
    found: Tuple[Data, Data] = ({}, {})
    for name, array in data.items():
        parts = [array[places] for places in (first, second)]
        empty = [_is_nothing(part) for part in parts]
        for part, is_empty, other, of in zip(parts, empty, empty[::-1], found):
            if len(part) and (not is_empty or other):
                of[name] = part
    return found


def _is_nothing(array: np.ndarray) -> bool:
    if array.dtype.kind == "f":
        return bool(np.isnan(array).all())
    return array.dtype.kind in "biu" and not array.any()


def tags_of(data: Data, names: Sequence[str] = REGION_NAMES) -> Optional[np.ndarray]:
    """The tags among cell data: whole numbers of one of the names. Those of another package's name stay among the data too."""
    for name in names:
        found = data.get(name)
        if found is not None and found.dtype.kind in "iu" and found.ndim == 1:
            return data.pop(name) if name in ("region", "marker") else found
    return None


def markers_of(data: Data) -> Optional[np.ndarray]:
    """The tags of segments or tagged faces."""
    found = tags_of(data, ("marker",) + REGION_NAMES)
    if found is not None and data.get("region") is not None and _is_nothing(data["region"]):
        del data["region"]
    return found


def tagged(data: Data, tags: Any, name: str) -> Data:
    """The data with the tags."""
    return dict(data) if tags is None else {**data, name: np.asarray(tags)}


# Attributes of vertices, by VTK's names.


def attributes(mesh: Any) -> Data:
    """Point data with the attributes."""
    found = {NORMALS: mesh.normals, RGBA: mesh.colors, UVS: mesh.uvs}
    return {**mesh.point_data, **{name: array for name, array in found.items() if array is not None}}


def attributes_of(data: Data) -> Dict[str, Any]:
    """The attributes, which are taken from the point data; also colours and normals as readers of .ply name them."""
    found: Dict[str, Any] = {}
    for names, kinds, attribute in ((("nx", "ny", "nz"), "f", "normals"), (("red", "green", "blue"), "u", "colors")):
        parts = [data.get(name) for name in names]
        if all(part is not None and part.dtype.kind == kinds and part.ndim == 1 for part in parts):
            alpha = data.get("alpha") if attribute == "colors" else None
            columns = np.stack([data.pop(name) for name in names] + ([] if alpha is None else [data.pop("alpha")]), axis=1)
            if attribute == "normals" or columns.dtype == np.uint8:
                found[attribute] = columns if attribute == "normals" else with_alpha(columns)
    for name, attribute, columns_, kind in (
        (NORMALS, "normals", (3,), "f"),
        (RGB, "colors", (3,), "u"),
        (RGBA, "colors", (4,), "u"),
        (UVS, "uvs", (2,), "f"),
    ):
        array = data.get(name)
        is_so = array is not None and array.ndim == 2 and array.shape[1] in columns_ and array.dtype.kind == kind
        if is_so and (kind == "f" or array.dtype == np.uint8):  # type: ignore[union-attr]
            found[attribute] = with_alpha(data.pop(name)) if attribute == "colors" else data.pop(name)
    return found


def with_alpha(colors: np.ndarray) -> np.ndarray:
    """(V, 4) colours of (V, 3): opaque."""
    if colors.shape[1] == 4:
        return colors
    return np.concatenate([colors, np.full((len(colors), 1), 255, np.uint8)], axis=1)


# Parts of meshes, from the data of the packages.


def chosen_lists(offsets: np.ndarray, vertices: np.ndarray, chosen: np.ndarray) -> Lists:
    sizes = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(sizes[chosen])]), vertices[np.repeat(chosen, sizes)]


def lists_of(rows: List[np.ndarray]) -> Lists:
    """Lists of tables of rows."""
    sizes = [np.full(len(row), row.shape[1], np.int64) for row in rows]
    if not rows:
        return np.zeros(1, np.int64), np.zeros(0, np.int64)
    return np.concatenate([[0], np.cumsum(np.concatenate(sizes))]), np.concatenate([row.reshape(-1) for row in rows])


def pairs_of(offsets: np.ndarray, vertices: np.ndarray) -> Lists:
    """The segments of polylines, and the polyline of each."""
    sizes = np.diff(offsets)
    lines = np.repeat(np.arange(len(sizes)), np.maximum(sizes - 1, 0))
    is_last = np.zeros(len(vertices), bool)
    is_last[offsets[1:][sizes > 0] - 1] = True
    begins = np.flatnonzero(~is_last)
    return np.stack([vertices[begins], vertices[begins + 1]], axis=1).reshape(-1, 2), lines


def strips_of(offsets: np.ndarray, vertices: np.ndarray) -> Lists:
    """The triangles of strips, and the strip of each: every other one is turned.

    >>> strips_of(np.array([0, 4]), np.array([7, 8, 9, 5]))[0].tolist()
    [[7, 8, 9], [9, 8, 5]]
    """
    sizes = np.diff(offsets)
    counts = np.maximum(sizes - 2, 0)
    strips = np.repeat(np.arange(len(sizes)), counts)
    places = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    begins = offsets[strips] + places
    odd = places % 2
    return vertices[np.stack([begins + odd, begins + 1 - odd, begins + 2], axis=1)].reshape(-1, 3), strips


def surface(points: Any, faces: Lists, point_data: Data, cell_data: Data, segments: Any, side_data: Data) -> Parts:
    """The parts of a `Mesh`; tags and attributes are among the data."""
    offsets, vertices = faces
    parts: Dict[str, Any] = {"points": points, **attributes_of(point_data), "point_data": point_data}
    if len(segments):
        parts.update(segments=segments, markers=markers_of(side_data), side_data=side_data)
    if len(offsets) > 1:
        parts.update(regions=tags_of(cell_data), cell_data=cell_data)
        parts.update(_cells(faces, "triangles", 3))
    return False, parts


def volume(points: Any, cells: Lists, point_data: Data, cell_data: Data, faces: Lists, side_data: Data) -> Parts:
    """The parts of a `VolumeMesh`; tags are among the data."""
    parts: Dict[str, Any] = dict(points=points, regions=tags_of(cell_data), point_data=point_data, cell_data=cell_data)
    if len(faces[0]) > 1:
        parts.update(face_offsets=faces[0], face_vertices=faces[1], face_tags=markers_of(side_data), side_data=side_data)
    parts.update(_cells(cells, "tetrahedra", 4))
    return True, parts


def _cells(lists: Lists, simplices: str, corners: int) -> Dict[str, Any]:
    """Simplices where all are, else lists."""
    offsets, vertices = lists
    if (np.diff(offsets) == corners).all():
        return {simplices: np.asarray(vertices).reshape(-1, corners)}
    return {"offsets": offsets, "vertices": vertices}


def tagged_faces(mesh: Any) -> Lists:
    """The tagged faces of a volume mesh, maybe none."""
    if mesh.face_offsets is None:
        return np.zeros(1, np.uint32), np.zeros(0, np.uint32)
    return mesh.face_offsets, mesh.face_vertices
