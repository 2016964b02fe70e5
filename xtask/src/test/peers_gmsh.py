"""Gmsh, for peers.py: it reads nothing in a process that has VTK's libraries, and gets one of its own for each file.

Arguments: what to do, and its arguments; prints the result as JSON.
"""

import json
import sys
from collections import Counter


def measure(points, lines, faces, cells, regions=None):
    """The same of arrays."""
    def cross(a, b):
        return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    def minus(a, b):
        return (a[0] - b[0], a[1] - b[1], a[2] - b[2])

    def dot(a, b):
        return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]

    size = 0.0
    if cells:
        for a, b, c, d in cells:
            p = points[a]
            size += dot(minus(points[b], p), cross(minus(points[c], p), minus(points[d], p))) / 6
        return dict(points=len(points), cells=len(cells), size=size, regions=regions)
    planar = len({p[2] for p in points}) <= 1
    for face in faces:
        p, area = points[face[0]], (0.0, 0.0, 0.0)
        for b, c in zip(face[1:], face[2:]):
            n = cross(minus(points[b], p), minus(points[c], p))
            area = (area[0] + n[0] / 2, area[1] + n[1] / 2, area[2] + n[2] / 2)
        size += area[2] if planar else dot(area, area) ** 0.5
    return dict(points=len(points), lines=len(lines), faces=len(faces), size=size, regions=regions)


def write_by_gmsh(source, path, order, version, binary):
    gmsh.open(source)
    gmsh.model.mesh.setOrder(int(order))
    gmsh.option.setNumber("Mesh.MshFileVersion", float(version) or 4.1)
    gmsh.option.setNumber("Mesh.Binary", int(binary))
    gmsh.option.setNumber("Mesh.SaveAll", 1)
    gmsh.write(path)
    return {}


def append_by_gmsh(source, plain, path, version, binary):
    """The mesh alone; and the mesh, then two views, each with the mesh once more."""
    gmsh.open(source)
    gmsh.option.setNumber("Mesh.MshFileVersion", float(version))
    gmsh.option.setNumber("Mesh.Binary", int(binary))
    if gmsh.model.getDimension() == 3:
        # Its cells are in no group, and Gmsh saves only elements in groups if there is a group.
        gmsh.model.removePhysicalGroups()
    for name in (plain, path):
        gmsh.write(name)
    tags = gmsh.model.mesh.getNodes()[0]
    for name in ("heat", "load"):
        view = gmsh.view.add(name)
        gmsh.view.addModelData(view, 0, gmsh.model.getCurrent(), "NodeData", tags, [[float(tag)] for tag in tags])
        gmsh.view.write(view, path, append=True)
    return {}


def data_by_gmsh(path):
    """The numbers of each view of nodes, in the order of the nodes."""
    gmsh.open(path)
    found = {}
    for tag in gmsh.view.getTags():
        _, nodes, values, _, _ = gmsh.view.getModelData(tag, 0)
        found[gmsh.view.option.getString(tag, "Name")] = [value[0] for _, value in sorted(zip(nodes, values))]
    return found


def in_groups():
    """Number of elements of the highest dimension in each group, by its name."""
    most, found = gmsh.model.getDimension(), Counter()
    for dimension, group in gmsh.model.getPhysicalGroups(most):
        name = gmsh.model.getPhysicalName(dimension, group) or str(group)
        for entity in gmsh.model.getEntitiesForPhysicalGroup(dimension, group):
            found[name] += sum(map(len, gmsh.model.mesh.getElements(dimension, entity)[1]))
    return found


def write_groups(path, dimension, version, binary, partitions, physicals):
    """Two squares or cubes side by side as the groups `left` and 20, with a named side, divided on request."""
    first = gmsh.model.occ.addRectangle(0, 0, 0, 1, 1)
    second = gmsh.model.occ.addRectangle(1, 0, 0, 1, 1)
    if dimension == "3":
        gmsh.model.occ.extrude([(2, first), (2, second)], 0, 0, 1)
    gmsh.model.occ.fragment(gmsh.model.occ.getEntities(int(dimension)), [])
    gmsh.model.occ.synchronize()
    left, right = gmsh.model.getEntities(int(dimension))
    gmsh.model.addPhysicalGroup(int(dimension), [left[1]], 10, "left")
    gmsh.model.addPhysicalGroup(int(dimension), [right[1]], 20)
    side = gmsh.model.getBoundary([left], oriented=False)[0]
    gmsh.model.addPhysicalGroup(side[0], [side[1]], 7, "wall of it")
    gmsh.option.setNumber("Mesh.MeshSizeMax", 0.4)
    gmsh.model.mesh.generate(int(dimension))
    expected = in_groups()
    if partitions != "1":
        gmsh.option.setNumber("Mesh.PartitionCreatePhysicals", int(physicals))
        gmsh.model.mesh.partition(int(partitions))
    gmsh.option.setNumber("Mesh.MshFileVersion", float(version) or 4.1)
    gmsh.option.setNumber("Mesh.Binary", int(binary))
    if path.endswith(".inp"):
        gmsh.option.setNumber("Mesh.SaveGroupsOfElements", 1)
    gmsh.write(path)
    return expected


def groups_by_gmsh(path):
    gmsh.open(path)
    return in_groups()


def measured_by_gmsh(path):
    gmsh.open(path)
    numbers, coordinates, _ = gmsh.model.mesh.getNodes()
    points = {int(n): tuple(coordinates[3 * i:3 * i + 3]) for i, n in enumerate(numbers)}
    if not points:
        raise RuntimeError("Gmsh read no node")
    place = {n: i for i, n in enumerate(points)}
    found, regions = {1: [], 2: [], 3: []}, Counter()
    for dimension, entity in gmsh.model.getEntities():
        groups = gmsh.model.getPhysicalGroupsForEntity(dimension, entity)
        for kind, _, nodes in zip(*gmsh.model.mesh.getElements(dimension, entity)):
            size = {1: 2, 2: 3, 3: 4, 4: 4, 15: 1, 8: 3, 9: 6}[kind]
            corners = {8: 2, 9: 3}.get(kind, size)
            rows = [[place[int(n)] for n in nodes[i:i + corners]] for i in range(0, len(nodes), size)]
            if dimension:
                found[dimension] += rows
            if len(groups):
                regions[(dimension, int(groups[0]))] += len(rows)
    most = 3 if found[3] else 2
    counts = sorted(n for (dimension, _), n in regions.items() if dimension == most)
    return measure(list(points.values()), found[1], found[2], found[3], counts or None)


if __name__ == "__main__":
    import gmsh

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    work = {
        "version": lambda: gmsh.GMSH_API_VERSION, "read": measured_by_gmsh, "write": write_by_gmsh,
        "append": append_by_gmsh, "data": data_by_gmsh, "write groups": write_groups, "groups": groups_by_gmsh,
    }
    print(json.dumps(work[sys.argv[1]](*sys.argv[2:])))
