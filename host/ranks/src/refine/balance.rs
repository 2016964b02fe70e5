//! Triangles dealt anew where one rank has too many.

use trioxide::half_edges::AnyPoint;
use trioxide_mesh::parallel;

use super::rows::{Owned, corners};
use crate::ids::IdSet;
use crate::ownership::{Ownership, Position};
use crate::part::all_vertices;
use crate::rows::Rows;
use crate::transport::{Mail, Ranks, Reduction};

/// Equal shares of the triangles that a rank may have.
const SHARES: u64 = 2;

/// The triangles that this rank owns next: where a rank has more than [`SHARES`] shares of all `triangles`, they are dealt as those of the
/// input. Collective.
pub fn balance<P: AnyPoint>(
    ranks: &Ranks,
    owned: Owned<P>,
    triangles: u64,
    ownership: &Ownership,
) -> Owned<P>
where
    P::Double: Position,
{
    ranks.phase("balance");
    let most = ranks.reduce(owned.rows.len() as u64, Reduction::Max);
    if most * ranks.size() as u64 <= SHARES * triangles {
        return owned;
    }
    let Owned {
        rows,
        vertices,
        points,
    } = owned;
    let places = IdSet::of_list(&vertices);
    let point = |vertex: u64| points[places.place(vertex).expect("it is a corner") as usize];
    let first = |i: usize| point(corners(rows.get(i))[0]).to_f64();
    let firsts: Vec<P::Double> = parallel::collect(rows.len(), first);
    let owners = ownership.owners_of(ranks, triangles, &firsts, |i| rows.id(i));
    let stride = rows.stride;
    let (size, n) = (ranks.size(), owners.len());
    let owner = |i: usize| owners[i] as usize;
    let of_rows = Mail::rows(size, n, stride, owner, |i, row| {
        row.copy_from_slice(rows.get(i));
    });
    let of_points = Mail::rows(size, n, 3, owner, |i, three: &mut [P]| {
        for (p, &vertex) in three.iter_mut().zip(corners(rows.get(i))) {
            *p = point(vertex);
        }
    });
    let words = ranks.exchange(&of_rows).into_items();
    let three = ranks.exchange(&of_points).into_items();
    let rows = Rows { words, stride };
    let places = all_vertices(&rows, 3);
    let mut points: Vec<P> = parallel::zeroed(places.len());
    for (i, three) in three.chunks_exact(3).enumerate() {
        for (&vertex, &p) in corners(rows.get(i)).iter().zip(three) {
            points[places.place(vertex).expect("it is a corner") as usize] = p;
        }
    }
    Owned {
        rows: rows.sorted(),
        vertices: places.to_vec(),
        points,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::run;
    use glam::DVec2;

    /// Rows of a mesh's triangles; what stands behind the corners is their id again.
    fn all(mesh: &trioxide::mesh::Triangulation) -> Owned<DVec2> {
        let row = |(id, corners): (u64, &[u32; 3])| {
            let [a, b, c] = corners.map(u64::from);
            [id, a, b, c, id, id, id, id]
        };
        Owned {
            rows: Rows {
                words: (0..).zip(&mesh.triangles).flat_map(row).collect(),
                stride: 8,
            },
            vertices: (0..mesh.points.len() as u64).collect(),
            points: mesh.points.clone(),
        }
    }

    #[test]
    fn triangles_that_one_rank_has_become_equal_parts_of_all() {
        let mesh = trioxide_generate::random(300, 2).unwrap();
        let total = mesh.triangles.len();
        for size in [3, 4, 7] {
            let of_ranks = run(size, |transport| {
                let ranks = Ranks::new(transport);
                let owned = match ranks.rank() {
                    1 => all(&mesh),
                    _ => Owned {
                        rows: Rows {
                            words: Vec::new(),
                            stride: 8,
                        },
                        vertices: Vec::new(),
                        points: Vec::new(),
                    },
                };
                let owned = balance(&ranks, owned, total as u64, &Ownership::Curve);
                // Shares that are even stay.
                let before = owned.rows.words.clone();
                let after = balance(&ranks, owned, total as u64, &Ownership::Curve);
                assert_eq!(after.rows.words, before);
                after
            });
            let mut seen = vec![0; total];
            for owned in of_ranks {
                assert!(owned.rows.len() <= total.div_ceil(size));
                for row in owned.rows.words.chunks(8) {
                    seen[row[0] as usize] += 1;
                    let corners = mesh.triangles[row[0] as usize].map(u64::from);
                    assert_eq!(row[1..], [&corners[..], &[row[0]; 4]].concat());
                    for vertex in corners {
                        let place = owned.vertices.binary_search(&vertex).unwrap();
                        assert_eq!(owned.points[place], mesh.points[vertex as usize]);
                    }
                }
                assert!(owned.rows.words.chunks(8).is_sorted_by_key(|row| row[0]));
            }
            assert!(seen.iter().all(|&times| times == 1));
        }
    }
}
