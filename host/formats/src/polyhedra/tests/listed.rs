//! Polyhedra as other programs list them: both layouts of `.vtu`, versions of `.vtk`, other cells beside, pieces.

use super::*;
use crate::volume::bytes::Order;

/// Cells of a file, with VTK's types.
#[derive(Clone, Default)]
pub(super) struct Grid {
    pub(super) points: Vec<[f64; 3]>,
    /// The type of each cell, and its vertices; of a polyhedron its faces.
    pub(super) cells: Vec<(i64, Vec<Vec<i64>>)>,
    /// An array of the cells of this name.
    pub(super) arrays: Vec<(&'static str, Vec<i64>)>,
}

impl Grid {
    /// Appends a box from a point to another one, as a cell of type 11, 12 or 42.
    fn add_box(&mut self, kind: i64, from: [f64; 3], to: [f64; 3], turned: &[usize]) {
        let corner = |v: usize| {
            [0, 1, 2].map(|axis| {
                if v >> axis & 1 == 1 {
                    to[axis]
                } else {
                    from[axis]
                }
            })
        };
        let ids: Vec<i64> = (0..8).map(|v| self.point(corner(v))).collect();
        let lists: Vec<Vec<usize>> = match kind {
            11 => vec![(0..8).collect()],
            12 => vec![vec![0, 1, 3, 2, 4, 5, 7, 6]],
            _ => [
                [0, 2, 3, 1],
                [4, 5, 7, 6],
                [0, 1, 5, 4],
                [2, 6, 7, 3],
                [0, 4, 6, 2],
                [1, 3, 7, 5],
            ]
            .map(|face| face.to_vec())
            .to_vec(),
        };
        let mut lists: Vec<Vec<i64>> = (lists.iter())
            .map(|list| list.iter().map(|&v| ids[v]).collect())
            .collect();
        turned.iter().for_each(|&face| lists[face].reverse());
        self.cells.push((kind, lists));
    }

