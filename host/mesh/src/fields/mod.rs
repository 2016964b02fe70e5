//! Named fields: numbers that points and cells carry, as files have them.
//!
//! A [`Field`] has a name and one or more numbers of one type for each point or cell. Data with a meaning to the
//! pipelines has its own place in a mesh, and is no field: positions,
//! [`VertexAttributes`](crate::mesh::VertexAttributes), regions and markers. Every other number of a file is a field,
//! and keeps its type.
//!
//! Pipelines carry fields by two rules ([`Fields::gather`], [`Fields::mixed`]). A new element made of one old element
//! has its values. A new element made of several has the weighted mean of floats, and one element's integers: integers
//! are labels, and halfway from class 2 to class 6 there is no class 4.

use std::collections::{HashMap, HashSet};

use crate::{Error, Result};

mod carried;
mod mix;
mod values;

pub use carried::Carried;
pub use mix::Mix;
pub use values::{NumberType, Values};

/// A named array with one or more numbers for each point or cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name, as in the file.
    pub name: String,
    /// Numbers of a point or cell: 1 for scalars, 3 for vectors.
    pub components: usize,
    /// All numbers; the numbers of an element are consecutive.
    pub values: Values,
}

impl Field {
    /// A field of scalars.
    pub fn scalars(name: impl Into<String>, values: impl Into<Values>) -> Field {
        Field {
            name: name.into(),
            components: 1,
            values: values.into(),
        }
    }

    /// Number of points or cells with numbers.
    pub fn len(&self) -> usize {
        self.values.len() / self.components.max(1)
    }

    /// Whether it has no numbers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The field of the elements `ids`, in this order.
    ///
    /// # Panics
    /// When an id is out of range.
    pub fn gather(&self, ids: &[u32]) -> Field {
        Field {
            values: self.values.gather(self.components, ids),
            name: self.name.clone(),
            components: self.components,
        }
    }
}

/// Fields of the same points or cells, with distinct names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fields(Vec<Field>);

impl Fields {
    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The fields in the order in which they were added.
    pub fn iter(&self) -> std::slice::Iter<'_, Field> {
        self.0.iter()
    }

    /// The field of that name.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.0.iter().find(|field| field.name == name)
    }

    /// Takes the field of that name out.
    pub fn take(&mut self, name: &str) -> Option<Field> {
        let place = self.0.iter().position(|field| field.name == name)?;
        Some(self.0.remove(place))
    }

    /// Adds a field. If there is a field of its name, the new one is called `name_2`, `name_3` and so on.
    pub fn push(&mut self, mut field: Field) {
        if self.get(&field.name).is_some() {
            let names = (2..).map(|i| format!("{}_{i}", field.name));
            let mut free = names.filter(|name| self.get(name).is_none());
            field.name = free.next().expect("there are more names than fields");
        }
        self.0.push(field);
    }

    /// Refuses a field whose length does not fit `count` elements, which an error calls `what`.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn check(&self, count: usize, what: &str) -> Result<()> {
        for field in &self.0 {
            let (numbers, components) = (field.values.len(), field.components);
            if components == 0 || count.checked_mul(components) != Some(numbers) {
                return Err(Error::Invalid {
                    element: format!("field {}", field.name),
                    rule: format!(
                        "has {numbers} numbers in {components} components, but the mesh has {count} {what}"
                    ),
                });
            }
        }
        Ok(())
    }

    /// The fields of the elements `ids`, in this order: for example the triangles that new ones are parts of, or the
    /// remaining vertices.
    ///
    /// # Panics
    /// When an id is out of range.
    pub fn gather(&self, ids: &[u32]) -> Fields {
        self.map(|field| field.values.gather(field.components, ids))
    }

    /// The fields of elements made of several old ones: weighted means of floats, labels of integers.
    ///
    /// # Panics
    /// When a column of `mix` is out of range.
    pub fn mixed(&self, mix: &Mix) -> Fields {
        self.map(|field| field.values.mixed(field.components, mix))
    }

    fn map(&self, values: impl Fn(&Field) -> Values) -> Fields {
        let fields = self.0.iter().map(|field| Field {
            values: values(field),
            name: field.name.clone(),
            components: field.components,
        });
        Fields(fields.collect())
    }
}

