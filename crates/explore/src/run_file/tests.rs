//! Files of runs that are whole, cut, and changed.

use super::deviations::{Kind, path_of};
use super::*;
use crate::input::{Ending, blocks};

#[test]
fn a_path_is_read_as_it_is_written() {
    for text in ["main", "main/1", "main/2/65535"] {
        let path = path_of(text).map(|path| path.to_string());
        assert_eq!(path.as_deref(), Some(text));
    }
    for text in ["", "mai", "main/", "main/0", "main/65536", "main/1/x"] {
        assert_eq!(path_of(text), None, "{text}");
    }
}

fn sample() -> RunFile {
    let written = |point, choice, goes: &str| Written {
        thread: "main/1".to_owned(),
        point,
        part: 0,
        choice,
        goes: goes.to_owned(),
    };
    RunFile {
        juror_run: VERSION,
        program: "/home/u/bank".to_owned(),
        arguments: vec!["--accounts".to_owned(), "2 \"\u{e9}".to_owned()],
        directory: "/home/u".to_owned(),
        real_files: false,
        modules: vec![("/home/u/bank".to_owned(), "00ff".to_owned())],
        points: PointSet::Sync,
        spurious: 1,
        limit: 50_000,
        loops: Vec::new(),
        deviations: vec![
            written(3, Kind::Run, "main/2"),
            written(4, Kind::TimeOut, "main"),
        ],
        properties: Vec::new(),
        environment: None,
        inputs: None,
        signature: Signature::Signal {
            signal: 6,
            place: Some(("audit".to_owned(), 17)),
        },
        hash: u64::MAX - 3,
        seed: 1,
        run: 17,
        check: String::new(),
    }
}

#[test]
fn a_file_is_read_as_it_is_written() {
    let text = sample().text().unwrap();
    let read = RunFile::parse(text.as_bytes()).unwrap();
    assert_eq!(
        RunFile {
            check: String::new(),
            ..read
        },
        sample()
    );
}

#[test]
fn a_file_that_was_cut_anywhere_is_refused() {
    let text = sample().text().unwrap();
    let whole = text.trim_end().len();
    for length in 0..whole {
        assert!(
            RunFile::parse(&text.as_bytes()[..length]).is_err(),
            "{length}"
        );
    }
}

#[test]
fn a_file_with_a_changed_byte_is_refused() {
    let text = sample().text().unwrap().trim_end().to_owned().into_bytes();
    for place in 0..text.len() {
        let mut changed = text.clone();
        let flipped = (0..8).map(|bit| text[place] ^ 1 << bit);
        for byte in flipped.chain(*b"09\"\\ ,}") {
            changed[place] = byte;
            let read = RunFile::parse(&changed);
            let read = read.map(|read| RunFile {
                check: String::new(),
                ..read
            });
            // White space and the case of an escape say the same.
            assert!(read.is_err() || read == Ok(sample()), "{place}: {byte}");
        }
    }
}

#[test]
fn a_file_with_a_byte_more_or_less_is_refused() {
    let text = sample().text().unwrap().trim_end().to_owned().into_bytes();
    for place in 0..text.len() {
        let mut shorter = text.clone();
        let byte = shorter.remove(place);
        let mut longer = text.clone();
        longer.insert(place, byte);
        for changed in [shorter, longer] {
            let read = RunFile::parse(&changed);
            let read = read.map(|read| RunFile {
                check: String::new(),
                ..read
            });
            assert!(read.is_err() || read == Ok(sample()), "{place}");
        }
    }
}

#[test]
fn nothing_is_left_of_a_file_that_could_not_be_written() {
    let directory = tempfile::tempdir().unwrap();
    // Nothing takes the name of a directory.
    let path = directory.path().join("taken");
    std::fs::create_dir(&path).unwrap();
    std::fs::write(path.join("inner"), "").unwrap();
    assert!(sample().write(&path).is_err());
    let names: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["taken"]);
}

/// Returns the bytes of a recorded run with these entries.
fn recorded(entries: &[Entry]) -> Vec<u8> {
    let header = RunFile {
        juror_run: RECORDED,
        deviations: Vec::new(),
        environment: Some(vec![("HOME".to_owned(), "/home/u".to_owned())]),
        ..sample()
    };
    let mut bytes = header.text().unwrap().into_bytes();
    let mut written = blocks::Blocks::new(&mut bytes);
    for entry in entries {
        written.append(entry).unwrap();
        written.flush().unwrap();
    }
    bytes
}

#[test]
fn a_recorded_run_is_read_with_its_end() {
    let ending = Ending::Exited(3);
    let entries = [Entry::Thread { id: 7 }, Entry::End { ending, hash: 9 }];
    let read = RunFile::parse(&recorded(&entries)).unwrap();
    assert!(read.is_recorded());
    assert_eq!(read.signature, Signature::Exit { status: 3 });
    assert_eq!(read.hash, 9);
    assert_eq!(
        read.inputs.as_deref().map(Vec::as_slice),
        Some(&entries[..])
    );
    assert_eq!(read.recorded_words(), " (1 thread, 0 system calls)");
}

#[test]
fn a_recorded_run_without_its_end_says_so() {
    let entries = [Entry::Thread { id: 7 }, Entry::Thread { id: 8 }];
    let whole = recorded(&entries);
    let read = RunFile::parse(&whole).unwrap();
    assert!(
        read.recorded_words()
            .contains("juror ended before the program")
    );
    let read = RunFile::parse(&whole[..whole.len() - 1]).unwrap();
    let words = read.recorded_words();
    assert!(
        words.starts_with(" (1 thread,") && words.contains("cut off"),
        "{words}"
    );
}

#[test]
fn nothing_follows_the_document_of_a_run_that_was_explored() {
    let mut bytes = sample().text().unwrap().into_bytes();
    bytes.extend(b"more");
    assert!(matches!(RunFile::parse(&bytes), Err(Flaw::Damaged(_))));
}
