//! Conversions between points of the plane and of space.

use glam::{DVec2, DVec3, Vec2, Vec3};

use super::{Case, Outcome, equal};
use trioxide::convert::{flatten, lift, origins, triangles, triangulation};
use trioxide::device::Device;
use trioxide::generate;
use trioxide::half_edges::DeviceTriangulation;

pub fn cases() -> Vec<Case> {
    vec![
        Case::new("points of the plane and of space", convert),
        Case::new("a triangulation from points of space", from_space),
    ]
}

fn convert(on: &Device) -> Outcome {
    for n in [0, 1, 33, 10_000] {
        let flat: Vec<DVec2> = (0..n)
            .map(|i| DVec2::new(f64::from(i) / 7.0, -f64::from(i)))
            .collect();
        let high: Vec<DVec3> = flat.iter().map(|p| p.extend(p.x - 1.0)).collect();
        let lifted: Vec<DVec3> = flat.iter().map(|p| p.extend(0.0)).collect();
        let points = on.upload(&flat)?;
        equal("lifted", &on.download(&lift(on, &points)?)?, &lifted)?;
        let points = flatten::<DVec2>(on, &on.upload(&high)?)?;
        equal("flattened", &on.download(&points)?, &flat)?;

        let flat: Vec<Vec2> = flat.iter().map(|p| p.as_vec2()).collect();
        let lifted: Vec<Vec3> = flat.iter().map(|p| p.extend(0.0)).collect();
        let points = lift(on, &on.upload(&flat)?)?;
        equal("lifted, f32", &on.download(&points)?, &lifted)?;
        let points = flatten::<Vec2>(on, &points)?;
        equal("flattened, f32", &on.download(&points)?, &flat)?;
    }
    let list = [[0u32, 1, 2], [2, 1, 3]];
    let there = origins(on.upload(&list)?);
    equal(
        "origins",
        &on.download(there.as_words())?,
        list.as_flattened(),
    )?;
    equal("triangles", &on.download(&triangles(there)?)?, &list)
}

fn from_space(on: &Device) -> Outcome {
    let mesh = generate::random(500, 3)?;
    let high: Vec<DVec3> = mesh.points.iter().map(|p| p.extend(p.y)).collect();
    let faces = on.upload(&mesh.triangles)?;
    let ours = triangulation::<DVec2>(on, &on.upload(&high)?, faces)?.download(on)?;
    let expected = DeviceTriangulation::<DVec2>::upload(on, &mesh)?.download(on)?;
    equal("twin", &ours.twin, &expected.twin)?;
    equal("origin", &ours.origin, &expected.origin)
}
