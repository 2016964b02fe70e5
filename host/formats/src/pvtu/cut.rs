//! Cuts a mesh in memory into pieces.

use std::ops::Range;
use std::sync::Arc;

use trioxide_mesh::fields::{Fields, MeshFields};
use trioxide_mesh::mesh::{Faces, Mesh, Polygons, Segment, VertexAttributes};
use trioxide_mesh::polyhedra::{PolyhedralMesh, TaggedFace};
use trioxide_mesh::volume::{self, MixedCells, VolumeMesh};

use super::{Cells, Piece, number};
use crate::fields::of_attributes;

/// A mesh cut into pieces: blocks of its cells, in their order, with their vertices.
///
/// Segments and tagged faces are distributed in blocks too; tagged faces of polyhedra belong to the piece of the first
/// polyhedron that they bound. A vertex without a cell belongs to the piece whose block of all vertices contains it.
pub struct Cut {
    mesh: Cells,
    pieces: usize,
    has_markers: bool,
    /// Whether a cell, a segment or a tagged face uses each vertex.
    is_used: Vec<bool>,
    /// Whether a piece before the next one has each vertex.
    is_seen: Vec<bool>,
    /// Place of each vertex of the piece among its vertices; undefined for other vertices.
    places: Vec<u32>,
    /// Number of the next piece.
    next: usize,
    /// Whether an earlier piece has each tagged face of polyhedra.
    is_dealt: Vec<bool>,
}

impl Cut {
    /// Cuts a mesh into `pieces` pieces.
    pub fn new(mut mesh: Cells, pieces: usize) -> Self {
        if let Cells::Surface(mesh) = &mut mesh {
            // All pieces must agree whether colours have an alpha.
            let attributes = of_attributes(&std::mem::take(&mut mesh.attributes));
            let all = attributes.iter().chain(&mesh.fields.points).cloned();
            let all: Fields = all.collect();
            mesh.fields.points = all;
        }
        let vertices = match &mesh {
            Cells::Surface(mesh) => mesh.points.len(),
            Cells::Volume(mesh) => mesh.points.len(),
            Cells::Polyhedra(mesh) => mesh.points.len(),
        };
        let is_dealt = match &mesh {
            Cells::Polyhedra(mesh) => vec![false; mesh.tagged.len()],
            _ => Vec::new(),
        };
        let mut is_used = vec![false; vertices];
        let mut mark = |vertices: &[u32]| {
            for &v in vertices {
                is_used[v as usize] = true;
            }
        };
        match &mesh {
            Cells::Surface(mesh) => {
                (0..mesh.faces.len()).for_each(|i| mark(mesh.faces.get(i)));
                mesh.segments.iter().for_each(|segment| mark(&segment.ends));
            }
            Cells::Volume(mesh) => {
                mesh.cells.iter().for_each(&mut mark);
                mark(&mesh.faces.vertices);
            }
            Cells::Polyhedra(mesh) => mark(&mesh.faces.vertices),
        }
        Self {
            has_markers: mesh.has_markers(),
            mesh,
            pieces,
            is_used,
            is_seen: vec![false; vertices],
            places: vec![0; vertices],
            next: 0,
            is_dealt,
        }
    }

    /// The block of piece `k` of `total` elements.
    fn block(&self, total: usize, k: usize) -> Range<usize> {
        let length = total.div_ceil(self.pieces).max(1);
        (k * length).min(total)..((k + 1) * length).min(total)
    }

    /// The vertices of the next piece, whose cells have these corners, ascending; and for each vertex 1 if an earlier
    /// piece has it, or else 0.
    fn vertices(&mut self, mut corners: Vec<u32>) -> (Vec<u32>, Vec<u8>) {
        let of_block = self.block(self.is_used.len(), self.next);
        let loose = of_block.filter(|&v| !self.is_used[v]);
        corners.extend(loose.map(|v| v as u32));
        corners.sort_unstable();
        corners.dedup();
        for (place, &v) in corners.iter().enumerate() {
            self.places[v as usize] = place as u32;
        }
        let seen = |&v: &u32| u8::from(std::mem::replace(&mut self.is_seen[v as usize], true));
        let duplicates = corners.iter().map(seen).collect();
        (corners, duplicates)
    }

