//! Reads OpenFOAM's meshes: beside a `.foam` file, in the folder of a case, or in the folder `polyMesh`.
//!
//! Files are text or binary, as they are or compressed by gzip; faces are lists or one compact list. A patch is a tag,
//! a zone of cells a region: `tag_7` and `region_7` have the number 7, others the numbers from 1 on, which a note
//! names. Boundary faces of the patch `boundary` have no tag, and the pairs of faces of trioxide's patch `barriers` are
//! one face each.

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use trioxide_mesh::mesh::{NONE, Polygons};
use trioxide_mesh::polyhedra::{PolyhedralMesh, TaggedFace};
use trioxide_mesh::{Error, Result};

use super::super::Noted;
use super::file::File;
use super::{BARRIERS, UNTAGGED, folder_of};
use crate::ReadOptions;
use crate::input::map_file;
use crate::references::References;
use crate::text::{Fault, Parsed, listed};

/// Whether there is a mesh of OpenFOAM: in the folder `path`, or beside the file `path`.
pub(in crate::polyhedra) fn is_case(path: &Path) -> bool {
    let folder = match path.is_dir() {
        true => folder_in(path),
        // A file that is not there is reported by the reader.
        false => return true,
    };
    ["faces", "faces.gz"]
        .iter()
        .any(|name| folder.join(name).is_file())
}

/// Returns the folder of the mesh in the folder `path` of a case, or `path` itself.
pub(super) fn folder_in(path: &Path) -> PathBuf {
    let inside = [path.join("constant/polyMesh"), path.join("polyMesh")];
    let found = inside.into_iter().find(|folder| folder.is_dir());
    found.unwrap_or_else(|| path.to_owned())
}

/// The files of a mesh.
struct Case<'a> {
    /// The file or folder that the user named.
    path: &'a Path,
    folder: PathBuf,
    options: ReadOptions,
}

impl Case<'_> {
    /// The file `name`, or a compressed one.
    fn find(&self, name: &str) -> Result<PathBuf> {
        let below = match self.path.is_dir() {
            true => self.path.join("case.foam"),
            false => self.path.to_owned(),
        };
        let above = below.parent().unwrap_or(Path::new(""));
        let inside = self.folder.strip_prefix(above).unwrap_or(&self.folder);
        let found = |name: &str| {
            let name = inside.join(name);
            let found = References::of(&below, self.options).find(&name.to_string_lossy());
            found.map_err(|reason| Error::format(self.path, reason))
        };
        let (plain, packed) = (found(name)?, format!("{name}.gz"));
        match !plain.exists() && above.join(inside).join(&packed).exists() {
            true => found(&packed),
            false => Ok(plain),
        }
    }

    fn parse<T>(&self, name: &str, parse: impl FnOnce(File) -> Parsed<T>) -> Result<T> {
        let path = self.find(name)?;
        let file = map_file(&path)?;
        let unpacked;
        let bytes = match path.extension().is_some_and(|extension| extension == "gz") {
            false => &file[..],
            true => {
                let mut bytes = Vec::new();
                let read = MultiGzDecoder::new(&file[..]).read_to_end(&mut bytes);
                read.map_err(|source| Error::file(&path, source))?;
                unpacked = bytes;
                &unpacked[..]
            }
        };
        let parsed = File::new(bytes).and_then(parse);
        parsed.map_err(|fault| fault.in_text(&path, bytes))
    }

    /// As [`Case::parse`], of a file that may be missing.
    fn parse_existing<T>(
        &self,
        name: &str,
        parse: impl FnOnce(File) -> Parsed<T>,
    ) -> Result<Option<T>> {
        match self.find(name)?.exists() {
            true => self.parse(name, parse).map(Some),
            false => Ok(None),
        }
    }
}

