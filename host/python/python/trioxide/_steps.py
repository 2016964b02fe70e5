"""The steps of a chain, by their names: a family's function is one by `@step`."""

from __future__ import annotations

from typing import Any, Callable, Dict, TypeVar

STEPS: Dict[str, Callable[..., Any]] = {}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def step(function: _Function) -> _Function:
    STEPS[function.__name__] = function
    return function