    /// The next piece.
    ///
    /// # Panics
    /// After the last one.
    pub fn next_piece(&mut self) -> Piece {
        assert!(self.next < self.pieces, "{} pieces", self.pieces);
        // The pieces do not borrow from the mesh, which is put back.
        let mesh = std::mem::replace(&mut self.mesh, Cells::Surface(Mesh::default()));
        let cells = match &mesh {
            Cells::Surface(mesh) => Cells::Surface(self.of_surface(mesh)),
            Cells::Volume(mesh) => Cells::Volume(self.of_volume(mesh)),
            Cells::Polyhedra(mesh) => Cells::Polyhedra(self.of_polyhedra(mesh)),
        };
        self.mesh = mesh;
        self.next += 1;
        Piece {
            cells,
            has_markers: self.has_markers,
        }
    }

    fn of_surface(&mut self, mesh: &Mesh) -> Mesh {
        let faces = self.block(mesh.faces.len(), self.next);
        let segments = self.block(mesh.segments.len(), self.next);
        let ends = mesh.segments[segments.clone()].iter();
        let corners = faces.clone().flat_map(|i| mesh.faces.get(i));
        let corners = corners.chain(ends.flat_map(|segment| &segment.ends));
        let (vertices, duplicates) = self.vertices(corners.copied().collect());
        let place = |&v: &u32| self.places[v as usize];
        let segment = |segment: &Segment| Segment {
            ends: segment.ends.each_ref().map(place),
            marker: segment.marker,
        };
        let elements = [&vertices[..], &ids(&faces), &ids(&segments)];
        Mesh {
            points: vertices.iter().map(|&v| mesh.points[v as usize]).collect(),
            faces: match &mesh.faces {
                Faces::Triangles(triangles) => {
                    let here = triangles[faces.clone()].iter();
                    Faces::Triangles(here.map(|corners| corners.each_ref().map(place)).collect())
                }
                Faces::Polygons(polygons) => {
                    Faces::Polygons(lists(faces.clone().map(|i| polygons.get(i)), place))
                }
            },
            regions: part(mesh.regions.as_deref(), &faces),
            segments: mesh.segments[segments.clone()]
                .iter()
                .map(segment)
                .collect(),
            attributes: VertexAttributes::default(),
            fields: gather(&mesh.fields, elements, duplicates),
            about: Arc::clone(&mesh.about),
        }
    }

    fn of_volume(&mut self, mesh: &VolumeMesh) -> VolumeMesh {
        let cells = self.block(mesh.cells.len(), self.next);
        // Without a cell, readers take a tagged face for a face of a surface.
        let with_cells = match mesh.cells.len() {
            0 => self.pieces,
            count => count.div_ceil(count.div_ceil(self.pieces)),
        };
        let length = mesh.faces.len().div_ceil(with_cells);
        let end = |k: usize| (k * length).min(mesh.faces.len());
        let faces = end(self.next)..end(self.next + 1);
        let corners = cells.clone().flat_map(|i| mesh.cells.get(i));
        let corners = corners.chain(faces.clone().flat_map(|i| mesh.faces.get(i)));
        let (vertices, duplicates) = self.vertices(corners.copied().collect());
        let place = |&v: &u32| self.places[v as usize];
        let elements = [&vertices[..], &ids(&cells), &ids(&faces)];
        VolumeMesh {
            points: vertices.iter().map(|&v| mesh.points[v as usize]).collect(),
            cells: match &mesh.cells {
                volume::Cells::Tetrahedra(all) => {
                    let here = all[cells.clone()].iter();
                    let local = here.map(|corners| corners.each_ref().map(place));
                    volume::Cells::Tetrahedra(local.collect())
                }
                all => {
                    let Polygons { offsets, vertices } =
                        lists(cells.clone().map(|i| all.get(i)), place);
                    volume::Cells::Mixed(MixedCells { offsets, vertices })
                }
            },
            regions: part(mesh.regions.as_deref(), &cells),
            faces: lists(faces.clone().map(|i| mesh.faces.get(i)), place),
            face_tags: mesh.face_tags[faces.clone()].to_vec(),
            fields: gather(&mesh.fields, elements, duplicates),
            about: Arc::clone(&mesh.about),
        }
    }

