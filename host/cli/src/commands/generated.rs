//! Inputs that are generated in place of files: `generate:KIND:N`, or `generate:KIND:N:SEED`.

use std::path::Path;

use clap::ValueEnum;
use trioxide::formats::ReadOptions;
use trioxide::mesh::Mesh;
use trioxide::volume::VolumeMesh;
use trioxide::{Error, Result, generate};
use trioxide_arguments::account;
use trioxide_operations::count::parse_count;

use super::generate::{Dataset, make};

/// Prefix of the name of a generated input; `./generate:…` is a file.
const PREFIX: &str = "generate:";

/// A generated input: the arguments of `trioxide generate`, from the name of the input.
pub struct Generated<'a> {
    /// The whole name.
    name: &'a str,
    dataset: Dataset,
    /// Number of points.
    n: usize,
    seed: u64,
}

/// Whether an input's name asks for a generated mesh.
pub fn is_generated(input: &Path) -> bool {
    input
        .as_os_str()
        .as_encoded_bytes()
        .starts_with(PREFIX.as_bytes())
}

/// Whether an input is a mesh of cells in space: by the name of its file, or by the kind of the generated mesh.
pub fn is_volume(input: &Path, reading: ReadOptions) -> bool {
    match Generated::of(input) {
        Ok(None) => trioxide::formats::is_volume_as(input, reading),
        Ok(Some(generated)) => generated.dataset == Dataset::Tets,
        // The reader of the input reports the error.
        Err(_) => false,
    }
}

impl<'a> Generated<'a> {
    /// The generated mesh that an input's name asks for. `None` for the name of a file.
    ///
    /// # Errors
    /// The name has the prefix, but is not UTF-8, or lacks a valid kind, number of points or seed.
    pub fn of(input: &'a Path) -> Result<Option<Self>> {
        if !is_generated(input) {
            return Ok(None);
        }
        let wrong = |reason: String| {
            Error::Argument(format!(
                "{}: {reason}; a file of this name is ./{0}",
                input.display()
            ))
        };
        let Some(name) = input.to_str() else {
            return Err(wrong("the name is no UTF-8".to_owned()));
        };
        let words: Vec<&str> = name[PREFIX.len()..].split(':').collect();
        let (kind, count, seed) = match words[..] {
            [kind, count] => (kind, count, None),
            [kind, count, seed] => (kind, count, Some(seed)),
            _ => {
                let example = "generate:grid:25M, or generate:random:1M:7 with a seed";
                return Err(wrong(format!(
                    "give a kind and a number of points, as in {example}"
                )));
            }
        };
        let Ok(dataset) = Dataset::from_str(kind, false) else {
            let kinds = Dataset::value_variants().iter();
            let kinds =
                kinds.filter_map(|kind| Some(kind.to_possible_value()?.get_name().to_owned()));
            let kinds: Vec<String> = kinds.collect();
            let kinds = kinds.join(", ");
            return Err(wrong(format!(
                "there is no kind of mesh {kind:?}: choose among {kinds}"
            )));
        };
        let n = parse_count(count)
            .map_err(|reason| wrong(format!("the number of points, {count:?}, {reason}")))?;
        let seed = match seed.map_or(Ok(0), str::parse) {
            Ok(seed) => seed,
            Err(_) => {
                let reason = format!(
                    "the seed, {:?}, is no number from 0 to {}",
                    words[2],
                    u64::MAX
                );
                return Err(wrong(reason));
            }
        };
        Ok(Some(Self {
            name,
            dataset,
            n,
            seed,
        }))
    }

    /// The mesh of faces, or the points.
    ///
    /// # Errors
    /// A kind of cells; numbers that the kind does not take.
    pub fn surface(&self) -> Result<Mesh> {
        if self.dataset == Dataset::Tets {
            return Err(Error::Argument(format!(
                "{}: tetrahedra are made, and this command wants faces or points: choose another kind",
                self.name
            )));
        }
        let mesh = make(self.dataset, self.n, self.seed).map_err(|error| self.named(error))?;
        account::part("generate");
        Ok(mesh)
    }

