"""Files, generators, pictures, measures: functions that need no device, or any."""

from __future__ import annotations

import os
from typing import Any, Dict, Optional, Sequence, Tuple, Union

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import Device, DeviceLike, opened, run_on
from ._foreign import of_any
from ._held import frame
from ._inputs import PathLike, any_copied, floats, known, noted, options_of, path_of, surface_of, whole, with_triangles
from ._mesh import Mesh, VolumeMesh
from ._notes import warn
from ._polyhedra import Polyhedra
from ._progress import Progress, watching
from ._results import Solution

AnyMesh = Union[Mesh, VolumeMesh, Polyhedra]


_KINDS = ("grid", "jittered", "random", "disk", "scan", "cloud", "tets")


#: Kinds whose points a device triangulates.
_TRIANGULATED = ("random", "disk")


def generate(
    kind: str, n: int, *, device: DeviceLike = "auto", seed: int = 1, random: bool = False, progress: Progress = None
) -> Union[Mesh, VolumeMesh]:
    """A mesh from a seed: the same on every machine.

    Parameters
    ----------
    kind : "grid", "jittered", "random", "disk", "scan", "cloud" or "tets"
        Planar triangulations of the unit square or disk; a closed surface as a scanner sees it; a point cloud; tetrahedra of the unit
        cube, at random points with `random`.
    n : int
        About this number of vertices.
    device : "auto", "cuda:N", "cpu" or Device
        Triangulates the points of "random" and "disk", whose vertices and triangles follow a Hilbert curve; the host makes other kinds.
    seed : int
        Of the random numbers, 0 or more.
    progress : function or True, optional

    Returns
    -------
    Mesh or VolumeMesh

    Raises
    ------
    ValueError
        An unknown kind, or a number of vertices that no mesh has.

    >>> generate("random", 100, seed=7)
    <trioxide.Mesh: 100 vertices, 174 triangles>
    """
    known(kind, "kind", _KINDS)
    n, seed = whole(n, "n"), whole(seed, "seed")
    with watching(progress) as watch:

        def make(on: Optional[Device]) -> Tuple[bool, Dict[str, Any]]:
            return native.generate_mesh(on, kind, n, seed, bool(random), watch)

        is_volume, arrays = run_on(device, make) if kind in _TRIANGULATED else make(None)
    return VolumeMesh._of(arrays) if is_volume else Mesh._of(arrays)


def read(
    path: PathLike, *, follow_references: str = "below", columns: Union[None, str, Sequence[str]] = None, progress: Progress = None
) -> AnyMesh:
    """Reads a mesh: a `VolumeMesh` of formats and files with cells that have a volume, `Polyhedra` of .vtu, .pvtu and .vtk files that
    have some, of .visf, and of .foam or OpenFOAM's folder of a case or polyMesh.

    The format is that of the file name's extension. Parts of the file that a mesh does not have are left out with a warning. Faces of
    polyhedra that do not look outward are turned, with a warning.

    Parameters
    ----------
    path : path
    follow_references : "below" or "anywhere"
        Where the files may lie that the file names (`.pvtu`, `.pvtp`, `.xdmf`, `.gltf`, `.inp`): below its folder, also behind
        symbolic links; or anywhere, for files that you trust.
    columns : str or names, optional
        Names of the columns of a text of points (`.xyz`, `.txt`, `.csv`, `.asc`, `.pts`): "x,y,z"; nx,ny,nz for a normal, r,g,b for a
        colour, _ to skip a column; others are fields. Otherwise those in the file, or the likeliest, with a warning.
    progress : function or True, optional

    Raises
    ------
    OSError
        The file cannot be read: FileNotFoundError where it is not there, with its `filename`.
    ValueError
        Its content breaks the format; the sentence names the line or the byte.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "grid.off")
    ...     write(path, generate("grid", 9))
    ...     read(path)
    <trioxide.Mesh: 9 vertices, 8 triangles>
    """
    name = path_of(path)
    with watching(progress) as watch:
        kind, arrays, notes = native.read(name, {"follow_references": follow_references, "columns": columns}, watch)
    for note in notes:
        warn(f"{name}: {note}")
    if kind == "polyhedra":
        return Polyhedra._of_result(arrays)
    return VolumeMesh._of(arrays) if kind == "volume" else Mesh._of(arrays)


