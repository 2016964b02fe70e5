//! Faces of any size: new vertices, without corners that became one. In host memory, where such faces are; the rules
//! are those for triangles on a device.

use std::collections::HashSet;

use super::{Error, Result};
use crate::mesh::Polygons;

/// Gives polygons their new vertices. Returns the polygons that are left, and their ids.
///
/// Of corners that follow each other and became one, one stays; a corner between two that became one is dropped with
/// one of them, as there is no area between. A polygon that then has less than three corners is dropped, and of
/// polygons with the same vertices in the same circular order all but the first; unless `keep_degenerate`.
///
/// # Errors
/// [`Error::FaceIndex`].
pub(super) fn remap(
    polygons: &Polygons,
    map: &[u32],
    keep_degenerate: bool,
) -> Result<(Polygons, Vec<u32>)> {
    let mut left = Polygons::default();
    let mut ids = Vec::new();
    let mut seen = HashSet::new();
    for (i, polygon) in polygons.iter().enumerate() {
        let corner = |&v: &u32| {
            map.get(v as usize)
                .copied()
                .ok_or(Error::FaceIndex { face: i })
        };
        let mut corners: Vec<u32> = polygon.iter().map(corner).collect::<Result<_>>()?;
        if !keep_degenerate {
            corners = without_degenerate_corners(&corners);
            if corners.len() < 3 || !seen.insert(from_lowest(&corners)) {
                continue;
            }
        }
        left.push(&corners);
        ids.push(i as u32);
    }
    Ok((left, ids))
}

/// The corners without the ones that enclose no area with their neighbours; less than three if nothing else is left.
fn without_degenerate_corners(polygon: &[u32]) -> Vec<u32> {
    let mut corners: Vec<u32> = Vec::with_capacity(polygon.len());
    for &v in polygon {
        if corners.last() == Some(&v) {
            continue;
        }
        if corners.len() > 1 && corners[corners.len() - 2] == v {
            // There and back.
            corners.pop();
            continue;
        }
        corners.push(v);
    }
    // The same where the circle closes.
    let (mut first, mut end) = (0, corners.len());
    while end - first > 1 {
        if corners[first] == corners[end - 1] {
            end -= 1;
        } else if end - first > 2 && corners[first] == corners[end - 2] {
            end -= 2;
        } else if end - first > 2 && corners[first + 1] == corners[end - 1] {
            first += 1;
            end -= 1;
        } else {
            break;
        }
    }
    corners[first..end].to_vec()
}

/// The same circle from the least of its rotations on.
fn from_lowest(polygon: &[u32]) -> Vec<u32> {
    let lowest = polygon.iter().min();
    let rotations = (0..polygon.len()).filter(|&i| Some(&polygon[i]) == lowest);
    let rotated = rotations.map(|i| [&polygon[i..], &polygon[..i]].concat());
    rotated.min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_without_area_are_dropped() {
        for (polygon, expected) in [
            (&[0, 1, 2, 3][..], &[0, 1, 2, 3][..]),
            (&[0, 0, 1, 2], &[0, 1, 2]),
            (&[0, 1, 2, 0], &[0, 1, 2]),
            (&[0, 1, 2, 2, 0], &[0, 1, 2]),
            (&[0, 1, 2, 1, 3], &[0, 1, 3]),
            (&[1, 0, 2, 3, 0], &[0, 2, 3]),
            (&[2, 3, 1, 2, 0], &[2, 3, 1]),
            // A figure of two triangles keeps both.
            (&[0, 1, 2, 0, 3, 4], &[0, 1, 2, 0, 3, 4]),
        ] {
            assert_eq!(without_degenerate_corners(polygon), expected, "{polygon:?}");
        }
        for polygon in [
            &[0, 1, 0, 1][..],
            &[0, 0, 0],
            &[0, 1, 2, 1],
            &[0, 1, 2, 2, 1],
            &[5, 6],
        ] {
            assert!(without_degenerate_corners(polygon).len() < 3, "{polygon:?}");
        }
    }

    #[test]
    fn repeated_polygons_are_dropped_whatever_corner_they_begin_at() {
        let mut polygons = Polygons::default();
        for polygon in [
            &[0, 1, 2, 3][..],
            &[2, 3, 0, 1],
            &[3, 2, 1, 0],
            &[0, 4, 2, 3],
        ] {
            polygons.push(polygon);
        }
        let map = [0, 1, 2, 3, 1];
        let (left, ids) = remap(&polygons, &map, false).expect("in range");
        assert_eq!(ids, [0, 2]);
        assert_eq!(
            left.iter().collect::<Vec<_>>(),
            [[0, 1, 2, 3], [3, 2, 1, 0]]
        );
        let (left, ids) = remap(&polygons, &map, true).expect("in range");
        assert_eq!((left.len(), ids.len()), (4, 4));
        assert!(remap(&polygons, &map[..4], false).is_err());
    }
}
