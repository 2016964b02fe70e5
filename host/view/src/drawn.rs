//! A mesh as the page draws it: triangles with the elements on their sides.

mod cells;

use glam::DVec3;
use trioxide_mesh::fields::{Field, Fields, MeshFields, Values};
use trioxide_mesh::mesh::{Faces, Mesh, NONE};
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::volume::VolumeMesh;
use trioxide_mesh::{Error, Result};
use trioxide_render::{Up, guess_up, triangulate};

use crate::quality::{self, Quality};

/// Most elements that are shown as they are, unless a caller has another limit.
pub const MOST_ELEMENTS: usize = 1_000_000;

/// Fields of this name have the ids that elements had before they were simplified.
const ORIGINAL: &str = "\0original";
/// The field of this name has the cells' regions, until their faces have them.
const REGIONS: &str = "\0regions";

/// Name of the elements' regions among the fields.
pub(crate) const REGION: &str = "region";
/// Name of the points' own colours among the fields.
pub(crate) const COLORS: &str = "colours";

/// Name among the fields of the colours that keep neighbours apart; the page finds them.
pub(crate) const DISTINCT: &str = "distinct";

/// Three sides of a triangle that are edges of its face.
const ALL_SIDES: u8 = 0b111;

/// A mesh as the page draws it.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Word for one element.
    pub(crate) element: &'static str,
    /// Number of elements.
    pub(crate) elements: usize,
    pub(crate) points: Vec<DVec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Bits of the sides of each triangle that are edges of its face; none if all are.
    pub(crate) sides: Vec<u8>,
    /// Element of each triangle; none if each triangle is one.
    pub(crate) owners: Vec<u32>,
    /// Element across each triangle, or `NONE`; empty if no triangle has one. A triangle between two elements is
    /// seen where a cut takes one of them away.
    pub(crate) behind: Vec<u32>,
    pub(crate) segments: Vec<[u32; 2]>,
    /// Ids of elements and points in the file, where they are others.
    pub(crate) ids: [Option<Vec<u32>>; 2],
    pub(crate) fields: MeshFields,
    pub(crate) regions: Option<Vec<i32>>,
    pub(crate) colors: Option<Vec<[u8; 4]>>,
    pub(crate) quality: Option<Quality>,
    pub(crate) is_planar: bool,
    pub(crate) up: Up,
    /// Note for readers on a mesh that is not shown as it is.
    pub(crate) note: Option<String>,
    /// The counts.
    pub(crate) counts: String,
}

impl Drawn {
    /// A planar mesh, a surface, or a cloud of points. A mesh of more than `most` faces or points is simplified.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a mesh without points, a coordinate that is not finite, or an id out of range; errors of
    /// welding.
    pub fn of_mesh(mesh: Mesh, most: usize) -> Result<Drawn> {
        check(&mesh.points, mesh.faces.len(), most, |i| mesh.faces.get(i))?;
        let is_bad = |ends: [u32; 2]| ends.iter().any(|&v| v as usize >= mesh.points.len());
        if let Some(i) = mesh.segments.iter().position(|s| is_bad(s.ends)) {
            return Err(Error::Invalid {
                element: format!("segment {i}"),
                rule: format!(
                    "names a vertex that is not there: the mesh has {} vertices",
                    mesh.points.len()
                ),
            });
        }
        let (points, faces, segments) = (mesh.points.len(), mesh.faces.len(), mesh.segments.len());
        mesh.fields.check(points, faces, segments)?;
        let counts = match faces {
            0 => format!("{} points", grouped(points)),
            _ => format!("{} vertices, {} faces", grouped(points), grouped(faces)),
        };
        let is_too_large = if faces == 0 { points } else { faces } > most;
        let drawn = match is_too_large {
            true => simplified(mesh, most)?,
            // Of a mesh that is shown as it is: another one has another quality.
            false => Drawn {
                quality: quality::of_faces(&mesh),
                ..whole(mesh)
            },
        };
        Ok(Drawn { counts, ..drawn })
    }

