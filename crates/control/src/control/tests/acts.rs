//! Single actions: their changes, and the refused ones.

use super::*;
use Act::{
    Attach, Continue, GiveBack, Halt, Happen, Interrupt, Kill, Lend, Load, Look, Notify, Settle,
};
use ProgramEvent::{Ended, Part, Plain, Stop};

/// Performs actions, all of which are possible.
#[track_caller]
fn after(acts: &[Act]) -> Conversation {
    let mut conversation = Conversation::default();
    for &act in acts {
        let done = conversation.act(act);
        assert_eq!(done, Ok(()), "{act} in {conversation:?}");
    }
    conversation
}

#[test]
fn an_action_that_is_not_possible_is_refused_and_changes_nothing() {
    let table: [(&[Act], Act); 15] = [
        (&[], Interrupt),
        (&[], Look(Modes::Program)),
        (&[Load], Look(Modes::Begun)),
        (&[Load, Continue], Look(Modes::Always)),
        (&[Load, Kill], Interrupt),
        (&[Load, Interrupt], Interrupt),
        (&[Load], Lend),
        (&[Attach], Lend),
        (&[Attach, Continue], Lend),
        // The threads have to be stopped first, and a stop that is owed comes first.
        (&[Attach, Continue, Happen(Part), Notify], Lend),
        (&[Attach, Continue, Happen(Stop), Notify, Halt], Lend),
        (&[Attach, Continue, Happen(Part), Notify, Halt], GiveBack),
        (&[Attach, Continue, Happen(Ended)], Happen(Plain)),
        (&[Attach], Happen(Plain)),
        (
            &[Attach, Continue, Happen(Plain), Happen(Part), Happen(Plain)],
            Happen(Plain),
        ),
    ];
    for (acts, refused) in table {
        let before = after(acts);
        let mut conversation = before.clone();
        assert!(
            conversation.act(refused).is_err(),
            "{refused} after {acts:?}"
        );
        assert_eq!(conversation, before, "{refused} after {acts:?}");
    }
}

#[test]
fn actions_change_who_has_the_control() {
    let table: [(&[Act], Mode, bool); 8] = [
        (&[Load], Mode::Loaded, true),
        (&[Load, Kill], Mode::Init, false),
        (&[Attach, Kill], Mode::Init, false),
        (
            &[Attach, Continue, Happen(Ended), Notify],
            Mode::Init,
            false,
        ),
        (
            &[Attach, Continue, Happen(Part), Notify, Halt, Settle],
            Mode::Break,
            true,
        ),
        (
            &[Attach, Continue, Happen(Part), Notify, Halt, Lend],
            Mode::Break,
            true,
        ),
        (
            &[Attach, Continue, Happen(Part), Notify, Halt, Lend, GiveBack],
            Mode::Deciding,
            true,
        ),
        (
            &[
                Attach,
                Continue,
                Happen(Stop),
                Happen(Ended),
                Notify,
                Halt,
                Settle,
            ],
            Mode::Init,
            false,
        ),
    ];
    for (acts, mode, is_alive) in table {
        let found = after(acts);
        let found = (found.control.mode(), found.is_alive);
        assert_eq!(found, (mode, is_alive), "{acts:?}");
    }
}

/// Returns a control in a mode, with an owed stop or none.
fn control(mode: Mode, owed: bool) -> Control {
    Control {
        mode,
        owed,
        history: None,
    }
}

#[test]
fn the_control_is_lent_and_returned_in_the_middle_of_a_run() {
    for mode in Mode::ALL {
        let mut lent = control(mode, false);
        let is_lent = lent.lend();
        assert_eq!(is_lent, mode == Mode::Deciding, "{mode}");
        let while_lent = if is_lent { Mode::Break } else { mode };
        assert_eq!(lent.mode(), while_lent);
        lent.give_back(is_lent);
        assert_eq!(lent.mode(), mode);
    }
    let mut owing = control(Mode::Deciding, true);
    assert!(!owing.lend());
    assert_eq!(owing, control(Mode::Deciding, true));
    // The program was restored to its beginning, or has ended, in the meantime.
    for mode in [Mode::Loaded, Mode::Init] {
        let mut lent = control(mode, false);
        lent.give_back(true);
        assert_eq!(lent.mode(), mode);
    }
}

#[test]
fn a_command_that_finishes_gives_the_control_to_the_user() {
    for mode in Mode::ALL {
        let mut control = control(mode, mode == Mode::Deciding);
        control.finish();
        let expected = match mode {
            Mode::Run | Mode::Deciding => Mode::Break,
            Mode::Init | Mode::Loaded | Mode::Break => mode,
        };
        assert_eq!((control.mode(), control.owes_stop()), (expected, false));
    }
}
