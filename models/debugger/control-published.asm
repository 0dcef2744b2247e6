// The control model as it was published: with an event pending, the runtime
// gets the control and the stop is forgotten. The event need not stop the
// program; then the user does not get the control, though a breakpoint was hit.
//
// expect: violated stopReachesUser

refine "control.asm"

override rule onNonStoppingEvent {
    if not isStoppingEvent(response) { doCallback(response) }
}
