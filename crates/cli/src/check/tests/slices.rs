//! Tests that the output does not depend on how slices are spread over threads.

use super::spread::{check_jobs, write_properties};
use proptest::prelude::*;

/// Properties with slices that can be spread, and some with slices that cannot.
const PROPERTIES: [&str; 10] = [
    "property closed slice on file
event open = before open(file)
event read = before read(file, size)
event close = before close(file)
state shut accepting { on open -> usable }
state usable accepting { on close -> gone  on read -> usable }
state gone accepting { on open -> usable  on read when size > 7 -> wrong }
state wrong non-accepting",
    "property released slice on file
event open = before open(file)
event close = before close(file)
state never accepting { on open -> held }
state held non-accepting { on close -> released }
state released accepting final",
    // Needed rarely, by few slices.
    "property once slice on file
event open = before open(file)
event read = before read(file, size)
state shut accepting { on open -> usable }
state usable accepting { on read when size > 3 -> done  else -> usable }
state done accepting final",
    "property sizes slice on file, size
event open = before open(file)
event read = before read(file, size)
event close = before close(file)
var count = 0
state shut accepting { on open -> usable }
state usable accepting { on read { count = count + 1 } -> seen  on close -> shut }
state seen accepting { on read when count < 3 { count += 1 } -> seen else -> often  on close -> shut }
state often non-accepting",
    "property twice for each file
event open = before open(file)
event close = before close(file)
never open open open",
    "property paired for each file
proposition opened(file) pulse before open(file)
proposition closed(file) pulse before close(file)
ltl always (opened(file) implies eventually closed(file))",
    "property divided slice on file
event open = before open(file)
event read = before read(file, size)
state shut accepting { on open -> usable }
state usable accepting { on read when 100 / size > 20 -> usable else -> usable }",
    // One name of the event makes the other one needed.
    "property two_names slice on file
event open = before open(file)
event again = before open(file)
state shut accepting { on open -> usable }
state usable accepting { on again -> wrong }
state wrong non-accepting",
    "property all_at_once slice on file
event open = before open(file)
event end = before close()
state shut accepting { on open -> usable }
state usable accepting { on end -> shut }",
    "property soon for each file
proposition opened(file) pulse before open(file)
proposition closed(file) pulse before close(file)
ltl always (opened(file) implies eventually within 60 ns closed(file))",
];

/// An event: its kind, file and size, and the notation of the file.
type Line = (u8, u8, u8, u8);

fn json_line(number: usize, &(kind, file, size, form): &Line) -> String {
    let name = match kind {
        0..4 => "before open",
        4..8 => "before close",
        _ => "before read",
    };
    let file = match form {
        0 => format!("{}", 16 * u32::from(file)),
        1 => format!("\"\\\"name {file}\\\"\""),
        2 => "null".to_owned(),
        _ => format!("\"0x{file:x}0\""),
    };
    format!(
        "{{\"sequence\":{number},\"time\":{},\"thread\":1,\"event\":\"{name}\",\
         \"values\":{{\"file\":{file},\"size\":{size}}}}}\n",
        10 * number
    )
}

fn any_lines(forms: std::ops::Range<u8>) -> impl Strategy<Value = Vec<Line>> {
    let line = (0..12_u8, 0..9_u8, 1..10_u8, forms);
    proptest::collection::vec(line, 0..120)
}

fn json_lines(lines: &Vec<Line>) -> String {
    let lines = (1..).zip(lines);
    lines
        .map(|(number, line)| json_line(number, line))
        .collect()
}

#[track_caller]
fn check_same(property: &str, traces: &[Vec<Line>], chunk_bytes: usize) {
    let directory = tempfile::TempDir::with_prefix("juror-slices-").expect("a directory");
    let directory = directory.path();
    let properties = write_properties(directory, &[property]);
    let traces: Vec<String> = traces.iter().map(json_lines).collect();
    let ways = [&[][..], &["--history=3"], &["--history=0"], &["--merge"]].map(|it| (it, false));
    check_jobs(
        directory,
        (&properties, &traces),
        chunk_bytes,
        (&ways, &[2, 5]),
    );
}

proptest! {
    #![proptest_config(juror_testing::with_cases(150))]

    #[test]
    fn threads_give_the_same_output_for_slices(
        property in prop::sample::select(&PROPERTIES[..]),
        traces in prop::collection::vec(any_lines(3..4), 1..3),
        chunk_bytes in 100..4000_usize,
    ) {
        check_same(property, &traces, chunk_bytes);
    }

    #[test]
    fn values_may_be_written_in_several_ways(
        property in prop::sample::select(&PROPERTIES[..]),
        traces in prop::collection::vec(any_lines(0..30), 1..3),
        chunk_bytes in 100..4000_usize,
    ) {
        check_same(property, &traces, chunk_bytes);
    }
}

/// Open slices at the end are shown as one thread shows them: all as addresses, also those
/// that are numbers in their thread.
#[test]
fn numbers_are_addresses_beside_others() {
    let lines = (0..9).map(|file| (0, file, 1, 3 * (file % 2)));
    check_same(PROPERTIES[1], &[lines.collect()], 300);
}
