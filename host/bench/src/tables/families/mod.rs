//! The families: the name of each, its cases, and the tables and plots of its runs.

mod indexed;
mod kernels;
mod polyhedra;
mod polylla;
mod refine;
mod refine_tets;
mod smooth;
mod weld;

use super::papers::{self, numbers};
use super::plan::{Case, Plan, Sizes};
use super::plot::Plot;
use super::results::Run;
use super::table::Table;

/// A family of `cargo xtask bench`, its plans and the report.
#[derive(Debug)]
pub(crate) struct Family {
    /// Its name: of its files, on the command line, and of its runs.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// Title where there is little room.
    pub(crate) short: &'static str,
    /// The family of `trioxide bench` that times it.
    timed_by: &'static str,
    /// Adds its cases.
    plan: fn(&mut Plan),
    pub(super) made_of: fn(&[Run]) -> Made,
}

impl Family {
    /// Its runs of the binary.
    pub(crate) fn cases(&self, sizes: &Sizes) -> Vec<Case> {
        let mut plan = Plan {
            family: self.name,
            timed_by: self.timed_by,
            sizes,
            cases: Vec::new(),
        };
        (self.plan)(&mut plan);
        plan.cases
    }
}

/// Tables and plots of a family's runs.
pub(super) struct Made {
    pub(super) tables: Vec<Table>,
    pub(super) plots: Vec<Plot>,
}

/// Fractions of the vertices that clustering removes, as in the thesis, table 6.2.
const REMOVED: &str = "--ratio 0.001,0.01,0.1,0.5";

/// Every family, in the order of the tables and of the page.
pub(crate) static FAMILIES: [Family; 8] = [
    // Tables 1 to 3 of gpolylla-2023.
    Family {
        name: "polylla",
        title: "Polylla on half-edges",
        short: "Polylla",
        timed_by: "polylla",
        plan: |plan| {
            for mesh in ["random", "grid"] {
                let paper: Vec<u64> = numbers(&papers::polylla()["table_1"][mesh]);
                plan.add(mesh, &paper, &[100_000, 1_000_000], "");
            }
        },
        made_of: polylla::made_of,
    },
    // The experiments of gpu-polylla-imr22.
    Family {
        name: "indexed",
        title: "Polylla on triangles and neighbours",
        short: "Indexed",
        timed_by: "polylla",
        plan: |plan| {
            let paper: Vec<u64> = numbers(&papers::indexed()["vertices"]);
            let options = "--method indexed --repair device,host";
            plan.add("random", &paper, &[100_000, 500_000], options);
        },
        made_of: indexed::made_of,
    },
    // No paper has times of it on a GPU.
    Family {
        name: "polyhedra",
        title: "Polylla in three dimensions",
        short: "Polyhedra",
        timed_by: "polyhedra",
        plan: |plan| {
            plan.add("grid", &[1_000_000, 8_000_000], &[30_000], "");
            plan.add("random", &[200_000, 1_300_000], &[10_000], "");
        },
        made_of: polyhedra::made_of,
    },
    // 0.1 % of the triangles marked: tables 5.2 to 5.6 of the thesis.
    Family {
        name: "refine",
        title: "Longest-edge bisection",
        short: "Refine",
        timed_by: "refine",
        plan: |plan| {
            // A triangulation has about twice as many triangles as vertices.
            let paper: Vec<u64> = papers::refine_sizes().iter().map(|n| n / 2).collect();
            let quick = [50_000, 100_000, 200_000, 400_000];
            plan.add("random", &paper, &quick, "--mark fraction:0.001");
        },
        made_of: refine::made_of,
    },
    // No paper has times of it.
    Family {
        name: "refine-tets",
        title: "Refinement of tetrahedra",
        short: "Refine tets",
        timed_by: "refine-tets",
        plan: |plan| {
            plan.add("grid", &[1_000_000, 8_000_000], &[30_000], "");
            plan.add("random", &[200_000], &[10_000], "");
        },
        made_of: refine_tets::made_of,
    },
    // Tables 2 to 7 of the paper.
    Family {
        name: "smooth",
        title: "Laplacian smoothing",
        short: "Smooth",
        timed_by: "smooth",
        plan: |plan| {
            let paper = papers::smooth();
            let rows = paper["tables"][0]["rows"].as_array().into_iter().flatten();
            let nodes: Vec<u64> = rows.filter_map(|row| row["nodes"].as_u64()).collect();
            plan.add("random", &nodes, &[5_000, 10_000], "");
        },
        made_of: smooth::made_of,
    },
    // Chapter 6 of the thesis.
    Family {
        name: "weld",
        title: "Vertex clustering",
        short: "Weld",
        timed_by: "weld",
        plan: |plan| {
            let paper = papers::weld();
            let quick: [(&str, &[u64]); 2] = [("scan", &[35_947, 500_000]), ("cloud", &[200_000])];
            for (mesh, quick) in quick {
                let rows = paper["datasets"].as_array().into_iter().flatten();
                let rows = rows.filter(|row| row["stand_in"] == mesh);
                let sizes: Vec<u64> = rows.filter_map(|row| row["vertices"].as_u64()).collect();
                plan.add(mesh, &sizes, quick, REMOVED);
            }
        },
        made_of: weld::made_of,
    },
    // Of all of them; no paper has such times.
    Family {
        name: "kernels",
        title: "Kernels",
        short: "Kernels",
        timed_by: "kernels",
        plan: |plan| plan.add("jittered", &[1_000_000, 8_000_000], &[100_000], ""),
        made_of: kernels::made_of,
    },
];

/// Whether a mesh of `ours` vertices stands for one of the paper's `theirs`: within a tenth.
fn is_same_size(ours: u64, theirs: u64) -> bool {
    ours.abs_diff(theirs) * 10 < theirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trioxide_bench_times_every_family() {
        let timed = trioxide_measure::families();
        for Family { name, timed_by, .. } in &FAMILIES {
            assert!(timed.iter().any(|timed| timed == timed_by), "{name}");
        }
    }

    /// The demo and the self-test have code for each family, under the names that this list has.
    #[test]
    fn demo_and_self_test_call_families_as_this_list_does() {
        let names: Vec<&str> = FAMILIES.iter().map(|family| family.name).collect();
        for shown in xtask::demo::families() {
            assert!(names.contains(&&*shown), "{shown} is shown: {names:?}");
        }
        let size = trioxide_verify::selftest::Size::Tiny;
        let cases = trioxide_verify::selftest::cases(size, Vec::new()).expect("meshes");
        // Kernels of all families are timed together.
        for name in names.into_iter().filter(|&name| name != "kernels") {
            let folder = name.replace('-', "_");
            assert!(cases.iter().any(|case| case.family == folder), "{folder}");
        }
    }

    #[test]
    fn plans_have_the_sizes_of_the_papers() {
        let sizes = |name: &str| -> Vec<String> {
            let family = FAMILIES.iter().find(|family| family.name == name);
            let cases = family.unwrap().cases(&Sizes::Paper);
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
            let all = FAMILIES.iter().flat_map(|family| family.cases(&sizes));
            let mut names: Vec<String> = all.map(|case| case.file).collect();
            let count = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
