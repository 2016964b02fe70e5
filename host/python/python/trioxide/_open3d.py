"""From and to Open3D."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from . import _conversions as shared


def _leave_out(mesh: Any, kind: str, *names: str) -> None:
    held = {name: getattr(mesh, name) for name in (*names, "regions", "point_data", "cell_data", "side_data")}
    lost = [name for name, value in held.items() if value is not None and len(value)]
    if lost:
        shared.left_out(f"{', '.join(lost)} are", f"a {kind} of Open3D has no place for them")


def to_surface(mesh: Any) -> Any:
    open3d = shared.package("open3d", "to_open3d")
    vectors = open3d.utility
    offsets, vertices = mesh.polygons()
    sizes = np.diff(offsets.astype(np.int64))
    if (sizes != 3).any():
        first = int(np.argmax(sizes != 3))
        raise ValueError(f"face {first} has {int(sizes[first])} vertices: Open3D takes triangles only; take .to_triangles()")
    points = vectors.Vector3dVector(mesh.points)
    kind, prefix = ("TriangleMesh", "vertex_") if len(sizes) else ("PointCloud", "")
    result: Any = open3d.geometry.PointCloud(points)
    if len(sizes):
        result = open3d.geometry.TriangleMesh(points, vectors.Vector3iVector(vertices.reshape(-1, 3).astype(np.int32)))
    if mesh.normals is not None:
        setattr(result, f"{prefix}normals", vectors.Vector3dVector(mesh.normals))
    if mesh.colors is not None:
        setattr(result, f"{prefix}colors", vectors.Vector3dVector(mesh.colors[:, :3] / 255.0))
    _leave_out(mesh, kind, "segments", "uvs")
    return result


def to_volume(mesh: Any) -> Any:
    open3d = shared.package("open3d", "to_open3d")
    if mesh.tetrahedra is None:
        raise ValueError("the mesh has other cells than tetrahedra: Open3D takes these only")
    _leave_out(mesh, "TetraMesh", "face_tags")
    points, cells = open3d.utility.Vector3dVector(mesh.points), mesh.tetrahedra.astype(np.int32)
    return open3d.geometry.TetraMesh(points, open3d.utility.Vector4iVector(cells))


def parts_of(data: Any) -> shared.Parts:
    """The parts of a mesh; `from_open3d` says which."""
    if hasattr(data, "to_legacy"):
        data = data.to_legacy()
    parts: Dict[str, Any] = {}
    if hasattr(data, "tetras"):
        return True, {"points": np.asarray(data.vertices), "tetrahedra": np.asarray(data.tetras)}
    if hasattr(data, "triangles") and hasattr(data, "vertices"):
        prefix, parts["points"], parts["triangles"] = "vertex_", np.asarray(data.vertices), np.asarray(data.triangles)
        if data.has_triangle_uvs():
            shared.left_out("texture coordinates are", "in Open3D they are those of corners, in trioxide of vertices")
    elif hasattr(data, "points"):
        prefix, parts["points"] = "", np.asarray(data.points)
        if hasattr(data, "lines"):
            if len(data.lines):
                parts["segments"] = np.asarray(data.lines)
            if data.has_colors():
                shared.left_out("colours of lines are", "segments of trioxide have markers and fields")
            return False, parts
    else:
        raise shared.unknown(data, "from_open3d", "a TriangleMesh, PointCloud, LineSet or TetraMesh")
    if getattr(data, f"has_{prefix}normals")():
        parts["normals"] = np.asarray(getattr(data, f"{prefix}normals"))
    if getattr(data, f"has_{prefix}colors")():
        colors = np.asarray(getattr(data, f"{prefix}colors"))
        parts["colors"] = shared.with_alpha(np.rint(255.0 * np.clip(colors, 0.0, 1.0)).astype(np.uint8))
    return False, parts
