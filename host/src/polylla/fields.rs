//! Which triangles a polygon is made of: for fields of triangles.

use std::collections::HashSet;

use glam::DVec2;

use crate::fields::Mix;
use crate::mesh::{Polygons, Triangulation};
use crate::reference;
use trioxide_mesh::parallel;

/// The triangles of each polygon with their areas: a field of triangles [mixed](crate::fields::Fields::mixed) so has in each
/// polygon the mean over its area. Integers are those of the triangle of the polygon's smallest half-edge, as its region is.
/// Where all triangles of a polygon are flat, they count alike.
///
/// `half_edges` are the smallest half-edges of the polygons, which are made of `mesh`.
///
/// # Panics
/// When the polygons are none of a valid triangulation.
pub fn triangles_of_polygons(mesh: &Triangulation, polygons: &Polygons, half_edges: &[u32]) -> Mix {
    let links = reference::half_edges(&mesh.triangles, mesh.points.len());
    let rows = parallel::collect(polygons.len(), |i| {
        let corners = polygons.get(i);
        let ends = corners.iter().zip(corners.iter().cycle().skip(1));
        let mut sides: Vec<(u32, u32)> = ends.map(|(&a, &b)| (a, b)).collect();
        sides.sort_unstable();
        // From the first triangle on over all edges that are no sides.
        let mut found = vec![half_edges[i] / 3];
        let mut seen: HashSet<u32> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&triangle) = found.get(next) {
            next += 1;
            let corners = mesh.triangles[triangle as usize];
            for k in 0..3 {
                if sides
                    .binary_search(&(corners[k], corners[(k + 1) % 3]))
                    .is_ok()
                {
                    continue;
                }
                let twin = links.twin[3 * triangle as usize + k];
                let neighbour = twin / 3;
                if neighbour < links.triangles && seen.insert(neighbour) {
                    found.push(neighbour);
                }
            }
        }
        found.sort_unstable();
        found
    });
    let area = |&t: &u32| {
        let [a, b, c] = mesh.triangles[t as usize].map(|v| mesh.points[v as usize]);
        0.5 * DVec2::perp_dot(b - a, c - a).abs()
    };
    let (mut offsets, mut columns, mut weights) = (vec![0], Vec::new(), Vec::new());
    for row in &rows {
        let areas: Vec<f64> = row.iter().map(area).collect();
        let sum: f64 = areas.iter().sum();
        let has_area = sum > 0.0 && sum.is_finite();
        weights.extend(areas.iter().map(|&area| if has_area { area } else { 1.0 }));
        columns.extend_from_slice(row);
        offsets.push(columns.len());
    }
    let labels = half_edges.iter().map(|&h| h / 3).collect();
    Mix::new(offsets, columns, weights, labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{Field, Fields};
    use crate::mesh::Ties;

    #[test]
    fn triangles_of_all_polygons_are_all_triangles_and_areas_agree() {
        let mesh = crate::generate::random(2000, 3).unwrap();
        let links = reference::half_edges(&mesh.triangles, mesh.points.len());
        let (result, _) = reference::polylla(&mesh.points, &links, |_| false, Ties::Edge);
        let mix = triangles_of_polygons(&mesh, &result.polygons, &result.half_edges);
        // The mean of the ids of the triangles, and the labels.
        let ids = 0..mesh.triangles.len() as u32;
        let fields: Fields = [
            Field::scalars("one", ids.clone().map(|_| 1.0).collect::<Vec<_>>()),
            Field::scalars("id", ids.clone().collect::<Vec<_>>()),
        ]
        .into_iter()
        .collect();
        let mixed = fields.mixed(&mix);
        let id = &mixed.get("id").unwrap().values;
        for (i, &h) in result.half_edges.iter().enumerate() {
            assert!((mixed.get("one").unwrap().values.f64(i) - 1.0).abs() < 1e-15);
            assert_eq!(id.i64(i), i64::from(h / 3));
        }
        // Independently: the shoelace formula for areas, and each triangle once.
        let mut all: Vec<u32> = mix.rows().flat_map(|row| row.map(|(t, _)| t)).collect();
        all.sort_unstable();
        assert_eq!(all, ids.collect::<Vec<_>>());
        for (polygon, row) in result.polygons.iter().zip(mix.rows()) {
            let corners: Vec<DVec2> = polygon.iter().map(|&v| mesh.points[v as usize]).collect();
            let next = corners.iter().cycle().skip(1);
            let shoelace: f64 = corners.iter().zip(next).map(|(a, b)| a.perp_dot(*b)).sum();
            let area: f64 = row.map(|(_, area)| area).sum();
            assert!((shoelace / 2.0 - area).abs() < 1e-12, "{shoelace} {area}");
        }
    }
}
