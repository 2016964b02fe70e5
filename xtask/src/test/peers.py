"""Writes and reads every format against other programs; prints a table. Called by `cargo xtask test --peers`.

Arguments: the binary of trioxide, and an empty folder.
"""

import contextlib
import io
import itertools
import json
import os
import struct
import subprocess
import sys
from collections import Counter, defaultdict

from peers_gmsh import measure

script, trioxide, folder = map(os.path.abspath, [__file__, *sys.argv[1:3]])
os.chdir(folder)

peers = {}
for name in ["meshio", "vtk", "laspy", "trimesh"]:
    try:
        peers[name] = __import__(name)
    except Exception as error:  # A missing library of the system too.
        print(f"skipped: {name}: {error}")


def call_gmsh(*words):
    program = os.path.join(os.path.dirname(script), "peers_gmsh.py")
    done = subprocess.run([sys.executable, program, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip() or done.stdout.strip()).splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


try:
    peers["gmsh"] = call_gmsh("version")
except RuntimeError as error:
    print(f"skipped: gmsh: {error}")
if "vtk" in peers:
    vtk = peers["vtk"]
    vtk.vtkObject.GlobalWarningDisplayOff()
if "meshio" in peers or "laspy" in peers:
    import numpy
if "meshio" in peers:
    meshio = peers["meshio"]


def run(*words):
    done = subprocess.run([trioxide, *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def ours(path):
    """What trioxide counts in a file: points, lines, faces, cells, and the sum of areas or volumes."""
    found = json.loads(run("info", path, "--quiet", "--json", "-"))
    if "cells" in found:
        return dict(points=found["vertices"], cells=found["cells"], size=found["volume"], regions=tags(found["regions"]))
    return dict(points=found["vertices"], lines=found["segments"], faces=found["faces"], size=found["area"],
                regions=tags(found["regions"]))


def groups(path):
    """The elements of the highest dimension in each group, by its name, or by its number."""
    found = json.loads(run("info", path, "--quiet", "--json", "-"))
    most = 3 if "cells" in found else 2
    names = {str(group["number"]): group["name"] for group in found["groups"] if group["dimension"] == most}
    return {names.get(number, number): count for number, count in (found["regions"] or {}).items()}


def tags(regions):
    return sorted(int(count) for count in (regions or {}).values())


REGION_NAMES = ("region", "medit:ref", "gmsh:physical", "marker")


def by_meshio(path):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            mesh = meshio.read(path)
        except SystemExit:
            raise RuntimeError("meshio gave up")
    points = [tuple(float(x) for x in p) + (0.0,) * (3 - len(p)) for p in mesh.points]
    by_size, regions = defaultdict(list), Counter()
    dimension = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "polygon": 2, "tetra": 3}
    most = max([dimension[block.type] for block in mesh.cells], default=0)
    names = [name for name in REGION_NAMES if name in mesh.cell_data]
    for i, block in enumerate(mesh.cells):
        by_size[dimension[block.type]] += [tuple(map(int, cell)) for cell in block.data]
        if names and dimension[block.type] == most:
            regions.update(int(tag) for tag in numpy.ravel(mesh.cell_data[names[0]][i]))
    return measure(points, by_size[1], by_size[2], by_size[3], sorted(regions.values()) if names else None)


VTK_READERS = {
    "vtu": "vtkXMLUnstructuredGridReader", "vtp": "vtkXMLPolyDataReader", "vtk": "vtkDataSetReader", "ply": "vtkPLYReader",
    "stl": "vtkSTLReader", "obj": "vtkOBJReader", "off": "vtkOFFReader", "gltf": "vtkGLTFReader", "glb": "vtkGLTFReader",
}


def by_vtk(path):
    reader = getattr(vtk, VTK_READERS[path.rsplit(".", 1)[1]])()
    reader.SetFileName(path)
    if path.endswith(".vtk"):
        reader.ReadAllScalarsOn()
    if path.endswith(".stl"):
        reader.MergingOff()
    reader.Update()
    grid = reader.GetOutputDataObject(0)
    if grid is not None and grid.IsA("vtkMultiBlockDataSet"):
        joined = vtk.vtkCompositeDataGeometryFilter()
        joined.SetInputConnection(reader.GetOutputPort())
        joined.Update()
        grid = joined.GetOutputDataObject(0)
    if grid is None or grid.GetNumberOfPoints() == 0:
        raise RuntimeError("VTK read no point")
    points = [grid.GetPoint(i) for i in range(grid.GetNumberOfPoints())]
    lines, faces, cells, regions = [], [], [], Counter()
    array = grid.GetCellData().GetArray("region")
    for i in range(grid.GetNumberOfCells()):
        cell = grid.GetCell(i)
        ids = [cell.GetPointId(k) for k in range(cell.GetNumberOfPoints())]
        [None, lines, faces, cells][cell.GetCellDimension()].append(ids) if cell.GetCellDimension() else None
        if array is not None:
            regions[(cell.GetCellDimension(), array.GetTuple1(i))] += 1
    most = 3 if cells else 2
    counts = sorted(n for (dimension, _), n in regions.items() if dimension == most)
    found = measure(points, lines, faces, cells, counts if array is not None else None)
    # Each primitive of glTF has its own vertices in VTK.
    return dict(found, points=len(set(points))) if path.endswith(("glb", "gltf")) else found


def by_gmsh(path):
    return call_gmsh("read", path)


def by_laspy(path):
    cloud = laspy.read(path)
    return dict(points=len(cloud.points), lines=0, faces=0, size=0.0, regions=None)


def by_trimesh(path):
    """Each primitive is a geometry, with the vertices of its mesh."""
    scene = peers["trimesh"].load_scene(path, process=False)
    points, faces, regions = [], [], []
    for name in scene.graph.nodes_geometry:
        matrix, geometry = scene.graph[name]
        part = scene.geometry[geometry].copy()
        part.apply_transform(matrix)
        first = len(points)
        points += [tuple(map(float, p)) for p in part.vertices]
        if hasattr(part, "faces"):
            faces += [[first + int(v) for v in face] for face in part.faces]
            regions.append(len(part.faces))
    found = measure(points, [], faces, [], sorted(regions))
    # It joins the vertices of lines as they come, without their indices.
    return dict(found, points=len(set(points)), lines=None)


def differences(mine, theirs, soup):
    wrong = []
    for key in ("points", "lines", "faces", "cells", "size", "regions"):
        a, b = mine.get(key), theirs.get(key)
        if a is None or b is None or (key in ("points", "lines") and soup) or (key == "regions" and not (a and b)):
            continue
        same = abs(a - b) <= 1e-5 * max(1.0, abs(a)) if key == "size" else a == b
        if not same:
            wrong.append(f"{key} {a} and {b}")
    return wrong


rows = []  # format, variant, writer, reader, result


def check(format_name, variant, writer, reader, work):
    try:
        wrong = work()
        result = "equal" if not wrong else "DIFFERENT: " + "; ".join(wrong)
    except Exception as error:
        result = "refused: " + (str(error).splitlines() or [repr(error)])[-1][:150]
    rows.append((format_name, variant, writer, reader, result))


# Parts of well-formed files that a peer cannot read, with the reason: these are no failures.
KNOWN = {
    ("ply", "meshio", "plane"): "meshio takes no property of faces but their vertices in binary files",
    ("msh", "meshio", "tets"): "meshio wants a physical group of every entity in 4.1",
    ("vtu", "meshio", "cloud"): "meshio takes no grid without cells",
    ("vtk", "gmsh", "plane"): "Gmsh loads no binary .vtk file, not even its own",
    ("vtk", "gmsh", "surface"): "Gmsh loads no binary .vtk file, not even its own",
    ("vtk", "gmsh", "tets"): "Gmsh loads no binary .vtk file, not even its own",
}


def main():
    outline = ("8 2 0 0\n0 0 0\n1 4 0\n2 4 4\n3 0 4\n4 1 1\n5 2 1\n6 2 2\n7 1 2\n8 1\n0 0 1 5\n1 1 2 5\n2 2 3 5\n3 3 0 5\n"
               "4 4 5 6\n5 5 6 6\n6 6 7 6\n7 7 4 6\n0\n2\n0 3 3 9\n1 1.5 1.5 4\n")
    with open("outline.poly", "w") as file:
        file.write(outline)
    run("triangulate", "outline.poly", "-o", "plane.vtu", "--angle", "25", "--area", "0.2", "--quiet")
    run("generate", "scan", "-n", "300", "-o", "surface.ply", "--quiet")
    run("generate", "tets", "-n", "200", "-o", "tets.vtu", "--quiet")
    run("generate", "cloud", "-n", "300", "-o", "cloud.ply", "--quiet")
    written(["plane.vtu", "surface.ply", "tets.vtu", "cloud.ply"])
    if "meshio" in peers:
        read_of_meshio()
    if "vtk" in peers:
        read_of_vtk()
    if "gmsh" in peers:
        read_of_gmsh()
    if "laspy" in peers:
        read_of_laspy()
    if "trimesh" in peers:
        read_of_trimesh()
    if "gmsh" in peers:
        named_groups()
    less_usual()
    report()


READS = {
    "meshio": (by_meshio, {"vtu", "vtk", "msh", "mesh", "meshb", "inp", "xdmf", "off", "obj", "ply", "stl"}),
    "vtk": (by_vtk, {"vtu", "vtp", "vtk", "ply", "stl", "obj", "off", "glb", "gltf"}),
    "gmsh": (by_gmsh, {"msh", "vtk", "mesh", "stl"}),
    "laspy": (by_laspy, {"las", "laz"}),
    "trimesh": (by_trimesh, {"glb", "gltf"}),
}
BOTH = [["--encoding", "binary"], ["--encoding", "text"]]
VARIANTS = {
    "vtu": BOTH, "vtp": BOTH, "vtk": BOTH, "ply": BOTH, "stl": BOTH,
    "msh": [a + ["--msh-version", v] for a in BOTH for v in ("2.2", "4.1")],
}


def written(inputs):
    """Files that trioxide writes, read by the others."""
    formats = ["vtu", "vtp", "vtk", "msh", "mesh", "meshb", "inp", "xdmf", "off", "obj", "ply", "stl", "glb", "gltf", "las", "laz"]
    for source, name in itertools.product(inputs, formats):
        stem = source.split(".")[0]
        if name in ("las", "laz") and stem != "cloud":
            continue
        if stem == "cloud" and name not in ("vtu", "vtp", "glb", "gltf", "las", "laz"):
            continue
        if stem == "tets" and name not in ("vtu", "vtk", "msh", "mesh", "meshb", "inp", "xdmf"):
            continue
        for options in VARIANTS.get(name, [[]]):
            variant = " ".join(word for word in options if not word.startswith("--"))
            path = "-".join([stem, *variant.split()]) + f".{name}"
            try:
                run("convert", source, "-o", path, "--quiet", *options)
            except RuntimeError as error:
                rows.append((name, f"{stem} {variant}", "trioxide", "-", f"refused: {error}"))
                continue
            for peer, (read, names) in READS.items():
                if peer in peers and name in names:
                    # Segments are comments in PLY, which other programs skip.
                    soup = name in ("stl", "obj", "ply") or stem == "cloud"
                    check(name, f"{stem} {variant}".strip(), "trioxide", peer,
                          lambda: differences(ours(path), read(path), soup))


def read_of_meshio():
    """Files that meshio writes."""
    with contextlib.redirect_stdout(io.StringIO()):
        plane, tets = meshio.read("plane-binary.vtu"), meshio.read("tets-binary.vtu")
    triangles = numpy.vstack([c.data for c in plane.cells if c.type == "triangle"])
    surface = meshio.Mesh(plane.points, [("triangle", triangles)])
    tetrahedra = numpy.vstack([c.data for c in tets.cells if c.type == "tetra"])
    volume = meshio.Mesh(tets.points, [("tetra", tetrahedra)])
    for name, mesh in (("plane", surface), ("tets", volume)):
        plain = [tuple(map(int, row)) for row in mesh.cells[0].data]
        points = [tuple(map(float, p)) for p in mesh.points]
        expected = measure(points, [], plain if name == "plane" else [], plain if name == "tets" else [])
        kinds = [
            ("vtu", "vtu", dict(binary=True, compression="zlib")), ("vtu", "vtu", dict(binary=True, compression="lzma")),
            ("vtu", "vtu", dict(binary=True, compression=None)), ("vtu", "vtu", dict(binary=False)),
            ("vtk", "vtk", dict(binary=True)), ("vtk", "vtk", dict(binary=False)),
            ("vtk", "vtk42", dict(binary=True)), ("vtk", "vtk42", dict(binary=False)),
            ("msh", "gmsh22", dict(binary=True)), ("msh", "gmsh22", dict(binary=False)),
            ("msh", "gmsh", dict(binary=True)), ("msh", "gmsh", dict(binary=False)),
            ("mesh", "medit", {}), ("meshb", "medit", {}), ("inp", "abaqus", {}),
            ("xdmf", "xdmf", dict(data_format="XML")), ("xdmf", "xdmf", dict(data_format="Binary")),
        ]
        if name == "plane":
            kinds += [("off", "off", {}), ("obj", "obj", {}), ("ply", "ply", dict(binary=True)),
                      ("ply", "ply", dict(binary=False)), ("stl", "stl", dict(binary=True)), ("stl", "stl", dict(binary=False))]
        else:
            kinds += [("node", "tetgen", {})]
        for i, (extension, kind, options) in enumerate(kinds):
            path = f"meshio-{name}-{i}.{extension}"
            variant = f"{name} {kind} " + " ".join(f"{k}={v}" for k, v in options.items())

            def work():
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    try:
                        meshio.write(path, mesh, file_format=kind, **options)
                    except SystemExit:
                        raise RuntimeError("meshio gave up")
                return differences(ours(path), expected, extension == "stl")
            check(extension, variant.strip(), "meshio", "trioxide", work)


def read_of_vtk():
    """Files that VTK writes."""
    for stem, reader_name in (("plane", "vtkXMLPolyDataReader"), ("surface", "vtkXMLPolyDataReader"), ("tets", "vtkXMLUnstructuredGridReader")):
        path = f"{stem}-binary." + ("vtu" if stem == "tets" else "vtp")
        reader = getattr(vtk, reader_name)()
        reader.SetFileName(path)
        reader.Update()
        data = reader.GetOutput()
        expected = ours(path)
        kinds = []
        extension, writer_name = ("vtu", "vtkXMLUnstructuredGridWriter") if stem == "tets" else ("vtp", "vtkXMLPolyDataWriter")
        for compressor, mode in itertools.product((None, "ZLib", "LZ4", "LZMA"), ("ascii", "binary", "base64", "raw")):
            def xml(path, compressor=compressor, mode=mode):
                writer = getattr(vtk, writer_name)()
                writer.SetCompressor(getattr(vtk, f"vtk{compressor}DataCompressor")() if compressor else None)
                writer.SetDataMode({"ascii": 0, "binary": 1}.get(mode, 2))
                writer.SetEncodeAppendedData(mode == "base64")
                return writer
            kinds.append((extension, f"{compressor} {mode}", xml))
        legacy = "vtkUnstructuredGridWriter" if stem == "tets" else "vtkPolyDataWriter"
        for version, kind in itertools.product((42, 51), (1, 2)):
            def old(path, version=version, kind=kind):
                writer = getattr(vtk, legacy)()
                writer.SetFileVersion(version)
                writer.SetFileType(kind)
                return writer
            kinds.append(("vtk", f"{version} {'ascii' if kind == 1 else 'binary'}", old))
        if stem != "tets":
            for name in ("PLY", "STL", "OBJ"):
                kinds.append((name.lower(), "", lambda path, name=name: getattr(vtk, f"vtk{name}Writer")()))
        for i, (extension, variant, make) in enumerate(kinds):
            path = f"vtk-{stem}-{i}.{extension}"

            def work():
                writer = make(path)
                writer.SetFileName(path)
                writer.SetInputData(data)
                if writer.Write() != 1:
                    raise RuntimeError("VTK wrote nothing")
                # STL and PLY hold 32-bit coordinates and no lines.
                found = ours(path)
                if extension in ("ply", "stl", "obj"):
                    found.pop("lines"), found.pop("regions")
                return differences(found, expected, extension == "stl")
            check(extension, f"{stem} {variant}".strip(), "vtk", "trioxide", work)


def read_of_gmsh():
    """Files that Gmsh writes."""
    for stem in ("plane", "tets"):
        for order in (1, 2):
            for extension, version, binary in (
                ("msh", 1.0, 0), ("msh", 2.2, 0), ("msh", 2.2, 1), ("msh", 4.0, 0), ("msh", 4.1, 0), ("msh", 4.1, 1),
                ("vtk", 0, 0), ("vtk", 0, 1), ("mesh", 0, 0), ("inp", 0, 0), ("stl", 0, 0), ("stl", 0, 1), ("off", 0, 0),
            ):
                if extension in ("stl", "off") and (stem == "tets" or order == 2):
                    continue
                path = f"gmsh-{stem}-{order}-{version}-{binary}.{extension}"
                variant = f"{stem} order {order} {version or ''} {'binary' if binary else 'text'}"

                def work():
                    call_gmsh("write", f"{stem}-binary-4.1.msh", path, order, version, binary)
                    found, expected = ours(path), ours(f"{stem}-binary-4.1.msh")
                    if extension in ("stl", "off"):
                        found.pop("lines"), found.pop("regions")
                    return differences(found, expected, extension == "stl")
                check(extension, variant, "gmsh", "trioxide", work)


def named_groups():
    """Groups with and without names: of whole meshes and of partitions that Gmsh writes, and those that trioxide writes."""
    # Gmsh writes 4.0 as text only.
    whole = [("msh", *kind, 1, 0) for kind in ((2.2, 0), (2.2, 1), (4.0, 0), (4.1, 0), (4.1, 1))]
    parts = [("msh", version, binary, 3, physicals)
             for version, binary, physicals in itertools.product((2.2, 4.1), (0, 1), (0, 1))]
    for dimension, kind in itertools.product((2, 3), whole + parts + [("inp", 0, 0, 1, 0)]):
        extension, version, binary, partitions, physicals = kind
        path = "-".join(map(str, ("groups", dimension, *kind[1:]))) + "." + extension
        variant = f"groups of {dimension} dimensions {version or ''} {'binary' if binary else 'text'}"
        if partitions > 1:
            variant += f" {partitions} partitions {'with groups' if physicals else ''}"

        def same(mine, theirs):
            return [] if mine == theirs else [f"{mine} and {theirs}"]

        def work():
            expected = call_gmsh("write groups", path, dimension, version, binary, partitions, physicals)
            return same(groups(path), expected)
        check(extension, variant.strip(), "gmsh", "trioxide", work)
        if partitions > 1 or version != 4.1 or binary:
            continue
        for name, options in [("msh", options) for options in VARIANTS["msh"]] + [("inp", [])]:
            written = "-".join(["groups", str(dimension), "ours", *(w for w in options if w[0] != "-")]) + "." + name
            run("convert", path, written, "--quiet", *options)
            check(name, f"{variant} as {written}", "trioxide", "trioxide", lambda: same(groups(written), groups(path)))
            if name == "msh":
                check(name, f"{variant} as {written}", "trioxide", "gmsh",
                      lambda: same(call_gmsh("groups", written), groups(path)))
            elif "meshio" in peers:
                def sets():
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                        found = meshio.read(written).cell_sets
                    return {n: sum(len(block) for block in blocks if block is not None) for n, blocks in found.items()}
                numbered = {"left": "region_10", "20": "region_20"}
                check(name, f"{variant} as {written}", "trioxide", "meshio",
                      lambda: same({n: sets().get(n) for n in numbered.values()},
                                   {numbered[n]: count for n, count in groups(path).items()}))


def less_usual():
    """Layouts of files that programs write less often."""
    stem = "surface-binary.stl"
    with open(stem, "rb") as whole, open("tail.stl", "wb") as longer:
        longer.write(whole.read() + b"by hand")
    if "gmsh" in peers:
        check("stl", "surface with bytes behind", "gmsh", "trioxide",
              lambda: differences(ours("tail.stl"), by_gmsh("tail.stl"), True))
    labels = [i % 3 for i in range(8)]
    points = [(i & 1, i >> 1 & 1, i >> 2) for i in range(8)]
    with open("labels.vtk", "w") as file:
        file.write("# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 8 double\n")
        file.write("".join(f"{x} {y} {z}\n" for x, y, z in points) + "POLYGONS 2 8\n3 0 1 2\n3 4 5 6\n")
        file.write("POINT_DATA 8\nSCALARS class int 1\nLOOKUP_TABLE default\n" + " ".join(map(str, labels)) + "\n")
    for version, encoding in itertools.product(("2.2", "4.1"), ("text", "binary")):
        path = f"labels-{version}-{encoding}.msh"
        run("convert", "labels.vtk", path, "--msh-version", version, "--encoding", encoding, "--quiet")
        values = {"gmsh": lambda: call_gmsh("data", path)["class"],
                  "meshio": lambda: [float(x) for x in meshio.read(path).point_data["class"]]}
        for peer in peers.keys() & values.keys():
            check("msh", f"labels {version} {encoding}", "trioxide", peer,
                  lambda: [] if values[peer]() == labels else [f"{values[peer]()}"])
    if "gmsh" in peers:
        for stem, (version, binary) in itertools.product(("plane", "tets"), ((2.2, 0), (2.2, 1), (4.1, 0), (4.1, 1))):
            plain, path = (f"{name}-{stem}-{version}-{binary}.msh" for name in ("plain", "appended"))

            def work():
                call_gmsh("append", f"{stem}-binary-4.1.msh", plain, path, version, binary)
                wrong = differences(ours(path), ours(plain), False)
                return wrong + [f"no {name}" for name in ("heat", "load") if name not in run("info", path)]
            check("msh", f"{stem} appended {version} {'binary' if binary else 'text'}", "gmsh", "trioxide", work)
    if "meshio" in peers:
        corners, cells = numpy.array(points, dtype=float), numpy.array([[0, 1, 2], [1, 3, 2], [4, 5, 6], [5, 7, 6]])
        mesh = meshio.Mesh(corners, [("triangle", cells)], cell_data={"MaterialIds": [numpy.array([4, 4, 2, 4])]})
        for extension, options in (("vtu", {}), ("vtk", {}), ("xdmf", dict(data_format="XML"))):
            def work(path=f"materials.{extension}"):
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    meshio.write(path, mesh, **options)
                return differences(ours(path), dict(points=8, faces=4, regions=[1, 3]), False)
            check(extension, "MaterialIds", "meshio", "trioxide", work)


def read_of_laspy():
    """Files that laspy writes, and the same files after trioxide has read and written them, compared by laspy."""
    for extension, (version, point) in itertools.product(("las", "laz"), ((("1.2"), 3), ("1.4", 7))):
        path = f"laspy-{version}.{extension}"

        def work():
            cloud = peers["laspy"].create(point_format=point, file_version=version)
            cloud.x, cloud.y, cloud.z = [1.0, 2.5, 3.0], [0.0, 0.5, -1.0], [0.25, 0.0, 9.0]
            cloud.write(path)
            return differences(ours(path), dict(points=3, lines=0, faces=0), False)
        check(extension, f"{version} points {point}", "laspy", "trioxide", work)
        for to in ("las", "laz"):
            path = f"whole-{version}-{extension}.{extension}"

            def again():
                whole_cloud(version, point).write(path)
                run("convert", path, f"again-{path}.{to}", "--quiet")
                return cloud_differences(*map(peers["laspy"].read, (path, f"again-{path}.{to}")))
            check(extension, f"{version} whole to .{to}", "laspy", "trioxide", again)


def whole_cloud(version, point):
    """A cloud with a unit for each axis, records and extra bytes of each kind."""
    laspy, random = peers["laspy"], numpy.random.default_rng(1)
    header = laspy.LasHeader(version=version, point_format=point)
    header.scales, header.offsets = [0.001, 0.002, 0.25], [500000.5, 5400000.0, -10.125]
    header.global_encoding.gps_time_type = laspy.header.GpsTimeType.STANDARD
    if version == "1.4":
        header.vlrs.append(laspy.VLR("LASF_Projection", 2112, "WKT", b"PROJCS[...]\0"))
        header.global_encoding.wkt = True
    else:
        header.vlrs.append(laspy.VLR("LASF_Projection", 34735, "GeoTIFF", struct.pack("<8H", 1, 1, 0, 1, 3072, 0, 1, 28992)))
    header.vlrs.append(laspy.VLR("me", 17, "a record", b"hello"))
    scaled = dict(scales=numpy.array([0.01]), offsets=numpy.array([-5.0]), no_data=numpy.array([65535]))
    header.add_extra_dim(laspy.ExtraBytesParams("height", "u2", "above the ground", **scaled))
    pair = dict(scales=numpy.array([0.1, 0.5]), offsets=numpy.array([0.0, 1.0]))
    header.add_extra_dim(laspy.ExtraBytesParams("pair", "2i2", **pair))
    kinds = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8", "3f4", "5u1")
    for kind in kinds:
        header.add_extra_dim(laspy.ExtraBytesParams(f"of {kind}", kind))
    cloud = laspy.LasData(header)
    count = 500
    cloud.points = laspy.ScaleAwarePointRecord.zeros(count, header=header)
    for name in ("X", "Y", "Z"):
        cloud[name] = random.integers(-2**31 + 2, 2**31 - 2, count)
    cloud.return_number[:] = cloud.number_of_returns[:] = 1
    cloud.gps_time, cloud.intensity = random.random(count) * 1e8, random.integers(0, 65535, count)
    cloud.red = random.integers(0, 255, count) * 257
    cloud.height, cloud.pair = random.integers(0, 60000, count) * 0.01 - 5.0, random.integers(-99, 99, (count, 2)) * [0.1, 0.5] + [0, 1]
    for kind in kinds:
        array = cloud[f"of {kind}"]
        numbers = random.random(array.shape) if "f" in kind else random.integers(0, 100, array.shape)
        cloud[f"of {kind}"] = numbers.astype(array.dtype)
    return cloud


def cloud_differences(a, b):
    """Names the data in which two clouds of laspy differ."""
    wrong = []
    for name in ("scales", "offsets", "mins", "maxs"):
        if list(getattr(a.header, name)) != list(getattr(b.header, name)):
            wrong.append(f"{name} {getattr(a.header, name)} and {getattr(b.header, name)}")
    encodings = [(cloud.header.global_encoding.gps_time_type, cloud.header.global_encoding.wkt) for cloud in (a, b)]
    records = [[(r.user_id, r.record_id, r.record_data_bytes()) for r in cloud.vlrs if r.record_id != 4] for cloud in (a, b)]
    described = [[(s.format_name(), s.data_type, s.description, list(s.scale or []), list(s.offset or []), s.no_data is None)
                  for r in cloud.vlrs if r.record_id == 4 for s in r.extra_bytes_structs] for cloud in (a, b)]
    for name, (one, other) in dict(encodings=encodings, records=records, described=described).items():
        if one != other:
            wrong.append(f"{name} {one} and {other}")
    for name in a.point_format.dimension_names:
        one = numpy.array(a[name])
        other = numpy.array(b[name]) if name in b.point_format.dimension_names else None
        # trioxide takes the smallest point format, which leaves out dimensions that are 0 everywhere.
        if not (one == 0).all() if other is None else one.dtype != other.dtype or not numpy.array_equal(one, other):
            wrong.append(name)
    return wrong


def read_of_trimesh():
    """Files that trimesh writes, and materials with an image in the file through trioxide."""
    trimesh = peers["trimesh"]
    from PIL import Image
    from trimesh.visual.texture import TextureVisuals
    ball = trimesh.creation.icosphere(2)
    image = Image.new("RGB", (2, 1), (200, 30, 4))
    material = trimesh.visual.material.PBRMaterial(name="skin", baseColorTexture=image, roughnessFactor=0.25)
    uv = ball.vertices[:, :2] * 0.5 + 0.5
    ball.visual = TextureVisuals(uv=uv, material=material)
    ball.vertex_attributes["_HEAT"] = ball.vertices[:, 2].astype("float32")
    block = trimesh.creation.box()
    scene = trimesh.Scene()
    scene.add_geometry(ball, node_name="ball")
    scene.add_geometry(block, node_name="block", transform=trimesh.transformations.translation_matrix([3, 0, 0]))
    size = float(ball.area + block.area)
    expected = dict(points=len(ball.vertices) + len(block.vertices), faces=len(ball.faces) + len(block.faces), size=size)

    def textured(path):
        back = trimesh.load_scene(path, process=False)
        parts = [g for g in back.geometry.values() if getattr(g.visual, "material", None) and g.visual.material.name == "skin"]
        if len(parts) != 1:
            return [f"{len(parts)} parts of the material skin"]
        [part] = parts
        material, wrong = part.visual.material, []
        if material.baseColorTexture is None or material.baseColorTexture.getpixel((1, 0))[:3] != (200, 30, 4):
            wrong.append("another image")
        if material.roughnessFactor != 0.25:
            wrong.append("another roughness")
        corners = {tuple(p): tuple(t) for p, t in zip(ball.vertices.round(6), uv.round(6))}
        used = numpy.unique(part.faces)
        if any(numpy.abs(corners[tuple(part.vertices[v].round(6))] - part.visual.uv[v]).max() > 1e-5 for v in used):
            wrong.append("other texture coordinates")
        heat = part.vertex_attributes.get("_HEAT")
        if heat is None or any(abs(heat[v] - part.vertices[v][2]) > 1e-6 for v in used):
            wrong.append("another _HEAT")
        return wrong

    for extension in ("glb", "gltf"):
        path = f"trimesh.{extension}"

        def work():
            if extension == "glb":
                scene.export(path)
            else:
                os.makedirs("trimesh-gltf", exist_ok=True)
                for name, data in trimesh.exchange.gltf.export_gltf(scene).items():
                    with open(os.path.join("trimesh-gltf", name), "wb") as file:
                        file.write(data)
                os.replace("trimesh-gltf/model.gltf", path)
                for name in os.listdir("trimesh-gltf"):
                    os.replace(os.path.join("trimesh-gltf", name), name)
            return differences(ours(path), expected, False)
        check(extension, "scene", "trimesh", "trioxide", work)

        def through():
            again = f"again.{extension}"
            run("convert", path, "-o", again, "--quiet")
            return differences(by_trimesh(again), expected, False) + textured(again)
        check(extension, "scene again", "trioxide", "trimesh", through)


def report():
    failed = 0
    counts = defaultdict(lambda: [0, 0])
    for format_name, variant, writer, reader, result in rows:
        peer = reader if writer == "trioxide" else writer
        cell = counts[(format_name, peer, "written" if writer == "trioxide" else "read")]
        cell[1] += 1
        if result == "equal":
            cell[0] += 1
        elif writer == "trioxide" and (format_name, peer, variant.split()[0]) in KNOWN:
            reason = KNOWN[(format_name, peer, variant.split()[0])]
            print(f"known: {format_name} {variant}: {writer} to {reader}: {reason} ({result})")
        else:
            failed += 1
            print(f"{format_name} {variant}: {writer} to {reader}: {result}")
    names = ["meshio", "vtk", "gmsh", "laspy", "trimesh"]
    print("\nfiles that trioxide writes and the other reads equally, then those that the other writes and trioxide reads equally")
    print(f"{'format':<8}" + "".join(f"{name:>22}" for name in names))
    for format_name in sorted({row[0] for row in rows}):
        line = f"{format_name:<8}"
        for peer in names:
            cells = [counts.get((format_name, peer, way)) for way in ("written", "read")]
            line += f"{', '.join(f'{c[0]} of {c[1]}' if c else '-' for c in cells):>22}"
        print(line)
    total = [sum(cell[k] for cell in counts.values()) for k in (0, 1)]
    print(f"{total[0]} of {total[1]} files equal; {failed} different or refused without a known reason")
    sys.exit(1 if failed else 0)


if "laspy" in peers:
    laspy = peers["laspy"]
main()