def write(path: PathLike, mesh: Any, triangles: Any = None, *, encoding: Optional[str] = None, progress: Progress = None) -> None:
    """Writes a mesh, in the format of the file name's extension. What the format does not hold is left out with a warning.

    Parameters
    ----------
    path : path
    mesh : Mesh, VolumeMesh, Polyhedra, or coordinates with `triangles`
        A mesh or arrays of a device are copied to the host once.
    encoding : "binary", "big-endian", "text" or "compressed", optional
        Of formats with several.
    progress : function or True, optional

    Raises
    ------
    OSError
        The file cannot be written: FileNotFoundError where its folder is not there, with its `filename`.
    ValueError
        The format does not hold such a mesh.
    """
    if isinstance(path, (Mesh, VolumeMesh, Polyhedra, np.ndarray)):
        raise TypeError("the path comes first: write('mesh.ply', mesh)")
    name, found = path_of(path), any_copied(of_any(mesh), triangles)
    with watching(progress) as watch:
        notes = native.write(name, found._arrays(), found._kind, {"encoding": encoding}, watch)
    for note in notes:
        warn(f"{name}: {note}")


def info(mesh: Any, triangles: Any = None, *, device: DeviceLike = "cpu", progress: Progress = None) -> Dict[str, Any]:
    """Counts, bounds and quality of a mesh, as a dictionary.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh, Polyhedra, or (V, 2) or (V, 3) coordinates
        A mesh or arrays of a device are copied to the host once.
    triangles : (F, 3) integers, optional
        Vertex ids.
    device : "auto", "cuda:N", "cpu" or Device
        Measures the cells of volume meshes.
    progress : function or True, optional

    Returns
    -------
    dict
        Lengths in the unit of the coordinates, angles in degrees; "problem" is None, or a sentence with the element and the rule. That
        of a surface in space has its "area", "volume" if it is closed, "planarity", "dihedral_angle", all "problems", and "repairs":
        what each step of `repair` would find. That of cells has the histogram of their "mean_ratio", that of polyhedra the measures of
        `trioxide info`.

    >>> report = info(generate("grid", 9))
    >>> report["vertices"], report["faces"], report["planar"], report["problem"]
    (9, 8, True, None)
    >>> report = info([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 2, 3]])
    >>> report["repairs"]["faces_to_turn"], report["boundary_edges"]
    (1, 0)
    """
    found = any_copied(of_any(mesh), triangles)
    arrays = found._arrays()
    with watching(progress) as watch:
        if isinstance(found, VolumeMesh):
            return run_on(device, lambda on: native.measure_volume(on, arrays, watch))
        if isinstance(found, Polyhedra):
            return native.measure_polyhedra(arrays, watch)
        return native.measure(arrays, watch)


