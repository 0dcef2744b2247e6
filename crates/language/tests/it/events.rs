//! Events of every kind: what they are about, what they read, and what has no
//! meaning.

use crate::common::check_found;
use juror_event::{Conversion, EventKind, Reach, Read};
use juror_language::{Property, load};

#[track_caller]
fn loaded(source: &str) -> Property {
    let (mut properties, diagnostics) = load(source);
    assert_eq!(diagnostics, [], "{source}");
    assert_eq!(properties.len(), 1, "{source}");
    properties.remove(0)
}

#[track_caller]
fn check(event: &str, kind: EventKind, subject: &str, reads: &[Read]) {
    let source =
        format!("property p event e = {event}\nevent z = signal\nstate init {{ on e on z }}");
    let property = loaded(&source);
    let found = &property.events[0];
    assert_eq!((found.kind, &*found.subject), (kind, subject), "{event}");
    let found_reads: Vec<Read> = found.captures.iter().map(|c| c.read.clone()).collect();
    assert_eq!(found_reads, reads, "{event}");
    if !subject.is_empty() {
        let span = &source[found.subject_span.clone()];
        let bare: String = span.chars().filter(|c| !"\" ".contains(*c)).collect();
        assert_eq!(bare, subject.replace(' ', ""), "{event}");
    }
}

fn name(name: &str) -> Read {
    Read::Name(name.into())
}

#[test]
fn places() {
    check("write total", EventKind::Write, "total", &[]);
    check(
        "change queue->count",
        EventKind::Change,
        "queue->count",
        &[],
    );
    check(
        "read board[0..81] (index)",
        EventKind::Read,
        "board[0..81]",
        &[Read::Position],
    );
    check("access *p", EventKind::Access, "*p", &[]);
    check(
        "write queue.c::count",
        EventKind::Write,
        "queue.c::count",
        &[],
    );
    check(
        "write * (unsigned long *) 0x4010",
        EventKind::Write,
        "*(unsigned long*)0x4010",
        &[],
    );
    check(
        "write total (now: i64 = value, was = old, at: address = address, limit)",
        EventKind::Write,
        "total",
        &[
            Read::Convert(Box::new(Read::Value), Conversion::Signed { bytes: 8 }),
            Read::Old,
            Read::Convert(Box::new(Read::WatchedAddress), Conversion::Address),
            name("limit"),
        ],
    );
    let library = loaded("property p event e = write total in library state init { on e }");
    assert_eq!(library.events[0].reach, Reach::Library);
}

#[test]
fn system_calls_and_signals() {
    check(
        "entry read(fd = arg 1, size = arg 3)",
        EventKind::SystemCallEntry,
        "read",
        &[Read::Argument(1), Read::Argument(3)],
    );
    check("entry 60", EventKind::SystemCallEntry, "60", &[]);
    check(
        "exit openat returns fd: int",
        EventKind::SystemCallExit,
        "openat",
        &[Read::Convert(
            Box::new(Read::Return),
            Conversion::Signed { bytes: 4 },
        )],
    );
    check("signal SIGUSR1", EventKind::Signal, "SIGUSR1", &[]);
    check(
        "signal (number, sender)",
        EventKind::Signal,
        "",
        &[Read::Number, Read::Sender],
    );
    check("signal", EventKind::Signal, "", &[]);
}

#[test]
fn moments() {
    check("thread start", EventKind::ThreadStart, "", &[]);
    check(
        "thread end (t = thread)",
        EventKind::ThreadEnd,
        "",
        &[Read::Thread],
    );
    check(
        "module load \"libfoo\" (name)",
        EventKind::ModuleLoad,
        "libfoo",
        &[Read::ModuleName],
    );
    check("module unload", EventKind::ModuleUnload, "", &[]);
    check(
        "line \"queue.c:42\" (count)",
        EventKind::Line,
        "queue.c:42",
        &[name("count")],
    );
    check("program start", EventKind::ProgramStart, "", &[]);
    check(
        "program exit (status)",
        EventKind::ProgramExit,
        "",
        &[Read::Status],
    );
    check(
        "before f(thread, since = time)",
        EventKind::BeforeCall,
        "f",
        &[name("thread"), Read::Time],
    );
}

#[test]
fn what_the_moment_has_is_read_only_where_it_is_used() {
    let property = loaded(
        "property p slice on thread
         event push = before push(queue)
         event w = write total
         var last = 0
         state init {
             on push when caller == \"main\" { last = time } -> ready
         }
         state ready { on w when value < old and time - last > 5 on push when last > 0 -> init }",
    );
    let captures: Vec<(String, bool)> = property.events[0]
        .captures
        .iter()
        .map(|capture| (capture.name.to_string(), capture.hoisted))
        .collect();
    let expected = [
        ("queue", false),
        ("thread", false),
        ("caller", true),
        ("time", true),
    ];
    assert_eq!(
        captures,
        expected.map(|(name, hoisted)| (name.to_owned(), hoisted))
    );
    assert_eq!(property.bindings, [[Some(1)], [Some(0)]]);
    let names: Vec<&str> = property.events[1]
        .captures
        .iter()
        .map(|c| &*c.name)
        .collect();
    assert_eq!(names, ["thread", "value", "old", "time"]);
}

