//! Meshes that rank 0 reads and writes for all.

use trioxide::mesh::VertexAttributes;
use trioxide::weld::{self, Carried};

use super::Welded;
use crate::block::deal;
use crate::check::check_ids;
use crate::fault::Result;
use crate::output::narrow_ids;
use crate::transport::{Ranks, Reduction};

/// The attributes and locks of this rank's block of vertices, from those of all vertices at rank 0; the other ranks
/// give none. Collective.
pub fn scatter(
    ranks: &Ranks,
    vertices: u64,
    whole: Option<&Carried>,
) -> (VertexAttributes, Vec<bool>) {
    let none = Carried::NONE;
    let Carried {
        attributes, locked, ..
    } = whole.unwrap_or(&none);
    let mut are_there = [
        attributes.normals.is_some(),
        attributes.colors.is_some(),
        attributes.uvs.is_some(),
        !locked.is_empty(),
    ]
    .map(u64::from);
    ranks.reduce_all(&mut are_there, Reduction::Or);
    let [normals, colors, uvs, locks] = are_there.map(|bit| bit != 0);
    fn part<T: bytemuck::Pod + Send + Sync>(
        ranks: &Ranks,
        vertices: u64,
        is_there: bool,
        all: Option<&[T]>,
    ) -> Option<Vec<T>> {
        is_there.then(|| deal(ranks, all.unwrap_or_default(), vertices, 1))
    }
    let locked: Vec<u8> = locked.iter().map(|&lock| lock.into()).collect();
    let attributes = VertexAttributes {
        normals: part(ranks, vertices, normals, attributes.normals.as_deref()),
        colors: part(ranks, vertices, colors, attributes.colors.as_deref()),
        uvs: part(ranks, vertices, uvs, attributes.uvs.as_deref()),
    };
    let locked = part(ranks, vertices, locks, Some(&locked));
    let locked = locked.unwrap_or_default().into_iter();
    (attributes, locked.map(|lock| lock != 0).collect())
}

/// The new vertex of each old one, and the representatives, at rank 0; other ranks get none. Collective.
///
/// # Errors
/// More vertices than 32-bit ids name.
pub fn gather_map(ranks: &Ranks, vertices: u64, welded: &Welded) -> Result<Option<weld::Welded>> {
    ranks.phase("gather");
    ranks.agree(check_ids(vertices))?;
    let narrow = |ids: &[u64]| ranks.gather(&narrow_ids(ids));
    let (map, representatives) = (narrow(&welded.map), narrow(&welded.representatives));
    Ok((ranks.rank() == 0).then(|| weld::Welded {
        map,
        representatives,
        ..weld::Welded::default()
    }))
}

/// The single run's result, at rank 0; other ranks get none. Collective.
///
/// # Errors
/// As [`gather_map`].
pub fn gather(ranks: &Ranks, vertices: u64, welded: &Welded) -> Result<Option<weld::Welded>> {
    let map = gather_map(ranks, vertices, welded)?;
    fn all<T: bytemuck::Pod>(ranks: &Ranks, of_rank: &Option<Vec<T>>) -> Option<Vec<T>> {
        let all = of_rank.as_ref().map(|items| ranks.gather(items));
        all.filter(|all| !all.is_empty())
    }
    let points = ranks.gather(&welded.points);
    let corners = ranks.gather(&narrow_ids(&welded.corners));
    let VertexAttributes {
        normals,
        colors,
        uvs,
    } = &welded.attributes;
    let attributes = VertexAttributes {
        normals: all(ranks, normals),
        colors: all(ranks, colors),
        uvs: all(ranks, uvs),
    };
    let regions = all(ranks, &welded.regions);
    Ok(map.map(|map| weld::Welded {
        points,
        faces: corners.as_chunks().0.to_vec(),
        attributes,
        regions,
        ..map
    }))
}
