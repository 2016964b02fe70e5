//! Attributes of the clusters of a weld, vertex by vertex.

use glam::{DVec2, DVec3};
use gpu::weld as kernel;

use trioxide::mesh::VertexAttributes;

/// The attributes of each cluster's representative.
pub fn first(attributes: &VertexAttributes, ids: &[u32]) -> VertexAttributes {
    fn of<T: Copy>(array: &Option<Vec<T>>, ids: &[u32]) -> Option<Vec<T>> {
        let array = array.as_ref().filter(|_| !ids.is_empty())?;
        Some(ids.iter().map(|&v| array[v as usize]).collect())
    }
    VertexAttributes {
        normals: of(&attributes.normals, ids),
        colors: of(&attributes.colors, ids),
        uvs: of(&attributes.uvs, ids),
    }
}

/// Means of the attributes of each cluster, added in ascending order; a cluster of one vertex has that vertex's
/// attributes.
pub fn means(attributes: &VertexAttributes, map: &[u32], clusters: usize) -> VertexAttributes {
    let normals = attributes.normals.as_ref().map(|normals| {
        let nothing = (DVec3::splat(-0.0), None, true);
        let sums = sums(
            normals,
            map,
            clusters,
            nothing,
            |(sum, first, are_equal), normal| {
                let first = first.unwrap_or(normal);
                (
                    sum + kernel::summand(normal),
                    Some(first),
                    are_equal && normal == first,
                )
            },
        );
        type Sum = (DVec3, Option<DVec3>, bool);
        let mean = |(first, (sum, _, are_equal), count): (DVec3, Sum, u32)| match count {
            2.. if !are_equal => kernel::unit(sum),
            _ => first,
        };
        sums.into_iter().map(mean).collect()
    });
    let uvs = attributes.uvs.as_ref().map(|uvs| {
        let nothing = [f64::INFINITY, f64::NEG_INFINITY];
        let zero = (DVec2::splat(-0.0), [nothing; 2]);
        let sums = sums(uvs, map, clusters, zero, |(sum, [u, v]), uv: DVec2| {
            let ranges = [kernel::with_number(u, uv.x), kernel::with_number(v, uv.y)];
            (sum + uv, ranges)
        });
        let mean = |(only, (sum, ranges), count)| match count {
            1 => only,
            _ => kernel::mean_uv(sum, f64::from(count), ranges),
        };
        sums.into_iter().map(mean).collect()
    });
    let colors = attributes.colors.as_ref().map(|colors| {
        let sums = sums(colors, map, clusters, [0u64; 4], |sum, color| {
            [0, 1, 2, 3].map(|k| sum[k] + u64::from(color[k]))
        });
        let mean = |(_, sum, count): (_, [u64; 4], u32)| {
            // Halves up.
            sum.map(|sum| ((2 * sum + u64::from(count)) / (2 * u64::from(count))) as u8)
        };
        sums.into_iter().map(mean).collect()
    });
    let there = clusters > 0;
    VertexAttributes {
        normals: normals.filter(|_| there),
        colors: colors.filter(|_| there),
        uvs: uvs.filter(|_| there),
    }
}

/// An element, the sum of all, and their number, for each cluster.
fn sums<T: Copy, S: Copy>(
    array: &[T],
    map: &[u32],
    clusters: usize,
    zero: S,
    add: impl Fn(S, T) -> S,
) -> Vec<(T, S, u32)> {
    let mut sums: Vec<Option<(T, S, u32)>> = vec![None; clusters];
    for (&element, &c) in array.iter().zip(map) {
        let sum = &mut sums[c as usize];
        let (only, so_far, count) = sum.unwrap_or((element, zero, 0));
        *sum = Some((only, add(so_far, element), count + 1));
    }
    // Each cluster has a vertex.
    sums.into_iter().flatten().collect()
}