    fn of_polyhedra(&mut self, mesh: &PolyhedralMesh) -> PolyhedralMesh {
        let solids = self.block(mesh.len(), self.next);
        let sides = solids.clone().flat_map(|p| mesh.sides_of(p)).copied();
        let sides: Vec<u32> = sides.collect();
        let mut faces: Vec<u32> = sides.iter().map(|side| side / 2).collect();
        faces.sort_unstable();
        faces.dedup();
        let face = |face: u32| faces.binary_search(&face).ok().map(|place| place as u32);
        let mut deal = |i: &u32| {
            let is_here = face(mesh.tagged[*i as usize].face).is_some();
            is_here && !std::mem::replace(&mut self.is_dealt[*i as usize], true)
        };
        let tagged = (0..mesh.tagged.len() as u32).filter(&mut deal);
        let tagged: Vec<u32> = tagged.collect();
        let corners = faces.iter().flat_map(|&f| mesh.faces.get(f as usize));
        let (vertices, duplicates) = self.vertices(corners.copied().collect());
        let place = |&v: &u32| self.places[v as usize];
        let local = |i: u32| face(i).expect("a polyhedron of the piece has it");
        let mut offsets = vec![0];
        for p in solids.clone() {
            offsets.push(offsets[offsets.len() - 1] + mesh.sides_of(p).len() as u32);
        }
        let elements = [&vertices[..], &ids(&solids), &tagged];
        PolyhedralMesh {
            points: vertices.iter().map(|&v| mesh.points[v as usize]).collect(),
            faces: lists(faces.iter().map(|&f| mesh.faces.get(f as usize)), place),
            offsets,
            sides: sides
                .iter()
                .map(|&side| 2 * local(side / 2) + side % 2)
                .collect(),
            regions: part(mesh.regions.as_deref(), &solids),
            tagged: tagged
                .iter()
                .map(|&i| TaggedFace {
                    face: local(mesh.tagged[i as usize].face),
                    tag: mesh.tagged[i as usize].tag,
                })
                .collect(),
            fields: gather(&mesh.fields, elements, duplicates),
        }
    }
}

fn ids(range: &Range<usize>) -> Vec<u32> {
    range.clone().map(|i| i as u32).collect()
}

fn part(tags: Option<&[i32]>, range: &Range<usize>) -> Option<Vec<i32>> {
    tags.map(|tags| tags[range.clone()].to_vec())
}

/// Lists of vertices, mapped to their places.
fn lists<'a>(all: impl Iterator<Item = &'a [u32]>, place: impl Fn(&u32) -> u32) -> Polygons {
    let mut lists = Polygons {
        offsets: vec![0],
        vertices: Vec::new(),
    };
    for list in all {
        lists.vertices.extend(list.iter().map(&place));
        lists.offsets.push(lists.vertices.len() as u32);
    }
    lists
}

/// The fields of a piece with these vertices, cells and sides.
fn gather(
    fields: &MeshFields,
    [vertices, cells, sides]: [&[u32]; 3],
    duplicates: Vec<u8>,
) -> MeshFields {
    let of = |fields: &Fields, elements| fields.gather(elements);
    let mut fields = MeshFields {
        points: of(&fields.points, vertices),
        cells: of(&fields.cells, cells),
        sides: of(&fields.sides, sides),
    };
    let whole = vertices.iter().map(|&v| i64::from(v)).collect();
    number(&mut fields, whole, duplicates, cells.len());
    fields
}
