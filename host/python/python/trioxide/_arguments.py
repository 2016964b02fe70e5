"""Arrays as the native part takes them: checked, converted without loss, never changed.

Coordinates become float64, ids uint32, tags int32, flags uint8. Each function copies once more into memory of its own before it starts,
so that no array has to stay as it is meanwhile.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Sequence, Tuple

import numpy as np

from ._trioxide import DeviceArray

#: No vertex has this id or one above it.
MOST_ID = 2**32 - 2
_KINDS = {"U": "text", "S": "bytes", "c": "complex numbers", "V": "records", "M": "dates", "m": "times"}
SWAPPED = "points come first, then the ids of the vertices: are both swapped?"


def is_device_array(value: Any) -> bool:
    """Whether the array is in a device's memory: a GPU's, or a `DeviceArray`."""
    if isinstance(value, np.ndarray):
        return False
    if isinstance(value, DeviceArray):
        return True
    if hasattr(value, "__dlpack_device__"):
        kind = int(value.__dlpack_device__()[0])
        return kind in (2, 13)  # kDLCUDA, kDLCUDAManaged
    try:
        return hasattr(value, "__cuda_array_interface__")
    except Exception:  # noqa: BLE001 - a property of another package
        return False


def host_array(value: Any, name: str) -> np.ndarray:
    """The argument as an array of numbers in host memory.

    >>> host_array([[0, 1, 2]], "triangles").shape
    (1, 3)
    >>> host_array(["a"], "points")
    Traceback (most recent call last):
    TypeError: points: an array of numbers is needed, not one of text
    """
    if value is None:
        raise TypeError(f"{name} is None: give an array")
    if isinstance(value, (dict, set, frozenset)) or hasattr(value, "__next__"):
        raise TypeError(f"{name} is a {type(value).__name__}: give an array or a list")
    if is_device_array(value):
        raise TypeError(
            f"{name} is in a device's memory, where a host array is needed: copy it (cupy: .get(), torch: .cpu(), trioxide: .numpy())"
        )
    try:
        array = np.asanyarray(value)
    except ValueError:
        raise ValueError(f"{name} is no array: its rows have different lengths") from None
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            raise ValueError(f"{name} is masked: fill or drop the masked values first")
        array = array.data
    array = np.asarray(array)
    if array.dtype.kind not in "biuf" and array.dtype != object:
        remedy = "; trioxide.read reads a file" if array.dtype.kind in "US" and array.ndim == 0 else ""
        kind = _KINDS.get(array.dtype.kind, array.dtype.name)
        raise TypeError(f"{name}: an array of numbers is needed, not one of {kind}{remedy}")
    if array.dtype == object:
        raise TypeError(
            f"{name} is an array of objects, or a {type(value).__name__}: give an array of numbers; if its objects are numbers, by "
            "astype(float) or astype(int)"
        )
    return array


def _contiguous(array: np.ndarray, dtype: Any) -> np.ndarray:
    return np.require(array, dtype=dtype, requirements=["C", "A"])


def _lossless(array: np.ndarray, dtype: Any, name: str) -> np.ndarray:
    """As floats of this type; refused where a number changes."""
    with np.errstate(over="ignore"):
        converted = _contiguous(array, dtype)
    # NumPy calls 64-bit integers safe as float64, which they are not.
    is_exact = np.can_cast(array.dtype, dtype, "safe") and not (array.dtype.kind in "iu" and array.dtype.itemsize > 4)
    if not is_exact:
        same = converted.astype(array.dtype) == array
        if array.dtype.kind == "f":
            same |= np.isnan(array)
        if not same.all():
            first = tuple(int(i) for i in np.argwhere(~same)[0])
            raise ValueError(
                f"{name}{list(first)} is {array[first]!r}, which {np.dtype(dtype).name} does not hold: round it before"
            )
    return converted


def _place(index: Sequence[Any]) -> str:
    return "[" + ", ".join(str(int(i)) for i in index) + "]"


def _table(array: np.ndarray, name: str, columns: Tuple[int, ...], what: str) -> np.ndarray:
    """An array of rows of one of these lengths; an empty one has the first."""
    if array.size == 0 and array.ndim in (1, 2) and (array.ndim == 1 or array.shape[0] == 0):
        return array.reshape(0, columns[0])
    if array.ndim != 2 or array.shape[1] not in columns:
        needed = " or ".join(f"(n, {count})" for count in sorted(columns))
        turned = array.ndim == 2 and array.shape[0] in columns
        raise ValueError(
            f"{name} has the shape {array.shape}: {what} are rows, {needed}" + (": transpose it" if turned else "")
        )
    return array


def points(value: Any, name: str = "points") -> np.ndarray:
    """Coordinates as (n, 3) float64; of (n, 2) z is 0.

    >>> points([[1, 2]])
    array([[1., 2., 0.]])
    >>> points(np.zeros((3, 5)))
    Traceback (most recent call last):
    ValueError: points has the shape (3, 5): coordinates are rows, (n, 2) or (n, 3): transpose it
    """
    array = host_array(value, name)
    if array.dtype.kind == "b":
        raise TypeError(f"{name} is an array of bool: coordinates are numbers")
    array = _table(array, name, (3, 2), "coordinates")
    converted = _lossless(array, np.float64, name)
    if converted.shape[1] == 2:
        converted = np.concatenate([converted, np.zeros((len(converted), 1))], axis=1)
    return converted


def ids(value: Any, name: str, columns: int = 0) -> np.ndarray:
    """Vertex ids as uint32: (n, columns), or a list for 0 columns.

    >>> ids(np.array([[0, 1, -1]]), "triangles", 3)
    Traceback (most recent call last):
    ValueError: triangles[0, 2] is -1: ids run from 0 to 4294967294
    >>> ids(np.array([[0.0, 1.0, 2.0]]), "triangles", 3)
    Traceback (most recent call last):
    TypeError: triangles is an array of float64: ids are integers; points come first, then the ids of the vertices: are both swapped?
    """
    array = host_array(value, name)
    if array.size == 0:
        # NumPy gives empty lists the type float64.
        array = array.astype(np.uint32)
    elif array.dtype.kind == "b":
        raise TypeError(f"{name} is an array of bool: ids are integers")
    elif array.dtype.kind == "f":
        swapped = f"; {SWAPPED}" if columns > 2 else ""
        raise TypeError(f"{name} is an array of {array.dtype.name}: ids are integers{swapped}")
    if columns:
        array = _table(array, name, (columns,), "ids")
    elif array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}: a list of ids is needed, (n,)")
    if array.dtype != np.uint32 and array.size:
        for extreme in (array.argmin(), array.argmax()):
            place = np.unravel_index(extreme, array.shape)
            if not 0 <= int(array[place]) <= MOST_ID:
                raise ValueError(f"{name}{_place(place)} is {int(array[place])}: ids run from 0 to {MOST_ID}")
    return _contiguous(array, np.uint32)


def offsets(value: Any, name: str, end: int, end_name: str) -> np.ndarray:
    """Starts of lists and the end of the last, as uint32: they ascend from 0 to `end`."""
    array = ids(value, name)
    if len(array) == 0 or array[0] != 0 or array[-1] != end or (np.diff(array.astype(np.int64)) < 0).any():
        raise ValueError(
            f"{name} must ascend from 0 to len({end_name}), which is {end}, with one entry more than there are elements"
        )
    return array


def tags(value: Any, name: str, length: int, element: str) -> np.ndarray:
    """Integers as int32, one for each element."""
    array = host_array(value, name)
    if array.size == 0:
        array = array.astype(np.int32).reshape(-1)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} is an array of {array.dtype.name}: integers are needed")
    if array.shape != (length,):
        raise ValueError(f"{name} has the shape {array.shape}: one for each {element} is needed, ({length},)")
    if array.size and not (-(2**31) <= int(array.min()) and int(array.max()) < 2**31):
        raise ValueError(f"{name} has numbers beyond 32 bits")
    return _contiguous(array, np.int32)


def flags(value: Any, name: str, length: int, element: str) -> np.ndarray:
    """Truth values as uint8: one for each element, or the ids of those that are true.

    >>> flags([2], "fixed", 4, "vertex")
    array([0, 0, 1, 0], dtype=uint8)
    >>> flags(np.array([True]), "fixed", 4, "vertex")
    Traceback (most recent call last):
    ValueError: fixed has the shape (1,): one flag for each vertex is needed, (4,), or the ids of some
    """
    array = host_array(value, name)
    if array.dtype.kind == "b":
        if array.shape != (length,):
            raise ValueError(
                f"{name} has the shape {array.shape}: one flag for each {element} is needed, ({length},), or the ids of some"
            )
        return _contiguous(array, np.uint8)
    if array.dtype.kind == "f" and array.size:
        raise TypeError(f"{name} is an array of {array.dtype.name}: flags are booleans, and ids are integers")
    chosen = ids(array, name)
    if len(chosen) and int(chosen.max()) >= length:
        raise ValueError(f"{name} names {element} {int(chosen.max())}: there are {length}")
    result = np.zeros(length, np.uint8)
    result[chosen] = 1
    return result


def numbers(value: Any, name: str) -> np.ndarray:
    """A list of floats."""
    array = host_array(value, name)
    if array.ndim != 1:
        raise ValueError(f"{name} has the shape {array.shape}: a list of numbers is needed")
    return _lossless(array, np.float64, name)


def rows(value: Any, name: str, columns: int, length: int, dtype: Any = np.float64) -> np.ndarray:
    """Numbers of vertices: (length, columns)."""
    array = _table(host_array(value, name), name, (columns,), "these")
    if len(array) != length:
        raise ValueError(f"{name} has {len(array)} rows: one for each vertex is needed, {length}")
    if np.dtype(dtype).kind == "f":
        return _lossless(array, dtype, name)
    if array.dtype != dtype:
        raise TypeError(f"{name} is an array of {array.dtype.name}: {np.dtype(dtype).name} is needed")
    return _contiguous(array, dtype)


_FIELD_TYPES = tuple(np.dtype(t) for t in ("f8", "f4", "i4", "u4", "i8", "u8", "u1", "i1", "u2", "i2"))


def fields(value: Optional[Dict[str, Any]], name: str, length: int) -> Dict[str, np.ndarray]:
    """Arrays by their names, with a row for each element."""
    if value is None:
        return {}
    result = {}
    for key, array in dict(value).items():
        place = f"{name}[{key!r}]"
        array = host_array(array, place)
        if array.dtype.kind == "b":
            array = array.astype(np.uint8)
        native = array.dtype.newbyteorder("=")
        if native not in _FIELD_TYPES:
            raise TypeError(f"{place} is an array of {array.dtype.name}: numbers of 64 bits at most are needed")
        if array.ndim not in (1, 2) or len(array) != length:
            raise ValueError(f"{place} has the shape {array.shape}: ({length},) or ({length}, n) is needed")
        if array.ndim == 2 and array.shape[1] == 0:
            raise ValueError(f"{place} has rows without numbers")
        result[str(key)] = _contiguous(array, native)
    return result
