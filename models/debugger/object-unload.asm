// The object model with the error that the case study found in the debugger:
// when a module goes, a breakpoint that is bound to it loses all its modules.
//
// expect: violated boundWhereThePlaceIs

refine "object.asm"

override rule unbind(b : Breakpoint, m : Module) {
    if m in b.bound { b.bound := {} }
}
