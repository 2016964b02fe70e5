//! Other arrays of a mesh, in the new order.

use bytemuck::Pod;
use glam::{DVec2, DVec3};
use gpu::ids::Vertex;
use gpu::reorder as kernel;
use trioxide_kernel::launch::Buffer;
use trioxide_kernel::{NONE, Word};

use super::Vertices;
use crate::device::Device;
use crate::{Error, Result};

/// Values that are carried: numbers or bytes in 32 or 64 bits, two or three numbers of double precision.
pub trait Carried: Pod + Send + Sync {}
impl Carried for u32 {}
impl Carried for u64 {}
impl Carried for DVec2 {}
impl Carried for DVec3 {}

/// The values of the elements with these `old` ids, of vertices or cells: one for each element of the new order.
///
/// # Errors
/// [`Error::Argument`] where there are not as many values as elements; errors of the device.
pub fn carry<T: Carried, I: Word>(
    on: &Device,
    values: &Buffer<T>,
    old: &Buffer<I>,
) -> Result<Buffer<T>> {
    let n = old.len();
    if values.len() != n {
        let message = format!("there are {} values for {n} elements", values.len());
        return Err(Error::Argument(message));
    }
    pick(on, values, old)
}

/// The values at some places.
pub(crate) fn pick<T: Carried, I: Word>(
    on: &Device,
    values: &Buffer<T>,
    places: &Buffer<I>,
) -> Result<Buffer<T>> {
    let n = places.len();
    let mut picked = on.uninitialized(n)?;
    kernel::carry_values::launch(on, n as u32, places.as_words(), values, &mut picked)?;
    Ok(picked)
}

/// Ids of vertices, such as the ends of segments, by their new numbers. `element` is the word for `each` of them, for
/// errors.
///
/// # Errors
/// [`Error::Invalid`] for a vertex that is not there; errors of the device.
pub fn renumber<P>(
    on: &Device,
    ids: &Buffer<Vertex>,
    vertices: &Vertices<P>,
    (element, each): (&str, usize),
) -> Result<Buffer<Vertex>> {
    let n = u32::try_from(ids.len());
    let n = n.map_err(|_| Error::Argument("ids are too many for 32 bits".to_owned()))?;
    let mut renumbered = on.uninitialized(ids.len())?;
    let mut found = on.filled(1, NONE)?;
    kernel::renumber_vertices::launch(on, n, ids, &vertices.new, &mut renumbered, &mut found)?;
    match on.read(&found, 0)? {
        NONE => Ok(renumbered),
        place => Err(Error::Invalid {
            element: format!("{element} {}", place as usize / each),
            rule: format!(
                "has vertex {}, but the mesh has {} vertices",
                on.read(ids, place as usize)?.index(),
                vertices.new.len()
            ),
        }),
    }
}
