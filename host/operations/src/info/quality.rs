//! Quality of polygons and of cells as JSON.

use serde_json::{Value, json};
use trioxide::quality::{Distribution, Quality};
use trioxide::quality3d::{Histogram, Quality3d};
use trioxide::smooth::Ratios;

/// The fields of [`Quality`], with `convex` and `star_shaped` as fractions of the polygons. A value that no polygon has
/// is null.
pub fn polygons_to_json(quality: &Quality) -> Value {
    let n = quality.polygons as f64;
    let corners: usize = quality
        .vertices_per_polygon
        .iter()
        .map(|(k, m)| k * m)
        .sum();
    let histogram: serde_json::Map<String, Value> = quality
        .vertices_per_polygon
        .iter()
        .map(|(k, &m)| (k.to_string(), json!(m)))
        .collect();
    let distribution = |d: &Distribution| json!({"min": d.min, "mean": d.mean, "max": d.max});
    json!({
        "polygons": quality.polygons,
        "vertices_per_polygon": {
            "min": quality.vertices_per_polygon.keys().next(),
            "mean": corners as f64 / n,
            "max": quality.vertices_per_polygon.keys().next_back(),
            "histogram": histogram,
        },
        "area": distribution(&quality.area),
        "perimeter": distribution(&quality.perimeter),
        "convex_fraction": quality.convex as f64 / n,
        "convexity": distribution(&quality.convexity),
        "shortest_edge_to_diameter": distribution(&quality.shortest_edge_to_diameter),
        "star_shaped_fraction": quality.star_shaped as f64 / n,
        "kernel": distribution(&quality.kernel),
    })
}

/// The quality of cells: extremes and histograms.
pub fn cells_to_json(quality: &Quality3d) -> Value {
    let histogram = |h: &Histogram, extreme: (&str, f64)| {
        let (name, value) = extreme;
        json!({"bounds": h.bounds, "counts": h.counts, name: value})
    };
    let mut object = json!({
        "inverted": quality.inverted,
        "scaled_jacobian": histogram(&quality.jacobians, ("min", quality.worst_jacobian)),
    });
    if let Some(tetrahedra) = &quality.tetrahedra {
        object["minimum_dihedral_angle"] =
            histogram(&tetrahedra.angles, ("min", tetrahedra.smallest_angle));
        object["radius_ratio"] = histogram(&tetrahedra.ratios, ("max", tetrahedra.largest_ratio));
    }
    object
}

/// Mean ratios of cells.
pub fn ratios_to_json(ratios: &Ratios) -> Value {
    json!({"bounds": Ratios::bounds(), "counts": ratios.counts, "min": ratios.worst})
}

#[cfg(test)]
mod tests {
    use glam::dvec2;
    use trioxide::mesh::{PolygonMesh, Polygons};
    use trioxide::quality::quality;

    use super::polygons_to_json;

    #[test]
    fn json_has_fractions_and_no_nan() {
        let triangle = PolygonMesh {
            points: vec![dvec2(0.0, 0.0), dvec2(1.0, 0.0), dvec2(0.0, 1.0)],
            polygons: Polygons {
                offsets: vec![0, 3],
                vertices: vec![0, 1, 2],
            },
            ..PolygonMesh::default()
        };
        let json = polygons_to_json(&quality(&triangle));
        assert_eq!(json["convex_fraction"], 1.0);
        assert_eq!(json["vertices_per_polygon"]["histogram"]["3"], 1);
        assert_eq!(json["area"]["mean"], 0.5);
        let empty = polygons_to_json(&quality(&PolygonMesh::default()));
        assert_eq!(empty["polygons"], 0);
        assert!(empty["area"]["min"].is_null() && empty["star_shaped_fraction"].is_null());
    }
}
