use glam::{DVec2, DVec3, Vec3};

use super::place::Place;
use super::scene::{Frame, frame};
use trioxide_mesh::{Error, Result, parallel};

/// The axis that points up in a view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Up {
    /// x.
    X,
    /// y, as in most scans and in computer graphics.
    Y,
    /// z, as in maps and in engineering.
    #[default]
    Z,
}

/// The place that a mesh in space is seen from: far away, without perspective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Degrees around the axis that points up: from x towards y if z is up, and in the same cyclic order otherwise.
    pub azimuth: f64,
    /// Degrees above the horizon, -90 to 90.
    pub elevation: f64,
}

impl Default for View {
    fn default() -> View {
        View {
            azimuth: 30.0,
            elevation: 25.0,
        }
    }
}

impl View {
    /// From above: with z up, x is to the right and y up, as planar meshes are seen.
    pub const ABOVE: View = View {
        azimuth: -90.0,
        elevation: 90.0,
    };
}

/// A view, and the axis that points up in it.
#[derive(Clone, Copy, Default)]
pub(super) struct Camera {
    pub view: View,
    pub up: Up,
}

impl Camera {
    /// The picture's axes in the mesh's coordinates: to the right, up, and towards the viewer.
    fn axes(&self) -> [DVec3; 3] {
        // The same bits on every machine. Exact values stay exact.
        let sincos = |degrees: f64| match degrees.rem_euclid(360.0) {
            0.0 => (0.0, 1.0),
            90.0 => (1.0, 0.0),
            180.0 => (0.0, -1.0),
            270.0 => (-1.0, 0.0),
            other => libm::sincos(other.to_radians()),
        };
        let (sin_azimuth, cos_azimuth) = sincos(self.view.azimuth);
        let (sin_elevation, cos_elevation) = sincos(self.view.elevation);
        let viewer = DVec3::new(
            cos_elevation * cos_azimuth,
            cos_elevation * sin_azimuth,
            sin_elevation,
        );
        let right = DVec3::new(-sin_azimuth, cos_azimuth, 0.0);
        [right, viewer.cross(right), viewer].map(|axis| match self.up {
            Up::X => DVec3::new(axis.z, axis.x, axis.y),
            Up::Y => DVec3::new(axis.y, axis.z, axis.x),
            Up::Z => axis,
        })
    }
}

/// From the mesh's coordinates to the picture's.
pub(super) struct Projection {
    axes: [DVec3; 3],
    center: DVec3,
    frame: Frame,
}

impl Projection {
    /// The projection for which the drawn points fill the picture. `bounds` gets a function and returns its least and
    /// largest values over all drawn points, axis by axis.
    pub fn new(
        camera: &Camera,
        width: Option<u32>,
        bounds: impl Fn(&(dyn Fn(DVec3) -> DVec3 + Sync)) -> [DVec3; 2],
    ) -> Result<Projection> {
        let View { azimuth, elevation } = camera.view;
        if !(azimuth.is_finite() && elevation.abs() <= 90.0) {
            return Err(Error::Argument(format!(
                "nothing can be seen from azimuth {azimuth}, elevation {elevation}: the elevation lies between -90 and 90 degrees"
            )));
        }
        let axes = camera.axes();
        let [least, most] = bounds(&|point| turned(&axes, point));
        Ok(Projection {
            axes,
            center: least.midpoint(most),
            frame: frame([least.truncate(), most.truncate()], 0.02, width)?,
        })
    }

    pub fn size(&self) -> [u32; 2] {
        [self.frame.width, self.frame.height]
    }

    /// The mesh's coordinates in the picture.
    pub fn place(&self) -> Place {
        let [right, up, _] = self.axes;
        let half = DVec2::from(self.size().map(f64::from)) / 2.0 / self.frame.scale;
        let [least, most] = [-1.0, 1.0].map(|side| self.center.truncate() + side * half);
        Place {
            pixels_per_unit: self.frame.scale,
            axes: DVec3::AXES.map(|axis| DVec2::new(right.dot(axis), -up.dot(axis)).as_vec2()),
            ranges: (self.axes == DVec3::AXES).then_some([[least.x, most.x], [least.y, most.y]]),
        }
    }

    /// Pixels to the right, down, and away from the viewer.
    #[inline]
    pub fn apply(&self, point: DVec3) -> Vec3 {
        let [x, y, z] = ((turned(&self.axes, point) - self.center) * self.frame.scale).to_array();
        let [width, height] = self.size().map(|side| f64::from(side) / 2.0);
        Vec3::new((width + x) as f32, (height - y) as f32, -z as f32)
    }
}

#[inline]
fn turned([right, up, viewer]: &[DVec3; 3], point: DVec3) -> DVec3 {
    DVec3::new(right.dot(point), up.dot(point), viewer.dot(point))
}

/// The least and the largest coordinates of points 0..n.
pub(super) fn bounds(n: usize, point: &(dyn Fn(usize) -> DVec3 + Sync)) -> [DVec3; 2] {
    let none = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let pieces = parallel::map_pieces(n, parallel::GRAIN, |range| {
        let points = range.map(point);
        points.fold(none, |[least, most], p| [least.min(p), most.max(p)])
    });
    (pieces.into_iter()).fold(none, |a, b| [a[0].min(b[0]), a[1].max(b[1])])
}
