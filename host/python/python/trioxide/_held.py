"""Arrays by their names: what meshes in host memory share, and what those in a device's memory do."""

from __future__ import annotations

import html
from typing import Any, Dict, List, Tuple, Type, TypeVar

import numpy as np

from . import _arguments as check
from . import _trioxide as native
from ._device import Device, DeviceArray, of_array


def within(array: np.ndarray, name: str, count: int) -> np.ndarray:
    """Refuses an id of a vertex that is not there."""
    if array.size and int(array.max()) >= count:
        place = np.unravel_index(int(array.argmax()), array.shape)
        from_one = int(array.max()) == count and int(array.min()) > 0
        remedy = ", and ids begin at 0: subtract 1, if these begin at 1" if from_one else ""
        raise ValueError(f"{name}{check._place(place)} is {int(array.max())}: there are {count} points{remedy}")
    return array


_Self = TypeVar("_Self", bound="Held")


#: Most vertices or elements of a mesh that a notebook shows by itself: the page lies in the notebook's file.
_SHOWN = 20_000


def frame(page: str) -> str:
    """A page as a part of a notebook: in a frame, whose scripts reach nothing outside of it."""
    style = "width: 100%; height: 34rem; border: 1px solid #ddd"
    return f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" style="{style}"></iframe>'


_FIELDS = ("point_data", "cell_data", "side_data")


