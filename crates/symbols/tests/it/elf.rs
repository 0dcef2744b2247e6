//! Files that are no programs are refused with a sentence that says why.

use crate::support::compile;
use juror_symbols::{FileKind, SymbolError, SymbolFile};
use std::path::Path;
use tempfile::TempDir;

fn message(path: &Path) -> String {
    match SymbolFile::open(path) {
        Ok(_) => "opened".to_owned(),
        Err(error) => error
            .to_string()
            .replace(&path.display().to_string(), "FILE"),
    }
}

#[test]
fn what_is_no_program_is_refused_with_a_reason() {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let header = |class: u8, data: u8, kind: u16, machine: u16| {
        let mut bytes = vec![
            0x7f, b'E', b'L', b'F', class, data, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ];
        let half = |value: u16| {
            if data == 2 {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
        };
        bytes.extend(half(kind));
        bytes.extend(half(machine));
        bytes.resize(128, 0);
        bytes
    };
    for (path, expected) in [
        (directory.path().join("absent"), "FILE: no such file"),
        (directory.path().to_path_buf(), "FILE: not a regular file"),
        (write("empty", b""), "FILE: not an ELF program"),
        (write("text", b"hello"), "FILE: not an ELF program"),
        (
            write("script", b"#!/bin/sh -e\necho"),
            "FILE: a script, not an ELF program; debug its interpreter instead: /bin/sh -e FILE",
        ),
        (
            write("short", b"\x7fELF\x02\x01\x01"),
            "FILE: the ELF file is truncated or damaged: it ends inside its header",
        ),
        (
            write("i386", &header(1, 1, 2, 3)),
            "FILE: a 32-bit program; only 64-bit x86-64 programs can be debugged",
        ),
        (
            write("x32", &header(1, 1, 2, 62)),
            "FILE: a 32-bit program; only 64-bit x86-64 programs can be debugged",
        ),
        (
            write("arm", &header(2, 1, 2, 183)),
            "FILE: a program for 64-bit ARM (aarch64); only x86-64 programs can be debugged",
        ),
        (
            write("s390", &header(2, 2, 2, 22)),
            "FILE: a program for IBM S/390; only x86-64 programs can be debugged",
        ),
        (
            write("object", &header(2, 1, 1, 62)),
            "FILE: an object file (link it first), not a program or a shared library",
        ),
        (
            write("core", &header(2, 1, 4, 62)),
            "FILE: a core dump, not a program or a shared library",
        ),
    ] {
        assert_eq!(message(&path), expected);
    }
}

#[test]
fn a_truncated_program_is_refused() {
    let Some(program) = compile("gcc", "program.c", "int main(void) { return 0; }", &["-g"]) else {
        return;
    };
    let whole = std::fs::read(&program.path).unwrap();
    let path = program.directory.path().join("truncated");
    for length in [70, 4000, whole.len() / 4] {
        std::fs::write(&path, &whole[..length]).unwrap();
        let error = SymbolFile::open(&path).unwrap_err();
        assert!(
            matches!(error, SymbolError::Damaged { .. }),
            "{length}: {error}"
        );
    }
}

#[test]
fn kinds_of_files_are_told_apart() {
    let source = "int answer(void) { return 42; }\nint main(void) { return answer(); }";
    for (options, expected, interpreter) in [
        (&["-no-pie"][..], FileKind::DynamicExecutable, true),
        (&["-pie", "-fPIE"], FileKind::DynamicPie, true),
        (&["-static", "-no-pie"], FileKind::StaticExecutable, false),
        (&["-static-pie", "-fPIE"], FileKind::StaticPie, false),
        (
            &["-shared", "-fPIC", "-Wl,-soname,libanswer.so.1"],
            FileKind::SharedLibrary,
            false,
        ),
    ] {
        let Some(program) = compile("gcc", "program.c", source, options) else {
            return;
        };
        let header = program.file.header();
        assert_eq!(header.kind, expected, "{}", program.how);
        assert_eq!(header.interpreter.is_some(), interpreter, "{}", program.how);
        assert!(header.build_id.is_some(), "{}", program.how);
        assert!(
            header.is_code(program.function("answer").low_pc),
            "{}",
            program.how
        );
        let expected_name = (expected == FileKind::SharedLibrary).then_some("libanswer.so.1");
        assert_eq!(header.soname.as_deref(), expected_name, "{}", program.how);
    }
}

#[test]
fn a_separate_debug_file_is_used() {
    let source = "int answer(int x) { return x + 42; }\nint main(void) { return answer(1); }";
    let Some(program) = compile("gcc", "program.c", source, &["-g", "-O0"]) else {
        return;
    };
    let directory = program.directory.path();
    let objcopy = |arguments: &[&str]| {
        let status = std::process::Command::new("objcopy")
            .current_dir(directory)
            .args(arguments)
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !objcopy(&["--only-keep-debug", "program", "program.debug"])
        || !objcopy(&[
            "--strip-all",
            "--add-gnu-debuglink=program.debug",
            "program",
            "stripped",
        ])
    {
        println!("skipped: objcopy is not installed");
        return;
    }
    let file = SymbolFile::open(directory.join("stripped")).unwrap();
    assert!(!file.header().has_debug_info && file.has_debug_info());
    assert!(!file.header().has_symbol_table && !file.is_stripped());
    assert!(file.debug_file_path().unwrap().ends_with("program.debug"));
    let [answer] = &file.functions_named("answer")[..] else {
        panic!("not found")
    };
    assert_eq!(file.line_at(answer.low_pc).unwrap().line, 1);
    assert_eq!(&*file.parameters(answer)[0].name, "x");
}

#[test]
fn compressed_debug_sections_are_read() {
    let source = "int answer(int x) { return x + 42; }\nint main(void) { return answer(1); }";
    let Some(program) = compile("gcc", "program.c", source, &["-g", "-gz=zlib"]) else {
        return;
    };
    let answer = program.function("answer");
    assert!(answer.has_debug_info());
    assert_eq!(program.file.line_at(answer.low_pc).unwrap().line, 1);
}
