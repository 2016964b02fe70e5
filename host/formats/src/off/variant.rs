//! Variants of OFF: the attributes of a vertex.

use glam::DVec3;

use crate::text::{Fault, Line, Parsed, show};

/// The vertex attributes that the keyword names.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variant {
    /// Letters of normals, colours and texture coordinates that are present, in upper case.
    pub(super) letters: Vec<u8>,
    /// Whether a further coordinate divides the others.
    pub(super) is_homogeneous: bool,
    /// Whether the colour of a vertex precedes its normal, as MeshLab writes them.
    pub(super) is_color_first: bool,
    /// Number of the other coordinates; for `nOFF` the file gives it.
    pub(super) dimensions: Option<usize>,
}

impl Default for Variant {
    fn default() -> Variant {
        Variant {
            letters: Vec::new(),
            is_homogeneous: false,
            is_color_first: false,
            dimensions: Some(3),
        }
    }
}

impl Variant {
    /// The variant of a keyword.
    pub(super) fn of(keyword: &[u8]) -> std::result::Result<Variant, String> {
        let has_upper = keyword.iter().any(u8::is_ascii_uppercase);
        let upper = match has_upper {
            true => keyword.to_vec(),
            false => keyword.to_ascii_uppercase(),
        };
        let letters = upper
            .strip_suffix(b"OFF")
            .ok_or_else(|| format!("expected OFF, found `{}`", show(keyword)))?;
        let (letters, is_any) = match letters.strip_suffix(b"n") {
            Some(letters) => (letters, true),
            None => (letters, false),
        };
        let (letters, is_homogeneous) = match letters.strip_suffix(b"4") {
            Some(letters) if !is_any => (letters, true),
            _ => (letters, false),
        };
        // In other dimensions normals have other sizes.
        let is_known = letters.iter().all(|letter| b"STCN".contains(letter));
        match is_known && !(is_any && letters.contains(&b'N')) {
            true => Ok(Variant {
                letters: letters.to_vec(),
                is_homogeneous,
                is_color_first: false,
                dimensions: (!is_any).then_some(3),
            }),
            false => Err(format!("{} is not read: write it as OFF", show(keyword))),
        }
    }

    /// Sets the number of dimensions of `nOFF`.
    pub(super) fn set_dimensions(&mut self, count: usize) -> std::result::Result<(), String> {
        if !matches!(count, 2 | 3) {
            return Err(format!(
                "the vertices have {count} coordinates, but of nOFF 2 or 3 are read"
            ));
        }
        self.dimensions = Some(count);
        Ok(())
    }

    pub(super) fn has(&self, letter: u8) -> bool {
        self.letters.contains(&letter)
    }

    /// Returns whether a vertex with `extra` numbers after its position has the attributes of the keyword.
    pub(super) fn fits(&self, extra: usize) -> bool {
        let others = 3 * usize::from(self.has(b'N')) + 2 * usize::from(self.has(b'S'));
        match extra.checked_sub(others) {
            None => false,
            Some(channels) if self.has(b'C') => matches!(channels, 3 | 4),
            Some(rest) => rest == 0,
        }
    }

    /// Returns this variant with other letters.
    pub(super) fn with_letters(&self, letters: &[u8]) -> Variant {
        Variant {
            letters: letters.to_vec(),
            ..self.clone()
        }
    }

    /// Number of a vertex's coordinates, with the dividing one.
    pub(super) fn numbers_of_position(&self) -> usize {
        self.dimensions() + usize::from(self.is_homogeneous)
    }

    /// Number of a vertex's numbers after its colour.
    pub(super) fn numbers_after_color(&self) -> usize {
        let normal = self.has(b'N') && self.is_color_first;
        3 * usize::from(normal) + 2 * usize::from(self.has(b'S'))
    }

    /// Number of a vertex's coordinates without the dividing one.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions.unwrap_or(3)
    }

    /// The position of a vertex from its coordinates.
    pub(super) fn position(&self, coordinates: [f64; 4]) -> std::result::Result<DVec3, String> {
        let [x, y, z, w] = coordinates;
        match (self.is_homogeneous, w == 0.0) {
            (false, _) => Ok(DVec3::new(x, y, z)),
            (true, false) => Ok(DVec3::new(x, y, z) / w),
            (true, true) => Err(
                "a vertex of 4OFF has 0 as its fourth coordinate: it lies at infinity".to_owned(),
            ),
        }
    }

    pub(super) fn parse_point(&self, line: &mut Line) -> Parsed<DVec3> {
        let offset = line.offset();
        let mut coordinates = [0.0; 4];
        for (coordinate, what) in coordinates
            .iter_mut()
            .zip(["x", "y", "z"])
            .take(self.dimensions())
        {
            *coordinate = line.f64(what)?;
        }
        if self.is_homogeneous {
            coordinates[3] = line.f64("w")?;
        }
        self.position(coordinates)
            .map_err(|reason| Fault::new(offset, reason))
    }
}
