//! Groups of elements: second ones, reversed ones, names, partitions.

use super::*;
use crate::Loaded;
use std::sync::Arc;
use trioxide_mesh::about::{About, GroupNames};
use trioxide_mesh::mesh::{Faces, Mesh, Segment};

/// A number of a `.msh` file: of 32 bits, a size, or a double.
#[derive(Clone, Copy)]
enum Number {
    I(i32),
    S(usize),
    F(f64),
}

use Number::{F, I, S};

/// A file of these sections, as text or binary.
fn file(version: &str, is_binary: bool, sections: &[(&str, Vec<Number>)]) -> Vec<u8> {
    let mut file = format!("$MeshFormat\n{version} {} 8\n", u8::from(is_binary)).into_bytes();
    if is_binary {
        file.extend(1i32.to_le_bytes());
    }
    file.extend(b"\n$EndMeshFormat\n");
    for (name, numbers) in sections {
        file.extend(format!("${name}\n").bytes());
        for number in numbers {
            match (number, is_binary) {
                (I(n), true) => file.extend(n.to_le_bytes()),
                (S(n), true) => file.extend((*n as u64).to_le_bytes()),
                (F(x), true) => file.extend(x.to_le_bytes()),
                (I(n), false) => file.extend(format!("{n} ").bytes()),
                (S(n), false) => file.extend(format!("{n} ").bytes()),
                (F(x), false) => file.extend(format!("{x} ").bytes()),
            }
        }
        file.extend(format!("\n$End{name}\n").bytes());
    }
    file
}

fn surface(file: impl AsRef<[u8]>) -> Loaded {
    let grid = super::super::gmsh::parse_grid(file.as_ref()).unwrap();
    grid.into_surface().unwrap()
}

fn volume(file: impl AsRef<[u8]>) -> (VolumeMesh, Vec<String>) {
    let grid = super::super::gmsh::parse_grid(file.as_ref()).unwrap();
    grid.into_volume().unwrap()
}

fn markers(mesh: &Mesh) -> Vec<([u32; 2], i32)> {
    mesh.segments.iter().map(|s| (s.ends, s.marker)).collect()
}

fn names_of<const N: usize>(names: [(usize, i32, &str); N]) -> GroupNames {
    let names = names.map(|(dimension, number, name)| ((dimension, number), name.to_owned()));
    names.into()
}

/// The nodes of a square in one block, numbered from 1.
fn nodes(is_40: bool) -> Vec<Number> {
    let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let points = corners.map(|(x, y)| [F(x), F(y), F(0.0)]);
    let mut all = vec![S(1), S(4)];
    match is_40 {
        true => {
            all.extend([I(1), I(2), I(0), S(4)]);
            for (point, number) in points.iter().zip(1..) {
                all.push(I(number));
                all.extend(point);
            }
        }
        false => {
            all.extend([S(1), S(4), I(2), I(1), I(0), S(4), S(1), S(2), S(3), S(4)]);
            all.extend(points.as_flattened());
        }
    }
    all
}

/// Blocks of elements: dimension, entity, type, and the nodes of each element.
fn elements(is_40: bool, blocks: &[(i32, i32, i32, &[&[i32]])]) -> Vec<Number> {
    let count = blocks.iter().map(|block| block.3.len()).sum();
    let mut all = vec![S(blocks.len()), S(count)];
    if !is_40 {
        all.extend([S(1), S(count)]);
    }
    let number = |n: i32| if is_40 { I(n) } else { S(n as usize) };
    let mut next = 1;
    for &(dimension, entity, kind, rows) in blocks {
        match is_40 {
            true => all.extend([I(entity), I(dimension)]),
            false => all.extend([I(dimension), I(entity)]),
        }
        all.extend([I(kind), S(rows.len())]);
        for row in rows {
            all.push(number(next));
            all.extend(row.iter().map(|&node| number(node)));
            next += 1;
        }
    }
    all
}