    /// Every kind of cell beside polyhedra, with faces in any direction: a row of boxes, and others on them.
    pub(super) fn mixed() -> Grid {
        let mut grid = Grid::default();
        grid.add_box(11, [0., 0., 0.], [1., 1., 1.], &[]);
        grid.add(9, &[[0., 0., 0.], [0., 1., 0.], [0., 1., 1.], [0., 0., 1.]]);
        grid.add_box(42, [1., 0., 0.], [2., 1., 1.], &[0, 1, 4]);
        grid.add_box(12, [2., 0., 0.], [3., 1., 1.], &[]);
        grid.add(1, &[[9., 9., 9.]]);
        // A wedge beside the hexahedron, a pyramid and a tetrahedron on the polyhedron and the wedge.
        grid.add(
            13,
            &[
                [3., 0., 0.],
                [3., 1., 0.],
                [5., 0., 0.],
                [3., 0., 1.],
                [3., 1., 1.],
                [5., 0., 1.],
            ],
        );
        grid.add(
            14,
            &[
                [1., 0., 1.],
                [2., 0., 1.],
                [2., 1., 1.],
                [1., 1., 1.],
                [1., 0., 4.],
            ],
        );
        grid.add(3, &[[0., 0., 0.], [1., 0., 0.]]);
        grid.add(
            10,
            &[[3., 0., 1.], [3., 1., 1.], [5., 0., 1.], [3., 0., 4.]],
        );
        grid.add_box(42, [0., 1., 0.], [1., 3., 1.], &[0, 1, 2, 3, 4, 5]);
        let pentagon = |z: f64| {
            [
                [7., 0., z],
                [9., 0., z],
                [9., 2., z],
                [8., 3., z],
                [7., 2., z],
            ]
        };
        grid.add(15, &[pentagon(0.), pentagon(2.)].concat());
        let hexagon = |z: f64| {
            [
                [7., 5., z],
                [9., 5., z],
                [10., 6., z],
                [9., 7., z],
                [7., 7., z],
                [6., 6., z],
            ]
        };
        grid.add(16, &[hexagon(0.), hexagon(2.)].concat());
        grid.arrays = vec![
            ("attribute", (10..22).collect()),
            ("marker", vec![0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("load", (0..12).map(|i| 100 - i).collect()),
        ];
        grid
    }

    /// Appends a cell by its points.
    fn add(&mut self, kind: i64, points: &[[f64; 3]]) {
        let ids = points.iter().map(|&p| self.point(p)).collect();
        self.cells.push((kind, vec![ids]));
    }

    fn point(&mut self, point: [f64; 3]) -> i64 {
        let found = self.points.iter().position(|&other| other == point);
        found.unwrap_or_else(|| {
            self.points.push(point);
            self.points.len() - 1
        }) as i64
    }

    fn vertices(&self, i: usize) -> Vec<i64> {
        let mut vertices = self.cells[i].1.concat();
        if self.cells[i].0 == 42 {
            vertices.sort_unstable();
            vertices.dedup();
        }
        vertices
    }

    fn stream(&self, i: usize) -> Vec<i64> {
        let (kind, lists) = &self.cells[i];
        if *kind != 42 {
            return lists.concat();
        }
        let mut stream = vec![lists.len() as i64];
        for face in lists {
            stream.push(face.len() as i64);
            stream.extend(face);
        }
        stream
    }

    /// The piece of a `.vtu` file, in the layout with `faces`, or in that of VTK 9.4.
    pub(super) fn piece(&self, is_new: bool) -> String {
        let cells = 0..self.cells.len();
        let is_solid = |i: &usize| self.cells[*i].0 == 42;
        let array = |name: &str, numbers: Vec<i64>| {
            let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
            format!(
                "<DataArray type=\"Int64\" Name=\"{name}\" format=\"ascii\">{}</DataArray>\n",
                numbers.join(" ")
            )
        };
        let ends = |list: &dyn Fn(usize) -> Option<usize>| -> Vec<i64> {
            let mut end = 0;
            let end = |i| {
                let size = list(i);
                end += size.unwrap_or(0);
                size.map_or(if is_new { end as i64 } else { -1 }, |_| end as i64)
            };
            cells.clone().map(end).collect()
        };
        let mut lists = array(
            "connectivity",
            cells.clone().flat_map(|i| self.vertices(i)).collect(),
        );
        lists += &array("offsets", ends(&|i| Some(self.vertices(i).len())));
        lists += &array("types", self.cells.iter().map(|cell| cell.0).collect());
        let solids = || cells.clone().filter(is_solid);
        if is_new {
            let faces = || solids().flat_map(|i| &self.cells[i].1);
            lists += &array("face_connectivity", faces().flatten().copied().collect());
            let mut end = 0;
            let face_ends = faces().map(|face| {
                end += face.len() as i64;
                end
            });
            lists += &array("face_offsets", face_ends.collect());
            lists += &array("polyhedron_to_faces", (0..faces().count() as i64).collect());
            let count = |i: usize| is_solid(&i).then(|| self.cells[i].1.len());
            lists += &array("polyhedron_offsets", ends(&count));
        } else {
            lists += &array("faces", solids().flat_map(|i| self.stream(i)).collect());
            lists += &array(
                "faceoffsets",
                ends(&|i| is_solid(&i).then(|| self.stream(i).len())),
            );
        }
        let data: String = self
            .arrays
            .iter()
            .map(|(name, numbers)| array(name, numbers.clone()))
            .collect();
        let points: Vec<String> = self.points.iter().flatten().map(f64::to_string).collect();
        format!(
            "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\"><CellData>{data}</CellData>\
             <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">{}</DataArray></Points>\n\
             <Cells>{lists}</Cells></Piece>",
            self.points.len(),
            self.cells.len(),
            points.join(" ")
        )
    }

    /// A `.vtk` file, of version 5.1 or before.
    pub(super) fn vtk(&self, is_new: bool, is_binary: bool) -> Vec<u8> {
        let mut file = Vec::new();
        let order = is_binary.then_some(Order::Big);
        let numbers = |file: &mut Vec<u8>, list: &[i64], size: usize| {
            let push = |i: usize, push: &mut dyn FnMut(crate::fields::Number, usize)| {
                push(crate::fields::Number::Integer(list[i]), size);
            };
            crate::volume::bytes::write_numbers(file, list.len(), order, push).unwrap();
            file.push(b'\n');
        };
        let (version, form) = (
            if is_new { "5.1" } else { "4.2" },
            if is_binary { "BINARY" } else { "ASCII" },
        );
        let (points, cells) = (self.points.len(), self.cells.len());
        let head = format!(
            "# vtk DataFile Version {version}\nof a test\n{form}\nDATASET UNSTRUCTURED_GRID\nPOINTS {points} int\n"
        );
        file.extend(head.bytes());
        let coordinates: Vec<i64> = self.points.iter().flatten().map(|&x| x as i64).collect();
        numbers(&mut file, &coordinates, 4);
        let streams: Vec<Vec<i64>> = (0..cells).map(|i| self.stream(i)).collect();
        if is_new {
            let mut offsets = vec![0i64];
            streams
                .iter()
                .for_each(|s| offsets.push(offsets[offsets.len() - 1] + s.len() as i64));
            let all = streams.concat();
            let head = format!("CELLS {} {}\nOFFSETS vtktypeint64\n", cells + 1, all.len());
            file.extend(head.bytes());
            numbers(&mut file, &offsets, 8);
            file.extend(b"CONNECTIVITY vtktypeint64\n");
            numbers(&mut file, &all, 8);
        } else {
            let all: Vec<i64> = (streams.iter())
                .flat_map(|s| std::iter::once(s.len() as i64).chain(s.iter().copied()))
                .collect();
            file.extend(format!("CELLS {cells} {}\n", all.len()).bytes());
            numbers(&mut file, &all, 4);
        }
        file.extend(format!("CELL_TYPES {cells}\n").bytes());
        let types: Vec<i64> = self.cells.iter().map(|cell| cell.0).collect();
        numbers(&mut file, &types, 4);
        file.extend(format!("CELL_DATA {cells}\nFIELD FieldData {}\n", self.arrays.len()).bytes());
        for (name, list) in &self.arrays {
            file.extend(format!("{name} 1 {cells} int\n").bytes());
            numbers(&mut file, list, 4);
        }
        file
    }

    /// The file in every form: its extension, and its bytes.
    pub(super) fn files(&self) -> Vec<(&'static str, Vec<u8>)> {
        let mut files = vec![
            ("vtu", vtu_of(&[self.piece(false)]).into_bytes()),
            ("vtu", vtu_of(&[self.piece(true)]).into_bytes()),
        ];
        for (is_new, is_binary) in [(false, false), (false, true), (true, false), (true, true)] {
            files.push(("vtk", self.vtk(is_new, is_binary)));
        }
        files
    }
}

/// A `.vtu` file with these pieces.
pub(super) fn vtu_of(pieces: &[String]) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"2.3\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <UnstructuredGrid>{}</UnstructuredGrid></VTKFile>\n",
        pieces.concat()
    )
}

/// The mesh and the notes of a file.
pub(super) fn read_bytes(extension: &str, bytes: &[u8]) -> Result<Noted> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m").with_extension(extension);
    std::fs::write(&path, bytes).unwrap();
    assert!(is_polyhedra(&path));
    read_polyhedra_as(&path, ReadOptions::default())
}

