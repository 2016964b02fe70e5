"""Times of trioxide on the CPU beside other packages, on the same arrays: those that are installed.

    python peers.py [vertices] [runs]

Each time is the median of the runs (5), by the wall clock and by the processor time of all threads: the second hardly depends on what
else the machine does. Preparing a package's own mesh is not counted.
"""

import os
import statistics
import sys
import time

import numpy as np

import trioxide

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
scan = trioxide.generate("scan", n, seed=1)
soup = scan.points[scan.triangles.reshape(-1)]
faces = np.arange(len(soup)).reshape(-1, 3)
plane = trioxide.generate("random", n, seed=1)
marked = np.hypot(*(plane.points[plane.triangles].mean(axis=1)[:, :2] - 0.5).T) < 0.2
epsilon = 1e-6


def measure(task, name, prepare, work):
    """Medians of the runs; `prepare` is not counted."""
    walls, processors, result = [], [], None
    for _ in range(runs):
        try:
            given = prepare()
        except ImportError as error:
            print(f"| {task} | {name} | not installed: {error} | |", flush=True)
            return
        wall, processor = time.perf_counter(), time.process_time()
        result = work(given)
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    wall, processor = statistics.median(walls), statistics.median(processors)
    print(f"| {task} | {name}{counted(result)} | {wall:.3f} s | {processor:.3f} s |", flush=True)


def counted(result):
    """The number of vertices of a result, so that it is seen whether packages did the same."""
    for attribute in ("points", "vertices", "p"):
        array = getattr(result, attribute, None)
        if array is not None and not callable(array):
            shape = np.asarray(array).shape
            return f", {max(shape) if attribute == 'p' else shape[0]} vertices"
    return ""


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


def merged_by_trimesh(mesh):
    mesh.merge_vertices(digits_vertex=6)
    return mesh


def smoothed_by_trimesh(mesh):
    import trimesh

    return trimesh.smoothing.filter_laplacian(mesh, lamb=1.0, iterations=20, volume_constraint=False)


def nothing():
    return None


cpu = trioxide.Device("cpu")
print(f"{n} vertices, {runs} runs, {cpu.name}, load {' '.join(f'{x:.1f}' for x in os.getloadavg())}\n")
print("| task | package | wall | processor |\n| --- | --- | --- | --- |")
measure("merge vertices", "trioxide", nothing, lambda _: trioxide.weld(soup, faces, epsilon=epsilon, device=cpu))
measure("merge vertices", "PyVista clean", lambda: polydata(soup, faces), lambda m: m.clean(tolerance=epsilon, absolute=True))
measure("merge vertices", "Open3D merge_close_vertices", lambda: open3d_mesh(soup, faces), lambda m: m.merge_close_vertices(epsilon))
measure("merge vertices", "trimesh merge_vertices", lambda: of_trimesh(soup, faces), merged_by_trimesh)
measure("smooth, 20 sweeps", "trioxide", nothing, lambda _: trioxide.smooth(scan, max_iterations=20, device=cpu))
measure(
    "smooth, 20 sweeps",
    "PyVista smooth",
    lambda: polydata(scan.points, scan.triangles),
    lambda m: m.smooth(n_iter=20, relaxation_factor=1.0),
)
measure(
    "smooth, 20 sweeps",
    "Open3D filter_smooth_simple",
    lambda: open3d_mesh(scan.points, scan.triangles),
    lambda m: m.filter_smooth_simple(20),
)
measure("smooth, 20 sweeps", "trimesh filter_laplacian", lambda: of_trimesh(scan.points, scan.triangles), smoothed_by_trimesh)
measure("refine a disk", "trioxide", nothing, lambda _: trioxide.refine(plane, mark=marked, device=cpu))
measure("refine a disk", "scikit-fem refined", skfem_mesh, lambda m: m.refined(np.flatnonzero(marked)))
