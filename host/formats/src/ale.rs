//! The virtual element mesh of the Polylla authors' programs: `.ale`, written only.
//!
//! The format is VEMLab's (<https://camlab.cl/software/vemlab/>) as Polylla's `print_ALE` writes it: text with a
//! comment before each part; the word `Custom` for the domain; the nodes, two coordinates each; the polygons, each its
//! size and its nodes; on one line the nodes of the Dirichlet boundary, which is the whole boundary here; those of the
//! Neumann boundary, `0` for none; and xmin, xmax, ymin and ymax.
//!
//! Nodes are numbered from 1, as VEMLab and the authors' solver read them and as their older program writes them. Some
//! versions of their program write numbers from 0; then the `0` of the Neumann boundary would be a node. Their program
//! lists the nodes of one boundary loop in the order of the loop; this writer lists the nodes of all loops, including
//! holes, in ascending order.

use std::io;
use std::path::Path;

use super::atomic_file::{Out, write_atomically};
use super::rows_out::{push_after_blanks, push_f64, push_integer, write_records};
use trioxide_mesh::edges::Edges;
use trioxide_mesh::mesh::Mesh;
use trioxide_mesh::{Error, Result};

pub(crate) fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    check_planar(path, mesh)?;
    write_atomically(path, |file| write_to(file, mesh))
}

/// Refuses a mesh whose points do not have the same z, for a format at `path` that holds planar meshes only.
pub(crate) fn check_planar(path: &Path, mesh: &Mesh) -> Result<()> {
    match mesh.points.iter().position(|p| p.z != mesh.points[0].z) {
        None => Ok(()),
        Some(i) => {
            let reason = "the format holds planar meshes only, but vertex";
            Err(Error::format(path, format!("{reason} {i} has another z")))
        }
    }
}

fn write_to(out: &mut dyn Out, mesh: &Mesh) -> io::Result<()> {
    writeln!(out, "# domain type\nCustom")?;
    writeln!(
        out,
        "# nodal coordinates: number of nodes followed by the coordinates\n{}",
        mesh.points.len()
    )?;
    write_records(out, mesh.points.len(), |buffer, i| {
        push_f64(buffer, mesh.points[i].x);
        buffer.push(b' ');
        push_f64(buffer, mesh.points[i].y);
        buffer.push(b'\n');
    })?;
    writeln!(
        out,
        "# element connectivity: number of elements followed by the elements\n{}",
        mesh.faces.len()
    )?;
    write_records(out, mesh.faces.len(), |buffer, i| {
        let polygon = mesh.faces.get(i);
        push_integer(buffer, polygon.len());
        push_after_blanks(buffer, polygon.iter().map(|vertex| u64::from(*vertex) + 1));
        buffer.push(b'\n');
    })?;
    writeln!(out, "# indices of nodes located on the Dirichlet boundary")?;
    let mut nodes = Edges::of(&mesh.faces).boundary.into_flattened();
    nodes.sort_unstable();
    nodes.dedup();
    write_records(out, nodes.len(), |buffer, i| {
        if i > 0 {
            buffer.push(b' ');
        }
        push_integer(buffer, u64::from(nodes[i]) + 1);
    })?;
    writeln!(
        out,
        "\n# indices of nodes located on the Neumann boundary\n0"
    )?;
    writeln!(out, "# xmin, xmax, ymin, ymax of the bounding box")?;
    let mut points = mesh.points.iter();
    let first = points.next().copied().unwrap_or_default();
    let (min, max) = points.fold((first, first), |(min, max), p| (min.min(*p), max.max(*p)));
    let mut line = Vec::new();
    for (i, bound) in [min.x, max.x, min.y, max.y].into_iter().enumerate() {
        if i > 0 {
            line.push(b' ');
        }
        push_f64(&mut line, bound);
    }
    line.push(b'\n');
    out.write_all(&line)
}
