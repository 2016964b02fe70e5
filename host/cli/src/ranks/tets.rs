//! Meshes of tetrahedra as ranks get them.

use std::path::Path;

use glam::{DVec3, Vec3};
use trioxide::fields::MeshFields;
use trioxide::formats::ReadOptions;
use trioxide::generate::TetGrid;
use trioxide::volume::TetMesh;
use trioxide_operations::Precision;
use trioxide_ranks::block::Whole;
use trioxide_ranks::tets::{Input, part_of};
use trioxide_ranks::{Block, Ownership, Part, Ranks, Result};

use super::rank::{at_first, in_precision};
use super::slices::note_first_reads;
use crate::commands;
use crate::commands::generated::Generated;
use crate::commands::volume::tetrahedra;

/// How ranks get a mesh.
#[derive(Clone, Copy, Default)]
pub struct Reading {
    /// Regions cross: the work goes by them.
    pub with_regions: bool,
    /// Rank 0 keeps the whole mesh, also of a grid.
    pub is_kept: bool,
}

/// A mesh that ranks have read, or make.
pub struct TetInput {
    /// The mesh that rank 0 keeps, and its fields; other ranks keep nothing. Each rank keeps the tags of a generated
    /// mesh.
    pub mesh: TetMesh,
    pub fields: MeshFields,
    block: Block<DVec3>,
    /// The tagged triangles, and their tags, which every rank has.
    tagged: Vec<[u32; 3]>,
    pub tags: Vec<i32>,
    grid: Option<TetGrid>,
}

impl TetInput {
    /// Reads this rank's block of the mesh, which rank 0 reads for all; of a grid only the counts, since each rank
    /// makes its part. Collective.
    ///
    /// # Errors
    /// Those of rank 0.
    pub fn read(
        ranks: &Ranks,
        input: (&Path, ReadOptions),
        reading: Reading,
        quiet: bool,
    ) -> Result<Self> {
        let (input, options) = input;
        let grid = match reading.is_kept {
            true => None,
            false => Generated::of(input)?.map_or(Ok(None), |input| input.tet_grid())?,
        };
        let tagged_of = |mesh: &TetMesh| mesh.faces.iter().map(|face| face.vertices).collect();
        let tags_of = |mesh: &TetMesh| mesh.faces.iter().map(|face| face.tag).collect();
        if let Some(grid) = grid {
            let mesh = TetMesh {
                faces: grid.faces(),
                ..TetMesh::default()
            };
            return Ok(Self {
                tagged: tagged_of(&mesh),
                tags: tags_of(&mesh),
                mesh,
                fields: MeshFields::default(),
                block: Block::counts_of_tet_grid(&grid),
                grid: Some(grid),
            });
        }
        note_first_reads(quiet, input, " and writes the result");
        let read = || tetrahedra(commands::read_volume(input, options, quiet)?, input, quiet);
        let (mesh, fields) = at_first(ranks, read)?.unwrap_or_default();
        let regions = mesh.regions.as_deref().filter(|_| reading.with_regions);
        let whole = (ranks.rank() == 0).then(|| Whole {
            points: &mesh.points,
            corners: mesh.tetrahedra.as_flattened(),
            size: 4,
            regions,
            segments: &[],
        });
        let tagged: Vec<[u32; 3]> = tagged_of(&mesh);
        let tags: Vec<i32> = tags_of(&mesh);
        Ok(Self {
            block: Block::scatter(ranks, whole),
            tagged: ranks.all(&tagged).into_items(),
            tags: ranks.all(&tags).into_items(),
            mesh,
            fields,
            grid: None,
        })
    }

    /// The mesh for the work of ranks.
    pub fn input(&self) -> Input<'_> {
        Input {
            block: &self.block,
            tagged: &self.tagged,
        }
    }

    /// This rank's block of a grid of which each rank makes its part.
    pub fn block_of_grid(&self, ranks: &Ranks) -> Option<Block<DVec3>> {
        let grid = self.grid.as_ref();
        grid.map(|grid| Block::of_tet_grid(ranks, grid))
    }

    /// This rank's part. Collective.
    ///
    /// # Errors
    /// As [`part_of`].
    pub fn part(&self, ranks: &Ranks, precision: Precision) -> Result<Part<DVec3>> {
        match &self.grid {
            Some(grid) => Part::of_tet_grid(ranks, grid),
            None => {
                let part_of = in_precision!(precision, part_of::<DVec3, Vec3>);
                part_of(ranks, self.input(), &Ownership::Near)
            }
        }
    }
}
