mod jobs;
mod progress;
mod slices;
mod spread;

use super::words;
use juror_trace::{Decoder, Fault, Form};

/// Returns the first fault of some JSON lines.
fn fault_of(text: &[u8]) -> Fault {
    let mut batch = juror_trace::Batch::default();
    let mut decoder = Decoder::new(Form::Json);
    decoder.decode(text, true, &mut batch);
    let fault = batch.faults.first();
    fault.expect("something is wrong").1.clone()
}

fn plain(name: &str, fault: &Fault) -> String {
    anstream::adapter::strip_str(&words::fault(name, fault)).to_string()
}

#[test]
fn a_fault_is_shown_as_a_compiler_shows_it() {
    let fault = fault_of(b"{\"event\":\"e\"}\n{\"event\":\"e\",\"time\":x}\n");
    assert_eq!(
        plain("run.jsonl", &fault),
        "error[malformed-record]: invalid trace record: expected value
 --> run.jsonl:2:21
  |
2 | {\"event\":\"e\",\"time\":x}
  |                     ^
  |
  = help: --keep-going skips such records
"
    );
    assert_eq!(
        words::fault_line("run.jsonl", &fault),
        "run.jsonl:2:21: invalid trace record: expected value"
    );
}

#[test]
fn control_characters_and_long_lines_are_not_shown() {
    let mut line = b"{\"event\":\"\x1b[2J\xff".to_vec();
    line.extend(std::iter::repeat_n(b'a', 1000));
    let shown = plain("\u{1b}.jsonl", &fault_of(&line));
    assert!(!shown.contains('\u{1b}'), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() < 200),
        "{shown}"
    );
}
