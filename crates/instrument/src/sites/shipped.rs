//! The events of the shipped properties in a real process.

use super::{NoHead, Texts};
use crate::probes::{InlinedPolicy, bind_event};
use crate::word_captures;
use juror_debuggee::{Attach, Debuggee, Owner};
use juror_language::load;
use juror_program::program::Program;
use juror_program::symbol_store::SymbolStore;
use juror_stub::head::Place;
use std::process::{Child, Command, Stdio};

/// A process that is ended with the test.
struct Sleeper(Child);

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns a process that has loaded the C library, once it sleeps.
fn sleeper() -> Sleeper {
    let mut command = Command::new("sleep");
    let child = command.arg("1000").stdout(Stdio::null()).spawn();
    let sleeper = Sleeper(child.unwrap());
    let state = format!("/proc/{}/wchan", sleeper.0.id());
    for _ in 0..500 {
        let is_asleep = std::fs::read_to_string(&state).is_ok_and(|it| it.contains("nanosleep"));
        if is_asleep {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    sleeper
}

/// Returns for each event of a property whether its captures are words and its sites have heads, as
/// text.
fn of_property(program: &mut Program, source: &str) -> Vec<String> {
    let (properties, _) = load(source);
    let thread = program.debuggee.thread_ids().next().unwrap();
    let mut texts = Texts::default();
    let mut lines = Vec::new();
    for event in properties.iter().flat_map(|it| &it.events) {
        let bound = bind_event(program, event, thread, InlinedPolicy::default());
        let Ok(bound) = bound else {
            lines.push(format!("{}: not bound", event.name));
            continue;
        };
        for call in &bound.calls {
            let words = word_captures::of_event(event, &call.captures);
            let words =
                words.map_or_else(|why| why.why.to_string(), |it| format!("{:#b}", it.begun));
            let heads = texts.heads(program, &[(call.address, Place::Entry)], |_| None);
            let head = match &heads[0] {
                Ok(heads) => {
                    let head = &heads.possible[0];
                    assert!(head.jump >= call.address && head.end() >= head.jump + 5);
                    "head".to_owned()
                }
                Err(why) => why.to_string(),
            };
            lines.push(format!("{}: {words}, {head}", event.name));
        }
    }
    lines
}

fn attached(sleeper: &Sleeper) -> Program {
    let debuggee = Debuggee::attach(&Attach::new(sleeper.0.id())).unwrap();
    Program::new(debuggee, &SymbolStore::default())
}

#[test]
fn blocks_and_mutexes_of_a_process_are_words_and_have_heads() {
    let sleeper = sleeper();
    let mut program = attached(&sleeper);
    let double_free = include_str!("../../../../properties/libc/double-free.prop");
    let mutex = include_str!("../../../../properties/libc/mutex.prop");
    let blocks = of_property(&mut program, double_free);
    let mutexes = of_property(&mut program, mutex);
    let lines: Vec<&str> = blocks.iter().chain(&mutexes).map(String::as_str).collect();
    for expected in [
        "malloc: 0b0, head",
        "free: 0b0, head",
        "resized: 0b11, head",
        "posix_memalign: 0b1, head",
        "lock: 0b1, head",
        // It reads a field of the mutex by a cast.
        "unlock: 0b0, head",
    ] {
        assert!(lines.contains(&expected), "{expected}: {lines:#?}");
    }
}

/// Returns the address of a function of the C library.
fn function(program: &Program, name: &str) -> u64 {
    let found = program.modules.definitions(name, |_| true);
    found.first().unwrap().address()
}

#[test]
fn code_that_must_stay_has_no_heads() {
    let sleeper = sleeper();
    let program = attached(&sleeper);
    let maps = program.debuggee.memory_map().unwrap();
    let start_of = |name: &str| {
        let line = maps.lines().find(|line| line.ends_with(name)).unwrap();
        u64::from_str_radix(line.split('-').next().unwrap(), 16).unwrap()
    };
    let main = program.modules.main().unwrap();
    let stub = main.symbols.functions().find(|it| it.plt);
    let sites = [
        (0x10, NoHead::NotOfFile),
        (start_of("[stack]"), NoHead::NotOfFile),
        (start_of("[vdso]") + 0x800, NoHead::NotOfFile),
        // The headers of the program.
        (main.bias, NoHead::NotOfFile),
        (function(&program, "__tls_get_addr"), NoHead::Linker),
        (
            function(&program, "vfork"),
            NoHead::Function("__vfork".into()),
        ),
    ];
    let stub = stub.map(|stub| (main.to_process(stub.low_pc), NoHead::Linker));
    let mut texts = Texts::default();
    for (address, expected) in sites.into_iter().chain(stub) {
        let found = texts.heads(&program, &[(address, Place::ReturnSite)], |_| None);
        assert_eq!(found, [Err(expected)], "{address:#x}");
    }
}

#[test]
fn heads_are_those_of_the_process_without_traps() {
    let sleeper = sleeper();
    let mut program = attached(&sleeper);
    let address = function(&program, "malloc");
    let mut texts = Texts::default();
    let mut heads = |program: &Program, sites: &[u64]| {
        let sites: Vec<_> = sites.iter().map(|it| (*it, Place::Entry)).collect();
        texts.heads(program, &sites, |_| None)
    };
    let alone = heads(&program, &[address]).remove(0).unwrap();
    let jump = alone.possible[0].jump;
    program.debuggee.insert(address, Owner::Monitor).unwrap();
    assert_eq!(heads(&program, &[address]), [Ok(alone.clone())]);
    // A head ends before the next site, in whatever order they are given.
    for sites in [[address, jump + 1], [jump + 1, address]] {
        let found = heads(&program, &sites);
        let at = sites.iter().position(|it| *it == address).unwrap();
        assert_eq!(found[at], Err(NoHead::NextSite(jump + 1)));
    }
    let mut others = Texts::default();
    let found = others.heads(&program, &[(address, Place::Entry)], |_| Some(jump + 1));
    assert_eq!(found, [Err(NoHead::NextSite(jump + 1))]);
    let twice = heads(&program, &[address, address]);
    assert_eq!(twice, [Ok(alone.clone()), Ok(alone.clone())]);
    // Another tool has written there.
    program.debuggee.write(jump + 4, &[0xcc]).unwrap();
    assert_eq!(heads(&program, &[address]), [Err(NoHead::Differs)]);
}