/// A square in two partitions: a surface in groups 10 and 30, whose second part names no groups of its own, a curve in
/// group 7, a line between the partitions, and a triangle that one borrows from the other.
#[test]
fn partitions_have_the_groups_of_the_entities_that_were_divided() {
    let bounds = [F(0.0); 6];
    for (version, is_binary) in [("4.1", false), ("4.1", true), ("4.0", false), ("4.0", true)] {
        let is_40 = version == "4.0";
        let of_point = if is_40 { 6 } else { 3 };
        let mut entities = vec![S(1), S(1), S(1), S(0), I(1)];
        entities.extend(&bounds[..of_point]);
        entities.extend([S(1), I(77), I(1)]);
        entities.extend(bounds);
        entities.extend([S(1), I(-7), S(2), I(1), I(-2), I(1)]);
        entities.extend(bounds);
        entities.extend([S(2), I(10), I(30), S(1), I(1)]);
        // Two partitions, a ghost entity, then points, curves, surfaces: each with a parent and its partitions.
        let mut parts = vec![S(2), S(1), I(4), I(1), S(1), S(2), S(2), S(0)];
        parts.extend([I(5), I(0), I(1), S(2), I(1), I(2)]);
        parts.extend(&bounds[..of_point]);
        parts.extend([S(1), I(77)]);
        for (tag, parent, groups) in [
            (2, [1, 1], &[-7][..]),
            (9, [2, 1], &[]),
            (2, [2, 1], &[10, 30]),
            (3, [2, 1], &[]),
        ] {
            parts.extend([I(tag), I(parent[0]), I(parent[1]), S(1), I(1)]);
            parts.extend(bounds);
            parts.push(S(groups.len()));
            parts.extend(groups.iter().map(|&group| I(group)));
            parts.extend([S(1), I(-5)]);
        }
        let blocks: [(i32, i32, i32, &[&[i32]]); 6] = [
            (0, 5, 15, &[&[1]]),
            (1, 2, 1, &[&[1, 2]]),
            (1, 9, 1, &[&[1, 3]]),
            (2, 2, 2, &[&[1, 2, 3]]),
            (2, 3, 2, &[&[1, 3, 4]]),
            (2, 4, 2, &[&[1, 3, 4]]),
        ];
        let text = file(
            version,
            is_binary,
            &[
                ("Entities", entities),
                ("PartitionedEntities", parts),
                ("Nodes", nodes(is_40)),
                ("Elements", elements(is_40, &blocks)),
            ],
        );
        let Loaded { mesh, notes } = surface(text);
        let how = format!("{version} {is_binary}");
        assert_eq!(mesh.regions, Some(vec![10, 10]), "{how}");
        assert_eq!(
            mesh.faces,
            Faces::Triangles(vec![[0, 1, 2], [0, 2, 3]]),
            "{how}"
        );
        assert_eq!(markers(&mesh), [([0, 1], 7)], "{how}");
        assert_eq!(
            notes,
            [
                "groups of points are left out: point 77 (1)",
                "groups have reversed entities: curve 7: their elements keep their direction",
                "its partitions are joined, and left out: elements between them (1), ghost cells (1)",
                "elements of several groups are read once, in the first: 2 faces in 10 and 30",
            ],
            "{how}"
        );
    }
}

/// Without groups the parts have the number of the entity that was divided, which is one: no regions.
#[test]
fn partitions_without_groups_are_one_region() {
    let parts = "$PartitionedEntities\n2\n0\n0 0 2 0\n2 2 1 1 1 0 0 0 1 1 0 0 0\n3 2 1 1 2 0 0 0 1 1 0 0 0\n$EndPartitionedEntities\n";
    let text = String::from_utf8(file(
        "4.1",
        false,
        &[
            ("Nodes", nodes(false)),
            (
                "Elements",
                elements(false, &[(2, 2, 2, &[&[1, 2, 3]]), (2, 3, 2, &[&[1, 3, 4]])]),
            ),
        ],
    ));
    let text = text
        .unwrap()
        .replacen("$Nodes", &format!("{parts}$Nodes"), 1);
    let Loaded { mesh, notes } = surface(&text);
    assert_eq!((mesh.regions, notes.len()), (None, 1));
    // As entities of their own they are two.
    let Loaded { mesh, .. } = surface(text.replacen(parts, "", 1));
    assert_eq!(mesh.regions, Some(vec![2, 3]));
}

