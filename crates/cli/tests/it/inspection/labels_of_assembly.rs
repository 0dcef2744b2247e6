//! Labels of hand-written assembly have no declared type, and are functions and data all the same.

use crate::support::dialog::dialog;
use std::process::Command;
use tempfile::TempDir;

const SOURCE: &str = "
        .intel_syntax noprefix
        .data
msg:    .ascii \"hi\\n\"
total:  .long 0
        .text
        .globl _start
_start: mov edi, 4
        call square
        mov edi, 6
        call twice
        mov total, eax
        mov eax, 60
        xor edi, edi
        syscall
square: mov eax, edi
        imul eax, edi
        ret
twice:  lea eax, [rdi + rdi]
        ret
";

#[test]
fn labels_name_the_code_and_the_data_behind_them() {
    for option in [&["-g"][..], &[]] {
        let directory = TempDir::with_prefix("juror-labels-").unwrap();
        std::fs::write(directory.path().join("hello.s"), SOURCE).unwrap();
        let run = |command: &str, arguments: &[&str]| {
            let status = Command::new(command)
                .args(arguments)
                .current_dir(directory.path())
                .status();
            assert!(status.unwrap().success(), "{command}");
        };
        run("as", &[&["hello.s", "-o", "hello.o"][..], option].concat());
        run("ld", &["hello.o", "-o", "hello"]);
        let rows = [
            ("break square", "square"),
            ("break twice", "twice"),
            ("run", "Breakpoint 1 in square"),
            ("backtrace", "#1  _start"),
            ("info symbol $pc", "is square in"),
            ("x/2i $pc", "<square+2>"),
            ("continue", "Breakpoint 2 in twice"),
            ("print (int)total", "0"),
            ("x/s &msg", "\"hi\\n\""),
            ("info functions", "square"),
            ("disassemble square", "<+5>"),
            ("kill", ""),
        ];
        let answers = dialog(
            &directory.path().join("hello"),
            &rows.map(|(command, _)| command),
        );
        for ((command, expected), answer) in rows.iter().zip(&answers) {
            assert!(answer.contains(expected), "{option:?}, {command}: {answer}");
        }
        assert!(!answers[10].contains("lea"), "{answers:?}");
    }
}
