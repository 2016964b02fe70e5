"""Nested levels of polygons and polyhedra."""

from __future__ import annotations

from typing import Any, List

import numpy as np

from ._resident import csr


class Nested:
    """What polygons and polyhedra with nested levels have."""

    __slots__ = ()
    level_parents: List[np.ndarray]

    def prolongation(self, level: int) -> Any:
        """The matrix that gives each piece of the level before `level`, from 1 on, the value of its piece: a SciPy CSR array.

        >>> import trioxide
        >>> polygons = trioxide.polylla(trioxide.generate("grid", 81), levels=1, device="cpu")
        >>> polygons.prolongation(1).shape == (64, polygons.counts["pieces"])
        True
        """
        if not 1 <= level <= len(self.level_parents):
            raise ValueError(f"level is {level}, but there are {len(self.level_parents)} levels")
        parents = self.level_parents[level - 1]
        return csr(np.arange(len(parents) + 1), parents, np.ones(len(parents)), int(parents.max()) + 1)
