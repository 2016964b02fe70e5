"""From and to trimesh."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from . import _conversions as shared


def to_trimesh(mesh: Any) -> Any:
    trimesh = shared.package("trimesh", "to_trimesh")
    triangles = mesh.triangles
    if triangles is None:
        offsets, vertices = mesh.polygons()
        sizes = np.diff(offsets.astype(np.int64))
        if (sizes != 3).any():
            first = int(np.argmax(sizes != 3))
            raise ValueError(f"face {first} has {int(sizes[first])} vertices: trimesh takes triangles only; take .to_triangles()")
        triangles = vertices.reshape(-1, 3)
    if mesh.segments is not None and len(mesh.segments):
        shared.left_out("segments are", "a Trimesh has triangles only")
    of_vertices = dict(mesh.point_data)
    options: Dict[str, Any] = {}
    if mesh.colors is not None:
        options["vertex_colors"] = mesh.colors
    elif mesh.uvs is not None:
        # Else trimesh makes a picture for the material.
        material = trimesh.visual.material.PBRMaterial()
        options["visual"] = trimesh.visual.TextureVisuals(uv=mesh.uvs, material=material)
    if mesh.colors is not None and mesh.uvs is not None:
        # A Trimesh shows one of both.
        of_vertices[shared.UVS] = mesh.uvs
    if mesh.normals is not None:
        options["vertex_normals"] = mesh.normals
    of_faces = shared.tagged(mesh.cell_data, mesh.regions, "region")
    result = trimesh.Trimesh(np.array(mesh.points), triangles.astype(np.int64), process=False, **options)
    # The constructor's arguments of this name are lost with some visuals.
    result.vertex_attributes.update(of_vertices)
    result.face_attributes.update(of_faces)
    return result


def parts_of(mesh: Any) -> shared.Parts:
    """The parts of a mesh; `from_trimesh` says which."""
    is_cloud = any(kind.__name__ == "PointCloud" for kind in type(mesh).__mro__)
    if not is_cloud and not (hasattr(mesh, "faces") and hasattr(mesh, "face_attributes") and hasattr(mesh, "visual")):
        raise shared.unknown(mesh, "from_trimesh", "a Trimesh or a PointCloud")
    points = np.asarray(mesh.vertices)
    if is_cloud:
        colors = np.asarray(mesh.colors)
        has_colors = len(colors) == len(points) and len(colors)
        return False, {"points": points, "colors": shared.with_alpha(colors) if has_colors else None}
    point_data = {name: np.asarray(array) for name, array in mesh.vertex_attributes.items()}
    cell_data = {name: np.asarray(array) for name, array in mesh.face_attributes.items()}
    found = shared.attributes_of(point_data)
    # Else trimesh would compute them. It has no public name for this question: its exporters ask its cache, too.
    if "vertex_normals" in getattr(mesh, "_cache", ()):
        found["normals"] = np.asarray(mesh.vertex_normals)
    kind = mesh.visual.kind
    if kind == "vertex":
        found["colors"] = np.asarray(mesh.visual.vertex_colors)
    elif kind == "face":
        cell_data[shared.RGBA] = np.asarray(mesh.visual.face_colors)
    elif kind == "texture":
        if mesh.visual.uv is not None:
            found["uvs"] = np.asarray(mesh.visual.uv)[:, :2]
        pictures = (getattr(mesh.visual.material, name, None) for name in ("image", "baseColorTexture"))
        if any(picture is not None for picture in pictures):
            shared.left_out("the picture of the material is", "a mesh of trioxide has texture coordinates only")
    regions = shared.tags_of(cell_data)
    found.update(points=points, triangles=np.asarray(mesh.faces), regions=regions, point_data=point_data, cell_data=cell_data)
    return False, found
