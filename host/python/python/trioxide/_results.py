"""Results: meshes with the maps back to what they were made from."""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from ._levels import Nested
from ._mesh import Mesh, VolumeMesh
from ._resident import csr


class Polygons(Nested, Mesh):
    """A polygonal mesh made of triangles: a `Mesh` with `offsets` and `vertices`.

    Attributes
    ----------
    parent_offsets, parents : (P + 1,) and (T,) uint32
        The triangles of each polygon: ``parents[parent_offsets[i]:parent_offsets[i + 1]]``.
    half_edges : (P,) uint32
        Of each polygon its smallest half-edge of the triangulation; half-edge 3 t + k starts at vertex k of triangle t.
    places : (V,) uint32 or None
        With `min_edge`, for each vertex of the input the vertex of this mesh in its place.
    level_parents : list of (N,) uint32
        Of each nested level the piece that each piece of the level before belongs to; before the first come the polygons.
    counts : dict
        Numbers of `polygons`, terminal-edge `regions` (not those of `Mesh.regions`, which are materials), `frontier_edges`,
        `barrier_tips` and `weakly_simple` polygons; of `short_edges`, of `removed_vertices`, of `short_edges_left` and of those of
        them whose ends the border, segments or regions hold, `short_edges_held`; of nested `levels`, and of `pieces` of the last one.
    """

    __slots__ = ("parent_offsets", "parents", "half_edges", "places", "level_parents", "counts")
    parent_offsets: np.ndarray
    parents: np.ndarray
    half_edges: np.ndarray
    places: Optional[np.ndarray]
    counts: Dict[str, int]

    @classmethod
    def _of_result(cls, arrays: Dict[str, Any]) -> "Polygons":
        mesh = cls._of(arrays)
        mesh.parent_offsets = arrays["triangle_offsets"]
        mesh.parents = arrays["triangles_of_polygons"]
        mesh.half_edges = arrays["half_edges"]
        mesh.places = arrays["places"]
        mesh.level_parents = arrays["level_parents"]
        mesh.counts = arrays["counts"]
        return mesh

    @property
    def map(self) -> np.ndarray:
        """The polygon of each triangle; (T,) uint32."""
        result = np.empty(len(self.parents), np.uint32)
        starts = self.parent_offsets.astype(np.int64)
        sizes = starts[1:] - starts[:-1]
        result[self.parents] = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
        return result


class _Prolonged:
    """What both kinds of refined meshes have."""

    __slots__ = ()
    parents: np.ndarray
    rounds: int
    counts: Dict[str, Any]
    _prolongation: Tuple[np.ndarray, np.ndarray, np.ndarray, int]

    def _take(self, arrays: Dict[str, Any], before: int) -> None:
        csr = tuple(arrays[f"prolongation_{name}"] for name in ("offsets", "columns", "weights"))
        taken = {"parents": arrays["parents"], "counts": arrays["counts"], "rounds": arrays["counts"]["rounds"]}
        # The slots are those of the classes below.
        for name, value in {**taken, "_prolongation": (*csr, before)}.items():
            setattr(self, name, value)

    @property
    def prolongation(self) -> Any:
        """The matrix that takes values at the vertices of the input to the vertices of this mesh: a SciPy CSR array, (V', V)."""
        return csr(*self._prolongation)


class Refined(_Prolonged, Mesh):
    """A refined triangulation: a `Mesh` of triangles.

    Attributes
    ----------
    parents : (F,) uint32
        The triangle of the input that each triangle is a part of.
    rounds : int
        Rounds that were done.
    end : str
        Why they ended: "all rounds done", "nothing left to refine" or "the next round would have passed the most triangles".
    counts : dict
        What the run counted, as the command line reports it.
    """

    __slots__ = ("parents", "rounds", "counts", "_prolongation", "end")
    end: str

    @classmethod
    def _of_result(cls, arrays: Dict[str, Any], before: int) -> "Refined":
        mesh = cls._of(arrays)
        mesh._take(arrays, before)
        mesh.end = mesh.counts["end"]
        return mesh


