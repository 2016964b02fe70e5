//! `trioxide bench kernels`.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::Place;

#[test]
fn bench_kernels_tells_time_and_rate_of_every_kernel() {
    let place = Place::new();
    let arguments = [
        "bench", "kernels", "-n", "500", "--runs", "1", "--device", "cpu", "--quiet", "--json",
        "k.json",
    ];
    let call = place.call(&arguments);
    assert_eq!(call.status, Some(0), "{}", call.stderr);
    assert!(
        call.stdout.contains("share: of a copy's"),
        "{}",
        call.stdout
    );
    let object: Value = serde_json::from_slice(&fs::read(place.path("k.json")).unwrap()).unwrap();
    assert_eq!(object["schema"], "trioxide-bench/1");
    assert_eq!(object["family"], "kernels");
    let mut found = BTreeSet::new();
    for run in object["runs"].as_array().unwrap() {
        let stages = run["stages"].as_array().unwrap();
        let times: Vec<f64> = stages
            .iter()
            .map(|stage| stage["median"].as_f64().unwrap())
            .collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
        let copy = run["machine"]["copy_bandwidth_gb_s"].as_f64().unwrap();
        for stage in stages {
            assert!(stage["launches"].as_u64().unwrap() > 0, "{stage}");
            found.insert(stage["name"].as_str().unwrap().to_owned());
            let Some(bytes) = stage["bytes"].as_f64() else {
                assert!(
                    stage["gb_s"].is_null() && stage["share"].is_null(),
                    "{stage}"
                );
                continue;
            };
            let rate = bytes / (stage["median"].as_f64().unwrap() * 1e6);
            assert!(
                (stage["gb_s"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9,
                "{stage}"
            );
            assert!(
                (stage["share"].as_f64().unwrap() * copy / rate - 1.0).abs() < 1e-9,
                "{stage}"
            );
        }
    }
    // One of each family, and each layout.
    for name in [
        "scan_sums",
        "list_bits",
        "fill_buckets",
        "match_twins_f64",
        "link_frontier_edges",
        "label_max_f64_ties_by_edge_true",
        "find_longest_edges_f64",
        "follow_marked_triangles",
        "divide_all_triangles_f64",
        "order_tet_edges_f64",
        "gather_points",
        "claim_faces",
        "gather_tet_neighbours",
        "mark_tet_boundary",
        "measure_cells_f64",
        "sweep_form_a_soa_f64",
        "sweep_form_a_aos_f64",
        "sweep_form_a_aligned_f64",
        "sweep_classes_aligned_f64",
    ] {
        assert!(found.contains(name), "{name}: {found:?}");
    }
    let call = place.call(&["bench", "kernels", "--mesh", "scan", "--device", "cpu"]);
    assert_ne!(call.status, Some(0));
    assert!(
        call.stderr.contains("grid, jittered or random"),
        "{}",
        call.stderr
    );
}
