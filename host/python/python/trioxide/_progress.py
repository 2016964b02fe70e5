"""Progress of a call: to a function, or as a bar of tqdm."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

#: A function of the stage, the unit of its pieces, the pieces that are done and the number of all (0: not known); or True, for a bar.
Progress = Union[None, bool, Callable[[str, str, int, int], Any]]


@contextmanager
def watching(progress: Progress) -> Iterator[Optional[Callable[[str, str, int, int], Any]]]:
    """The function that the native part calls some times a second."""
    if progress is None or progress is False:
        yield None
        return
    if callable(progress):
        yield progress
        return
    if progress is not True:
        raise TypeError("progress is a function of (stage, unit, done, total), or True for a bar")
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        raise ImportError("progress=True needs tqdm (pip install tqdm), or give a function") from None
    with tqdm() as bar:

        def show(stage: str, unit: str, done: int, total: int) -> None:
            bar.set_description_str(stage, refresh=False)
            bar.unit = unit or "it"
            bar.total = total or None
            bar.n = done
            bar.refresh()

        yield show
