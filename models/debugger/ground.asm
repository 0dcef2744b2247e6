// How the object model is carried out: breakpoints are bound to a new module one
// after the other, in an order, as a program does it; and the user looks at the
// frames of the stopped thread. After section 5 of the case study.
//
// expect: holds

refine "object.asm"

enum Procedure = Main | Callee
enum Direction = Up | Down

// The module that breakpoints are being bound to, and those that are left.
controlled work : optional Module = undef
controlled left : [Breakpoint] = []

// The stack of the stopped thread, innermost first, and the selected frame.
controlled stack : [Procedure] = []
controlled selected : 0..1 = 0

monitored frames : [Procedure] possible {[Main], [Callee, Main]}
monitored direction : Direction

override main {
    if left != [] { bindNext }
    else if work != undef { finishLoading }
    else { dbg }
}

override rule load(m : Module) {
    work := m
    left := sequence(breakpoints)
}

rule bindNext {
    bind(head(left), work)
    left := tail(left)
}

rule finishLoading {
    modules := modules union {work}
    work := undef
}

override rule doCommand(c : Command) {
    objectCommand(c)
    if c = Inspect { inspect }
    if isRunningCommand(c) or c = Exit {
        stack := []
        selected := 0
    }
}

override rule doCallback(r : Response) {
    objectCallback(r)
    if r in {HitBreakpoint, StepCompleted} {
        stack := frames
        selected := 0
    }
    if r = ExitedProcess { stack := [] selected := 0 }
}

rule inspect {
    case direction {
        Up { if selected + 1 < size(stack) { selected := selected + 1 } }
        Down { if selected > 0 { selected := selected - 1 } }
    }
}

override invariant boundWhereThePlaceIs = work = undef implies
    forall b in breakpoints | b.bound = {m | m in modules with b.place in m.places}
invariant selectedFrameIsThere = selected = 0 or selected < size(stack)
invariant onlyAStoppedThreadHasFrames = mode in {Init} implies stack = []

// While breakpoints are being bound, the object model has not seen the event.
abstraction of "object.asm" {
    mode = if work != undef then Run else mode
    loaded = size(modules)
    bindings = sum([size(b.bound intersect modules) | b in sequence(breakpoints)])
}
