"""Refines a mesh round a front, and takes a field along.

    python follow_a_front.py [picture.png]
"""

import sys

import numpy as np

import trioxide

mesh = trioxide.generate("random", 2_000, seed=1)


def front(points):
    """Steep across the circle of radius 0.3."""
    return np.tanh(40 * (np.hypot(points[:, 0] - 0.5, points[:, 1] - 0.5) - 0.3))


field = front(mesh.points)
for round_ in range(6):
    # Triangles across which the field jumps.
    jump = np.ptp(field[mesh.triangles], axis=1)
    marked = jump > 0.25
    if not marked.any():
        break
    fine = trioxide.refine(mesh, mark=marked)
    field = fine.prolongation @ field
    error = np.abs(field - front(fine.points)).max()
    print(f"round {round_}: {marked.sum()} marked, {len(fine.triangles)} triangles, the field taken along is off by {error:.3f} at most")
    # Where the field is known, it is measured again.
    mesh, field = trioxide.Mesh(fine.points, fine.triangles), front(fine.points)

trioxide.render(mesh, values=field, path=sys.argv[1] if len(sys.argv) > 1 else "front.png")
