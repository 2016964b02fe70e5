//! Faces of a mesh that is larger than the device's memory.

use super::{SMALL_BUFFERS, most_that_fit};
use crate::device::Device;
use crate::weld::faces::find_repeated;
use crate::weld::{Error, Options, Result};
use trioxide_mesh::parallel;

/// Part of a triangle that is dropped.
const DROPPED: u16 = u16::MAX;

/// Bytes that the search for repeated triangles takes among `faces`.
fn bytes_of_part(faces: usize) -> u64 {
    // Triangles, table, bits.
    let bytes = faces * (size_of::<[u32; 3]>() + 2 * size_of::<u32>()) + faces.div_ceil(8);
    bytes as u64 + SMALL_BUFFERS
}

/// The remaining faces, with the vertices that `map` gives them, `vertices` in number; and the number of parts. Parts
/// become smaller where the device does not give `limit` bytes.
pub fn weld(
    on: &Device,
    faces: &[[u32; 3]],
    map: &[u32],
    vertices: usize,
    options: &Options,
    limit: u64,
) -> Result<(Vec<[u32; 3]>, usize)> {
    let mut limit = limit.min(bytes_of_part(faces.len()));
    loop {
        match weld_within(on, faces, map, vertices, options, limit) {
            Err(Error::Shared(error)) if error.is_out_of_memory() && limit > 2 * SMALL_BUFFERS => {
                limit /= 2;
            }
            result => return result,
        }
    }
}

/// As [`weld`], in parts that take at most `limit` bytes.
fn weld_within(
    on: &Device,
    faces: &[[u32; 3]],
    map: &[u32],
    vertices: usize,
    options: &Options,
    limit: u64,
) -> Result<(Vec<[u32; 3]>, usize)> {
    let remapped = |t: u32| faces[t as usize].map(|v| map[v as usize]);
    if options.keep_degenerate {
        let faces = on.stage("faces", || {
            Ok(on.on_host(|| parallel::collect(faces.len(), |t| remapped(t as u32))))
        })?;
        return Ok((faces, 0));
    }
    let largest = (u32::MAX / 2) as usize - 64;
    let most = most_that_fit(faces.len().min(largest), |n| bytes_of_part(n) <= limit);
    // Three quarters full on average: parts vary.
    let parts = if faces.len() <= most {
        1
    } else {
        faces.len().div_ceil((most / 4 * 3).max(1))
    };
    let too_small = || Error::FacesInSlabs {
        device: on.name(),
        faces: faces.len(),
        limit,
    };
    if parts >= usize::from(DROPPED) || most < faces.len().min(32) {
        return Err(too_small());
    }
    let mut part_of: Vec<u16> = on.stage("faces", || {
        let part = |t| {
            let corners @ [a, b, c] = remapped(t as u32);
            if a == b || b == c || c == a {
                DROPPED
            } else {
                part_of(corners, parts)
            }
        };
        Ok(on.on_host(|| parallel::collect(faces.len(), part)))
    })?;
    for part in 0..parts as u16 {
        let mut list: Vec<u32> = on.stage("faces", || {
            let here = |t| (part_of[t] == part).then_some(t as u32);
            Ok(on.on_host(|| parallel::filter_collect(faces.len(), here)))
        })?;
        // Few clusters can make many equal triangles, all in one part: equal triangles within a piece are dropped
        // first.
        loop {
            let is_last = list.len() <= most;
            let mut kept = Vec::new();
            for piece in list.chunks(most.max(1)) {
                let triangles: Vec<[u32; 3]> = on.stage("faces", || {
                    Ok(on.on_host(|| parallel::map(piece, |&t| remapped(t))))
                })?;
                let repeated = repeated_triangles(on, &triangles, vertices)?;
                on.stage("faces", || {
                    for (i, &t) in piece.iter().enumerate() {
                        if repeated[i / 32] >> (i % 32) & 1 != 0 {
                            part_of[t as usize] = DROPPED;
                        } else if !is_last {
                            kept.push(t);
                        }
                    }
                    Ok(())
                })?;
            }
            if is_last {
                break;
            }
            if kept.len() == list.len() {
                return Err(too_small());
            }
            list = kept;
        }
    }
    let faces = on.stage("faces", || {
        let left = |t| (part_of[t] != DROPPED).then(|| remapped(t as u32));
        Ok(on.on_host(|| parallel::filter_collect(faces.len(), left)))
    })?;
    Ok((faces, parts))
}

/// Part of a triangle: the same for the same oriented triangle.
fn part_of([a, b, c]: [u32; 3], parts: usize) -> u16 {
    let mut x = [[a, b, c], [b, c, a], [c, a, b]]
        .map(|[a, b, c]| (u64::from(a) << 32 | u64::from(b)) ^ u64::from(c) << 16)
        .into_iter()
        .map(|x| (x ^ x >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD))
        .fold(0u64, |sum, x| sum.wrapping_add(x ^ x >> 29));
    x = (x ^ x >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    x ^= x >> 33;
    (((x >> 32) * parts as u64) >> 32) as u16
}

/// Bits of the triangles, with vertices below `vertices`, that are equal to an earlier one: the same three vertices in
/// the same order, from whichever on. Triangles without three vertices have none.
fn repeated_triangles(on: &Device, triangles: &[[u32; 3]], vertices: usize) -> Result<Vec<u32>> {
    let is_out = |corners: &[u32; 3]| corners.iter().any(|&v| v as usize >= vertices);
    assert!(!parallel::any(triangles, is_out), "vertices of triangles");
    let triangles = on.stage("copy to the device", || on.upload(triangles))?;
    let repeated = find_repeated(on, &triangles, &on.uninitialized(0)?, 0, vertices)?;
    Ok(on.stage("copy to the host", || on.download_rows(&repeated))?)
}
