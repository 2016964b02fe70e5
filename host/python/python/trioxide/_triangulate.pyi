import os
from typing import Any, Optional, TypedDict, Union, overload

from typing_extensions import Unpack

from ._device import DeviceArray, DeviceLike
from ._progress import Progress
from ._resident import DeviceTriangulated
from ._results import Triangulated

class _Triangulate(TypedDict, total=False):
    device: DeviceLike
    markers: Any
    holes: Any
    regions: Any
    angle: Optional[float]
    area: Optional[float]
    max_vertices: Union[None, int, str]
    convex: bool
    duplicates: str
    follow_references: str
    progress: Progress

@overload
def triangulate(outline: DeviceArray, **options: Unpack[_Triangulate]) -> DeviceTriangulated: ...
@overload
def triangulate(outline: Any, segments: Any = None, **options: Unpack[_Triangulate]) -> Triangulated: ...
