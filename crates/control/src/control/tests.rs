//! Exploration of all that a user and a program can do to the control.

mod acts;
mod refinement;

use super::conversation::{Act, Conversation, Dropped, ProgramEvent};
use super::{Control, ControlCheck, Mode, Modes, Refusal};
use juror_model::{
    Change, Fault, Finding, Options, Participants, Report, Step, System, Trail, Verdict, Visitor,
    breadth_first,
};

/// Creates the check of a control by its model.
pub(super) fn shadowed() -> ControlCheck {
    let mut follow = juror_model::debugger_control::follower().expect("the model is right");
    ControlCheck::new(move |state| follow(state.shown()))
}

/// The conversation as a system to be explored.
struct Explored(Option<Dropped>);

fn position<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|it| it == one).unwrap() as u8
}

fn encode(state: &Conversation) -> Vec<u8> {
    let mut bytes = vec![
        position(&Mode::ALL, &state.control.mode()),
        u8::from(state.control.owes_stop()),
        u8::from(state.moves),
        u8::from(state.is_alive),
        u8::from(state.interrupt),
        state.evaluations,
        state.unseen,
        u8::from(state.asked),
        u8::from(state.lent),
        state.kept.map_or(2, u8::from),
    ];
    let pending = state.pending.iter();
    bytes.extend(pending.map(|it| position(&ProgramEvent::ALL, it)));
    bytes
}

fn decode(bytes: &[u8], dropped: Option<Dropped>) -> Conversation {
    let (head, pending) = bytes.split_at(10);
    Conversation {
        control: Control {
            mode: Mode::ALL[usize::from(head[0])],
            owed: head[1] == 1,
            history: None,
        },
        moves: head[2] == 1,
        is_alive: head[3] == 1,
        interrupt: head[4] == 1,
        evaluations: head[5],
        unseen: head[6],
        asked: head[7] == 1,
        lent: head[8] == 1,
        kept: (head[9] < 2).then_some(head[9] == 1),
        pending: pending
            .iter()
            .map(|&it| ProgramEvent::ALL[usize::from(it)])
            .collect(),
        dropped,
    }
}

/// Returns the possible actions and their results.
fn possible(state: &Conversation) -> Vec<(Act, Conversation)> {
    Conversation::acts()
        .filter_map(|act| {
            let mut next = state.clone();
            next.act(act).ok().map(|()| (act, next))
        })
        .collect()
}

impl System for Explored {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), visitor: &mut impl Visitor) {
        visitor.next(&encode(&Conversation::default()), Participants::default());
    }

    fn successors(&self, (): &mut (), state: &[u8], visitor: &mut impl Visitor) {
        for (_, next) in possible(&decode(state, self.0)) {
            if !visitor.next(&encode(&next), Participants::default()) {
                return;
            }
        }
    }

    fn may_end(&self, (): &mut (), _state: &[u8]) -> bool {
        false
    }

    fn wrong(&self, (): &mut (), state: &[u8]) -> Option<Fault> {
        let state = decode(state, self.0);
        let wrong = state.wrong().or_else(|| stuck(&state));
        wrong.map(|what| Fault::new("control", what, None))
    }

    fn steps(&self, state: &[u8], number: usize) -> Vec<Step> {
        let steps = possible(&decode(state, self.0)).into_iter();
        let step = |(act, next): (Act, Conversation)| Step {
            actor: None,
            partner: None,
            text: format!("{act:<46} {}", next.control.mode()),
            span: None,
            changes: Vec::new(),
            printed: String::new(),
        };
        steps.skip(number).take(1).map(step).collect()
    }

    fn actors(&self, _state: &[u8]) -> Vec<String> {
        Vec::new()
    }

    fn values(&self, _state: &[u8]) -> Vec<Change> {
        Vec::new()
    }
}

/// Checks that the holder of the control can always go on; inspecting and interrupting
/// do not count.
fn stuck(state: &Conversation) -> Option<&'static str> {
    let is_way = |act: &Act| !matches!(act, Act::Look(_) | Act::Interrupt | Act::Checkpoint);
    let has_way = possible(state).iter().any(|(act, _)| is_way(act));
    (!has_way).then_some("nobody can go on")
}

fn explore(dropped: Option<Dropped>) -> Report {
    breadth_first(&Explored(dropped), &Options::default(), &mut |_, _| true)
}

fn lines(trail: &Trail) -> String {
    trail
        .steps()
        .map(|step| format!("{}\n", step.text))
        .collect()
}

#[test]
fn no_stop_is_lost_and_nothing_is_stuck() {
    let report = explore(None);
    assert_eq!(report.finding, None);
    assert_eq!(report.verdict(), Verdict::Holds);
    assert!(report.states > 1_000, "{}", report.states);
}

#[track_caller]
fn check_dropped(dropped: Dropped, expected: &str, trail_expected: &str) {
    let (finding, trail) = explore(Some(dropped)).finding.unwrap();
    let Finding::Fault(fault) = finding else {
        panic!("{finding:?}");
    };
    assert_eq!(fault.message, expected);
    let found = lines(&trail);
    let words = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    assert_eq!(words(&found), words(trail_expected), "\n{found}");
}