class Held:
    """Arrays by their names, checked where they are used, and how they are shown. No other attribute can be set: one that is misspelt
    would be taken in silence."""

    __slots__: Tuple[str, ...] = (*_FIELDS, "points", "offsets", "vertices", "regions", "__weakref__")

    #: The arrays but for the fields.
    _names: Tuple[str, ...] = ()
    #: The native part's word for it.
    _kind: str = "surface"
    points: Any
    offsets: Any
    vertices: Any
    point_data: Dict[str, np.ndarray]
    cell_data: Dict[str, np.ndarray]
    side_data: Dict[str, np.ndarray]

    def _hold(self, given: Dict[str, Any]) -> None:
        """Takes the arguments of a constructor, and checks them."""
        for name in self._names:
            setattr(self, name, given[name])
        for name in _FIELDS:
            setattr(self, name, given[name] or {})
        self._check()

    @classmethod
    def _of(cls: Type[_Self], arrays: Dict[str, Any]) -> _Self:
        """A mesh of the native part's arrays, which are right."""
        mesh = cls.__new__(cls)
        for name in cls._names:
            setattr(mesh, name, arrays.get(name))
        for name in _FIELDS:
            setattr(mesh, name, arrays.get(name) or {})
        return mesh

    def _check(self) -> None:
        """Replaces the arrays by checked ones."""
        for name, array in self._arrays().items():
            setattr(self, name, array)

    def _held(self) -> Dict[str, Any]:
        """The arrays and the fields."""
        return {name: getattr(self, name) for name in (*self._names, *_FIELDS)}

    def _arrays(self) -> Dict[str, Any]:
        """Checked arrays for the native part: they may have been replaced since the mesh was made."""
        raise NotImplementedError

    def _elements(self, simplices: str, corners: int) -> Tuple[Dict[str, Any], int, int]:
        """Points with simplices, or with offsets and vertices; the numbers of vertices and elements."""
        points = check.points(self.points)
        count, elements = len(points), 0
        found: Dict[str, Any] = {"points": points, simplices: None, "offsets": None, "vertices": None}
        given = getattr(self, simplices)
        if given is not None:
            if self.offsets is not None:
                raise ValueError(f"a mesh has {simplices} or offsets, not both")
            found[simplices] = within(check.ids(given, simplices, corners), simplices, count)
            elements = len(found[simplices])
        elif self.offsets is not None or self.vertices is not None:
            if self.offsets is None or self.vertices is None:
                raise ValueError("lists of vertices are given by both, offsets and vertices")
            found["vertices"] = within(check.ids(self.vertices, "vertices"), "vertices", count)
            found["offsets"] = check.offsets(self.offsets, "offsets", len(found["vertices"]), "vertices")
            elements = len(found["offsets"]) - 1
        return found, count, elements

    def _fields(self, points: int, cells: int, sides: int) -> Dict[str, Any]:
        return {name: check.fields(getattr(self, name), name, count) for name, count in zip(_FIELDS, (points, cells, sides))}

    def _counts(self) -> List[Tuple[str, Any]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {name}" for name, count in self._counts())
        return f"<trioxide.{type(self).__name__}: {counts}>"

    def _repr_html_(self) -> str:
        rows = [(name, f"{count}") for name, count in self._counts()]
        if len(self.points):
            low, high = self.points.min(axis=0), self.points.max(axis=0)
            rows.append(("from", ", ".join(f"{x:g}" for x in low)))
            rows.append(("to", ", ".join(f"{x:g}" for x in high)))
        for place, arrays in (("point data", self.point_data), ("cell data", self.cell_data)):
            for name, array in arrays.items():
                rows.append((f"{place}: {name}", f"{array.dtype} {array.shape}"))
        cells = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
        table = f"<table><caption>trioxide.{type(self).__name__}</caption>{cells}</table>"
        return table + self._shown()

    def _shown(self) -> str:
        """The mesh to turn and to zoom, or a sentence instead."""
        if max(count for _, count in self._counts()) > _SHOWN:
            return "<p>A large mesh: <code>trioxide.view(mesh)</code> shows it.</p>"
        try:
            page = native.view([(type(self).__name__, self._kind, self._arrays())], {"max_cells": _SHOWN}, None)
        except ValueError as error:
            return f"<p>Not shown: {html.escape(str(error))}</p>"
        return frame(page)

    def to_pyvista(self) -> Any:
        raise NotImplementedError

    def plot(self, **options: Any) -> Any:
        """Shows the mesh by PyVista, with the options of `pyvista.DataSet.plot`."""
        return self.to_pyvista().plot(**options)


def copies(arrays: Dict[str, Any], kind: Any, device: Device) -> Dict[str, Any]:
    """The arrays of a mesh that `kind` has, in the memory of a device."""
    return {name: DeviceArray.copy_of(arrays[name], device) for name in kind._arrays if arrays.get(name) is not None}


def on_host(array: Any) -> Any:
    """A copy in host memory, of an array of any package."""
    if array is None:
        return None
    if isinstance(array, DeviceArray):
        return array.numpy()
    for name in ("get", "cpu"):  # CuPy, PyTorch
        if hasattr(array, name):
            return np.asarray(getattr(array, name)())
    if hasattr(array, "copy_to_host"):
        return array.copy_to_host()
    if check.is_device_array(array) and not hasattr(array, "__array__"):
        return DeviceArray.of(array, of_array(array, "auto")).numpy()
    return np.asarray(array)


class OnDevice:
    """Arrays of a device: those that trioxide made have `__dlpack__`, `__cuda_array_interface__` and `.numpy()`."""

    __slots__: Tuple[str, ...] = ()
    #: The arrays that make the mesh.
    _arrays: Tuple[str, ...] = ()

    def _names(self) -> List[str]:
        return [name for kind in type(self).__mro__[::-1] for name in getattr(kind, "__slots__", ())]

    def __repr__(self) -> str:
        found = [(name, getattr(self, name)) for name in self._names()]
        arrays = ", ".join(f"{name} {tuple(array.shape)}" for name, array in found if hasattr(array, "shape"))
        return f"<trioxide.{type(self).__name__}: {arrays}>"

    def to_host(self) -> Any:
        """A copy in host memory."""
        raise NotImplementedError

    def _held(self) -> Dict[str, Any]:
        """The arrays that are there."""
        return {name: getattr(self, name) for name in self._arrays if getattr(self, name) is not None}

    def _copied(self) -> Dict[str, Any]:
        """Copies of them in host memory."""
        return {name: on_host(array) for name, array in self._held().items()}
