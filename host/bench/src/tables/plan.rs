//! The plan: for each family a list of `trioxide bench` commands. `cargo xtask bench` runs them, and `cargo xtask dist`
//! writes them as text for machines without Rust.

use serde_json::Value;

use super::papers;

/// Families of the plan, in the order of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Family {
    /// Polylla on half-edges: tables 1 to 3 of gpolylla-2023.
    Polylla,
    /// Polylla on triangles and neighbours: the experiments of gpu-polylla-imr22.
    Indexed,
    /// Polylla in three dimensions, which no paper has times of on a GPU.
    Polylla3,
    /// Longest-edge bisection, 0.1 % of the triangles marked: tables 5.2 to 5.6 of the thesis.
    Refine,
    /// Refinement of tetrahedra, which no paper has times of.
    RefineTets,
    /// Laplacian smoothing: tables 2 to 7 of its paper.
    Smooth,
    /// Vertex clustering: chapter 6 of the thesis.
    Weld,
    /// Every kernel of all of them, which no paper has times of.
    Kernels,
}

impl Family {
    pub(crate) const ALL: [Family; 8] = [
        Family::Polylla,
        Family::Indexed,
        Family::Polylla3,
        Family::Refine,
        Family::RefineTets,
        Family::Smooth,
        Family::Weld,
        Family::Kernels,
    ];

    /// Name of its files, and on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Family::Polylla => "polylla",
            Family::Indexed => "indexed",
            Family::Polylla3 => "polylla3",
            Family::Refine => "refine",
            Family::RefineTets => "refine-tets",
            Family::Smooth => "smooth",
            Family::Weld => "weld",
            Family::Kernels => "kernels",
        }
    }
}

/// Sizes of the meshes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Sizes {
    /// The papers' sizes.
    Paper,
    /// All families within five minutes on two cores.
    Quick,
    /// These numbers of vertices.
    Given(Vec<u64>),
}

/// Sizes from `paper`, `quick` or a list such as `100k,4m`.
pub(crate) fn parse_sizes(text: &str) -> Result<Sizes, String> {
    let size = |word: &str| {
        let (digits, factor) = match word.to_ascii_lowercase().pop() {
            Some('k') => (&word[..word.len() - 1], 1e3),
            Some('m') => (&word[..word.len() - 1], 1e6),
            _ => (word, 1.0),
        };
        let number: f64 = digits
            .parse()
            .ok()
            .filter(|&number| number > 0.0)
            .ok_or(format!(
                "`{word}` is no number of vertices such as 100k or 4m"
            ))?;
        Ok((number * factor).round() as u64)
    };
    match text {
        "paper" => Ok(Sizes::Paper),
        "quick" => Ok(Sizes::Quick),
        list => list
            .split(',')
            .map(size)
            .collect::<Result<_, String>>()
            .map(Sizes::Given),
    }
}

/// A run of the binary.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    /// Name of its result, without extension.
    pub(crate) file: String,
    /// Arguments of `trioxide`, from `bench` on; device and outputs are not among them.
    pub(crate) arguments: Vec<String>,
}

/// Fractions of the vertices that clustering removes, as in the thesis, table 6.2.
const REMOVED: &str = "0.001,0.01,0.1,0.5";

