//! OpenFOAM's `polyMesh`: `points`, `faces`, `owner`, `neighbour` and `boundary` in `constant/polyMesh/` beside a
//! `.foam` file, which ParaView opens.
//!
//! <https://doc.openfoam.com/2312/fundamentals/mesh/>. Inner faces come first, in ascending order of owner and
//! neighbour. The owner is the polyhedron with the lower id, and the face is counter-clockwise as seen from outside of
//! it. Faces of the boundary follow, with a patch for each tag. A barrier face, which has the same polyhedron on both
//! sides, becomes two faces of the patch `barriers`: a baffle.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use trioxide_mesh::mesh::NONE;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Error, Result};

use crate::atomic_file::AtomicFile;
use crate::off::push_point;
use crate::rows_out::{push_integer, write_records};

/// A patch: its name, and the sides of its faces.
type Patch = (String, Vec<u32>);

/// Sides of all faces in OpenFOAM's order, with owners, neighbours and patches.
struct PolyMesh {
    sides: Vec<u32>,
    owners: Vec<u32>,
    neighbours: Vec<u32>,
    patches: Vec<Patch>,
}

fn arrange(mesh: &PolyhedralMesh) -> PolyMesh {
    let around = mesh.neighbours();
    let mut inner: Vec<(u32, u32, u32)> = Vec::new();
    let mut tags: BTreeMap<u32, i32> = BTreeMap::new();
    for tagged in &mesh.tagged {
        tags.entry(tagged.face).or_insert(tagged.tag);
    }
    let (mut by_tag, mut untagged, mut barriers) =
        (BTreeMap::<i32, Vec<u32>>::new(), Vec::new(), Vec::new());
    for (face, &[a, b]) in around.iter().enumerate() {
        let side = 2 * face as u32;
        if b == NONE {
            match tags.get(&(face as u32)) {
                Some(&tag) => by_tag.entry(tag).or_default().push(side),
                None => untagged.push(side),
            }
        } else if a == b {
            barriers.extend([side, side + 1]);
        } else {
            let seen = if a < b { side } else { side + 1 };
            inner.push((a.min(b), a.max(b), seen));
        }
    }
    inner.sort_unstable();
    let name = |tag: i32| match tag < 0 {
        true => format!("tag_minus_{}", tag.unsigned_abs()),
        false => format!("tag_{tag}"),
    };
    let mut patches: Vec<Patch> = by_tag
        .into_iter()
        .map(|(tag, sides)| (name(tag), sides))
        .collect();
    patches.push(("boundary".to_owned(), untagged));
    patches.push(("barriers".to_owned(), barriers));
    patches.retain(|(_, sides)| !sides.is_empty());
    let mut sides: Vec<u32> = inner.iter().map(|&(_, _, side)| side).collect();
    let mut owners: Vec<u32> = inner.iter().map(|&(owner, _, _)| owner).collect();
    for &side in patches.iter().flat_map(|(_, sides)| sides) {
        sides.push(side);
        owners.push(around[side as usize / 2][side as usize % 2]);
    }
    PolyMesh {
        neighbours: inner.iter().map(|&(_, neighbour, _)| neighbour).collect(),
        sides,
        owners,
        patches,
    }
}

fn header(class: &str, object: &str, note: &str) -> String {
    format!(
        "FoamFile\n{{\n    version     2.0;\n    format      ascii;\n    class       {class};\n{note}    location    \"constant/polyMesh\";\n    \
         object      {object};\n}}\n\n"
    )
}

fn list(
    out: &mut AtomicFile,
    head: &str,
    count: usize,
    format: impl Fn(&mut Vec<u8>, usize) + Sync,
) -> io::Result<()> {
    write!(out, "{head}{count}\n(\n")?;
    write_records(out, count, format)?;
    out.write_all(b")\n")
}

/// Files in `constant/polyMesh/`.
const FILES: [&str; 5] = ["points", "faces", "owner", "neighbour", "boundary"];

fn folder_of(path: &Path) -> PathBuf {
    let parent = path.parent().unwrap_or(Path::new(""));
    parent.join("constant").join("polyMesh")
}

/// The files that [`write`] writes in addition to the file `path`.
pub(crate) fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = folder_of(path);
    FILES.into_iter().map(move |name| folder.join(name))
}

pub(super) fn write(path: &Path, mesh: &PolyhedralMesh) -> Result<Vec<String>> {
    let poly = arrange(mesh);
    let folder = folder_of(path);
    std::fs::create_dir_all(&folder).map_err(|source| Error::file(&folder, source))?;
    let [points, faces, owner, neighbour, boundary] = FILES;
    let mut files = Vec::new();
    let mut add = |name: &str, write: &dyn Fn(&mut AtomicFile) -> io::Result<()>| -> Result<()> {
        files.push(AtomicFile::written(&folder.join(name), write)?);
        Ok(())
    };
    add(points, &|out| {
        let head = header("vectorField", points, "");
        list(out, &head, mesh.points.len(), |buffer, i| {
            buffer.push(b'(');
            push_point(buffer, mesh.points[i]);
            buffer.pop();
            buffer.extend_from_slice(b")\n");
        })
    })?;
    add(faces, &|out| {
        let head = header("faceList", faces, "");
        list(out, &head, poly.sides.len(), |buffer, i| {
            let vertices = mesh.vertices_of(poly.sides[i]);
            push_integer(buffer, vertices.len());
            let mut before = b'(';
            for v in vertices {
                buffer.push(before);
                push_integer(buffer, v);
                before = b' ';
            }
            buffer.extend_from_slice(b")\n");
        })
    })?;
    let note = format!(
        "    note        \"nPoints:{} nCells:{} nFaces:{} nInternalFaces:{}\";\n",
        mesh.points.len(),
        mesh.len(),
        poly.sides.len(),
        poly.neighbours.len()
    );
    for (name, labels) in [(owner, &poly.owners), (neighbour, &poly.neighbours)] {
        add(name, &|out| {
            list(
                out,
                &header("labelList", name, &note),
                labels.len(),
                |buffer, i| {
                    push_integer(buffer, labels[i]);
                    buffer.push(b'\n');
                },
            )
        })?;
    }
    add(boundary, &|out| {
        write!(
            out,
            "{}{}\n(\n",
            header("polyBoundaryMesh", boundary, ""),
            poly.patches.len()
        )?;
        let mut start = poly.neighbours.len();
        for (name, sides) in &poly.patches {
            write!(
                out,
                "    {name}\n    {{\n        type            patch;\n        nFaces          {};\n        startFace       {start};\n    }}\n",
                sides.len()
            )?;
            start += sides.len();
        }
        out.write_all(b")\n")
    })?;
    // ParaView opens the folder by an empty file.
    files.push(AtomicFile::create(path)?);
    AtomicFile::commit_all(files)?;
    let mut losses = Vec::new();
    if mesh.regions.is_some() {
        losses.push(format!("{}: regions are not in polyMesh", path.display()));
    }
    let around = mesh.neighbours();
    let inner = mesh
        .tagged
        .iter()
        .filter(|tagged| around[tagged.face as usize][1] != NONE);
    let inner = inner.count();
    if inner > 0 {
        losses.push(format!(
            "{}: the tags of {inner} inner faces are not in polyMesh, whose patches are on the boundary",
            path.display()
        ));
    }
    Ok(losses)
}