/// As Gmsh 4.15 writes partitions with `Mesh.PartitionCreatePhysicals`: groups of each partition stand for the groups.
#[test]
fn groups_of_partitions_stand_for_the_groups_that_were_divided() {
    let names = "$PhysicalNames\n7\n2 10 \"steel\"\n2 30 \"all\"\n2 31 \"_part{1}_physical{10}_dim{2}\"\n\
        2 33 \"_part{2}_physical{10}_dim{2}\"\n1 41 \"_part{2}_physical{-7}_dim{1}\"\n1 42 \"_part{2}_physical{0}_dim{1}\"\n\
        1 43 \"_part{1,2}_physical{10}_dim{1}\"\n$EndPhysicalNames\n";
    let new = format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{names}$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 1 0\n$EndNodes\n$Elements\n5\n\
         1 1 4 41 2 1 2 1 2\n2 1 4 42 3 1 2 2 3\n3 1 2 43 4 1 3\n4 2 5 31 5 2 1 -2 1 2 3\n5 2 5 33 6 2 2 -1 1 3 4\n$EndElements\n"
    );
    let Loaded { mesh, notes } = surface(&new);
    assert_eq!(mesh.regions, Some(vec![10, 10]));
    assert_eq!(markers(&mesh), [([0, 1], 7), ([1, 2], 0)]);
    let joined = "its partitions are joined, and left out: elements between them (1)";
    assert_eq!(notes, [joined]);
    assert_eq!(
        mesh.about.groups,
        names_of([(2, 10, "steel"), (2, 30, "all")])
    );
    let fault = super::error(gmsh::parse, new.replacen("1 3 4\n$", "1 3 5\n$", 1));
    assert_eq!(fault, "f:27: there is no node 5");
    // The same in version 4.1, where entities have these groups.
    let entities = format!(
        "{names}$Entities\n0 0 0 0\n$EndEntities\n$PartitionedEntities\n2\n0\n0 1 2 0\n2 1 1 1 1 0 0 0 1 1 0 1 41 0\n\
         2 2 1 1 1 0 0 0 1 1 0 1 31 0\n3 2 1 1 2 0 0 0 1 1 0 1 33 0\n$EndPartitionedEntities\n"
    );
    let text = String::from_utf8(file(
        "4.1",
        false,
        &[
            ("Nodes", nodes(false)),
            (
                "Elements",
                elements(
                    false,
                    &[
                        (1, 2, 1, &[&[1, 2]]),
                        (2, 2, 2, &[&[1, 2, 3]]),
                        (2, 3, 2, &[&[1, 3, 4]]),
                    ],
                ),
            ),
        ],
    ));
    let text = text
        .unwrap()
        .replacen("$Nodes", &format!("{entities}$Nodes"), 1);
    let Loaded { mesh, .. } = surface(text);
    assert_eq!(mesh.regions, Some(vec![10, 10]));
    assert_eq!(markers(&mesh), [([0, 1], 7)]);
}

const MSH2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n0 77 \"pt\"\n1 5 \"rev\"\n2 9 \"dom\"\n2 11 \"all\"\n\
    3 3 \"body\"\n$EndPhysicalNames\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 0 0 -1\n$EndNodes\n";

/// Version 2.2 has an element once for each of its groups: with the nodes of a reversed one the other way round.
#[test]
fn elements_in_several_groups_are_read_once() {
    let elements = "$Elements\n8\n1 15 2 77 1 1\n2 1 2 5 1 1 2\n3 1 2 6 1 2 1\n4 2 2 9 1 1 2 3\n5 2 2 11 1 3 2 1\n\
        6 2 2 11 2 1 2 4\n7 2 2 9 1 2 3 4\n8 2 2 11 1 2 3 4\n$EndElements\n";
    let data =
        "$ElementData\n1\n\"q\"\n0\n3\n0\n1\n4\n4 0.5\n6 1.5\n7 2.5\n8 3.5\n$EndElementData\n";
    let Loaded { mesh, notes } = surface(format!("{MSH2}{elements}{data}"));
    assert_eq!(
        mesh.faces,
        Faces::Triangles(vec![[0, 1, 2], [0, 1, 3], [1, 2, 3]])
    );
    assert_eq!(mesh.regions, Some(vec![9, 11, 9]));
    // An edge may be several segments: nothing is lost.
    assert_eq!(markers(&mesh), [([0, 1], 5), ([1, 0], 6)]);
    assert_eq!(
        mesh.fields.cells.get("q").unwrap().values,
        vec![0.5, 1.5, 2.5].into()
    );
    assert_eq!(
        notes,
        [
            "groups of points are left out: point 77 pt (1)",
            "elements of several groups are read once, in the first: 2 faces in 9 dom and 11 all",
        ]
    );
    let names = names_of([(1, 5, "rev"), (2, 9, "dom"), (2, 11, "all"), (3, 3, "body")]);
    assert_eq!(mesh.about.groups, names);
    // Cells, with tagged faces.
    let elements = "$Elements\n7\n1 2 2 9 1 1 2 3\n2 2 2 11 1 1 2 3\n3 4 2 3 1 1 2 3 4\n4 4 2 4 1 1 2 3 4\n5 4 2 5 1 1 2 3 4\n\
        6 4 2 3 2 1 3 2 5\n7 4 2 8 2 1 3 2 5\n$EndElements\n";
    let (mesh, notes) = volume(format!("{MSH2}{elements}"));
    assert_eq!(
        mesh.cells,
        Cells::Tetrahedra(vec![[0, 1, 2, 3], [0, 2, 1, 4]])
    );
    assert_eq!(mesh.regions, Some(vec![3, 3]));
    assert_eq!((mesh.faces.len(), &mesh.face_tags[..]), (1, &[9][..]));
    assert_eq!(mesh.about.groups, names);
    assert_eq!(notes[0], "groups of points are left out: point 77 pt (0)");
    assert_eq!(
        notes[1],
        "elements of several groups are read once, in the first: 1 face in 9 dom and 11 all, 1 cell in 3 body and 4, \
         1 cell in 3 body and 5, 1 cell in 3 body and 8"
    );
    // A cell twice in one group is no second group: the fault of the mesh stays.
    let twice = "$Elements\n2\n3 4 2 3 1 1 2 3 4\n4 4 2 3 1 1 2 3 4\n$EndElements\n";
    assert_eq!(volume(format!("{MSH2}{twice}")).0.cells.len(), 2);

    // The same in binary: a pyramid, and tetrahedra in two groups each.
    let mut file = b"$MeshFormat\n2.2 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n5\n".to_vec();
    for (number, point) in (1i32..).zip([
        [0.0; 3],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
    ]) {
        file.extend(number.to_le_bytes());
        point
            .iter()
            .for_each(|x: &f64| file.extend(x.to_le_bytes()));
    }
    file.extend(b"\n$EndNodes\n$Elements\n4\n");
    for number in [
        7, 2, 2, 1, -8, 1, 1, 2, 3, 4, 5, 2, 9, 1, 1, 2, 3, 4, 5, //
        4, 2, 2, 3, 9, 1, 1, 2, 3, 5, 4, 8, 1, 1, 2, 3, 5i32,
    ] {
        file.extend(number.to_le_bytes());
    }
    file.extend(b"\n$EndElements\n");
    let (mesh, notes) = volume(file);
    assert_eq!((mesh.cells.len(), mesh.regions), (2, Some(vec![8, 9])));
    assert_eq!([mesh.cells.get(0).len(), mesh.cells.get(1).len()], [5, 4]);
    assert_eq!(
        notes,
        [
            "groups have reversed entities: volume 8: their elements keep their direction",
            "elements of several groups are read once, in the first: 1 cell in 8 and 9, 1 cell in 9 and 8",
        ]
    );
}

