//! The plan: for each family a list of `trioxide bench` commands. `cargo xtask bench` runs them, and `cargo xtask dist`
//! writes them as text for machines without Rust.

use super::families::Family;

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

/// The runs of a family, in the making.
pub(crate) struct Plan<'a> {
    family: &'static Family,
    sizes: &'a Sizes,
    cases: Vec<Case>,
}

impl Plan<'_> {
    /// Adds a run for each size: the paper's, small ones, or the given ones.
    pub(super) fn add(&mut self, mesh: &str, paper: &[u64], quick: &[u64], options: &str) {
        // A long measurement is not repeated twenty times.
        let (sizes, seconds) = match self.sizes {
            Sizes::Paper => (paper, "1.5"),
            Sizes::Quick => (quick, "0.5"),
            Sizes::Given(given) => (&given[..], "1.5"),
        };
        let Family { name, timed_by, .. } = self.family;
        for n in sizes {
            let text =
                format!("bench {timed_by} --mesh {mesh} -n {n} {options} --seconds {seconds}");
            self.cases.push(Case {
                file: format!("{name}-{mesh}-{n}"),
                arguments: text.split_whitespace().map(str::to_owned).collect(),
            });
        }
    }
}

/// The runs of a family.
pub(crate) fn cases(family: &'static Family, sizes: &Sizes) -> Vec<Case> {
    let cases = Vec::new();
    let mut plan = Plan {
        family,
        sizes,
        cases,
    };
    (family.plan)(&mut plan);
    plan.cases
}

#[cfg(test)]
mod tests {
    use super::super::families::FAMILIES;
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
        let sizes = |name: &str| -> Vec<String> {
            let family = FAMILIES.iter().find(|family| family.name == name);
            let cases = cases(family.unwrap(), &Sizes::Paper);
            cases
                .iter()
                .map(|case| format!("{} {}", case.arguments[3], case.arguments[5]))
                .collect()
        };
        assert_eq!(
            sizes("weld"),
            [
                "scan 35947",
                "scan 2152840",
                "scan 5000000",
                "scan 14027872",
                "cloud 60246137"
            ]
        );
        assert_eq!(
            sizes("smooth"),
            [
                "random 5000",
                "random 10000",
                "random 50000",
                "random 77000",
                "random 100000"
            ]
        );
        assert_eq!(sizes("polylla").len(), 10);
        assert_eq!(sizes("polylla")[9], "grid 100000000");
    }

    #[test]
    fn results_have_names_of_their_own() {
        for sizes in [Sizes::Paper, Sizes::Quick, Sizes::Given(vec![10, 20])] {
            let all = FAMILIES.iter().flat_map(|family| cases(family, &sizes));
            let mut names: Vec<String> = all.map(|case| case.file).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
