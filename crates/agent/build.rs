//! Builds the image: the scheduler and the agent, without libc, linked to a fixed address.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The address of the image in the debuggee: nothing is there that the kernel, a heap or a sanitizer
/// has put there.
const BASE: u64 = 0x2000_0000_0000;
/// The address of the image that records calls: out of reach of the first one.
const RECORD_BASE: u64 = 0x2100_0000_0000;

/// The arguments by which an image is linked. The linkers set a base in ways of their own: it is moved to its own here.
const LINK: &str = "link-args=-nostartfiles -nostdlib -static-pie -Wl,--no-dynamic-linker \
                    -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-e,agent_start";

fn main() {
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let output = PathBuf::from(variable("OUT_DIR"));
    let schedule = own.join("../schedule/src");
    let record = own.join("record_image");
    for watched in [&own.join("image"), &record, &own.join("src"), &schedule] {
        println!("cargo::rerun-if-changed={}", watched.display());
    }
    let mut library = compiler(&output);
    library.args(["--crate-name", "juror_schedule", "--crate-type", "rlib"]);
    run(library.arg(schedule.join("lib.rs")));
    let mut image = compiler(&output);
    let library = output.join("libjuror_schedule.rlib");
    let mut external = std::ffi::OsString::from("juror_schedule=");
    external.push(library);
    image.args(["--crate-name", "agent_image", "--crate-type", "bin"]);
    image.arg("--extern").arg(external);
    image.args(["-C", "relocation-model=pic"]);
    image.arg("-C").arg(LINK);
    run(image.arg(own.join("image/main.rs")));
    write_flat(&output, "agent_image", "image", BASE);
    let mut image = compiler(&output);
    image.args(["--crate-name", "record_image", "--crate-type", "bin"]);
    image.args(["-C", "relocation-model=pic"]);
    image.arg("-C").arg(LINK);
    run(image.arg(record.join("main.rs")));
    write_flat(&output, "record_image", "record_image", RECORD_BASE);
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}

/// Returns a call of the compiler for code without an operating system.
fn compiler(output: &Path) -> Command {
    let mut compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compiler.args([
        "--edition",
        "2024",
        "-C",
        "opt-level=3",
        "-C",
        "panic=abort",
    ]);
    compiler.args([
        "-C",
        "codegen-units=1",
        "-C",
        "debuginfo=0",
        "--cap-lints",
        "warn",
    ]);
    compiler.args(["-C", "overflow-checks=off", "-C", "force-frame-pointers=no"]);
    compiler.arg("--out-dir").arg(output);
    compiler
}

fn run(command: &mut Command) {
    let status = command.status();
    assert!(
        status.as_ref().is_ok_and(std::process::ExitStatus::success),
        "{command:?}: {status:?}"
    );
}

/// Writes the loaded bytes of the linked image, and its size in memory and its entry.
fn write_flat(output: &Path, linked: &str, name: &str, base: u64) {
    let linked = fs::read(output.join(linked)).unwrap_or_default();
    let (entry, headers) = (word(&linked, 24, 8), word(&linked, 32, 8) as usize);
    let count = word(&linked, 56, 2) as usize;
    let mut flat = Vec::new();
    let (mut size, mut dynamic) = (0, 0);
    for number in 0..count {
        let header = headers + number * 56;
        let kind = word(&linked, header, 4);
        let offset = word(&linked, header + 8, 8) as usize;
        let address = word(&linked, header + 16, 8) as usize;
        let in_file = word(&linked, header + 32, 8) as usize;
        let in_memory = word(&linked, header + 40, 8) as usize;
        match kind {
            LOADED => {
                flat.resize(flat.len().max(address + in_file), 0);
                flat[address..address + in_file].copy_from_slice(&linked[offset..offset + in_file]);
                size = size.max(address + in_memory);
            }
            DYNAMIC => dynamic = address,
            _ => {}
        }
    }
    assert!(!flat.is_empty() && dynamic != 0, "the image is empty");
    relocate(&mut flat, dynamic, base);
    let (entry, size) = (base + entry, size.next_multiple_of(4096));
    let constants = format!(
        "pub(crate) const BASE: u64 = {base:#x};\npub(crate) const ENTRY: u64 = {entry:#x};\n\
         pub(crate) const SIZE: u64 = {size:#x};\n"
    );
    let written = fs::write(output.join(format!("{name}.bin")), flat)
        .and_then(|()| fs::write(output.join(format!("{name}.rs")), constants));
    assert!(written.is_ok(), "{written:?}");
}

/// `PT_LOAD` and `PT_DYNAMIC`.
const LOADED: u64 = 1;
const DYNAMIC: u64 = 2;

fn word(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut word = [0; 8];
    let part = bytes.get(at..at + size).unwrap_or_default();
    for (to, from) in word.iter_mut().zip(part) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

/// Moves the image to its base: all of its relocations are relative.
fn relocate(flat: &mut [u8], dynamic: usize, base: u64) {
    const TABLE: u64 = 7;
    const TABLE_SIZE: u64 = 8;
    const RELATIVE: u64 = 8;
    let mut table = 0;
    let mut table_size = 0;
    let mut at = dynamic;
    while word(flat, at, 8) != 0 {
        match word(flat, at, 8) {
            TABLE => table = word(flat, at + 8, 8) as usize,
            TABLE_SIZE => table_size = word(flat, at + 8, 8) as usize,
            _ => {}
        }
        at += 16;
    }
    for at in (table..table + table_size).step_by(24) {
        let place = word(flat, at, 8) as usize;
        let kind = word(flat, at + 8, 8);
        assert!(
            kind == RELATIVE,
            "a relocation of the image has kind {kind}"
        );
        let value = base + word(flat, at + 16, 8);
        flat[place..place + 8].copy_from_slice(&value.to_le_bytes());
    }
}
