//! Nodes of version 4.0: each tag is followed by the coordinates.

use glam::DVec3;

use super::super::bytes::{Decode, Kind, Numbers};
use super::data::{Data, Start};
use crate::text::{Parsed, whole};

/// Appends the tags and points of `count` nodes with `extra` parameters each.
pub(super) fn read_rows(
    data: &mut Data,
    count: usize,
    extra: usize,
    tags: &mut Vec<i64>,
    points: &mut Vec<DVec3>,
) -> Parsed<()> {
    match data {
        Data::Text(text) => {
            let start = Start::Text(text.clone());
            let width = 4 + extra;
            let values = text.numbers::<f64>(count.saturating_mul(width), "nodes")?;
            for (i, row) in values.chunks_exact(width).enumerate() {
                let tag = whole(row[0]).ok_or_else(|| {
                    let reason = format!("expected a node's number, found `{}`", row[0]);
                    start.fault(width * i, reason)
                })?;
                tags.push(tag);
                points.push(DVec3::new(row[1], row[2], row[3]));
            }
        }
        Data::Binary(bytes, _) => {
            let size = 4 + 8 * (3 + extra);
            for row in bytes.take(count, size, "nodes")?.chunks_exact(size) {
                let Numbers::Integers(tag) = Kind::I32.numbers(&row[..4], bytes.order) else {
                    unreachable!("tags are whole numbers");
                };
                let p = Kind::F64.numbers(&row[4..28], bytes.order).into_floats();
                tags.extend(tag);
                points.push(DVec3::new(p[0], p[1], p[2]));
            }
        }
    }
    Ok(())
}
