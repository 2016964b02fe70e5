"""Makes polygonal meshes, and solves Poisson's problem on them by virtual elements: the error falls with the mesh.

    python polygons_to_solution.py [solution.vtu]
"""

import sys

import trioxide

for n in (500, 2_000, 8_000, 32_000):
    triangles = trioxide.generate("random", n, seed=1)
    polygons = trioxide.polylla(triangles)
    solution = trioxide.vem(polygons)
    print(
        f"{len(triangles.triangles)} triangles, {polygons.counts['polygons']} polygons: "
        f"error {solution.error:.2e} at {solution.unknowns} vertices, {solution.iterations} iterations"
    )

polygons.point_data["u"] = solution.values
polygons.point_data["error"] = solution.values - solution.exact
trioxide.write(sys.argv[1] if len(sys.argv) > 1 else "solution.vtu", polygons)
