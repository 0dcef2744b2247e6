//! Locations in the program: addresses, frames, source lines.

use crate::escape::{clip, safe, safe_source};
use crate::highlighting::{self, source_line};
use crate::page::{NAME, Page, QUIET, STRONG};
use juror_view::{
    FrameView, Location, NamedValue, SourceLine, SourceView, StackView, VariableView,
};
use std::borrow::Cow;

/// The indent of what follows the first line of a frame, beyond that of the frame, as in gdb.
const FRAME_INDENT: usize = 4;

/// The columns before the text of a source line.
const SOURCE_INDENT: usize = 11;

/// The width limit for the arguments of a frame or an event, in characters.
const ARGUMENT_COLUMNS: usize = 72;

/// Returns the last part of a path.
fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

/// Returns a short form of a location: `main.c:17`, or else the function, or else the
/// address.
pub fn short_location(location: &Location) -> String {
    match (&location.file, location.line) {
        (Some(file), Some(line)) => format!("{}:{line}", safe(base_name(file))),
        _ => match &location.function {
            Some(function) => function_and_offset(function, location.offset),
            None => address_in_module(location),
        },
    }
}

/// Returns `file:line` if the line is known, with the file as [`Page::shown_file`] gives it.
pub fn file_and_line(page: &Page, location: &Location) -> Option<String> {
    let (file, line) = (location.file.as_ref()?, location.line?);
    Some(format!("{}:{line}", safe(page.shown_file(file))))
}

/// Returns `at file:line`, or the line near compiler-generated code.
fn at_line(page: &Page, location: &Location) -> Option<String> {
    let near = |near: &SourceLine| {
        let file = safe(page.shown_file(&near.file)).into_owned();
        format!("in compiler-generated code near {file}:{}", near.line)
    };
    match file_and_line(page, location) {
        Some(place) => Some(format!("at {place}")),
        None => location.near.as_ref().map(near),
    }
}

/// Returns the function with `at file:line` or `from module`, or else the address.
pub fn long_location(page: &Page, location: &Location) -> String {
    match (&location.function, at_line(page, location)) {
        (Some(function), Some(place)) => format!("{} {place}", safe(function)),
        (None, Some(place)) => file_and_line(page, location).unwrap_or(place),
        (Some(function), None) => {
            let name = function_and_offset(function, location.offset);
            match &location.module {
                Some(module) => format!("{name} from {}", safe(module)),
                None => name,
            }
        }
        (None, None) => address_in_module(location),
    }
}

fn function_and_offset(function: &str, offset: u64) -> String {
    match offset {
        0 => safe(function).into_owned(),
        _ => format!("{}+{offset:#x}", safe(function)),
    }
}

fn address_in_module(location: &Location) -> String {
    match &location.module {
        Some(module) => format!("{:#x} in {}", location.address, safe(module)),
        None => format!("{:#x}", location.address),
    }
}

/// Returns `name = value, name = value`, cut to a limited width.
pub fn named_values(values: &[NamedValue]) -> String {
    let parts: Vec<String> = values
        .iter()
        .map(|named| {
            let value = named.value.to_string();
            format!("{} = {}", safe(&named.name), clip(&safe(&value), 48))
        })
        .collect();
    clip(&parts.join(", "), ARGUMENT_COLUMNS).into_owned()
}

fn arguments(variables: &[VariableView]) -> String {
    let parts: Vec<String> = variables
        .iter()
        .map(|variable| {
            format!(
                "{}={}",
                safe(&variable.name),
                clip(&safe(&brief(&variable.value)), 48)
            )
        })
        .collect();
    highlighting::value(&clip(&parts.join(", "), ARGUMENT_COLUMNS), true)
}

/// Returns a value for a line of several values, without the reason why it is
/// optimized out (`print` shows the reason).
fn brief(value: &str) -> Cow<'_, str> {
    match value.strip_prefix("<optimized out: ") {
        Some(why) if why.ends_with('>') => Cow::Borrowed("<optimized out>"),
        _ => Cow::Borrowed(value),
    }
}

/// Returns `fill (n=3) at main.c:17`, or what is known of the frame.
pub fn frame_place(page: &Page, frame: &FrameView) -> String {
    let location = &frame.location;
    match (&location.function, at_line(page, location)) {
        (Some(function), Some(place)) => {
            let arguments = arguments(&frame.arguments);
            format!("{NAME}{}{NAME:#} ({arguments}) {place}", safe(function))
        }
        _ => long_location(page, location),
    }
}

