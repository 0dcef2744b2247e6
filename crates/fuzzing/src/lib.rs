//! Fuzz targets, and what they share: memory made of noise, small ELF files with given
//! sections, and calls of all queries of a symbol file.
//!
//! A target bounds every input itself, so that a slow input is a bug in the crate and not
//! in the target. The fuzzer is in `fuzz/`, which has flags of the compiler of its own; `smoke`
//! runs the same targets as the workspace is built.

pub mod elf;
pub mod mutation;
pub mod noise;
pub mod smoke;
pub mod symbols;
pub mod targets;

// The command line belongs to the binary crate `juror`, which is not a library.
#[allow(dead_code, unused_imports)]
#[path = "../../cli/src/arguments/mod.rs"]
mod arguments;
#[allow(dead_code)]
#[path = "../../cli/src/directories.rs"]
mod directories;
#[allow(dead_code, unused_imports)]
#[path = "../../cli/src/driver.rs"]
mod driver;
/// The arguments ask the session of the binary for the check of the control; there is none here.
mod session {
    pub(crate) mod self_check {
        pub(crate) fn control_check() -> Option<crate::driver::ControlCheckMaker> {
            None
        }
    }
}
