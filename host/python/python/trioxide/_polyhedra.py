"""Meshes of polyhedra: faces between them, once each."""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from . import _arguments as check
from ._conversions import package
from ._held import Held, within
from ._levels import Nested


class Polyhedra(Nested, Held):
    """A mesh of polyhedra, as `polylla` makes it of tetrahedra and `read` of a file. A face between two polyhedra is there once.

    Attributes
    ----------
    points : (V, 3) float64
        Coordinates.
    face_offsets, face_vertices : (F + 1,) and (C,) uint32
        Face f has the vertices ``face_vertices[face_offsets[f]:face_offsets[f + 1]]``, counter-clockwise as seen from outside of the
        polyhedron that has it first.
    offsets, sides : (P + 1,) and (S,) uint32
        Polyhedron p has the sides ``sides[offsets[p]:offsets[p + 1]]``: 2 f is face f seen from outside, 2 f + 1 from inside.
    regions : (P,) int32, or None
        A tag of each polyhedron.
    tagged_faces, face_tags : (K,) uint32 and int32, or None
        Faces with a tag.
    point_data, cell_data, side_data : dict of arrays
        Fields of the vertices, polyhedra and tagged faces.
    parent_offsets, parents : (P + 1,) and (T,) uint32, or None
        The tetrahedra of each polyhedron: ``parents[parent_offsets[p]:parent_offsets[p + 1]]``; None of a file.
    level_parents : list of (N,) uint32
        Of each nested level the piece that each piece of the level before belongs to; before the first come the polyhedra.
    counts : dict
        What the run counted, as the command line reports it; empty of a file.
    """

    __slots__ = (
        "face_offsets", "face_vertices", "sides", "tagged_faces", "face_tags", "parent_offsets", "parents", "level_parents",
        "counts",
    )  # fmt: skip
    _kind = "polyhedra"
    _names = (
        "points", "face_offsets", "face_vertices", "offsets", "sides", "regions", "tagged_faces", "face_tags",
    )  # fmt: skip
    face_offsets: Any
    face_vertices: Any
    sides: Any
    regions: Any
    tagged_faces: Any
    face_tags: Any
    parent_offsets: Any
    parents: Any
    counts: Dict[str, Any]

    @classmethod
    def _of_result(cls, arrays: Dict[str, Any]) -> "Polyhedra":
        mesh = cls._of(arrays)
        mesh.parent_offsets, mesh.parents = arrays.get("parent_offsets"), arrays.get("parents")
        mesh.level_parents = arrays.get("level_parents", [])
        mesh.counts = arrays.get("counts", {})
        return mesh

    def _arrays(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {"points": check.points(self.points), "regions": None, "tagged_faces": None, "face_tags": None}
        found["face_vertices"] = within(check.ids(self.face_vertices, "face_vertices"), "face_vertices", len(found["points"]))
        ends = len(found["face_vertices"])
        found["face_offsets"] = check.offsets(self.face_offsets, "face_offsets", ends, "face_vertices")
        found["sides"] = check.ids(self.sides, "sides")
        found["offsets"] = check.offsets(self.offsets, "offsets", len(found["sides"]), "sides")
        count, tagged = len(found["offsets"]) - 1, 0
        if self.regions is not None:
            found["regions"] = check.tags(self.regions, "regions", count, "polyhedron")
        if self.tagged_faces is not None:
            found["tagged_faces"] = check.ids(self.tagged_faces, "tagged_faces")
            tagged = len(found["tagged_faces"])
            found["face_tags"] = check.tags(self.face_tags, "face_tags", tagged, "tagged face")
        found.update(self._fields(len(found["points"]), count, tagged))
        return found

    def _counts(self) -> List[Tuple[str, Any]]:
        return [("vertices", len(self.points)), ("polyhedra", len(self.offsets) - 1), ("faces", len(self.face_offsets) - 1)]

    @property
    def map(self) -> np.ndarray:
        """The polyhedron of each tetrahedron; (T,) uint32. Of a result of `polylla`."""
        if self.parents is None:
            raise ValueError("the polyhedra are of a file, which does not say of which tetrahedra they were made")
        result = np.empty(len(self.parents), np.uint32)
        sizes = np.diff(self.parent_offsets.astype(np.int64))
        result[self.parents] = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        return result

    def faces(self, polyhedron: int) -> List[np.ndarray]:
        """The vertex ids of each face of a polyhedron, counter-clockwise as seen from outside of it.

        >>> from trioxide import VolumeMesh, polylla
        >>> tetrahedron = VolumeMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
        >>> len(polylla(tetrahedron, device="cpu").faces(0))
        4
        """
        sides = self.sides[self.offsets[polyhedron] : self.offsets[polyhedron + 1]].astype(np.int64)
        starts, ends = self.face_offsets[sides // 2], self.face_offsets[sides // 2 + 1]
        faces = [self.face_vertices[start:end] for start, end in zip(starts, ends)]
        return [vertices[::-1] if side % 2 else vertices for vertices, side in zip(faces, sides)]

    def _stream(self) -> np.ndarray:
        """VTK's face stream: each polyhedron has the length of its part, the number of its faces, and its faces, each a number of
        vertices and the vertices."""
        sides, offsets, starts = (array.astype(np.int64) for array in (self.sides, self.offsets, self.face_offsets))
        sizes = np.diff(starts)[sides // 2]
        # A face begins after the faces before it, and after two numbers of each polyhedron up to its own.
        owners = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        before = np.concatenate([[0], np.cumsum(1 + sizes)])
        places = before[:-1] + 2 * (owners + 1)
        heads = before[offsets[:-1]] + 2 * np.arange(len(offsets) - 1)
        stream = np.empty(before[-1] + 2 * len(heads), np.int64)
        stream[heads] = 1 + np.diff(before[offsets])
        stream[heads + 1] = np.diff(offsets)
        stream[places] = sizes
        # A corner's place in its face, from the last one where the face is seen from inside.
        of_side = np.repeat(np.arange(len(sides)), sizes)
        corners = np.arange(len(of_side)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        turned = np.where(sides[of_side] % 2 == 1, sizes[of_side] - 1 - corners, corners)
        stream[places[of_side] + 1 + corners] = self.face_vertices[starts[sides[of_side] // 2] + turned]
        return stream

    def to_pyvista(self) -> Any:
        """A `pyvista.UnstructuredGrid` of polyhedra. Regions are the cell data "region"; tagged faces stay behind."""
        pyvista = package("pyvista", "to_pyvista")
        kinds = np.full(len(self.offsets) - 1, 42, np.uint8)  # VTK_POLYHEDRON
        result = pyvista.UnstructuredGrid(self._stream(), kinds, np.array(self.points))
        result.point_data.update(self.point_data)
        result.cell_data.update(self.cell_data)
        if self.regions is not None:
            result.cell_data["region"] = self.regions
        return result
