//! How far a long run of random programs is, and what it has found so far.

use std::fs::OpenOptions;
use std::io::Write;

/// Tells a line on standard error, and appends it to the file that a variable of the environment
/// names.
pub fn note(variable: &str, text: &str) {
    eprintln!("{text}");
    let Some(path) = std::env::var_os(variable) else {
        return;
    };
    let log = OpenOptions::new().create(true).append(true).open(path);
    let written = log.and_then(|mut log| log.write_all(format!("{text}\n").as_bytes()));
    if let Err(error) = written {
        eprintln!("the log of {variable} cannot be written: {error}");
    }
}