pub(in crate::polyhedra) fn read(path: &Path, options: ReadOptions) -> Result<Noted> {
    let is_folder = path.is_dir();
    if !is_folder {
        // The name of a case that is not there, beside another one.
        path.metadata()
            .map_err(|source| Error::file(path, source))?;
    }
    let case = Case {
        path,
        folder: if is_folder {
            folder_in(path)
        } else {
            folder_of(path)
        },
        options,
    };
    let points = case.parse("points", |mut file| file.points())?;
    let faces = case.parse("faces", |mut file| file.faces(points.len()))?;
    let count = faces.len();
    let owners = case.parse("owner", |mut file| cells(&mut file, count, "owners"))?;
    let mut neighbours = case.parse("neighbour", |mut file| {
        cells(&mut file, count, "neighbours")
    })?;
    if owners.len() != count {
        let reason = format!("{} owners do not fit to {count} faces", owners.len());
        return Err(Error::format(&case.folder, reason));
    }
    neighbours.resize(count, NONE);
    let patches = case.parse("boundary", |mut file| {
        file.is_binary = false;
        patches(&mut file, &neighbours)
    })?;
    let mut notes = Vec::new();
    let mut mesh = Sides::of(faces, owners, neighbours, &patches).into_mesh(&patches, &mut notes);
    mesh.points = points;
    let cells = mesh.len();
    let of_cells = case.parse_existing("cellZones", |mut file| zones(&mut file, cells))?;
    mesh.regions = regions(&of_cells.unwrap_or_default(), cells, &mut notes);
    let others = [("face", "faceZones"), ("point", "pointZones")];
    for (kind, name) in others {
        let found = case.parse_existing(name, |mut file| zones(&mut file, 0))?;
        let names: Vec<String> = (found.into_iter().flatten())
            .map(|zone| zone.name)
            .collect();
        if !names.is_empty() {
            notes.push(format!("zones of {kind}s are left out: {}", listed(names)));
        }
    }
    let oriented = mesh
        .orient()
        .map_err(|error| Error::format(&case.folder, error.to_string()))?;
    notes.extend(oriented.notes());
    Ok((mesh, notes))
}

/// Ids of the polyhedra of at most `faces` faces; -1, in old files, is none.
fn cells(file: &mut File, faces: usize, what: &str) -> Parsed<Vec<u32>> {
    let begin = file.skip_blanks();
    let labels = file.labels(faces, what)?;
    let cell = |(face, &label): (usize, &i64)| match u32::try_from(label) {
        // Each polyhedron has a face, or more.
        Ok(cell) if (cell as usize) < faces => Ok(cell),
        _ if label == -1 && what == "neighbours" => Ok(NONE),
        _ => {
            let reason = format!(
                "face {face}: cell {label} does not exist: {faces} faces bound fewer cells"
            );
            Err(Fault::new(begin, reason))
        }
    };
    labels.iter().enumerate().map(cell).collect()
}

/// A patch of faces of the boundary.
struct Patch {
    name: String,
    /// OpenFOAM's type.
    kind: String,
    begin: usize,
    end: usize,
}

/// The patches, in ascending order of their faces.
fn patches(file: &mut File, neighbours: &[u32]) -> Parsed<Vec<Patch>> {
    let mut patches: Vec<Patch> = Vec::new();
    file.dictionaries(|file, name, at| {
        let (mut kind, mut size, mut begin) = ("patch".to_owned(), None, None);
        while let Some((key, value)) = file.entry()? {
            let word = value.first().map_or(&b""[..], |word| word);
            let text = String::from_utf8_lossy(word).into_owned();
            match key.as_slice() {
                b"type" => kind = text,
                b"nFaces" => size = text.parse().ok(),
                b"startFace" => begin = text.parse().ok(),
                _ => {}
            }
        }
        let refuse = |reason: String| Fault::new(at, format!("patch {name}: {reason}"));
        let (size, begin): (usize, usize) = size
            .zip(begin)
            .ok_or_else(|| refuse("expected numbers for nFaces and startFace".to_owned()))?;
        let end = begin
            .checked_add(size)
            .filter(|&end| end <= neighbours.len());
        let end = end.ok_or_else(|| refuse(format!("there are {} faces", neighbours.len())))?;
        if size > 0 {
            if let Some(before) = patches.iter().rfind(|patch| patch.begin < patch.end)
                && begin < before.end
            {
                return Err(refuse(format!(
                    "its faces begin before those of {} end",
                    before.name
                )));
            }
            if let Some(face) = (begin..end).find(|&face| neighbours[face] != NONE) {
                return Err(refuse(format!("face {face} is between two cells")));
            }
        }
        patches.push(Patch {
            name,
            kind,
            begin,
            end,
        });
        Ok(())
    })?;
    Ok(patches)
}