/// Writes a frame on one line: `#1  fill (n=3) at main.c:17`. Local variables follow,
/// one a line.
pub fn write_frame(page: &mut Page, frame: &FrameView, indent: usize, selected: bool) {
    let level = format!("#{:<2} ", frame.level);
    let style = if selected { STRONG } else { QUIET };
    write!(page, "{:indent$}{style}{level}{style:#}", "");
    if frame.signal {
        page.push("<signal handler called>\n");
        return;
    }
    if let Some(number) = frame.evaluation {
        return crate::evaluations::write_frame(page, number);
    }
    let place = frame_place(page, frame);
    page.push(&place);
    if frame.inlined {
        write!(page, "{QUIET} [inlined]{QUIET:#}");
    }
    if frame.tail_call {
        write!(page, "{QUIET} [tail call]{QUIET:#}");
    }
    if frame.guess {
        write!(page, "{QUIET} [guessed]{QUIET:#}");
    }
    if frame.cut {
        write!(page, "{QUIET} [the backtrace ends here]{QUIET:#}");
    }
    page.end_line(indent + FRAME_INDENT);
    for local in frame.locals.iter().flatten() {
        let (name, shown) = (
            safe(&local.name),
            highlighting::value(&safe(&local.value), false),
        );
        write!(page, "{:indent$}        {NAME}{name}{NAME:#} = {shown}", "");
        page.end_line(indent + 2 * FRAME_INDENT + 2);
    }
}

/// Writes the stacks of several threads, each below its thread. Threads that are at the same
/// places in all frames share one.
pub fn write_stacks(page: &mut Page, stacks: &[StackView]) {
    for (first, others) in grouped(stacks) {
        page.gap();
        let name = safe(&first.thread.name);
        let number = first.thread.number;
        match others.as_slice() {
            [] => writeln!(page, "{STRONG}Thread {number}{STRONG:#} ({name}):"),
            others => {
                let numbers = others.iter().map(|it| it.thread.number.to_string());
                let numbers: Vec<String> = numbers.collect();
                let count = others.len() + 1;
                let numbers = numbers.join(", ");
                writeln!(
                    page,
                    "{STRONG}Thread {number}{STRONG:#} ({name}), {count} threads at the same \
                     places, with {numbers}:"
                );
            }
        }
        write_frames(page, &first.frames, first.more, 0);
    }
}

/// Returns the stacks whose places differ, each with the later ones that are at the same places.
fn grouped(stacks: &[StackView]) -> Vec<(&StackView, Vec<&StackView>)> {
    let mut groups: Vec<(&StackView, Vec<&StackView>)> = Vec::new();
    for stack in stacks {
        match groups
            .iter_mut()
            .find(|(first, _)| is_same_place(first, stack))
        {
            Some((_, others)) => others.push(stack),
            None => groups.push((stack, Vec::new())),
        }
    }
    groups
}

/// Whether two stacks differ in the values of arguments at most. Local variables are of one thread.
fn is_same_place(one: &StackView, other: &StackView) -> bool {
    fn places(stack: &StackView) -> impl Iterator<Item = &Location> {
        stack.frames.iter().map(|frame| &frame.location)
    }
    let has_locals = |stack: &StackView| stack.frames.iter().any(|it| it.locals.is_some());
    let is_same = one.more == other.more && places(one).eq(places(other));
    is_same && !has_locals(one) && !has_locals(other)
}

/// Writes frames, and whether there are more.
pub fn write_frames(page: &mut Page, frames: &[FrameView], more: bool, indent: usize) {
    for frame in frames {
        write_frame(page, frame, indent, frame.level == 0);
    }
    if more {
        writeln!(page, "{:indent$}{QUIET}…   more frames{QUIET:#}", "");
    }
}