class RefinedVolume(_Prolonged, VolumeMesh):
    """A refined mesh of tetrahedra: a `VolumeMesh`.

    Attributes
    ----------
    parents : (N,) uint32
        The tetrahedron of the input that each tetrahedron is a part of.
    vertex_parents : (V' - V, 2) uint32
        The ends of the edge that each new vertex halves; they may be new vertices too.
    rounds : int
        Rounds that were done.
    counts : dict
        What the run counted, as the command line reports it.
    """

    __slots__ = ("parents", "rounds", "counts", "_prolongation", "vertex_parents")
    vertex_parents: np.ndarray

    @classmethod
    def _of_result(cls, arrays: Dict[str, Any], before: int) -> "RefinedVolume":
        mesh = cls._of(arrays)
        mesh._take(arrays, before)
        mesh.vertex_parents = arrays["vertex_parents"]
        return mesh


class Welded(Mesh):
    """A welded mesh: a `Mesh` of C clusters of the V vertices.

    Attributes
    ----------
    map : (V,) uint32
        The new vertex of each old one.
    representatives : (C,) uint32
        The old vertex that each new one stands for, ascending.
    epsilon : float
        The distance within which vertices merged.
    counts : dict
        What the run counted, as the command line reports it: `vertices`, `welded_vertices`, `method`, `slabs` and others.
    """

    __slots__ = ("map", "representatives", "epsilon", "counts")
    map: np.ndarray
    representatives: np.ndarray
    epsilon: float
    counts: Dict[str, Any]

    @classmethod
    def _of_result(cls, arrays: Dict[str, Any]) -> "Welded":
        mesh = cls._of(arrays)
        mesh.map, mesh.representatives = arrays["map"], arrays["representatives"]
        mesh.counts = arrays["counts"]
        mesh.epsilon = mesh.counts["epsilon"]
        return mesh

    @property
    def removed(self) -> np.ndarray:
        """The old vertices that are gone, ascending; (V - C,) uint32."""
        gone = np.ones(len(self.map), bool)
        gone[self.representatives] = False
        return np.flatnonzero(gone).astype(np.uint32)


class Smoothed(Mesh):
    """A smoothed surface: the `Mesh` with new points.

    Attributes
    ----------
    moving : int
        Number of vertices that may move.
    sweeps : int
        Number of sweeps.
    counts : dict
        What the run counted, as the command line reports it: `converged`, `max_displacement` and others.
    inverted : (K,) uint32
        The cells that untangling has left inverted, with `keep_going`.
    """

    __slots__ = ("moving", "sweeps", "counts", "inverted")
    moving: int
    sweeps: int
    counts: Dict[str, Any]
    inverted: np.ndarray


class SmoothedVolume(VolumeMesh):
    """A smoothed volume mesh: the `VolumeMesh` with new points; `moving`, `sweeps`, `counts` and `inverted` as of `Smoothed`."""

    __slots__ = ("moving", "sweeps", "counts", "inverted")
    moving: int
    sweeps: int
    counts: Dict[str, Any]
    inverted: np.ndarray


class Solution:
    """Values at the vertices of a mesh, of a Poisson problem by the virtual element method.

    Attributes
    ----------
    values, exact : (V,) float64
        The solution, and the problem's exact one; both 0 at a vertex of no cell.
    unknowns, iterations : int
        Size of the linear system, and the iterations that its solver took.
    counts : dict
        What the run counted and measured, as the command line reports it: `l2_error`, `h1_error`, `max_vertex_error` and others.
    mesh : Mesh or None
        The given mesh, with the fields "solution" and "exact" of its vertices; None of cells and polyhedra.
    """

    __slots__ = ("values", "exact", "unknowns", "iterations", "counts", "mesh", "__weakref__")

    def __init__(self, arrays: Dict[str, Any]) -> None:
        self.values: np.ndarray = arrays["values"]
        self.exact: np.ndarray = arrays["exact"]
        self.counts: Dict[str, Any] = arrays["counts"]
        self.unknowns: int = self.counts["unknowns"]
        self.iterations: int = self.counts["iterations"]
        self.mesh: Optional[Mesh] = Mesh._of(arrays["mesh"]) if "mesh" in arrays else None

    @property
    def error(self) -> float:
        """The largest error at a vertex."""
        return float(self.counts["max_vertex_error"])

    def __repr__(self) -> str:
        return f"<trioxide.Solution: {self.unknowns} unknowns, largest error {self.error:.3g} at a vertex>"