/// The faces on both sides of which polyhedra are.
struct Sides {
    faces: Polygons,
    owners: Vec<u32>,
    neighbours: Vec<u32>,
    /// Faces that are the other side of the face before: of barriers.
    is_second: Vec<bool>,
}

impl Sides {
    fn of(faces: Polygons, owners: Vec<u32>, neighbours: Vec<u32>, patches: &[Patch]) -> Sides {
        let mut sides = Sides {
            is_second: vec![false; faces.len()],
            faces,
            owners,
            neighbours,
        };
        if let Some(patch) = patches.iter().find(|patch| sides.are_barriers(patch)) {
            for first in (patch.begin..patch.end).step_by(2) {
                sides.neighbours[first] = sides.owners[first];
                sides.is_second[first + 1] = true;
            }
        }
        sides
    }

    /// Whether each second face of the patch is the face before, seen from its other side.
    fn are_barriers(&self, patch: &Patch) -> bool {
        let size = patch.end - patch.begin;
        let is_pair = |first: usize| {
            let [one, other] = [first, first + 1].map(|face| self.faces.get(face));
            self.owners[first] == self.owners[first + 1] && one.iter().rev().eq(other)
        };
        patch.name == BARRIERS
            && size > 0
            && size.is_multiple_of(2)
            && (patch.begin..patch.end).step_by(2).all(is_pair)
    }