/// Volume of each polyhedron.
fn volumes(mesh: &PolyhedralMesh) -> Vec<f64> {
    let of = |p: usize| {
        let mut volume = 0.0;
        for &side in mesh.sides_of(p) {
            let face: Vec<DVec3> = mesh
                .vertices_of(side)
                .map(|v| mesh.points[v as usize])
                .collect();
            for k in 2..face.len() {
                volume += face[0].dot(face[k - 1].cross(face[k]));
            }
        }
        volume / 6.0
    };
    (0..mesh.len()).map(of).collect()
}

#[test]
fn cells_beside_polyhedra_become_polyhedra() {
    let grid = Grid::mixed();
    for (extension, bytes) in grid.files() {
        let (mesh, notes) = read_bytes(extension, &bytes).unwrap();
        assert_eq!(
            volumes(&mesh),
            [1., 1., 1., 1., 1., 1., 2., 10., 12.],
            "{extension}"
        );
        assert_eq!(mesh.regions, Some(vec![10, 12, 13, 15, 16, 18, 19, 20, 21]));
        let load = mesh.fields.cells.get("load").expect("it is kept");
        let load: Vec<i64> = (0..9).map(|i| load.values.i64(i)).collect();
        assert_eq!(load, [100, 98, 97, 95, 94, 92, 91, 90, 89]);
        let [tagged] = mesh.tagged[..] else {
            panic!("one tagged face")
        };
        let mut face = mesh.faces.get(tagged.face as usize).to_vec();
        face.sort_unstable();
        assert_eq!((tagged.tag, face), (7, vec![0, 2, 4, 6]));
        assert_eq!(mesh.fields.sides.get("load").unwrap().values.i64(0), 99);
        // The faces between the boxes, and below the pyramid and the tetrahedron.
        let pairs: Vec<[u32; 2]> = (mesh.neighbours().into_iter())
            .filter(|pair| pair[1] != NONE)
            .collect();
        assert_eq!(pairs, [[0, 1], [0, 6], [1, 4], [1, 2], [2, 3], [3, 5]]);
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert!(
            notes[0].contains("did not look outward: turned"),
            "{notes:?}"
        );
        assert_eq!(
            notes[1],
            "a mesh of polyhedra has no lines: 1 of the file are left out"
        );
    }
}

