//! Damaged files.

use proptest::prelude::*;

use super::*;
use crate::triangle;

fn parse_tetgen(file: &[u8]) -> Parsed<VolumeMesh> {
    // Joined by `|`, so that damage can hit each file.
    let mut parts = file.split(|byte| *byte == b'|');
    let mut part = || parts.next().unwrap_or_default();
    let nodes = triangle::parse_nodes(part())?;
    let mut elements = tetgen::parse_elements(part(), &nodes)?;
    tetgen::parse_faces(part(), &nodes, &mut elements)?;
    tetgen::finish(elements, nodes).map(|(mesh, _)| mesh)
}

/// A parser and a good file for it.
type Sample = (fn(&[u8]) -> Parsed<VolumeMesh>, Vec<u8>);

fn samples() -> Vec<Sample> {
    let folder = tempfile::tempdir().unwrap();
    let written = |name: &str, mesh: &VolumeMesh, encoding, msh_version| {
        let path = folder.path().join(name);
        let options = WriteOptions {
            encoding: Some(encoding),
            msh_version,
        };
        write_volume_as(&path, mesh, options).unwrap();
        std::fs::read(path).unwrap()
    };
    let mixed = mixed_mesh();
    let (v2, v4) = (MshVersion::V2, MshVersion::V4);
    let (text, binary) = (Encoding::Text, Encoding::Binary);
    written("m.node", &tetrahedra(), text, v4);
    let pair = ["node", "ele", "face"]
        .map(|e| std::fs::read(folder.path().join("m").with_extension(e)).unwrap());
    let mut samples: Vec<Sample> = vec![
        (parse_tetgen, pair.join(&b'|')),
        (vtu::parse, written("m.vtu", &mixed, text, v4)),
        (vtu::parse, written("m.vtu", &mixed, binary, v4)),
        (medit::parse, written("m.mesh", &mixed, text, v4)),
        (medit::parse, written("m.meshb", &mixed, binary, v4)),
        (medit::parse, mfem::CELLS.into()),
        (gmsh::parse, written("m.msh", &mixed, text, v2)),
        (gmsh::parse, written("m.msh", &mixed, binary, v2)),
        (gmsh::parse, written("m.msh", &mixed, text, v4)),
        (gmsh::parse, written("m.msh", &mixed, binary, v4)),
        (vtk::parse, written("m.vtk", &mixed, text, v4)),
        (vtk::parse, written("m.vtk", &mixed, binary, v4)),
    ];
    samples.extend(
        vtu_arrays::samples()
            .into_iter()
            .map(|file| (vtu::parse as _, file)),
    );
    samples
}

#[derive(Clone, Debug)]
enum Damage {
    Set(prop::sample::Index, u8),
    Insert(prop::sample::Index, &'static [u8]),
    Remove(prop::sample::Index, usize),
    Truncate(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    let pieces = prop::sample::select(vec![
        &b"-"[..],
        b"9",
        b"99999999999999999999",
        b"4294967295",
        b"\n",
        b" ",
        b"#",
        b"\0",
        b"nan",
        b"e",
        b"\xff\xff\xff\xff",
        b"\xff\xff\xff\x7f",
        b"\"",
        b"<",
        b"=",
        b"$End",
        b"3 ",
    ]);
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(i, byte)| Damage::Set(i, byte)),
        (index(), pieces).prop_map(|(i, piece)| Damage::Insert(i, piece)),
        (index(), 1..20_usize).prop_map(|(i, length)| Damage::Remove(i, length)),
        index().prop_map(Damage::Truncate),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// Damaged files give an error or a mesh whose indices are in range: never a panic, never a huge allocation.
    #[test]
    fn damaged_files_do_no_harm(
        sample in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..4),
    ) {
        thread_local!(static SAMPLES: Vec<Sample> = samples());
        let (parse, mut file) = SAMPLES.with(|samples| samples[sample.index(samples.len())].clone());
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
        match parse(&file) {
            Err(fault) => {
                let error = fault.in_text(Path::new("f"), &file);
                prop_assert!(!error.to_string().is_empty());
            }
            Ok(mesh) => {
                let count = mesh.points.len();
                let in_range = |element: &[u32]| element.iter().all(|v| (*v as usize) < count);
                prop_assert!(mesh.cells.iter().all(|c| matches!(c.len(), 4 | 5 | 6 | 8) && in_range(c)));
                prop_assert!(mesh.faces.iter().all(|f| matches!(f.len(), 3 | 4) && in_range(f)));
                prop_assert!(mesh.regions.is_none_or(|regions| regions.len() == mesh.cells.len()));
                prop_assert_eq!(mesh.face_tags.len(), mesh.faces.len());
            }
        }
    }
}
