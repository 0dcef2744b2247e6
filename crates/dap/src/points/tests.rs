//! Tests of the calls that the session gets when a client replaces its points.

use super::*;
use crate::adapter::Adapter;
use crate::transport::inbox::Inbox;
use crate::transport::outbox::Outbox;
use juror_fault::CommandError;
use juror_view::changes::{Changes, PointChange, PointRequest, Resume};
use juror_view::driver::Driver;
use juror_view::observer::Observer;
use juror_view::{Outcome, PointView, SetPointView};
use std::sync::Arc;

/// A session that writes down what it is asked for.
#[derive(Default)]
struct Played {
    asked: Vec<String>,
    last: u32,
}

impl Driver for Played {
    fn execute(&mut self, line: &str, _: &mut dyn Observer) -> Result<Outcome, CommandError> {
        panic!("`{line}` was not typed");
    }
    fn complete(&mut self, _: &str, position: usize) -> (usize, Vec<String>) {
        (position, Vec::new())
    }
    fn repetition(&self, _: &str) -> Option<String> {
        None
    }
    fn is_alive(&self) -> bool {
        true
    }
    fn interrupter(&self) -> Box<dyn Fn() + Send> {
        Box::new(|| {})
    }
    fn changes(&mut self) -> Option<&mut dyn Changes> {
        Some(self)
    }
}

impl Changes for Played {
    fn set_points(
        &mut self,
        wanted: &[PointRequest],
        _: &mut dyn Observer,
    ) -> Vec<Result<SetPointView, CommandError>> {
        let mut words = Vec::new();
        let mut all = Vec::new();
        for request in wanted {
            let Some(PointPlace::Line { line, .. }) = Some(&request.place) else {
                panic!("{request:?}");
            };
            let condition = request.condition.as_deref();
            let condition = condition.map_or_else(String::new, |it| format!(" if {it}"));
            words.push(format!("{line}{condition}"));
            // Line 13 brings bad luck.
            if *line == 13 {
                all.push(Err(CommandError::new("there is no code")));
                continue;
            }
            self.last += 1;
            all.push(Ok(SetPointView {
                point: PointView {
                    number: Some(self.last),
                    ..PointView::default()
                },
                ..SetPointView::default()
            }));
        }
        self.asked.push(format!("set {}", words.join(", ")));
        all
    }
    fn change_point(&mut self, number: u32, change: &PointChange) -> Result<(), CommandError> {
        self.asked.push(format!("{number}: {change:?}"));
        match change {
            PointChange::Condition(Some(text)) if text == "bad" => {
                Err(CommandError::new("there is no `bad`"))
            }
            _ => Ok(()),
        }
    }
    fn delete_points(&mut self, numbers: &[u32]) -> Result<(), CommandError> {
        let mut numbers = numbers.to_vec();
        numbers.sort_unstable();
        self.asked.push(format!("delete {numbers:?}"));
        Ok(())
    }
    fn resume(&mut self, how: Resume, _: &mut dyn Observer) -> Result<Outcome, CommandError> {
        panic!("{how:?} was not asked for");
    }
}

/// A line with its condition and its hits, as a client wants it.
fn line(line: u32, condition: &str, hits: &str) -> Wanted {
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Wanted {
        line: Some(line),
        condition: filled(condition),
        hits: filled(hits),
        ..Wanted::at(PointPlace::Line {
            file: "a.c".to_owned(),
            line,
            column: None,
        })
    }
}

/// Replaces the points of a file by each of the sets. Returns what the session was asked for, and
/// the client's numbers of the last set with the reasons why some are not set.
fn replaced(sets: &[&[Wanted]]) -> (Vec<String>, Vec<(i64, Option<String>)>) {
    let mut adapter = Adapter::new(Arc::new(Inbox::default()), Outbox::default());
    let mut session = Played::default();
    let origin = Origin::Source("a.c".to_owned());
    let mut told = Vec::new();
    for set in sets {
        told = replace(&mut adapter, Some(&mut session), &origin, set.to_vec());
    }
    let told = told.into_iter();
    let told = told.map(|it| (it.id.expect("a number"), it.message));
    (session.asked, told.collect())
}

fn asked(sets: &[&[Wanted]]) -> Vec<String> {
    replaced(sets).0
}

#[test]
fn new_points_are_set_in_one_call() {
    let set = [line(1, "", ""), line(2, "x > 3", ""), line(3, "", "")];
    assert_eq!(asked(&[&set]), ["set 1, 2 if x > 3, 3"]);
}

