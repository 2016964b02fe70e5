//! Damaged files.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::super::text::Fault;
use super::round_trips::polygon_mesh;
use super::*;
use trioxide_mesh::mesh::Triangulation;
use trioxide_mesh::rules;

fn parse_pair(file: &[u8]) -> Parsed<Mesh> {
    // Joined by `|`, so that damage can hit each file.
    let mut parts = file.split(|byte| *byte == b'|');
    let mut part = || parts.next().unwrap_or_default();
    let nodes = triangle::parse_nodes(part())?;
    let elements = triangle::parse_elements(part(), &nodes)?;
    let segments = triangle::parse_segments(part(), &nodes)?;
    elements
        .into_mesh(nodes, segments)
        .map(|loaded| loaded.mesh)
        .map_err(|reason| Fault::new(0, reason))
}

fn parse_edges(file: &[u8]) -> Parsed<Mesh> {
    let (mesh, marked) = crate::edges::parse(file)?;
    assert_eq!(marked.len(), mesh.triangles.len());
    rules::topology(&mesh).unwrap();
    Ok(Triangulation::from(mesh).into())
}

/// A parser and a good file for it.
type Sample = (fn(&[u8]) -> Parsed<Mesh>, Vec<u8>);

fn parse_las(file: &[u8]) -> Parsed<Mesh> {
    las::parse(file)
        .map(|loaded| loaded.mesh)
        .map_err(|reason| Fault::new(0, reason))
}

fn samples() -> Vec<Sample> {
    let folder = tempfile::tempdir().unwrap();
    let decorated = |encoding: Option<Encoding>, extension: &str| {
        let path = folder.path().join("d").with_extension(extension);
        let mut mesh = attributes::decorated();
        mesh.points = (0..5).map(|i| DVec3::splat(f64::from(i))).collect();
        write_encoded(&path, &mesh, encoding).unwrap();
        std::fs::read(path).unwrap()
    };
    let written = |extension: &str| {
        let path = folder.path().join("m").with_extension(extension);
        write(&path, &polygon_mesh()).unwrap();
        std::fs::read(path).unwrap()
    };
    let file = |name: &str| std::fs::read(fixture(name)).unwrap();
    let pair = [
        "square_with_hole.node",
        "square_with_hole.ele",
        "square_with_hole.poly",
    ]
    .map(file);
    vec![
        (off::parse, file("colours.off")),
        (obj::parse, file("steps.obj")),
        (parse_pair, pair.join(&b'|')),
        (ply::parse, file("octahedron_text.ply")),
        (ply::parse, file("cube_big_endian.ply")),
        (ply::parse, binary_ply()),
        (ply::parse, written("ply")),
        (vtu::parse, written("vtu")),
        (ply::parse, decorated(Some(Encoding::BigEndian), "ply")),
        (ply::parse, decorated(Some(Encoding::Text), "ply")),
        (obj::parse, decorated(None, "obj")),
        (stl::parse, decorated(None, "stl")),
        (stl::parse, decorated(Some(Encoding::Text), "stl")),
        (xyz::parse, decorated(None, "xyz")),
        (parse_las, decorated(None, "las")),
        (parse_las, decorated(None, "laz")),
        (vtk::parse, written("vtk")),
        (vtk::parse, file("peers/poly_51_binary.vtk")),
        (vtk::parse, file("peers/poly_42_binary.vtk")),
        (vtk::parse, file("peers/gmsh.vtk")),
        (vtu::parse, written("vtp")),
        (vtu::parse, file("peers/poly_lz4.vtp")),
        (vtu::parse, file("peers/poly_lzma.vtp")),
        (vtu::parse, file("peers/mixed_lzma.vtu")),
        (vtu::parse, file("peers/pieces.vtu")),
        (gmsh::parse, file("peers/gmsh_22_order2.msh")),
        (gmsh::parse, file("peers/gmsh_40.msh")),
        (gmsh::parse, file("peers/gmsh_41_binary.msh")),
        (medit::parse, file("peers/gmsh_order2.mesh")),
        (abaqus::parse, file("peers/gmsh.inp")),
        (xdmf::parse, written("xdmf")),
        (gltf::parse, more_formats::glb()),
        (off::parse, more_formats::binary_off()),
        (parse_edges, file("three_triangles.edges")),
        (parse_edges, file("three_triangles_refined.edges")),
    ]
}

#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, &'static [u8]),
    Remove(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let pieces = prop::sample::select(vec![
        &b"-"[..],
        b"9",
        b"99999999999999999999",
        b"4294967295",
        b"\n",
        b" ",
        b"#",
        b"\\\n",
        b"\r",
        b"\0",
        b"nan",
        b"e",
        b"\xff\xff\xff\xff",
        b"\"",
        b"<",
        b"/",
        b"3 ",
    ]);
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(i, byte)| Damage::Set(i, byte)),
        (index(), pieces).prop_map(|(i, piece)| Damage::Insert(i, piece)),
        (index(), 1..20_usize).prop_map(|(i, length)| Damage::Remove(i, length)),
        index().prop_map(Damage::Truncate),
    ]
}

