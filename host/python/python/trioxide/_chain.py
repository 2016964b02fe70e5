"""Several functions on one mesh."""

from __future__ import annotations

import shlex
from typing import Any, Dict, Iterable, List, Mapping, Tuple, Union

from . import _trioxide as native
from ._decimate import is_several
from ._device import DeviceLike
from ._foreign import of_any
from ._functions import write
from ._progress import Progress
from ._steps import STEPS

Step = Union[str, Tuple[str, Mapping[str, Any]]]


def chain(mesh: Any, steps: Union[str, Iterable[Step]], *, device: DeviceLike = "auto", progress: Progress = None) -> Any:
    """Runs several functions on one mesh: each takes the result of the one before.

    Parameters
    ----------
    mesh : Mesh, VolumeMesh, DeviceSurface, DeviceVolume, or a mesh of another package
        One in a device's memory stays there between the steps.
    steps : str, or list
        The steps of the command line, between colons, ``"weld --epsilon 1e-3 : polylla : -o out.vtu"``; or a list of such steps, each as
        text or as a name with keyword arguments, ``("weld", {"epsilon": 1e-3, "locked": ids})``. Names are triangulate, reorder,
        repair, weld, decimate, smooth, refine, polylla and write; `-o FILE`, as an option of a step or alone, writes the mesh there.
    device : "auto", "cuda:N", "cpu" or Device
        Of all steps on host arrays.
    progress : function or True, optional

    Returns
    -------
    The result of the last step that is no `write`, with its maps; the mesh itself without one.

    Raises
    ------
    ValueError
        A step that is not known, or what a step raises. All steps are read before the first one runs.

    >>> from trioxide import generate
    >>> chain(generate("random", 1000), "weld --epsilon 1e-9 : refine --mark disk:0.5,0.5,0.1 : polylla", device="cpu")
    <trioxide.Polygons: 1075 vertices, 362 polygons>
    """
    texts: Iterable[Step] = _divided(steps) if isinstance(steps, str) else steps
    parsed = [_step(step) for step in texts]
    result = of_any(mesh)
    for name, options, output in parsed:
        if name != "write":
            result = STEPS[name](result, **{"device": device, "progress": progress, **options})
        if output is not None:
            write(output, result.to_host() if hasattr(result, "to_host") else result)
    return result


def _divided(text: str) -> List[str]:
    """The steps between colons that stand alone."""
    steps: List[List[str]] = [[]]
    for word in shlex.split(text):
        if word == ":":
            steps.append([])
        else:
            steps[-1].append(word)
    # A colon may stand before the first, as on the command line.
    return [shlex.join(step) for step in (steps[1:] if len(steps) > 1 and not steps[0] else steps)]


def _step(step: Step) -> Tuple[str, Dict[str, Any], Any]:
    """The name, the keyword arguments and the output of a step.

    >>> _step("smooth --guard --method taubin -o a.ply")
    ('smooth', {'guard': True, 'method': 'taubin'}, 'a.ply')
    """
    if isinstance(step, str):
        name, options = native.step(shlex.split(step))
    else:
        name, options = step[0], dict(step[1])
        if name not in (*STEPS, "write"):
            native.step([name])  # says which there are
    if name == "decimate" and is_several(options.get("keep")):
        raise ValueError("keep gives several meshes, and one is needed here: give one fraction")
    if name == "write" and set(options) != {"output"}:
        raise ValueError("write has one argument, output")
    return name, options, options.pop("output", None)
