//! Programs of other languages with DWARF: what their forms mean by the standard, or that it is
//! not known. A compiler that is not installed is told, and its rows are left out.

use crate::support::dialog::dialog;
use crate::support::{Batch, property_of};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Compiles a program; `None` if the compiler is not installed.
fn compiled(source: &str, file: &str, command: &[&str]) -> Option<(TempDir, PathBuf)> {
    let directory = TempDir::with_prefix("juror-language-").unwrap();
    std::fs::write(directory.path().join(file), source).unwrap();
    let (program, arguments) = command.split_first().unwrap();
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .env("GO111MODULE", "off")
        .env("GOCACHE", directory.path().join("cache"))
        .current_dir(directory.path())
        .output();
    let Ok(output) = output else {
        eprintln!("`{program}` is not installed: its rows are left out");
        return None;
    };
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {messages}");
    let executable = directory.path().join("program");
    Some((directory, executable))
}

/// Checks what commands answer at a place: a part of the answer, or the whole with a leading `=`.
#[track_caller]
fn check(executable: &Path, first: &[&str], rows: &[(&str, &str)]) {
    let mut commands = first.to_vec();
    commands.extend(rows.iter().map(|(command, _)| *command));
    commands.push("kill");
    let answers = dialog(executable, &commands);
    for ((command, expected), answer) in rows.iter().zip(answers.iter().skip(first.len())) {
        let is_right = match expected.strip_prefix('=') {
            Some(whole) => answer == whole,
            None => answer.contains(expected),
        };
        assert!(is_right, "{command}: {answer}; expected {expected}");
    }
}

const FORTRAN: &str = "\
module m
  implicit none
  integer, allocatable :: shared(:)
  integer :: fixed(0:3) = (/ 1, 2, 3, 4 /)
contains
  subroutine fill(n, cells, text, part)
    integer, intent(in) :: n, cells(4)
    character(*), intent(in) :: text
    integer, intent(in) :: part(:)
    if (n > 4) print *, cells, text, part
  end subroutine
  subroutine by_value(k)
    integer, value :: k
    if (k > 9) print *, k
  end subroutine
  integer function twice(number)
    integer, intent(in) :: number
    twice = 2 * number
  end function
