//! References of vertices, and the lists of vertices, edges and faces that are special, as fields.

use super::super::elements::{Elements, Shape};
use super::super::output::{Output, Selected, select};
use crate::columns::integers;
use crate::text::listed;
use crate::text::{Fault, Parsed};
use trioxide_mesh::fields::{Field, Fields, MeshFields, Values};
use trioxide_mesh::mesh::Mesh;

/// The name of vertices' references as a field of integers.
const REFERENCE: &str = "reference";

/// Lists: keyword, number in the binary form, shape of the elements, and the name of their field of 0 and 1.
const LISTS: [(&str, i32, Shape, &str); 6] = [
    ("Corners", 13, Shape::Point, "corner"),
    ("RequiredVertices", 15, Shape::Point, "required"),
    ("Ridges", 14, Shape::Line, "ridge"),
    ("RequiredEdges", 16, Shape::Line, "required"),
    ("RequiredTriangles", 17, Shape::TRIANGLE, "required"),
    (
        "RequiredQuadrilaterals",
        18,
        Shape::QUADRILATERAL,
        "required",
    ),
];

/// References of vertices, lists of special elements, and names of skipped sections.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) references: Vec<f64>,
    /// Number of the list in [`LISTS`], offset of the section, and the numbers in it, from 1.
    lists: Vec<(usize, usize, Vec<i64>)>,
    /// Start of the triangles and of the quadrilaterals among the faces.
    faces: [usize; 2],
    /// Names of other sections.
    skipped: Vec<String>,
}

/// The number of the list that `is_it` accepts by keyword and number.
pub(super) fn list(is_it: impl Fn(&str, i32) -> bool) -> Option<usize> {
    LISTS
        .iter()
        .position(|&(word, number, ..)| is_it(word, number))
}

impl Marks {
    /// Adds the numbers of a list, whose section is at an offset.
    pub(super) fn add(&mut self, list: usize, at: usize, numbers: Vec<i64>) {
        self.lists.push((list, at, numbers));
    }

    /// Notes the elements that stand before those of a section.
    pub(super) fn begin(&mut self, section: &str, before: &Elements) {
        match section {
            "Triangles" => self.faces[0] = before.face_tags.len(),
            "Quadrilaterals" => self.faces[1] = before.face_tags.len(),
            _ => {}
        }
    }

    /// Notes a section that is skipped.
    pub(super) fn skip(&mut self, section: String) {
        if !self.skipped.contains(&section) {
            self.skipped.push(section);
        }
    }

    /// A note on sections that are skipped.
    pub(super) fn note(&self) -> Option<String> {
        let all = listed(self.skipped.iter().cloned());
        (!all.is_empty()).then(|| format!("sections are left out: {all}"))
    }

    /// The fields of the points and the faces, then those of the lines; `counts` are their numbers.
    pub(super) fn fields(self, [points, faces, lines]: [usize; 3]) -> Parsed<(MeshFields, Fields)> {
        let mut fields = MeshFields::default();
        let mut of_lines = Fields::default();
        if self.references.iter().any(|&reference| reference != 0.0) {
            let values = match integers(&self.references) {
                Some(references) => Values::from(references),
                None => Values::from(self.references),
            };
            fields.points.push(Field::scalars(REFERENCE, values));
        }
        for (list, at, numbers) in self.lists {
            let (keyword, _, shape, name) = LISTS[list];
            let (begin, all, of) = match shape {
                Shape::Point => (0, points, &mut fields.points),
                Shape::Line => (0, lines, &mut of_lines),
                _ => {
                    let begin = self.faces[usize::from(shape == Shape::QUADRILATERAL)];
                    (begin, faces, &mut fields.sides)
                }
            };
            let count = all - begin;
            let before = of.take(name).map(|field| field.values);
            let mut marks = match before {
                Some(Values::U8(marks)) => marks,
                _ => vec![0; all],
            };
            for number in numbers {
                let place = usize::try_from(number)
                    .ok()
                    .filter(|n| (1..=count).contains(n));
                let Some(place) = place else {
                    let reason =
                        format!("{keyword} have the number {number}, but 1 to {count} are there");
                    return Err(Fault::new(at, reason));
                };
                marks[begin + place - 1] = 1;
            }
            if marks.contains(&1) {
                of.push(Field::scalars(name, marks));
            }
        }
        Ok((fields, of_lines))
    }
}

fn is_scalar(field: &Field) -> bool {
    field.components == 1
}

/// The numbers of a field of 0 and others.
fn marks<'a>(fields: &'a Fields, name: &str) -> Option<&'a [u8]> {
    match &fields.get(name).filter(|field| is_scalar(field))?.values {
        Values::U8(marks) => Some(marks),
        _ => None,
    }
}

/// The references of points to write.
pub(super) fn references(mesh: Output<'_>) -> Option<&[i32]> {
    let field = mesh.mesh.fields.points.get(REFERENCE);
    match &field.filter(|field| is_scalar(field))?.values {
        Values::I32(references) => Some(references),
        _ => None,
    }
}

/// The lists to write: keyword, number in the binary form, and numbers of elements from 1.
pub(super) fn lists(mesh: Output<'_>) -> Vec<(&'static str, i32, Vec<u32>)> {
    let of = |&(keyword, number, shape, name): &(&'static str, i32, Shape, &str)| {
        let fields = &mesh.mesh.fields;
        let marks = match shape {
            Shape::Point => marks(&fields.points, name),
            Shape::Line => mesh.line_fields.and_then(|fields| marks(fields, name)),
            _ => marks(&fields.sides, name),
        }?;
        let ids = match (shape, select(mesh, shape)) {
            (Shape::Face(_), Selected::Ids(ids)) => ids,
            _ => (0..marks.len() as u32).collect(),
        };
        let numbers = (1..).zip(ids).filter(|(_, id)| marks[*id as usize] != 0);
        let numbers: Vec<u32> = numbers.map(|(number, _)| number).collect();
        (!numbers.is_empty()).then_some((keyword, number, numbers))
    };
    LISTS.iter().filter_map(of).collect()
}

/// Whether files hold a field of the elements of one of these shapes.
fn keeps(field: &Field, is_meant: impl Fn(Shape) -> bool) -> bool {
    let is_list = LISTS
        .iter()
        .any(|&(.., shape, name)| name == field.name && is_meant(shape));
    let is_reference = field.name == REFERENCE && is_meant(Shape::Point);
    is_scalar(field)
        && match field.values {
            Values::U8(_) => is_list,
            Values::I32(_) => is_reference,
            _ => false,
        }
}

/// Whether files hold a field of a volume mesh: of its points, its cells or its faces, numbered from 0.
pub(in crate::volume) fn keeps_in_volume(field: &Field, of: usize) -> bool {
    keeps(field, |shape| match of {
        0 => shape == Shape::Point,
        1 => false,
        _ => matches!(shape, Shape::Face(_)),
    })
}

/// Names of the fields of a surface that files do not hold.
pub(crate) fn lost_fields(mesh: &Mesh) -> Vec<String> {
    let MeshFields {
        points,
        cells,
        sides,
    } = &mesh.fields;
    let points = points
        .iter()
        .filter(|f| !keeps(f, |shape| shape == Shape::Point));
    let cells = cells
        .iter()
        .filter(|f| !keeps(f, |shape| matches!(shape, Shape::Face(_))));
    let sides = sides
        .iter()
        .filter(|f| !keeps(f, |shape| shape == Shape::Line));
    let mut names: Vec<String> = Vec::new();
    for field in points.chain(cells).chain(sides) {
        if !names.contains(&field.name) {
            names.push(field.name.clone());
        }
    }
    names
}