/// The runs of a family.
pub(crate) fn cases(family: Family, sizes: &Sizes) -> Vec<Case> {
    let mut cases = Vec::new();
    // A long measurement is not repeated twenty times.
    let seconds = match sizes {
        Sizes::Quick => "0.5",
        _ => "1.5",
    };
    let mut add = |mesh: &str, n: u64, options: &str| {
        let text = format!("--mesh {mesh} -n {n} {options} --seconds {seconds}");
        let words = text.split_whitespace().map(str::to_owned);
        let command = match family {
            Family::Indexed => vec!["bench".to_owned(), "polylla".to_owned()],
            _ => vec!["bench".to_owned(), family.name().to_owned()],
        };
        cases.push(Case {
            file: format!("{}-{mesh}-{n}", family.name()),
            arguments: command.into_iter().chain(words).collect(),
        });
    };
    // Sizes of this family: the paper's, small ones, or the given ones.
    let pick = |paper: &[u64], quick: &[u64]| match sizes {
        Sizes::Paper => paper.to_vec(),
        Sizes::Quick => quick.to_vec(),
        Sizes::Given(given) => given.clone(),
    };
    match family {
        Family::Polylla => {
            let paper = papers::polylla();
            for mesh in ["random", "grid"] {
                let table: Vec<u64> = papers::numbers(&paper["table_1"][mesh]);
                for n in pick(&table, &[100_000, 1_000_000]) {
                    add(mesh, n, "");
                }
            }
        }
        Family::Indexed => {
            let paper: Vec<u64> = papers::numbers(&papers::indexed()["vertices"]);
            for n in pick(&paper, &[100_000, 500_000]) {
                add("random", n, "--method indexed --repair device,host");
            }
        }
        Family::Refine => {
            // A triangulation has about twice as many triangles as vertices.
            let paper: Vec<u64> = papers::refine_sizes().iter().map(|n| n / 2).collect();
            for n in pick(&paper, &[50_000, 100_000, 200_000, 400_000]) {
                add("random", n, "--mark fraction:0.001");
            }
        }
        Family::Polylla3 => {
            for n in pick(&[1_000_000, 8_000_000], &[30_000]) {
                add("grid", n, "");
            }
            for n in pick(&[200_000, 1_300_000], &[10_000]) {
                add("random", n, "");
            }
        }
        Family::RefineTets => {
            for n in pick(&[1_000_000, 8_000_000], &[30_000]) {
                add("grid", n, "");
            }
            for n in pick(&[200_000], &[10_000]) {
                add("random", n, "");
            }
        }
        Family::Smooth => {
            let paper = papers::smooth();
            let rows = paper["tables"][0]["rows"].as_array();
            let nodes: Vec<u64> = rows
                .into_iter()
                .flatten()
                .filter_map(|row| row["nodes"].as_u64())
                .collect();
            for n in pick(&nodes, &[5_000, 10_000]) {
                add("random", n, "");
            }
        }
        Family::Weld => {
            let paper = papers::weld();
            let rows = |mesh: &str| -> Vec<u64> {
                let rows = paper["datasets"].as_array().into_iter().flatten();
                rows.filter(|row| row["stand_in"] == mesh)
                    .filter_map(|row: &Value| row["vertices"].as_u64())
                    .collect()
            };
            for n in pick(&rows("scan"), &[35_947, 500_000]) {
                add("scan", n, &format!("--ratio {REMOVED}"));
            }
            for n in pick(&rows("cloud"), &[200_000]) {
                add("cloud", n, &format!("--ratio {REMOVED}"));
            }
        }
        Family::Kernels => {
            for n in pick(&[1_000_000, 8_000_000], &[100_000]) {
                add("jittered", n, "");
            }
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        assert_eq!(
            parse_sizes("100k,4m,7"),
            Ok(Sizes::Given(vec![100_000, 4_000_000, 7]))
        );
        assert_eq!(parse_sizes("paper"), Ok(Sizes::Paper));
        for wrong in ["many", "", "-4", "1k,,2k"] {
            assert!(parse_sizes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn plans_have_the_sizes_of_the_papers() {
        let sizes = |family| -> Vec<String> {
            let cases = cases(family, &Sizes::Paper);
            cases
                .iter()
                .map(|case| format!("{} {}", case.arguments[3], case.arguments[5]))
                .collect()
        };
        assert_eq!(
            sizes(Family::Weld),
            [
                "scan 35947",
                "scan 2152840",
                "scan 5000000",
                "scan 14027872",
                "cloud 60246137"
            ]
        );
        assert_eq!(
            sizes(Family::Smooth),
            [
                "random 5000",
                "random 10000",
                "random 50000",
                "random 77000",
                "random 100000"
            ]
        );
        assert_eq!(sizes(Family::Polylla).len(), 10);
        assert_eq!(sizes(Family::Polylla)[9], "grid 100000000");
    }

    #[test]
    fn results_have_names_of_their_own() {
        for sizes in [Sizes::Paper, Sizes::Quick, Sizes::Given(vec![10, 20])] {
            let all = Family::ALL.iter().flat_map(|&family| cases(family, &sizes));
            let mut names: Vec<String> = all.map(|case| case.file).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
