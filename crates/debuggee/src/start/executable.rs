//! Finding the program, and refusing with a reason a file that cannot be run.
//!
//! The kernel would refuse most of them too, but with one error number for many
//! reasons, and only after the fork.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::error::LaunchError;

const ELF_HEADER_LENGTH: usize = 64;
const PROGRAM_HEADER_LENGTH: usize = 56;
const MACHINE_X86_64: u16 = 62;
const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;
/// The kernel reads no longer path of a dynamic linker.
const INTERPRETER_LENGTH_MAX: usize = 4096;

/// Returns the absolute path of the program. Like a shell, searches `PATH` only
/// if the name has no slash.
///
/// # Errors
/// It is not in `PATH`, or there is no current directory.
pub fn locate(program: &Path) -> Result<PathBuf, LaunchError> {
    let name = program.as_os_str();
    if name.as_bytes().contains(&b'/') || matches!(name.as_bytes(), b"" | b"." | b"..") {
        return std::path::absolute(program).map_err(|source| LaunchError::System {
            path: program.to_owned(),
            what: "finding the current directory",
            source,
        });
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file() && access(candidate, AccessFlags::X_OK).is_ok())
        .and_then(|candidate| std::path::absolute(candidate).ok())
        .ok_or_else(|| LaunchError::NotOnPath(name.to_owned()))
}

/// Checks that the file is a program that juror can run.
pub(crate) fn check(path: &Path) -> Result<(), LaunchError> {
    let owned = || path.to_owned();
    let system = |source| LaunchError::System {
        path: owned(),
        what: "reading the file",
        source,
    };
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(LaunchError::NotFound(owned()));
        }
        Err(error) => return Err(system(error)),
    };
    if metadata.is_dir() {
        return Err(LaunchError::IsDirectory(owned()));
    }
    if !metadata.is_file() {
        return Err(LaunchError::NotExecutable(owned()));
    }
    if access(path, AccessFlags::X_OK).is_err() {
        return Err(LaunchError::NotPermitted(owned()));
    }
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Err(LaunchError::Untraceable {
                path: owned(),
                hint: "you may execute this file but not read it".to_owned(),
            });
        }
        Err(error) => return Err(system(error)),
    };
    let mut start = Vec::new();
    (&file).take(256).read_to_end(&mut start).map_err(system)?;
    if let Some(interpreter) = script_interpreter(&start) {
        return Err(LaunchError::Script {
            script: owned(),
            interpreter,
        });
    }
    check_elf(path, &start)?;
    match dynamic_linker(&file, &start) {
        Some(interpreter) if !interpreter.exists() => Err(LaunchError::MissingInterpreter {
            path: owned(),
            interpreter,
        }),
        _ => Ok(()),
    }
}

/// Returns the interpreter (with its argument) of a script's first line.
fn script_interpreter(start: &[u8]) -> Option<String> {
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|&byte| byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}

fn check_elf(path: &Path, start: &[u8]) -> Result<(), LaunchError> {
    let owned = || path.to_owned();
    let Some([0x7f, b'E', b'L', b'F', class, order, ..]) = start.get(..ELF_HEADER_LENGTH.min(52))
    else {
        return Err(LaunchError::NotExecutable(owned()));
    };
    let half = |offset: usize| -> u16 {
        match start.get(offset..offset + 2) {
            Some(&[low, high]) if *order == 2 => u16::from_be_bytes([low, high]),
            Some(&[low, high]) => u16::from_le_bytes([low, high]),
            _ => 0,
        }
    };
    let (kind, machine) = (half(16), half(18));
    if matches!(machine, 3) || (machine == MACHINE_X86_64 && *class == 1) {
        return Err(LaunchError::Narrow(owned()));
    }
    if machine != MACHINE_X86_64 {
        return Err(LaunchError::ForeignMachine {
            path: owned(),
            machine: machine_name(machine),
        });
    }
    let kind = match kind {
        2 | 3 => return Ok(()),
        1 => "an object file (link it first)",
        4 => "a core file",
        _ => "an ELF file of an unknown kind",
    };
    Err(LaunchError::NotProgram {
        path: owned(),
        kind,
    })
}

fn machine_name(machine: u16) -> String {
    match machine {
        8 => "MIPS".into(),
        20 => "32-bit PowerPC".into(),
        21 => "64-bit PowerPC".into(),
        22 => "S/390".into(),
        40 => "32-bit ARM".into(),
        183 => "64-bit ARM".into(),
        243 => "RISC-V".into(),
        258 => "LoongArch".into(),
        other => format!("another machine (ELF machine number {other})"),
    }
}

/// A program header: its kind, and the file range of its contents.
struct ProgramHeader {
    kind: u32,
    offset: u64,
    length: u64,
}

