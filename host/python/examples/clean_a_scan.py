"""Cleans a scan: double vertices merge, noise goes, the volume stays.

    python clean_a_scan.py [scan.ply] [clean.vtu]
"""

import sys

import numpy as np

import trioxide


def volume(mesh):
    """The volume inside a closed surface."""
    a, b, c = (mesh.points[mesh.triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6


if len(sys.argv) > 1:
    scan = trioxide.read(sys.argv[1])
else:
    # A closed surface as triangles that share no vertices, as .stl files have them.
    whole = trioxide.generate("scan", 20_000, seed=1)
    scan = trioxide.Mesh(whole.points[whole.triangles.reshape(-1)], np.arange(3 * len(whole.triangles)).reshape(-1, 3))

extent = np.ptp(scan.points, axis=0).max()
welded = trioxide.weld(scan, epsilon=1e-6 * extent)
print(f"{len(scan.points)} vertices became {len(welded.points)}; {len(welded.removed)} are gone")

smooth = trioxide.smooth(welded, method="taubin", max_iterations=20)
print(f"volume {volume(welded):.6f}, after {smooth.sweeps} sweeps {volume(smooth):.6f}")
trioxide.write(sys.argv[2] if len(sys.argv) > 2 else "clean.vtu", smooth)
