// The control model as it was published: with an event pending, the runtime
// gets the control and the stop is forgotten. The event need not stop the
// program; then the user does not get the control, though a breakpoint was hit.
//
// The formula of the control model finds it, and so does the run wizard.run.
//
// expect: violated stopIsNotLost

refine "control.asm"

override rule onNonStoppingEvent {
    if not isStoppingEvent(response) { doCallback(response) }
}

// The note of what is owed is not part of what was published.
override invariant stopReachesUser = true
override invariant userSeesStop = true
