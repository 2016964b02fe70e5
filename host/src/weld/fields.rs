//! Named fields through a weld, in host memory: which vertices and faces stay is known by then.

use super::{Options, Position};
use crate::fields::{Fields, MeshFields, Mix};
use crate::mesh::{Faces, Mesh};

/// The old ids of the triangles that are left, ascending: `left` are those of `triangles` by their new vertices that
/// enclose an area and are no repetitions, in order.
fn kept_triangles(triangles: &[[u32; 3]], map: &[u32], left: &[[u32; 3]]) -> Vec<u32> {
    let mut next = left.iter().peekable();
    let all = (0u32..).zip(triangles);
    let kept = all.filter(|(_, corners)| {
        let new = corners.map(|v| map[v as usize]);
        next.next_if(|left| **left == new).is_some()
    });
    kept.map(|(id, _)| id).collect()
}

/// The fields of a welded mesh: of vertices the mean of the clusters, or those of the representatives; of faces and
/// segments those of the ones that are left, `faces` and `segments` by their old ids. No list stands for all triangles
/// of which `left` are left.
pub(super) fn carry(
    input: &Mesh,
    (map, representatives): (&[u32], &[u32]),
    left: &Faces,
    faces: Option<&[u32]>,
    segments: &[u32],
    options: &Options,
) -> MeshFields {
    let MeshFields {
        points,
        cells,
        sides,
    } = &input.fields;
    let points = match options.position {
        _ if points.is_empty() => Fields::default(),
        Position::First => points.gather(representatives),
        Position::Mean => points.mixed(&Mix::of_clusters(map, representatives)),
    };
    let cells = match (faces, &input.faces, left) {
        _ if cells.is_empty() => Fields::default(),
        (Some(ids), ..) => cells.gather(ids),
        (None, Faces::Triangles(before), Faces::Triangles(left)) => {
            cells.gather(&kept_triangles(before, map, left))
        }
        (None, ..) => unreachable!("the ids of polygons are known"),
    };
    MeshFields {
        points,
        cells,
        sides: sides.gather(segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triangles_that_are_left_are_found_among_degenerate_and_repeated_ones() {
        let map = [0, 1, 2, 0, 1];
        let triangles = [[0, 1, 2], [0, 3, 1], [3, 4, 2], [2, 1, 0], [1, 2, 3]];
        // The second has no area, the third and the fifth are the first again.
        assert_eq!(
            kept_triangles(&triangles, &map, &[[0, 1, 2], [2, 1, 0]]),
            [0, 3]
        );
        let all = triangles.map(|corners| corners.map(|v| map[v as usize]));
        assert_eq!(kept_triangles(&triangles, &map, &all), [0, 1, 2, 3, 4]);
    }
}
