"""Times of trioxide on the CPU beside other packages, on the same arrays: those that are installed.

    python peers.py [vertices]
"""

import sys
import time

import numpy as np

import trioxide

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
scan = trioxide.generate("scan", n, seed=1)
soup = scan.points[scan.triangles.reshape(-1)]
faces = np.arange(len(soup)).reshape(-1, 3)
plane = trioxide.generate("random", n, seed=1)
marked = np.hypot(*(plane.points[plane.triangles].mean(axis=1)[:, :2] - 0.5).T) < 0.2
epsilon = 1e-6


def measure(task, name, prepare, work):
    """The best of three runs; `prepare` is not counted."""
    try:
        given = [prepare() for _ in range(3)]
    except ImportError as error:
        print(f"| {task} | {name} | not installed: {error} |")
        return
    times = []
    for value in given:
        start = time.perf_counter()
        work(value)
        times.append(time.perf_counter() - start)
    print(f"| {task} | {name} | {min(times):.3f} s |")


def polydata(points, triangles):
    import pyvista

    return pyvista.PolyData.from_regular_faces(points, triangles.astype(np.int64))


def open3d_mesh(points, triangles):
    import open3d

    vector = open3d.utility
    return open3d.geometry.TriangleMesh(vector.Vector3dVector(points), vector.Vector3iVector(triangles.astype(np.int32)))


def of_trimesh(points, triangles):
    import trimesh

    return trimesh.Trimesh(points, triangles.astype(np.int64), process=False)


def skfem_mesh():
    import skfem

    return skfem.MeshTri(plane.points[:, :2].T.copy(), plane.triangles.T.astype(np.int64))


cpu = trioxide.Device("cpu")
nothing = lambda: None  # noqa: E731
print(f"| task, {n} vertices | package | time |\n| --- | --- | --- |")
measure("merge vertices", "trioxide", nothing, lambda _: trioxide.weld(soup, faces, epsilon=epsilon, device=cpu))
measure("merge vertices", "PyVista clean", lambda: polydata(soup, faces), lambda m: m.clean(tolerance=epsilon, absolute=True))
measure("merge vertices", "Open3D", lambda: open3d_mesh(soup, faces), lambda m: m.merge_close_vertices(epsilon))
measure("merge vertices", "trimesh", lambda: of_trimesh(soup, faces), lambda m: m.merge_vertices(digits_vertex=6))
measure("smooth, 20 sweeps", "trioxide", nothing, lambda _: trioxide.smooth(scan, max_iterations=20, device=cpu))
measure(
    "smooth, 20 sweeps",
    "PyVista smooth",
    lambda: polydata(scan.points, scan.triangles),
    lambda m: m.smooth(n_iter=20, relaxation_factor=1.0),
)
measure("smooth, 20 sweeps", "Open3D", lambda: open3d_mesh(scan.points, scan.triangles), lambda m: m.filter_smooth_simple(20))


def smooth_by_trimesh(mesh):
    import trimesh

    trimesh.smoothing.filter_laplacian(mesh, lamb=1.0, iterations=20, volume_constraint=False)


measure("smooth, 20 sweeps", "trimesh", lambda: of_trimesh(scan.points, scan.triangles), smooth_by_trimesh)
measure("refine a disk", "trioxide", nothing, lambda _: trioxide.refine(plane, mark=marked, device=cpu))
measure("refine a disk", "scikit-fem", skfem_mesh, lambda m: m.refined(np.flatnonzero(marked)))
