//! Nodes of version 4.0: each tag is followed by the coordinates.

use glam::DVec3;

use super::super::bytes::{Decode, Kind, Numbers};
use super::data::{Data, Start};
use super::{NodeMap, Nodes};
use crate::text::{Parsed, whole};

pub(super) fn read_nodes(data: &mut Data) -> Parsed<Nodes> {
    let begin = data.clone();
    let blocks = data.count("the number of blocks")?;
    let count = data.count("the number of nodes")?;
    let (mut tags, mut points) = (Vec::new(), Vec::new());
    for _ in 0..blocks {
        let (head, head_start) = data.ints(3, "a block's entity")?;
        let in_block = data.count("the number of nodes in the block")?;
        // After the coordinates: the node's parameters on its entity.
        let extra = match (head[2], head[1]) {
            (0, _) => 0,
            (_, dimension @ 0..=3) => dimension as usize,
            (_, dimension) => {
                let reason = format!("there are no entities of dimension {dimension}");
                return Err(head_start.fault(1, reason));
            }
        };
        match data {
            Data::Text(text) => {
                let start = Start::Text(text.clone());
                let width = 4 + extra;
                let values = text.numbers::<f64>(in_block.saturating_mul(width), "nodes")?;
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
                for row in bytes.take(in_block, size, "nodes")?.chunks_exact(size) {
                    let Numbers::Integers(tag) = Kind::I32.numbers(&row[..4], bytes.order) else {
                        unreachable!("tags are whole numbers");
                    };
                    let p = Kind::F64.numbers(&row[4..28], bytes.order).into_floats();
                    tags.extend(tag);
                    points.push(DVec3::new(p[0], p[1], p[2]));
                }
            }
        }
    }
    if points.len() != count {
        let reason = format!("expected {count} nodes, found {}", points.len());
        return Err(begin.clone().sizes(0, "")?.1.fault(0, reason));
    }
    let map = NodeMap::new(&tags)
        .or_else(|(_, reason)| Err(begin.clone().sizes(0, "")?.1.fault(0, reason)))?;
    Ok(Nodes { points, map })
}
