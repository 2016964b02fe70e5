//! `trioxide completions`: a shell's script that completes this command line.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use trioxide::Result;
use trioxide_arguments::print;

/// Print a script that completes commands and options in a shell
///
/// bash: trioxide completions bash > ~/.local/share/bash-completion/completions/trioxide; zsh: to a file _trioxide in a
/// folder of fpath; fish: trioxide completions fish > ~/.config/fish/completions/trioxide.fish.
#[derive(Args)]
pub struct Options {
    /// Shell
    shell: Shell,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(
        options.shell,
        &mut crate::Cli::command(),
        "trioxide",
        &mut script,
    );
    print(&String::from_utf8_lossy(&script))
}