#[test]
fn faces_that_look_inward_are_turned_with_a_note() {
    for turned in [&[0, 1, 2, 3, 4, 5][..], &[3], &[]] {
        let mut grid = Grid::default();
        grid.add_box(42, [0., 0., 0.], [1., 1., 1.], turned);
        grid.add_box(42, [1., 0., 0.], [2., 1., 1.], turned);
        for (extension, bytes) in grid.files() {
            let (mesh, notes) = read_bytes(extension, &bytes).unwrap();
            assert_eq!(volumes(&mesh), [1., 1.]);
            assert_eq!(mesh.neighbours()[5], [0, 1]);
            match turned.is_empty() {
                true => assert!(notes.is_empty(), "{notes:?}"),
                false => assert_eq!(notes, ["faces of 2 polyhedra did not look outward: turned"]),
            }
        }
    }
}

#[test]
fn polyhedra_that_are_not_closed_or_overlap_are_refused() {
    let mut open = Grid::default();
    open.add_box(42, [0., 0., 0.], [1., 1., 1.], &[]);
    open.add_box(42, [1., 0., 0.], [2., 1., 1.], &[]);
    let mut thrice = open.clone();
    thrice.add_box(42, [0., 0., 0.], [1., 1., 1.], &[]);
    thrice.cells.push(thrice.cells[0].clone());
    open.cells[1].1.pop();
    for (grid, rule) in [
        (
            open,
            "polyhedron 1 is not closed: only one of its faces has edge",
        ),
        (
            thrice,
            "polyhedron 3 has a face [0, 2, 3, 1] that polyhedra 0 and 2 have too",
        ),
    ] {
        for (extension, bytes) in grid.files() {
            let error = read_bytes(extension, &bytes).unwrap_err().to_string();
            assert!(error.contains(rule), "{error}");
        }
    }
}

/// A face on the boundary of no polyhedron, cells of higher order, and collapsed faces.
#[test]
fn parts_that_polyhedra_do_not_have_are_noted() {
    let mut grid = Grid::default();
    grid.add_box(42, [0., 0., 0.], [1., 1., 1.], &[]);
    let mut nodes: Vec<[f64; 3]> = [[5, 0, 0], [7, 0, 0], [5, 2, 0], [5, 0, 2]]
        .map(|p| p.map(f64::from))
        .to_vec();
    nodes.extend(
        [
            [6, 0, 0],
            [6, 1, 0],
            [5, 1, 0],
            [5, 0, 1],
            [6, 0, 1],
            [5, 1, 1],
        ]
        .map(|p| p.map(f64::from)),
    );
    grid.add(24, &nodes);
    grid.add(5, &[[0., 0., 0.], [1., 0., 0.], [1., 1., 1.]]);
    grid.cells[0].1.push(vec![0, 1, 1]);
    grid.arrays = vec![("load", vec![3, 4, 5])];
    for (extension, bytes) in grid.files() {
        let (mesh, notes) = read_bytes(extension, &bytes).unwrap();
        assert_eq!((mesh.len(), mesh.points.len()), (2, 18));
        assert!((volumes(&mesh)[1] - 8.0 / 6.0).abs() < 1e-12);
        assert!(mesh.tagged.is_empty() && mesh.fields.sides.is_empty());
        assert_eq!(
            notes,
            [
                "1 face has fewer than three different vertices: left out",
                "1 face belongs to no polyhedron: left out with its tag",
                "1 cells are of higher order: their sides are read as straight, and the nodes on them belong to no polyhedron",
            ]
        );
    }
}