#[test]
fn the_published_error_is_found() {
    check_dropped(
        Dropped::OwedStop,
        "a stop was lost",
        "
            user: Load Loaded
            user: Continue Run
            program: Stop happens Run
            program: Plain happens Run
            program: notifies of the first pending event Break?
            debugger: Proceed Run",
    );
}

#[test]
fn pending_events_that_are_dropped_are_missed() {
    check_dropped(
        Dropped::Pending,
        "a stop was lost",
        "
            user: Load Loaded
            user: Continue Run
            program: Part happens Run
            program: Stop happens Run
            program: notifies of the first pending event Break?
            debugger: Proceed Run",
    );
}

#[test]
fn an_end_that_waits_is_found() {
    check_dropped(
        Dropped::EndAtOnce,
        "the user is shown a program that ended",
        "
            user: Load Loaded
            user: Continue Run
            program: Part happens Run
            program: Ended happens Run
            program: notifies of the first pending event Break?
            debugger: Halt Break?
            debugger: Settle Break",
    );
}

#[test]
fn a_lost_request_to_interrupt_is_found() {
    check_dropped(
        Dropped::InterruptOverParts,
        "a request to interrupt was lost",
        "
            user: Load Loaded
            user: Continue Run
            program: Part happens Run
            user: interrupt Run
            program: notifies of the first pending event Break?
            debugger: Proceed Run",
    );
}

#[test]
fn an_answered_request_that_stops_again_is_found() {
    check_dropped(
        Dropped::InterruptAnswered,
        "the program would be stopped without a request",
        "
            user: Load Loaded
            user: Continue Run
            program: Stop happens Run
            program: notifies of the first pending event Break?
            debugger: Halt Break?
            debugger: Settle Break",
    );
}

#[test]
fn a_program_that_runs_while_a_stop_is_owed_is_found() {
    check_dropped(
        Dropped::NothingRunsWhileOwed,
        "a stop is owed while the debugger does not have the control",
        "
            user: Load Loaded
            user: Continue Run
            program: Stop happens Run
            program: notifies of the first pending event Break?
            debugger: Proceed Run",
    );
}

/// Checks in every reachable state that a command is refused for its mode if and only
/// if help says that it is not possible there.
#[test]
fn commands_are_possible_exactly_when_help_says_so() {
    use std::collections::{BTreeSet, VecDeque};
    let mut seen: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut queue = VecDeque::from([Conversation::default()]);
    let mut asked = 0_u32;
    while let Some(state) = queue.pop_front() {
        if !seen.insert(encode(&state)) {
            continue;
        }
        // While a scenario acts, the user cannot give commands.
        let acts = Conversation::acts().filter(|_| !state.lent);
        for act in acts {
            let Some(modes) = Conversation::modes_of(act) else {
                continue;
            };
            let mut next = state.clone();
            let is_possible = modes.contain(state.control.mode());
            let has_room = match act {
                Act::Evaluate => state.evaluations < 2,
                Act::Abandon => state.evaluations > 0,
                Act::Restore => state.kept.is_some(),
                _ => true,
            };
            assert_eq!(
                next.act(act).is_ok(),
                is_possible && has_room,
                "{act} in {state:?}"
            );
            asked += 1;
        }
        queue.extend(possible(&state).into_iter().map(|(_, next)| next));
    }
    assert!(asked > 5_000, "{asked}");
}

#[test]
fn modes_of_commands() {
    let check = |modes: Modes, expected: [bool; 5], words: Option<&str>| {
        let found = Mode::ALL.map(|mode| modes.contain(mode));
        assert_eq!(found, expected, "{modes:?}");
        assert_eq!(modes.words(), words, "{modes:?}");
    };
    check(Modes::Always, [true, true, true, false, false], None);
    let words = "Possible while no program is being debugged.";
    check(
        Modes::Before,
        [true, true, false, false, false],
        Some(words),
    );
    let words = "Possible while there is a program.";
    check(
        Modes::Program,
        [false, true, true, false, false],
        Some(words),
    );
    let words = "Possible while the program is stopped.";
    check(
        Modes::Begun,
        [false, false, true, false, false],
        Some(words),
    );
}

#[test]
fn nothing_runs_while_a_stop_is_owed() {
    let mut control = Control::default();
    control.load().unwrap();
    assert_eq!(control.run(), Err(Refusal::Mode(Mode::Loaded)));
    assert_eq!(control.begin(), Ok(true));
    control.run().unwrap();
    control.notify();
    control.owe_stop().unwrap();
    assert_eq!(control.run(), Err(Refusal::Owed));
    assert_eq!(control.settle(), Ok(super::Settled::Show));
    assert_eq!(control.begin(), Ok(false));
    assert_eq!(control.run(), Ok(()));
}