pub(crate) fn damaged(mut file: Vec<u8>, damages: Vec<Damage>) -> Vec<u8> {
    for damage in damages {
        let at = |index: prop::sample::Index| index.index(file.len() + 1);
        match damage {
            Damage::Set(i, byte) => {
                let at = at(i);
                if let Some(target) = file.get_mut(at) {
                    *target = byte;
                }
            }
            Damage::Insert(i, piece) => {
                let at = at(i);
                file.splice(at..at, piece.iter().copied());
            }
            Damage::Remove(i, length) => {
                let at = at(i);
                let end = (at + length).min(file.len());
                file.drain(at..end);
            }
            Damage::Truncate(i) => {
                let at = at(i);
                file.truncate(at);
            }
        }
    }
    file
}

/// The mesh of a damaged file has indices in range, or the error has words.
fn check(parse: fn(&[u8]) -> Parsed<Mesh>, file: &[u8]) -> Result<(), TestCaseError> {
    match parse(file) {
        Err(fault) => {
            let error = fault.in_text(Path::new("f"), file);
            prop_assert!(!error.to_string().is_empty());
        }
        Ok(mesh) => {
            let count = mesh.points.len();
            for i in 0..mesh.faces.len() {
                prop_assert!(mesh.faces.get(i).len() >= 3);
                prop_assert!(mesh.faces.get(i).iter().all(|v| (*v as usize) < count));
            }
            let attributes = &mesh.attributes;
            prop_assert!(
                attributes
                    .normals
                    .as_ref()
                    .is_none_or(|all| all.len() == count)
            );
            prop_assert!(
                attributes
                    .colors
                    .as_ref()
                    .is_none_or(|all| all.len() == count)
            );
            prop_assert!(attributes.uvs.as_ref().is_none_or(|all| all.len() == count));
            prop_assert!(
                mesh.regions
                    .is_none_or(|regions| regions.len() == mesh.faces.len())
            );
            prop_assert!(
                mesh.segments
                    .iter()
                    .flat_map(|s| s.ends)
                    .all(|v| (v as usize) < count)
            );
        }
    }
    Ok(())
}

/// Damages the good file of a format in many ways: its parser gives an error or a mesh whose indices are in range,
/// never a panic, never a huge allocation.
pub(crate) fn strike(parse: fn(&[u8]) -> Parsed<Mesh>, file: &[u8]) {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    };
    let damages = prop::collection::vec(damage(), 1..4);
    let struck = TestRunner::new(config).run(&damages, |damages| {
        check(parse, &damaged(file.to_vec(), damages))
    });
    struck.unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Damaged files give an error or a mesh whose indices are in range: never a panic, never a huge allocation.
    #[test]
    fn damaged_files_do_no_harm(
        sample in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        thread_local!(static SAMPLES: Vec<Sample> = samples());
        let (parse, file) = SAMPLES.with(|samples| samples[sample.index(samples.len())].clone());
        check(parse, &damaged(file, damages))?;
    }
}

/// As above, of each format of the table in each of its encodings, from files.
#[test]
fn damaged_files_of_every_format_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let mut mesh = attributes::decorated();
    mesh.points = (0..5)
        .map(|i| DVec3::new(f64::from(i), f64::from(i % 2), 0.0))
        .collect();
    let mut formats = 0;
    for format in FORMATS.iter().filter(|f| f.is_read() && f.is_written()) {
        formats += 1;
        let encodings = format.encodings.iter().map(|&encoding| Some(encoding));
        for encoding in encodings.chain([None]) {
            let path = folder.path().join("d").with_extension(format.extensions[0]);
            write_encoded(&path, &mesh, encoding).unwrap();
            let file = std::fs::read(&path).unwrap();
            let config = ProptestConfig {
                failure_persistence: None,
                ..ProptestConfig::with_cases(60)
            };
            let damages = prop::collection::vec(damage(), 1..4);
            let struck = TestRunner::new(config).run(&damages, |damages| {
                std::fs::write(&path, damaged(file.clone(), damages)).unwrap();
                if let Ok(mesh) = read(&path) {
                    let count = mesh.points.len();
                    let mut corners = (0..mesh.faces.len()).flat_map(|i| mesh.faces.get(i));
                    prop_assert!(corners.all(|v| (*v as usize) < count));
                }
                Ok(())
            });
            struck.unwrap_or_else(|error| panic!("{}: {error}", format.name));
        }
    }
    assert!(formats > 15, "{formats}");
}
