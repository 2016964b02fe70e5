//! Meshes of MFEM, and files of formats that are not read.

use super::*;
use crate::volume::surface_in;
use trioxide_mesh::mesh::Segment;

/// Every shape of cells, a face of each size, sets of attributes, comments.
pub(super) const CELLS: &str = "MFEM mesh v1.3\r\n\n# by hand: shapes 4 to 7\ndimension\n3\nelements\n4 # of them\n\
    7 4 0 1 2 4\n-2 5 0 1 3 2 4 5 7 6\n7 6 0 1 2 4 5 6\n9 7 4 5 7 6 8\nattribute_sets\n2\n\"All # of it\" 2 7\n 9\n\"Low\" 1 -2\n\
    boundary\n2\n5 2 0 2 1\n6 3 0 1 5 4\nbdr_attribute_sets\n0\nvertices\n9\n3\n\
    0 0 0 1 0 0 0 1 0 1 1 0\n0 0 1 1 0 1 0 1 1 1 1 1\n.5 .5 2\nmfem_mesh_end\n";

/// A square of a quadrilateral and two triangles.
const FACES: &str = "MFEM mesh v1.0\ndimension\n2\nelements\n3\n1 3 0 1 4 3\n2 2 1 2 4\n2 2 2 5 4\nboundary\n2\n3 1 0 1\n4 1 1 2\n\
    vertices\n6\n2\n0 0\n1 0\n2 0\n0 1\n1 1\n2 1\n";

fn surface(text: &str) -> Parsed<Mesh> {
    surface_in(super::super::medit::parse_grid, text.as_bytes())
}

#[test]
fn meshes_of_mfem_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mesh");
    for (text, name) in [(CELLS, "MFEM"), ("MeshVersionFormatted 2\n", "Medit")] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(crate::format_name(&file, "Medit"), name);
    }
}

#[test]
fn meshes_of_mfem_are_read() {
    assert!(super::super::medit::is_volume(CELLS.as_bytes()));
    assert!(!super::super::medit::is_volume(FACES.as_bytes()));
    let grid = super::super::medit::parse_grid(CELLS.as_bytes()).unwrap();
    let (mesh, notes) = grid.into_volume().unwrap();
    let cells: Vec<&[u32]> = mesh.cells.iter().collect();
    let expected = [
        &[0, 1, 2, 4][..],
        &[0, 1, 3, 2, 4, 5, 7, 6],
        &[0, 1, 2, 4, 5, 6],
        &[4, 5, 7, 6, 8],
    ];
    assert_eq!(cells, expected);
    assert_eq!(mesh.regions, Some(vec![7, -2, 7, 9]));
    let faces: Vec<&[u32]> = mesh.faces.iter().collect();
    assert_eq!(faces, [&[0, 2, 1][..], &[0, 1, 5, 4]]);
    assert_eq!(mesh.face_tags, [5, 6]);
    assert_eq!(mesh.points[8], DVec3::new(0.5, 0.5, 2.0));
    assert_eq!(
        notes,
        ["names of sets of attributes are not kept: All # of it, Low"]
    );

    let mesh = surface(FACES).unwrap();
    let faces: Vec<&[u32]> = (0..3).map(|i| mesh.faces.get(i)).collect();
    assert_eq!(faces, [&[0, 1, 4, 3][..], &[1, 2, 4], &[2, 5, 4]]);
    assert_eq!(mesh.regions, Some(vec![1, 2, 2]));
    let segment = |(ends, marker)| Segment { ends, marker };
    let expected = [([0, 1], 3), ([1, 2], 4)].map(segment);
    assert_eq!(mesh.segments, expected);
    assert_eq!(mesh.points[5], DVec3::new(2.0, 1.0, 0.0));
    // Versions that have the same sections: of a part of a mesh, and the old one for refined meshes.
    let part = FACES.replacen("v1.0", "v1.2", 1)
        + "mfem_serial_mesh_end\ncommunication_groups\nnumber_of_groups 2\nmfem_mesh_end\n";
    let old = FACES.replacen("v1.0", "v1.1", 1);
    let old = old.replacen("vertices", "coarse_elements\n1\n2 1 2\nvertices", 1);
    for (text, count) in [(part, 1), (old, 0)] {
        assert_eq!(surface(&text).unwrap(), mesh);
        let grid = super::super::medit::parse_grid(text.as_bytes()).unwrap();
        assert_eq!(grid.into_surface().unwrap().notes.len(), count);
    }
}