/// Writes source lines with their numbers; the current line is marked.
pub fn write_source(page: &mut Page, source: &SourceView) {
    if let Some(remark) = &source.remark {
        writeln!(page, "{QUIET}  ({}){QUIET:#}", safe(remark));
    }
    for (index, line) in source.lines.iter().enumerate() {
        let number = u64::from(source.first_line).saturating_add(index as u64);
        let is_current = source.current.map(u64::from) == Some(number);
        let spans = source.spans.get(index).map_or(&[][..], Vec::as_slice);
        let text = source_line(line, spans, is_current);
        let mark = if is_current { "→" } else { " " };
        let style = if is_current { STRONG } else { QUIET };
        let has_text = !safe_source(line).trim().is_empty();
        let gap = if has_text { "   " } else { "" };
        if is_current {
            write!(page, "{style}  {mark} {number:>4}{gap}{style:#}")
        } else {
            write!(page, "{style}  {mark} {number:>4}{style:#}{gap}")
        }
        if has_text {
            page.push(&text);
        }
        page.end_line(SOURCE_INDENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::plain;

    fn location(function: &str, file: &str, line: u32) -> Location {
        Location {
            address: 0x401136,
            function: (!function.is_empty()).then(|| function.to_owned()),
            offset: 4,
            file: (!file.is_empty()).then(|| file.to_owned()),
            line: (line > 0).then_some(line),
            near: None,
            module: Some("faulty".to_owned()),
        }
    }

    #[test]
    fn a_stack_does_not_show_why_an_argument_is_optimized_out() {
        assert_eq!(brief("<optimized out: for a reason>"), "<optimized out>");
        assert_eq!(
            brief("<optimized out: f(x) = 1"),
            "<optimized out: f(x) = 1"
        );
        assert_eq!(brief("{a = <optimized out>}"), "{a = <optimized out>}");
        assert_eq!(brief("7"), "7");
    }

    #[test]
    fn locations_show_what_is_known() {
        for (place, short, long) in [
            (
                location("main", "/home/user/src/main.c", 17),
                "main.c:17",
                "main at src/main.c:17",
            ),
            (location("", "/usr/src/a.c", 2), "a.c:2", "/usr/src/a.c:2"),
            (location("main", "", 0), "main+0x4", "main+0x4 from faulty"),
            (
                location("", "", 0),
                "0x401136 in faulty",
                "0x401136 in faulty",
            ),
            (Location::default(), "0x0", "0x0"),
        ] {
            assert_eq!(short_location(&place), short);
            let page = Page::new(Some("/home/user".into()));
            assert_eq!(long_location(&page, &place), long);
        }
    }

    #[test]
    fn frames_are_one_line_each() {
        let argument = |name: &str, value: &str| VariableView {
            name: name.into(),
            type_name: "int".into(),
            value: value.into(),
        };
        let frame = |level, location, arguments, inlined, signal| FrameView {
            level,
            location,
            arguments,
            inlined,
            tail_call: level == 3,
            signal,
            guess: false,
            cut: false,
            evaluation: None,
            locals: None,
        };
        let frames = [
            frame(
                0,
                location("push", "queue.c", 23),
                vec![argument("c", "110"), argument("name", "\"\u{1b}[31m\"")],
                false,
                false,
            ),
            frame(1, location("fill", "main.c", 17), vec![], true, false),
            frame(2, Location::default(), vec![], false, true),
            frame(3, location("pass", "main.c", 20), vec![], false, false),
            frame(10, location("abort", "", 0), vec![], false, false),
        ];
        assert_eq!(
            plain(|page| write_frames(page, &frames, true, 2)),
            "  #0  push (c=110, name=\"\\u{1b}[31m\") at queue.c:23
  #1  fill () at main.c:17 [inlined]
  #2  <signal handler called>
  #3  pass () at main.c:20 [tail call]
  #10 abort+0x4 from faulty
  …   more frames\n"
        );
    }

    #[test]
    fn threads_at_the_same_places_share_a_stack() {
        let stack = |number: u32, line: u32| StackView {
            thread: juror_view::ThreadView {
                number,
                name: format!("worker-{number}"),
                ..crate::tables::samples::threads().remove(0)
            },
            frames: vec![FrameView {
                location: location("take", "queue.c", line),
                ..FrameView::default()
            }],
            more: false,
        };
        let stacks = [stack(1, 4), stack(2, 7), stack(3, 4), stack(5, 4)];
        let text = plain(|page| write_stacks(page, &stacks));
        let headings: Vec<&str> = text.lines().filter(|it| it.ends_with(':')).collect();
        assert_eq!(
            headings,
            [
                "Thread 1 (worker-1), 3 threads at the same places, with 3, 5:",
                "Thread 2 (worker-2):"
            ]
        );
    }

    #[test]
    fn the_current_line_is_marked() {
        let source = SourceView {
            file: "queue.c".into(),
            first_line: 9,
            lines: vec!["void f()".into(), "{".into(), "".into(), "\tg();".into()],
            current: Some(10),
            remark: Some("queue.c is newer than the program".into()),
            spans: vec![],
        };
        assert_eq!(
            plain(|page| write_source(page, &source)),
            "  (queue.c is newer than the program)
       9   void f()
  →   10   {
      11
      12           g();\n"
        );
    }
}
