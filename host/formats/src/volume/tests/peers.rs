//! Written files as other programs take them: values that those programs gave, pinned.

use super::*;

/// Gmsh assigns physical groups to geometrical entities: with one entity for two groups it puts every element into both.
/// Gmsh 4.15 counts 2 and 1 tetrahedra, and 1 and 1 triangles, in the groups of this file.
#[test]
fn each_group_of_msh_2_has_an_entity_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for encoding in [Encoding::Text, Encoding::Binary] {
        let path = folder.path().join("groups.msh");
        let options = WriteOptions {
            encoding: Some(encoding),
            msh_version: MshVersion::V2,
        };
        write_volume_as(&path, &tetrahedra(), options).unwrap();
        let file = std::fs::read(&path).unwrap();
        if encoding == Encoding::Text {
            let text = String::from_utf8(file).unwrap();
            let (_, elements) = text.split_once("$Elements\n5\n").unwrap();
            let expected = "1 4 2 2 2 1 2 3 5\n2 4 2 1 1 2 4 3 9\n3 4 2 2 2 9 10 11 1\n4 2 2 3 1 1 3 2\n5 2 2 9 2 2 3 5\n";
            assert_eq!(elements, format!("{expected}$EndElements\n"));
        } else {
            // Number, group and entity of the second tetrahedron.
            let record: Vec<u8> = [2i32, 1, 1].iter().flat_map(|x| x.to_le_bytes()).collect();
            assert!(memchr::memmem::find(&file, &record).is_some());
        }
        assert_eq!(read_volume(&path).unwrap().regions, tetrahedra().regions);
    }
}
