//! Holds the knowledge of the processor in one crate: outside of `arch`, product code names the
//! program counter, the stack pointer, the register of results and the vector registers only in the
//! files of [`ROOMS`].
//!
//! A name counts as a word of the code or of a string, in any case (`rip`, `RSP`, `Register::Rax`,
//! `"$xmm0"`); comments and tests do not count.

use std::fs;
use std::path::Path;

/// The files that may name registers, by the beginning of their path below `crates/`, and why.
const ROOMS: &[(&str, &str)] = &[
    ("arch/", "the table of registers itself"),
    ("stub/src/", "the encoding of instructions is the subject"),
    ("origin/src/", "the operands of decoded instructions"),
    (
        "stepping/src/line.rs",
        "the operands of decoded instructions",
    ),
    (
        "explore/src/access.rs",
        "the operands of decoded instructions",
    ),
    (
        "stepping/src/out_of_line.rs",
        "the operands of decoded instructions",
    ),
    (
        "symbols/src/call/callers.rs",
        "the operands of decoded instructions",
    ),
    (
        "symbols/src/call/prologue.rs",
        "the operands of decoded instructions",
    ),
    (
        "symbols/src/inline/code.rs",
        "the operands of decoded instructions",
    ),
    ("symbols/src/assembly.rs", "the options of the disassembler"),
    (
        "debuggee/src/kernel",
        "offsets in the kernel's structures, held against `libc`",
    ),
    (
        "language/src/parse/assignment.rs",
        "help of errors, with examples as a user types them",
    ),
    (
        "session/src/command_table/",
        "examples of commands, as a user types them",
    ),
    (
        "session/src/inspect/assignment/",
        "help of errors, with examples as a user types them",
    ),
    (
        "session/src/commands/",
        "help of errors, with examples as a user types them",
    ),
];

/// The names that are looked for, in lower case.
const NAMES: [&str; 3] = ["rip", "rsp", "rax"];
/// A name that is followed by the number of the register.
const NUMBERED: &str = "xmm";

/// The beginnings of modules that are no product code: tests, and sample views for tests.
const NO_PRODUCT: [&str; 2] = [
    "#[cfg(test)]\nmod tests",
    "#[cfg(any(test, feature = \"samples\"))]\npub mod samples",
];

/// Returns the product code of a source file: without comments, tests and samples.
fn product_code(source: &str) -> String {
    let ends = NO_PRODUCT.iter().filter_map(|begin| source.find(begin));
    let end = ends.min().unwrap_or(source.len());
    let product = source.get(..end).unwrap_or(source);
    let code = product
        .lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.collect::<Vec<_>>().join("\n")
}

/// Returns the registers that code names.
fn registers_named(code: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    let words = code.split(|c| !is_part(c)).flat_map(humps);
    words
        .map(|word| word.to_ascii_lowercase())
        .filter(|word| {
            let number = word.strip_prefix(NUMBERED);
            let is_vector =
                number.is_some_and(|digits| digits.bytes().all(|it| it.is_ascii_digit()));
            is_vector || NAMES.contains(&word.as_str())
        })
        .collect()
}

/// Returns the parts of a word in camel case: `Orig` and `Rax` of `OrigRax`.
fn humps(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let is_start = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let this = bytes.get(at);
        before.is_some_and(u8::is_ascii_lowercase) && this.is_some_and(u8::is_ascii_uppercase)
    };
    let mut cuts: Vec<usize> = (1..word.len()).filter(|&at| is_start(at)).collect();
    cuts.push(word.len());
    let mut start = 0;
    let mut parts = Vec::new();
    for cut in cuts {
        parts.extend(word.get(start..cut));
        start = cut;
    }
    parts
}

/// Returns the source files of product code below a directory.
fn sources(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

#[test]
fn registers_are_named_in_their_rooms_only() {
    let crates = juror_testing::repository_directory().join("crates");
    let mut files = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 500, "{} files", files.len());
    let (mut faults, mut used) = (Vec::new(), vec![false; ROOMS.len()]);
    for file in &files {
        let named = registers_named(&product_code(&fs::read_to_string(file).unwrap()));
        if named.is_empty() {
            continue;
        }
        let path = file.strip_prefix(&crates).unwrap().to_string_lossy();
        match ROOMS.iter().position(|(room, _)| path.starts_with(room)) {
            Some(room) => used[room] = true,
            None => faults.push(format!("{path} names {}", named.join(", "))),
        }
    }
    assert!(
        faults.is_empty(),
        "ask `juror_arch` for the register, or list the file in ROOMS:\n{}",
        faults.join("\n")
    );
    for ((room, _), is_used) in ROOMS.iter().zip(used) {
        assert!(is_used, "no file of the room {room} names a register");
    }
}

#[test]
fn names_are_found_as_words() {
    for (code, expected) in [
        ("let rip = 1;", vec!["rip"]),
        ("registers.orig_rax", vec!["rax"]),
        ("Register::OrigRax", vec!["rax"]),
        ("\"x/8gx $rsp\"", vec!["rsp"]),
        ("XMM0 + 1", vec!["xmm0"]),
        ("\"xmm\"", vec!["xmm"]),
        ("script, Script, trip, description", vec![]),
        ("value // rip", vec![]),
        (
            "value\n#[cfg(test)]\nmod tests {\n    let rip = 1;\n}",
            vec![],
        ),
    ] {
        assert_eq!(registers_named(&product_code(code)), expected, "{code}");
    }
}
