"""What the functions share: the arguments that a mesh is given by, and options."""

from __future__ import annotations

from typing import Any, List, Optional, Sequence, Tuple, Union

from . import _arguments as check
from ._mesh import Mesh, VolumeMesh
from ._results import DeviceSurface


def surface_of(mesh: Any, triangles: Any, **arrays: Any) -> Mesh:
    """The mesh of the first arguments: a `Mesh`, or points and triangles."""
    given = {name: value for name, value in arrays.items() if value is not None}
    if isinstance(mesh, Mesh):
        if triangles is not None:
            raise TypeError("give a Mesh, or points and triangles, not both")
        if not given:
            return mesh
        found = Mesh._of(mesh.__dict__)
        for name, value in given.items():
            setattr(found, name, value)
        found.__dict__.update(found._arrays())
        return found
    if isinstance(mesh, VolumeMesh):
        raise TypeError("this function takes a Mesh, not a VolumeMesh")
    return Mesh(mesh, triangles, **given)


def any_mesh(mesh: Any, cells: Any) -> Union[Mesh, VolumeMesh]:
    return mesh if isinstance(mesh, VolumeMesh) and cells is None else surface_of(mesh, cells)


def resident(mesh: Any, triangles: Any) -> Optional[Tuple[Any, Any]]:
    """Points and triangles, if they are arrays of a GPU."""
    if isinstance(mesh, DeviceSurface):
        if triangles is not None:
            raise TypeError("give a surface, or points and triangles, not both")
        return mesh.points, mesh.triangles
    on_gpu = [array is not None and check.is_device_array(array) for array in (mesh, triangles)]
    if not any(on_gpu) or isinstance(mesh, (Mesh, VolumeMesh)):
        return None
    if triangles is None:
        raise TypeError("triangles are missing: arrays of a GPU are points and triangles")
    if not all(on_gpu):
        where = ("points", "triangles") if on_gpu[0] else ("triangles", "points")
        raise ValueError(f"{where[0]} are in a GPU's memory and {where[1]} are not: copy one of them")
    return mesh, triangles


def host_only(device: bool, **options: Any) -> None:
    """Refuses options that arrays of a GPU do not have."""
    for name, value in options.items():
        if device and value not in (None, False):
            raise ValueError(f"{name} is for host arrays only: arrays of a GPU have points and triangles alone")


def known(value: Any, name: str, words: Sequence[str]) -> Any:
    if value not in words:
        raise ValueError(f"{name}={value!r} is not known: it is {', '.join(words)}")
    return value


def floats(values: Sequence[Any], name: str) -> List[float]:
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        raise TypeError(f"{name} needs numbers, not {values!r}") from None


def whole(value: Any, name: str, least: int = 0) -> int:
    try:
        number = int(value.__index__())
    except AttributeError:
        raise TypeError(f"{name} is {value!r}: an integer is needed") from None
    if not least <= number < 2**63:
        raise ValueError(f"{name} is {number}: it is {least} or more")
    return number