/// Returns the program headers; `None` for one that lies outside of the file.
fn program_headers(file: &File, header: &[u8]) -> impl Iterator<Item = Option<ProgramHeader>> {
    let table = u64_at(header, 32);
    let entry_length = u64::from(u16_at(header, 54).unwrap_or(0));
    let count = u64::from(u16_at(header, 56).unwrap_or(0));
    (0..count).map(move |index| {
        let mut entry = [0; PROGRAM_HEADER_LENGTH];
        let place = table?.checked_add(index * entry_length)?;
        file.read_exact_at(&mut entry, place).ok()?;
        Some(ProgramHeader {
            kind: u32::from_le_bytes(entry.get(0..4)?.try_into().ok()?),
            offset: u64_at(&entry, 8)?,
            length: u64_at(&entry, 32)?,
        })
    })
}

fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    let bytes = bytes.get(offset..offset.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    let bytes = bytes.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Returns true if the headers, or the segments that the kernel loads, lie
/// beyond the end of the file: the reason why the kernel refused a program, or
/// killed it at once. A program that never accesses them may still run.
pub(crate) fn is_truncated(path: &Path) -> bool {
    let mut header = [0; ELF_HEADER_LENGTH];
    let Ok(file) = File::open(path) else {
        return false;
    };
    let Ok(length) = file.metadata().map(|metadata| metadata.len()) else {
        return false;
    };
    if file.read_exact_at(&mut header, 0).is_err() {
        return true;
    }
    program_headers(&file, &header).any(|entry| match entry {
        None => true,
        Some(entry) => {
            let end = entry.offset.checked_add(entry.length);
            entry.kind == PT_LOAD && end.is_none_or(|end| end > length)
        }
    })
}

/// Returns the path in the program header `PT_INTERP`, if there is a valid one.
fn dynamic_linker(file: &File, header: &[u8]) -> Option<PathBuf> {
    let entry = program_headers(file, header)
        .flatten()
        .find(|entry| entry.kind == PT_INTERP)?;
    let mut path = vec![
        0;
        usize::try_from(entry.length)
            .ok()?
            .min(INTERPRETER_LENGTH_MAX)
    ];
    file.read_exact_at(&mut path, entry.offset).ok()?;
    let end = path.iter().position(|&byte| byte == 0)?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path.get(..end)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn header(class: u8, kind: u16, machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64];
        bytes[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1]);
        bytes[16..18].copy_from_slice(&kind.to_le_bytes());
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes
    }

    #[track_caller]
    fn check_message(content: &[u8], mode: u32, expected: &str) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p");
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let message = check(&path).unwrap_err().to_string();
        let message = message.replace(&*path.to_string_lossy(), "p");
        assert_eq!(message, expected);
    }

    #[test]
    fn each_unfit_file_has_its_sentence() {
        check_message(
            b"#!/bin/sh -e\necho\n",
            0o755,
            "p: this is a script; the program that runs it is /bin/sh -e. To watch that program, give: /bin/sh -e p",
        );
        check_message(
            b"hello",
            0o755,
            "p: this is not an executable (no ELF header)",
        );
        check_message(b"", 0o755, "p: this is not an executable (no ELF header)");
        check_message(
            &header(1, 2, 3),
            0o755,
            "p: this is a 32-bit program; juror works on 64-bit x86-64 programs",
        );
        check_message(
            &header(2, 2, 183),
            0o755,
            "p: this program is for 64-bit ARM; juror works on x86-64 programs",
        );
        check_message(
            &header(2, 1, 62),
            0o755,
            "p: this is an object file (link it first), not a program",
        );
    }

    #[test]
    fn programs_that_were_cut_off_are_known() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("p");
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        for (length, expected) in [
            (whole.len(), false),
            (20_000, true),
            (100, true),
            (10, true),
        ] {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(is_truncated(&path), expected, "{length} bytes");
        }
    }

    #[test]
    fn missing_files_and_directories_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        assert!(matches!(
            check(directory.path()),
            Err(LaunchError::IsDirectory(_))
        ));
        assert!(matches!(
            check(&directory.path().join("absent")),
            Err(LaunchError::NotFound(_))
        ));
        assert!(matches!(
            locate(Path::new("juror-has-no-such-program")),
            Err(LaunchError::NotOnPath(_))
        ));
        assert!(locate(Path::new("sh")).unwrap().is_absolute());
        let here = locate(Path::new(".")).unwrap();
        assert!(matches!(check(&here), Err(LaunchError::IsDirectory(_))));
    }

    #[test]
    fn a_missing_dynamic_linker_is_named() {
        let mut file = header(2, 3, 62);
        file[32..40].copy_from_slice(&64_u64.to_le_bytes());
        file[54..56].copy_from_slice(&56_u16.to_le_bytes());
        file[56..58].copy_from_slice(&1_u16.to_le_bytes());
        let mut entry = [0; 56];
        entry[0] = 3;
        entry[8..16].copy_from_slice(&120_u64.to_le_bytes());
        entry[32..40].copy_from_slice(&9_u64.to_le_bytes());
        file.extend(entry);
        file.extend(b"/no/ld.so\0");
        // The length includes the zero; one byte shorter there is no end.
        file[64 + 32] = 10;
        check_message(
            &file,
            0o755,
            "p: its dynamic linker /no/ld.so does not exist on this machine (is the right C library installed?)",
        );
    }
}