    /// The mesh of cells.
    ///
    /// # Errors
    /// Another kind; numbers that the kind does not take.
    pub fn volume(&self) -> Result<VolumeMesh> {
        if self.dataset != Dataset::Tets {
            return Err(Error::Argument(format!(
                "{}: faces or points are made, and this command wants cells: choose tets",
                self.name
            )));
        }
        let mesh = generate::tet_grid(self.n, self.seed).map_err(|error| self.named(error))?;
        account::part("generate");
        Ok(VolumeMesh::from(mesh))
    }

    /// The grid of tetrahedra of which each of several processes makes its own part, if it is one.
    ///
    /// # Errors
    /// Too few points, or more than have 32-bit ids.
    #[cfg(feature = "mpi")]
    pub fn tet_grid(&self) -> Result<Option<generate::TetGrid>> {
        if self.dataset != Dataset::Tets {
            return Ok(None);
        }
        let grid = generate::TetGrid::new(self.n, self.seed);
        let grid = grid.map_err(|error| self.named(error))?;
        if u32::try_from(grid.vertices()).is_err() {
            let text = format!(
                "{} nodes have no 32-bit ids: ask for fewer",
                grid.vertices()
            );
            return Err(self.named(Error::Argument(text)));
        }
        Ok(Some(grid))
    }

    /// The grid of which each of several processes makes its own part, if it is one.
    ///
    /// # Errors
    /// Too few points.
    #[cfg(feature = "mpi")]
    pub fn grid(&self) -> Result<Option<generate::Grid>> {
        let grid = match self.dataset {
            Dataset::Grid => generate::Grid::uniform(self.n),
            Dataset::Jittered => generate::Grid::jittered(self.n, self.seed),
            _ => return Ok(None),
        };
        grid.map(Some).map_err(|error| self.named(error))
    }

    fn named(&self, error: Error) -> Error {
        Error::Argument(format!("{}: {error}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_ask_for_meshes() {
        let parsed = |name: &str| {
            let generated = Generated::of(Path::new(name)).unwrap()?;
            Some((generated.dataset, generated.n, generated.seed))
        };
        assert!(parsed("grid.ply").is_none() && parsed("./generate:grid:9").is_none());
        let million = Some((Dataset::Grid, 25_000_000, 0));
        assert_eq!(parsed("generate:grid:25M"), million);
        assert_eq!(
            parsed("generate:random:1e3:7"),
            Some((Dataset::Random, 1000, 7))
        );
        let is_volume = |path| is_volume(path, ReadOptions::default());
        assert!(is_volume(Path::new("generate:tets:100")));
        assert!(
            !is_volume(Path::new("generate:grid:100"))
                && is_volume(Path::new("a.vtu"))
                    == trioxide::formats::is_volume(Path::new("a.vtu"))
        );
    }

    #[test]
    fn wrong_names_are_refused_with_one_sentence() {
        for (name, cause) in [
            ("generate:", "give a kind and a number of points"),
            ("generate:grid", "give a kind and a number of points"),
            ("generate:grid:9:1:2", "give a kind and a number of points"),
            (
                "generate:gird:9",
                "there is no kind of mesh \"gird\": choose among grid, jittered, random",
            ),
            (
                "generate:grid:",
                "the number of points, \"\", is no number such as",
            ),
            ("generate:grid:1.5", "is not a whole number"),
            (
                "generate:random:9:x",
                "the seed, \"x\", is no number from 0 to",
            ),
            (
                "generate:random:9:-1",
                "the seed, \"-1\", is no number from 0 to",
            ),
        ] {
            let error = Generated::of(Path::new(name)).map(|_| ()).unwrap_err();
            let said = error.to_string();
            assert!(said.starts_with(name) && said.contains(cause), "{said}");
            assert!(!said.contains('\n'));
        }
        let made = |name: &str| {
            let generated = Generated::of(Path::new(name)).unwrap().unwrap();
            generated.surface().map(|_| ()).unwrap_err().to_string()
        };
        assert!(made("generate:grid:2").contains("generate:grid:2: a mesh of 2 points"));
        assert!(made("generate:tets:100").contains("this command wants faces"));
    }
}
