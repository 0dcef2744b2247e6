// Modules come and go, and breakpoints are bound to the modules that have their
// place: commands and events of the control model get their meaning. After
// section 4 of the case study. A breakpoint is bound to all modules that have
// its place, and keeps the others when one of them goes.
//
// expect: holds

refine "control.asm"

universe Place = 1..2

class Module { places : {Place} }
class Breakpoint { place : Place  bound : {Module} = {} }

static modulesMax : Int = 2
static breakpointsMax : Int = 2

controlled started : Bool = false
controlled modules : {Module} = {}
controlled breakpoints : {Breakpoint} = {}

// What comes with a command or an event.
monitored place : Place
monitored loadedPlaces : {Place} possible {{1}, {1, 2}}
monitored unloaded : Module possible modules

// The runtime tells only what can happen, and the user types what makes sense.
override shared response : Response possible
    {r | r in Response with
        (r = LoadedModule implies size(modules) < modulesMax)
        and (r = UnloadedModule implies modules != {})
        and (r = HitBreakpoint implies exists b in breakpoints | b.bound != {})}
    = NoResponse
override shared command : Command possible
    {c | c in Command with c = SetBreakpoint implies size(breakpoints) < breakpointsMax}
    = NoCommand

override rule doCommand(c : Command) { objectCommand(c) }
override rule doCallback(r : Response) { objectCallback(r) }

rule objectCommand(c : Command) {
    case c {
        Start { started := true }
        Exit {
            started := false
            modules := {}
            breakpoints := {}
        }
        SetBreakpoint { setBreakpoint(place) }
    }
}

rule objectCallback(r : Response) {
    case r {
        LoadedModule {
            let m = new Module(places = loadedPlaces) { load(m) }
        }
        UnloadedModule { unload(unloaded) }
        ExitedProcess {
            modules := {}
            forall b in breakpoints { b.bound := {} }
        }
    }
}

rule setBreakpoint(p : Place) {
    let b = new Breakpoint(place = p, bound = {m | m in modules with p in m.places}) {
        breakpoints := breakpoints union {b}
    }
}

rule load(m : Module) {
    modules := modules union {m}
    forall b in breakpoints { b.bind(m) }
}

rule unload(m : Module) {
    modules := modules except {m}
    forall b in breakpoints { b.unbind(m) }
}

rule bind(b : Breakpoint, m : Module) {
    if b.place in m.places { b.bound := b.bound union {m} }
}

rule unbind(b : Breakpoint, m : Module) {
    b.bound := b.bound except {m}
}

derived loaded : Int = size(modules)
derived bindings : Int = sum([size(b.bound) | b in sequence(breakpoints)])

invariant boundWhereThePlaceIs =
    forall b in breakpoints | b.bound = {m | m in modules with b.place in m.places}

abstraction of "control.asm" {
    mode = mode
    owed = owed
}
