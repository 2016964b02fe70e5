//! Pictures of volume meshes: the surface of the cells that a cut keeps.

use glam::DVec3;
use gpu::smooth::cell_quality;
use rayon::slice::ParallelSliceMut;

use super::color::{QUALITATIVE, Rgb, SURFACE};
use super::facets::{self, render_with};
use super::legend::Legend;
use super::scale::Defaults;
use super::up::guess_up_volume;
use super::{Color, Colormap, Facets, Format, Options, Own, Painted, Per};
use trioxide_mesh::volume::{CellKind, VolumeMesh, bounds, faces, key};
use trioxide_mesh::{Error, Result, parallel};

/// A plane. Cells whose middle lies beyond it, in the direction of its normal, are removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// Normal, of any length but 0.
    pub normal: DVec3,
    /// Product of the normal with each point of the plane. By default the plane contains the middle of the mesh's
    /// bounds.
    pub offset: Option<f64>,
}

/// A face: its cell, and the places of its vertices in the cell, followed by 255 for a triangle.
type Face = (u32, [u8; 4]);

/// Colour of inverted and flat cells.
const INVERTED: Rgb = [206, 62, 50];

/// The picture of a volume mesh, as the bytes of a file: the faces of exactly one of the cells that `options.cut`
/// keeps, in the colours of these cells. `options.color` is `Auto`, the scaled Jacobian from light (0) to dark (1), red
/// if it is not positive; a `Field`, of the points with colours between them in a PNG; `None`; or `Region`. Vertex ids
/// must be in range.
///
/// # Errors
/// [`Error::Argument`] for other colours, a cut that keeps no cell, or a picture that is empty or too large.
/// [`Error::Invalid`] for a coordinate that is not finite.
pub fn render_volume(mesh: &VolumeMesh, options: &Options, format: Format) -> Result<Vec<u8>> {
    if options.window.is_some() {
        let cause = "a window is a part of a planar mesh: cut a volume mesh instead";
        return Err(Error::Argument(cause.to_owned()));
    }
    // Of the whole mesh: a cut does not turn it.
    let options = &Options {
        up: options.up.or_else(|| Some(guess_up_volume(mesh))),
        ..options.clone()
    };
    let kept = kept_cells(mesh, options.cut)?;
    let outside = outside(mesh, &kept);
    let Colored { colors, painted } = colored(mesh, &outside, options)?;
    let mut facets = Facets {
        points: (&mesh.points).into(),
        ..Facets::default()
    };
    let triangles = facets.triangles.to_mut();
    for ((cell, face), color) in outside.iter().zip(colors) {
        let cell = mesh.cells.get(*cell as usize);
        match face.map(|place| cell.get(usize::from(place)).copied()) {
            [Some(a), Some(b), Some(c), None] => {
                triangles.push([a, b, c]);
                facets.sides.push(0b111);
                facets.colors.push(color);
            }
            [Some(a), Some(b), Some(c), Some(d)] => {
                triangles.extend([[a, b, c], [a, c, d]]);
                facets.sides.extend([0b011, 0b110]);
                facets.colors.extend([color; 2]);
            }
            _ => unreachable!("faces have three or four places"),
        }
    }
    let is_field = matches!(options.color, Color::Field(_));
    let colors = facets::Colors {
        smooth: painted.as_ref().filter(|painted| painted.per == Per::Point),
        is_shaded: options.is_shaded(is_field),
        legend: match (&painted, &options.color) {
            (Some(painted), Color::Auto) => {
                Legend::of_scale(&painted.scale).and(INVERTED, "inverted or flat")
            }
            (Some(painted), _) => Legend::of_scale(&painted.scale),
            (None, Color::Region) if options.legend => {
                let regions = mesh.regions.as_deref();
                regions.map(Legend::of_regions).unwrap_or_default()
            }
            (None, _) => Legend::default(),
        },
    };
    render_with(&facets, options, format, colors)
}

/// The colour of each face, and the numbers that the colours show.
struct Colored<'a> {
    colors: Vec<Rgb>,
    painted: Option<Painted<'a>>,
}

/// Ids of the cells that the cut keeps.
fn kept_cells(mesh: &VolumeMesh, cut: Option<Cut>) -> Result<Vec<u32>> {
    let middle = |i: u32| {
        let cell = mesh.cells.get(i as usize);
        let sum: DVec3 = cell.iter().map(|&v| mesh.points[v as usize]).sum();
        sum / cell.len() as f64
    };
    kept(mesh.cells.len() as u32, &mesh.points, cut, middle, "cells")
}

