"""From and to PyVista."""

from __future__ import annotations

from typing import Any, Dict, Tuple

import numpy as np

from . import _conversions as shared
from ._conversions import Lists

#: VTK's types of cells, by their number of vertices.
_VOLUMES = {4: 10, 5: 14, 6: 13, 8: 12}
_LINE, _POLYLINE, _STRIP, _PIXEL, _VOXEL = 3, 4, 6, 8, 11
_FACES = (5, 7, _PIXEL, 9)  # triangle, polygon, pixel, quadrilateral
_SOLIDS = (*_VOLUMES.values(), _VOXEL)
_VERTICES = (1, 2)


def _flat(offsets: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Cells as VTK has them: the number of vertices before each."""
    sizes = np.diff(offsets.astype(np.int64))
    return np.insert(vertices.astype(np.int64), offsets[:-1].astype(np.int64), sizes)


def to_surface(mesh: Any) -> Any:
    pyvista = shared.package("pyvista", "to_pyvista")
    offsets, vertices = mesh.polygons()
    faces, lines = len(offsets) - 1, 0 if mesh.segments is None else len(mesh.segments)
    cells: Dict[str, Any] = {}
    if faces:
        cells["faces"] = _flat(offsets, vertices)
    if lines:
        cells["lines"] = np.insert(np.asarray(mesh.segments, np.int64), 0, 2, axis=1).reshape(-1)
    result = pyvista.PolyData(np.array(mesh.points), **cells)
    for name, array in shared.attributes(mesh).items():
        result.point_data[name] = array
    if mesh.normals is not None:
        result.point_data.active_normals_name = shared.NORMALS
    if mesh.uvs is not None:
        result.point_data.active_texture_coordinates_name = shared.UVS
    if cells:
        # VTK's order: lines come before faces.
        of_lines = shared.tagged(mesh.side_data, mesh.markers, "marker") if lines else {}
        of_faces = shared.tagged(mesh.cell_data, mesh.regions, "region") if faces else {}
        for name, array in shared.joined(of_lines, of_faces, (lines, faces)).items():
            result.cell_data[name] = array
    return result


def to_volume(mesh: Any) -> Any:
    pyvista = shared.package("pyvista", "to_pyvista")
    offsets, vertices = mesh.cells()
    face_offsets, face_vertices = shared.tagged_faces(mesh)
    counts = (len(offsets) - 1, len(face_offsets) - 1)
    kinds = np.zeros(9, np.uint8)
    for size, kind in _VOLUMES.items():
        kinds[size] = kind
    of_faces = np.select([np.diff(face_offsets) == 3, np.diff(face_offsets) == 4], [5, 9], 7).astype(np.uint8)
    cells = np.concatenate([_flat(offsets, vertices), _flat(face_offsets, face_vertices)])
    kinds = np.concatenate([kinds[np.diff(offsets.astype(np.int64))], of_faces])
    result = pyvista.UnstructuredGrid(cells, kinds, np.array(mesh.points))
    for name, array in mesh.point_data.items():
        result.point_data[name] = array
    of_cells = shared.tagged(mesh.cell_data, mesh.regions, "region")
    of_sides = shared.tagged(mesh.side_data, mesh.face_tags, "marker") if counts[1] else {}
    for name, array in shared.joined(of_cells, of_sides, counts).items():
        result.cell_data[name] = array
    return result


def parts_of(data: Any) -> shared.Parts:
    """The parts of a mesh; `from_pyvista` says which."""
    if hasattr(data, "celltypes") and hasattr(data, "cell_connectivity"):
        kinds, offsets, vertices = _of_grid(data)
    elif hasattr(data, "n_strips") and hasattr(data, "verts"):
        kinds, offsets, vertices = _of_surface(data)
    else:
        raise shared.unknown(data, "from_pyvista", "a PolyData or an UnstructuredGrid")
    points = np.asarray(data.points)
    point_data = {name: np.asarray(data.point_data[name]) for name in data.point_data}
    cell_data = {name: np.asarray(data.cell_data[name]) for name in data.cell_data}
    normals, uvs = data.point_data.active_normals_name, data.point_data.active_texture_coordinates_name
    for active, name in ((normals, shared.NORMALS), (uvs, shared.UVS)):
        if active in point_data and name not in point_data:
            point_data[name] = point_data.pop(active)
    fields = [name for name in data.field_data]
    if fields:
        shared.left_out(f"the field data {', '.join(map(repr, fields))} are", "a mesh of trioxide has data of its elements only")
    solid = np.isin(kinds, _SOLIDS)
    flat = np.isin(kinds, _FACES)
    line = np.isin(kinds, (_LINE, _POLYLINE))
    strip = kinds == _STRIP
    other = ~(solid | flat | line | strip | np.isin(kinds, _VERTICES))
    if other.any():
        first = int(np.argmax(other))
        raise ValueError(f"cell {first} is of VTK's type {int(kinds[first])}, which is not taken")
    if cell_data and np.isin(kinds, _VERTICES).any():
        shared.left_out("the cell data of vertices are", "these are no cells of trioxide")
    faces, of_faces = _faces(offsets, vertices, flat, strip)
    if not solid.any():
        pairs, of_lines = shared.pairs_of(*shared.chosen_lists(offsets, vertices, line))
        on_faces, on_lines = shared.parted(cell_data, of_faces, np.flatnonzero(line)[of_lines])
        return shared.surface(points, faces, point_data, on_faces, pairs, on_lines)
    if line.any():
        shared.left_out("lines are", "a volume mesh of trioxide has tagged faces, and no segments")
    on_cells, on_faces = shared.parted(cell_data, np.flatnonzero(solid), of_faces)
    cells = shared.chosen_lists(offsets, vertices, solid)
    return shared.volume(points, cells, point_data, on_cells, faces, on_faces)


def _faces(offsets: np.ndarray, vertices: np.ndarray, flat: np.ndarray, strip: np.ndarray) -> Tuple[Lists, np.ndarray]:
    """The faces, and the cell of each: those of strips are the last."""
    starts, corners = shared.chosen_lists(offsets, vertices, flat)
    if not strip.any():
        return (starts, corners), np.flatnonzero(flat)
    triangles, strips = shared.strips_of(*shared.chosen_lists(offsets, vertices, strip))
    ends = starts[-1] + 3 * np.arange(1, len(triangles) + 1)
    faces = np.concatenate([starts, ends]), np.concatenate([corners, triangles.reshape(-1)])
    return faces, np.concatenate([np.flatnonzero(flat), np.flatnonzero(strip)[strips]])


def _of_grid(data: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    kinds, vertices = np.asarray(data.celltypes), np.array(data.cell_connectivity)
    # Its name since PyVista 0.47, and before.
    offsets = np.asarray(data.cell_offsets if hasattr(data, "cell_offsets") else data.offset)
    # Rows of a grid become corners in turn.
    for kind, order in ((_PIXEL, (0, 1, 3, 2)), (_VOXEL, (0, 1, 3, 2, 4, 5, 7, 6))):
        places = offsets[:-1][kinds == kind][:, None] + np.arange(len(order))
        vertices[places] = vertices[places[:, order]]
    return kinds, offsets, vertices


def _of_surface(data: Any) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells of a surface in VTK's order."""
    kinds, sizes, vertices = [], [], []
    for cells, kind in ((data.verts, 2), (data.lines, _POLYLINE), (data.faces, 7), (data.strips, _STRIP)):
        of_kind, ids = _split(np.asarray(cells))
        kinds.append(np.full(len(of_kind), kind, np.uint8))
        sizes.append(of_kind)
        vertices.append(ids)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))])
    return np.concatenate(kinds), offsets, np.concatenate(vertices)


def _split(cells: np.ndarray) -> Lists:
    """The sizes of cells that have theirs before them, and their vertices."""
    cells = cells.reshape(-1).astype(np.int64)
    if not len(cells):
        return cells, cells
    width = int(cells[0]) + 1
    if len(cells) % width == 0 and (cells[::width] == width - 1).all():
        return cells[::width], cells.reshape(-1, width)[:, 1:].reshape(-1)
    # Python's own numbers are read much faster.
    numbers, starts, at = cells.tolist(), [], 0
    while at < len(numbers):
        starts.append(at)
        at += numbers[at] + 1
    return cells[starts], np.delete(cells, starts)