    /// A mesh of cells. Of more than `most` cells the surface alone is shown.
    ///
    /// # Errors
    /// As [`Drawn::of_mesh`].
    pub fn of_volume(mut mesh: VolumeMesh, most: usize) -> Result<Drawn> {
        let count = mesh.cells.len();
        check(&mesh.points, count, most, |i| mesh.cells.get(i))?;
        mesh.fields
            .check(mesh.points.len(), count, mesh.faces.len())?;
        let counts = format!(
            "{} vertices, {} cells",
            grouped(mesh.points.len()),
            grouped(count)
        );
        let drawn = if count > most {
            number(&mut mesh.fields.cells, count);
            number(&mut mesh.fields.points, mesh.points.len());
            if let Some(regions) = mesh.regions.take() {
                mesh.fields.cells.push(Field::scalars(REGIONS, regions));
            }
            let mut surface = mesh.boundary();
            // Those of the cells, not the tags of the faces.
            surface.regions = match surface.fields.cells.take(REGIONS) {
                Some(Field {
                    values: Values::I32(regions),
                    ..
                }) => Some(regions),
                _ => None,
            };
            surface_of(surface, "cell", count, most)?
        } else {
            cells::of_volume(mesh)
        };
        Ok(Drawn { counts, ..drawn })
    }

    /// A mesh of polyhedra. Of more than `most` polyhedra the surface alone is shown.
    ///
    /// # Errors
    /// As [`Drawn::of_mesh`].
    pub fn of_polyhedra(mut mesh: PolyhedralMesh, most: usize) -> Result<Drawn> {
        check(&mesh.points, mesh.faces.len(), most, |i| mesh.faces.get(i))?;
        let count = mesh.len();
        mesh.fields
            .check(mesh.points.len(), count, mesh.tagged.len())?;
        let counts = format!(
            "{} vertices, {} polyhedra",
            grouped(mesh.points.len()),
            grouped(count)
        );
        let drawn = if count > most {
            number(&mut mesh.fields.cells, count);
            surface_of(cells::boundary(mesh), "polyhedron", count, most)?
        } else {
            cells::of_polyhedra(mesh)
        };
        Ok(Drawn { counts, ..drawn })
    }

    /// The names of the fields by which the mesh can be coloured.
    pub fn field_names(&self) -> Vec<&str> {
        let named = [
            (REGION, self.regions.is_some()),
            (COLORS, self.colors.is_some()),
            (DISTINCT, !self.owners.is_empty()),
        ];
        let fields = self.fields.cells.iter().chain(&self.fields.points);
        (fields.map(|field| field.name.as_str()))
            .chain(self.quality.iter().map(|quality| quality.name))
            .chain(
                named
                    .iter()
                    .filter(|(_, is_there)| *is_there)
                    .map(|(name, _)| *name),
            )
            .collect()
    }

    /// The mesh with this axis up, if there is one. A planar mesh is then seen from the side.
    pub fn with_up(self, up: Option<Up>) -> Drawn {
        match up {
            Some(up) => Drawn {
                up,
                is_planar: false,
                ..self
            },
            None => self,
        }
    }

    /// Whether the mesh is seen from above.
    pub fn is_planar(&self) -> bool {
        self.is_planar
    }

    /// The points that are seen: of a mesh with faces, their corners and the ends of segments.
    pub(crate) fn seen_points(&self) -> impl Iterator<Item = &DVec3> {
        let is_cloud = self.triangles.is_empty();
        let corners = self.triangles.as_flattened().iter();
        let used = corners.chain(self.segments.as_flattened());
        let all = self.points.iter().filter(move |_| is_cloud);
        all.chain(
            used.filter(move |_| !is_cloud)
                .map(|&v| &self.points[v as usize]),
        )
    }

    /// Whether neighbours have colours apart without another choice, as in pictures: polygons of the plane, and
    /// polyhedra.
    pub(crate) fn is_apart(&self) -> bool {
        let is_kind = self.element == "polyhedron" || self.element == "polygon" && self.is_planar;
        is_kind && !self.owners.is_empty()
    }

    /// The counts of the mesh that was given.
    pub fn counts(&self) -> &str {
        &self.counts
    }

    /// The note for readers on a mesh that is not shown as it is.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Number of triangles in the page.
    pub fn triangles(&self) -> usize {
        self.triangles.len()
    }

    /// Takes the ids out of the fields that [`number`] made.
    fn renumber(&mut self) {
        let ids = |fields: &mut Fields| match fields.take(ORIGINAL)?.values {
            Values::U32(ids) => Some(ids),
            _ => None,
        };
        self.ids = [ids(&mut self.fields.cells), ids(&mut self.fields.points)];
    }
}

