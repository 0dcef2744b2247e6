use super::*;
use crate::parse;
use proptest::prelude::*;

#[track_caller]
fn check(source: &str, expected: &str) {
    let formatted = format(source).expect("it can be laid out");
    assert_eq!(formatted, expected);
    assert_eq!(
        format(&formatted).as_deref(),
        Some(expected),
        "a second time"
    );
}

#[test]
fn declarations_stand_in_columns() {
    check(
        "property p \"words\"\nslice  on q\n\n\n\nevent new=after queue_new(size)   returns q\nevent  push = before queue_push( q )\nvar a=0\nvar  count = 1+2",
        "\
property p \"words\"
slice on q

event new  = after  queue_new(size) returns q
event push = before queue_push(q)
var a     = 0
var count = 1 + 2
",
    );
}

#[test]
fn transitions_stand_in_columns() {
    check(
        "state ready accepting {\n\n  on push when count<capacity {count += 1} -> ready else -> overflow\n  on pop -> gone   # away\n      on all\n\n}\nstate overflow non-accepting\nstate gone accepting final\n",
        "\
state ready accepting {
    on push when count < capacity {count += 1}  -> ready  else -> overflow
    on pop                                      -> gone  # away
        on all
}
state overflow non-accepting
state gone     accepting final
",
    );
}

#[test]
fn a_way_out_is_not_a_field() {
    check(
        "state s {\non e when p->q>3 -> t\non f { x = p->q-1 }\n}\n",
        "state s {\n    on e when p->q > 3  -> t\n    on f { x = p->q - 1 }\n}\n",
    );
}

#[test]
fn signs_before_and_after_operands() {
    check(
        "var a = - 1\nvar b = x*y\nvar c = x[ 3 ]\nvar d = !( a )\nvar e = *p\n",
        "var a = -1\nvar b = x * y\nvar c = x[3]\nvar d = !(a)\nvar e = *p\n",
    );
    check(
        "never open (read | write)* close{2,3} x\n",
        "never open (read | write)* close{2, 3} x\n",
    );
}

#[test]
fn choices_and_types_in_braces_are_no_maps_and_sets() {
    check(
        "var a = b ?c:-d\nvar m = {b ? 1:2 : 3, 4:5}\nvar t = {int}p+{int}&q\nvar s = {x}&y\n",
        "var a = b ? c : -d\nvar m = {b ? 1 : 2: 3, 4: 5}\nvar t = {int}p + {int}&q\n\
         var s = {x} & y\n",
    );
    check("never open (a | b)? close\n", "never open (a | b)? close\n");
}

#[test]
fn comments_stay_where_they_are() {
    check(
        "# first\n\n\n# second\nproperty p\n   # deeper\n\tevent e = before f  // why\n",
        "# first\n\n# second\nproperty p\n    # deeper\n    event e = before f  // why\n",
    );
}

#[test]
fn what_is_no_token_is_left_alone() {
    assert_eq!(format("property ` x"), None);
}

fn without_spans(source: &str) -> String {
    let file = format!("{:?}", parse(source).file);
    // Spans are the only ranges in the tree.
    let mut text = String::new();
    let mut rest = file.as_str();
    while let Some(at) = rest.find("..") {
        let head = rest[..at].trim_end_matches(|c: char| c.is_ascii_digit());
        text.push_str(head);
        rest = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit());
    }
    text + rest
}

#[test]
fn the_properties_of_the_house_keep_their_meaning() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pending = vec![root.join("properties"), root.join("examples")];
    let mut seen = 0;
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path
                .extension()
                .is_some_and(|extension| extension == "prop")
            {
                let source = std::fs::read_to_string(&path).expect("a file");
                let formatted = format(&source).expect("it can be laid out");
                assert_eq!(
                    without_spans(&source),
                    without_spans(&formatted),
                    "{path:?}"
                );
                assert_eq!(source, formatted, "{path:?} is not laid out");
                seen += 1;
            }
        }
    }
    assert!(seen > 3);
}

/// Generates pieces of properties, in any order and spacing.
fn any_source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "property p",
        "event e = before f(x)",
        "state s",
        "accepting",
        "{",
        "}",
        "on e",
        "when",
        "->",
        "else",
        "x",
        "p->q",
        "-",
        "*",
        "&",
        "(",
        ")",
        "[",
        "]",
        ",",
        "1",
        "2.5",
        "\"t\"",
        "..",
        "::",
        ".",
        "and",
        "not",
        "=",
        "+=",
        "<",
        "# c\n",
        "@",
        ":",
        "?",
        "{int}",
    ]);
    let space = prop::sample::select(vec!["", " ", "\n", "\n\n\n", "\t", "  \n   "]);
    prop::collection::vec((piece, space), 0..30)
        .prop_map(|parts| parts.into_iter().map(|(a, b)| a.to_owned() + b).collect())
}

proptest! {
    #[test]
    fn a_second_time_changes_nothing(source in any_source()) {
        if let Some(formatted) = format(&source) {
            prop_assert_eq!(format(&formatted), Some(formatted.clone()), "{}", formatted);
            prop_assert_eq!(without_spans(&source), without_spans(&formatted), "{}", formatted);
        }
    }

    #[test]
    fn nothing_panics(source in ".*") {
        let _ = format(&source);
    }
}