end module
program main
  use m
  implicit none
  integer :: grid(2,3), low(-1:1), plain(4), i, common_number
  integer, allocatable :: heap(:), never(:), two(:,:)
  integer, target :: base(6) = (/ 10, 20, 30, 40, 50, 60 /)
  integer, pointer :: near(:), apart(:)
  character(len=6) :: word
  real(16) :: wide
  complex(4) :: small
  common /blk/ common_number
  plain = (/ (i * 10, i = 1, 4) /)
  low = (/ 7, 8, 9 /)
  grid = reshape((/ 1, 2, 3, 4, 5, 6 /), (/ 2, 3 /))
  allocate(heap(2), two(2,2), shared(-1:1)); heap = (/ 5, 6 /)
  two = reshape((/ 1, 2, 3, 4 /), (/ 2, 2 /)); shared = (/ 3, 2, 1 /)
  near => base(2:4); apart => base(1:6:2)
  word = \"abc\"; wide = 1.25_16; small = (1.0, -1.0); common_number = 5
  call fill(4, plain, \"hello\", heap)
  call by_value(6)
  i = twice(3)
  if (i > 9) print *, grid, low, near, apart, two, word, wide, small, never
end program
";

const AT_CALL: &[&str] = &["break program.f90:41", "run"];

#[test]
fn arrays_and_text_of_fortran_have_their_bounds() {
    let command = ["gfortran", "-g", "-O0", "-o", "program"];
    let Some((_directory, executable)) = compiled(FORTRAN, "program.f90", &command) else {
        return;
    };
    check(
        &executable,
        AT_CALL,
        &[
            ("print plain", "={10, 20, 30, 40}"),
            ("print plain[1]", "=10"),
            ("print plain[4]", "=40"),
            ("print plain[0]", "the elements 1 to 4"),
            ("print plain[5] = 3", "the elements 1 to 4"),
            ("print low", "={7, 8, 9}"),
            ("print low[-1]", "=7"),
            ("print low[1] = 99", "=99"),
            ("print low", "={7, 8, 99}"),
            ("print low[2] = 1", "the elements -1 to 1"),
            ("print grid", "={{1, 2}, {3, 4}, {5, 6}}"),
            ("print grid[1]", "stored by columns"),
            ("print heap", "={5, 6}"),
            ("print heap[2]", "=6"),
            ("print heap[0]", "the elements 1 to 2"),
            ("print len(heap)", "=2"),
            ("print never", "not allocated"),
            ("print two", "={{1, 2}, {3, 4}}"),
            ("print shared", "={3, 2, 1}"),
            ("print shared[-1]", "=3"),
            ("print fixed[0]", "=1"),
            ("print fixed[4]", "the elements 0 to 3"),
            ("print near", "={20, 30, 40}"),
            ("print apart", "not contiguous"),
            ("print word", "=\"abc   \""),
            ("print wide", "=1.25"),
            ("print small", "=1 + -1i"),
            ("print common_number", "=5"),
            ("print twice(3)", "=6"),
            ("print twice(base[1])", "=20"),
            ("ptype twice", "integer(kind=4) (const integer(kind=4) &)"),
        ],
    );
}

#[test]
fn arguments_of_fortran_are_passed_by_reference() {
    for level in ["-O0", "-O1"] {
        let command = ["gfortran", "-g", level, "-fno-inline", "-o", "program"];
        let Some((_directory, executable)) = compiled(FORTRAN, "program.f90", &command) else {
            return;
        };
        let property = property_of(
            "event fill = before fill(n, second = cells[2])
             event by_value = before by_value(k)
             event twice = before twice(number)",
        );
        let report = Batch::watching(&property).run(&executable, &[]);
        for (event, name, expected) in [
            ("fill", "n", 4),
            ("fill", "second", 20),
            ("by_value", "k", 6),
            ("twice", "number", 3),
        ] {
            assert_eq!(report.values(event, name), [expected], "{event}, {level}");
        }
    }
}

const ADA: &str = "\
procedure Program is
   type Vec is array (Integer range <>) of Integer;
   subtype Score is Integer range 0 .. 100;
   type Grid is array (1 .. 2, 1 .. 3) of Integer;
   type Bits is array (1 .. 10) of Boolean;
   pragma Pack (Bits);
   type Money is delta 0.01 range 0.0 .. 100.0;
   V : Vec (5 .. 7) := (50, 60, 70);
   G : Grid := ((1, 2, 3), (4, 5, 6));
   S : Score := 42;
   B : Bits := (True, False, True, others => False);
   M : Money := 1.25;
   procedure Stop is begin null; end Stop;
begin
   V (5) := V (6) + S + G (1, 1);
   Stop;
   if V (5) < 0 and B (1) and M > 2.0 then V (6) := 1; end if;
end Program;
";

#[test]
fn arrays_and_ranges_of_ada_have_their_bounds() {
    let command = ["gnatmake", "-q", "-g", "-o", "program"];
    let Some((_directory, executable)) = compiled(ADA, "program.adb", &command) else {
        return;
    };
    check(
        &executable,
        &["break program.adb:16", "run"],
        &[
            ("print v", "={103, 60, 70}"),
            ("print v[5]", "=103"),
            ("print v[4] = 1", "the elements 5 to 7"),
            ("print g", "={{1, 2, 3}, {4, 5, 6}}"),
            ("print g[2][1]", "=4"),
            ("print g[2][0]", "the elements 1 to 3"),
            ("print s", "=42"),
            ("print b", "unknown length"),
            ("print b[1]", "not known"),
            // A number with a scale is shown as its bytes.
            ("print m", "0x"),
        ],
    );
}

const PASCAL: &str = "\
program main;
type
  color = (red, green, blue);
  small = 1..10;
  rec = record a: integer; b: array[5..7] of longint; end;
var
  v: array[5..7] of longint;
  g: array[1..2, 1..3] of longint;
  c: array[color] of longint;
  s: small;
  r: rec;
procedure change(var x: longint; y: longint);
begin
  x := x + y;
end;
begin
  v[5] := 50; v[6] := 60; v[7] := 70;
  g[1,2] := 12; g[2,3] := 23;
  c[red] := 1; c[blue] := 3; s := 4; r.a := 1; r.b[5] := 55;
  change(v[6], 5);
  if v[6] + s + r.a + r.b[5] + c[red] + g[1,2] < 0 then v[5] := 1;
end.
";

#[test]
fn arrays_and_arguments_of_pascal() {
    let command = ["fpc", "-gw3", "-O-", "-vn-", "-oprogram"];
    let Some((_directory, executable)) = compiled(PASCAL, "program.pas", &command) else {
        return;
    };
    check(
        &executable,
        &["break program.pas:21", "run"],
        &[
            ("print v", "={50, 65, 70}"),
            ("print v[5]", "=50"),
            ("print v[8] = 1", "the elements 5 to 7"),
            ("print g[1][2]", "=12"),
            ("print c", "={1, 0, 3}"),
            ("print c[3]", "the elements 0 to 2"),
            ("print s", "=4"),
            ("print r", "={a = 1, b = {55, 0, 0}}"),
            ("print r.b[5]", "=55"),
        ],
    );
    let property = property_of("event change = before change(x, y)");
    let report = Batch::watching(&property).run(&executable, &[]);
    assert_eq!(report.values("change", "x"), [60]);
    assert_eq!(report.values("change", "y"), [5]);
}

const GO: &str = "\
package main

import \"os\"

//go:noinline
func scale(n int, rate float64, flag bool) int {
	if flag {
		return int(float64(n) * rate)
	}
	return n
}

//go:noinline
func two(n int) (int, bool) {
	return n + 1, n > 0
}

func main() {
	t := 0
	for i := 1; i <= 3; i++ {
		t += scale(i, 2.0, true)
	}
	r, ok := two(t)
	if r == 0 && ok {
		os.Exit(1)
	}
}
";

#[test]
fn events_after_functions_of_go_are_refused() {
    let command = ["go", "build", "-o", "program"];
    let Some((_directory, executable)) = compiled(GO, "program.go", &command) else {
        return;
    };
    // The stack may be moved during the call.
    for event in [
        "after \"main.scale\"(n) returns r",
        "after \"main.two\"(n) returns r",
    ] {
        let property = property_of(&format!("event done = {event}"));
        let report = Batch::watching(&property).run(&executable, &[]);
        let stderr = &report.output.stderr;
        assert!(
            stderr.contains("its stack may be moved") || stderr.contains("does not define"),
            "{:?}",
            report.output
        );
    }
}
