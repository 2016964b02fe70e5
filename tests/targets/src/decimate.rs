//! Decimation of surfaces and of faces that meet in any way, against its promises.

use trioxide::Buffer;
use trioxide::bit_set::pack_list;
use trioxide::decimate::{
    Channel, Numbers, Options, Place, Result, Surface, decimate as decimate_on,
};
use trioxide_verify::validate;

use crate::bytes::Choices;
use crate::{Pipeline, cpu, planar, weld};

pub const PIPELINES: &[Pipeline] = &[("decimate", decimate)];

fn decimate(data: &[u8]) {
    let mut choices = Choices::new(data);
    let (points, faces, regions, locked) = match choices.below(3) {
        0 => {
            let input = weld::input(&mut choices);
            (input.points, input.faces, input.regions, input.locked)
        }
        _ => {
            let plane = planar::triangulation(&mut choices);
            let height = |x: f64, y: f64| if x > y { x - y } else { 0.0 };
            let points = plane.points.iter().map(|p| p.extend(height(p.x, p.y)));
            (points.collect(), plane.triangles, plane.regions, Vec::new())
        }
    };
    let options = Options {
        error: (choices.below(3) == 0).then(|| choices.coordinate()),
        place: [Place::Optimal, Place::Midpoint, Place::End][choices.below(3)],
        lock_boundary: choices.below(3) == 0,
        ..Options::new(choices.below(faces.len() + 2))
    };
    let channels = [1.0, 1e-3].map(|weight| Channel {
        weight,
        range: [-1.0, 1.0],
    });
    let values = (choices.below(3) == 0).then(|| {
        let numbers = 0..channels.len() * points.len();
        numbers.map(|_| choices.coordinate()).collect::<Vec<_>>()
    });
    let on = cpu();
    let run = || -> Result<_> {
        let regions = regions
            .as_ref()
            .map(|regions| on.upload(regions))
            .transpose()?;
        let locked = (!locked.is_empty()).then(|| on.upload(&pack_list(&locked)));
        let locked = locked.transpose()?.map(Buffer::cast);
        let (corners, vertices) = (on.upload(&faces)?.cast(), on.upload(&points)?);
        let values = values
            .as_ref()
            .map(|values| on.upload(values))
            .transpose()?;
        let numbers = values.as_ref().map(|values| Numbers {
            values,
            channels: &channels,
        });
        let surface = Surface {
            numbers,
            regions: regions.as_ref(),
            locked: locked.as_ref(),
            ..Surface::new(&vertices, &corners)
        };
        decimate_on(on, &surface, &options)?.download(on)
    };
    if let Ok(ours) = run() {
        validate::decimated(points.len(), &faces, &ours).expect("the promises of decimation");
    }
}
