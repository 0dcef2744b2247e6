// Who has the control in juror itself. The code has these modes, one more than
// the case study: a program that is loaded has not begun. What the environment
// does is all that the session can do to its control, in any order. The code is
// held to this model by exhaustive search, and by every run under --self-check.
//
// A stop is owed from the moment it is told until it is shown, and nothing runs
// meanwhile. While a scenario acts, in the middle of a run, the control is lent
// to it as to a person.
//
// expect: holds

enum Mode = Init | Loaded | Break | Run | Break?
enum Act = Nothing | Load | Attach | Begin | Go | Told | Owe | Withdraw | Settle
         | Lend | GiveBack | RestoreLoaded | Restore | End

controlled mode : Mode = Init
// A stop has been told that the person has not seen.
controlled owed : Bool = false
controlled lent : Bool = false
// Some program has had the control.
controlled begun : Bool = false

monitored act : Act

main {
    case act {
        Load { if mode = Init { mode := Loaded } }
        Attach { if mode = Init { mode := Break begun := true } }
        Begin { if mode = Loaded { mode := Break begun := true } }
        Go { if mode in {Break, Break?} and not owed { mode := Run } }
        Told { if mode = Run { mode := Break? } }
        Owe { if mode = Break? { owed := true } }
        // It was the answer to something that the debugger asked.
        Withdraw { if mode = Break? { owed := false } }
        Settle { if mode = Break? { show } }
        Lend { if mode = Break? and not owed { mode := Break lent := true } }
        GiveBack { if mode = Break and lent { giveBack } }
        RestoreLoaded { if mode != Run { mode := Loaded owed := false lent := false begun := true } }
        Restore { restore }
        End { if mode != Run { mode := Init owed := false lent := false } }
        else { skip }
    }
}

// One scenario may act inside of what another one does.
rule giveBack {
    mode := Break?
    choose { lent := false } or { skip }
}

rule show {
    mode := Break
    owed := false
}

// In the middle of a run the debugger still decides.
rule restore {
    if mode in {Init, Loaded} { mode := Break begun := true }
    if mode = Break? { owed := false }
}

invariant oweWhileDeciding = owed implies mode = Break?
ltl stopIsShown = always (owed implies
    (not owed release mode != Run))

// The person has the control in the case study, too, where there is no program any
// more, and where a scenario acts nobody but the debugger has it.
abstraction of "control.asm" {
    mode = if lent and mode = Break then Break?
           else if begun and mode in {Init, Loaded} then Break
           else if mode = Loaded then Init
           else mode
}
