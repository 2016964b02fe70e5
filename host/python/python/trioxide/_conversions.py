"""From PyVista, meshio and trimesh to meshes, and what both ways share. The packages are not imported here."""

from __future__ import annotations

import importlib
from typing import Any, Dict, Tuple

import numpy as np

#: VTK's numbers of the cells with so many vertices.
VTK_VOLUMES = {4: 10, 5: 14, 6: 13, 8: 12}
_VTK_FACES = (5, 7, 9)  # triangle, polygon, quadrilateral
MESHIO_VOLUMES = {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron"}
_MESHIO_FACES = ("triangle", "quad", "polygon")


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


def face_type(size: int) -> str:
    return {3: "triangle", 4: "quad"}.get(size, "polygon")


def blocks(offsets: Any, vertices: Any, sizes: Any, data: Dict[str, Any], kind: Any) -> Tuple[Any, Dict[str, Any]]:
    """Cells by their size, as meshio has them, with their data."""
    blocks, order = [], []
    starts = offsets[:-1].astype(np.int64)
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        blocks.append((kind(int(size)), vertices[starts[chosen, None] + np.arange(size)].astype(np.int64)))
        order.append(chosen)
    return blocks, {name: [array[chosen] for chosen in order] for name, array in data.items()}


def _tags_of(data: Dict[str, Any]) -> Any:
    """The regions among cell data: whole numbers called "region"."""
    found = data.get("region")
    return data.pop("region") if found is not None and np.asarray(found).dtype.kind in "iu" else None


def from_pyvista(data: Any) -> Any:
    """A `Mesh` or a `VolumeMesh` of a `pyvista.PolyData` or `pyvista.UnstructuredGrid`.

    Cell data called "region" are the regions, if they are integers. Lines and vertices are left out.
    """
    points = np.asarray(data.points)
    point_data = {name: np.asarray(data.point_data[name]) for name in data.point_data}
    cell_data = {name: np.asarray(data.cell_data[name]) for name in data.cell_data}
    if hasattr(data, "celltypes"):
        kinds = np.asarray(data.celltypes)
        offsets, vertices = _offsets(data), np.asarray(data.cell_connectivity)
        solid = np.isin(kinds, list(VTK_VOLUMES.values()))
        flat = np.isin(kinds, _VTK_FACES)
        chosen = solid if solid.any() else flat
        other = ~(chosen | np.isin(kinds, (1, 2, 3, 4)) | (flat if solid.any() else False))
        if other.any():
            raise ValueError(f"cell {int(np.argmax(other))} is of VTK's type {int(kinds[np.argmax(other)])}, which is not taken")
        offsets, vertices = _chosen_lists(offsets, vertices, chosen)
        cell_data = {name: array[chosen] for name, array in cell_data.items()}
        if solid.any():
            return _volume(points, offsets, vertices, point_data, cell_data)
    else:
        sizes_and_ids = np.asarray(data.faces)
        starts, at = [], 0
        if getattr(data, "is_all_triangles", False) and len(sizes_and_ids):
            offsets = np.arange(0, 3 * (len(sizes_and_ids) // 4) + 1, 3)
            vertices = sizes_and_ids.reshape(-1, 4)[:, 1:].reshape(-1)
        else:
            while at < len(sizes_and_ids):
                starts.append(at)
                at += int(sizes_and_ids[at]) + 1
            sizes = sizes_and_ids[starts] if starts else np.zeros(0, np.int64)
            offsets = np.concatenate([[0], np.cumsum(sizes)])
            vertices = np.delete(sizes_and_ids, starts)
        # VTK counts vertices and lines before polygons.
        before = int(data.n_cells) - (len(offsets) - 1)
        if before > 0 and len(offsets) > 1 and getattr(data, "n_strips", False):
            raise ValueError("triangle strips are not taken: call .triangulate() first")
        cell_data = {name: array[max(before, 0) :] for name, array in cell_data.items()} if len(offsets) > 1 else {}
    regions = _tags_of(cell_data)
    return _surface(points, offsets, vertices, regions, point_data, cell_data)


def from_meshio(mesh: Any) -> Any:
    """A `Mesh` or a `VolumeMesh` of a `meshio.Mesh`; lines and vertices are left out, and of a volume mesh its faces.

    Cell data called "region" are the regions, if they are integers.
    """
    kinds = [block.type for block in mesh.cells]
    solid = set(MESHIO_VOLUMES.values())
    wanted = solid if any(kind in solid for kind in kinds) else set(_MESHIO_FACES)
    sizes, lists, chosen = [], [], []
    for i, block in enumerate(mesh.cells):
        if block.type in wanted:
            chosen.append(i)
            for row in [block.data] if isinstance(block.data, np.ndarray) else [np.asarray(r)[None] for r in block.data]:
                sizes.append(np.full(len(row), row.shape[1], np.int64))
                lists.append(row.reshape(-1))
        elif block.type not in ("vertex", "line") + _MESHIO_FACES:
            raise ValueError(f"block {i} has cells of meshio's type {block.type!r}, which is not taken")
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]) if sizes else np.zeros(1, np.int64)
    vertices = np.concatenate(lists) if lists else np.zeros(0, np.int64)
    point_data = {name: np.asarray(array) for name, array in mesh.point_data.items()}
    cell_data = {
        name: np.concatenate([np.asarray(arrays[i]) for i in chosen]) for name, arrays in mesh.cell_data.items() if chosen
    }
    if wanted is solid:
        return _volume(mesh.points, offsets, vertices, point_data, cell_data)
    return _surface(mesh.points, offsets, vertices, _tags_of(cell_data), point_data, cell_data)


def from_trimesh(mesh: Any) -> Any:
    """A `Mesh` of a `trimesh.Trimesh`."""
    from ._mesh import Mesh

    return Mesh.from_trimesh(mesh)


def _chosen_lists(offsets: np.ndarray, vertices: np.ndarray, chosen: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    sizes = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(sizes[chosen])]), vertices[np.repeat(chosen, sizes)]


def _offsets(grid: Any) -> np.ndarray:
    # Its name since PyVista 0.47, and before.
    return np.asarray(grid.cell_offsets if hasattr(grid, "cell_offsets") else grid.offset)


def _surface(points: Any, offsets: Any, vertices: Any, regions: Any, point_data: Any, cell_data: Any) -> Any:
    from ._mesh import Mesh

    if len(offsets) <= 1:
        return Mesh(points, point_data=point_data)
    rest = dict(regions=regions, point_data=point_data, cell_data=cell_data)
    if (np.diff(offsets) == 3).all():
        return Mesh(points, np.asarray(vertices).reshape(-1, 3), **rest)
    return Mesh(points, offsets=offsets, vertices=vertices, **rest)


def _volume(points: Any, offsets: Any, vertices: Any, point_data: Any, cell_data: Any) -> Any:
    from ._mesh import VolumeMesh

    rest = dict(regions=_tags_of(cell_data), point_data=point_data, cell_data=cell_data)
    if (np.diff(offsets) == 4).all():
        return VolumeMesh(points, np.asarray(vertices).reshape(-1, 4), **rest)
    return VolumeMesh(points, offsets=offsets, vertices=vertices, **rest)
