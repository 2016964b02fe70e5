//! `.pvtu` of every family: the pieces, read together, are the mesh that one process writes to `.vtu`.

use std::fs;
use std::path::Path;

use trioxide::fields::{Fields, MeshFields};
use trioxide::formats;
use trioxide::mesh::{Mesh, VertexAttributes};
use trioxide::polyhedra_mesh::PolyhedralMesh;
use trioxide::volume::VolumeMesh;

use super::{done, meshes, refine_tets, write_rich};

/// Numbers of an element, those of the pieces apart.
fn numbers(fields: &Fields, i: usize) -> Vec<String> {
    let own = ["vertex", "vtkGhostType"];
    let fields = fields
        .iter()
        .filter(|field| !own.contains(&field.name.as_str()));
    let number = |field: &trioxide::fields::Field| {
        let of = i * field.components..(i + 1) * field.components;
        let values: Vec<f64> = of.map(|k| field.values.f64(k)).collect();
        format!("{} {:?} {values:?}", field.name, field.values.kind())
    };
    fields.map(number).collect()
}

/// A cell: its corners, each with its place and all that it carries; its tag, and its numbers.
fn cell(
    (points, attributes, fields): (&[trioxide::glam::DVec3], &VertexAttributes, &MeshFields),
    corners: &[u32],
    tag: Option<i32>,
    of_cell: Vec<String>,
) -> String {
    let corners = corners.iter().map(|&v| {
        let v = v as usize;
        let VertexAttributes {
            normals,
            colors,
            uvs,
        } = attributes;
        let normal = normals.as_ref().map(|all| all[v]);
        let (color, uv) = (
            colors.as_ref().map(|all| all[v]),
            uvs.as_ref().map(|all| all[v]),
        );
        let place = (points[v], normal, color, uv);
        format!("{place:?} {:?}", numbers(&fields.points, v))
    });
    format!("{:?} {tag:?} {of_cell:?}", corners.collect::<Vec<_>>())
}

fn of_surface(mesh: &Mesh) -> Vec<String> {
    let vertices = (&mesh.points[..], &mesh.attributes, &mesh.fields);
    let region = |i: usize| mesh.regions.as_ref().map(|regions| regions[i]);
    let face = |i| {
        let of_face = numbers(&mesh.fields.cells, i);
        cell(vertices, mesh.faces.get(i), region(i), of_face)
    };
    let faces = (0..mesh.faces.len()).map(face);
    let segments = mesh.segments.iter().enumerate().map(|(i, segment)| {
        let of_segment = numbers(&mesh.fields.sides, i);
        cell(vertices, &segment.ends, Some(segment.marker), of_segment)
    });
    faces.chain(segments).collect()
}

fn of_volume(mesh: &VolumeMesh) -> Vec<String> {
    let none = VertexAttributes::default();
    let vertices = (&mesh.points[..], &none, &mesh.fields);
    let region = |i: usize| mesh.regions.as_ref().map(|regions| regions[i]);
    let cells = mesh.cells.iter().enumerate();
    let cells = cells
        .map(|(i, corners)| cell(vertices, corners, region(i), numbers(&mesh.fields.cells, i)));
    let faces = mesh.faces.iter().zip(&mesh.face_tags).enumerate();
    let faces = faces.map(|(i, (corners, &tag))| {
        cell(vertices, corners, Some(tag), numbers(&mesh.fields.sides, i))
    });
    cells.chain(faces).collect()
}

fn of_polyhedra(mesh: &PolyhedralMesh) -> Vec<String> {
    let none = VertexAttributes::default();
    let vertices = (&mesh.points[..], &none, &mesh.fields);
    let region = |p: usize| mesh.regions.as_ref().map(|regions| regions[p]);
    let solids = (0..mesh.len()).map(|p| {
        let sides = mesh.sides_of(p).iter();
        let corners = sides.flat_map(|&side| mesh.vertices_of(side));
        let corners: Vec<u32> = corners.collect();
        cell(
            vertices,
            &corners,
            region(p),
            numbers(&mesh.fields.cells, p),
        )
    });
    let tagged = mesh.tagged.iter().enumerate().map(|(i, tagged)| {
        let mut corners = mesh.faces.get(tagged.face as usize).to_vec();
        // Which of both polyhedra lists it first depends on the pieces.
        corners.sort_by_key(|&v| mesh.points[v as usize].to_array().map(f64::to_bits));
        cell(
            vertices,
            &corners,
            Some(tagged.tag),
            numbers(&mesh.fields.sides, i),
        )
    });
    solids.chain(tagged).collect()
}

/// The cells of a file, or of the pieces that it lists.
fn cells_of(path: &Path, pieces: usize) -> Vec<String> {
    let file = |k: usize| match pieces {
        1 => path.to_owned(),
        _ => path.with_file_name(format!("all_{k}.vtu")),
    };
    if formats::is_polyhedra(&file(0)) {
        let of_piece = |k| of_polyhedra(&formats::read_polyhedra(&file(k)).unwrap());
        return (0..pieces).flat_map(of_piece).collect();
    }
    match formats::is_volume(path) {
        true => of_volume(&formats::read_volume(path).unwrap()),
        false => of_surface(&formats::read(path).unwrap()),
    }
}

#[test]
fn pieces_of_every_family_are_the_mesh_of_one_process() {
    let folder = meshes();
    let at = folder.path();
    write_rich(at);
    let tets = refine_tets::meshes();
    for name in ["grid.vtu", "random_fields.vtu"] {
        fs::copy(tets.path().join(name), at.join(name)).unwrap();
    }
    // Each rank reads its slice of plain triangles in binary .ply. Rank 0 reads and distributes meshes that carry more.
    for arguments in [
        &["polylla", "regions.ply"][..],
        &["polylla", "rich.ply"],
        &["polylla", "random_fields.vtu"],
        &["refine", "regions.ply", "--mark", "fraction:0.3"],
        &["refine", "rich.ply", "--mark", "fraction:0.3"],
        &["refine", "random_fields.vtu"],
        &["smooth", "regions.ply"],
        &["smooth", "rich.ply"],
        &["smooth", "grid.vtu"],
        &["weld", "regions.ply", "--epsilon", "1.1"],
        &["weld", "rich.ply", "--epsilon", "1.1"],
    ] {
        let cells = |ranks: usize, output: &str| {
            let more = ["-o", output, "--device", "cpu", "--quiet"];
            assert_eq!(done(at, ranks, &[arguments, &more].concat()), "");
            let mut cells = cells_of(&at.join(output), ranks);
            // Segments and tagged faces are the last cells of each piece; polygons are with the owners of their
            // half-edges.
            cells.sort_unstable();
            cells
        };
        let single = cells(1, "one.vtu");
        assert!(single.len() > 10, "{arguments:?}");
        assert!(cells(3, "all.pvtu") == single, "{arguments:?}");
    }
    let list = fs::read_to_string(at.join("all.pvtu")).unwrap();
    assert!(
        list.contains("all_2.vtu") && list.contains("Name=\"RGB\""),
        "{list}"
    );
}