/// Numbers elements by a field, which operations carry.
fn number(fields: &mut Fields, count: usize) {
    let ids: Vec<u32> = (0..count as u32).collect();
    fields.push(Field::scalars(ORIGINAL, ids));
}

/// 1234567 as 1,234,567.
pub(crate) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (i, digit) in digits.char_indices() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn check<'a>(
    points: &[DVec3],
    count: usize,
    most: usize,
    element: impl Fn(usize) -> &'a [u32],
) -> Result<()> {
    if most == 0 {
        let text = "a limit of 0 elements shows nothing: give 1 or more";
        return Err(Error::Argument(text.to_owned()));
    }
    let invalid = |element: String, rule: String| Err(Error::Invalid { element, rule });
    if points.is_empty() {
        return invalid(
            "the mesh".into(),
            "has no faces and no points to show".into(),
        );
    }
    if let Some(i) = points.iter().position(|p| !p.is_finite()) {
        return Err(Error::not_finite(i));
    }
    for i in 0..count {
        if let Some(v) = element(i).iter().find(|&&v| v as usize >= points.len()) {
            return invalid(
                format!("element {i}"),
                format!("has vertex {v}, but there are {} vertices", points.len()),
            );
        }
    }
    Ok(())
}

/// A mesh of faces, or a cloud, as it is.
fn whole(mesh: Mesh) -> Drawn {
    let is_planar = mesh.is_planar();
    let up = guess_up(&mesh);
    let mut drawn = Drawn {
        element: match &mesh.faces {
            faces if faces.is_empty() => "point",
            Faces::Triangles(_) => "triangle",
            Faces::Polygons(_) => "polygon",
        },
        elements: mesh.faces.len(),
        segments: mesh.segments.iter().map(|segment| segment.ends).collect(),
        fields: mesh.fields,
        regions: mesh.regions,
        colors: mesh.attributes.colors,
        is_planar,
        up,
        ..Drawn::default()
    };
    match mesh.faces {
        // A cloud's elements are its points.
        faces if faces.is_empty() => {
            drawn.elements = mesh.points.len();
            drawn.fields.cells = Fields::default();
            drawn.regions = None;
        }
        Faces::Triangles(triangles) => drawn.triangles = triangles,
        Faces::Polygons(polygons) => {
            for (i, face) in (0..).zip(polygons.iter()) {
                drawn.push_face(&mesh.points, face, i, NONE);
            }
            drawn.behind = Vec::new();
        }
    }
    drawn.points = mesh.points;
    drawn.renumber();
    drawn
}

impl Drawn {
    /// Appends the triangles of a face between two elements.
    fn push_face(&mut self, points: &[DVec3], face: &[u32], owner: u32, behind: u32) {
        let mut parts = Vec::new();
        triangulate(points, face, &mut parts);
        for part in parts {
            self.triangles.push(part.map(|k| face[k]));
            let next = [part[1], part[2], part[0]];
            let is_edge = |k: usize| next[k] == (part[k] + 1) % face.len();
            let sides = (0..3).map(|k| u8::from(is_edge(k)) << k).sum();
            self.sides.push(sides);
            self.owners.push(owner);
            self.behind.push(behind);
        }
    }

    /// Leaves out bits that say nothing.
    fn without_plain_sides(&mut self) {
        if self.sides.iter().all(|&sides| sides == ALL_SIDES) {
            self.sides = Vec::new();
        }
    }
}

/// The surface of `count` cells, which are too many to show.
fn surface_of(mesh: Mesh, element: &'static str, count: usize, most: usize) -> Result<Drawn> {
    let faces = mesh.faces.len();
    let is_too_large = faces > most;
    let mut drawn = match is_too_large {
        true => simplified(mesh, most)?,
        false => whole(mesh),
    };
    let more = match (is_too_large, &drawn.note) {
        (true, Some(note)) => format!(" {note}"),
        _ => String::new(),
    };
    drawn.note = Some(format!(
        "Only the surface of {} elements is shown, {} faces: the limit is {} elements.{more}",
        grouped(count),
        grouped(faces),
        grouped(most)
    ));
    drawn.element = element;
    Ok(drawn)
}