#[test]
fn a_name_of_the_property_goes_before_that_of_the_moment() {
    let property = loaded(
        "property p slice on thread event e = before f(thread, x = arg 1) var time = 3
         state init { on e when time > x }",
    );
    let reads: Vec<Read> = property.events[0]
        .captures
        .iter()
        .map(|c| c.read.clone())
        .collect();
    assert_eq!(reads, [name("thread"), Read::Argument(1)]);
}

#[test]
fn elements_are_a_sequence() {
    let property = loaded(
        "property p event e = before f(board, cells = board[0..81])
         state init { on e when len(cells) == 81 and cells[3] == 0 and 7 in board[9..18] }",
    );
    let reads: Vec<String> = property.events[0]
        .captures
        .iter()
        .map(|c| c.read.to_string())
        .collect();
    assert_eq!(reads, ["board", "board[0..81]", "board[9..18]"]);
}

#[test]
fn more_than_a_place_is_read_as_an_expression() {
    let property = loaded(
        "property p event e = after f(link = arg 2, ages, deep = ((node *)link)->next,
             own = ages[\"ann\"] + sizeof(int), size: u32 = *(link + 1), back = ret[n])
         state init {
             on e when *(link + 1) == 0 and (*ages)[link] > 2 and sizeof *ages == 8 and (i32)ages->n < 0
         }",
    );
    let reads: Vec<(String, String)> = property.events[0]
        .captures
        .iter()
        .map(|c| (c.name.to_string(), c.read.to_string()))
        .collect();
    let expected = [
        ("link", "arg 2"),
        ("ages", "ages"),
        ("deep", "((node *)link)->next"),
        ("own", "ages[\"ann\"] + sizeof(int)"),
        ("size", "*(link + 1)"),
        ("back", "ret[n]"),
        ("*(link + 1)", "*((arg 2) + 1)"),
        ("(*ages)[link]", "(*ages)[(arg 2)]"),
        ("sizeof (*ages)", "sizeof (*ages)"),
        ("(i32)ages->n", "ages->n"),
    ];
    assert_eq!(
        reads,
        expected.map(|(name, read)| (name.to_owned(), read.to_owned()))
    );
}

#[track_caller]
fn check_error(event: &str, code: &str, underlined: &str, help: &str) {
    let source = format!("property p event e = {event} state init {{ on e }}");
    let (_, diagnostics) = load(&source);
    check_found(&source, &diagnostics, code, underlined, help);
}

#[test]
fn mistakes() {
    check_error("wrote total", "syntax", "wrote", "`write`");
    check_error("something", "syntax", "something", "`before`");
    check_error("write", "syntax", "state", "");
    check_error("write f(x)[2]", "syntax", "[", "");
    check_error("write a + b", "syntax", "+", "");
    check_error("write $rsp", "bad-place", "$rsp", "a variable");
    check_error("write 5", "bad-place", "5", "*(int *)");
    check_error("write a[i]", "bad-index", "i", "before the run");
    check_error("write a[9..1]", "bad-index", "a[9..1]", "");
    check_error("write a[0..5000]", "bad-index", "a[0..5000]", "");
    for one in ["u8", "i64", "bool", "double", "address", "text"] {
        for range in ["p[0..8]", "((signed char*)b->cell)[0..8]", "rows[1][0..3]"] {
            let event = format!("before f(x: {one} = {range})");
            check_error(&event, "bad-read", range, "leave the type out");
        }
    }
    check_error(
        "write a (x: u8 = a[0..2])",
        "bad-read",
        "a[0..2]",
        "leave the type out",
    );
    check_error("thread stop", "syntax", "stop", "");
    check_error("line 42", "syntax", "42", "");
    check_error("line \"queue.c\"", "bad-line", "\"queue.c\"", "queue.c:42");
    check_error("entry read(fd)", "bad-read", "fd", "arg 1");
    check_error("entry read returns n", "bad-read", "returns", "");
    check_error("signal (value)", "bad-read", "value", "`number`");
    check_error("signal returns x", "bad-read", "returns", "");
    check_error("write total (x = arg 1)", "bad-read", "arg 1", "");
    check_error("program start (x)", "bad-read", "x", "`thread`");
    check_error("before f(x = &thread)", "bad-read", "&thread", "");
    check_error(
        "before f(x = p + ret)",
        "return-before-call",
        "ret",
        "after",
    );
    check_error("signal (x = number + 1)", "bad-place", "number", "guards");
    check_error("before f(x = 1 + 1)", "bad-read", "1 + 1", "a parameter");
    check_error(
        "before f(x = g(p) + 1)",
        "not-in-properties",
        "g(p)",
        "pure",
    );
}

#[test]
fn registers_are_read_in_a_guard() {
    for register in ["$rip", "$r12", "$_exitcode"] {
        let source = format!(
            "property p event e = before f state init {{ on e when {register} == 8 -> init }}"
        );
        let (properties, diagnostics) = load(&source);
        assert!(
            !diagnostics.iter().any(|it| it.is_error()),
            "{diagnostics:#?}"
        );
        let captures = properties[0].events[0].captures.iter();
        let mut reads = captures.map(|capture| capture.read.to_string());
        assert!(reads.any(|read| read.contains(register)), "{register}");
    }
}