def render(
    mesh: Any,
    triangles: Any = None,
    *,
    path: Optional[PathLike] = None,
    values: Any = None,
    width: Optional[int] = None,
    color: str = "auto",
    range: Optional[Tuple[float, float]] = None,
    colormap: Optional[str] = None,
    log: bool = False,
    shading: str = "auto",
    edges: str = "auto",
    window: Optional[Tuple[float, float, float, float]] = None,
    azimuth: Optional[float] = None,
    elevation: Optional[float] = None,
    up: Optional[str] = None,
    legend: bool = False,
    scale_bar: bool = False,
    axes: bool = False,
    format: Optional[str] = None,
    progress: Progress = None,
) -> bytes:
    """A picture of a mesh, as the bytes of a .png or .svg file; written to `path` if there is one.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh, Polyhedra, or (V, 2) or (V, 3) coordinates
        A mesh or arrays of a device are copied to the host once.
    triangles : (F, 3) integers, optional
        Vertex ids.
    path : path, optional
        A .png or .svg file.
    values : (F,) or (V,) floats, optional
        Colours by a field of the faces, or by the means of a field of the vertices.
    width : int, optional
        In pixels.
    color : "auto", "none", "distinct", "area", "size", "region", "vertices", or a field
        A field of the faces or else of the vertices, by its name: its numbers, or the magnitudes of its vectors; with a
        colon and a number from 0, this component, as "velocity:2". A field of uint8 of 3 or 4 components is drawn as
        the colours that it holds.
    range : (low, high), optional
        Numbers that the ends of the colours stand for; else those of the field.
    colormap : "light", "viridis", "magma", "inferno", "cividis" or "blue-red", optional
        Colours of numbers; else "viridis" for fields and "light" for others.
    log : bool
        Colours of numbers by their logarithms.
    shading : "auto", "always" or "never"
        Whether a surface in space is shaded; "auto": unless colours show a field or values.
    edges : "auto", "always" or "never"
    window : (x0, y0, x1, y1), optional
        The part that is drawn.
    azimuth, elevation : float, optional
        Angles of the view on a mesh in space, in degrees.
    up : "x", "y" or "z", optional
        The axis that points up; else it is guessed for a mesh in space, and z where nothing says more.
    legend : bool
        A strip below the picture that explains colours of numbers, regions and segments.
    scale_bar, axes : bool
        A bar of a round length, and the directions of x, y and z, below the picture.
    format : "png" or "svg", optional
        Else that of `path`, or "png".
    progress : function or True, optional

    Raises
    ------
    OSError
        The file cannot be written.
    ValueError
        Values of another length than the mesh's, a field that the mesh does not have, or a picture without size.

    >>> render(generate("grid", 9), width=64)[1:4]
    b'PNG'
    """
    file_name = None if path is None else path_of(path)
    if format is None:
        extension = os.path.splitext(file_name or "")[1].lower()
        if extension not in ("", ".png", ".svg"):
            raise ValueError(f"{file_name!r}: a picture is a .png or .svg file")
        format = extension[1:] or "png"
    known(format, "format", ("png", "svg"))
    found = any_copied(of_any(mesh), triangles)
    arrays = found._arrays()
    options: Dict[str, Any] = dict(
        color=color,
        range=None if range is None else floats(range, "range", 2),
        colormap=colormap,
        log=log,
        shading=shading,
        edges=edges,
        legend=legend,
        scale_bar=scale_bar,
        axes=axes,
        azimuth=None if azimuth is None else float(azimuth),
        elevation=None if elevation is None else float(elevation),
        up=up,
        format=format,
        width=None if width is None else whole(width, "width", 1),
        window=None if window is None else floats(window, "window", 4),
    )
    if values is not None:
        if not isinstance(found, Mesh):
            raise TypeError("values are of a surface: put them into the mesh's cell_data, and give color the field's name")
        field = check._lossless(check.host_array(values, "values"), np.float64, "values")
        offsets, vertices = found.polygons()
        faces, count = len(offsets) - 1, len(found.points)
        if field.shape not in ((faces,), (count,)):
            raise ValueError(
                f"values has the shape {field.shape}: one for each face or for each vertex is needed, ({faces},) or ({count},)"
            )
        if len(field) != faces:
            sizes = np.diff(offsets.astype(np.int64))
            if (sizes == 0).any():
                raise ValueError(f"face {int(np.argmin(sizes))} has no vertices")
            field = np.add.reduceat(field[vertices], offsets[:-1].astype(np.int64)) / sizes if faces else field[:0]
        options["values"] = field
    with watching(progress) as watch:
        picture = native.draw(arrays, found._kind, options, watch)
    if file_name is not None:
        with open(file_name, "wb") as file:
            file.write(picture)
    return picture


class View:
    """A page with meshes to turn, zoom and cut: a notebook shows it."""

    __slots__ = ("html",)

    def __init__(self, html: str) -> None:
        #: The page, which needs no other file and no network.
        self.html = html

    def __repr__(self) -> str:
        return f"<trioxide.View: {len(self.html):,} bytes>"

    def _repr_html_(self) -> str:
        return frame(self.html)

    def save(self, path: PathLike) -> None:
        """Writes the page, for a browser."""
        with open(path_of(path), "w", encoding="utf-8") as file:
            file.write(self.html)


