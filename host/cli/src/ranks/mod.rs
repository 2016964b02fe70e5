//! Several processes that `mpirun` starts together. With the feature `mpi` they work as ranks on one mesh, else they
//! refuse: each would do all of the work, and overwrite the files of the others.

#[cfg(feature = "mpi")]
mod files;
#[cfg(feature = "mpi")]
mod generate;
#[cfg(feature = "mpi")]
mod levels;
#[cfg(feature = "mpi")]
mod polyhedra;
#[cfg(feature = "mpi")]
mod polylla;
#[cfg(feature = "mpi")]
mod rank;
#[cfg(feature = "mpi")]
mod refine;
#[cfg(feature = "mpi")]
mod refine_tets;
#[cfg(feature = "mpi")]
mod report;
#[cfg(feature = "mpi")]
mod run;
#[cfg(feature = "mpi")]
mod slices;
#[cfg(feature = "mpi")]
mod smooth;
#[cfg(feature = "mpi")]
mod tets;
#[cfg(feature = "mpi")]
mod weld;

#[cfg(feature = "mpi")]
pub use run::main;

/// Environment variables in which Open MPI, and MPICH and its kin, give the number of processes that were started
/// together.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// The number of processes that were started together with this one, if there are others.
pub fn started_together() -> Option<usize> {
    let size = |name: &&str| std::env::var(name).ok()?.parse().ok();
    let size: Option<usize> = SIZES.iter().find_map(size);
    size.filter(|&size| size > 1)
}

/// Refuses to be one of several processes.
#[cfg(not(feature = "mpi"))]
pub fn main(size: usize) -> std::process::ExitCode {
    let rank = |name: &str| std::env::var(name).is_ok_and(|rank| rank != "0");
    if ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].into_iter().any(rank) {
        // mpirun ends all processes when the first one ends: the one that speaks is to be that.
        std::thread::sleep(std::time::Duration::from_secs(2));
    } else {
        trioxide_arguments::print_error(format_args!(
            "{size} processes were started together, but this trioxide is built without MPI: build it by `cargo xtask build --mpi`, or \
             start one (unset OMPI_COMM_WORLD_SIZE and PMI_SIZE for one beside an MPI program)"
        ));
    }
    std::process::ExitCode::FAILURE
}
