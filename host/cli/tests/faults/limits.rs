//! Limits of memory and threads.

use std::fs;

use super::{Place, large, sentence};

/// From too little for the program to start (the loader's error, 126, 127) to enough. Where not even its code fits, the
/// system ends it by a signal.
#[test]
fn a_limit_of_memory_is_an_error() {
    let place = Place::new();
    fs::write(place.path("large.off"), large(2_000)).unwrap();
    let mut worked = false;
    for kibibytes in [80_000, 160_000, 320_000, 640_000, 4_000_000] {
        for arguments in [
            "polylla large.off --device cpu",
            "weld large.off --epsilon 0.1 --device cpu",
            "convert large.off a.laz",
        ] {
            let output = place.limited(&format!("ulimit -v {kibibytes}"), arguments);
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!message.contains("panicked"), "{kibibytes}: {message}");
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 1 | 126 | 127)),
                "{arguments}, {kibibytes}: {:?}: {message}",
                output.status
            );
            if code == Some(1) {
                assert!(message.contains("trioxide: "), "{message}");
            }
            worked |= code == Some(0);
        }
    }
    assert!(worked, "no limit was enough");
}

/// The command runs in a thread with a stack of its own.
#[test]
fn a_small_limit_of_the_stack_does_not_matter() {
    let place = Place::new();
    for arguments in [
        "info square.off",
        "refine square.off --rounds 2 -o fine.vtu --device cpu",
        "chain --device cpu fine.vtu : weld --epsilon 0 : polylla -o polygons.ply",
        "render polygons.ply -o picture.png",
    ] {
        let output = place.limited("ulimit -s 64", arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {message}");
    }
}

#[test]
fn threads_that_cannot_start_are_an_error() {
    let place = Place::new();
    // No bound of the system on threads holds for root: memory for their stacks does. Large ones leave room for all
    // else.
    let message = sentence(&place.limited(
        "ulimit -v 400000; export MALLOC_ARENA_MAX=1 RAYON_NUM_THREADS=60 RUST_MIN_STACK=67108864",
        "info square.off",
    ));
    assert!(
        message.contains("the CPU's threads cannot start"),
        "{message}"
    );
    let message = sentence(
        &place
            .command(&[
                "polylla",
                "square.off",
                "--device",
                "cpu",
                "--threads",
                "65000",
            ])
            .output()
            .unwrap(),
    );
    assert!(
        message.contains("65000 CPU threads are more than"),
        "{message}"
    );
    let output = place
        .command(&["polylla", "square.off", "--threads", "100000"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}
