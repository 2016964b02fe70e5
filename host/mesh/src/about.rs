//! Data on a mesh as a whole, which no vertex, face or segment carries.
//!
//! Operations hand it on unchanged, whatever they do with the elements; writers take from it what their format holds.

use std::collections::BTreeMap;

/// Data on a mesh as a whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The unit in which the file stores its coordinates.
    pub unit: Option<Unit>,
    /// Names of the values of integer fields of faces, by the field's name: value `i` of `material` is called
    /// `names["material"][i]`.
    pub names: BTreeMap<String, Vec<String>>,
    /// Files that define the materials, as a mesh file names them (OBJ's `mtllib`).
    pub material_libraries: Vec<String>,
    /// Files with textures, as a mesh file names them (PLY's `TextureFile`).
    pub textures: Vec<String>,
}

/// The unit of coordinates that are whole numbers in a file: `offset + scale * number` on each axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Size of a step on each axis.
    pub scale: [f64; 3],
    /// Coordinate of the number 0 on each axis.
    pub offset: [f64; 3],
}
