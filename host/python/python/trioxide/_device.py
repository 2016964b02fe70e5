"""Devices by name: each is opened once."""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Tuple, Union

from ._trioxide import Device, DeviceArray

__all__ = ["Device", "DeviceArray", "DeviceLike", "opened", "taken"]

DeviceLike = Union[str, Device]

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


def of_array(array: Any, device: DeviceLike) -> Device:
    """The device for an array of a GPU: "auto" is where the array is."""
    if isinstance(device, str) and device == "auto":
        number = 0
        if hasattr(array, "__dlpack_device__"):
            number = int(array.__dlpack_device__()[1])
        return opened(f"cuda:{number}")
    return opened(device)


def taken(array: Any, name: str, number: str, device: Device) -> DeviceArray:
    """An array of a GPU for a function: in place where it has the right type, else converted by its own package, on the GPU.

    `number` is "float64" or "ids".
    """
    return DeviceArray.of(_converted(array, name, number), device)


def _converted(array: Any, name: str, number: str) -> Any:
    if isinstance(array, DeviceArray):
        return array
    kind = str(getattr(array, "dtype", "")).rsplit(".", 1)[-1]
    if number == "float64":
        if kind in ("float32", "float16"):
            return _cast(array, "float64")
        return array
    if kind in ("int64", "uint64", "int16", "uint16", "int8", "uint8"):
        low, high = (int(array.min()), int(array.max())) if len(array) else (0, 0)
        if low < 0 or high >= 2**31:
            raise ValueError(f"{name} has the id {low if low < 0 else high}: ids run from 0 to {2**31 - 1} in arrays of a GPU")
        return _cast(array, "int32")
    if kind.startswith("float"):
        raise TypeError(
            f"{name} is an array of {kind}: ids are integers; points come first, then the ids of the vertices: are both swapped?"
        )
    return array


def _cast(array: Any, kind: str) -> Any:
    if hasattr(array, "astype"):
        return array.astype(kind)
    if hasattr(array, "to"):
        import torch

        return array.to(getattr(torch, kind))
    return array