/// Ids among `count` that the cut keeps, by the middle of each cell; errors call them `cells`.
pub(crate) fn kept(
    count: u32,
    points: &[DVec3],
    cut: Option<Cut>,
    middle: impl Fn(u32) -> DVec3 + Sync,
    cells: &str,
) -> Result<Vec<u32>> {
    let Some(Cut { normal, offset }) = cut else {
        return Ok((0..count).collect());
    };
    if !(normal.is_finite() && normal != DVec3::ZERO && offset.is_none_or(f64::is_finite)) {
        return Err(Error::Argument(format!(
            "a cut needs a plane: {normal} is no direction, or {offset:?} no number"
        )));
    }
    let (low, high) = bounds(points);
    let offset = offset.unwrap_or_else(|| normal.dot(0.5 * low + 0.5 * high));
    let kept = |i: usize| Some(i as u32).filter(|&i| normal.dot(middle(i)) <= offset);
    let kept = parallel::filter_collect(count as usize, kept);
    if kept.is_empty() {
        return Err(Error::Argument(format!(
            "the cut leaves none of {count} {cells}: move the plane, or turn its normal around"
        )));
    }
    Ok(kept)
}

/// Faces of exactly one of the cells.
fn outside(mesh: &VolumeMesh, cells: &[u32]) -> Vec<Face> {
    let parts = parallel::map_pieces(cells.len(), parallel::GRAIN, |range| {
        let mut part: Vec<([u32; 4], Face)> = Vec::with_capacity(6 * range.len());
        for &c in &cells[range] {
            let cell = mesh.cells.get(c as usize);
            let faces = CellKind::of(cell.len()).map_or(&[][..], faces);
            part.extend(faces.iter().map(|face| {
                let mut places = [u8::MAX; 4];
                places
                    .iter_mut()
                    .zip(*face)
                    .for_each(|(to, &place)| *to = place as u8);
                (key(face.iter().map(|&place| cell[place])), (c, places))
            }));
        }
        part
    });
    let mut uses = parallel::concat(parts);
    uses.par_sort_unstable();
    uses.chunk_by(|a, b| a.0 == b.0)
        .filter(|uses| uses.len() == 1)
        .map(|uses| uses[0].1)
        .collect()
}

