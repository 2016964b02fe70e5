"""Devices by name: each is opened once."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Dict, Tuple, TypeVar, Union

from ._arguments import SWAPPED
from ._trioxide import Device, DeviceArray

__all__ = ["Device", "DeviceArray", "DeviceLike", "of_array", "on_device", "opened", "run_on", "taken"]

DeviceLike = Union[str, Device]
_Result = TypeVar("_Result")

_OPENED: Dict[Tuple[int, str], Device] = {}
_WARNED = False


def opened(device: DeviceLike) -> Device:
    """The device; "auto" warns once about its fallback to the CPU.

    >>> opened("cpu") is opened("cpu")
    True
    >>> opened("gpu")
    Traceback (most recent call last):
    ValueError: device "gpu" is not known: it is auto, cuda:N or cpu
    """
    global _WARNED
    if isinstance(device, Device):
        return device
    if not isinstance(device, str):
        raise TypeError(f"device is a {type(device).__name__}: give a name such as 'cuda:0', or a trioxide.Device")
    key = (os.getpid(), device)
    found = _OPENED.get(key)
    if found is None:
        found = _OPENED[key] = Device(device)
    if found.fallback is not None and not _WARNED:
        _WARNED = True
        warnings.warn(
            f"device='auto' is the CPU: {found.fallback}. device='cpu' asks for it without this warning.",
            RuntimeWarning,
            stacklevel=4,
        )
    return found


def run_on(device: DeviceLike, work: Callable[[Device], _Result]) -> _Result:
    """The result of `work` on the device. Where the memory of a GPU that "auto" names does not suffice, `work` runs once more on the CPU."""
    on = opened(device)
    try:
        return work(on)
    except MemoryError as error:
        if not (isinstance(device, str) and device == "auto" and on.is_gpu):
            raise
        reason = str(error)
    warnings.warn(f"device='auto' goes on with the CPU: {reason}", RuntimeWarning, stacklevel=3)
    return work(opened("cpu"))


def of_array(array: Any, device: DeviceLike) -> Device:
    """The device for an array of one: "auto" is where the array is."""
    if isinstance(device, str) and device == "auto":
        kind, number = 2, 0
        if hasattr(array, "__dlpack_device__"):
            kind, number = map(int, array.__dlpack_device__())
        return opened("cpu" if kind == 1 else f"cuda:{number}")
    return opened(device)


#: The kind of an array's numbers, by the array's name.
_KINDS = {
    "points": "floats", "normals": "floats", "uvs": "floats", "field": "floats", "colors": "bytes", "triangles": "ids",
    "tetrahedra": "ids", "segments": "ids", "regions": "tags", "markers": "tags",
}  # fmt: skip


def taken(array: Any, name: str, kind: str, device: Device) -> DeviceArray:
    """An array of a device for a function: in place where it has the right type, else converted by its own package, on the device.

    `kind` is "floats", "bytes", "ids", "tags" or "flags".
    """
    try:
        return DeviceArray.of(_converted(array, name, kind), device)
    except (ValueError, BufferError) as error:
        text = str(error)
        raise ValueError(text if text.startswith(name) else f"{name}: {text}") from None
    except RuntimeError as error:
        # PyTorch's, of some versions; others are of the device.
        if "gradient" not in str(error):
            raise
        raise ValueError(f"{name}: {error}") from None


def on_device(device: Device, **arrays: Any) -> Dict[str, DeviceArray]:
    """The arrays that are there, for the native part."""
    return {name: taken(array, name, _KINDS[name], device) for name, array in arrays.items() if array is not None}


_INTEGERS = ("int64", "uint64", "int16", "uint16", "int8", "uint8")


def _converted(array: Any, name: str, kind: str) -> Any:
    if isinstance(array, DeviceArray):
        return array
    number = str(getattr(array, "dtype", "")).rsplit(".", 1)[-1]
    if kind == "floats":
        if number in ("float32", "float16"):
            return _cast(array, "float64")
        if number.startswith(("int", "uint", "bool", "complex")):
            raise TypeError(f"{name} is an array of {number}: coordinates are floats; {SWAPPED}")
        return array
    if kind == "bytes":
        if number not in ("uint8", ""):
            raise TypeError(f"{name} is an array of {number}: uint8 is needed")
        return array
    if number.startswith(("float", "complex")):
        swapped = f"; {SWAPPED}" if name in ("triangles", "tetrahedra") else ""
        wanted = "flags or ids" if kind == "flags" else "integers"
        raise TypeError(f"{name} is an array of {number}: {wanted} are needed{swapped}")
    if number == "bool":
        if kind != "flags":
            raise TypeError(f"{name} is an array of bool: integers are needed")
        return array
    if number in _INTEGERS and hasattr(array, "min"):
        low, high = (int(array.min()), int(array.max())) if array.shape[0] else (0, 0)
        least = -(2**31) if kind == "tags" else 0
        if low < least or high >= 2**31:
            wrong = low if low < least else high
            raise ValueError(f"{name} has {wrong}: numbers run from {least} to {2**31 - 1} in arrays of a device")
        return _cast(array, "int32")
    return array


def _cast(array: Any, kind: str) -> Any:
    if hasattr(array, "astype"):
        return array.astype(kind)
    if hasattr(array, "to"):
        import torch  # type: ignore[import-not-found, unused-ignore]

        return array.to(getattr(torch, kind))
    return array