    /// The mesh without points: the faces in the order in which polyhedra list them, with tags.
    fn into_mesh(self, patches: &[Patch], notes: &mut Vec<String>) -> PolyhedralMesh {
        let all = || (0..self.faces.len()).filter(|&face| !self.is_second[face]);
        let cells = |face: usize| {
            let both = [self.owners[face], self.neighbours[face]];
            both.into_iter()
                .enumerate()
                .filter(|&(_, cell)| cell != NONE)
        };
        let most = all()
            .flat_map(cells)
            .map(|(_, cell)| cell as usize + 1)
            .max();
        let mut offsets = vec![0u32; most.unwrap_or(0) + 1];
        for (_, cell) in all().flat_map(cells) {
            offsets[cell as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut uses = vec![(0u32, false); offsets.last().copied().unwrap_or(0) as usize];
        for face in all() {
            for (k, cell) in cells(face) {
                let place = &mut next[cell as usize];
                uses[*place as usize] = (face as u32, k == 1);
                *place += 1;
            }
        }
        let mut ids = vec![NONE; self.faces.len()];
        let mut faces = Polygons::default();
        let mut sides = Vec::with_capacity(uses.len());
        for (face, is_neighbour) in uses {
            let id = &mut ids[face as usize];
            if *id != NONE {
                sides.push(2 * *id + 1);
                continue;
            }
            *id = faces.len() as u32;
            sides.push(2 * *id);
            faces.push(self.faces.get(face as usize));
            if is_neighbour {
                let begin = faces.offsets[*id as usize] as usize;
                faces.vertices[begin + 1..].reverse();
            }
        }
        PolyhedralMesh {
            tagged: tags(patches, &ids, notes),
            faces,
            offsets,
            sides,
            ..PolyhedralMesh::default()
        }
    }
}

/// Returns the faces of patches as tagged faces; `ids` has the id of each in the mesh.
fn tags(patches: &[Patch], ids: &[u32], notes: &mut Vec<String>) -> Vec<TaggedFace> {
    let names: Vec<&str> = patches.iter().map(|patch| &*patch.name).collect();
    let numbers = numbers_of(&names, "tag");
    let (mut tagged, mut named) = (Vec::new(), Vec::new());
    for (patch, (tag, is_ours)) in patches.iter().zip(numbers) {
        let faces = &ids[patch.begin..patch.end];
        let is_plain = patch.kind == "patch";
        // Second sides of barriers have no id.
        let is_ours = is_ours || patch.name == UNTAGGED || faces.contains(&NONE);
        if !is_ours || !is_plain {
            let number = if patch.name == UNTAGGED {
                "none".to_owned()
            } else {
                tag.to_string()
            };
            named.push(format!("{number} {} ({})", patch.name, patch.kind));
        }
        if patch.name != UNTAGGED && !faces.contains(&NONE) {
            tagged.extend(faces.iter().map(|&face| TaggedFace { face, tag }));
        }
    }
    if !named.is_empty() {
        notes.push(format!("patches are tags of faces: {}", listed(named)));
    }
    tagged
}

/// The number of each group, and whether its name has it: `tag_7`, `tag_minus_2`. Others have the free numbers from 1
/// on.
fn numbers_of(names: &[&str], kind: &str) -> Vec<(i32, bool)> {
    let own = |name: &&str| -> Option<i32> {
        let number = name.strip_prefix(kind)?.strip_prefix('_')?;
        let number: i64 = match number.strip_prefix("minus_") {
            None => number.parse().ok()?,
            Some(number) => -number.parse::<u32>().ok().map(i64::from)?,
        };
        let number = i32::try_from(number).ok()?;
        (super::name_of(kind, number) == **name).then_some(number)
    };
    let taken: HashSet<i32> = names.iter().filter_map(own).collect();
    let mut free = (1..).filter(|number| !taken.contains(number));
    let number = |name: &&str| match own(name) {
        Some(number) => (number, true),
        None => (free.next().unwrap_or(0), false),
    };
    names.iter().map(number).collect()
}

/// A group of cells.
struct Zone {
    name: String,
    cells: Vec<u32>,
}

/// The zones of a file; of zones of faces or points only the names.
fn zones(file: &mut File, cells: usize) -> Parsed<Vec<Zone>> {
    let mut zones = Vec::new();
    file.dictionaries(|file, name, at| {
        let mut labels = Vec::new();
        while let Some(key) = file.key()? {
            match key.as_slice() {
                b"cellLabels" => {
                    labels = file.labels(cells, "cells")?;
                    // So that no short file makes many long lists.
                    if let [one, other, ..] = labels[..]
                        && one == other
                    {
                        let reason = format!("zone {name} has cell {one} twice");
                        return Err(Fault::new(at, reason));
                    }
                    file.value()?;
                }
                _ => drop(file.value()?),
            }
        }
        let cell = |&label: &i64| match u32::try_from(label) {
            Ok(cell) if (cell as usize) < cells => Ok(cell),
            _ => Err(Fault::new(
                at,
                format!("zone {name}: there is no cell {label}"),
            )),
        };
        let cells = labels.iter().map(cell).collect::<Parsed<_>>()?;
        zones.push(Zone { name, cells });
        Ok(())
    })?;
    Ok(zones)
}

/// The region of each cell: that of its first zone, or 0.
fn regions(zones: &[Zone], cells: usize, notes: &mut Vec<String>) -> Option<Vec<i32>> {
    if zones.is_empty() {
        return None;
    }
    let names: Vec<&str> = zones.iter().map(|zone| &*zone.name).collect();
    let numbers = numbers_of(&names, "region");
    let mut regions: Vec<Option<i32>> = vec![None; cells];
    let mut twice = 0;
    for (zone, &(number, _)) in zones.iter().zip(&numbers) {
        for &cell in &zone.cells {
            match &mut regions[cell as usize] {
                Some(region) => twice += usize::from(*region != number),
                region => *region = Some(number),
            }
        }
    }
    let named = numbers
        .iter()
        .zip(&names)
        .filter(|((_, is_ours), _)| !is_ours);
    let named: Vec<String> = named
        .map(|((number, _), name)| format!("{number} {name}"))
        .collect();
    if !named.is_empty() {
        notes.push(format!("zones of cells are regions: {}", listed(named)));
    }
    if twice > 0 {
        notes.push(format!(
            "{twice} cells are in another zone too: the first one counts"
        ));
    }
    Some(regions.into_iter().map(Option::unwrap_or_default).collect())
}