/// The colours that the options ask for.
fn colored<'a>(mesh: &VolumeMesh, faces: &[Face], options: &Options) -> Result<Colored<'a>> {
    let plain = |colors| {
        let painted = None;
        options.refuse_scale().map(|()| Colored { colors, painted })
    };
    match &options.color {
        Color::None => plain(vec![SURFACE; faces.len()]),
        Color::Auto => {
            let quality = |&(c, _): &Face| {
                let cell = mesh.cells.get(c as usize);
                let at = |k: u32| mesh.points[cell[k as usize] as usize];
                cell_quality(cell.len() as u32, at).jacobian
            };
            let qualities = parallel::map(faces, quality);
            // Of every mesh, so that colours of two pictures can be compared.
            let defaults = Defaults {
                range: Some([0.0, 1.0]),
                ..Defaults::new("scaled Jacobian", Colormap::Light)
            };
            // Those below 0 have a colour of their own.
            let shown = parallel::map(&qualities, |quality| quality.clamp(0.0, 1.0));
            let painted = Painted::new(shown.into(), Per::Cell, options, defaults)?;
            let color = |&quality: &f64| match quality > 0.0 {
                true => painted.scale.color(quality),
                false => INVERTED,
            };
            let colors = parallel::map(&qualities, color);
            let painted = Some(painted);
            Ok(Colored { colors, painted })
        }
        Color::Field(name) => {
            let sizes = [mesh.points.len(), mesh.cells.len()];
            if let Some(own) = Own::of_field(&mesh.fields, sizes, options)? {
                let color = |&(c, places): &Face| {
                    let cell = mesh.cells.get(c as usize);
                    let corners = places
                        .iter()
                        .filter_map(|&place| cell.get(usize::from(place)));
                    own.of_face(c as usize, &corners.copied().collect::<Vec<u32>>())
                };
                return plain(parallel::map(faces, color));
            }
            let painted = Painted::of_field(&mesh.fields, name, sizes, options)?;
            let colors = match painted.per {
                Per::Cell => {
                    let value = |&(c, _): &Face| painted.values[c as usize];
                    parallel::map(faces, |face| painted.scale.color(value(face)))
                }
                Per::Point => vec![SURFACE; faces.len()],
            };
            let painted = Some(painted);
            Ok(Colored { colors, painted })
        }
        Color::Region => {
            let regions = mesh.regions.as_ref().ok_or_else(|| {
                Error::Argument("the mesh has no regions to colour: use another color".into())
            })?;
            let mut ids = regions.clone();
            ids.par_sort_unstable();
            ids.dedup();
            let place = |c: u32| ids.partition_point(|id| *id < regions[c as usize]);
            let colors = faces.iter();
            plain(
                colors
                    .map(|&(c, _)| QUALITATIVE[place(c) % QUALITATIVE.len()])
                    .collect(),
            )
        }
        _ => Err(Error::Argument(
            "cells of a volume mesh are coloured by auto (their quality), a field, region or none"
                .into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trioxide::generate;

    fn picture(mesh: &VolumeMesh, cut: Option<Cut>, options: &Options) -> Result<Vec<u8>> {
        let options = Options {
            cut,
            ..options.clone()
        };
        render_volume(mesh, &options, Format::Svg)
    }

    #[test]
    fn a_cut_leaves_the_cells_behind_the_plane() {
        let mesh: VolumeMesh = generate::tet_grid(125, 1).expect("enough nodes").into();
        let all = kept_cells(&mesh, None).expect("no cut");
        assert_eq!(outside(&mesh, &all).len(), mesh.faces.len());
        let cut = Cut {
            normal: 2.0 * DVec3::X,
            offset: None,
        };
        let half = kept_cells(&mesh, Some(cut)).expect("half");
        for c in 0..mesh.cells.len() as u32 {
            let cell = mesh.cells.get(c as usize);
            let middle: f64 = cell.iter().map(|&v| mesh.points[v as usize].x / 4.0).sum();
            assert_eq!(half.contains(&c), middle <= 0.5, "cell {c} at {middle}");
        }
        // All faces that exactly one cell of the half has: on the cube's sides, and on the cut.
        let mut uses = std::collections::BTreeMap::new();
        for &c in &half {
            let cell = mesh.cells.get(c as usize);
            for face in faces(CellKind::Tetrahedron) {
                *uses.entry(key(face.iter().map(|&k| cell[k]))).or_insert(0) += 1;
            }
        }
        let expected = uses.values().filter(|uses| **uses == 1).count();
        assert_eq!(outside(&mesh, &half).len(), expected);
        for (normal, offset) in [
            (DVec3::ZERO, None),
            (DVec3::X, Some(-1.0)),
            (DVec3::NAN, None),
        ] {
            let bad = picture(&mesh, Some(Cut { normal, offset }), &Options::default());
            assert!(
                matches!(bad, Err(Error::Argument(_))),
                "{normal} {offset:?}"
            );
        }
    }

    #[test]
    fn colours_tell_quality_and_regions() {
        let mut mesh: VolumeMesh = generate::tet_grid(27, 1).expect("enough nodes").into();
        let all = kept_cells(&mesh, None).expect("no cut");
        let by_quality = |mesh: &VolumeMesh| {
            let faces = outside(mesh, &all);
            let colored = colored(mesh, &faces, &Options::default());
            colored.expect("qualities").colors
        };
        assert!(!by_quality(&mesh).contains(&INVERTED));
        let inner = mesh
            .points
            .iter()
            .position(|p| (*p - 0.5).abs().max_element() < 0.3);
        mesh.points[inner.expect("an inner node")] = DVec3::splat(3.0);
        assert!(by_quality(&mesh).contains(&INVERTED));
        let by_region = Options {
            color: Color::Region,
            ..Options::default()
        };
        assert!(picture(&mesh, None, &by_region).is_err());
        let halves = (0..mesh.cells.len()).map(|c| (c % 2) as i32);
        mesh.regions = Some(halves.collect());
        assert!(picture(&mesh, None, &by_region).is_ok());
        let by_size = Options {
            color: Color::Size,
            ..Options::default()
        };
        assert!(picture(&mesh, None, &by_size).is_err());
    }
}