#[test]
fn curved_meshes_of_mfem_are_read_by_their_corners() {
    let nodes = |collection: &str, ordering, numbers: &str| {
        let head = "nodes\nFiniteElementSpace\nFiniteElementCollection:";
        let (before, _) = FACES.split_once("2\n0 0\n").unwrap();
        format!("{before}{head} {collection}\nVDim: 3\nOrdering: {ordering}\n\n{numbers}")
    };
    // Six corners and a node on a side.
    let by_node = "0 0 0 1 0 0 2 0 5 0 1 0 1 1 0 2 1e0 0 .5 0 0";
    let by_axis = "0 1 2 0 1 2 .5\n0 0 0 1 1 1 0\n0 0 5 0 0 0 0";
    let flat = surface(FACES).unwrap();
    for (ordering, numbers) in [(1, by_node), (0, by_axis)] {
        let text = nodes("H1_2D_P2", ordering, numbers);
        let grid = super::super::medit::parse_grid(text.as_bytes()).unwrap();
        let loaded = grid.into_surface().unwrap();
        assert_eq!(loaded.mesh.points.len(), 6);
        assert_eq!(loaded.mesh.points[2], DVec3::new(2.0, 0.0, 5.0));
        assert_eq!(loaded.mesh.faces, flat.faces);
        assert_eq!(
            loaded.notes,
            [
                "3 elements are of higher order: their sides are read as straight, and 1 nodes on them are left out"
            ]
        );
    }
    let refused = |text: String| surface(&text).unwrap_err().reason;
    let periodic = refused(nodes("L2_T1_2D_P1", 1, by_node));
    assert!(
        periodic.starts_with("nodes of the kind L2_T1_2D_P1 are not read, as of periodic meshes"),
        "{periodic}"
    );
    let short = refused(nodes("Linear", 1, "0 0 0 1 0"));
    assert_eq!(
        short,
        "5 numbers are no nodes of 3 coordinates for 6 vertices"
    );
}

#[test]
fn faults_of_mfem_are_named() {
    let fault = |from: &str, to: &str| error(medit::parse, FACES.replacen(from, to, 1));
    for (from, to, expected) in [
        (
            "2 5 4",
            "2 6 4",
            "f:8: vertex 6 does not exist: 6 vertices are numbered from 0",
        ),
        (
            "1 3 0",
            "1 8 0",
            "f:6: MFEM has no shape of elements 8: 0 to 7 are read",
        ),
        (
            "1 3 0",
            "9999999999 3 0",
            "f:6: attribute 9999999999 has more than 32 bits",
        ),
        (
            "elements\n3",
            "elements\n4",
            "f:9: expected 4 elements, but the list ends after 3",
        ),
        (
            "elements\n3",
            "elements\n2",
            "f:8: expected 2 elements, but more follow",
        ),
        (
            "dimension\n2",
            "dimension\n4",
            "f:3: the dimension is 4, but 1, 2 or 3 is needed",
        ),
        (
            "vertices\n6\n2",
            "vertices\n6\n0",
            "f:15: points have 0 coordinates, but 1, 2 or 3 are read",
        ),
        (
            "vertices\n6",
            "vertices\n7",
            "f:22: expected 14 numbers of vertices, but the file ends after 12",
        ),
        (
            "boundary",
            "bound",
            "f:9: expected a section such as elements, boundary or vertices, found `bound`",
        ),
    ] {
        assert_eq!(fault(from, to), expected);
    }
    let way = "write it by MFEM's Mesh::PrintVTU, and read that .vtu file";
    for (line, expected) in [
        (
            "MFEM NURBS mesh v1.0",
            "the file is a NURBS mesh of MFEM, which is not read",
        ),
        (
            "MFEM NC mesh v1.1",
            "the file is a nonconforming mesh of MFEM, which is not read",
        ),
        (
            "MFEM INLINE mesh v1.0",
            "the file is a rule by which MFEM generates a mesh, which is not read",
        ),
        (
            "MFEM mesh v2.0",
            "`MFEM mesh v2.0` is not read, but MFEM's meshes of versions 1.0 to 1.3",
        ),
    ] {
        assert_eq!(
            fault("MFEM mesh v1.0", line),
            format!("f:1: {expected}: {way}")
        );
    }
    let refined = fault("vertices", "vertex_parents\n1\n6 0 1\nvertices");
    assert_eq!(
        refined,
        format!("f:13: the mesh of MFEM is nonconforming, which is not read: {way}")
    );
}

#[test]
fn formats_that_are_not_read_are_named() {
    let mesh = |text: &str| surface(text).unwrap_err().reason;
    let msh = |text: &str| error(gmsh::parse, text);
    let inp = |text: &str| {
        let parsed = super::super::abaqus::parse_grid(text.as_bytes());
        parsed.err().expect("it is not read").reason
    };
    let freefem = "4 2 4\n0 0 1\n1 0 2\n1 1 3\n0 1 4\n1 2 3 0\n1 3 4 0\n";
    let ucd = "# AVS\r\n8 1 0 0 0\r\n1 0 0 0\r\n";
    for (reason, format, way) in [
        (msh(freefem), "FreeFem", "savevtk("),
        (
            msh("\n(0 \"GAMBIT to Fluent File\")\n(2 3)\n"),
            "Fluent",
            "fluentMeshToFoam",
        ),
        (msh("\x7fELF"), "", "expected $MeshFormat or $NOD"),
        (inp(ucd), "AVS (UCD)", "meshio convert -i avsucd"),
        (inp("*HEADING\n*ELEMENT\n"), "", "there is no *NODE"),
        (
            inp("$MeshFormat\n4.1 0 8\n"),
            "Gmsh",
            "give it the extension .msh",
        ),
        (mesh("NETGEN\n4\n"), "Netgen", "Gmsh2 Format"),
        (
            mesh("*NODE\n1, 0, 0, 0\n"),
            "Abaqus",
            "give it the extension .inp",
        ),
        (
            msh("MFEM mesh v1.0\n"),
            "MFEM",
            "give it the extension .mesh",
        ),
        (mesh("1 2\n"), "", "expected MeshVersionFormatted"),
    ] {
        let is_named = format.is_empty() || reason.contains(&format!("the file is of {format}: "));
        assert!(is_named && reason.contains(way), "{reason}");
    }
}
