//! Arbitrary lines of the prompt, and arbitrary words of the command line.

use crate::arguments;
use juror_points::location_spec;
use juror_session::command_table;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

/// Runs the target with an input.
pub fn fuzz(bytes: &[u8]) {
    if let Ok(line) = std::str::from_utf8(bytes) {
        let (word, rest) = command_table::split_line(line);
        if let Ok(entry) = command_table::find(word) {
            command_table::help_of(entry);
        }
        let _ = command_table::find_info_subject(rest);
        let _ = location_spec::parse(rest);
    }
    let words = bytes.split(|byte| *byte == b' ' || *byte == b'\n');
    let words = words.map(|word| OsStr::from_bytes(word).to_owned());
    let program = OsString::from("juror");
    if let Err(mistake) = arguments::parse_from([program].into_iter().chain(words)) {
        let _ = mistake.to_string();
    }
}
