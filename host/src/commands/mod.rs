//! One module a command: its options (clap) and its run.
