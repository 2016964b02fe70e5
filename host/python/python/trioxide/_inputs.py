"""What the functions share: the arguments that a mesh is given by, and options."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import _arguments as check
from . import _trioxide as native
from ._device import Device, DeviceArray, taken
from ._held import OnDevice, on_host
from ._mesh import DeviceSurface, DeviceVolume, Mesh, VolumeMesh
from ._notes import warn
from ._polyhedra import Polyhedra
from ._resident import DevicePolygons


PathLike = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


def path_of(path: PathLike) -> str:
    """A path in text or bytes, as the native part takes it.

    >>> path_of(b"scan.ply")
    'scan.ply'
    """
    found = os.fsdecode(path)
    if "\0" in found:
        raise ValueError(f"the path {found!r} has a NUL character: no file has")
    return found


def surface_of(mesh: Any, triangles: Any, **arrays: Any) -> Mesh:
    """The mesh of the first arguments: a `Mesh`, or points and triangles."""
    given = {name: value for name, value in arrays.items() if value is not None}
    if isinstance(mesh, Mesh):
        if triangles is not None:
            raise TypeError("give a Mesh, or points and triangles, not both")
        if not given:
            return mesh
        found = Mesh._of(mesh._held())
        for name, value in given.items():
            setattr(found, name, value)
        found._check()
        return found
    if isinstance(mesh, (VolumeMesh, Polyhedra)):
        remedy = ": its .boundary() is one" if isinstance(mesh, VolumeMesh) else ""
        raise TypeError(f"this function takes a Mesh, not a {type(mesh).__name__}{remedy}")
    if isinstance(mesh, OnDevice):
        raise TypeError(f"this function takes a mesh in host memory, not a {type(mesh).__name__}: take its .to_host()")
    return Mesh(mesh, triangles, **given)


def any_mesh(mesh: Any, cells: Any) -> Union[Mesh, VolumeMesh]:
    return mesh if isinstance(mesh, VolumeMesh) and cells is None else surface_of(mesh, cells)


def any_copied(mesh: Any, cells: Any = None) -> Union[Mesh, VolumeMesh, Polyhedra]:
    """The mesh of any kind of the first arguments, for a function whose result is of the host: arrays of a device are copied."""
    if isinstance(mesh, OnDevice) and cells is None:
        return mesh.to_host()
    if isinstance(mesh, Polyhedra) and cells is None:
        return mesh
    mesh, cells = (on_host(array) if check.is_device_array(array) else array for array in (mesh, cells))
    return any_mesh(mesh, cells)


def no_surface_arrays(*arrays: Any) -> None:
    """Refuses arrays of triangles beside a volume mesh."""
    if any(array is not None for array in arrays):
        raise TypeError("regions, segments and markers go with triangles: set the volume mesh's regions")


def volume_of(mesh: VolumeMesh, *arrays: Any) -> Dict[str, Any]:
    """The arrays of tetrahedra, beside which there are none of triangles."""
    no_surface_arrays(*arrays)
    return mesh._arrays()


def resident(mesh: Any, triangles: Any, **arrays: Any) -> Optional[DeviceSurface]:
    """The surface of the first arguments, if they are on a device; the others go with it."""
    given = {name: value for name, value in arrays.items() if value is not None}
    if isinstance(mesh, DeviceVolume):
        raise TypeError("this function takes a surface, not tetrahedra: refine, reorder and smooth take these on a device")
    if isinstance(mesh, DevicePolygons):
        raise TypeError("this function takes triangles on a device, not polygons: take .to_host().to_triangles()")
    if isinstance(mesh, DeviceSurface):
        if triangles is not None:
            raise TypeError("give a surface, or points and triangles, not both")
        given = {**mesh._held(), **given}
    elif isinstance(mesh, (Mesh, VolumeMesh)) or not any(map(check.is_device_array, (mesh, triangles))):
        return None
    elif triangles is None:
        raise TypeError("triangles are missing: arrays of a device are points and triangles")
    else:
        given = {"points": mesh, "triangles": triangles, **given}
    all_there(given, "the surface")
    return DeviceSurface(**given)


def resident_volume(mesh: Any, cells: Any) -> Optional[DeviceVolume]:
    """The tetrahedra of the first arguments, if they are on a device."""
    if not isinstance(mesh, DeviceVolume):
        return None
    if cells is not None:
        raise TypeError("give a DeviceVolume alone, or points and triangles: not tetrahedra with triangles")
    all_there(mesh._held(), "the volume mesh")
    return mesh


def all_there(arrays: Dict[str, Any], mesh: str) -> None:
    """Refuses arrays of the host among those of a device."""
    there = [name for name, array in arrays.items() if check.is_device_array(array)]
    here = [name for name in arrays if name not in there]
    if here:
        raise ValueError(
            f"{there[0] if there else mesh} is in a device's memory and {here[0]} is not: copy one of them, such as by "
            "trioxide.DeviceArray.copy_of or .numpy()"
        )


def chosen(value: Any, name: str, count: int, element: str, device: Device) -> DeviceArray:
    """Some of the elements of a mesh on a device: flags or ids there, or of the host, which are copied there."""
    if check.is_device_array(value):
        return taken(value, name, "flags", device)
    return DeviceArray.copy_of(check.flags(value, name, count, element), device)


def lone(surface: DeviceSurface, function: str, remedy: str, *names: str) -> None:
    """Refuses arrays that a function does not carry on a device."""
    for name in names:
        if getattr(surface, name) is not None:
            raise ValueError(f"{function} does not carry {name} on a device: {remedy}")


@lru_cache(maxsize=None)
def _names(family: str) -> Tuple[str, ...]:
    return tuple(option["name"] for option in native.options(family))


def options_of(family: str, given: Dict[str, Any]) -> Dict[str, Any]:
    """The options of a family among a function's arguments: the native part knows which they are, and what they may be."""
    return {name: given[name] for name in _names(family)}


def noted(result: Dict[str, Any]) -> Dict[str, Any]:
    """The result of a family, whose notes become warnings."""
    for note in result.pop("notes"):
        warn(note)
    return result


def known(value: Any, name: str, words: Sequence[str]) -> Any:
    if value not in words:
        raise ValueError(f"{name}={value!r} is not known: it is {', '.join(words)}")
    return value


def floats(values: Any, name: str, count: Optional[int] = None) -> List[float]:
    """Numbers, `count` of them."""
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        raise TypeError(f"{name} needs numbers, not {values!r}") from None
    if count is not None and len(numbers) != count:
        raise ValueError(f"{name} has {len(numbers)} numbers: {count} are needed")
    return numbers


def whole(value: Any, name: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """An integer within bounds."""
    try:
        if isinstance(value, bool):
            raise AttributeError
        number = int(value.__index__())
    except AttributeError:
        raise TypeError(f"{name} is {value!r}: an integer is needed") from None
    if not least <= number <= most:
        raise ValueError(f"{name} is {number}: it is {least} or more" + (f", and {most} at most" if number > most else ""))
    return number


def with_triangles(mesh: Mesh) -> Mesh:
    """The mesh, which is no cloud."""
    if mesh.triangles is None and mesh.offsets is None:
        raise ValueError("the mesh has no triangles: give points and triangles, or triangulate the points by trioxide.triangulate")
    return mesh