/// Three boxes in three pieces of one file, and in three files; each piece has its own vertices, and a ghost cell.
#[test]
fn pieces_are_joined_at_equal_points() {
    let piece = |k: usize| {
        let mut grid = Grid::default();
        let x = k as f64;
        grid.add_box(42, [x, 0., 0.], [x + 1., 1., 1.], &[k]);
        grid.add_box(12, [x + 1., 0., 0.], [x + 2., 1., 1.], &[]);
        grid.arrays = vec![
            ("region", vec![4 + k as i64, 9]),
            ("vtkGhostType", vec![0, 1]),
        ];
        grid.piece(k == 1)
    };
    let pieces = [0, 1, 2].map(piece);
    let folder = tempfile::tempdir().unwrap();
    let mut list = String::new();
    for (k, piece) in pieces.iter().enumerate() {
        let name = format!("p_{k}.vtu");
        std::fs::write(
            folder.path().join(&name),
            vtu_of(std::slice::from_ref(piece)),
        )
        .unwrap();
        list += &format!("<Piece Source=\"{name}\"/>");
    }
    let list = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\"><PUnstructuredGrid>{list}</PUnstructuredGrid></VTKFile>"
    );
    for (name, text) in [("p.vtu", vtu_of(&pieces)), ("p.pvtu", list)] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        assert!(is_polyhedra(&path));
        let (mesh, notes) = read_polyhedra_as(&path, ReadOptions::default()).unwrap();
        assert_eq!(volumes(&mesh), [1., 1., 1.]);
        assert_eq!(mesh.regions, Some(vec![4, 5, 6]));
        let inner = mesh.neighbours().into_iter().filter(|pair| pair[1] != NONE);
        assert_eq!(inner.collect::<Vec<_>>(), [[0, 1], [1, 2]]);
        assert_eq!((mesh.points.len(), mesh.faces.len()), (20, 16));
        assert!(
            notes[1].starts_with("its 3 pieces are joined: 16 vertices"),
            "{notes:?}"
        );
    }
}

#[test]
fn lists_that_name_one_face_too_often_are_refused() {
    let mut grid = Grid::default();
    grid.add_box(42, [0., 0., 0.], [1., 1., 1.], &[]);
    let text = vtu_of(&[grid.piece(true)]);
    // Ends that go back let each of many polyhedra have the whole list.
    let count = 4000;
    let (mut types, mut ends, mut offsets) = (String::new(), String::new(), String::new());
    for _ in 0..count {
        types += " 42 1";
        ends += " 6 0";
        offsets += " 8 0";
    }
    let many = text
        .replace(
            "NumberOfCells=\"1\"",
            &format!("NumberOfCells=\"{}\"", 2 * count),
        )
        .replace(
            "\"types\" format=\"ascii\">42<",
            &format!("\"types\" format=\"ascii\">{types}<"),
        )
        .replace(
            "\"offsets\" format=\"ascii\">8<",
            &format!("\"offsets\" format=\"ascii\">{offsets}<"),
        )
        .replace(
            "\"polyhedron_offsets\" format=\"ascii\">6<",
            &format!("\"polyhedron_offsets\" format=\"ascii\">{ends}<"),
        );
    let error = read_bytes("vtu", many.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("the same data is named so often"), "{error}");
}
