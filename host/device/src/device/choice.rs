//! The words of `--device`.

use std::fmt;
use std::str::FromStr;

/// The machine to use: `auto`, `cuda`, `cuda:N`, `cpu`, `serial`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// The GPU if there is one, or else the CPU.
    #[default]
    Auto,
    /// The first GPU. If several processes share a machine, each takes its own GPU.
    AnyCuda,
    /// The GPU with this index.
    Cuda(u32),
    /// The CPU, with all cores or `--threads` threads.
    Cpu,
    /// The papers' sequential algorithms, for comparison.
    Serial,
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Choice::Auto),
            "cuda" => Ok(Choice::AnyCuda),
            "cpu" => Ok(Choice::Cpu),
            "serial" => Ok(Choice::Serial),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|index| index.parse().ok())
                .map(Choice::Cuda)
                .ok_or_else(|| "expected auto, cuda, cuda:N, cpu or serial".to_owned()),
        }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Choice::Auto => f.write_str("auto"),
            Choice::AnyCuda => f.write_str("cuda"),
            Choice::Cuda(index) => write!(f, "cuda:{index}"),
            Choice::Cpu => f.write_str("cpu"),
            Choice::Serial => f.write_str("serial"),
        }
    }
}
