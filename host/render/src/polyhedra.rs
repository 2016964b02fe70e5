//! Pictures of polyhedral meshes: the surface of the polyhedra that a cut keeps.

use glam::DVec3;

use super::color::{QUALITATIVE, Rgb, SURFACE};
use super::facets::{self, render_with};
use super::legend::Legend;
use super::up::guess_up_polyhedra;
use super::volume::kept;
use super::{Color, Facets, Format, Options, Own, Painted, Per};
use trioxide_mesh::mesh::NONE;
use trioxide_mesh::polyhedra::PolyhedralMesh;
use trioxide_mesh::{Error, Result};

/// The picture of a mesh of polyhedra, as the bytes of a file: the faces of exactly one of the polyhedra that
/// `options.cut` keeps, in the colour of this polyhedron. `options.color` is `Auto`, one of eight colours by the
/// polyhedron's id; a `Field`, of the points with colours between them in a PNG; `None`; or `Region`. Faces with more
/// than three vertices are drawn as fans of triangles. Vertex ids must be in range.
///
/// # Errors
/// [`Error::Argument`] for other colours, a cut that keeps no polyhedron, or a picture that is empty or too large.
/// [`Error::Invalid`] for a coordinate that is not finite.
pub fn render_polyhedra(
    mesh: &PolyhedralMesh,
    options: &Options,
    format: Format,
) -> Result<Vec<u8>> {
    if options.window.is_some() {
        let cause = "a window is a part of a planar mesh: cut a volume mesh instead";
        return Err(Error::Argument(cause.to_owned()));
    }
    // Of the whole mesh: a cut does not turn it.
    let options = &Options {
        up: options.up.or_else(|| Some(guess_up_polyhedra(mesh))),
        ..options.clone()
    };
    let middle = |p: u32| {
        let vertices = || {
            let sides = mesh.sides_of(p as usize).iter();
            sides.flat_map(|&side| mesh.vertices_of(side))
        };
        let sum: DVec3 = vertices().map(|v| mesh.points[v as usize]).sum();
        sum / vertices().count() as f64
    };
    let kept = kept(
        mesh.len() as u32,
        &mesh.points,
        options.cut,
        middle,
        "polyhedra",
    )?;
    let mut is_kept = vec![false; mesh.len()];
    kept.iter().for_each(|&p| is_kept[p as usize] = true);
    let mut facets = Facets {
        points: (&mesh.points).into(),
        ..Facets::default()
    };
    let sizes = [mesh.points.len(), mesh.len()];
    let own = Own::of_field(&mesh.fields, sizes, options)?;
    let painted = match &options.color {
        Color::Field(name) if own.is_none() => {
            Some(Painted::of_field(&mesh.fields, name, sizes, options)?)
        }
        _ => options.refuse_scale().map(|()| None)?,
    };
    let neighbours = mesh.neighbours();
    let triangles = facets.triangles.to_mut();
    for &p in &kept {
        let color = match &painted {
            Some(painted) => match painted.per {
                Per::Cell => painted.scale.color(painted.values[p as usize]),
                Per::Point => SURFACE,
            },
            None if own.is_some() => SURFACE,
            None => color(mesh, p, &options.color)?,
        };
        for &side in mesh.sides_of(p as usize) {
            let behind = neighbours[side as usize / 2][1 - side as usize % 2];
            if behind != NONE && is_kept[behind as usize] {
                continue;
            }
            let face: Vec<u32> = mesh.vertices_of(side).collect();
            let color = match &own {
                Some(own) => own.of_face(p as usize, &face),
                None => color,
            };
            let last = face.len() - 2;
            for k in 1..=last {
                triangles.push([face[0], face[k], face[k + 1]]);
                // Inner edges of a fan are not drawn.
                let (first_edge, last_edge) = (u8::from(k == 1), u8::from(k == last));
                facets.sides.push(first_edge | 0b010 | last_edge << 2);
                facets.colors.push(color);
            }
        }
    }
    let legend = match (&painted, &options.color, &mesh.regions) {
        (Some(painted), ..) => Legend::of_scale(&painted.scale),
        (None, Color::Region, Some(regions)) if options.legend => {
            let mut ids = regions.clone();
            ids.sort_unstable();
            ids.dedup();
            let colors = ids.into_iter().map(|id| (of_id(id as u32), id.to_string()));
            Legend::swatches("region", colors)
        }
        _ => Legend::default(),
    };
    let colors = facets::Colors {
        smooth: painted.as_ref().filter(|painted| painted.per == Per::Point),
        is_shaded: options.is_shaded(painted.is_some() || own.is_some()),
        legend,
    };
    render_with(&facets, options, format, colors)
}

fn of_id(id: u32) -> Rgb {
    QUALITATIVE[id as usize % QUALITATIVE.len()]
}

/// The colour of polyhedron `p`, of an option that shows no numbers.
fn color(mesh: &PolyhedralMesh, p: u32, color: &Color) -> Result<Rgb> {
    match color {
        Color::None => Ok(SURFACE),
        Color::Auto => Ok(of_id(p)),
        Color::Region => match &mesh.regions {
            Some(regions) => Ok(of_id(regions[p as usize] as u32)),
            None => Err(Error::Argument(
                "the mesh has no regions to colour: use another color".into(),
            )),
        },
        _ => Err(Error::Argument(
            "polyhedra are coloured by auto (neighbours mostly apart), a field, region or none"
                .into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cut;
    use trioxide_mesh::polyhedra::PolyhedraBuilder;

    /// Two prisms over triangles, side by side.
    fn prisms() -> PolyhedralMesh {
        let mut builder = PolyhedraBuilder::default();
        for [a, b, c] in [[0, 1, 2], [1, 3, 2]] {
            let (d, e, f) = (a + 4, b + 4, c + 4);
            let faces = [
                vec![a, c, b],
                vec![d, e, f],
                vec![a, b, e, d],
                vec![b, c, f, e],
                vec![c, a, d, f],
            ];
            builder.push(&faces).expect("faces fit");
        }
        let point = |i: u32| DVec3::new((i & 1).into(), (i >> 1 & 1).into(), (i >> 2).into());
        PolyhedralMesh {
            points: (0..8).map(point).collect(),
            ..builder.finish().expect("faces fit")
        }
    }

    #[test]
    fn a_cut_shows_the_faces_between() {
        let mesh = prisms();
        let picture = |cut| {
            let options = Options {
                cut,
                ..Options::default()
            };
            render_polyhedra(&mesh, &options, Format::Svg)
        };
        let whole = picture(None).expect("a picture");
        let cut = |offset| {
            let normal = DVec3::new(1.0, 1.0, 0.0);
            picture(Some(Cut { normal, offset }))
        };
        assert_ne!(whole, cut(None).expect("a picture"));
        let none = cut(Some(-9.0)).unwrap_err();
        assert!(none.to_string().contains("none of 2 polyhedra"), "{none}");
        let by_region = Options {
            color: Color::Region,
            ..Options::default()
        };
        let none = render_polyhedra(&mesh, &by_region, Format::Svg).unwrap_err();
        assert!(none.to_string().contains("no regions"), "{none}");
    }
}
