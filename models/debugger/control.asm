// Who has the control: the user (Init, Break), the runtime (Run), or the
// debugger itself, which has seen the program stop (Break?). After Barnett,
// Boerger, Gurevich, Schulte and Veanes, "Using Abstract State Machines at
// Microsoft: A Case Study", section 3, in our words, and with its error mended:
// a stop that the user has not seen is not forgotten when the runtime has to
// tell something else first.
//
// expect: holds

enum Mode = Init | Break | Run | Break?
enum Command = NoCommand | Start | Exit | RunProgram | Continue | Kill
             | StepInto | StepOver | StepOut | SetBreakpoint | Inspect
enum Response = NoResponse | CreatedProcess | CreatedThread | LoadedModule
              | UnloadedModule | LoadedClass | StepCompleted | HitBreakpoint
              | ExitedProcess

controlled mode : Mode = Init
// A stop has come that the user has not seen.
controlled owed : Bool = false
// The last event since the runtime was given the control.
controlled event : Response = NoResponse

// The user and the runtime set these, and the debugger takes them away.
shared command : Command = NoCommand
shared response : Response = NoResponse
shared isEventPending : Bool = false

derived isRunningCommand(c : Command) : Bool =
    c in {RunProgram, Continue, Kill, StepInto, StepOver, StepOut}
derived isBreakingCommand(c : Command) : Bool =
    not isRunningCommand(c) and c not in {Start, Exit, NoCommand}
derived isStoppingEvent(r : Response) : Bool =
    r in {StepCompleted, HitBreakpoint, ExitedProcess}

main { dbg }

rule dbg {
    if mode in {Init, Break} { handleCommands }
    if mode = Run { handleResponses }
    if mode = Break? { handlePendingEvents }
}

rule handleCommands {
    onStart
    onExit
    onBreakingCommand
    onRunningCommand
    command := NoCommand
}

rule onStart {
    if mode = Init and command = Start {
        doCommand(Start)
        mode := Break
    }
}

rule onExit {
    if mode = Break and command = Exit {
        doCommand(Exit)
        mode := Init
    }
}

rule onBreakingCommand {
    if mode = Break and isBreakingCommand(command) { doCommand(command) }
}

rule onRunningCommand {
    if mode = Break and isRunningCommand(command) {
        doCommand(command)
        event := NoResponse
        mode := Run
    }
}

rule handleResponses {
    if response != NoResponse {
        event := response
        onStoppingEvent
        onNonStoppingEvent
    }
    response := NoResponse
}

rule onStoppingEvent {
    if isStoppingEvent(response) {
        doCallback(response)
        owed := true
        mode := Break?
    }
}

// The debugger comes back to a stop that is owed.
rule onNonStoppingEvent {
    if not isStoppingEvent(response) {
        doCallback(response)
        if owed { mode := Break? }
    }
}

rule handlePendingEvents {
    onPendingEvent
    onNoPendingEvent
}

// The runtime gets the control for the event that it has to tell.
rule onPendingEvent {
    if isEventPending {
        doCommand(Continue)
        event := NoResponse
        isEventPending := false
        mode := Run
    }
}

rule onNoPendingEvent {
    if not isEventPending {
        owed := false
        mode := Break
    }
}

// What commands and events do is left open here.
rule doCommand(c : Command) { skip }
rule doCallback(r : Response) { skip }

// While a stop is owed, the runtime has the control only to tell one event.
invariant stopReachesUser = owed and mode = Run implies event = NoResponse
invariant userSeesStop = mode = Break implies not owed

// The same without the note `owed`.
ltl stopIsNotLost = always (mode = Break? implies
    (mode = Break release (mode in {Break, Break?} or event = NoResponse)))

// What the lines of a session of juror say. An answer comes while the user has the
// control, or is that of a scenario, in the middle of a run; and a command that the
// program had to run for, such as the value of a call, ends with its answer, too.
record {
    when kind = "start" { check mode = Init set command = Start step check mode = Break }
    when kind = "resume" { check mode = Break set command = Continue step check mode = Run }
    when kind = "outcome" | "error" {
        maybe {
            check mode = Run
            set response = StepCompleted step
            set isEventPending = false step
        }
        maybe { check mode = Break set command = Inspect step check mode = Break }
    }
    when kind = "state_change" | "process_end" {
        maybe {
            check mode = Run
            set response = LoadedClass step
            check mode = Run
        }
    }
    // The user gets the control of a program that another one has begun, or one that is
    // brought back; and is told what an evaluation that was stopped has come to.
    when kind = "stop", reason = "attached" | "restored" | "evaluated" | "abandoned" {
        maybe {
            check mode = Run
            set response = StepCompleted step
            set isEventPending = false step
        }
        check mode = Break
    }
    when kind = "stop", reason = "step" | "finished" {
        check mode = Run
        set response = StepCompleted step
        set isEventPending = false step
        check mode = Break
    }
    when kind = "stop" {
        check mode = Run
        set response = HitBreakpoint step
        set isEventPending = false step
        check mode = Break
    }
    // The user may kill what stands.
    when kind = "end" {
        maybe { check mode = Break set command = Kill step }
        check mode = Run
        set response = ExitedProcess step
        set isEventPending = false step
        check mode = Break
    }
}
