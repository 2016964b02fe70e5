//! OpenFOAM's `polyMesh`: `points`, `faces`, `owner`, `neighbour` and `boundary` in `constant/polyMesh/` beside a
//! `.foam` file, which ParaView opens.
//!
//! <https://doc.openfoam.com/2312/fundamentals/mesh/>. It writes text. Inner faces come first, in ascending order of
//! owner and neighbour. The owner is the polyhedron with the lower id, and the face is counter-clockwise as seen from
//! outside of it. Faces of the boundary follow, with a patch `tag_N` for each tag, and `boundary` for faces without
//! one. A barrier face, which has the same polyhedron on both sides, becomes two faces of the patch `barriers`: a
//! baffle. Regions are zones of cells, `region_N`.
//!
//! [`read`] has the files that are read; written again, those of trioxide have the same bytes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use trioxide_mesh::mesh::NONE;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Error, Result};

use crate::atomic_file::AtomicFile;
use crate::off::push_point;
use crate::rows_out::{push_integer, write_records};

mod file;
mod read;

pub(super) use read::{is_case, read};

/// The patch of faces without a tag.
const UNTAGGED: &str = "boundary";
/// The patch of faces with the same polyhedron on both sides.
const BARRIERS: &str = "barriers";

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
        match [a, b] {
            [NONE, NONE] => {}
            [NONE, _] | [_, NONE] => {
                let seen = side + u32::from(a == NONE);
                match tags.get(&(face as u32)) {
                    Some(&tag) => by_tag.entry(tag).or_default().push(seen),
                    None => untagged.push(seen),
                }
            }
            _ if a == b => barriers.extend([side, side + 1]),
            _ => inner.push((a.min(b), a.max(b), side + u32::from(a > b))),
        }
    }
    inner.sort_unstable();
    let mut patches: Vec<Patch> = by_tag
        .into_iter()
        .map(|(tag, sides)| (name_of("tag", tag), sides))
        .collect();
    patches.push((UNTAGGED.to_owned(), untagged));
    patches.push((BARRIERS.to_owned(), barriers));
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

/// Files of a mesh in its folder; the last one is there for regions only.
const FILES: [&str; 6] = [
    "points",
    "faces",
    "owner",
    "neighbour",
    "boundary",
    "cellZones",
];

/// Returns the folder of the mesh beside a `.foam` file.
fn folder_of(path: &Path) -> PathBuf {
    let parent = path.parent().unwrap_or(Path::new(""));
    parent.join("constant").join("polyMesh")
}

/// Returns the files that [`write`] writes and [`read`] reads in addition to the file `path`; or those of the mesh in
/// the folder `path`.
pub(crate) fn files(path: &Path) -> impl Iterator<Item = PathBuf> {
    let folder = match path.is_dir() {
        true => read::folder_in(path),
        false => folder_of(path),
    };
    FILES.into_iter().map(move |name| folder.join(name))
}

/// The name of the group `id`: `tag_7`, `region_minus_2`.
fn name_of(kind: &str, id: i32) -> String {
    match id < 0 {
        true => format!("{kind}_minus_{}", id.unsigned_abs()),
        false => format!("{kind}_{id}"),
    }
}

pub(super) fn write(path: &Path, mesh: &PolyhedralMesh) -> Result<()> {
    let poly = arrange(mesh);
    let folder = folder_of(path);
    std::fs::create_dir_all(&folder).map_err(|source| Error::file(&folder, source))?;
    let [points, faces, owner, neighbour, boundary, zones] = FILES;
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
    // Zones of a mesh that was there before would be wrong.
    if mesh.regions.is_some() || folder.join(zones).exists() {
        let regions = mesh.regions.as_deref().unwrap_or_default();
        add(zones, &|out| write_zones(out, regions))?;
    }
    // ParaView opens the folder by an empty file.
    files.push(AtomicFile::create(path)?);
    AtomicFile::commit_all(files)
}

/// Writes a zone of polyhedra for each region.
fn write_zones(out: &mut AtomicFile, regions: &[i32]) -> io::Result<()> {
    let mut by_region = BTreeMap::<i32, Vec<u32>>::new();
    for (p, &region) in (0..).zip(regions) {
        by_region.entry(region).or_default().push(p);
    }
    let head = header("regIOobject", "cellZones", "");
    write!(out, "{head}{}\n(\n", by_region.len())?;
    for (region, polyhedra) in by_region {
        let name = name_of("region", region);
        let head =
            format!("{name}\n{{\n    type            cellZone;\n    cellLabels      List<label>\n");
        list(out, &head, polyhedra.len(), |buffer, i| {
            push_integer(buffer, polyhedra[i]);
            buffer.push(b'\n');
        })?;
        out.write_all(b";\n}\n")?;
    }
    out.write_all(b")\n")
}
