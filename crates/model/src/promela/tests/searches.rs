//! All search algorithms find what the plain one finds.

use super::{run, run_as};
use crate::breadth::Options;
use crate::search::Search;

#[test]
fn every_search_has_the_verdict_of_the_plain_one() {
    let models = [
        "byte x; active [2] proctype P() { byte i; do :: i < 5 -> i++ :: i == 5 -> x++; break od; assert(x <= 2) }",
        "byte x; active [2] proctype P() { byte i; do :: i < 5 -> i++ :: i == 5 -> x++; break od; assert(x <= 1) }",
        "byte x; active [2] proctype P() { byte i; i = 1; i = 2; x == 1 }",
        "chan c = [1] of {byte}; active [2] proctype P() { byte i, j; i = 3; c!i; c?j; assert(j == 3) }",
        // A step enabled as long as nobody receives a message, which another process soon
        // does.
        "chan c = [0] of {byte}; active proctype P() { if :: c!1 :: else -> assert(false) fi }
        active proctype R() { skip; end: c?1 }",
        "chan c = [0] of {byte}; active proctype P() { { assert(false) } unless { c!1 } }
        active proctype R() { skip; end: c?1 }",
        "chan c = [0] of {byte}; byte x; active proctype P() { atomic { x = 1; c!1; x = 0 } }
        active proctype W() { end: x == 1; assert(false) } active proctype R() { skip; c?1 }",
    ];
    for text in models {
        let plain = run(text);
        for kind in [
            Search::Depth,
            Search::Parallel(2),
            Search::Compact,
            Search::Breadth,
        ] {
            for reduces in [false, true] {
                let options = Options {
                    reduces,
                    ..Options::default()
                };
                let report = run_as(text, kind, &options);
                assert_eq!(
                    report.finding.is_some(),
                    plain.finding.is_some(),
                    "{kind:?} {reduces} {text}"
                );
                assert!(report.states <= plain.states || report.finding.is_some());
                if plain.finding.is_none() && !reduces {
                    assert_eq!(
                        (report.states, report.transitions),
                        (plain.states, plain.transitions)
                    );
                }
            }
        }
    }
}

#[test]
fn fewer_orders_are_looked_at_where_they_make_no_difference() {
    let text = "byte x; active [3] proctype P() { byte i; i = 1; i = 2; i = 3; x = 1 }";
    let options = Options {
        reduces: true,
        ..Options::default()
    };
    let (plain, reduced) = (run(text), run_as(text, Search::Breadth, &options));
    assert!(
        reduced.states * 4 < plain.states,
        "{} of {}",
        reduced.states,
        plain.states
    );
}
