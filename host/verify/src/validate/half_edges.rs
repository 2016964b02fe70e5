//! Do these half-edges hold together?

use trioxide::Result;
use trioxide::mesh::{HalfEdges, NONE};
use trioxide::rules::ensure;
use trioxide_mesh::half_edges::next_in_triangle;

/// Checks every identity that [`HalfEdges`] documents.
///
/// # Errors
/// [`trioxide::Error::Invalid`] with the smallest half-edge or vertex that breaks the first broken rule.
pub fn half_edges(half_edges: &HalfEdges) -> Result<()> {
    let he = half_edges;
    let n = he.twin.len();
    let inner = 3 * he.triangles as usize;
    let lengths = [he.origin.len(), he.next.len(), he.prev.len()];
    ensure(
        lengths == [n; 3] && n >= inner,
        || "mesh".into(),
        || {
            format!(
                "has {inner} half-edges in triangles, {n} twins and {lengths:?} origins, next and prev"
            )
        },
    )?;

    let each = |ids: std::ops::Range<usize>, rule: &str, holds: &dyn Fn(u32) -> bool| {
        ids.into_iter().try_for_each(|h| {
            ensure(
                holds(h as u32),
                || format!("half-edge {h}"),
                || format!("breaks: {rule}"),
            )
        })
    };
    let vertices = he.of_vertex.len();
    let below = |h: u32| (h as usize) < n;
    each(0..n, "ids are in range", &|h| {
        let h = h as usize;
        below(he.twin[h])
            && below(he.next[h])
            && below(he.prev[h])
            && (he.origin[h] as usize) < vertices
    })?;
    each(0..n, "twin(twin(h)) = h, and twin(h) is not h", &|h| {
        he.twin(he.twin(h)) == h && he.twin(h) != h
    })?;
    each(0..inner, "next in a triangle is the next id", &|h| {
        he.next(h) == next_in_triangle(h)
    })?;
    each(0..n, "prev(next(h)) = h and next(prev(h)) = h", &|h| {
        he.prev(he.next(h)) == h && he.next(he.prev(h)) == h
    })?;
    each(0..n, "origin(next(h)) = origin(twin(h))", &|h| {
        he.origin(he.next(h)) == he.target(h) && he.origin(h) != he.target(h)
    })?;
    each(
        inner..n,
        "a border half-edge's twin is in a triangle, next along the border",
        &|h| !he.is_border(he.twin(h)) && he.is_border(he.next(h)),
    )?;
    each(
        inner..n,
        "border half-edges are in the order of their twins",
        &|h| h as usize == inner || he.twin(h - 1) < he.twin(h),
    )?;
    each(
        inner..n,
        "next on the border stays in the fan of triangles",
        &|h| {
            // Counter-clockwise about the end of `h`, starting with its twin.
            let mut e = he.twin(h);
            let mut steps = 0;
            while !he.is_border(e) && steps <= inner {
                e = he.counter_clockwise(e);
                steps += 1;
            }
            e == he.next(h)
        },
    )?;

    let mut smallest = vec![NONE; vertices];
    for h in (0..inner).rev() {
        smallest[he.origin[h] as usize] = h as u32;
    }
    for (v, (&found, smallest)) in he.of_vertex.iter().zip(smallest).enumerate() {
        ensure(
            found == smallest,
            || format!("vertex {v}"),
            || format!("has half-edge {found} instead of the smallest, {smallest}"),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip() -> HalfEdges {
        trioxide_reference::half_edges(&[[0, 1, 2], [2, 3, 0], [2, 4, 3]], 6)
    }

    #[test]
    fn accepts_the_reference() {
        half_edges(&strip()).unwrap();
        half_edges(&HalfEdges::default()).unwrap();
    }

    #[test]
    fn finds_any_changed_entry() {
        let good = strip();
        let arrays: [fn(&mut HalfEdges) -> &mut Vec<u32>; 5] = [
            |he| &mut he.origin,
            |he| &mut he.twin,
            |he| &mut he.next,
            |he| &mut he.prev,
            |he| &mut he.of_vertex,
        ];
        for array in arrays {
            let n = array(&mut good.clone()).len();
            for i in 0..n {
                for wrong in [0, 1, 5, 13, NONE] {
                    let mut bad = good.clone();
                    if std::mem::replace(&mut array(&mut bad)[i], wrong) != wrong {
                        assert!(half_edges(&bad).is_err(), "entry {i} as {wrong}: {bad:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn finds_border_half_edges_that_change_fans() {
        let mut he = trioxide_reference::half_edges(&[[0, 1, 2], [0, 3, 4]], 5);
        // The border half-edges into vertex 0 swap their successors.
        let into: Vec<u32> = (6..12).filter(|&h| he.target(h) == 0).collect();
        let [a, b] = into[..] else { panic!() };
        he.next.swap(a as usize, b as usize);
        for h in [a, b] {
            let next = he.next(h);
            he.prev[next as usize] = h;
        }
        let error = half_edges(&he).unwrap_err().to_string();
        assert!(
            error.ends_with("next on the border stays in the fan of triangles"),
            "{error}"
        );
    }

    proptest::proptest! {
        #[test]
        fn every_identity_holds(mesh in trioxide_reference::random_mesh::triangulations()) {
            let he = trioxide_reference::half_edges(&mesh.triangles, mesh.points.len());
            half_edges(&he).unwrap();
            let summary = crate::validate::triangulation(&mesh).unwrap();

            proptest::prop_assert_eq!(he.len(), he.inner() as usize + summary.boundary_edges);
        }
    }
}
