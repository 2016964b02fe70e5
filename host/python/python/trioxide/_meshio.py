"""From and to meshio."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

import numpy as np

from . import _conversions as shared

_VOLUMES = {4: "tetra", 5: "pyramid", 6: "wedge", 8: "hexahedron"}
_FACES = ("triangle", "quad", "polygon")


def _face_type(size: int) -> str:
    return {3: "triangle", 4: "quad"}.get(size, "polygon")


def _add(
    blocks: List[Tuple[str, np.ndarray]], orders: List[np.ndarray], lists: Any, kind: Callable[[int], str], first: int
) -> None:
    """Adds cells by their size, and their places, the first of which is `first`."""
    offsets, vertices = lists
    sizes, starts = np.diff(offsets.astype(np.int64)), offsets[:-1].astype(np.int64)
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        blocks.append((kind(int(size)), vertices[starts[chosen, None] + np.arange(size)].astype(np.int64)))
        orders.append(first + chosen)


def _mesh(mesh: Any, blocks: Any, orders: Any, point_data: Any, cell_data: Any) -> Any:
    meshio = shared.package("meshio", "to_meshio")
    values = {name: [array[order] for order in orders] for name, array in cell_data.items()}
    return meshio.Mesh(np.array(mesh.points), blocks, point_data=point_data, cell_data=values)


def to_surface(mesh: Any) -> Any:
    shared.package("meshio", "to_meshio")
    blocks: Any = []
    orders: List[np.ndarray] = []
    lists = mesh.polygons()
    faces, lines = len(lists[0]) - 1, 0 if mesh.segments is None else len(mesh.segments)
    _add(blocks, orders, lists, _face_type, 0)
    if lines:
        blocks.append(("line", np.asarray(mesh.segments, np.int64)))
        orders.append(faces + np.arange(lines))
    of_faces = shared.tagged(mesh.cell_data, mesh.regions, "region") if faces else {}
    of_lines = shared.tagged(mesh.side_data, mesh.markers, "marker") if lines else {}
    data = shared.joined(of_faces, of_lines, (faces, lines))
    return _mesh(mesh, blocks, orders, shared.attributes(mesh), data)


def to_volume(mesh: Any) -> Any:
    shared.package("meshio", "to_meshio")
    blocks: Any = []
    orders: List[np.ndarray] = []
    cells, faces = mesh.cells(), shared.tagged_faces(mesh)
    counts = (len(cells[0]) - 1, len(faces[0]) - 1)
    _add(blocks, orders, cells, _VOLUMES.__getitem__, 0)
    _add(blocks, orders, faces, _face_type, counts[0])
    of_cells = shared.tagged(mesh.cell_data, mesh.regions, "region")
    of_sides = shared.tagged(mesh.side_data, mesh.face_tags, "marker") if counts[1] else {}
    return _mesh(mesh, blocks, orders, dict(mesh.point_data), shared.joined(of_cells, of_sides, counts))


def parts_of(mesh: Any) -> shared.Parts:
    """The parts of a mesh; `from_meshio` says which."""
    if not (hasattr(mesh, "cells") and hasattr(mesh, "point_data") and hasattr(mesh, "cell_data") and hasattr(mesh, "points")):
        raise shared.unknown(mesh, "from_meshio", "a meshio.Mesh")
    for what in ("field_data", "point_sets", "cell_sets"):
        names = list(getattr(mesh, what, None) or {})
        if names:
            shared.left_out(f"the {what} {', '.join(map(repr, names))} are", "a mesh of trioxide has data of its elements only")
    solid = set(_VOLUMES.values())
    is_volume = any(block.type in solid for block in mesh.cells)
    rows: Dict[str, List[np.ndarray]] = {"solid": [], "face": [], "line": []}
    places: Dict[str, List[np.ndarray]] = {"solid": [], "face": [], "line": []}
    count = 0
    for i, block in enumerate(mesh.cells):
        kind = "solid" if block.type in solid else "face" if block.type in _FACES else block.type
        if kind in rows:
            is_table = isinstance(block.data, np.ndarray)
            rows[kind] += [block.data] if is_table else [np.asarray(row)[None] for row in block.data]
            places[kind].append(count + np.arange(len(block.data)))
        elif kind != "vertex":
            raise ValueError(f"block {i} has cells of meshio's type {block.type!r}, which is not taken")
        elif mesh.cell_data:
            shared.left_out("the cell data of vertices are", "these are no cells of trioxide")
        count += len(block.data)
    point_data = {name: np.asarray(array) for name, array in mesh.point_data.items()}
    cell_data = {name: np.concatenate([np.asarray(part) for part in parts]) for name, parts in mesh.cell_data.items() if parts}
    found = {kind: np.concatenate([np.zeros(0, np.int64), *of_kind]) for kind, of_kind in places.items()}
    lists = {kind: shared.lists_of(of_kind) for kind, of_kind in rows.items()}
    if not is_volume:
        on_faces, on_lines = shared.parted(cell_data, found["face"], found["line"])
        segments = lists["line"][1].reshape(-1, 2)
        return shared.surface(mesh.points, lists["face"], point_data, on_faces, segments, on_lines)
    if len(found["line"]):
        shared.left_out("lines are", "a volume mesh of trioxide has tagged faces, and no segments")
    on_cells, on_faces = shared.parted(cell_data, found["solid"], found["face"])
    return shared.volume(mesh.points, lists["solid"], point_data, on_cells, lists["face"], on_faces)
