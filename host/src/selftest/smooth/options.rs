//! Weights, methods and what boundary nodes do, on a device against the serial reference.

use glam::{DVec3, Vec3};
use gpu::smooth::Vector;

use super::meshes;
use crate::backend::Device;
use crate::mesh::Mesh;
use crate::selftest::{Outcome, equal};
use crate::smooth::{
    self, BoundaryRule, Form, Layout, Method, Options, Renumber, Smoothed, Weights, serial,
};
use crate::volume::VolumeMesh;
use crate::{Error, Result};

const WEIGHTS: [Weights; 3] = [Weights::Uniform, Weights::InverseLength, Weights::Cotangent];

/// Forms by how they can be run here: those that are deterministic over many blocks, and the guard.
const FORMS: [(Form, bool, Layout, Renumber); 4] = [
    (Form::A, false, Layout::Soa, Renumber::On),
    (Form::BColoured, false, Layout::Aos, Renumber::Off),
    (Form::BExact, false, Layout::Aligned, Renumber::On),
    (Form::BColoured, true, Layout::Aligned, Renumber::Off),
];

pub(super) fn volume(on: &Device, mesh: &VolumeMesh) -> Outcome {
    volume_in::<DVec3>(on, mesh)?;
    volume_in::<Vec3>(on, mesh)
}

fn volume_in<P: Vector>(on: &Device, mesh: &VolumeMesh) -> Outcome {
    for boundary in [BoundaryRule::Fixed, BoundaryRule::Slide] {
        for weights in WEIGHTS {
            for (form, guard, layout, renumber) in FORMS {
                let options = Options {
                    form,
                    guard,
                    layout,
                    renumber,
                    weights,
                    boundary,
                    method: if form == Form::A {
                        Method::Taubin
                    } else {
                        Method::Laplacian
                    },
                    max_iterations: 5,
                    ..Options::default()
                };
                let ours = smooth::run::<P>(on, mesh, &[], &options);
                same(ours, serial::volume::<P>(mesh, &[], &options), &options)?;
            }
        }
    }
    Ok(())
}

pub(super) fn surfaces(on: &Device) -> Outcome {
    for (name, mesh) in meshes::surfaces()? {
        surface_in::<DVec3>(on, &mesh).map_err(|error| format!("{name}: {error}"))?;
        surface_in::<Vec3>(on, &mesh).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

fn surface_in<P: Vector>(on: &Device, mesh: &Mesh) -> Outcome {
    for weights in WEIGHTS {
        for method in [Method::Laplacian, Method::Taubin] {
            for (form, guard, layout, renumber) in FORMS {
                let options = Options {
                    form,
                    guard,
                    layout,
                    renumber,
                    weights,
                    method,
                    max_iterations: 5,
                    ..Options::default()
                };
                let ours = smooth::run_surface::<P>(on, mesh, &[], &options);
                same(ours, serial::surface::<P>(mesh, &[], &options), &options)?;
            }
        }
    }
    Ok(())
}

/// The same nodes and sweeps, or refused by both for the same cause.
fn same(ours: Result<Smoothed>, expected: Result<Smoothed>, options: &Options) -> Outcome {
    let told = |error: String| format!("{options:?}: {error}");
    match (ours, expected) {
        (Ok(ours), Ok(expected)) => {
            equal("node", &ours.points, &expected.points).map_err(told)?;
            equal("moving nodes", &[ours.moving], &[expected.moving]).map_err(told)?;
            equal("result of sweeps", &[ours.moves], &[expected.moves]).map_err(told)
        }
        (Err(Error::Argument(ours)), Err(Error::Argument(expected))) => {
            equal("cause", &[ours], &[expected]).map_err(told)
        }
        (ours, expected) => Err(told(format!("{ours:?}, not {expected:?}"))),
    }
}
