use super::*;
use crate::decode::{Decoder, Form};
use crate::samples::{self, Recorded};
use juror_event::Value;
use proptest::prelude::*;

fn read(text: &str, columns: &[&str]) -> Recorded {
    let columns: Vec<String> = columns.iter().map(|&word| word.to_owned()).collect();
    let mut decoder = Decoder::csv_with_columns(&columns).expect("columns");
    samples::read(&mut decoder, text.as_bytes())
}

/// Checks the events, given as `time thread event key=value …`.
#[track_caller]
fn check(text: &str, columns: &[&str], expected: &[&str]) {
    let read = read(text, columns);
    assert_eq!(read.faults, [], "{text}");
    let shown: Vec<String> = read
        .events
        .iter()
        .map(|event| {
            let time = event
                .time_ns
                .map_or("-".to_owned(), |time| time.to_string());
            let mut words = format!("{time} {} {}", event.thread, event.event);
            for (key, value) in &event.values {
                words.push_str(&format!(" {key}={value}"));
            }
            words
        })
        .collect();
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn rows_are_events() {
    check("1,2,push\n3,,pop\n", &[], &["1 2 push", "3 0 pop"]);
    check(
        "1,2,push,x=5,y=0xff,z=true,w=1.5,v=word\r\n",
        &[],
        &["1 2 push x=5 y=0xff z=true w=1.5 v=\"word\""],
    );
    check("1,1,push,5,-6", &[], &["1 1 push arg 1=5 arg 2=-6"]);
    check(
        "1,1,push,5,6\n1,1,pop,7\n",
        &["push=queue,letter", "pop = queue"],
        &["1 1 push queue=5 letter=6", "1 1 pop queue=7"],
    );
    check(
        "1,1,\"before f(a, b)\",\"x, \"\"y\"\"\nz\",\"5\"\n2,1,g\n",
        &[],
        &[
            "1 1 before f(a, b) arg 1=\"x, \\\"y\\\"\\nz\" arg 2=\"5\"",
            "2 1 g",
        ],
    );
}

#[test]
fn a_first_row_may_name_the_columns() {
    check(
        "event,queue,letter,time\npush,1,\"\",9\npop,2,,10\n\n",
        &[],
        &["9 0 push queue=1 letter=\"\"", "10 0 pop queue=2"],
    );
    check(
        "thread,event,x\n3,push,12345678901234567890\n4,push,170141183460469231731687303715884105727\n",
        &[],
        &[
            "- 3 push x=12345678901234567890",
            "- 4 push x=170141183460469231731687303715884105727",
        ],
    );
    // `event` as an event.
    check("1,1,event\n", &[], &["1 1 event"]);
}

#[test]
fn a_value_is_what_it_looks_like() {
    check(
        "1,1,e,a=,b=false,c= 5 ,d=+5,e=007,f=-0,g=9999999999999999999\n",
        &[],
        &["1 1 e b=false c=5 d=5 e=7 f=0 g=9999999999999999999"],
    );
    check(
        "1,1,e,-9999999999999999999,5x,1e,.5\n",
        &[],
        &["1 1 e arg 1=-9999999999999999999 arg 2=\"5x\" arg 3=\"1e\" arg 4=0.5"],
    );
    check(
        "1,1,e,,5\n2,1,e, ,6\n",
        &[],
        &["1 1 e arg 2=5", "2 1 e arg 2=6"],
    );
}

/// A number that a row begins with may have as many digits as fit in 64 bits.
#[test]
fn a_time_may_have_twenty_digits() {
    for time in [
        "999999999999999999",
        "9999999999999999999",
        "18446744073709551615",
    ] {
        check(
            &format!("1,1,e,a=1\n{time},2,e,a=2\n"),
            &[],
            &["1 1 e a=1", &format!("{time} 2 e a=2")],
        );
        check(
            &format!("time,event,thread,a\n1,e,1,1\n{time},e,2,2\n"),
            &[],
            &["1 1 e a=1", &format!("{time} 2 e a=2")],
        );
    }
}

#[test]
fn the_rows_of_an_event_may_have_different_values() {
    check(
        "1,1,e,a=1\n2,1,e,b=2\n3,1,e,a=3\n4,1,e,5\n5,1,f,6\n6,1,f,b=7,a=8\n7,1,f,a=9,b=1\n",
        &[],
        &[
            "1 1 e a=1",
            "2 1 e b=2",
            "3 1 e a=3",
            "4 1 e arg 1=5",
            "5 1 f arg 1=6",
            "6 1 f b=7 a=8",
            "7 1 f a=9 b=1",
        ],
    );
    check(
        "event,a,b\ne,1,\ne,,2\ne,3,4\nf,,5\n",
        &[],
        &["- 0 e a=1", "- 0 e b=2", "- 0 e a=3 b=4", "- 0 f b=5"],
    );
}

#[test]
fn a_first_row_names_the_columns_if_one_of_them_is_the_event() {
    check("event\npush\npop\n", &[], &["- 0 push", "- 0 pop"]);
    for (text, events, kind) in [
        // Neither is a first row with the names of columns.
        (
            "kind,x,y\n1,1,e\n",
            1,
            "invalid trace record: expected a non-negative 64-bit integer",
        ),
        (
            "event,x=1,y\n1,1,e\n",
            1,
            "invalid trace record: expected a non-negative 64-bit integer",
        ),
        (
            "sequence,event,time\n1,e,5\n2,e,4\n2,e,6\n",
            2,
            "event 2 is recorded twice",
        ),
        (
            "event,time\ne,5\ne,4\n",
            2,
            "time goes back from 5 to 4, and the events have no numbers",
        ),
    ] {
        let read = read(text, &[]);
        let kinds: Vec<_> = read
            .faults
            .iter()
            .map(|fault| fault.kind.to_string())
            .collect();
        assert_eq!(kinds, [kind], "{text}");
        assert_eq!(read.events.len(), events, "{text}");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (text, columns, line, column, expected) in [
        (
            "1,1\n",
            &[][..],
            1,
            1,
            "expected time,thread,event and then values",
        ),
        (
            "1,1,e\nx,1,e\n",
            &[],
            2,
            1,
            "expected a non-negative 64-bit integer",
        ),
        (
            "1,9999999999,e\n",
            &[],
            1,
            3,
            "the number of a thread is too large",
        ),
        ("1,1,e,x=1,x=2\n", &[], 1, 1, "`x` occurs twice"),
        (
            "1,1,\"e\"f\n",
            &[],
            1,
            8,
            "expected a comma after the closing quote",
        ),
        ("1,1,e\n1,1,\"e\n", &[], 2, 5, "the quote is not closed"),
        (
            "event,x\ne\n",
            &[],
            2,
            1,
            "this row has 1 fields, and the first has 2",
        ),
        ("event,x,x\n", &[], 1, 1, "two columns are named `x`"),
        (
            "1,1,e,5,6\n",
            &["e=x"],
            1,
            9,
            "`e` has no column for this value",
        ),
    ] {
        let read = read(text, columns);
        let fault = read.faults.first().expect("something is wrong");
        let expected = format!("invalid trace record: {expected}");
        assert_eq!(fault.kind.to_string(), expected, "{text}");
        assert_eq!(fault.position, Position::Line(line), "{text}");
        let excerpt = fault.excerpt.as_ref().expect("a line");
        assert_eq!(excerpt.column, column, "{text}");
    }
}

/// Rows of several lines and empty lines count as lines, however the bytes are split.
#[test]
fn a_fault_has_its_line_behind_rows_of_several_lines() {
    for (before, line) in [
        ("1,1,\"e\"\n", 2),
        ("1,1,e,\"a\nb\"\n", 3),
        ("1,1,e,\"a\n\n\nb\",\"\n\"\n2,1,e\n", 7),
        ("1,1,e,\"a\r\nb\"\r\n", 3),
        ("\n\r\n1,1,e\n\n", 5),
        ("1,1,e,\"a\nb\"\n1,1,e,\"\nb\n\"\n\n", 7),
        // A row that is wrong has as many lines.
        ("x,1,e,\"a\nb\"\n", 3),
        ("event,time,\"a\nb\"\ne,1,2\n", 4),
    ] {
        let text = format!("{before}1,1,\"e\"f\n");
        for cut in 0..=text.len() {
            let mut decoder = Decoder::new(Form::Csv);
            let read = samples::read_in_pieces(&mut decoder, text.as_bytes(), cut);
            let fault = read.faults.last().expect("something is wrong");
            assert_eq!(
                fault.position,
                Position::Line(line),
                "{text:?} cut at {cut}"
            );
        }
    }
}

#[test]
fn columns_that_cannot_be_are_refused() {
    for (word, expected) in [
        (
            "push",
            "invalid column names `push`: expected EVENT=NAME,NAME",
        ),
        ("=x", "invalid column names `=x`: expected EVENT=NAME,NAME"),
        ("push=x,x", "`push` has two columns `x`"),
    ] {
        let error = CsvDecoder::with_columns(&[word.to_owned()]).expect_err(word);
        assert_eq!(error.to_string(), expected);
    }
}

proptest! {
    #![proptest_config(juror_testing::with_cases(2000))]

    /// Quoted text is read exactly, however the bytes are split.
    #[test]
    fn quoted_fields_are_exact(
        fields in proptest::collection::vec("[a\",\n\r=5é ]{0,6}", 1..5),
        cut in any::<proptest::sample::Index>(),
    ) {
        let quoted = fields.iter().map(|text| format!(",\"{}\"", text.replace('"', "\"\"")));
        let text = format!("1,1,e{}\n2,2,e\n", quoted.collect::<String>());
        let mut decoder = Decoder::new(Form::Csv);
        let cut = cut.index(text.len() + 1);
        let read = samples::read_in_pieces(&mut decoder, text.as_bytes(), cut);
        prop_assert_eq!(&read.faults, &[]);
        let values = read.events[0].values.iter();
        let given: Vec<_> = values.map(|(_, value)| value.clone()).collect();
        let expected: Vec<_> = fields.iter().map(|text| Value::String(text.as_str().into())).collect();
        prop_assert_eq!(given, expected);
        prop_assert_eq!(read.events.len(), 2);
    }

    /// The fast path reads what the general path reads, with a previous row that makes
    /// the names known, and without.
    #[test]
    fn the_short_way_agrees(
        rows in proptest::collection::vec(
            "(-?[0-9]{0,3}| 1|x),(1|2|-1|-0|007|99999999999),(e|f| e|e ),(a=[0-9x\\-\"e. ]{0,4}|b=0x[0-9a-f]{0,3}|a =1|3)(,b=(true|\"q\"|.{0,2}))?",
            1..6,
        ),
    ) {
        let known = "1,1,e,a=1\n1,1,\" e\",a=1\n1,1,f,b=1\n1,1,e,a=1,b=2\n";
        let mut sink = Sink::default();
        let mut batch = Batch::default();
        CsvDecoder::default().decode(known.as_bytes(), true, &mut sink, &mut batch);
        let none = TextColumns::default();
        for row in &rows {
            let row = row.as_bytes();
            let mut values = Vec::new();
            let Some(short) = short::plain_row(row, &mut sink.tables, &none, &mut values) else {
                continue;
            };
            let start = batch.values.len();
            let fields = fields(row).expect("the short way took it");
            let mut decoder = CsvDecoder::default();
            let general = decoder.plain_columns(&fields, &mut sink, &mut batch);
            prop_assert_eq!(Ok(short), general);
            let expected = batch.values[start..].iter().map(|it| format!("{it:?}"));
            let given: Vec<_> = values.iter().map(|it| format!("{it:?}")).collect();
            prop_assert_eq!(given, expected.collect::<Vec<_>>());
        }
    }

    /// The same for rows whose columns have names.
    #[test]
    fn the_short_way_of_named_columns_agrees(
        rows in proptest::collection::vec(
            "(-?[0-9]{0,3}| 1 |x|\\+1),(e|f| e|e |),(1|2| |-1|007|99999999999),([0-9x\\-\"e. ]{0,4}|t|3)(,(true|\"q\"|.{0,2}))?",
            1..6,
        ),
    ) {
        let header = "time,event,thread,a,b\n";
        let known = "1,e,1,1,\n1,\" e\",1,1,1\n1,f,1,,1\n1,e,1,1,2\n1,e,1,,\n1,,1,1,\n";
        let mut sink = Sink::default();
        let mut batch = Batch::default();
        let mut decoder = CsvDecoder::default();
        decoder.decode(format!("{header}{known}").as_bytes(), true, &mut sink, &mut batch);
        let columns = decoder.header.expect("the columns are named");
        let none = TextColumns::default();
        for row in &rows {
            let row = row.as_bytes();
            let mut values = Vec::new();
            let Some(short) = short::named_row(row, &columns, &mut sink.tables, &none, &mut values) else {
                continue;
            };
            let start = batch.values.len();
            let fields = fields(row).expect("the short way took it");
            let general = named_columns(&columns, &fields, &mut None, &none, &mut sink, &mut batch);
            prop_assert_eq!(Ok(short), general);
            let expected = batch.values[start..].iter().map(|it| format!("{it:?}"));
            let given: Vec<_> = values.iter().map(|it| format!("{it:?}")).collect();
            prop_assert_eq!(given, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_bytes_stop_it(bytes in proptest::collection::vec(any::<u8>(), 0..100), cut in 0..100_usize) {
        let cut = cut.min(bytes.len());
        samples::read_in_pieces(&mut Decoder::new(Form::Csv), &bytes, cut);
    }
}

/// Reads rows in which some values are texts, by event and name.
#[track_caller]
fn check_texts(text: &str, texts: &[(&str, &str)], expected: &[Value]) {
    let texts = texts
        .iter()
        .map(|(event, name)| ((*event).to_owned(), (*name).to_owned()));
    let mut decoder = Decoder::new(Form::Csv);
    decoder.set_texts(&Arc::new(TextColumns::of(texts)));
    let read = samples::read(&mut decoder, text.as_bytes());
    assert_eq!(read.faults, [], "{text}");
    let values = read.events.into_iter().flat_map(|event| event.values);
    let values: Vec<Value> = values.map(|(_, value)| value).collect();
    assert_eq!(values, expected, "{text}");
}

#[test]
fn a_value_may_be_a_text_without_quotes() {
    let text = |text: &str| Value::String(text.into());
    let rows = "1,1,before e,A\n2,1,before e,7\n3,1,before e,007\n4,1,before f,7\n";
    let values = [text("A"), text("7"), text("007"), Value::Int(7)];
    check_texts(rows, &[("before e", "arg 1")], &values);
    let rows = "1,1,e,n=1e3,k=2\n1,1,e,n=0x10,k=3\n1,1,e,n=true,k=4\n";
    let values = [
        text("1e3"),
        Value::Int(2),
        text("0x10"),
        Value::Int(3),
        text("true"),
        Value::Int(4),
    ];
    check_texts(rows, &[("e", "n")], &values);
    let rows = "event,time,n\ne,1,5\ne,2,-0\nf,3,5\ne,4,\n";
    let values = [text("5"), text("-0"), Value::Int(5)];
    check_texts(rows, &[("e", "n")], &values);
}