def view(
    *meshes: Any,
    names: Optional[Sequence[str]] = None,
    steps: bool = False,
    color: Optional[str] = None,
    max_cells: int = 1_000_000,
    up: Optional[str] = None,
    progress: Progress = None,
) -> View:
    """A page that shows meshes beside each other with one camera: before and after, say.

    Parameters
    ----------
    *meshes : Mesh, VolumeMesh, Polyhedra, or coordinates of a cloud
        Meshes and arrays of a device are copied to the host once.
    names : list of str, optional
        What they are called in the page.
    steps : bool
        Show them in one picture, one after the other by a slider: levels of refinement, or steps of time.
    color : str, optional
        Field of elements or points whose colours the page begins with, or "distinct": colours that keep neighbours apart. Else the
        vertices' own colours; else "distinct" for polygons of the plane and for polyhedra.
    max_cells : int
        Most faces, cells or points of a mesh that is shown whole: larger surfaces and clouds are welded, and of larger volumes only
        the surface is shown.
    up : "x", "y" or "z", optional
        The axis that points up; else it is guessed for a mesh in space, and z where nothing says more.
    progress : function or True, optional

    Returns
    -------
    View
        A notebook shows it; `save` writes the page, `html` is its text.

    Raises
    ------
    ValueError
        Too many meshes beside each other, a field that no mesh has, or a coordinate that is not finite.

    >>> page = view(generate("grid", 9), generate("grid", 100), names=["coarse", "fine"], color="mean ratio")
    >>> page.html.startswith("<!doctype html>")
    True
    """
    found = [any_copied(of_any(mesh)) for mesh in meshes]
    called = [type(mesh).__name__ for mesh in found] if names is None else [str(name) for name in names]
    if len(called) != len(found):
        raise ValueError(f"there are {len(called)} names for {len(found)} meshes")
    arrays = [(name, mesh._kind, mesh._arrays()) for name, mesh in zip(called, found)]
    with watching(progress) as watch:
        options = dict(steps=bool(steps), color=color, max_cells=whole(max_cells, "max_cells", 1), up=up)
        page = native.view(arrays, options, watch)
    return View(page)


def vem(
    mesh: Any, triangles: Any = None, *, problem: str = "sine", preconditioner: str = "algebraic", progress: Progress = None
) -> Solution:
    """Solves a Poisson problem on a planar mesh of polygons, on cells or on polyhedra, by the virtual element method of lowest order.

    Cells count as polyhedra by their faces. The problem is that of the mesh moved and scaled so that its longest side is from 0 to 1.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh, Polyhedra, or coordinates with `triangles`
    problem : "patch" or "sine"
        Exact solution: a linear one, or sin(pi x) sin(pi y).
    preconditioner : "algebraic" or "nested"
        Coarse levels of the multigrid that preconditions conjugate gradients: of the matrix alone, or nested polygons (planar meshes).
    progress : function or True, optional

    Returns
    -------
    Solution

    Raises
    ------
    ValueError
        A polygon that is flat, or that breaks another rule; the sentence names it. Clockwise polygons are turned, with a
        warning.

    >>> vem(generate("grid", 25), problem="patch").error < 1e-8
    True
    """
    options, found = options_of("vem", locals()), of_any(mesh)
    if not isinstance(found, (Polyhedra, VolumeMesh)):
        found = with_triangles(surface_of(found, triangles))
    with watching(progress) as watch:
        return Solution(noted(native.solve_poisson(found._arrays(), options, watch)))


def devices() -> Dict[str, Any]:
    """The GPUs of this machine: ``{"cuda": version, "devices": [...], "reason": None}``; `reason` says why there are none."""
    return native.cuda_devices()


def selftest(*, device: DeviceLike = "auto", only: str = "", progress: Progress = None) -> Dict[str, Optional[str]]:
    """Runs the small cases that compare a device with sequential algorithms, bit for bit.

    Parameters
    ----------
    device : "auto", "cuda:N", "cpu" or Device
    only : str
        Picks the cases with this in their names.
    progress : function or True, optional

    Returns
    -------
    dict
        The cases' names, with None for those that pass and a sentence for others.

    >>> set(selftest(device="cpu", only="exclusive scan").values())
    {None}
    """
    with watching(progress) as watch:
        return dict(native.run_selftest(opened(device), only, watch))