/// Of an entity in several groups a line is read for each, a face once.
#[test]
fn entities_in_several_groups_have_the_first() {
    let text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n1 4 \"free\"\n1 5 \"clamped at \"base\"\"\n2 2 \"piezo\"\n\
        $EndPhysicalNames\n$Entities\n1 1 1 0\n1 0 0 0 1 77\n1 0 0 0 1 0 0 3 -4 5 4 0\n1 0 0 0 1 1 0 2 -1 2 0\n$EndEntities\n";
    let rest = file(
        "4.1",
        false,
        &[
            ("Nodes", nodes(false)),
            (
                "Elements",
                elements(
                    false,
                    &[
                        (0, 1, 15, &[&[1]]),
                        (1, 1, 1, &[&[1, 2], &[2, 3]]),
                        (2, 1, 2, &[&[1, 2, 3], &[1, 3, 4]]),
                    ],
                ),
            ),
        ],
    );
    let rest = String::from_utf8(rest).unwrap();
    let rest = rest.split_once("$EndMeshFormat\n").unwrap().1;
    let Loaded { mesh, notes } = surface(format!("{text}{rest}"));
    let ends = [[0, 1], [1, 2]];
    let of = |marker| ends.map(|ends| (ends, marker));
    assert_eq!(markers(&mesh), [of(4), of(5)].concat());
    assert_eq!(mesh.regions, Some(vec![1, 1]));
    assert_eq!(
        notes,
        [
            "groups of points are left out: point 77 (1)",
            "groups have reversed entities: curve 4 free, surface 1: their elements keep their direction",
            "elements of several groups are read once, in the first: 2 faces in 1 and 2 piezo",
        ]
    );
}

/// Numbers of groups are above 0: others get a name, which gives the tag back.
#[test]
fn tags_below_0_are_groups_with_other_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.msh");
    let segment = |ends, marker| Segment { ends, marker };
    let mesh = Mesh {
        points: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)],
        faces: Faces::Triangles(vec![[0, 1, 2], [1, 3, 2]]),
        regions: Some(vec![i32::MIN, 1]),
        segments: vec![segment([0, 1], -5), segment([1, 3], 5), segment([2, 0], 0)],
        about: Arc::new(About::of_groups(names_of([
            (1, 5, "in, out"),
            (2, 2, "not used"),
        ]))),
        ..Mesh::default()
    };
    for msh_version in [MshVersion::V2, MshVersion::V4] {
        for encoding in [Encoding::Text, Encoding::Binary] {
            let options = WriteOptions {
                encoding: Some(encoding),
                msh_version,
            };
            crate::write_as(&path, &mesh, options).unwrap();
            let (back, notes) = crate::read_with_notes(&path).unwrap();
            assert_eq!((&back, notes.len()), (&mesh, 0), "{options:?}");
            let text = std::fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&text);
            let names = "$PhysicalNames\n4\n1 5 \"in, out\"\n2 2 \"not used\"\n1 1 \"marker_m5\"\n\
                2 3 \"region_m2147483648\"\n";
            assert!(text.contains(names), "{text}");
        }
    }
}
