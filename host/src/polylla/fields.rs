//! Which triangles a polygon is made of: for fields of triangles.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use gpu::point::DoublePoint;

use crate::fields::Mix;
use crate::mesh::{NONE, Polygons, Triangulation};
use trioxide_mesh::parallel;

/// The triangles that each polygon is made of, ascending: those of polygon i are
/// `triangles[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolygonTriangles {
    /// Start of each polygon's triangles, and the end of the last; P + 1.
    pub offsets: Vec<u32>,
    /// Triangles; T.
    pub triangles: Vec<u32>,
}

impl PolygonTriangles {
    /// Of `polygons` of `mesh` by their smallest half-edges, and the `twins` of the mesh's half-edges, 3T or more. Each
    /// polygon goes through the triangles around its corners, from one side to the next: so each triangle is met
    /// thrice.
    ///
    /// # Panics
    /// When the polygons are none of a valid triangulation.
    pub fn of_polygons<V: DoublePoint>(
        mesh: &Triangulation<V>,
        twins: &[u32],
        polygons: &Polygons,
        half_edges: &[u32],
    ) -> Self {
        let count = mesh.triangles.len();
        let corners = mesh.triangles.as_flattened();
        let next = |h: u32| if h % 3 == 2 { h - 2 } else { h + 1 };
        let end = |h: u32| corners[next(h) as usize];
        // No two polygons have a triangle in common.
        let map: Vec<AtomicU32> = parallel::collect(count, |_| AtomicU32::new(NONE));
        parallel::for_each(polygons.len(), |p| {
            let (corners, mut side) = (polygons.get(p), half_edges[p]);
            let ends = corners.iter().cycle().skip(2);
            for (_, &v) in corners.iter().zip(ends) {
                map[side as usize / 3].store(p as u32, Relaxed);
                let first = next(side);
                let mut spoke = first;
                while end(spoke) != v {
                    spoke = next(twins[spoke as usize]);
                    assert!(spoke != first, "a corner of polygon {p} has a side");
                    map[spoke as usize / 3].store(p as u32, Relaxed);
                }
                side = spoke;
            }
        });
        let mut offsets = vec![0; polygons.len() + 1];
        let polygon = |t: usize| map[t].load(Relaxed) as usize;
        (0..count).for_each(|t| offsets[polygon(t) + 1] += 1);
        for p in 0..polygons.len() {
            offsets[p + 1] += offsets[p];
        }
        let (mut places, mut triangles) = (offsets.clone(), vec![0; count]);
        for t in 0..count {
            let place = &mut places[polygon(t)];
            triangles[*place as usize] = t as u32;
            *place += 1;
        }
        Self { offsets, triangles }
    }

    /// As [`of_polygons`](Self::of_polygons), of a mesh without half-edges, which are made.
    ///
    /// # Panics
    /// As there.
    pub fn of_mesh<V: DoublePoint>(
        mesh: &Triangulation<V>,
        polygons: &Polygons,
        half_edges: &[u32],
    ) -> Self {
        let links = trioxide_mesh::half_edges::half_edges(&mesh.triangles, mesh.points.len());
        Self::of_polygons(mesh, &links.twin, polygons, half_edges)
    }

    /// The triangles with their areas: a field of triangles [mixed](crate::fields::Fields::mixed) so has in each
    /// polygon the mean over its area. Integers are those of the triangle of the polygon's smallest half-edge, as its
    /// region is. Where all triangles of a polygon are flat, they count alike.
    pub fn mix<V: DoublePoint>(self, mesh: &Triangulation<V>, half_edges: &[u32]) -> Mix {
        let mut weights = parallel::map(&self.triangles, |&t| {
            let [a, b, c] = mesh.triangles[t as usize].map(|v| mesh.points[v as usize]);
            0.5 * (b - a).spanned_area(c - a)
        });
        for ends in self.offsets.windows(2) {
            let areas = &mut weights[ends[0] as usize..ends[1] as usize];
            let sum: f64 = areas.iter().sum();
            if !(sum > 0.0 && sum.is_finite()) {
                areas.fill(1.0);
            }
        }
        let offsets = self.offsets.iter().map(|&offset| offset as usize).collect();
        let labels = half_edges.iter().map(|&h| h / 3).collect();
        Mix::new(offsets, self.triangles, weights, labels)
    }
}

/// [`PolygonTriangles::mix`] of polygons without half-edges of their mesh, which are made.
///
/// # Panics
/// When the polygons are none of a valid triangulation.
pub fn triangles_of_polygons<V: DoublePoint>(
    mesh: &Triangulation<V>,
    polygons: &Polygons,
    half_edges: &[u32],
) -> Mix {
    PolygonTriangles::of_mesh(mesh, polygons, half_edges).mix(mesh, half_edges)
}

#[cfg(test)]
mod tests {
    use glam::DVec2;

    use super::*;
    use crate::device::Device;
    use crate::fields::{Field, Fields};
    use crate::half_edges::DeviceTriangulation;
    use crate::polylla::{Options, polylla};

    #[test]
    fn triangles_of_all_polygons_are_all_triangles_and_areas_agree() {
        let on = Device::cpu(Some(1)).unwrap();
        let mesh = crate::generate::random(&on, 2000, 3).unwrap();
        let resident = DeviceTriangulation::<DVec2>::upload(&on, &mesh).unwrap();
        let result = polylla(&on, &resident, None, Options::default()).unwrap();
        let result = result.download(&on).unwrap();
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
