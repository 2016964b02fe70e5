"""Mesh processing on the GPU, and on the CPU with the same bits.

>>> import trioxide
>>> mesh = trioxide.generate("random", 1000, seed=1)
>>> polygons = trioxide.polylla(mesh, device="cpu")
>>> polygons
<trioxide.Polygons: 1000 vertices, 316 polygons>
>>> trioxide.vem(polygons)
<trioxide.Solution: 928 unknowns, largest error 0.0184 at a vertex>

Functions take a mesh, or its arrays: ``polylla(points, triangles)``. They have the names and options of the command line. Arrays
of a GPU (CuPy, PyTorch, JAX, Numba) are used where they are by `weld`, `decimate`, `smooth`, `refine`, `reorder`, `polylla` and
`compare`, and the results stay there.
"""

from ._chain import chain
from ._compare import Comparison, compare
from ._decimate import Decimated, DeviceDecimated, decimate
from ._device import Device, DeviceArray
from ._families import polylla, refine, smooth, weld
from ._foreign import from_meshio, from_open3d, from_pyvista, from_trimesh
from ._functions import View, devices, generate, info, read, render, selftest, vem, view, write
from ._mesh import DeviceSurface, DeviceVolume, Mesh, VolumeMesh
from ._polyhedra import Polyhedra
from ._reorder import DeviceReordered, DeviceReorderedVolume, Reordered, ReorderedVolume, reorder
from ._repair import DeviceRepaired, Repaired, RepairedVolume, repair
from ._resident import (
    DevicePolygons,
    DeviceRefined,
    DeviceRefinedVolume,
    DeviceSmoothed,
    DeviceSmoothedVolume,
    DeviceWelded,
)
from ._results import (
    Polygons,
    Refined,
    RefinedVolume,
    Smoothed,
    SmoothedVolume,
    Solution,
    Welded,
)
from ._triangulate import DeviceTriangulated, Triangulated, triangulate
from ._trioxide import __version__

__all__ = [
    "Comparison",
    "Decimated",
    "Device",
    "DeviceArray",
    "DeviceDecimated",
    "DevicePolygons",
    "DeviceRefined",
    "DeviceRefinedVolume",
    "DeviceReordered",
    "DeviceReorderedVolume",
    "DeviceRepaired",
    "DeviceSmoothed",
    "DeviceSmoothedVolume",
    "DeviceSurface",
    "DeviceVolume",
    "DeviceTriangulated",
    "DeviceWelded",
    "Mesh",
    "Polygons",
    "Polyhedra",
    "Refined",
    "RefinedVolume",
    "Reordered",
    "ReorderedVolume",
    "Repaired",
    "RepairedVolume",
    "Smoothed",
    "SmoothedVolume",
    "Solution",
    "Triangulated",
    "View",
    "VolumeMesh",
    "Welded",
    "__version__",
    "chain",
    "compare",
    "decimate",
    "devices",
    "from_meshio",
    "from_open3d",
    "from_pyvista",
    "from_trimesh",
    "generate",
    "info",
    "polylla",
    "read",
    "refine",
    "render",
    "reorder",
    "repair",
    "selftest",
    "smooth",
    "triangulate",
    "vem",
    "view",
    "weld",
    "write",
]