#[test]
fn points_that_stay_are_left_alone_and_the_others_are_deleted_in_one_call() {
    let first = [
        line(1, "", ""),
        line(2, "", ""),
        line(3, "", ""),
        line(4, "", ""),
    ];
    let second = [line(3, "", ""), line(5, "", ""), line(1, "", "")];
    let (asked, told) = replaced(&[&first, &second]);
    assert_eq!(asked, ["set 1, 2, 3, 4", "delete [2, 4]", "set 5"]);
    let ids: Vec<i64> = told.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, [3, 5, 1]);
}

#[test]
fn equal_points_are_several() {
    let two = [line(1, "", ""), line(1, "", "")];
    let (asked, told) = replaced(&[&two, &two, &two[..1]]);
    assert_eq!(asked, ["set 1, 1", "delete [2]"]);
    assert_eq!(told.len(), 1);
}

#[test]
fn a_condition_is_changed_in_place() {
    for (before, after, expected) in [
        ("", "x", r#"1: Condition(Some("x"))"#),
        ("x", "y", r#"1: Condition(Some("y"))"#),
        ("x", "", "1: Condition(None)"),
    ] {
        let asked = asked(&[&[line(1, before, "")], &[line(1, after, "")]]);
        assert_eq!(asked[1..], [expected], "{before} -> {after}");
    }
    assert_eq!(asked(&[&[line(1, "x", "")], &[line(1, "x", "")]]).len(), 1);
}

#[test]
fn hits_are_ignored_counted_and_taken_back() {
    for (before, after, expected) in [
        ("", "3", &["1: Ignore(2)"][..]),
        ("", "> 3", &["1: Ignore(3)"]),
        ("", "== 3", &["1: Ignore(2)", "1: EnableOnce"]),
        ("", "% 3", &["1: Ignore(2)"]),
        ("3", "", &["1: Ignore(0)", "1: Enable"]),
        // That it stops only once cannot be taken back.
        ("== 3", "", &["delete [1]", "set 1"]),
    ] {
        let found = asked(&[&[line(1, "", before)], &[line(1, "", after)]]);
        let first = asked(&[&[line(1, "", before)]]).len();
        assert_eq!(found[first..], *expected, "{before} -> {after}");
    }
}

#[test]
fn what_cannot_be_set_says_why_and_leaves_no_point() {
    let (asked, told) = replaced(&[&[line(13, "", ""), line(1, "", "x"), line(2, "", "")]]);
    assert_eq!(asked, ["set 13, 1, 2", "delete [1]"]);
    let why: Vec<&str> = told.iter().filter_map(|it| it.1.as_deref()).collect();
    assert_eq!(why[0], "there is no code");
    assert!(why[1].starts_with("`x` is not a number of hits"), "{why:?}");
    let (asked, told) = replaced(&[&[line(1, "x", "")], &[line(1, "bad", "")]]);
    assert_eq!(asked.last().map(String::as_str), Some("delete [1]"));
    assert_eq!(told[0].1.as_deref(), Some("there is no `bad`"));
}

#[test]
fn a_point_that_could_not_be_set_is_tried_again_when_it_changes() {
    let (asked, _) = replaced(&[&[line(13, "", "")], &[line(13, "x", "")]]);
    assert_eq!(asked, ["set 13", "set 13 if x"]);
}

#[test]
fn sets_of_other_files_stay() {
    let mut adapter = Adapter::new(Arc::new(Inbox::default()), Outbox::default());
    let mut session = Played::default();
    for file in ["a.c", "b.c"] {
        let origin = Origin::Source(file.to_owned());
        replace(
            &mut adapter,
            Some(&mut session),
            &origin,
            vec![line(1, "", "")],
        );
    }
    let origin = Origin::Source("a.c".to_owned());
    replace(&mut adapter, Some(&mut session), &origin, Vec::new());
    assert_eq!(session.asked, ["set 1", "set 1", "delete [1]"]);
    assert_eq!(adapter.points.ids_of(&[1, 2]), [2]);
    assert_eq!(adapter.points.kind_of(&[2]), Some("breakpoint"));
}

#[test]
fn points_of_a_program_that_is_not_loaded_wait_for_it() {
    let mut adapter = Adapter::new(Arc::new(Inbox::default()), Outbox::default());
    let origin = Origin::Source("a.c".to_owned());
    let wanted = vec![line(1, "", "% 2"), line(2, "", "")];
    let told = replace(&mut adapter, None, &origin, wanted);
    assert!(told.iter().all(|it| !it.verified));
    let mut session = Played::default();
    set_all(&mut adapter, &mut session);
    assert_eq!(session.asked, ["set 1, 2", "1: Ignore(1)"]);
    assert_eq!(adapter.points.periodic(&[1, 2]), [(1, 2)]);
}
