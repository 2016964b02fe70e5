//! Defaults stand once: a command line without options gives what a program gets by `Default`.

use clap::{Args, Command};
use trioxide_operations::{polyhedra, polylla, refine, smooth, triangulate, vem, weld};

fn parsed<T: Args>(words: &[&str]) -> T {
    let command = T::augment_args(Command::new("options").no_binary_name(true));
    let matches = command.try_get_matches_from(words).expect("options");
    T::from_arg_matches(&matches).expect("options")
}

#[test]
fn a_command_line_without_options_has_the_defaults() {
    assert_eq!(parsed::<polylla::Options>(&[]), Default::default());
    assert_eq!(parsed::<polyhedra::Options>(&[]), Default::default());
    assert_eq!(parsed::<refine::Options>(&[]), Default::default());
    assert_eq!(parsed::<smooth::Options>(&[]), Default::default());
    assert_eq!(parsed::<triangulate::Options>(&[]), Default::default());
    assert_eq!(parsed::<vem::Options>(&[]), Default::default());
    assert_eq!(
        parsed::<weld::Options>(&["--epsilon", "0.5"]),
        weld::Options::new(0.5)
    );
}

/// What Python hands over: `--name=value`, negative numbers too.
#[test]
fn values_stand_after_an_equals_sign() {
    let options: smooth::Options = parsed(&["--method=taubin", "--mu=-0.6", "--max-iterations=7"]);
    assert_eq!((options.mu, options.max_iterations), (Some(-0.6), 7));
    let options: refine::Options = parsed(&["--threshold=-1e-7", "--max-triangles=2M"]);
    assert_eq!(options.threshold, Some(-1e-7));
    assert_eq!(options.max_triangles, Some(2_000_000));
}
