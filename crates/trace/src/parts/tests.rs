use crate::decode::{Decoder, Form};
use crate::json::tests::any_line;
use crate::model::Batch;
use crate::samples;
use proptest::prelude::*;

fn any_sizes() -> impl Strategy<Value = Vec<(usize, usize)>> {
    proptest::collection::vec((1..200_usize, 0..4_usize), 1..6)
}

/// Generates rows similar to those that other tools write, with some unusual parts.
fn any_row() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[1-4]{0,2},(1|2),[ef](,a=(-?[0-9]{1,9}|0x[0-9a-f]{1,3}|t)){0,1}(,b=[12])?",
        1 => "[0-9]{0,2},[12x]?,(e| f|\"e\"),(\"\n,\"|a=\"|1|a=.{0,3})(\r)?",
        1 => Just(String::new()),
        1 => Just("event,time,a,b,thread".to_owned()),
    ]
}

/// Generates rows of columns with names.
fn any_named_row() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[1-4]{0,2},[ef],[12]?,(-?[0-9]{1,9}|0x[0-9a-f]{1,3}|t)?,[0-9x]{0,2}",
        1 => " ?[0-9]{0,2}, ?(e|\"e\"|),[+12x]?,(\"\n,\"|1|.{0,2}),[12](\r|,)?",
        1 => Just(String::new()),
    ]
}

/// Checks that parts make no difference; returns how many of them were used.
#[track_caller]
fn check(form: Form, text: &str, sizes: &[(usize, usize)]) -> usize {
    let expected = samples::read(&mut Decoder::new(form), text.as_bytes());
    let mut decoder = Decoder::new(form);
    let (given, counted) = samples::read_in_parts(&mut decoder, text.as_bytes(), sizes);
    assert_eq!(
        samples::exact_all(&given),
        samples::exact_all(&expected),
        "{text}"
    );
    counted
}

proptest! {
    #![proptest_config(juror_testing::with_cases(2000))]

    #[test]
    fn parts_of_json_lines_are_the_whole(
        lines in proptest::collection::vec(any_line(), 0..20),
        sizes in any_sizes(),
        is_whole in any::<bool>(),
    ) {
        let mut text = lines.join("\n");
        text.extend(is_whole.then_some('\n'));
        check(Form::Json, &text, &sizes);
    }

    #[test]
    fn parts_of_numbered_lines_are_the_whole(
        lines in proptest::collection::vec((0..3_u64, 0..9_u64, "[ef]", 0..2_u32), 0..30),
        sizes in any_sizes(),
    ) {
        let mut text = "{\"trace\":1}\n{\"define\":0,\"address\":1}\n".to_owned();
        let mut sequence = 0;
        for (step, time, event, place) in lines {
            // Mostly the next number.
            sequence += if step == 0 && time > 0 { 1 } else { step };
            text.push_str(&format!(
                "{{\"sequence\":{sequence},\"time\":{time},\"thread\":1,\"event\":\"{event}\",\"place\":{place},\"values\":{{\"a\":{step}}}}}\n"
            ));
        }
        check(Form::Json, &text, &sizes);
    }

    #[test]
    fn parts_of_rows_are_the_whole(
        rows in proptest::collection::vec(any_row(), 0..20),
        sizes in any_sizes(),
        is_whole in any::<bool>(),
    ) {
        let mut text = rows.join("\n");
        text.extend(is_whole.then_some('\n'));
        check(Form::Csv, &text, &sizes);
    }

    #[test]
    fn parts_of_named_rows_are_the_whole(
        rows in proptest::collection::vec(any_named_row(), 0..20),
        sizes in any_sizes(),
    ) {
        let text = format!("time,event,thread,a,b\n{}\n", rows.join("\n"));
        check(Form::Csv, &text, &sizes);
    }
}

/// Rows as juror and other tools write them are read ahead.
#[test]
fn parts_of_good_traces_count() {
    let event = |number: u64| {
        format!("{{\"sequence\":{number},\"time\":{number},\"thread\":1,\"event\":\"e\"}}\n")
    };
    let lines: String = (1..=100).map(event).collect();
    assert!(check(Form::Json, &lines, &[(100, 0)]) > 40);
    assert!(check(Form::Json, &lines, &[(100, 3)]) > 40);
    let spaced = lines.replace(':', ": ").replace(',', ", ");
    assert!(check(Form::Json, &spaced, &[(100, 0)]) > 40);
    // The clocks of threads differ.
    let lines = lines.replace("\"time\":10", "\"time\":7");
    assert!(check(Form::Json, &lines, &[(100, 0)]) > 40);
    let row = |number: u64| format!("{number},1,e,a={number}\n");
    let rows: String = (1..=100).map(row).collect();
    assert!(check(Form::Csv, &rows, &[(30, 2)]) > 20);
    let row = |number: u64| format!("{number},e,{number}\n");
    let rows: String = (1..=100).map(row).collect();
    let rows = format!("time,event,a\n{rows}");
    assert!(check(Form::Csv, &rows, &[(30, 2)]) > 20);
}

/// There is nothing to read ahead with until the first name.
#[test]
fn a_reader_of_parts_has_names() {
    for (form, records) in [
        (
            Form::Json,
            [
                "{\"event\":\"e\"}\n",
                "{\"event\":\"f\"}\n",
                "{\"event\":\"f\",\"values\":{\"a\":1}}\n",
            ],
        ),
        (Form::Csv, ["1,1,e\n", "1,1,f\n", "1,1,f,a=1\n"]),
    ] {
        let mut decoder = Decoder::new(form);
        assert!(decoder.part_reader().is_none(), "{form:?}");
        let mut known = decoder.known();
        for record in records {
            for is_new in [true, false] {
                decoder.decode(record.as_bytes(), false, &mut Batch::default());
                assert_eq!(decoder.known() > known, is_new, "{record}");
                known = decoder.known();
                assert!(decoder.part_reader().is_some(), "{form:?}");
            }
        }
    }
    let binary = Decoder::new(Form::Binary);
    assert!(binary.part_reader().is_none());
    assert_eq!(binary.whole_records(&[1, 2]), None);
}