#[cfg(feature = "simplify")]
fn simplified(mut mesh: Mesh, most: usize) -> Result<Drawn> {
    let (points, faces) = (mesh.points.len(), mesh.faces.len());
    if mesh.fields.cells.get(ORIGINAL).is_none() && faces > 0 {
        number(&mut mesh.fields.cells, faces);
    }
    if mesh.fields.points.get(ORIGINAL).is_none() {
        number(&mut mesh.fields.points, points);
    }
    let (mesh, epsilon) = crate::simplify::simplify(triangles_of(mesh), most)?;
    let (before, after, what) = match faces {
        0 => (points, mesh.points.len(), "points"),
        _ => (faces, mesh.faces.len(), "faces"),
    };
    let mut drawn = whole(mesh);
    drawn.note = Some(format!(
        "Simplified: {} of {} {what} are shown (vertices within {epsilon:.3e} of each other are one; the limit is {}).",
        grouped(after),
        grouped(before),
        grouped(most)
    ));
    Ok(drawn)
}

#[cfg(not(feature = "simplify"))]
fn simplified(mesh: Mesh, most: usize) -> Result<Drawn> {
    Err(Error::Argument(format!(
        "{} faces are more than the {most} that can be shown",
        mesh.faces.len()
    )))
}

/// The mesh with triangles instead of polygons. Each has the values of its polygon.
#[cfg(feature = "simplify")]
fn triangles_of(mesh: Mesh) -> Mesh {
    let Faces::Polygons(polygons) = &mesh.faces else {
        return mesh;
    };
    let (mut triangles, mut owners) = (Vec::new(), Vec::new());
    let mut parts = Vec::new();
    for (i, face) in (0..).zip(polygons.iter()) {
        parts.clear();
        triangulate(&mesh.points, face, &mut parts);
        triangles.extend(parts.iter().map(|part| part.map(|k| face[k])));
        owners.extend(parts.iter().map(|_| i));
    }
    Mesh {
        regions: (mesh.regions.as_ref())
            .map(|regions| trioxide_mesh::mesh::gather(regions, &owners)),
        fields: MeshFields {
            cells: mesh.fields.cells.gather(&owners),
            ..mesh.fields
        },
        faces: Faces::Triangles(triangles),
        ..mesh
    }
}

#[cfg(test)]
mod tests {
    use trioxide::generate;
    use trioxide_mesh::mesh::Segment;
    use trioxide_mesh::polyhedra::PolyhedraBuilder;

    use super::*;

    /// Every inner face of tetrahedra has both, and stands once.
    #[test]
    fn faces_of_cells_know_both_sides() {
        let mut mesh: VolumeMesh = generate::tet_grid(64, 1).expect("cells").into();
        let (cells, surface) = (mesh.cells.len(), mesh.boundary().faces.len());
        let drawn = Drawn::of_volume(mesh.clone(), cells).expect("drawn");
        assert_eq!(drawn.triangles.len(), (4 * cells + surface) / 2);
        let outer = drawn
            .behind
            .iter()
            .filter(|&&behind| behind == NONE)
            .count();
        assert_eq!((outer, drawn.sides.len()), (surface, 0));
        assert!(drawn.owners.is_sorted() && drawn.note.is_none());
        // It stands on x = 0.
        for p in &mut mesh.points {
            *p = (1.0 - 0.5 * p.x) * (*p - 0.5).with_x(0.0) + p.x * DVec3::X;
        }
        let up = guess_up(&mesh.boundary());
        assert_ne!(up, Up::Z);
        mesh.regions = Some((0..cells as i32).map(|i| 10 * i).collect());
        let limited = Drawn::of_volume(mesh.clone(), cells - 1).expect("the surface");
        assert_eq!(
            (limited.triangles.len(), limited.element),
            (surface, "cell")
        );
        assert_eq!((limited.field_names(), limited.up), (vec![REGION], up));
        let whole = Drawn::of_volume(mesh.clone(), cells).expect("drawn");
        assert_eq!((whole.up, whole.with_up(Some(Up::Y)).up), (up, Up::Y));
        let note = limited.note.expect("a note");
        assert!(note.starts_with("Only the surface of "), "{note}");
        // Picking gives the ids of the cells in the file.
        let ids = limited.ids[0].as_ref().expect("ids");
        assert!(ids.len() == surface && ids.iter().all(|&id| (id as usize) < cells));
        // Regions are labels, of the cells.
        let regions = limited.regions.expect("regions");
        assert!(
            regions
                .iter()
                .zip(ids)
                .all(|(&region, &id)| region == 10 * id as i32)
        );
    }

