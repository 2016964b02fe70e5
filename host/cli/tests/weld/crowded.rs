//! Points with very many others within epsilon.

use std::time::{Duration, Instant};

use super::*;

/// 100,000 equal points of 5 colours: a second in a development build. Pairs of neighbours took minutes.
#[test]
fn guards_of_crowded_points_take_linear_time() {
    let folder = folder("weld_crowded");
    let n = 100_000;
    let mesh = Mesh {
        points: vec![DVec3::ONE; n],
        attributes: VertexAttributes {
            colors: Some((0..n).map(|i| [(i % 5 * 50) as u8, 0, 0, 255]).collect()),
            ..VertexAttributes::default()
        },
        ..Mesh::default()
    };
    let input = write(&folder, "in.ply", &mesh);
    for (tolerance, kept) in [("0", 5), ("50", 3), ("255", 1)] {
        let mut outputs = Vec::new();
        for device in DEVICES {
            let output = path(&folder, "out.ply");
            let arguments = ["weld", &input, "--epsilon=0", "-o", &output];
            let guard = ["--color-tolerance", tolerance];
            let start = Instant::now();
            done(&[&arguments[..], &guard, device].concat());
            let took = start.elapsed();
            assert!(took < Duration::from_secs(20), "{device:?}: {took:?}");
            let mesh = formats::read(Path::new(&output)).expect("written");
            assert_eq!(mesh.points.len(), kept, "{tolerance}");
            outputs.push(mesh);
        }
        assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
