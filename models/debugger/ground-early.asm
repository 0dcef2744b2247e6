// The ground model with the module made known before its breakpoints are bound:
// for some steps there is a module without them, which the object model never
// shows.
//
// expect: diverges from object.asm

refine "ground.asm"

override rule load(m : Module) {
    modules := modules union {m}
    work := m
    left := sequence(breakpoints)
}