    #[test]
    fn surfaces_of_polyhedra_have_regions() {
        let mut mesh = tetrahedra();
        let regions = |mesh| cells::boundary(mesh).regions;
        assert_eq!(regions(mesh.clone()), Some(vec![7, 7, 7, 9, 9, 9]));
        // A file may list the second sides alone.
        mesh.sides.iter_mut().for_each(|side| *side ^= 1);
        assert_eq!(regions(mesh.clone()), Some(vec![7, 7, 7, 9, 9, 9]));
        let drawn = cells::of_polyhedra(mesh);
        assert_eq!((drawn.triangles.len(), drawn.owners.len()), (7, 7));
        assert!(!drawn.owners.contains(&NONE));
    }

    /// Two, with a face between them.
    fn tetrahedra() -> PolyhedralMesh {
        let mut builder = PolyhedraBuilder::default();
        let of = |[a, b, c, d]: [u32; 4]| [[a, c, b], [a, b, d], [b, c, d], [c, a, d]];
        for corners in [[0, 1, 2, 3], [1, 2, 3, 4]] {
            let faces = of(corners).map(Vec::from);
            builder.push(&faces).expect("faces fit");
        }
        PolyhedralMesh {
            points: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE],
            regions: Some(vec![7, 9]),
            ..builder.finish().expect("faces fit")
        }
    }

    #[test]
    fn edges_inside_of_polygons_are_not_drawn() {
        let mesh = Mesh {
            points: vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 1.0, 0.0), DVec3::Y],
            faces: Faces::Polygons(trioxide_mesh::mesh::Polygons {
                offsets: vec![0, 4],
                vertices: vec![0, 1, 2, 3],
            }),
            ..Mesh::default()
        };
        let drawn = Drawn::of_mesh(mesh, 1).expect("a square");
        assert_eq!(drawn.triangles, [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(
            (drawn.sides, drawn.owners),
            (vec![0b011, 0b110], vec![0, 0])
        );
        assert!(drawn.is_planar && drawn.behind.is_empty());
    }

    #[test]
    fn broken_meshes_are_refused() {
        let refused = |mesh: Mesh, most| {
            let drawn = Drawn::of_mesh(mesh, most);
            drawn.expect_err("refused").to_string()
        };
        let points = |x: f64| vec![DVec3::splat(x); 3];
        let at = |points, triangle| Mesh {
            points,
            faces: Faces::Triangles(vec![triangle]),
            ..Mesh::default()
        };
        assert_eq!(
            refused(at(points(f64::NAN), [0, 1, 2]), 1),
            "vertex 0 has a coordinate that is not a finite number"
        );
        assert_eq!(
            refused(at(points(0.0), [0, 1, 3]), 1),
            "element 0 has vertex 3, but there are 3 vertices"
        );
        let segment = Segment {
            ends: [2, 3],
            marker: 0,
        };
        let mesh = Mesh {
            segments: vec![segment],
            ..at(points(0.0), [0, 1, 2])
        };
        assert_eq!(
            refused(mesh, 1),
            "segment 0 names a vertex that is not there: the mesh has 3 vertices"
        );
        assert_eq!(
            refused(Mesh::default(), 1),
            "the mesh has no faces and no points to show"
        );
        assert!(refused(at(points(0.0), [0, 1, 2]), 0).contains("1 or more"));
    }

    /// With fewer elements than the limit, and the ids of the file.
    #[cfg(feature = "simplify")]
    #[test]
    fn large_surfaces_and_clouds_are_welded() {
        let surface = generate::scan(2000, 1).expect("a surface");
        let faces = surface.faces.len();
        let drawn = Drawn::of_mesh(surface, 1000).expect("simplified");
        assert!((500..=1000).contains(&drawn.elements), "{}", drawn.elements);
        let ids = drawn.ids[0].as_ref().expect("ids");
        assert!(ids.len() == drawn.elements && ids.iter().all(|&id| (id as usize) < faces));
        let note = drawn.note.expect("a note");
        assert!(
            note.contains(&format!("of {} faces are shown", grouped(faces))),
            "{note}"
        );
        let cloud = generate::cloud(2000, 1).expect("a cloud");
        let drawn = Drawn::of_mesh(cloud, 1000).expect("simplified");
        assert!((500..=1000).contains(&drawn.elements), "{}", drawn.elements);
        assert_eq!(
            drawn.ids[1].as_ref().map(Vec::len),
            Some(drawn.points.len())
        );
    }
}