impl FromIterator<Field> for Fields {
    fn from_iter<I: IntoIterator<Item = Field>>(iter: I) -> Fields {
        // As `push`, but in linear time: a file may have many fields, all of one name.
        let (mut seen, mut next) = (HashSet::new(), HashMap::new());
        let rename = |mut field: Field| {
            if !seen.insert(field.name.clone()) {
                let count = next.entry(field.name.clone()).or_insert(2);
                loop {
                    let name = format!("{}_{count}", field.name);
                    *count += 1;
                    if seen.insert(name.clone()) {
                        field.name = name;
                        break;
                    }
                }
            }
            field
        };
        Fields(iter.into_iter().map(rename).collect())
    }
}

impl<'a> IntoIterator for &'a Fields {
    type Item = &'a Field;
    type IntoIter = std::slice::Iter<'a, Field>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The fields of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFields {
    /// Fields of the points.
    pub points: Fields,
    /// Fields of the faces of a [`Mesh`](crate::mesh::Mesh), or of the cells of a
    /// [`VolumeMesh`](crate::volume::VolumeMesh).
    pub cells: Fields,
    /// Fields of the elements of one dimension less: segments of a [`Mesh`](crate::mesh::Mesh), or tagged faces of a
    /// [`VolumeMesh`](crate::volume::VolumeMesh).
    pub sides: Fields,
}

impl MeshFields {
    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty() && self.cells.is_empty() && self.sides.is_empty()
    }

    /// The fields of a refined mesh: means at its vertices by the rows of `vertices`, and the fields of the old cells
    /// and sides that its cells and sides are parts of.
    ///
    /// # Panics
    /// When a row or a parent is out of range.
    pub fn refined(&self, vertices: &Mix, cells: &[u32], sides: &[u32]) -> MeshFields {
        MeshFields {
            points: self.points.mixed(vertices),
            cells: self.cells.gather(cells),
            sides: self.sides.gather(sides),
        }
    }

    /// Names of all fields, each once, in order of first appearance.
    pub fn names(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all = [&self.points, &self.cells, &self.sides]
            .into_iter()
            .flatten();
        let names = all.map(|field| field.name.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// Refuses fields whose length does not fit the mesh's points, its faces or cells, and its segments or tagged
    /// faces.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn check(&self, points: usize, cells: usize, sides: usize) -> Result<()> {
        self.points.check(points, "points")?;
        self.cells.check(cells, "cells")?;
        self.sides.check(sides, "tagged sides")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_a_value_for_each_element() {
        let mut fields = MeshFields::default();
        fields.points.push(Field::scalars("t", vec![1.0, 2.0]));
        fields.points.push(Field {
            name: "v".to_owned(),
            components: 2,
            values: vec![1u8, 2, 3, 4].into(),
        });
        assert!(fields.check(2, 0, 0).is_ok());
        let error = fields.check(3, 0, 0).unwrap_err().to_string();
        assert_eq!(
            error,
            "field t has 2 numbers in 1 components, but the mesh has 3 points"
        );
        fields.cells.push(Field {
            name: "none".to_owned(),
            components: 0,
            values: Vec::<f32>::new().into(),
        });
        assert!(fields.check(2, 0, 0).is_err());
    }

    #[test]
    fn a_second_field_of_a_name_gets_another() {
        let field = |value: i32| Field::scalars("a", vec![value]);
        let fields: Fields = [field(1), field(2), field(3)].into_iter().collect();
        let names: Vec<_> = fields.iter().map(|field| field.name.as_str()).collect();
        assert_eq!(names, ["a", "a_2", "a_3"]);
        assert_eq!(fields.get("a_3").unwrap().values, Values::from(vec![3i32]));
    }
}
