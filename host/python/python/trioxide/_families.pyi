from typing import Any, Optional, Sequence, Tuple, TypedDict, Union, overload

import numpy as np
from typing_extensions import Unpack

from ._device import DeviceLike
from ._mesh import DeviceSurface, DeviceVolume, Mesh, VolumeMesh
from ._polyhedra import Polyhedra
from ._progress import Progress
from ._resident import (
    DevicePolygons,
    DeviceRefined,
    DeviceRefinedVolume,
    DeviceSmoothed,
    DeviceSmoothedVolume,
    DeviceWelded,
)
from ._results import Polygons, Refined, RefinedVolume, Smoothed, SmoothedVolume, Welded

Mark = Union[None, str, Tuple[Any, ...], Sequence[int], np.ndarray]
# Arrays of the host.
_Host = Union[np.ndarray, Sequence[Sequence[float]]]

class _Shared(TypedDict, total=False):
    device: DeviceLike
    progress: Progress

class _Planar(_Shared, total=False):
    regions: Any
    segments: Any
    markers: Any

class _Polylla(_Planar, total=False):
    method: str
    repair: Optional[str]
    strict: bool
    convex_pieces: bool
    min_edge: Optional[float]
    unconstrained: bool
    ties: str
    digest: bool
    levels: Union[None, int, str]
    until: Union[None, int, str]
    rule: str
    by: Optional[str]
    merge_faces: bool
    feature_angle: Optional[float]
    flatness: Optional[float]
    precision: str

class _Refine(_Planar, total=False):
    mark: Mark
    threshold: Optional[float]
    dorfler: Optional[float]
    seed: int
    rounds: int
    until_area: Optional[float]
    until_volume: Optional[float]
    max_triangles: Union[None, int, str]
    coarsen_to: Optional[int]
    edges: str
    precision: str

class _Weld(_Shared, total=False):
    epsilon: Optional[float]
    ratio: Optional[float]
    position: str
    keep_degenerate: bool
    normal_tolerance: Optional[float]
    uv_tolerance: Optional[float]
    color_tolerance: Optional[int]
    method: str
    memory_limit: Union[None, int, str]
    lock_boundary: bool
    locked: Any

class _Smooth(_Shared, total=False):
    form: Optional[str]
    layout: str
    blocks: str
    renumber: str
    guard: bool
    untangle: bool
    improve: bool
    keep_going: bool
    weights: str
    method: str
    lambda_: Optional[float]
    mu: Optional[float]
    hc: Optional[Tuple[float, float]]
    boundary: str
    tolerance: float
    max_iterations: int
    fixed: Any
    precision: str

@overload
def polylla(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Polylla]) -> Polygons: ...
@overload
def polylla(mesh: VolumeMesh, **options: Unpack[_Polylla]) -> Polyhedra: ...
@overload
def polylla(mesh: DeviceSurface, **options: Unpack[_Polylla]) -> DevicePolygons: ...
@overload
def polylla(mesh: Any, triangles: Any = None, **options: Unpack[_Polylla]) -> Any: ...
@overload
def refine(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Refine]) -> Refined: ...
@overload
def refine(mesh: VolumeMesh, **options: Unpack[_Refine]) -> RefinedVolume: ...
@overload
def refine(mesh: DeviceSurface, **options: Unpack[_Refine]) -> DeviceRefined: ...
@overload
def refine(mesh: DeviceVolume, **options: Unpack[_Refine]) -> DeviceRefinedVolume: ...
@overload
def refine(mesh: Any, triangles: Any = None, **options: Unpack[_Refine]) -> Any: ...
@overload
def weld(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Weld]) -> Welded: ...
@overload
def weld(mesh: DeviceSurface, **options: Unpack[_Weld]) -> DeviceWelded: ...
@overload
def weld(mesh: Any, triangles: Any = None, **options: Unpack[_Weld]) -> Any: ...
@overload
def smooth(mesh: Union[Mesh, _Host], triangles: Any = None, **options: Unpack[_Smooth]) -> Smoothed: ...
@overload
def smooth(mesh: VolumeMesh, **options: Unpack[_Smooth]) -> SmoothedVolume: ...
@overload
def smooth(mesh: DeviceSurface, **options: Unpack[_Smooth]) -> DeviceSmoothed: ...
@overload
def smooth(mesh: DeviceVolume, **options: Unpack[_Smooth]) -> DeviceSmoothedVolume: ...
@overload
def smooth(mesh: Any, triangles: Any = None, **options: Unpack[_Smooth]) -> Any: ...
